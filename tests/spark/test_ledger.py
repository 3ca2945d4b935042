"""Releases in Spark that go on from those before: what a query and files promise, in blocks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql import spark as kanon_spark
from tests.ledger.lives import lives
from tests.ledger.reference import CROWDS, how_many_against_absence, shown_against_presence

K = 4
QUASI = ["age", "class", "Job"]
GIVEN: dict[str, Any] = {
    "k": K, "quasi_identifiers": QUASI, "sensitive": ["person"], "entity": "id",
    "method": "mdav_star",
}
"""Columns with names that a ledger, or what reads it, has too."""


def table(there: list[int], moved: int = 0, nulls: bool = False) -> pa.Table:
    """These persons, of whom those below ``moved`` have another age than before."""
    random = np.random.default_rng(5)
    ages, zips = random.integers(20, 80, 5000), random.integers(100, 130, 5000)
    jobs, ills = random.integers(3, size=5000), random.integers(9, size=5000)
    return pa.table({
        "id": there,
        "age": [None if nulls and p % 29 == 0 else int(ages[p]) + 100 * (p < moved) for p in there],
        "class": [str(zips[p]) for p in there],
        "Job": ["abc"[jobs[p]] for p in there],
        "person": [f"ill {ills[p]}" for p in there],
    })


def asked(text: str, **tables: pa.Table) -> list[Any]:
    with kanon_sql.register(duckdb.connect()) as con:
        for name, each in tables.items():
            con.register(name, each)
        return con.sql(text).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(("against", "releases", "more"), [
    ("presence", 3, {"class_id": True}), ("absence", 2, {"nulls": "suppress", "headroom": "auto"}),
], ids=str)
def test_releases_in_several_blocks_keep_both_promises(
    spark: Any, against: str, releases: int, more: dict[str, Any]
) -> None:
    ledger, held, before, blocks = None, [], [], []
    nulls = "nulls" in more
    for number, there in enumerate(lives(7, 2600, releases, False, 0.5), start=1):
        moved = 0 if number < releases else 6
        rows = table(there, moved, nulls)
        options = {**GIVEN, "headroom": 1, **more, "attacker": f"knows_{against}"}
        if ledger is not None:
            options["ledger"] = ledger
        done = kanon_spark.release(
            spark.createDataFrame(rows).repartition(3), block_rows=200, **options
        )
        told, out, entries = done.metrics, done.data.toArrow(), done.entries.toArrow()
        blocks.append(told["blocks"])
        held.append(entries)
        ledger = spark.createDataFrame(pa.concat_tables(held))
        linked = asked("SELECT release, entity, class FROM ledger", ledger=pa.concat_tables(held))
        crowds, now = CROWDS[against](linked), {p: c for r, p, c in linked if r == number}
        assert min(crowds.values()) >= K
        assert min(crowds[p] for p in now) == told["anonymity_set_min"]
        assert set(now) <= set(there) and len(now) == done.rows == out.num_rows
        reasons = ("rows_withheld", "rows_stale", "rows_waiting")
        lacking = sum(p % 29 == 0 for p in there) if nulls else 0
        assert sum(told[name] for name in reasons) + lacking == told["rows_suppressed"]
        assert told["rows_released"] + told["rows_suppressed"] == len(there) == told["rows"]
        # what came out is what the ledger says, of those who are in it
        published = asked(
            "SELECT published.age, published.class, published.job, person "
            "FROM entries JOIN rows ON entries.entity = rows.id", entries=entries, rows=rows,
        )
        released = asked('SELECT age, class, "Job", person FROM out', out=out)
        assert Counter(map(repr, published)) == Counter(map(repr, released))
        assert min(Counter(row[:3] for row in released).values()) == told["k"] >= K
        if before:
            again = {p: c for p, c in now.items() if any(p == q for _, q, _ in before)}
            seen = {p: r for r, p, _ in sorted(before)}
            unmoved = [
                p for p in there if (p >= moved or seen.get(p, 0) >= releases)
                and not (nulls and p % 29 == 0)
            ]
            if against == "presence":
                assert again == shown_against_presence(before, unmoved, K)
            else:
                most = how_many_against_absence(before, unmoved, K)
                assert len(again) == sum(most.values())
        if "class_id" in more:
            numbered = asked('SELECT DISTINCT age, class, "Job", class_id FROM out', out=out)
            assert len({row[3] for row in numbered}) == len(numbered) == told["classes"]
        before = linked
        done.unpersist()
    assert max(blocks) > 2 and blocks[1] > 1
    ((kept, many),) = asked(
        f"SELECT keeps_{against}, releases FROM ledger_check('ledger', k := {K})",
        ledger=pa.concat_tables(held),
    )
    assert kept and many == releases


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"representation": "interval"}], ids=str)
def test_one_block_is_what_a_query_releases_and_enters(spark: Any, more: dict[str, Any]) -> None:
    """A ledger is begun in a query, and gone on with in Spark."""
    first, second = lives(3, 500, 2, True, 0.5)
    options = {**GIVEN, "headroom": 1, **more}
    ledger = kanon_sql.anonymize_ledger(table(first, 0, nulls=True), **options)
    rows = table(second, 6, nulls=True)
    done = kanon_spark.release(
        spark.createDataFrame(rows).repartition(2), ledger=spark.createDataFrame(ledger), **options
    )
    out, options["ledger"] = done.data.toArrow(), ledger
    plain, every = kanon_sql.anonymize(rows, **options), "SELECT * FROM {} ORDER BY ALL"
    assert asked(every.format("out"), out=out) == asked(every.format("plain"), plain=plain)
    told = kanon_sql.anonymize_metrics(rows, detail=True, **options)
    known = dict(zip(told["metric"].to_pylist(), told["value"].to_pylist(), strict=True))
    for name in (
        "release", "anonymity_set_min", "rows_withheld", "rows_stale", "rows_waiting",
        "rows_joining", "rows_released", "k", "classes",
    ):
        assert done.metrics[name] == known[name], name
    assert known["rows_stale"] > 0
    if not more:  # nobody lies between the bounds of an interval here
        assert known["rows_joining"] > 0
    own = kanon_sql.anonymize_ledger(rows, **options)
    assert done.entries.toArrow().to_pylist() == own.to_pylist()
    done.unpersist()
