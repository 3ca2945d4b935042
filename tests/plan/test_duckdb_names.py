"""What a version of DuckDB adds is read: by the list of duckdb_names.txt, and where it matters."""

from __future__ import annotations

import platform
import sys

import duckdb
import pytest

import kanon_sql
from kanon_sql.duckdb.register import OLDEST
from kanon_sql.plan.macro_shadowing import FUNCTIONS
from tests.plan.duckdb_names import change_here, here, listed, numbers
from tests.plan.test_macro_shadowing import called

FOUND = [change.version for change in listed()]


def test_the_list_begins_with_the_oldest_and_goes_up() -> None:
    assert FOUND[0] == OLDEST
    assert list(map(numbers, FOUND)) == sorted(map(numbers, FOUND))
    names: set[tuple[str, str]] = set()
    for change in listed():
        assert not names & set(change.added) and set(change.gone) <= names
        names = (names | set(change.added)) - set(change.gone)


def test_a_function_that_a_version_added_is_told() -> None:
    added = {name: change.version for change in listed() for _, name in change.added}
    assert numbers(added["stats"]) == numbers(OLDEST) and numbers(added["sleep_ms"]) == [1, 5, 0]


@pytest.mark.skipif(
    duckdb.__version__ not in FOUND or sys.platform != "linux" or platform.machine() != "x86_64",
    reason="another version or system; python -m tests.plan.duckdb_names tells what is new",
)
def test_the_installed_version_has_what_the_list_says() -> None:
    change = change_here()
    assert (change.added, change.gone) == ((), ())


def test_the_macros_of_duckdb_call_nothing_that_may_be_hidden() -> None:
    """Some of the functions that our SQL calls are macros of DuckDB's own, which find the functions
    in them by the search path, too."""
    with duckdb.connect() as con:
        bodies: dict[str, list[str]] = {}
        for name, body in con.execute(
            "SELECT function_name, macro_definition FROM duckdb_functions() "
            "WHERE internal AND function_type = 'macro' AND macro_definition IS NOT NULL"
        ).fetchall():
            whole = body.lstrip().upper().startswith(("SELECT", "FROM", "WITH"))
            bodies.setdefault(name, []).append(body if whole else f"SELECT {body}")
        ours, seen = set(FUNCTIONS) & set(bodies), set()
        assert ours
        while ours - seen:
            name = (ours - seen).pop()
            seen.add(name)
            for body in bodies[name]:
                inner = called(con, body)
                assert inner <= set(FUNCTIONS), f"{name} calls {inner - set(FUNCTIONS)}"
                ours |= inner & set(bodies)


def test_no_reserved_word_is_a_name_of_ours() -> None:
    words = {name for kind, name in here() if kind == "word"}
    with kanon_sql.register(duckdb.connect()) as con:
        macros = {name for (name,) in con.execute(
            "SELECT function_name FROM duckdb_functions() WHERE database_name = 'temp'"
        ).fetchall()}
    assert "anonymize" in macros and not macros & words
