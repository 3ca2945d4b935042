"""A file is added each month, beside a ledger by which nobody is found by linking the months:
python examples/lakes/append.py
"""

import tempfile
from pathlib import Path

import duckdb

import kanon_sql
from kanon_sql.data import adult

MONTHS = {"2026-01": (0, 6000), "2026-02": (60, 6400), "2026-03": (130, 6800)}
"""Of each month the first and the last person: some leave, some come."""

with tempfile.TemporaryDirectory() as folder:
    lake = Path(folder) / "lake"
    # the ledger outlives the months, and is as private as the table: it has a file of its own
    con = kanon_sql.register(duckdb.connect(f"{folder}/private.duckdb"))
    con.execute(
        f"CREATE TABLE everyone AS SELECT row_number() OVER () AS id, * FROM '{adult()}'"
    )
    for month, (first, last) in MONTHS.items():
        con.execute(
            "CREATE OR REPLACE TABLE patients AS FROM everyone WHERE id > ? AND id <= ?",
            [first, last],
        )
        part = lake / f"month={month}"
        part.mkdir(parents=True)
        # the file and its entry in the ledger: both are there, or neither
        done = kanon_sql.release(
            con, "patients", to=part / "part.parquet", ledger="releases", k=5, entity="id",
            quasi_identifiers=["age", "sex", "race", "education"], sensitive=["occupation"],
            others="drop", headroom=1,
        )
        print(f"{month}: release {done.manifest['release']['number']}, {done.rows:,} rows")

    con.sql(
        "SELECT releases, persons, presence_anonymity_set_min, keeps_presence "
        "FROM ledger_check('releases', k := 5)"
    ).show()
    con.sql(
        f"SELECT month, count(*) AS rows FROM '{lake}/**/*.parquet' GROUP BY month ORDER BY month"
    ).show()
