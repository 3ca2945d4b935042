"""A case: a table, the options of a release and the way in which it is asked for, as plain values
that a JSON file holds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

DOORS = ("query", "function", "frame", "files", "spark")
"""How a release is asked for: by SQL, by the Python function over a table or an Arrow table, over
files in blocks, or over a DataFrame of Spark."""


@dataclass(frozen=True)
class Column:
    """A column: its values as texts that DuckDB casts to the type, or None."""

    name: str
    type: str
    values: tuple[str | None, ...]

    def take(self, rows: Sequence[int]) -> Column:
        """The same column with some rows only."""
        return Column(self.name, self.type, tuple(self.values[row] for row in rows))


@dataclass(frozen=True)
class Case:
    """A table and how to anonymize it.

    Attributes:
        columns: the table.
        options: those of the call.
        door: one of DOORS.
        roles_in: where the roles are said: 'options', 'relation' or 'comments'.
        tables: other tables that options name.
        sound: whether nothing in it is a reason to refuse it.
    """

    columns: tuple[Column, ...]
    options: Mapping[str, Any]
    door: str = "query"
    roles_in: str = "options"
    tables: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    sound: bool = False

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.columns[0].values)

    def text(self) -> str:
        """The case as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def of(path: Path) -> Case:
        """The case in a file."""
        raw = json.loads(path.read_text(encoding="utf-8"))

        def columns(found: Any) -> tuple[Column, ...]:
            return tuple(Column(c["name"], c["type"], tuple(c["values"])) for c in found)

        return Case(**{
            **raw, "columns": columns(raw["columns"]),
            "tables": {name: columns(each) for name, each in raw.get("tables", {}).items()},
        })


# --- SQL ----------------------------------------------------------------------------------------


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value as it stands in a call."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{value}'::DOUBLE"
    if isinstance(value, Mapping):
        parts = ", ".join(f"{literal(str(key))}: {literal(part)}" for key, part in value.items())
        return ("MAP " if "" in value else "") + "{" + parts + "}"  # no STRUCT has an empty name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    return format(Decimal(value), "f") if isinstance(value, float) and value > 1e-5 else repr(value)


def call(name: str, relation: str, options: Mapping[str, Any]) -> str:
    """One SQL call."""
    given = [f"{key} := {literal(value)}" for key, value in options.items()]
    return f"{name}({', '.join([literal(relation), *given])})"


def create(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[Column]) -> None:
    """Makes a table of columns, its rows in their order."""
    raw = pa.table(
        [pa.array(c.values, pa.string()) for c in columns],
        names=[f"c{i}" for i in range(len(columns))],
    )
    con.register("raw_values", raw)
    casts = ", ".join(
        f"CAST(c{i} AS {c.type}) AS {quoted(c.name)}" for i, c in enumerate(columns)
    )
    con.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS SELECT {casts} FROM raw_values")
    con.unregister("raw_values")
