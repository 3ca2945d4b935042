"""A call takes the threads that DuckDB has, and the release doesn't depend on how many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from kanon_sql.stages import remembered
from kanon_sql.udfs import group
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection


con = registered(
    "SELECT setseed(0.5)",
    """
        CREATE TABLE t AS SELECT random() * 70 AS age, random() * random() * 1e5 AS income,
            'z' || (random() * 40)::INTEGER AS zip FROM range(22000)
    """,
)
"""A table of 22,000 rows, more than one thread would be left alone with."""


@pytest.mark.slow
def test_a_call_takes_the_threads_of_duckdb(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And never more than there are cores; the release is the same."""
    taken: list[int] = []

    @contextmanager
    def noted(count: int) -> Iterator[None]:
        taken.append(count)
        with actual(count):
            yield

    actual = group.on_threads
    monkeypatch.setattr(group, "on_threads", noted)
    monkeypatch.setattr(group, "cores", lambda: 5)
    hashes = []
    for setting in (1, 3, 9):
        con.execute(f"SET threads = {setting}")
        remembered.forget()
        hashes += con.execute(
            "SELECT bit_xor(hash(r)) FROM anonymize('t', k := 3) AS r"
        ).fetchall()
    assert taken == [1, 3, 5]
    assert len(set(hashes)) == 1
