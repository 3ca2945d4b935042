"""A report, read as a program reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

EMPTY = {"meta", "link", "br", "i", "path", "line", "img"}
"""Elements that hold no text, so that nothing is lost where they have no end tag."""


@dataclass
class Page(HTMLParser):
    """The elements of a page.

    Attributes:
        tags: the name and attributes of each element, in their order.
        numbers: each <data> with its metric, or "": value.
        text: all text outside of styles.
        cells: the text of each cell of a table, by row.
    """

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    numbers: list[tuple[str, float]] = field(default_factory=list)
    text: str = ""
    cells: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self._open.append(tag)
        if tag == "data":
            self.numbers.append((found.get("data-metric") or "", float(found["value"] or "nan")))
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th") and self.cells:
            self.cells[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.text += data
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += data

    def metric(self, name: str) -> set[float]:
        """What the page says of a metric, wherever it does."""
        return {value for told, value in self.numbers if told == name}


def read(path: str | Path) -> Page:
    """The page of a file."""
    page = Page()
    page.feed(Path(path).read_text(encoding="utf-8"))
    page.close()
    return page
