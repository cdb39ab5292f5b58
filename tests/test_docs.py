"""What README and docs say is true: files and commands exist, every block of code runs, and the site builds."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks import how_far

import rookery
from rookery import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ENTRY = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = [*ENTRY, *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "src").rglob("README.md"))]
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
NOT_RUN = "<!-- not run: "
"""Before a block of Python: why it is only compiled, such as the time it takes."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fenced(page: Path) -> Iterator[tuple[str, str, str]]:
    """The fenced blocks of a page: the language, the text, and the last line of text before."""
    language: str | None = None
    block: list[str] = []
    before = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            if language is None:
                language, block = line[3:].strip(), []
            else:
                yield language, "\n".join(block) + "\n", before
                language, before = None, ""
        elif language is not None:
            block.append(line)
        else:
            before = line.strip() or before
    assert language is None, f"{page} has a block without an end"


def blocks(page: Path, wanted: str) -> list[str]:
    """The fenced blocks of a language in a page."""
    return [block for language, block, _ in fenced(page) if language == wanted]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src/rookery|native|tests|docs|examples|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / name).exists() or "NAME" in name, name
    for link in re.findall(r"\]\(([^)#:]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        assert (page.parent / (link[0] or link[1])).exists(), link


# Commands


def commands(page: Path) -> list[str]:
    """The commands of ours in the blocks of a page, lines that go on put together."""
    found = []
    for block in blocks(page, ""):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.removeprefix("$ ").partition(" #")[0].strip()
            if line.startswith("rookery "):
                found.append(re.sub(r"\s+", " ", line))
            elif "| rookery " in line:
                found.append(line)
    return found


def words_of(line: str) -> list[str]:
    """The words after `rookery`, optional ones included."""
    return shlex.split(line.partition("rookery ")[2].replace("[", "").replace("]", ""))


COMMANDS = sorted({line for page in PAGES for line in commands(page)})
STAND_INS = {"GAME": "tenten", "METHOD": "lspi", "NAME": "random", "POSITION": "-"}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command with all its options, by the parser that reads what people type; nothing is run."""
    monkeypatch.chdir(ROOT)
    words = [STAND_INS.get(word, word) for word in words_of(line)]
    if "--help" in words:
        with pytest.raises(SystemExit) as stop:
            cli.parsed(words)
        assert stop.value.code == 0
    else:
        cli.parsed(words)


OTHERS = sorted(
    {
        line.removeprefix("$ ").partition(" #")[0].strip()
        for page in PAGES
        for block in blocks(page, "")
        for line in block.splitlines()
        if re.match(r"(\$ )?(\.venv/bin/)?(python|make) ", line)
    }
)


@pytest.mark.parametrize("line", OTHERS)
def test_scripts_and_targets_exist(line: str) -> None:
    program, first, *rest = line.removeprefix(".venv/bin/").split()
    if program == "make":
        assert f" {first}" in re.findall(r"^\.PHONY:(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]
    elif first == "-m":
        place = ROOT / rest[0].replace(".", "/")
        assert rest[0] == "pytest" or place.with_suffix(".py").exists() or (place / "__main__.py").exists()
    else:
        assert (ROOT / first).is_file()


RUN = ["docs/quick-start.md", "docs/how-to/positions-and-records.md", "docs/how-to/train-and-resume.md"]
"""Pages whose commands all run, one after the other in one folder."""
WAITING = ("rookery serve", "rookery play")
"""What waits for a person."""
ALSO_RUN = [
    "rookery games",
    "rookery show solitaire-chess --svg board.svg",
    'rookery solve solitaire-chess ".RN./B.P./..../...." --order ranked --search best-first',
    'rookery solve checkers "W:WK18,K23:BK1"',
    "rookery solve tenten --size 4 --pieces seven",
    "rookery solve examples/nim.py",
    'rookery explain endgames "8/8/8/4k3/8/8/8/R3K3 w - - 0 1" --agent q-learning',
    'rookery explain checkers "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29" --agent voting --svg votes',
    "rookery arena examples/lights_out.py best-first random --games 2",
]
"""Quick commands of other pages."""


def workplace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(folder)


def run(line: str) -> None:
    """A command that must go well; with a pipe, in a shell."""
    if line.startswith("rookery "):
        try:
            cli.main(words_of(line))
        except SystemExit as stop:
            code = stop.code
    else:
        command = line.replace("| rookery ", f"| {shlex.quote(sys.executable)} -m rookery ")
        code = subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, check=False, timeout=120).returncode
    assert code == 0, line


@pytest.mark.parametrize("page", RUN)
def test_commands_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace(tmp_path, monkeypatch)
    lines = [line for line in commands(ROOT / page) if not line.startswith(WAITING)]
    assert lines
    for line in lines:
        run(line)


@pytest.mark.parametrize("line", ALSO_RUN)
def test_quick_commands_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert line in COMMANDS
    workplace(tmp_path, monkeypatch)
    run(line)


# Python


def imported_names_exist(block: str) -> None:
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module} has no {alias.name}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python by itself, so that each can be copied."""
    workplace(tmp_path, monkeypatch)
    for language, block, before in fenced(page):
        if language != "python":
            continue
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        elif before.startswith(NOT_RUN):
            imported_names_exist(block)
        else:
            exec(compile(block, page.name, "exec"), {})


# The site


@pytest.fixture(scope="module")
def extension() -> Any:
    pytest.importorskip("myst_parser")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        yield importlib.import_module("extension")
    sys.modules.pop("extension", None)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the outputs of the notebooks. A warning is an error: a link that leads nowhere, for one."""
    pytest.importorskip("furo")
    out = tmp_path_factory.mktemp("site")
    command = [
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-D",
        "run_notebooks=0",
        "-d",
        str(out / "trees"),
    ]
    command += ["-D", "extensions=sphinx.ext.autodoc,sphinx.ext.napoleon,myst_parser,extension"]  # viewcode takes long
    command += ["-D", "toc_object_entries=0"]  # so does a sidebar that knows all functions
    done = subprocess.run(
        [sys.executable, *command, str(DOCS), str(out / "html")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "html"


@pytest.mark.xdist_group("site")  # it is built once
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    """Also links to places within pages, and those that are not written as Markdown."""
    pages = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.html")}
    places = {file: set(re.findall(r'\sid="([^"]+)"', text)) for file, text in pages.items()}
    broken = []
    for file, text in pages.items():
        for link in re.findall(r'<(?:a|img|link|script)\s[^>]*?(?:href|src)="([^"]+)"', text):
            address, _, place = link.partition("#")
            if re.match(r"[a-z]+:", link) or (not address and not place):
                continue
            target = (file.parent / address.partition("?")[0]).resolve() if address else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (place and target in places and place not in places[target]):
                broken.append(f"{file.relative_to(site)}: {link}")
    assert broken == []


@pytest.mark.xdist_group("site")  # it is built once
def test_the_site_has_everything(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for verb in cli.names():
        assert f"rookery {verb}<" in commands
    assert "--match-games" in commands  # `sweep` only: made by the method that is asked for
    interface = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in rookery.__all__:
        assert f'id="rookery.{name}"' in interface, name
    settings = (site / "reference" / "settings.html").read_text(encoding="utf-8")
    assert "rookery train GAME zero" in settings
    assert "rookery train checkers q-learning" in settings
    assert "generated:" not in commands + interface + settings
    assert "only-dark" in (site / "games" / "checkers.html").read_text(encoding="utf-8")


@pytest.mark.xdist_group("site")
def test_groups_are_known(request: pytest.FixtureRequest) -> None:
    """Where pytest-xdist does not name the groups of tests, every process builds the site, and none of them says so."""
    grouped = request.config.getoption("loadgroup", default=False)
    assert not grouped or request.node.nodeid.endswith("@site")


# Pictures


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    yield importlib.import_module("figures")
    sys.modules.pop("figures", None)


def test_boards_are_those_that_the_games_draw(figures: Any, tmp_path: Path) -> None:
    figures.make(tmp_path)
    for file in tmp_path.iterdir():
        kept = DOCS / "images" / file.name
        same = kept.exists() and (file.name.startswith("how-far") or kept.read_text() == file.read_text())
        assert same, f"`python docs/figures.py` makes {file.name} anew"


def test_boards_in_the_dark_are_as_on_the_web_page(figures: Any) -> None:
    page = (ROOT / "src" / "rookery" / "web" / "static" / "style.css").read_text(encoding="utf-8")
    for selector, rule in figures.RULES.items():
        assert f"& {selector} {{ {rule}; }}" in page
    assert (DOCS / "_static" / "boards.css").read_text(encoding="utf-8") == figures.dark_outputs()


def test_every_picture_is_light_and_dark() -> None:
    for file in (DOCS / "images").iterdir():
        light = file.stem.removesuffix("-dark")
        assert {f"{light}{file.suffix}", f"{light}-dark{file.suffix}"} <= {
            one.name for one in (DOCS / "images").iterdir()
        }


# Tutorials


@pytest.mark.parametrize("file", TUTORIALS, ids=lambda file: file.stem)
def test_tutorials_run(file: Path, tmp_path: Path, extension: Any) -> None:
    pytest.importorskip("nbclient")
    if "ppo" in file.stem:
        pytest.importorskip("sb3_contrib")
    notebook = extension.executed(file, tmp_path)
    errors = [o for cell in notebook["cells"] for o in cell.get("outputs", []) if o.get("name") == "stderr"]
    assert errors == []
    page = extension.as_markdown(notebook)
    assert page.count("```{raw} html") + page.count(":class: output") >= 4


@pytest.mark.parametrize("file", TUTORIALS, ids=lambda file: file.stem)
def test_tutorials_are_kept_without_outputs(file: Path) -> None:
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert [cell["outputs"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_every_agent_stands_beside_the_exact_answer() -> None:
    page = (DOCS / "how-far.md").read_text(encoding="utf-8")
    for name, exam in how_far.EXAMS.items():
        game = rookery.load(name, exam.variant, **exam.options)
        rows = page.partition(f"**{game.title}, `{exam.variant}`**")[2].partition("**")[0]
        wanted = set(rookery.agent_names(game, ready=True)) - set(how_far.OTHERS)
        found = set(re.findall(r"^\| `([\w-]+)` \|", rows, re.MULTILINE))
        assert found == wanted, "`python -m benchmarks.how_far --page` makes the tables anew, in five minutes"


# One template

SECTIONS = {
    "games": ("Rules, Variants and options, Notation, Agents, Commands, Exact answers, What is tested, What is where"),
    "methods": "When to use it, Commands, Settings that matter, Results, What is where, References",
    "studies": "Question, Commands, Results",
}
"""The parts of every page of a kind."""
TEMPLATED = [
    page for folder in SECTIONS for page in sorted((DOCS / folder).glob("*.md")) if page.stem != "index"
]  # fmt: skip


@pytest.mark.parametrize("page", TEMPLATED, ids=name_of)
def test_pages_of_a_kind_have_the_same_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [title for title in SECTIONS[page.parent.name].split(", ") if title not in titles] == []
