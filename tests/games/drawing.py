"""Drawings read back: what stands where, in units of one cell."""

from __future__ import annotations

from xml.etree import ElementTree

Place = tuple[float, float]


def parts(svg: str, kind: str) -> list[dict[str, str]]:
    """The attributes of all elements of a kind, in the order in which they are drawn; the text as `text`."""
    found = [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith(f"}}{kind}")]
    return [{**element.attrib, "text": element.text or ""} for element in found]


def numbers(part: dict[str, str], *names: str) -> tuple[float, ...]:
    return tuple(float(part[name]) for name in names)


def size(svg: str) -> Place:
    _, _, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
    return width, height


def middle(rect: dict[str, str]) -> Place:
    x, y, width, height = numbers(rect, "x", "y", "width", "height")
    return round(x + width / 2, 6), round(y + height / 2, 6)


def cells(svg: str) -> dict[int, dict[str, str]]:
    """The rectangles that can be touched."""
    return {int(part["data-cell"]): part for part in parts(svg, "rect") if "data-cell" in part}


def places(svg: str) -> dict[int, Place]:
    """The middle of every cell that can be touched."""
    return {cell: middle(part) for cell, part in cells(svg).items()}


def pieces(svg: str) -> dict[Place, str]:
    """What stands on which place."""
    found: dict[Place, str] = {}
    for part in parts(svg, "g"):
        if "data-piece" in part:
            x, y = map(float, part["data-upright"].split())
            found[round(x, 6), round(y, 6)] = part["data-piece"]
    return found


def written(svg: str) -> list[tuple[str, Place]]:
    """All texts and their middles: the base line of a text is 0.35 of its size lower."""
    found = []
    for part in parts(svg, "text"):
        x, y, high = numbers(part, "x", "y", "font-size")
        found.append((part["text"], (round(x, 4), round(y - 0.35 * high, 4))))
    return found


def texts(svg: str) -> dict[str, Place]:
    """Where every text stands, each of them once."""
    found = written(svg)
    assert len(dict(found)) == len(found)
    return dict(found)
