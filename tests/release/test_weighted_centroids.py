"""Centroids where rows have weights, against means in exact arithmetic."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

import kanon_sql
from kanon_sql.errors import DataError, OptionError
from tests.support import tables

EPOCH = dt.datetime(2000, 1, 1)
SECONDS = 86_400
OPTIONS = {"quasi_identifiers": ["a", "i", "d", "s", "h", "b"], "k": 4, "method": "mdav_star"}
Connection = duckdb.DuckDBPyConnection


def create(con: Connection, seed: int, count: int = 90) -> None:
    rng = np.random.default_rng(seed)
    con.execute(
        "CREATE OR REPLACE TABLE t (n INTEGER, a DOUBLE, i INTEGER, d DATE, s TIMESTAMP, h TIME, "
        "b VARCHAR, w DOUBLE, one INTEGER)"
    )
    for n in range(count):
        missing = rng.random(6) < 0.1
        values = [
            float(rng.choice([0.1, 1e-3, 7.25, math.nan, -3.5])), int(rng.integers(-9, 90)),
            EPOCH.date() + dt.timedelta(days=int(rng.integers(4000))),
            EPOCH + dt.timedelta(seconds=int(rng.integers(10**8))),
            (EPOCH + dt.timedelta(seconds=int(rng.integers(SECONDS)))).time(),
            str(rng.choice(["x", "y", "z"])),
        ]
        row = [None if gone else value for gone, value in zip(missing, values, strict=True)]
        con.execute(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)",
            [n, *row, float(rng.choice([0.5, 1.0, 3.75, 40.0, 1 / 3]))],
        )


def released(con: Connection, relation: str = "t", **options: Any) -> list[tuple[Any, ...]]:
    call = tables.call(
        "anonymize", relation, **OPTIONS, sensitive=["n"], others="drop", class_id=True,
        **{"representation": "centroid", **options}
    )
    return con.execute(f"SELECT n, class_id, a, i, d, s, h, b FROM {call} ORDER BY n").fetchall()


def mean(values: Sequence[Any], weights: Sequence[float]) -> Fraction | None:
    known = [
        (Fraction(value), Fraction(weight)) for value, weight in zip(values, weights, strict=True)
        if not tables.is_missing(value)
    ]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if known else None


def days(value: dt.date | None) -> int | None:
    return None if value is None else (value - EPOCH.date()).days


def microseconds(value: dt.datetime | None) -> int | None:
    return None if value is None else (value - EPOCH) // dt.timedelta(microseconds=1)


def of_day(value: dt.time | None) -> int | None:
    return None if value is None else microseconds(dt.datetime.combine(EPOCH.date(), value))


def close(found: Any, expected: Fraction | None, within: float) -> bool:
    if expected is None or found is None:
        return expected is None and found is None
    return abs(Fraction(found) - expected) <= Fraction(within)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_they_are_weighted_means(con: Connection, seed: int) -> None:
    create(con, seed)
    source = {row[0]: row for row in con.execute("SELECT * FROM t").fetchall()}
    plain = {row[0]: row for row in released(con)}
    classes = defaultdict(list)
    for row in released(con, sampling_weight="w"):
        classes[row[1]].append(row)
    assert len(classes) > 5
    changed = 0
    for rows in classes.values():
        members = [source[row[0]] for row in rows]
        weights = [member[7] for member in members]
        a, i, d, s, h, b = rows[0][2:]
        columns = list(zip(*members, strict=True))
        assert close(a, mean(columns[1], weights), 1e-12)
        assert close(i, mean(columns[2], weights), 1e-12 * 100)
        half = 0.5 + 1e-6
        assert close(days(d), mean([days(x) for x in columns[3]], weights), half)
        assert close(microseconds(s), mean([microseconds(x) for x in columns[4]], weights), half)
        assert close(of_day(h), mean([of_day(x) for x in columns[5]], weights), half)
        assert b == plain[rows[0][0]][7]  # what has no mean is as without weights
        assert len({row[2:] for row in rows}) == 1 or math.isnan(a or 0.0)
        changed += rows[0][2:] != plain[rows[0][0]][2:]
    assert changed > len(classes) // 2


@pytest.mark.slow
def test_equal_weights_change_nothing(con: Connection) -> None:
    create(con, 5)
    expected = released(con)
    assert released(con, sampling_weight="one") == expected
    con.execute("ALTER TABLE t ADD same DOUBLE")
    con.execute("UPDATE t SET same = 0.1")
    assert released(con, sampling_weight="same") == expected


@pytest.mark.slow
def test_the_order_of_the_rows_changes_nothing(con: Connection) -> None:
    create(con, 6, 300)
    con.execute("CREATE TABLE u AS FROM t ORDER BY hash(n)")
    expected = released(con, sampling_weight="w")
    con.execute("SET threads = 4")
    for relation in ("t", "u"):
        assert released(con, relation, sampling_weight="w") == expected


@pytest.mark.slow
def test_only_columns_that_release_centroids_are_weighted(con: Connection) -> None:
    create(con, 7)
    form = {"a": "median", "i": "interval", "*": "centroid"}
    plain = released(con, representation=form)
    found = released(con, representation=form, sampling_weight="w")
    assert [row[2:4] for row in plain] == [row[2:4] for row in found]
    assert [row[4:7] for row in plain] != [row[4:7] for row in found]
    whole = released(con, sampling_weight="w")
    assert [row[4:7] for row in whole] == [row[4:7] for row in found]


def test_the_release_says_what_it_was_weighted_by(con: Connection) -> None:
    create(con, 8)
    call = tables.call("anonymize_metrics", "t", **OPTIONS, others="drop", sampling_weight="w",
                       detail=True)
    ((told,),) = con.execute(f"SELECT text FROM {call} WHERE metric = 'options'").fetchall()
    assert json.loads(told)["sampling_weight"] == "w"


def test_a_row_without_a_weight_stops_the_release(con: Connection) -> None:
    create(con, 9)
    con.execute("UPDATE t SET w = NULL WHERE n = 17")
    with pytest.raises(DataError, match="must hold a number above 0 in every row"):
        kanon_sql.anonymize("t", con=con, **OPTIONS, others="drop", sampling_weight="w")


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [
    {"method": "r_gather"}, {"representation": "interval"}, {"method": "k_member",
                                                            "representation": "median"},
])
def test_weights_that_would_mean_nothing_are_refused(
    con: Connection, options: dict[str, Any]
) -> None:
    create(con, 10)
    with pytest.raises(OptionError, match="sampling_weight counts in centroids"):
        kanon_sql.anonymize("t", con=con, **{**OPTIONS, **options}, others="drop",
                            sampling_weight="w")
    call = tables.call(
        "anonymize_metrics", "t", **{**OPTIONS, **options}, others="drop", sampling_weight="w"
    )
    ((least,),) = con.execute(f"SELECT value FROM {call} WHERE metric = 'k_weighted'").fetchall()
    assert least > 0
