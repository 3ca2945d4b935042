"""What is refused stays refused, in the same words: calls that can't be, and their sentences.

recorded/refusals.json holds both. A sentence that is meant to change is changed there by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.support.connections import registered

RECORDED: dict[str, str] = json.loads(
    (Path(__file__).parent / "recorded" / "refusals.json").read_text(encoding="utf-8")
)
TABLES = """
    CREATE TABLE t AS SELECT i % 7 AS age, 1.5 * i AS inc, ['a', 'b', 'c'][1 + i % 3] AS job,
        'z' || (i % 11) AS zip, i % 2 AS flu, 'p' || i AS name FROM range(60) AS r(i);
    CREATE TABLE pairs AS SELECT 'z' || i AS a, 'z' || (i + 1) AS b FROM range(10) AS r(i);
    CREATE TABLE emp AS SELECT * FROM t WHERE false;
    CREATE TABLE g AS SELECT 40 + i / 100 AS lat, -70 - i / 90 AS lon, i % 2 AS flu
        FROM range(50) AS r(i);
    CREATE TABLE c AS SELECT * FROM t;
    COMMENT ON COLUMN c.name IS 'kanon: identifer';
    CREATE TABLE lv AS SELECT DISTINCT zip AS level0, '*' AS level1 FROM t WHERE zip <> 'z3';
    CREATE TABLE lst AS SELECT [1] AS l, i AS x FROM range(9) AS r(i);
    CREATE TABLE inf AS SELECT 'inf'::DOUBLE AS x FROM range(9);
    CREATE TABLE k1 AS SELECT i AS class_id, i AS __kanon_a FROM range(9) AS r(i);
"""


con = registered(TABLES)


@pytest.mark.parametrize("call", RECORDED)
def test_a_refusal_says_what_it_said(con: duckdb.DuckDBPyConnection, call: str) -> None:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute(f"FROM {call}").fetchall()
    said = str(caught.value).removeprefix("Invalid Input Error: ").partition("\n")[0]
    assert said == RECORDED[call]
