"""What constraints say of a table before any grouping, against all classes that its rows make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.points.sensitive import Counts, SensitiveColumn
from kanon_sql.privacy import (
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    PrivacyModel,
    read_constraint,
)
from tests.privacy.histograms import KINDS, NUMBERS, Table, model_of, models, tables
from tests.privacy.reference import with_missing
from tests.support.thoroughness import examples

ZERO_AT_BEST = (Closeness, DeltaDisclosure, BetaLikeness)


def classes(table: Table) -> Iterator[list[float | None]]:
    """Every class that rows of the table can make, the smallest first."""
    counts = with_missing(table.values)
    ranges = [range(count + 1) for count in counts.values()]
    for often in sorted(product(*ranges), key=sum):
        if any(often):
            yield [v for v, n in zip(counts, often, strict=True) for _ in range(n)]


@settings(max_examples=examples(600))
@given(tables(30), models())
def test_feasible_is_what_all_rows_pass(table: Table, asked: tuple[str, PrivacyModel]) -> None:
    kind, model = asked
    assert model.feasible(table.counts(kind)) is table.passes(kind, model, table.values)
    best = model.best(table.counts(kind))
    if isinstance(model, ZERO_AT_BEST):
        assert best == 0.0
    else:
        assert best == pytest.approx(table.value(kind, model, table.values))


@settings(max_examples=examples(300))
@given(tables(9), models())
def test_no_class_below_the_least_passes(table: Table, asked: tuple[str, PrivacyModel]) -> None:
    kind, model = asked
    if not table.passes(kind, model, table.values):
        return
    found = next(len(own) for own in classes(table) if table.passes(kind, model, own))
    told = model.least_class(table.counts(kind))
    if kind == "hierarchy":
        assert told <= found
    else:
        assert told == found


def big(counts: list[int], missing: int, ordered: bool = True) -> Counts:
    """A table of so many rows for each of the numbers 0, 1, 4, 9 ..."""
    numbers = np.arange(float(len(counts))) ** 2
    column = SensitiveColumn("x", tuple(map(str, numbers)), ordered, numbers)
    return Counts(column, np.array(counts, np.int64), missing)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("hierarchy", "by_value")])
def test_large_tables_are_answered_as_small_ones(kind: str) -> None:
    """The shares decide, not the rows: of a hundred times the table a class of the same size
    passes."""
    threshold = {"distinct": 3.0, "entropy": 2.5, "recursive": 1.5, "alpha": 0.4, "delta": 1.2,
                 "basic": 1.5, "enhanced": 1.5}.get(kind, 0.15)
    model = model_of(kind, threshold, "worst")
    counts = [3, 5, 1, 7, 2]
    small = model.least_class(big(counts, 0))
    assert 1 <= small <= 18
    assert model.least_class(big([100 * n for n in counts], 0)) == small


def test_a_value_of_nine_rows_allows_nine_classes() -> None:
    table = big([30_000, 153, 9], 0)
    least = DeltaDisclosure(column="x", delta=0.5).least_class(table)
    assert 30_162 / 9 / np.exp(0.5) <= least <= 30_162 / 9 / np.exp(0.5) * 1.2


@pytest.mark.sample(2)
@pytest.mark.parametrize("distance", ["equal", "ordered", "numeric"])
@pytest.mark.parametrize("missing", [0, 5_000])
def test_many_values_have_a_bound(distance: str, missing: int) -> None:
    rng = np.random.default_rng(3)
    table = big(rng.integers(1, 4, 20_000).tolist(), missing)
    for t in (0.2, 0.000001):
        least = Closeness(column="x", t=t, distance=distance).least_class(table)
        assert 1 <= least <= 1_000
        assert t == 0.2 or least == 1_000


@pytest.mark.parametrize(("t", "least"), [(0.416667, 2), (0.416666, 3), (0.166667, 4)])
def test_the_levels_of_a_hierarchy_count_together(t: float, least: int) -> None:
    # eight values, in pairs and fours: a class of two has a row of each four, and is 1/2 away of
    # the pairs and 3/4 of the values, 5/12 in the mean; one of four 1/6
    table, model = Table(8, NUMBERS), model_of("hierarchy", t, "worst")
    assert model.least_class(table.counts("hierarchy")) == least
    passing = (own for own in classes(table) if table.passes("hierarchy", model, own))
    assert len(next(passing)) == least


@settings(max_examples=examples(60))
@given(models())
def test_a_model_is_what_it_tells(asked: tuple[str, PrivacyModel]) -> None:
    assert read_constraint(asked[1].as_json()) == asked[1]


@settings(max_examples=examples(120))
@given(tables(20), st.sampled_from(("distinct", "entropy", "recursive")), st.integers(2, 3))
def test_diversity_goes_by_the_nodes_above_the_leaves(table: Table, kind: str, rank: int) -> None:
    model = model_of(kind, 2.0, "worst", rank)
    found = model.feasible(table.counts("hierarchy"))
    assert found is table.passes("hierarchy", model, table.values)
