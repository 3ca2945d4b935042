"""The mean prosecutor risk, in whole numbers: what the kernels allow is what SQL lets through."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.privacy import CONSTRAINTS, WHOLE, AverageRisk, WholeOptions, read_constraint
from kanon_sql.privacy.whole import read_whole
from tests.support.thoroughness import often

BOUNDS = st.sampled_from([0.05, 0.1, 0.3, 1 / 3, 0.5, 1.0]) | st.integers(1, 999).map(
    lambda thousandths: thousandths / 1000
)


@often(100)
@given(bound=BOUNDS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_it_is_kept_exactly_if_the_mean_of_the_risks_is_at_most_the_bound(
    bound: float, sizes: list[int]
) -> None:
    risks = [Fraction(1, size) for size in sizes for _ in range(size)]
    keeps = sum(risks) / len(risks) <= Fraction(repr(bound))
    asked = AverageRisk(bound)
    assert (len(sizes) <= asked.most_classes(sum(sizes))) == keeps
    with duckdb.connect() as con:
        ((broken,),) = con.execute(
            f"SELECT {asked.broken_sql(str(len(sizes)), str(sum(sizes)))}"
        ).fetchall()
    assert broken != keeps
    # a merger of two classes keeps it
    assert not keeps or max(len(sizes) - 1, 1) <= asked.most_classes(sum(sizes))


def test_the_largest_numbers_fit() -> None:
    asked = AverageRisk(1.2345678901234567e-09)
    with duckdb.connect() as con:
        assert con.execute(f"SELECT {asked.broken_sql('1', '10_000_000_000')}").fetchall() == [
            (False,)
        ]


@pytest.mark.parametrize(("bound", "persons"), [(0.1, 9), (0.3, 3), (0.001, 999)])
def test_too_few_persons_are_refused(bound: float, persons: int) -> None:
    with pytest.raises(DataError, match=f"all {persons} persons has a mean risk of 1 / {persons}"):
        AverageRisk(bound).refuse(persons, "persons")
    AverageRisk(bound).refuse(persons + 1, "persons")


def test_it_is_read_from_its_option_and_from_json() -> None:
    assert read_whole(WHOLE, WholeOptions()) == ()
    (asked,) = read_whole(WHOLE, WholeOptions(max_average_risk=0.2))
    assert asked == AverageRisk(0.2) and read_constraint(asked.as_json()) == asked
    assert CONSTRAINTS["average_risk"] is AverageRisk
