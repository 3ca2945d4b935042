"""Calls over a few tables, and their answers as short texts that can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import kanon_sql

Connection = duckdb.DuckDBPyConnection

ROWS = """
    SELECT 20 + (i * 7 + i // 50) % 60 AS age,
           CASE WHEN i % 11 > 0 THEN round((i * 997 % 1000) / 7.0, 2) END AS income,
           'z' || (i * 37 % 83) AS zip, DATE '2020-01-01' + (i * 13 % 400)::INTEGER AS seen,
           ['nurse', 'cook', 'clerk', 'pilot'][1 + (i * i) % 4] AS job,
           ['Flu', 'Cold', 'Angina', 'Gout', NULL][1 + (i // 3) % 5] AS disease
    FROM range({}) AS r(i)
"""
SIZES = {"small": 150, "medium": 900, "large": 4000}
"""Rows of each table."""

ROLES = (
    "quasi_identifiers := ['age', 'income', 'zip', 'seen'], sensitive := ['job', 'disease'], "
    "seed := 7"
)
FORMS = (
    "SELECT * FROM anonymize({}, k := 5, {})",
    "SELECT * FROM anonymize({}, k := 4, method := 'mondrian', representation := 'interval', {})",
    "SELECT * FROM anonymize({}, k := 3, method := 'k_member', hierarchies := {{'zip': 'prefix'}}, "
    "suppress := 0.1, {})",
    "SELECT * FROM anonymize({}, k := 6, method := 'mdav_plus', class_id := true, {})",
    "SELECT * FROM anonymize({}, k := 4, l := {{'disease': 2}}, nulls := 'suppress', {})",
    "SELECT * FROM anonymize({}, k := 4, t := {{'job': 0.5}}, {})",
    "SELECT * FROM anonymize({}, k := 3, method := 'r_gather', centers := 'rows', {})",
    "SELECT * FROM anonymize_clusters({}, k := 7, {})",
    "SELECT metric, value FROM anonymize_metrics({}, k := 5, {}) WHERE unit IS DISTINCT FROM "
    "'seconds' AND metric <> 'grouping_cache'",
    "SELECT * FROM k_anonymity({}, {})",
    "SELECT * FROM anonymize({}, k := 100000, {})",
    "SELECT * FROM anonymize({}, k := 5, method := 'mdva', {})",
)
"""The last two are refused, in the same words each time."""

QUICK = tuple(FORMS[i] for i in (1, 3, 9, 10))
"""Two releases, an audit and a refusal."""

UNSEEDED = ("k_anonymity(",)


@dataclass(frozen=True)
class Question:
    """A call.

    Attributes:
        relation: what it is about: a table, or files.
        sql: its text.
    """

    relation: str
    sql: str


def questions(relations: Iterable[str], forms: Sequence[str] = FORMS) -> list[Question]:
    """Every form of call on every relation."""
    return [
        Question(relation, form.format(
            f"'{relation}'",
            ROLES.partition(", seed")[0] if any(u in form for u in UNSEEDED) else ROLES,
        ))
        for relation in relations for form in forms
    ]


def tables(con: Connection) -> list[str]:
    """Makes the tables; their names."""
    for name, rows in SIZES.items():
        con.execute(f"CREATE TABLE {name} AS {ROWS.format(rows)}")
    return list(SIZES)


def lake(con: Connection, folder: Path) -> list[str]:
    """Writes the rows as a folder of Parquet files, by job; its files as one relation."""
    con.execute(f"COPY ({ROWS.format(1500)}) TO '{folder}' (FORMAT parquet, PARTITION_BY (job))")
    return [f"{folder}/*/*.parquet"]


def digest(rows: Any) -> str:
    """A short text of rows in their order."""
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def answer(con: Connection, question: Question) -> str:
    """A digest of what a call gives, or the sentence by which it is refused."""
    try:
        return digest(con.execute(question.sql).fetchall())
    except duckdb.InvalidInputException as refused:
        return str(refused).partition("\n\nLINE")[0]


def connection(path: str = ":memory:", read_only: bool = False) -> Connection:
    """A connection on which the calls are known."""
    con = kanon_sql.register(duckdb.connect(path, read_only=read_only))
    # in a notebook without ipywidgets DuckDB refuses the setting, and shows no bar
    with suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con
