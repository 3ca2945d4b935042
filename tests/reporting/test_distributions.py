"""Columns before and after, and what goes together."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats.contingency import association

from kanon_sql.reporting.distributions import CRAMER, PEARSON, associations, read_column
from kanon_sql.reporting.facts import Distribution
from kanon_sql.reporting.readings import RELEASE, SOURCE, TablePair
from tests.support.connections import registered

own = registered(scope="function")


def reader(con: duckdb.DuckDBPyConnection, source: pa.Table, release: pa.Table) -> TablePair:
    con.register(SOURCE, source)
    con.register(RELEASE, release)
    found = TablePair(con)
    found.prepare()
    return found


def told(
    con: duckdb.DuckDBPyConnection, before: list[object], after: list[object], k: int,
    exact: bool = False,
) -> Distribution:
    tables = (pa.table({"x": before}), pa.table({"x": after}))
    return read_column(reader(con, *tables), "x", k, exact)[0]


def test_labels_of_few_rows_are_put_together(own: duckdb.DuckDBPyConnection) -> None:
    before = ["a"] * 23 + ["b"] * 7 + ["c"] * 2 + ["d"] * 9
    after = ["a"] * 24 + ["b"] * 10 + ["c"] * 7
    found = told(own, before, after, 5)
    # c has two rows only, and d is not released
    assert [(bar.label, bar.before, bar.after) for bar in found.bars] == [
        ("a", 25, 24), ("b", 5, 10), ("all others", 10, 7)
    ]
    full = told(own, before, after, 5, exact=True)
    assert {bar.label: bar.before for bar in full.bars} == {"a": 23, "b": 7, "c": 2, "d": 9}


def test_what_is_left_over_is_no_small_group(own: duckdb.DuckDBPyConnection) -> None:
    found = told(own, ["a"] * 20 + ["b"] * 6 + ["c"], ["a"] * 20 + ["b"] * 7, 5)
    # c alone would be one row: b goes with it
    assert [(bar.label, bar.before) for bar in found.bars] == [("a", 20), ("all others", 5)]


@pytest.mark.parametrize("after", [
    ["[20, 29]"] * 10 + ["[30, 49]"] * 20, ["[20, 30)"] * 10 + ["[30, 50)"] * 20,
    [{"min": 20, "max": 29}] * 10 + [{"min": 30, "max": 49}] * 20,
    [24.5] * 10 + [40.0] * 20,
])
def test_numbers_are_read_as_they_are_released(
    own: duckdb.DuckDBPyConnection, after: list[object]
) -> None:
    before = [*range(20, 30), *range(30, 50)]
    found = told(own, list(before), after, 3)
    assert len(found.bars) > 1
    assert sum(bar.after for bar in found.bars) == pytest.approx(30)
    assert found.missing.after == 0


def test_what_is_not_told_is_counted_and_few_missing_values_are_not(
    own: duckdb.DuckDBPyConnection
) -> None:
    before: list[object] = [*range(40), None, None]
    after: list[object] = [*["10"] * 20, *["30"] * 20, "*", None]
    found = told(own, before, after, 5)
    assert (found.missing.before, found.missing.after) == (0, 2)
    assert told(own, before, after, 2).missing.before == 2


def test_counts_of_the_source_are_multiples(own: duckdb.DuckDBPyConnection) -> None:
    values = list(np.random.default_rng(1).integers(0, 90, 500).tolist())
    for k in (3, 7, 20):
        bars = told(own, values, values, k).bars
        assert all(bar.before % k == 0 for bar in bars)
        assert any(bar.after % k for bar in bars)


def test_associations_are_those_of_the_textbook(own: duckdb.DuckDBPyConnection) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, 400)
    b = np.where(rng.random(400) < 0.6, a, rng.integers(0, 5, 400))
    x = rng.normal(size=400)
    y = 0.5 * x + rng.normal(size=400)
    table = pa.table({"a": [f"a{i}" for i in a], "b": [f"b{i}" for i in b], "x": x, "y": y})
    read = reader(own, table, table)
    columns = [read_column(read, name, 5, True)[1] for name in ("a", "b", "x", "y")]
    found = {(each.first, each.second): each for each in associations(columns, True)}
    crossed = np.histogram2d(a, b, bins=[4, 5])[0].astype(int)
    # scipy's V has no correction for chance; what is corrected is phi² and the sizes (Bergsma 2013)
    phi = association(crossed, method="cramer") ** 2 * 3 - 3 * 4 / 399
    corrected = np.sqrt(phi / (min(4 - 9 / 399, 5 - 16 / 399) - 1))
    assert found["a", "b"].kind == CRAMER
    assert found["a", "b"].before == pytest.approx(corrected, abs=1e-4)
    assert found["x", "y"].kind == PEARSON
    assert found["x", "y"].after == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-4)
    assert all(each.moved == 0 for each in found.values())
    assert [each.before for each in associations(columns, False)] == [
        round(each.before or 0, 2) for each in associations(columns, True)
    ]
