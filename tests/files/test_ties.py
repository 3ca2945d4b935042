"""Rows that are alike: blocks of about the same size, whatever is sensitive, and no refusal that
all rows together would not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.files.lakes import bytes_of

GIVEN: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "zip"], "sensitive": ["illness"], "progress": False,
    "seed": 1,
}
CRUDE = """
    SELECT i % 2 AS age, 'z' || i % 3 AS zip, 'ill' || hash(i) % 6 AS illness FROM range({}) r(i)
"""


def written(folder: Path, rows: str, order: str = "age, zip, illness") -> str:
    """Writes rows into two files; the pattern of these."""
    folder.mkdir()
    with duckdb.connect() as con:
        con.execute(
            f"CREATE TABLE t AS SELECT *, row_number() OVER (ORDER BY {order}) AS n FROM ({rows})"
        )
        for number in range(2):
            con.execute(
                f"COPY (SELECT * EXCLUDE (n) FROM t WHERE n % 2 = {number} ORDER BY n) "
                f"TO '{folder}/{number}.parquet' (FORMAT parquet)"
            )
    return f"{folder}/*.parquet"


def classes(folder: Path) -> list[Any]:
    with duckdb.connect() as con:
        return con.sql(
            f"SELECT age, zip, count(*) FROM '{folder}/*.parquet' GROUP BY ALL ORDER BY ALL"
        ).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [
    CRUDE, "SELECT 7 AS age, 'z' AS zip, 'ill' || i % 6 AS illness FROM range({}) r(i)",
], ids=["six combinations", "one"])
def test_rows_that_are_alike_make_blocks_of_one_size(rows: str, tmp_path: Path) -> None:
    lake = written(tmp_path / "lake", rows.format(60_000))
    released = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=9000, **GIVEN)
    assert released.rows == 60_000 and released.metrics["sse"] == 0.0
    assert released.metrics["blocks"] >= 6
    assert released.metrics["block_rows_max"] <= 2 * 9000


@pytest.mark.slow
def test_rows_that_many_are_like_are_in_a_sample_as_often_as_elsewhere(tmp_path: Path) -> None:
    rows = """
        SELECT CASE WHEN i % 2 = 0 THEN 40.0 ELSE hash(i) % 100000 / 1000 END AS age,
               CASE WHEN i % 2 = 0 THEN 'z' ELSE 'z' || hash(i + 1) % 900 END AS zip,
               'ill' || i % 6 AS illness FROM range(90_000) r(i)
    """
    lake = written(tmp_path / "lake", rows)
    released = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=15_000, **GIVEN)
    assert released.metrics["blocks"] == 6
    assert released.metrics["block_rows_max"] < 1.3 * 15_000


@pytest.mark.slow
@pytest.mark.parametrize("rows", [
    CRUDE.format(40_000),
    "SELECT hash(i) % 900 AS age, 'z' || hash(i + 1) % 200 AS zip, 'ill' || i % 6 AS illness "
    "FROM range(40_000) r(i)",
], ids=["alike", "not alike"])
def test_no_sensitive_value_decides_a_class(rows: str, tmp_path: Path) -> None:
    found = []
    for name, illness in (("one", "illness"), ("other", "'x' || hash(illness, age) % 9")):
        lake = written(
            tmp_path / name, f"SELECT * REPLACE ({illness} AS illness) FROM ({rows})"
        )
        out = tmp_path / f"{name}_out"
        kanon_sql.anonymize_files(lake, out, block_rows=9000, **GIVEN)
        found.append(classes(out))
    assert found[0] == found[1]


@pytest.mark.slow
def test_the_order_of_rows_that_are_alike_changes_no_byte(tmp_path: Path) -> None:
    found = []
    for name, order in (("one", "age, zip, illness"), ("other", "hash(illness), age DESC")):
        lake = written(tmp_path / name, CRUDE.format(20_000), order)
        out = tmp_path / f"{name}_out"
        kanon_sql.anonymize_files(lake, out, block_rows=2000, **GIVEN)
        found.append(bytes_of(out))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("model", [{"l": 3}, {"alpha": 0.5}], ids=["l", "alpha"])
def test_every_side_of_a_cut_through_ties_has_its_share_of_sensitive_values(
    model: dict[str, Any], tmp_path: Path
) -> None:
    lake = written(tmp_path / "lake", CRUDE.format(9000))
    released = kanon_sql.anonymize_files(
        lake, tmp_path / "out", block_rows=700, **model, **GIVEN
    )
    assert released.rows == 9000 and released.metrics["sse"] == 0.0
    assert released.metrics["blocks"] > 6


@pytest.mark.slow
def test_a_block_that_lacks_values_joins_its_neighbour(tmp_path: Path) -> None:
    rows = """
        SELECT i // 40 AS age, 'z' AS zip,
               CASE WHEN i < 7000 THEN 'flu' ELSE 'ill' || i % 6 END AS illness
        FROM range(8000) r(i)
    """
    lake = written(tmp_path / "lake", rows)
    released = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=1000, l=3, **GIVEN)
    assert released.rows == 8000 and released.metrics["blocks"] >= 1
    illnesses = duckdb.sql(f"""
        SELECT count(DISTINCT illness) AS n
        FROM '{tmp_path}/out/*.parquet' GROUP BY age, zip ORDER BY n
    """).fetchall()
    assert illnesses[0][0] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("entity_rows", ["together", "apart"])
def test_a_block_has_persons_enough_for_two_classes(entity_rows: str, tmp_path: Path) -> None:
    rows = """
        SELECT i // 40 AS person, hash(i) % 50 AS age, 'z' || hash(i // 40) % 30 AS zip,
               'ill' || i % 6 AS illness FROM range(8000) r(i)
    """
    lake = written(tmp_path / "lake", rows)
    released = kanon_sql.anonymize_files(
        lake, tmp_path / "out", block_rows=300, entity="person", entity_rows=entity_rows, **GIVEN
    )
    assert released.metrics["persons"] == (200 if entity_rows == "together" else 8000)
    assert released.rows == 8000
    assert released.metrics["blocks"] > 4 and released.metrics["block_rows_min"] >= 5 * 40


@pytest.mark.slow
@pytest.mark.parametrize("number", [
    "5e-324 * (i % 1000)", "1e-310 * (i % 977)", "CASE WHEN i = 7 THEN 1e300 ELSE i % 1000 END",
    "CASE WHEN i % 2 = 0 THEN 1.7e308 ELSE -1.7e308 END",
], ids=["denormal", "tiny", "outlier", "ends"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_any_double_can_be_cut(number: str, tmp_path: Path) -> None:
    rows = f"SELECT ({number})::DOUBLE AS age, 'z' || hash(i) % 9 AS zip, 'a' AS illness " \
           "FROM range(20_000) r(i)"
    lake = written(tmp_path / "lake", rows)
    released = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=3000, **GIVEN)
    assert released.metrics["blocks"] >= 5 and released.metrics["k"] >= 5
