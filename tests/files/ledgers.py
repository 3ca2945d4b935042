"""Ledgers of files, for the tests: a table of persons who come and go, and its releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import kanon_sql
from tests.ledger.lives import lives
from tests.ledger.reference import Exposure

K, BLOCK = 4, 200
GIVEN: dict[str, Any] = {
    "k": K, "quasi_identifiers": ["age", "class", "Job"], "sensitive": ["person"], "entity": "id",
    "progress": False,
}
"""Columns with names that a ledger, or what reads it, has too."""


def fill(
    con: duckdb.DuckDBPyConnection, there: list[int], path: Path, moved: int = 0,
    order: str = "id", nulls: bool = False,
) -> str:
    """The table ``now`` of these persons, of whom those below ``moved`` have another age than
    before; and a file of its rows, in two row groups."""
    random = np.random.default_rng(5)
    ages, zips = random.integers(20, 80, 5000), random.integers(100, 130, 5000)
    jobs, ills = random.integers(3, size=5000), random.integers(9, size=5000)
    con.register("rows_now", pa.table({
        "id": there,
        "age": [None if nulls and p % 29 == 0 else int(ages[p]) + 100 * (p < moved) for p in there],
        "class": [str(zips[p]) for p in there],
        "Job": ["abc"[jobs[p]] for p in there],
        "person": [f"ill {ills[p]}" for p in there],
    }))
    con.execute("CREATE OR REPLACE TABLE now AS FROM rows_now")
    path.parent.mkdir(exist_ok=True)
    con.execute(f"COPY (FROM now ORDER BY {order}) TO '{path}' (ROW_GROUP_SIZE 2048)")
    return str(path)


def in_files(
    folder: Path, number: int, source: str, name: str = "out", **more: Any
) -> Any:
    """Release ``number`` of a ledger of files."""
    (folder / "ledger").mkdir(exist_ok=True)
    options = {**GIVEN, "headroom": 1, **more}
    if number > 1:
        options["ledger"] = f"{folder}/ledger/*.parquet"
    return kanon_sql.anonymize_files(
        source, folder / f"{name}_{number}", ledger_to=folder / f"ledger/{number}.parquet",
        **options,
    )


def rows_of(con: duckdb.DuckDBPyConnection, text: str) -> list[Any]:
    return con.execute(text).fetchall()


def ledger_of(con: duckdb.DuckDBPyConnection, folder: Path) -> list[Exposure]:
    return rows_of(con, f"SELECT release, entity, class FROM '{folder}/ledger/*.parquet'")


Begun = tuple[Path, list[int]]
"""A folder with a ledger of one release, and who is there at the second."""


def begin(folder: Path) -> Begun:
    """Makes the first release."""
    first, second = list(lives(7, 2600, 2, False, 0.5))
    with duckdb.connect() as con:
        in_files(folder, 1, fill(con, first, folder / "one.parquet"), block_rows=BLOCK)
        fill(con, second, folder / "two.parquet")
    return folder, second


def second(folder: Path, to: Path, **more: Any) -> Any:
    """The second release of the ledger, with all that it writes in a folder of its own."""
    to.mkdir(exist_ok=True)
    options = {
        **GIVEN, "ledger": f"{folder}/ledger/*.parquet", "block_rows": BLOCK,
        "ledger_to": to / "2.parquet", **more,
    }
    return kanon_sql.anonymize_files(more.pop("source", folder / "two.parquet"), to / "out", **{
        name: value for name, value in options.items() if name != "source"
    })
