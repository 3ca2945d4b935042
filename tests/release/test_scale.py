"""Sizes that take a minute: pytest -m slow."""

from __future__ import annotations

import resource
import threading
from pathlib import Path

import duckdb
import pytest


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_numbers_and_text(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE TABLE large AS SELECT hash(i) % 1000 AS a, hash(i + 1) % 997 AS b, "
        "hash(i + 2) % 91 AS c, hash(i + 3) % 83 AS d, hash(i + 4) % 77 AS e, "
        "hash(i + 5) % 61 AS f, 'v' || hash(i + 6) % 20 AS g, 'w' || hash(i + 7) % 50000 AS h, "
        "i AS s FROM range(100000) AS r(i)"
    )
    con.execute(
        "CREATE TABLE released AS FROM anonymize('large', k=5, method='mdav_plus', "
        "sensitive=['s'])"
    )
    found = con.execute("SELECT k >= 5, \"rows\" FROM k_anonymity('released', sensitive=['s'])")
    assert found.fetchall() == [(True, 100000)]
    # text with 50,000 values takes no room of its own: far below a matrix of rows and values
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 1024 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
def test_roles_of_a_million_rows_are_told(con: duckdb.DuckDBPyConnection, threads: int) -> None:
    """DuckDB 2.0 let the readers of a stage wait for each other where one of them had a LIMIT."""
    con.execute(f"SET threads = {threads}")
    con.execute(
        "CREATE TABLE many AS SELECT i % 90 AS age, 'c' || i % 7 AS city, i % 3 AS illness "
        "FROM range(1200000) AS r(i)"
    )
    stop = threading.Timer(60, con.interrupt)  # what waits does so forever
    stop.start()
    found = con.execute(
        "SELECT column_name, distinct_values FROM anonymize_roles('many', sensitive=['illness'])"
    ).fetchall()
    stop.cancel()
    assert found == [("age", 90), ("city", 7), ("illness", 3)]


@pytest.mark.slow
def test_what_large_classes_hold_is_held_once_per_class(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """A cell is as long as its class here: written out for every row, it is five gigabytes."""
    con.execute("SET memory_limit = '3GB'; SET threads = 2")
    con.execute(
        "CREATE TABLE named AS SELECT 'the name of ' || hash(i * 7) % 20000 AS name, "
        "(hash(i) % 90)::INTEGER AS age FROM range(20000) AS r(i)"
    )
    con.execute(
        "COPY (FROM anonymize('named', k=10000, method='mondrian', representation='interval')) "
        f"TO '{tmp_path}/released.parquet'"
    )
    found = con.execute(f"SELECT count(*), min(len(name)) FROM '{tmp_path}/released.parquet'")
    ((rows, shortest),) = found.fetchall()
    assert rows == 20000 and shortest > 50_000
