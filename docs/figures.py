"""The drawings of the documentation, light and dark: python docs/figures.py [--out docs/images]

Boards come from the games, the chart of docs/how-far.md from the tables of that page. A plot that a study made, such as
cross.svg, gets its dark form. Screenshots are made by `python -m tests.web.screenshots --docs`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import rookery as rk
from rookery.report import plots

HERE = Path(__file__).parent
TENTEN = [
    "##........", "##...####.", "........#.", "...###..#.", "...#....#.",
    "...#.....#", ".........#", "##.......#", "##..###..#", "#######...",
]  # fmt: skip
POSITIONS = {
    "2048": ("4x4", "2,4,8,2/16,64,4,./128,32,2,./1024,256,16,2"),
    "checkers": ("standard", "W:W12,21,24,25,27,28,30,31,32:B1,2,3,4,7,8,10,11,K23"),
    "endgames": ("KRK", "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"),
    "morpion": ("5D", ""),
    "solitaire-chess": ("4x4", ".P.R/R.../.KN./Q.B."),
    "tenten": ("10x10-hand3", f"{'/'.join(TENTEN)} 2x2,L3-nw,1x4"),
}
"""What is drawn of each game: a variant and a position; of Morpion the record that ships, played to its end."""

RULES = {
    '[fill="#faf8f3"]:not([data-piece] *, rect[rx]:not([fill-opacity]) + text)': "fill: #211f1c",
    '[fill="#ece5d5"]': "fill: #8a8273",
    'rect[rx][fill="#ece5d5"]': "fill: #3b3730",
    '[fill="#b9a88a"]': "fill: #62594b",
    '[stroke="#ece5d5"]': "stroke: #3a362f",
    '[fill="#8d8069"]': "fill: #a3977f",
    '[fill="#2c2a27"]:not([data-piece], [data-piece] *, rect[rx]:not([fill-opacity]) + text)': "fill: #e8e2d4",
    '[stroke="#2c2a27"]:not([data-piece], [data-piece] *)': "stroke: #cfc7b6",
}
"""How the web page shows boards in the dark (`src/rookery/web/static/style.css`)."""


def with_style(svg: str, css: str) -> str:
    """A drawing with a style sheet inside."""
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>{css}</style>{svg[start:]}"


def dark_board(svg: str) -> str:
    return with_style(svg, "".join(f"{selector} {{ {rule} }}" for selector, rule in RULES.items()))


def dark_outputs() -> str:
    """The style sheet that shows the boards in notebooks in the dark as on the web page."""
    inside = "".join(f"    & {selector} {{ {rule} }}\n" for selector, rule in RULES.items())
    dark = f'body[data-theme="dark"] div.output svg {{\n{inside}}}\n'
    unless = f'  body:not([data-theme="light"]) div.output svg {{\n{inside}  }}\n'
    return f"/* Made by docs/figures.py. */\n{dark}\n@media (prefers-color-scheme: dark) {{\n{unless}}}\n"


def dark_plot(svg: str) -> str:
    """A plot with light and dark exchanged, and hues kept."""
    return with_style(svg, "svg { filter: invert(0.9) hue-rotate(180deg) }")


def board(name: str) -> str:
    """The drawing of a game."""
    variant, position = POSITIONS[name]
    game = rk.load(name, variant)
    if position:
        return game.parse_state(position).svg()
    player, state = rk.agent("best", game), game.initial_state()
    while state.player() != rk.TERMINAL:
        state.apply(player.choose(state))
    return state.svg()


ROW = r"^\| `([\w-]+)` \|(?: [\d.]+% \|)? ([\d.]+)% \("
"""A row of docs/how-far.md: the agent and its share of best moves."""


def how_far() -> str:
    """The shares of best moves in the tables of docs/how-far.md."""
    text = (HERE / "how-far.md").read_text(encoding="utf-8")
    games = [
        (title, [(name, float(share)) for name, share in re.findall(ROW, rows, re.M)])
        for title, rows in re.findall(r"^\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", text, re.M)
    ]
    games = [(title, rows) for title, rows in games if rows]

    def paint(figure: object) -> None:
        axes = figure.subplots(1, len(games), sharex=True)  # type: ignore[attr-defined]
        for place, (title, rows) in zip(axes, games, strict=True):
            names = [name for name, _ in rows][::-1]
            place.barh(names, [share for _, share in rows][::-1], color="#2a6f97", height=0.6)
            place.set(title=title.replace("`", ""), xlim=(0, 100), xticks=(0, 50, 100))
            place.grid(axis="y", visible=False)

    return plots.draw(paint, 11, 3)


def make(out: Path) -> None:
    """Write all drawings."""
    out.mkdir(parents=True, exist_ok=True)
    for name in rk.GAMES:
        svg = board(name)
        (out / f"{name}.svg").write_text(svg, encoding="utf-8")
        (out / f"{name}-dark.svg").write_text(dark_board(svg), encoding="utf-8")
    for name, svg in {
        "how-far": how_far(),
        "cross": (HERE / "images" / "cross.svg").read_text(encoding="utf-8"),
    }.items():
        (out / f"{name}.svg").write_text(svg, encoding="utf-8")
        (out / f"{name}-dark.svg").write_text(dark_plot(svg), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "images")
    make(parser.parse_args().out)
    (HERE / "_static" / "boards.css").write_text(dark_outputs(), encoding="utf-8")
