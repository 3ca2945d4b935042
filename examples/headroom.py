"""Four releases of UCI Adult: what the headroom of new classes saves, and what it costs.

    python examples/headroom.py               headroom 0, 1, 2 and 'auto'
    python examples/headroom.py --quick       3,000 persons
    python examples/headroom.py --k 10        another k
    python examples/headroom.py --leaving 5   other percent of the persons leave

From one release to the next, 2 % of the persons leave at random and 10 % come. Withheld are the
persons in the table who were released before and aren't again, in percent of all in the table; the
loss is information_loss_released of anonymize_metrics. 'auto' assumes 2 % for the first release,
and then goes by the churn that the ledger shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import duckdb
import numpy as np
import pyarrow as pa

import kanon_sql
from kanon_sql.data import adult

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
)
RELEASES = 4
COMING = 0.10
SEED = 17


def tables(everyone: int, leaving: float) -> Iterator[list[int]]:
    """The persons of each release."""
    random = np.random.default_rng(SEED)
    order = random.permutation(everyone).tolist()
    first = int(everyone / (1.0 + COMING * (RELEASES - 1)))
    there, later = order[:first], order[first:]
    yield there
    for _ in range(RELEASES - 1):
        gone = set(random.choice(there, int(leaving * len(there)), replace=False).tolist())
        coming = int(COMING * len(there))
        there = [person for person in there if person not in gone] + later[:coming]
        later = later[coming:]
        yield there


def releases(
    con: duckdb.DuckDBPyConnection, k: int, headroom: int | str, leaving: float
) -> Iterator[dict[str, float]]:
    """The metrics of each release of a new ledger."""
    ((everyone,),) = con.execute("SELECT count(*) FROM everyone").fetchall()
    for number, there in enumerate(tables(everyone, leaving), start=1):
        con.register("there", pa.table({"id": pa.array(there, pa.int32())}))
        con.execute("CREATE OR REPLACE TABLE patients AS FROM everyone SEMI JOIN there USING (id)")
        call = (
            f"'patients', k={k}, entity='id', quasi_identifiers={list(QUASI)}, others='release', "
            f"headroom={headroom!r}" + (", ledger='releases'" if number > 1 else "")
        )
        metrics = f"SELECT metric, value FROM anonymize_metrics({call}, detail=true)"
        yield dict(con.execute(metrics).fetchall())
        entered = "INSERT INTO" if number > 1 else "CREATE OR REPLACE TABLE"
        entries = " AS" if number == 1 else ""
        con.execute(f"{entered} releases{entries} FROM anonymize_ledger({call})")


def main(given: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if anybody ends in an anonymity set below k."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="3,000 persons")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--leaving", type=float, default=2.0, metavar="PERCENT")
    chosen = parser.parse_args(given)
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(
        "CREATE TABLE everyone AS SELECT (row_number() OVER () - 1)::INTEGER AS id, * "
        "FROM (SELECT * FROM read_parquet(?) LIMIT ?)",
        [adult(), 3000 if chosen.quick else 1_000_000],
    )
    print(f"{'headroom':10}{'release':>8}{'persons':>9}{'withheld':>10}{'loss':>8}  chosen")
    kept = True
    for headroom in (0, 1, 2, "auto"):
        for found in releases(con, chosen.k, headroom, chosen.leaving / 100.0):
            withheld = 100.0 * found["rows_withheld"] / found["rows"]
            told = ""
            if headroom == "auto":
                told = f"  {found['headroom']:.0f} by a churn of {found['churn']:.2f} %"
            print(f"{headroom!s:10}{found['release']:8.0f}{found['rows']:9,.0f}{withheld:9.2f}%"
                  f"{found['information_loss_released']:8.2f}{told}", flush=True)
        checked = f"SELECT keeps_presence FROM ledger_check('releases', k := {chosen.k})"
        kept &= con.execute(checked).fetchall() == [(True,)]
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
