"""Tables, as Markdown and as JSON. The Markdown is made from what the JSON holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Cell = float | int | str | None


@dataclass
class Table:
    """A table.

    Attributes:
        title: what it shows.
        columns: the names of its columns.
        rows: one cell per column; a text in a column of numbers says why there is no number.
        digits: decimals of the numbers; None for three significant ones.
        notes: sentences below the table.
    """

    title: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    digits: int | None = None
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


def shown(value: Cell, digits: int | None = None) -> str:
    """A cell as text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("|", "\\|").replace("\n", " ")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if digits is not None:
        return f"{value:,.{digits}f}"
    size = abs(value)
    if size >= 100.0 or size == 0.0:
        return f"{value:,.0f}"
    if size < 0.0001:
        return f"{value:.1e}"
    places = 1 if size >= 10.0 else 2 if size >= 1.0 else 3 if size >= 0.1 else 4
    return f"{value:.{places}f}"


def markdown(table: Table) -> list[str]:
    """The lines of a table, its columns aligned: for a terminal as well as for a page."""
    texts = [table.columns, *([shown(c, table.digits) for c in row] for row in table.rows)]
    widths = [max(3, *(len(row[j]) for row in texts)) for j in range(len(table.columns))]
    left = [
        not any(isinstance(row[j], (int, float)) for row in table.rows)
        for j in range(len(table.columns))
    ]

    def line(cells: list[str]) -> str:
        padded = (
            text.ljust(width) if is_left else text.rjust(width)
            for text, width, is_left in zip(cells, widths, left, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    rule = [
        ":" + "-" * (width - 1) if is_left else "-" * (width - 1) + ":"
        for width, is_left in zip(widths, left, strict=True)
    ]
    body = [line(texts[0]), "| " + " | ".join(rule) + " |", *map(line, texts[1:])]
    notes = [f"- {note}" for note in table.notes]
    return [f"### {table.title}", "", *body, *([""] if notes else []), *notes, ""]


def table_of(found: dict[str, Any]) -> Table:
    """A table from its JSON."""
    return Table(**found)
