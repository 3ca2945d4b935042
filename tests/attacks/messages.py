"""Messages: what a failing query tells.

The attacker sees no data. He reads the log of a job, or looks over the shoulder of the one who
started it: messages of errors, remarks, and the line that shows how far a call is. The naive job is
plain SQL that fails on the same mistakes.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from unittest import mock

import duckdb

import kanon_sql
from kanon_sql.jobs import progress
from tests.attacks.frame import Attack, Connection

CANARIES = ("Zaphod", "987654321", "42.4242", "1969-07-20")
"""What stands in the table and nowhere else."""

TABLE = """
    CREATE OR REPLACE TEMP TABLE secrets AS
    SELECT ['Zaphod', 'Zaphod B'][1 + i % 2] || i AS name, 987654321 AS number,
           (42.4242 + i)::DOUBLE AS x, DATE '1969-07-20' AS day, 'disease ' || i % 3 AS disease
    FROM range(40) AS r(i);
    CREATE OR REPLACE TEMP TABLE half_a_tree AS
    SELECT name AS level0, '*' AS level1 FROM secrets LIMIT 20;
    CREATE OR REPLACE TEMP VIEW breaking AS SELECT * REPLACE (name::INTEGER AS name) FROM secrets;
    CREATE OR REPLACE TEMP TABLE endless AS
    SELECT * REPLACE (CASE WHEN x > 80 THEN 'inf'::DOUBLE ELSE x END AS x) FROM secrets;
    CREATE OR REPLACE TEMP TABLE many AS
    SELECT s.name || r.i AS name, x + r.i * 0.001 AS x, disease
    FROM secrets AS s, range(100) AS r(i)
"""
PLAIN = (
    "SELECT name::INTEGER FROM secrets",
    "SELECT number::TINYINT FROM secrets",
    "SELECT x::DECIMAL(3, 2) FROM secrets",
    "SELECT day::VARCHAR::INTEGER FROM secrets",
    "SELECT name::DATE FROM secrets",
    "SELECT error('too few rows like ' || name) FROM secrets",
    "SELECT name::ENUM('somebody') FROM secrets",
    "SELECT (number * number)::INTEGER FROM secrets",
)
"""Mistakes in plain SQL: a type that doesn't fit, a check that says what failed."""

CALL = "FROM anonymize('secrets', sensitive := ['disease'], "
OURS = (
    f"{CALL}k := 41)",
    f"{CALL}k := 0)",
    f"{CALL}k := 4, quasi_identifiers := ['nme'])",
    f"{CALL}k := 4, l := 9)",
    f"{CALL}k := 4, t := 0.000001, alpha := 0.01)",
    f"{CALL}k := 4, hierarchies := {{'name': 'bins'}})",
    f"{CALL}k := 4, hierarchies := {{'name': 'date'}})",
    f"{CALL}k := 4, hierarchies := {{'name': {{'kind': 'ordered', 'ranking': ['a', 'b']}}}})",
    f"{CALL}k := 4, hierarchies := {{'name': 'half_a_tree'}})",
    f"{CALL}k := 4, categorical := ['x'], hierarchies := {{'x': 'rectangles'}})",
    f"{CALL}k := 4, column_weights := {{'x': -1}})",
    f"{CALL}k := 4, method := 'optimal_1d')",
    f"{CALL}k := 4, method := 'zip_regions')",
    f"{CALL}k := 4, method := 'full_domain')",
    f"{CALL}k := 4, nulls := 'error')",
    "FROM anonymize('endless', k := 4, sensitive := ['disease'])",
    "FROM anonymize('many', k := 4, sensitive := ['disease'], effort := 'balanced', "
    "refine_steps := 500000)",
    "FROM anonymize('secrets', k := 4, quasi_identifiers := ['x', 'number'], others := 'release')",
    "FROM k_anonymity('secrets', k := 4, sensitive := ['disease'], l := 900)",
    "FROM anonymize_audit('secrets', release := 'half_a_tree', k := 4, sensitive := ['disease'])",
    f"{CALL}k := 4)",
    "FROM anonymize_roles('secrets')",
)
"""The same of ours: refusals, a hierarchy that lacks values, and calls that succeed, with their
remarks and their progress."""

OF_DUCKDB = "FROM anonymize('breaking', k := 4, sensitive := ['disease'])"
"""A view that fails by itself: the error is DuckDB's own, and says what it likes."""


class Terminal(io.StringIO):
    """A standard error stream that looks like a terminal, so that progress is shown."""

    def isatty(self) -> bool:
        return True


def attack(lines: Iterable[str]) -> float:
    """The share of the messages in which a value of the table stands."""
    told = [any(canary in line for canary in CANARIES) for line in lines if line]
    return sum(told) / len(told)


def messages(con: Connection, statements: Iterable[str]) -> list[str]:
    """What each statement leaves behind: its error, and what it writes to a terminal."""
    found = []
    for statement in statements:
        terminal = Terminal()
        with contextlib.redirect_stderr(terminal), mock.patch.object(progress, "AFTER", 0.0):
            try:
                con.execute(statement).fetchall()
                error = ""
            except (duckdb.Error, kanon_sql.KanonError) as refusal:
                error = str(refusal)
        found += [error, *terminal.getvalue().replace("\r", "\n").splitlines()]
    return [line for line in found if line]


def logged(con: Connection, statements: Iterable[str]) -> list[str]:
    """What the statements leave behind, and what DuckDB logs of them, every level of it."""
    con.execute("CALL enable_logging(level := 'trace')")
    try:
        found = messages(con, statements)
        lines = con.execute("SELECT message FROM duckdb_logs").fetchall()
    finally:
        con.execute("CALL disable_logging(); CALL truncate_duckdb_logs()")
    return [*found, *(line for (line,) in lines)]


def run(con: Connection) -> list[Attack]:
    con.execute(TABLE)
    return [
        Attack("messages, progress and logs", "lines with a value of the table",
               attack(messages(con, PLAIN)), attack(logged(con, OURS)), 0,
               "no message, remark or line of progress is made of values, unless show_values asks "
               "for it, and a log has the text of the call")
    ]
