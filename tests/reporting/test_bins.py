"""Bins with round edges and enough rows."""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.reporting.bins import counts_of, edges_of, joined, labels_of, round_step
from kanon_sql.reporting.readings import Ranges


def points(*values: float, whole: bool = False, times: bool = False) -> Ranges:
    found = np.array(values, np.float64)
    return Ranges(found, found, whole, times)


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize("wanted, whole, step", [
    (0.3, False, 0.5), (0.3, True, 1), (1, True, 1), (1.2, False, 2), (2.1, True, 5), (6, True, 10),
    (73, False, 100), (0.0021, False, 0.005), (0.2, False, 0.2),
])
def test_steps_are_round(wanted: float, whole: bool, step: float) -> None:
    assert round_step(wanted, whole) == pytest.approx(step)


def test_edges_are_round_and_inside_of_what_is_released() -> None:
    ages = points(*np.linspace(17.3, 89.9, 500), whole=True)
    assert edges_of(ages).tolist() == [20, 30, 40, 50, 60, 70, 80]
    assert labels_of(edges_of(ages), ages)[:2] == ["below 20", "20\N{EN DASH}29"]
    assert labels_of(edges_of(ages), ages)[-1] == "80 or more"
    assert edges_of(points(0.1, 0.2, 0.3, 0.4)).tolist() == [
        0.15, 0.2, 0.25, 0.3, 0.35
    ] or len(edges_of(points(0.1, 0.2, 0.3, 0.4))) <= 11


def test_a_few_rows_far_away_do_not_make_all_bins_wide() -> None:
    assert edges_of(points(*range(1000), 1e9))[-1] <= 1000


@pytest.mark.parametrize("values", [
    (5e-324, 1e-323, 0.0), (1.7e308, -1.7e308, 0.0), (5e-324, 1.7e308, -1.0), (1e-310, 3e-310),
])
def test_doubles_of_any_size_have_edges(values: tuple[float, ...]) -> None:
    numbers = points(*values * 20)
    edges = edges_of(numbers)
    assert np.isfinite(edges).all() and len(edges) <= 11
    assert len(labels_of(edges, numbers)) == len(edges) + 1
    wide = Ranges(np.full(4, min(values)), np.full(4, max(values)))
    assert counts_of(wide, edges).sum() == pytest.approx(4.0)
    assert np.isfinite(wide.middle).all()


@pytest.mark.parametrize("days, labels", [
    ((-1_000_000, 2_900_000), ["below 0000", "0000 to 2000", "8000 or more"]),
    ((2_932_800, 2_932_990), ["below 9999-10", "9999-12 to 10000-01"]),
    ((0, 2e9), ["below 1000000"]),
])
def test_times_beyond_those_of_python_have_edges(
    days: tuple[float, float], labels: list[str]
) -> None:
    times = points(*np.linspace(*days, 400) * 86400.0, times=True)
    found = labels_of(edges_of(times), times)
    assert set(labels) <= set(found), found


@pytest.mark.parametrize("first, last, edge, label", [
    ("1930-05-01", "1999-03-04", "1940-01-01", "below 1940"),
    ("2020-01-05", "2020-12-20", "2020-02-01", "below 2020-03"),
    ("2020-01-05", "2020-01-25", "2020-01-07", "below 2020-01-07"),
])
def test_edges_of_times_are_those_of_the_calendar(
    first: str, last: str, edge: str, label: str
) -> None:
    times = points(*np.linspace(moment(first), moment(last), 400), times=True)
    edges = edges_of(times)
    moments = [datetime.fromtimestamp(value, timezone.utc) for value in edges]
    assert all((m.hour, m.minute, m.second) == (0, 0, 0) for m in moments)
    assert labels_of(edges, times)[0].startswith(label[:10])
    assert len(edges) <= 13


def test_one_value_and_none_have_no_edges() -> None:
    assert len(edges_of(points(3, 3, 3))) == 0
    assert len(edges_of(points(np.nan))) == 0
    assert labels_of(np.array([]), points(3)) == ["all"]


def test_a_range_counts_evenly_over_what_it_covers() -> None:
    ranges = Ranges(np.array([10.0, 0, np.nan, 5]), np.array([30.0, 0, np.nan, 5]))
    assert counts_of(ranges, np.array([15.0, 20])).tolist() == [2.25, 0.25, 0.5]


@pytest.mark.filterwarnings("error")
def test_a_range_between_the_least_doubles_is_counted() -> None:
    least = Ranges(np.array([0.0, 5e-324]), np.array([5e-324, 1e-323]), False, False)
    assert counts_of(least, np.array([1.0])).tolist() == [2.0, 0.0]


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=300),
    st.lists(st.integers(0, 60), max_size=12, unique=True), st.integers(1, 40),
)
def test_every_bin_has_enough_rows_or_there_is_one(
    values: list[int], cuts: list[int], least: int
) -> None:
    edges, held = np.array(sorted(cuts), np.float64), points(*values)
    kept = joined(edges, counts_of(held, edges), least)
    rows = counts_of(held, kept)
    assert set(kept) <= set(edges) and rows.sum() == len(values)
    assert len(kept) == 0 or rows.min() >= least
