"""What cuts are said to cost, against the same said record by record."""

from __future__ import annotations

from itertools import combinations
from math import exp, inf, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.search.cut_cost import (
    CUT_CUBE,
    CUT_MIXED,
    MIXED_LINEAR,
    MIXED_SQUARED,
    _marks,
    cut_costs,
)


def slow_harms(
    spreads: list[float], kinds: list[list[int]], apart: list[float], n: int, k: int,
    density: float, linear: bool,
) -> tuple[list[float], list[float]]:
    """As cut_costs, one record after another."""
    known = [spread for spread in spreads if spread > 0.0]
    d = len(known)
    side = exp(sum(log(sqrt(12.0 * spread)) for spread in known) / d) if d else 0.0
    varied = [c for c, codes in enumerate(kinds) if len(set(codes)) > 1]

    def agreement(c: int) -> float:
        return float(sum((kinds[c].count(code) / n) ** 2 for code in set(kinds[c])))

    finest = sorted(varied, key=agreement)
    mixtures = [set[int](), *({c} for c in varied)]
    mixtures += [set(finest[:many]) for many in range(2, len(finest) + 1)]

    def alike(row: int, mixed: set[int]) -> float:
        kept = [c for c in varied if c not in mixed]
        same = sum(all(kinds[c][row] == kinds[c][other] for c in kept) for other in range(n))
        if same > 1:
            return 1.0 + density * (same - 1)
        chance = prod(kinds[c].count(kinds[c][row]) / n for c in kept)
        return 1.0 + (density - 1.0) * min(1.0, n * chance)

    def cost(mates: float, mixed: set[int]) -> tuple[float, float]:
        if mates < k and mixed != set(varied):
            return inf, 0.0
        wide = side * (k / mates) ** (1.0 / max(d, 1))
        length = wide if linear else wide**2 / 12.0
        more = MIXED_LINEAR if linear else MIXED_SQUARED
        return d * length + more * sum(apart[c] for c in mixed), wide

    mixing = [0] * len(kinds)
    lost, across, cut = 0.0, [0.0] * len(spreads), [0.0] * len(kinds)
    for row in range(n):
        own = [cost(alike(row, mixed), mixed) for mixed in mixtures]
        best, wide = min(own, key=lambda found: found[0])
        lost += best
        for c in mixtures[[found[0] for found in own].index(best)]:
            mixing[c] += 1
        for i, spread in enumerate(spreads):
            if spread > 0.0:
                across[i] += best * min(1.0, wide / sqrt(12.0 * spread))
        for c in varied:
            cut[c] += min(
                cost(alike(row, mixed) / 2.0, mixed)[0] if c in mixed else found[0]
                for mixed, found in zip(mixtures, own, strict=True)
            )
    total = max(lost, 1e-300)
    return (
        [CUT_CUBE * across[i] / total if spread > 0.0 else inf for i, spread in enumerate(spreads)],
        [(cut[c] - lost) / total + CUT_MIXED * mixing[c] / n if c in varied else inf
         for c in range(len(kinds))],
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 40), d=st.integers(0, 3),
    kinds=st.lists(st.integers(1, 6), max_size=4), k=st.integers(2, 6),
    density=st.sampled_from((1.0, 7.5)), linear=st.booleans(), still=st.booleans(),
)
def test_harms_are_those_said_record_by_record(
    seed: int, n: int, d: int, kinds: list[int], k: int, density: float, linear: bool, still: bool,
) -> None:
    draw = np.random.default_rng(seed)
    spreads = draw.uniform(0.1, 3.0, d)
    if still and d:
        spreads[0] = 0.0
    codes = [draw.integers(0, m, n).astype(np.int32) for m in kinds]
    apart = draw.uniform(0.2, 2.0, len(kinds))
    found = cut_costs(n, spreads, codes, apart, k, density, linear)
    wanted = slow_harms(
        spreads.tolist(), [column.tolist() for column in codes], apart.tolist(), n, k, density,
        linear,
    )
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, np.array(theirs), rtol=1e-9, atol=1e-9)


def test_no_column_is_no_harm() -> None:
    of_numbers, of_kinds = cut_costs(5, np.zeros(0), [], np.zeros(0), 2, 1.0)
    assert len(of_numbers) == len(of_kinds) == 0


def test_a_cut_between_categories_that_no_class_mixes_costs_nothing() -> None:
    """A thousand records of each of ten towns, k = 5: a class is of one town, along a number."""
    towns = np.repeat(np.arange(10, dtype=np.int32), 1000)
    of_numbers, of_kinds = cut_costs(10_000, np.ones(1), [towns], np.array([1.0]), 5, 1.0)
    assert of_kinds[0] == 0.0
    assert of_numbers[0] > 0.0


def test_sums_of_marks_agree_only_where_all_categories_do() -> None:
    codes = np.arange(300, dtype=np.int32)
    marks = [_marks(codes, column) for column in range(4)]
    assert len(np.unique(np.concatenate(marks))) == 1200
    for first, second in combinations(marks, 2):
        assert len(np.unique(np.add.outer(first, second))) == 300 * 300


@pytest.mark.parametrize("linear", [False, True])
def test_a_number_that_classes_are_long_in_is_not_cut(linear: bool) -> None:
    """Two numbers: the cut that crosses fewer classes is along that which varies more."""
    of_numbers, _ = cut_costs(
        10_000, np.array([1.0, 9.0]), [], np.zeros(0), 5, 1.0, linear
    )
    assert of_numbers[1] < of_numbers[0]
