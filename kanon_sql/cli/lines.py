"""TOML, and where in it something stands: the parser tells lines of broken syntax only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NoToml = tomllib.TOMLDecodeError


def parse(text: str) -> dict[str, Any]:
    """The tables of a text. Raises NoToml, also where values are nested too deeply to be read."""
    try:
        tables: dict[str, Any] = tomllib.loads(text)
        return tables
    except RecursionError:
        raise NoToml("Values are nested too deeply") from None


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line, from 1 on, with which the entry of these keys begins; of the nearest table around
    it where there is none.

    The parser itself reads the text up to each line: the first beginning of it that has the keys
    ends with their entry.
    """
    for depth in range(len(keys), 0, -1):
        lines = text.splitlines(keepends=True)
        whole = 0
        for number in range(1, len(lines) + 1):
            try:
                node: Any = parse("".join(lines[:number]))
            except NoToml:
                continue
            for key in keys[:depth]:
                node = node.get(key) if isinstance(node, dict) else None
                if node is None:
                    break
            if node is not None:
                return _first_said(lines, whole) + 1
            whole = number
    return 1


def _first_said(lines: Sequence[str], start: int) -> int:
    """The first line from ``start`` on that is no remark and not empty."""
    while start + 1 < len(lines) and (
        not lines[start].strip() or lines[start].lstrip().startswith("#")
    ):
        start += 1
    return start
