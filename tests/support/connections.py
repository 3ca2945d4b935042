"""Connections on which kanon_sql is registered, as fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import duckdb
import pytest

import kanon_sql
from kanon_sql.stages.remembered import forget

Connection = duckdb.DuckDBPyConnection
Step = str | Callable[[Connection], Any]


def registered(*steps: Step, scope: Literal["function", "module"] = "module") -> Any:
    """A fixture: a connection in memory after some steps, which are SQL or take the connection. One
    for all tests of a module unless said otherwise, since registering costs more than a query."""

    @pytest.fixture(scope=scope)
    def connection() -> Iterator[Connection]:
        with kanon_sql.register(duckdb.connect()) as con:
            con.execute("SET enable_progress_bar = false")
            for step in steps:
                if isinstance(step, str):
                    con.execute(step)
                else:
                    step(con)
            yield con

    return connection


def borrowed(*statements: str, end: str = "") -> Any:
    """A fixture: the connection ``shared`` of a module for one test, after some statements, with no
    labels remembered."""

    @pytest.fixture
    def connection(shared: Connection) -> Iterator[Connection]:
        for statement in statements:
            shared.execute(statement)
        forget()
        yield shared
        forget()
        if end:
            shared.execute(end)

    return connection
