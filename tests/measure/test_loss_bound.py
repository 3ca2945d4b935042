"""The least loss of any grouping: against all groupings of few records, and a slow reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.measure.loss_bound import MOST_LISTED, loss_bound, nearest_sums
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Points
from tests.support.connections import registered

Draw = Callable[[st.SearchStrategy[Any]], Any]

often = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def partitions(n: int, k: int, first: int = 0, sizes: tuple[int, ...] = ()) -> Iterator[list[int]]:
    """The labels of all groupings of n records into classes of k or more, each once."""
    if first == n:
        if all(size >= k for size in sizes):
            yield []
        return
    for g in range(len(sizes) + 1):
        grown = (*sizes[:g], (sizes[g] if g < len(sizes) else 0) + 1, *sizes[g + 1 :])
        for rest in partitions(n, k, first + 1, grown):
            yield [g, *rest]


def least_sse(points: Points, k: int) -> float:
    return min(sse(points, np.array(labels)) for labels in partitions(len(points), k))


@st.composite
def some_points(draw: Draw, most: int = 7) -> Points:
    """Numbers and categories with ties and copies, also none of either."""
    n, d, c = draw(st.integers(2, most)), draw(st.integers(0, 3)), draw(st.integers(0, 2))
    numbers = draw(st.lists(
        st.lists(st.sampled_from([-1.5, 0.0, 0.1, 1.0, 1.0 / 3.0, 7.0]), min_size=d, max_size=d),
        min_size=n, max_size=n,
    ))
    codes = draw(st.lists(
        st.lists(st.integers(0, 3), min_size=c, max_size=c), min_size=n, max_size=n
    ))
    scale = draw(st.lists(st.sampled_from([0.5, 0.1, 2.0]), min_size=c, max_size=c))
    return Points.of(np.reshape(numbers, (n, d)), np.reshape(codes, (n, c)), np.array(scale))


def slow_sums(points: Points, count: int) -> list[float]:
    """nearest_sums by all pairs, one number after the other."""
    sums = []
    for i in range(len(points)):
        distances = []
        for j in range(len(points)):
            total = 0.0
            for a in range(points.numeric.shape[1]):
                gap = float(points.numeric[i, a]) - float(points.numeric[j, a])
                total += gap * gap
            for a in range(points.codes.shape[1]):
                total += 2.0 * float(points.scale[a]) if (
                    points.codes[i, a] != points.codes[j, a]
                ) else 0.0
            if i != j:
                distances.append(total)
        total = 0.0
        for least in sorted(distances)[:count]:
            total += least
        sums.append(total)
    return sums


@pytest.mark.slow
@often
@given(some_points(), st.integers(1, 3))
def test_no_grouping_loses_less(points: Points, k: int) -> None:
    bound = loss_bound(points, k)
    assert (bound is None) == (len(points) < k)
    if bound is not None:
        least = least_sse(points, k)
        assert bound.sse <= least * (1 + 1e-12) + 1e-12
        if bound.exact:
            assert bound.sse == pytest.approx(least, rel=1e-9, abs=1e-12)


@often
@given(some_points(30), st.integers(1, 8))
def test_the_sums_are_the_reference_bit_by_bit(points: Points, count: int) -> None:
    assert nearest_sums(points, count).tolist() == slow_sums(points, count)


@pytest.mark.slow
def test_the_sums_of_many_records_are_the_reference() -> None:
    rng = np.random.default_rng(1)
    points = Points.of(rng.normal(size=(700, 3)), rng.integers(0, 4, (700, 2)), [0.3, 0.7])
    assert nearest_sums(points, 6).tolist() == slow_sums(points, 6)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_it_is_reached_where_all_are_equally_far(k: int) -> None:
    """Every record a category of its own: all groupings into classes of k lose the same."""
    points = Points.of(np.zeros((3 * k, 0)), np.arange(3 * k)[:, None], [0.7])
    bound = loss_bound(points, k)
    assert bound is not None and not bound.exact
    assert bound.sse == pytest.approx(sse(points, np.arange(3 * k) % 3), rel=1e-12)


def test_it_is_reached_by_clusters_that_are_far_apart() -> None:
    """Pairs: each record's nearest is its partner, and the class loses half of what they are
    apart."""
    points = Points.of([[0.0, 0.0], [0.0, 1.0], [50.0, 0.0], [52.0, 0.0]])
    bound = loss_bound(points, 2)
    assert bound is not None and bound.sse == sse(points, np.array([0, 0, 1, 1])) == 2.5


def test_copies_cost_nothing() -> None:
    points = Points.of(np.repeat([[0.0, 3.0], [4.0, 1.0]], 5, axis=0))
    bound = loss_bound(points, 5)
    assert bound is not None and bound.sse == 0.0
    bound = loss_bound(points, 6)
    assert bound is not None and bound.sse > 0.0


@pytest.mark.slow
def test_a_bound_is_not_looked_for_among_too_many() -> None:
    points = Points.of(np.zeros((MOST_LISTED // 100, 2)))
    assert loss_bound(points, 101) is not None
    assert loss_bound(points, 102) is None


con = registered("""
    CREATE TABLE t AS SELECT i AS row, i * 7919 % 83 AS a, i * 31 % 17 AS b, 'v' || i % 4 AS c,
        i % 2 AS part, i % 50 AS person, CASE WHEN i % 9 > 0 THEN i % 20 END AS holes
    FROM range(200) AS r(i);
    CREATE TABLE one AS FROM t WHERE part = 1;
