"""Which rows are explored."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.errors import DataError, OptionError
from kanon_sql.explore.source import RELATION, SAMPLE, WHOLE, explored
from kanon_sql.explore.written import NamedSource

MANY = WHOLE + 5_000


def taken(rows: list[tuple[int, str]], threads: int = 2) -> tuple[Counter[Any], int, bool]:
    """The explored rows of a table, how many it has, and whether they are a sample."""
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(f"SET threads = {threads}")
        con.execute("CREATE TABLE people (age INTEGER, job VARCHAR)")
        values = ([age for age, _ in rows], [job for _, job in rows])
        con.execute("INSERT INTO people SELECT unnest(?), unnest(?)", list(values))
        table = explored(con, NamedSource(("people",), "people"))
        return Counter(con.execute(f"FROM {RELATION}").fetchall()), table.rows, table.is_sample


def test_a_small_table_is_taken_as_it_is() -> None:
    rows = [(i % 7, "x") for i in range(300)]
    assert taken(rows) == (Counter(rows), 300, False)


def test_a_sample_is_the_same_for_any_order_and_equal_rows_are_drawn_one_by_one() -> None:
    # three rows in four are equal to ten thousand others
    rows = [(i % 3, "often") if i % 4 else (i, "once") for i in range(MANY)]
    first, whole, is_sample = taken(rows)
    assert (sum(first.values()), whole, is_sample) == (SAMPLE, MANY, True)
    assert first <= Counter(rows)
    random.Random(1).shuffle(rows)
    assert taken(rows, threads=1)[0] == first
    for value, count in Counter(rows).items():
        if count > 1:  # a share of each, and not all or none
            assert abs(first[value] - count * SAMPLE / MANY) < 0.05 * count


def test_declared_roles_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "our.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE people AS SELECT i AS a, i % 2 AS b FROM range(9) AS r(i)")
        con.execute("COMMENT ON COLUMN people.b IS 'kanon: sensitive'")
    with duckdb.connect(str(path), read_only=True) as con:
        table = explored(con, NamedSource(("people",), "people", str(path)))
        found = table.con.execute(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'explored'"
        ).fetchall()
        assert table.con.execute("SELECT count(*) FROM duckdb_databases() WHERE path IS NOT NULL "
                                 "AND path LIKE '%our.duckdb'").fetchall() == [(0,)]
        table.con.close()
    assert dict(found) == {"a": None, "b": "kanon: sensitive"}


def test_what_can_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n", encoding="utf-8")
    for path, kind in ((tmp_path / "no.parquet", OptionError),
                       (tmp_path / "broken.parquet", OptionError), (empty, DataError)):
        with duckdb.connect() as con, pytest.raises(kind):
            explored(con, NamedSource((str(path),), str(path)))
