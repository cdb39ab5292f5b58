"""What the site adds to Sphinx: generated parts of pages, pictures for dark pages, and notebooks.

- A line `<!-- generated: NAME -->` in a page is replaced by what the function of that name in `GENERATED` makes from
  the live program, so that it is never out of date.
- Where `images/NAME-dark.svg` (or .png) lies beside `images/NAME.svg`, readers of the dark page see it instead.
- Notebooks are kept without outputs. They are run when the site is built, and their outputs are shown; what a notebook
  gave is kept in `build/notebooks` until the notebook or the version of Rookery changes.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser

import rookery as rk
from rookery import cli

ROOT = Path(__file__).parents[1]

# Commands


def _function(verb: str, game: str = "") -> Any:
    """The function behind a command."""
    if game:
        return importlib.import_module(cli.game_commands()[verb][game][0]).COMMANDS[verb]
    module, function = cli.GENERIC[verb]
    return getattr(importlib.import_module(f"rookery.cli.{module}"), function)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _arguments(function: Any) -> list[Any]:
    """The arguments of a command, from the parser that reads them."""
    import tyro

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return [action for action in tyro.extras.get_parser(function)._actions if action.dest != "help"]


def _table(function: Any, shown: Collection[str] | None = None, hidden: Collection[str] = ()) -> str:
    """The arguments of a command as a table: of its options those to be shown, all of them if None, less the hidden."""
    lines = ["| argument | default | meaning |", "|---|---|---|"]
    for action in _arguments(function):
        option = action.option_strings[0] if action.option_strings else ""
        if option and (option in hidden or (shown is not None and option not in shown)):
            continue
        text, _, rest = _cell(action.help or "").rpartition(" (default: ")
        default = rest.removesuffix(")") if text else ""
        text = text or re.sub(r" \((required|repeatable)\)$", "", _cell(action.help or ""))
        kind = re.sub(r"\{None\}\\?\||\{None,", lambda m: "{" if "," in m[0] else "", _cell(str(action.metavar or "")))
        if action.nargs in ("?", "*") and not option:
            kind = f"[{kind}]"
        default = "" if default in ("None", "False", "''") else f"`{default}`" if default else ""
        lines.append(f"| `{f'{option} {kind}'.strip()}` | {default} | {text} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _about(function: Any) -> str:
    """The docstring of a command without its arguments; examples become a block."""
    text = (function.__doc__ or "").partition("Args:")[0]
    examples: list[str] = []

    def found(match: re.Match[str]) -> str:
        examples.extend(" ".join(match[1].split()).rstrip(".").split("; "))
        return ""

    text = re.sub(r"Examples?: (rookery .*?)$", found, text, flags=re.MULTILINE)
    prose = "\n".join(line.strip() for line in text.strip().splitlines())
    return prose + ("\n\n```\n" + "\n".join(examples) + "\n```" if examples else "")


def _option_names(settings: type) -> set[str]:
    """The options that a dataclass of settings has on the command line."""
    return {f"--{field.name.replace('_', '-')}" for field in fields(settings)}


COMMON = ("--seed", "--json")


def commands() -> str:
    """Every command with its arguments, in the order of the help."""
    from rookery.cli import train

    parts = []
    for verb in cli.names():
        parts.append(f"## rookery {verb}")
        if verb in ("train", "sweep"):
            _, command, _ = train.find(verb, ["checkers", "q-learning"])
            own = _option_names(rk.methods(rk.load("checkers"))["q-learning"].Settings)
            parts.append(f"{_function(verb).__doc__}\n\n`rookery {verb} GAME METHOD` takes the "
                         "[settings of the method](settings.md), and:")  # fmt: skip
            parts.append(_table(command, hidden=own.union(COMMON)))
            continue
        forms = {"": _function(verb)} if verb in cli.GENERIC else {}
        forms |= {game: _function(verb, game) for game in cli.game_commands().get(verb, {})}
        for game, function in forms.items():
            parts += [f"### rookery {verb} {game}"] if game else []
            parts += [_about(function), _table(function, hidden=COMMON)]
    return "\n\n".join(part for part in parts if part)


def settings() -> str:
    """The settings of every method that learns: those for any game, then those that a game has of its own."""
    from rookery.cli import train

    general: list[str] = []
    special: list[str] = []
    seen = set()
    for name in rk.GAMES:
        game = rk.load(name)
        for method in rk.methods(game).values():
            if method.kind != "learn" or type(method) in seen:
                continue
            seen.add(type(method))
            _, command, _ = train.find("train", [name, method.name])
            own = _option_names(method.Settings)
            special_form = method.module.startswith("rookery.games")
            section = [f"## rookery train {name if special_form else 'GAME'} {method.name}", method.about]
            section += [] if special_form else [f"Defaults are those for {game.title}; other games may have others."]
            section.append(_table(command, shown=own))
            if method.presets:
                section.append(f"Presets: {', '.join(f'`{preset}`' for preset in method.presets)}.")
            (special if special_form else general).extend(section)
    return "\n\n".join(part for part in general + special if part)


# Games and methods


def games() -> str:
    """The games with their variants and what solves and learns them."""
    lines = ["| game | name | variants | solved by | learned by |", "|---|---|---|---|---|"]
    for name in rk.GAMES:
        game = rk.load(name)
        found = rk.methods(game)
        kinds = [", ".join(f"`{n}`" for n, m in found.items() if m.kind == kind) for kind in ("exact", "learn")]
        page = f"[{game.title}]({type(game).__module__.split('.')[2].lstrip('_')}.md)"
        lines.append(f"| {page} | `{name}` | {', '.join(f'`{v}`' for v in game.variants)} | {' | '.join(kinds)} |")
    return "\n".join(lines)


def methods() -> str:
    """The methods, what they do, and the games that they fit. A method for any game speaks for its special forms."""
    fits: dict[str, list[str]] = {}
    abouts: dict[str, list[Any]] = {}
    for name in rk.GAMES:
        for method in rk.methods(rk.load(name)).values():
            fits.setdefault(method.name, []).append(name)
            abouts.setdefault(method.name, []).append(method)
    lines = ["| method | kind | what it is | games |", "|---|---|---|---|"]
    for name, found in sorted(abouts.items(), key=lambda row: (row[1][0].kind, row[0])):
        general = [method for method in found if method.game is None]
        same = len({method.about for method in found}) == 1
        about = (general or found)[0].about if general or same else "The strongest of the game; see its page."
        where = "all" if len(fits[name]) == len(rk.GAMES) else ", ".join(fits[name])
        lines.append(f"| `{name}` | {found[0].kind} | {about} | {where} |")
    return "\n".join(lines)


def _measured(game: str) -> dict[str, str]:
    """The shares of best moves of a game's agents, by the tables of docs/how-far.md."""
    page = (ROOT / "docs" / "how-far.md").read_text(encoding="utf-8")
    _, _, rows = page.partition(f"**{rk.GAMES[game].title}, ")
    return dict(
        re.findall(
            r"^\| `([\w-]+)` \|(?: [\d.]+% \|)? ([\d.]+%) \(", rows.partition("**\n\n")[2].partition("**")[0], re.M
        )
    )


