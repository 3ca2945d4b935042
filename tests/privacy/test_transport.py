"""The closed forms of the earth mover's distance against the transport problem that they solve."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.privacy import Closeness
from tests.privacy.histograms import Table, levels_of, tables
from tests.privacy.reference import histogram, is_missing, on_numbers, on_ranks, value
from tests.privacy.transport import (
    Distance,
    alike,
    from_missing,
    in_tree,
    least_work,
    on_places,
)
from tests.support.thoroughness import examples


def distance_of(kind: str, table: Table) -> Distance:
    """The ground distance of the known values."""
    known = sorted(histogram(table.values)[0])
    if kind == "equal":
        return alike
    if kind == "hierarchy":
        return in_tree(levels_of(table.many))
    return on_places(on_ranks(known) if kind == "ordered" else on_numbers(known))


@pytest.mark.parametrize("kind", ["equal", "ordered", "numeric", "hierarchy"])
@settings(max_examples=examples(120))
@given(tables(12), st.integers(0, 10**6))
def test_the_closed_form_is_the_least_work(kind: str, table: Table, bits: int) -> None:
    own = [v for i, v in enumerate(table.values) if bits >> (i % 20) & 1] or list(table.values[:1])
    if not histogram(table.values)[0]:
        return
    model = Closeness(column="x", t=1.0, distance=kind)
    closed = float(value(model, own, table.values, levels_of(table.many)))
    least = least_work(own, table.values, from_missing(distance_of(kind, table)))
    exact = kind in ("equal", "hierarchy") or not any(map(is_missing, table.values))
    if exact:
        assert closed == pytest.approx(least, abs=1e-7)
    else:
        # missing values move nothing but what is too much or too little of them: a bound
        assert closed >= least - 1e-7


def test_a_missing_value_is_as_far_as_can_be() -> None:
    table = [1, 2, None, None]
    model = Closeness(column="x", t=1.0, distance="ordered")
    distance = from_missing(on_places(on_ranks([1, 2])))
    for own, found in (([None], 0.5), ([1, 2], 0.5), ([1, None], 0.25), ([1, 1], 0.75)):
        assert value(model, own, table) == pytest.approx(found)
        assert least_work(own, table, distance) == pytest.approx(found)
    # as a value of its own it is the last one of the order
    own_value = Closeness(column="x", t=1.0, distance="ordered", nulls="value")
    assert value(own_value, [2, None], table) == pytest.approx(0.125)


def test_the_distance_in_a_tree_is_the_mean_over_its_levels() -> None:
    # the least work also by the form of the paper: at each inner node what its children lack is
    # brought from those that have too much, at the height of the node
    levels = tuple({v: v // width for v in range(8)} for width in (1, 2, 4))
    table, own = [0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 2, 5, 5]
    extra = {v: own.count(v) / len(own) - 1 / 8 for v in table}
    work = 0.0
    for height, children in enumerate(levels, 1):
        parents = levels[height] if height < len(levels) else dict.fromkeys(table, 0)
        for node in set(parents.values()):
            below: dict[int, float] = {}
            for v in table:
                if parents[v] == node:
                    below[children[v]] = below.get(children[v], 0.0) + extra[v]
            more = sum(x for x in below.values() if x > 0)
            less = -sum(x for x in below.values() if x < 0)
            work += height / len(levels) * min(more, less)
    model = Closeness(column="x", t=1.0, distance="hierarchy")
    assert float(value(model, own, table, levels)) == pytest.approx(work)
    assert least_work(own, table, in_tree(levels)) == pytest.approx(work)
