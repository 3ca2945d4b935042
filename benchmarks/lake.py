"""A lake of Parquet files as large as wanted, drawn from real marginals, always the same.

    python -m benchmarks.lake OUT [ROWS]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from kanon_sql.data import adult

PIECE = 2_500_000
"""Rows of a file."""

QUASI = ("age", "education", "zip", "admitted")
"""The quasi-identifiers: a whole number, two texts of 16 and of 900 values, and a date. One row
in a hundred lacks its education, one in fifty its zip."""

PASSING = ("occupation", "race", "days", "cost")

ZIPS = Path(__file__).parents[1] / "tests" / "data" / "us_zip_centroids.parquet"

ROWS = """
    SELECT a.age + (draw(i, 1) * 5)::INT - 2 AS age,
           CASE WHEN draw(i, 2) < 0.01 THEN NULL ELSE a.education END AS education,
           CASE WHEN draw(i, 3) < 0.02 THEN NULL ELSE z.zip END AS zip,
           DATE '2024-12-31' - (3650 * draw(i, 6) * draw(i, 7))::INT AS admitted,
           a.occupation, a.race,
           (-log(draw(i, 8) + 1e-9) * 8)::INT AS days,
           round(200 + 40000 * draw(i, 9) ^ 4, 2) AS cost
    FROM range({first}, {last}) AS rows(i)
    JOIN people AS a ON a.number = hash(i) % {people}
    JOIN zip_areas AS z ON z.number = (draw(i, 4) * draw(i, 5) * {zips})::BIGINT
"""


def make(con: Any, folder: str | Path, rows: int) -> list[Path]:
    """Writes the lake; its files. Every file is the same whatever the others are."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE people AS "
        f"SELECT row_number() OVER () - 1 AS number, * FROM '{adult()}'"
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE zip_areas AS "
        "SELECT row_number() OVER (ORDER BY md5(zip)) - 1 AS number, zip "
        f"FROM (SELECT DISTINCT left(code, 3) AS zip FROM '{ZIPS}')"
    )
    con.execute(
        "CREATE OR REPLACE TEMP MACRO draw(i, n) AS "
        "(hash(i * 16 + n) >> 11)::DOUBLE / 9007199254740992.0"
    )
    people, zips = (
        con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("people", "zip_areas")
    )
    made = []
    for number, first in enumerate(range(0, rows, PIECE)):
        made.append(Path(folder) / f"part-{number:04}.parquet")
        text = ROWS.format(first=first, last=min(first + PIECE, rows), people=people, zips=zips - 1)
        con.execute(f"COPY ({text}) TO '{made[-1]}' (FORMAT parquet)")
    return made


if __name__ == "__main__":
    import duckdb

    files = make(duckdb.connect(), sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10**8)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files):,} bytes")