def agents(name: str) -> str:
    """The agents of a game, and how strong those are that were measured."""
    game, best = rk.load(name), _measured(name)
    ready = rk.agent_names(game, ready=True)
    lines = ["| agent | kind | what it is | ready | best moves |", "|---|---|---|---|---|"]
    for one, method in rk.methods(game).items():
        when = (
            "yes"
            if one in ready
            else "after training"
            if method.kind == "learn" or method.trained_by
            else "some variants"
        )
        lines.append(f"| `{one}` | {method.kind} | {method.about} | {when} | {best.get(one, '')} |")
    levels = [f"| {level.name} | `{level.agent}` | {level.elo or ''} | {level.about} |" for level in game.levels()]
    if levels:
        lines += [
            "",
            "Opponents on [the web page](../web.md):",
            "",
            "| level | agent | Elo | |",
            "|---|---|---|---|",
            *levels,
        ]
    return "\n".join(lines)


# The interface


def modules(names: str) -> str:
    """The public things of modules, except those that the page of `import rookery` shows already."""
    top = [getattr(rk, name) for name in rk.__all__]
    parts = []
    for name in names.split():
        module = importlib.import_module(f"rookery.{name}")
        offered = getattr(module, "__all__", None)
        shown = [
            key for key, value in vars(module).items()
            if not key.startswith("_") and callable(value) and value.__doc__ and value not in top
            and (key in offered if offered else getattr(value, "__module__", "") == module.__name__)
        ]  # fmt: skip
        about = (module.__doc__ or "").strip().partition("\n\n")[0]
        lines = [f".. currentmodule:: {module.__name__}", ""]
        for key in shown:
            kind = "autoclass" if isinstance(getattr(module, key), type) else "autofunction"
            lines += [f".. {kind}:: {key}", *(["   :members:"] if kind == "autoclass" else []), ""]
        parts.append(f"## {module.__name__}\n\n{about}\n\n```{{eval-rst}}\n" + "\n".join(lines) + "```")
    return "\n\n".join(parts)


