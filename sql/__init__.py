"""The SQL of kanon_sql: one macro set or query template per file, each headed by an example.

``${name}`` in a template is filled in by kanon_sql.plan.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _lines(name: str) -> list[str]:
    """The lines of a file, without its heading."""
    lines = _text(name).splitlines()
    while lines and (lines[0].startswith("--") or not lines[0].strip()):
        lines.pop(0)
    return lines


def statement(name: str, /, **values: object) -> str:
    """The SQL of a file, without its heading, with the values filled in."""
    return Template("\n".join(_lines(name)).strip()).substitute(values)


def expression(name: str, /, **values: object) -> str:
    """The same in one line, for what stands inside a line of another statement."""
    # joined before it is filled: the name of a column may hold a line break
    return Template(" ".join(line.strip() for line in _lines(name))).substitute(values)


def statements(name: str) -> list[str]:
    """The statements of a file of macros."""
    return [part.strip() for part in statement(name).split(";\n") if part.strip(" \n;")]
