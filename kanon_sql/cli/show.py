"""What a command prints: tables for people, JSON for machines, and one line on stderr."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kanon_sql.errors import printable

WIDE = 8
"""The most columns of a table that stands as it is; one with more and few rows is turned."""

Row = Sequence[Any]


def text_of(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "NULL"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(text_of, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows as aligned text; columns of numbers to the right."""
    texts = [[text_of(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    numeric = [
        all(isinstance(row[i], (int, float)) or row[i] is None for row in rows)
        and any(row[i] is not None for row in rows)
        for i in range(len(names))
    ]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(cells, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join(["  " + line(r) for r in (names, ["-" * w for w in widths], *texts)])


def turned(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Few rows of many columns: a line for each column."""
    lines = [(name, *(row[i] for row in rows)) for i, name in enumerate(names)]
    return table(("", *(["value"] if len(rows) == 1 else [f"{i}" for i in range(len(rows))])),
                 lines)


def shown(names: Sequence[str], rows: Sequence[Row]) -> str:
    """A result as people read it."""
    return turned(names, rows) if len(names) > WIDE and len(rows) <= 3 else table(names, rows)


def metrics(rows: Sequence[Row], width: int) -> str:
    """Numbers as a table, what they mean beside them, and the facts in words below.

    Args:
        rows: (metric, value, text, unit, in_words, description) each.
        width: of the terminal.
    """
    numbers = [(name, value, unit) for name, value, _, unit, *_ in rows if value is not None]
    heading, rule, *lines = table(("metric", "value", "unit"), numbers).splitlines()
    start = max(map(len, (rule, *lines))) + 2
    room = max(width - start, 40)
    texts = [heading.ljust(start) + "meaning", rule.ljust(start) + "-" * 7]
    previous = None
    for line, about in zip(lines, (m[4] or m[5] for m in rows if m[1] is not None), strict=True):
        # a metric of every column means the same for each
        first, *more = [""] if about == previous else textwrap.wrap(about, room)
        previous = about
        texts += [(line.ljust(start) + first).rstrip(), *(" " * start + part for part in more)]
    words = [f"  {name}: {text}" for name, _, text, *_ in rows if text is not None]
    wrapped = (textwrap.fill(word, width, subsequent_indent="    ") for word in words)
    return "\n".join([*texts, "", *wrapped]).rstrip()


def width() -> int:
    """How wide the terminal is."""
    return shutil.get_terminal_size((120, 24)).columns


def _json_value(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(part) for part in value]
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)


def as_json(value: Any) -> str:
    """What machines read."""
    return json.dumps(_json_value(value), indent=1, ensure_ascii=False)


def as_objects(names: Sequence[str], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A result as JSON has it."""
    return [dict(zip(names, row, strict=True)) for row in rows]


def note(text: str) -> None:
    """Tells people something that is no output."""
    with suppress(OSError):  # a release doesn't end because nobody hears of it
        print(f"kanon: {printable(text)}", file=sys.stderr)
