"""Rows that memory doesn't suffice for are refused while they come."""

from __future__ import annotations

import duckdb
import pytest

import kanon_sql
from kanon_sql.encode import taken
from kanon_sql.stages import group

SAID = r"rows and more need about 0\.0 GB of memory beside themselves, and 0\.0 GB are free"


@pytest.mark.parametrize("free", [0, 40 * taken.CELL - 1])
def test_a_query_that_needs_more_than_is_free_is_refused_in_time(
    free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken, "LOOK", 20)
    monkeypatch.setattr(group, "available", lambda: free)
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 5 AS b FROM range(30000) AS r(i)")
    with pytest.raises(duckdb.InvalidInputException, match=SAID) as refused:
        con.execute("FROM anonymize('t', k=5)").fetchall()
    assert "anonymize_files" in str(refused.value)


@pytest.mark.parametrize("free", [None, 10**12])
def test_a_query_that_fits_runs(free: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken, "LOOK", 20)
    monkeypatch.setattr(group, "available", lambda: free)
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a FROM range(300) AS r(i)")
    assert len(con.execute("FROM anonymize('t', k=5)").fetchall()) == 300
