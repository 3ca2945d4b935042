"""Rows that memory doesn't suffice for are refused before they come, or while they do."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.encode import row_buffer
from kanon_sql.kernel.memory import bytes_of
from kanon_sql.methods import METHODS
from kanon_sql.stages import group

SAID = r"rows and more need about \d+\.\d MB of additional memory, and \d\.\d MB are free"
BEFORE = r"30,000 rows need about \d+\.\d MB of additional memory, and \d\.\d MB are free\. "


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a, i % 5 AS b FROM range(30000) AS r(i)")
    return con


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each piece has that is handed over, filled by the query."""
    found: list[int] = []
    plain = row_buffer.RowBuffer.take

    def watched(self: Any, number: Any, *others: Any) -> None:
        found.append(len(number))
        plain(self, number, *others)

    monkeypatch.setattr(row_buffer.RowBuffer, "take", watched)
    return found


@pytest.mark.parametrize("free", [0, 40 * row_buffer.CELL - 1])
def test_rows_that_nobody_counted_are_refused_while_they_come(
    free: int, con: duckdb.DuckDBPyConnection, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_buffer, "LOOK", 20)
    monkeypatch.setattr(group, "available", lambda: free)
    with pytest.raises(duckdb.InvalidInputException, match=SAID) as refused:
        con.execute("FROM anonymize('t', k=5, nulls='suppress')").fetchall()
    assert "anonymize_files" in str(refused.value)
    assert sum(pieces) == 30000


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["t", "v", "x", "c"])
@pytest.mark.parametrize("call", [
    "anonymize", "anonymize_metrics", "anonymize_clusters", "suppressed_rows",
])
def test_a_query_that_needs_more_than_is_free_is_refused_before_its_rows_come(
    call: str, relation: str, con: duckdb.DuckDBPyConnection, pieces: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    con.execute("CREATE VIEW v AS FROM t")
    con.execute("CREATE TEMP TABLE x AS FROM t")
    monkeypatch.setattr(group, "available", lambda: 30000 * 2 * row_buffer.CELL - 1)
    with pytest.raises(duckdb.InvalidInputException, match=BEFORE) as refused:
        con.execute(f"WITH c AS (FROM t) FROM {call}('{relation}', k=5)").fetchall()
    assert str(refused.value).endswith(", or free memory.")
    assert "kanon anonymize -o" in str(refused.value) and "anonymize_files" in str(refused.value)
    assert pieces == []
    monkeypatch.setattr(group, "available", lambda: 30000 * 2 * row_buffer.CELL)
    assert con.execute(f"WITH c AS (FROM t) FROM {call}('{relation}', k=5)").fetchall() is not None
    assert sum(pieces) == 30000


@pytest.mark.slow
def test_methods_that_take_more_are_refused_earlier(
    con: duckdb.DuckDBPyConnection, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What mdav_plus has room in is too little for r_gather, of which each cell takes more."""
    more = METHODS["r_gather"].memory
    assert more > 1.0 == METHODS["mdav_plus"].memory
    monkeypatch.setattr(group, "available", lambda: 30000 * 2 * row_buffer.CELL)
    assert con.execute("FROM anonymize('t', k=5, method='mdav_plus')").fetchall()
    pieces.clear()
    with pytest.raises(duckdb.InvalidInputException, match=BEFORE):
        con.execute("FROM anonymize('t', k=5, method='r_gather')").fetchall()
    assert pieces == []
    monkeypatch.setattr(group, "available", lambda: int(30000 * 2 * row_buffer.CELL * more) + 1)
    assert con.execute("FROM anonymize('t', k=5, method='r_gather')").fetchall()


@pytest.mark.slow
def test_a_query_keeps_the_memory_limit(
    con: duckdb.DuckDBPyConnection, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "available", lambda: 9_000_000_000)
    con.execute("SET memory_limit = '4GB'")
    assert len(con.execute("FROM anonymize('t', k=5)").fetchall()) == 30000
    pieces.clear()
    monkeypatch.setattr(row_buffer, "CELL", 90_000)
    said = (
        r"30,000 rows need about 5\.4 GB of additional memory, and memory_limit is 4\.0 GB\."
        r" .*, or raise memory_limit\.$"
    )
    with pytest.raises(duckdb.InvalidInputException, match=said):
        con.execute("FROM anonymize('t', k=5)").fetchall()
    with pytest.raises(kanon_sql.DataError, match=said):
        kanon_sql.anonymize("t", con=con, k=5)
    assert pieces == []
    monkeypatch.setattr(group, "available", lambda: 3_000_000_000)
    with pytest.raises(kanon_sql.DataError, match=r"and 3\.0 GB are free\. .*, or free memory\.$"):
        kanon_sql.anonymize("t", con=con, k=5)
    con.execute("SET memory_limit = '6GB'")
    monkeypatch.setattr(group, "available", lambda: None)
    assert len(con.execute("FROM anonymize('t', k=5)").fetchall()) == 30000


@pytest.mark.slow
@pytest.mark.parametrize("free", [None, 10**12])
@pytest.mark.parametrize("nulls", ["value", "suppress"])
def test_a_query_that_fits_runs(
    nulls: str, free: int | None, con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_buffer, "LOOK", 20)
    monkeypatch.setattr(group, "available", lambda: free)
    assert len(con.execute(f"FROM anonymize('t', k=5, nulls='{nulls}')").fetchall()) == 30000


@pytest.mark.parametrize(("text", "size"), [
    ("3.7 GiB", 3_972_844_748), ("95.3 MiB", 99_929_292), ("512 bytes", 512), ("1.0 TiB", 2**40),
    ("", None), ("many", None), ("4 quarts", None),
])
def test_a_size_is_read_as_duckdb_writes_it(text: str, size: int | None) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("limit", ["100MB", "4GB", "20TB", "17GiB"])
def test_every_limit_that_duckdb_takes_is_read(limit: str) -> None:
    con = duckdb.connect(config={"memory_limit": limit})
    ((told,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    number, unit = int(limit.rstrip("GMTiB")), limit.lstrip("0123456789")
    asked = number * {"MB": 10**6, "GB": 10**9, "TB": 10**12, "GiB": 2**30}[unit]
    assert bytes_of(told) == pytest.approx(asked, rel=0.02)
