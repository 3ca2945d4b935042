"""A release that is divided into files, and made no parts of it, is remarked upon."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from kanon_sql.stages.remarks import DIVIDED
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection
CALL = "anonymize('visits', k := 5, quasi_identifiers := ['age'], {} := ['site'])"
WHOLE, IN_PARTS = CALL.format("sensitive"), CALL.format("within")
PARTED = "(FORMAT parquet, PARTITION_BY (site))"


con = registered(
    "SET threads = 2",
    "CREATE TABLE visits AS SELECT 20 + i % 50 AS age, ['north', 'south'][1 + i % 2] AS site "
    "FROM range(200) AS r(i)",
    f"CREATE TEMP VIEW released AS FROM {WHOLE}",
)


@pytest.mark.parametrize("rows", [f"(FROM {WHOLE})", "released", f"(sElEcT * FROM {WHOLE})"])
def test_a_release_that_is_divided_is_remarked_upon(
    con: Connection, rows: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if rows == "released":
        rows = "(FROM released)"
    con.execute(f"copy {rows} TO '{tmp_path}/out'\n(FORMAT parquet, partition_by (site))")
    assert capfd.readouterr().err.count(DIVIDED) == 1
    # and it is true: no class was made with the sites in mind
    told = con.execute(
        f"FROM k_anonymity('{tmp_path}/out/**/*.parquet', within := ['site'], k := 5, "
        "quasi_identifiers := ['age'])"
    ).fetchall()
    assert told[0][0] < 5


@pytest.mark.skipif(
    duckdb.__version__ < "1.5", reason="DuckDB 1.4 tells no statement of such a write"
)
def test_a_relation_written_by_partition_is_remarked_upon(
    con: Connection, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    con.sql(f"FROM {WHOLE}").write_parquet(str(tmp_path / "out"), partition_by=["site"])
    assert capfd.readouterr().err.count(DIVIDED) == 1


@pytest.mark.parametrize("statement", [
    f"COPY (FROM {WHOLE}) TO '{{}}' (FORMAT parquet)",
    f"COPY (FROM {IN_PARTS}) TO '{{}}' {PARTED}",
    f"COPY (FROM {WHOLE[:-1]}, progress := false)) TO '{{}}' {PARTED}",
    f"CREATE OR REPLACE TABLE partition_by AS FROM {WHOLE} -- {{}}",
])
def test_others_are_not(
    con: Connection, statement: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    con.execute(statement.format(tmp_path / "out"))
    assert DIVIDED not in capfd.readouterr().err
