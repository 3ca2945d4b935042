"""The SQL of kanon_sql: a file for each module that writes queries, of named blocks.

A line ``-- name: broken`` begins a block; what stands below it, up to the first line of SQL, tells
what it is a part of, by an example. ``statement("models.broken")`` gives the block of that name in
models.sql. ``${name}`` in a block is filled in by kanon_sql.plan. The files of macros/ are finished
SQL.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

NAME = "-- name: "


@cache
def _blocks(file: str) -> dict[str, list[str]]:
    return blocks_in(files(__package__).joinpath(f"{file}.sql").read_text(encoding="utf-8"))


def blocks_in(text: str) -> dict[str, list[str]]:
    """The lines of each block of a file's text, without its heading."""
    blocks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(NAME):
            lines = blocks[line.removeprefix(NAME)] = []
        elif lines or (line.strip() and not line.startswith("--")):
            lines.append(line)
    return blocks


def _lines(name: str) -> list[str]:
    file, _, block = name.partition(".")
    return _blocks(file)[block]


def statement(name: str, /, **values: object) -> str:
    """The SQL of a block, ``file.block``, with the values filled in."""
    return Template("\n".join(_lines(name)).strip()).substitute(values)


def expression(name: str, /, **values: object) -> str:
    """The same in one line, for what stands inside a line of another statement."""
    # joined before it is filled: the name of a column may hold a line break
    return Template(" ".join(line.strip() for line in _lines(name)).strip()).substitute(values)


def statements(file: str) -> list[str]:
    """The statements of a file of macros."""
    text = "\n".join(line for lines in _blocks(file).values() for line in lines)
    return [part.strip() for part in text.split(";\n") if part.strip(" \n;")]
