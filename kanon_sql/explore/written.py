"""Choices as kanon.toml and as a line of SQL. Both make the same release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon_sql.call.relation import is_url
from kanon_sql.explore.choices import Choices, hierarchies_of, options_of
from kanon_sql.names import literal, quoted
from kanon_sql.output.toml import toml_key, toml_value

ATTACHED = "explored"
"""What the line of SQL calls a DuckDB file."""


@dataclass(frozen=True)
class NamedSource:
    """The table that is explored, as it was typed.

    Attributes:
        words: the words of the command line, or the table of a DuckDB file.
        data: a path, a pattern, a list of paths, or the name of a table of the DuckDB file.
        database: the DuckDB file.
    """

    words: tuple[str, ...]
    data: str | list[str]
    database: str | None = None

    @property
    def name(self) -> str:
        """What kanon.toml calls the table, in letters, digits and _."""
        last = self.data if isinstance(self.data, str) else self.data[0]
        if self.database is None:
            last = Path(self.words[0].rstrip("/")).name.split(".")[0]
        return re.sub(r"\W+", "_", last, flags=re.ASCII).strip("_") or "table"

    @property
    def title(self) -> str:
        """What the page calls it."""
        if self.database is not None:
            return f"{Path(self.database).name}, {self.data}"
        more = f" and {len(self.words) - 1} more" if len(self.words) > 1 else ""
        return Path(self.words[0]).name + more


def toml_of(source: NamedSource, choices: Choices, output: str) -> str:
    """The text of kanon.toml, which kanon run accepts.

    Args:
        source: the table.
        choices: what was chosen.
        output: the file that kanon run writes.

    Raises:
        OptionError: the choices are none that a release can be made with.
    """
    options = options_of(choices)
    words: Any = source.words[0] if len(source.words) == 1 else list(source.words)
    table = f"tables.{toml_key(source.name)}"
    lines = ["# Written by kanon explore. kanon run makes the release.", "", f"[{table}]"]
    if source.database is not None:
        lines.append(f"database = {toml_value(source.database)}")
        words = source.data
    lines += [
        f"input = {toml_value(words)}", f"output = {toml_value(output)}",
        "", f"[{table}.options]",
    ]
    lines += [
        f"{name} = {toml_value(options[name])}"
        for name in ("k", "l", "t", "method", "effort") if name in options
    ]
    lines += ["", f"[{table}.roles]"]
    lines += [f"{toml_key(column)} = {toml_value(role)}" for column, role in choices.roles.items()]
    if hierarchies := hierarchies_of(choices):
        lines += ["", f"[{table}.hierarchies]"]
        lines += [f"{toml_key(name)} = {toml_value(each)}" for name, each in hierarchies.items()]
    return "\n".join(lines) + "\n"


def sql_of(source: NamedSource, choices: Choices) -> str:
    """A line of SQL for any connection that has the calls, from any folder.

    Raises:
        OptionError: the choices are none that a release can be made with.
    """
    first = ""
    if source.database is not None:
        place = literal(str(Path(source.database).resolve()))
        first = f"ATTACH IF NOT EXISTS {place} AS {ATTACHED} (READ_ONLY);\n"
        data: Any = f"{ATTACHED}.{_inside(str(source.data))}"
    elif isinstance(source.data, str):
        data = _absolute(source.data)
    else:
        data = [_absolute(each) for each in source.data]
    options = "".join(
        f",\n    {name} := {sql_value(value)}" for name, value in options_of(choices).items()
    )
    return f"{first}SELECT * FROM anonymize({sql_value(data)}{options});"


def _inside(table: str) -> str:
    """A table of an attached file, with its schema."""
    parts = table.split(".")
    if all(re.fullmatch(r"\w+", part) for part in parts):
        return table if len(parts) > 1 else f"main.{table}"
    return f"main.{quoted(table)}"


def _absolute(path: str) -> str:
    return path if is_url(path) else str(Path(path).resolve())


def sql_value(value: Any) -> str:
    """A value as a constant of DuckDB's SQL."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{literal(key)}: {sql_value(each)}" for key, each in value.items())
        return f"{{{inside}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(sql_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return literal(value) if isinstance(value, str) else repr(value)
