"""Files to release: Adult, with a date, NULLs and ties, in several pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.data import adult

QUASI = ["age", "education", "country", "born", "hours"]
SENSITIVE = ["occupation", "note"]
OPTIONS: dict[str, Any] = {
    "k": 5, "quasi_identifiers": QUASI, "sensitive": SENSITIVE, "progress": False,
}

ROWS = f"""
    SELECT CASE WHEN i % 97 = 0 THEN NULL ELSE age + i % 3 END AS age, education,
           CASE WHEN i % 53 = 0 THEN NULL ELSE "native-country" END AS country,
           DATE '1950-01-01' + (hash(i) % 15000)::INT AS born,
           CASE WHEN i % 4 = 0 THEN 40.0 ELSE (hash(i + 7) % 600) / 10.0 END AS hours,
           occupation, 'n' || i % 11 AS note
    FROM (SELECT *, row_number() OVER () AS i FROM '{adult()}')
"""
"""A column of many ties and a skewed one; rows that are equal in all but their notes."""


def make_lake(folder: Path, rows: int, order: str = "i") -> str:
    """Writes the lake; the pattern of its files."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS FROM ({ROWS}) LIMIT {rows}")
        con.execute("CREATE TABLE u AS SELECT *, row_number() OVER () AS i FROM t")
        third = rows // 3
        for number in range(4):
            con.execute(
                f"COPY (SELECT * EXCLUDE (i) FROM u WHERE i // {third} = {number} "
                f"ORDER BY {order}) TO '{folder}/part-{number}.parquet' (FORMAT parquet)"
            )
    return f"{folder}/*.parquet"


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The files of a release, without what tells of the run."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}