""")


def metric(
    con: duckdb.DuckDBPyConnection, options: str, name: str = "information_loss_bound",
    table: str = "t", quasi: str = "'a', 'b', 'c'",
) -> tuple[float | None, str | None]:
    ((value, words),) = con.execute(
        f"SELECT value, in_words FROM anonymize_metrics('{table}', detail=true, others='drop', "
        f"quasi_identifiers=[{quasi}], {options}) WHERE metric = '{name}'"
    ).fetchall()
    return value, words


@pytest.mark.sample(2)
@pytest.mark.parametrize("options", [
    "k=3", "k=3, method='mdav'", "k=3, method='mondrian'", "k=5, method='k_member'",
    "k=4, representation='interval'", "k=3, column_weights={'a': 3.0, 'c': 0.0}",
    "k=3, method='full_domain', hierarchies={'a': 'bins', 'b': 'bins', 'c': 'prefix'}",
    "k=3, sensitive=['person'], l=3", "k=3, categorical=['b']",
])
def test_no_release_loses_less(con: duckdb.DuckDBPyConnection, options: str) -> None:
    bound, words = metric(con, options)
    loss, _ = metric(con, options, "information_loss")
    assert bound is not None and loss is not None and 0.0 < bound <= loss
    assert words is not None
    times = float(words.split("at most ")[1].split(" times")[0])
    assert times == pytest.approx(loss / bound, abs=0.0101) and times >= loss / bound


@pytest.mark.slow
def test_the_optimum_of_one_column(con: duckdb.DuckDBPyConnection) -> None:
    loss, _ = metric(con, "k=3, method='optimal_1d'", "information_loss", quasi="'a'")
    best, words = metric(con, "k=3, method='optimal_1d'", quasi="'a'")
    assert best == loss and words == "the loss is the minimum with this k"
    bound, words = metric(con, "k=3, method='mondrian'", quasi="'a'")
    assert bound == pytest.approx(best)
    assert words is not None and words.endswith("times the minimum with this k")
    holes, words = metric(con, "k=12", quasi="'holes'")  # two coordinates: NULL and where it lies
    assert holes is not None and words is not None and "at most" in words


@pytest.mark.parametrize("options", [
    "k=3, entity='person'", "k=3, within=['part']", "method='cellular', allow_small=true",
])
def test_it_is_not_told_where_it_is_not_sound(
    con: duckdb.DuckDBPyConnection, options: str
) -> None:
    assert metric(con, options) == (None, None)


def test_it_is_not_told_where_rows_are_left_out(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE far AS FROM t UNION ALL "
                "SELECT 999, 5000 + i, -300, 'far', 0, 7, NULL FROM range(2) AS r(i)")
    options = "k=3, method='k_member', suppress=0.05"
    assert metric(con, options, "rows_suppressed", "far")[0]
    assert metric(con, options, table="far") == (None, None)


def test_each_part_has_its_own(con: duckdb.DuckDBPyConnection) -> None:
    parts = dict(con.execute(
        "SELECT part, value FROM anonymize_metrics('t', k=3, detail=true, by_part=true, "
        "within=['part'], quasi_identifiers=['a', 'b', 'c'], others='drop') "
        "WHERE metric = 'information_loss_bound'"
    ).fetchall())
    assert parts.keys() == {0, 1} and parts[1] == metric(con, "k=3", table="one")[0]


@pytest.mark.slow
def test_rows_that_take_no_part_do_not_matter(con: duckdb.DuckDBPyConnection) -> None:
    left, _ = metric(con, "k=3, nulls='suppress'", quasi="'a', 'holes'")
    con.execute("CREATE OR REPLACE TABLE known AS FROM t WHERE holes IS NOT NULL")
    assert left == metric(con, "k=3", table="known", quasi="'a', 'holes'")[0] is not None


def test_the_order_of_the_rows_does_not_matter(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE turned AS FROM t ORDER BY hash(row)")
    assert metric(con, "k=4", table="turned") == metric(con, "k=4")