def interface(names: str) -> str:
    """Some of what `import rookery` offers."""
    lines = [".. currentmodule:: rookery", ""]
    for name in names.split():
        thing = getattr(rk, name)
        kind = "autoclass" if isinstance(thing, type) else "autofunction" if callable(thing) else "autodata"
        lines += [f".. {kind}:: {name}", *(["   :members:"] if kind == "autoclass" else []), ""]
    return "```{eval-rst}\n" + "\n".join(lines) + "```"


GENERATED: dict[str, Callable[..., str]] = {
    "agents": agents, "commands": commands, "settings": settings, "games": games, "methods": methods,
    "modules": modules, "interface": interface,
}  # fmt: skip


def generate(text: str) -> str:
    """A page with its generated parts."""
    return re.sub(
        r"^<!-- generated: (\w+)(?: ([\w. -]+?))? -->$",
        lambda found: GENERATED[found[1]](*([found[2]] if found[2] else [])),
        text,
        flags=re.MULTILINE,
    )


def _read(app: Any, page: str, source: list[str]) -> None:
    source[0] = generate(source[0])


# Pictures


def _dark_pictures(app: Any, tree: Any) -> None:
    """Beside every picture that has a dark form, put that form; the theme shows one of them."""
    for node in list(tree.findall(nodes.image)):
        file = Path(node["uri"])
        if file.stem in rk.GAMES:
            node["classes"].append("board")
        elif file.suffix == ".png":
            node["classes"].append("screenshot")
        dark = file.with_name(f"{file.stem}-dark{file.suffix}")
        if "only-light" in node["classes"] or not (Path(app.srcdir) / dark).is_file():
            continue
        other = node.deepcopy()
        other["uri"], other["candidates"] = str(dark), {"*": str(dark)}
        node["classes"].append("only-light")
        other["classes"].append("only-dark")
        node.parent.insert(node.parent.index(node) + 1, other)
        app.env.images.add_file(app.env.docname, str(dark))
        app.env.note_dependency(str(dark))


# Notebooks


def executed(file: Path, cache: Path) -> Any:
    """A notebook with its outputs. It is run unless it was run before, unchanged."""
    import nbclient

    nbformat: Any = importlib.import_module("nbformat")
    logging.getLogger("traitlets").setLevel(logging.WARNING)

    notebook = nbformat.read(file, as_version=4)
    digest = hashlib.sha256(f"{rk.__version__}\n{file.read_text(encoding='utf-8')}".encode()).hexdigest()
    kept = cache / f"{file.stem}-{digest[:16]}.ipynb"
    if kept.is_file():
        return nbformat.read(kept, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
        client.execute(stderr=subprocess.DEVNULL)  # the kernel warns of its own connection
    cache.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, kept)
    return notebook


def as_markdown(notebook: Any) -> str:
    """A notebook as a page: text, code, and what the code gave."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(f"```python\n{source}\n```")
            parts += _outputs(cell.get("outputs", []))
    return "\n\n".join(parts) + "\n"


def _outputs(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            yield f"```{{code-block}} text\n:class: output\n\n{''.join(output['text']).rstrip()}\n```"
        data = output.get("data", {})
        for kind in ("text/html", "image/svg+xml"):
            if kind in data:
                body = "".join(data[kind]).replace("\n\n", "\n")
                yield f'```{{raw}} html\n<div class="output">\n{body}\n</div>\n```'
                break
        else:
            if "image/png" in data:
                picture = "".join(data["image/png"]).replace("\n", "")
                image = f'<img alt="" src="data:image/png;base64,{picture}">'
                yield f'```{{raw}} html\n<div class="output">{image}</div>\n```'
            elif "text/plain" in data:
                yield f"```{{code-block}} text\n:class: output\n\n{''.join(data['text/plain'])}\n```"


class NotebookParser(MystParser):
    """Reads a notebook as a page of Markdown."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: Any) -> None:
        config = document.settings.env.config
        file = Path(document["source"])
        run = config.run_notebooks and file.is_file()
        notebook = executed(file, ROOT / "build" / "notebooks") if run else json.loads(inputstring)
        super().parse(as_markdown(notebook), document)


def setup(app: Any) -> dict[str, Any]:
    app.add_config_value("run_notebooks", True, "env")
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", _read)
    app.connect("doctree-read", _dark_pictures)
    return {"parallel_read_safe": True}
