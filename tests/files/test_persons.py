"""Files with several rows of a person: all of them go to one block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError
from tests.files.lakes import OPTIONS, QUASI, ROWS

WITH_PERSONS = f"""
    SELECT * EXCLUDE (i), 'p' || hash(i) % 2000 AS person, i AS visit
    FROM (SELECT *, row_number() OVER () AS i FROM ({ROWS}) LIMIT 6000)
"""
GIVEN: dict[str, Any] = {
    **OPTIONS, "entity": "person", "sensitive": ["occupation", "note", "visit"]
}


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits of 2,000 persons or less; a visit's number tells whose it was."""
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    with duckdb.connect() as con:
        con.execute(f"COPY ({WITH_PERSONS}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("entity_rows", ["together", "apart"])
@pytest.mark.parametrize("block_rows", [1000, 10_000])
def test_every_combination_is_shared_by_k_persons(
    block_rows: int, entity_rows: str, visits: Path, tmp_path: Path
) -> None:
    found = kanon_sql.anonymize_files(
        visits, tmp_path / "out", block_rows=block_rows, entity_rows=entity_rows, **GIVEN
    )
    names = ", ".join(f"r.{name}" for name in QUASI)
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW r AS FROM '{found.path}/*.parquet'")
        assert "person" not in con.sql("FROM r").columns
        joined = f"FROM r JOIN '{visits}' AS v USING (visit)"
        (least, rows), = con.sql(
            f"SELECT min(persons), sum(n) FROM (SELECT count(DISTINCT v.person) AS persons, "
            f"count(*) AS n {joined} GROUP BY {names})"
        ).fetchall()
        (classes,), = con.sql(
            f"SELECT max(classes) FROM (SELECT count(DISTINCT row({names})) AS classes {joined} "
            "GROUP BY v.person)"
        ).fetchall()
    assert least >= 5 and rows == found.rows == 6000
    if entity_rows == "together":
        assert classes == 1
    assert (found.metrics["blocks"] > 1) == (block_rows == 1000)


def test_rows_of_nobody_are_refused(visits: Path, tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT * REPLACE (CASE WHEN visit = 7 THEN NULL ELSE person END AS person) "
            f"FROM '{visits}') TO '{path}' (FORMAT parquet)"
        )
    with pytest.raises(DataError, match="'person' is NULL in some rows, which belong to no person"):
        kanon_sql.anonymize_files(path, tmp_path / "out", **GIVEN)
