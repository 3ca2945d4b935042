"""Lightest factors by linear programs, against those by matching, and what proves them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.cell_generalization import factors_by_cuts as cuts
from kanon_sql.methods.cell_generalization import pairs as pairs_module
from kanon_sql.methods.cell_generalization import triples as triples_module
from kanon_sql.methods.cell_generalization.factors_by_matching import (
    edge_costs,
    edges_of,
    one_or_two_factor,
    two_factor,
)
from kanon_sql.methods.cell_generalization.lightest_factor import among_candidates, lightest_factor
from kanon_sql.points.losses import generalized_cells
from kanon_sql.points.points import LossPoints
from tests.support.thoroughness import examples as thorough

MATCH: dict[bool, Any] = {True: one_or_two_factor, False: two_factor}
MODULES: dict[int, Any] = {2: pairs_module, 3: triples_module}


@st.composite
def tables(draw: st.DrawFn, least: int = 3, most: int = 26) -> LossPoints:
    """Few letters or many, columns of other weights, equal records, and clusters of three, whose
    programs have solutions in halves."""
    n, width = draw(st.integers(least, most)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, draw(st.sampled_from((2, 3, 9))), (n, width))
    if draw(st.booleans()):
        codes = codes[np.arange(n) // 3]
        codes[np.arange(n), rng.integers(0, width, n)] = rng.integers(0, 50, n)
    scale = rng.choice((1.0, 1.0, 2.0, 7.0, 1000.0), width)
    return LossPoints.of(np.zeros((n, 0)), codes[np.lexsort(codes.T)], scale)


def weights_of(points: LossPoints) -> Any:
    return cuts.weights_of(points.codes.astype(np.int64), points.scale.astype(np.int64))


def least_weight(points: LossPoints, loose: bool) -> int:
    """Of a factor, by matching."""
    edges = edges_of(points, None)
    weights = weights_of(points)
    found = MATCH[loose](len(points), edges, edge_costs(points, edges), Watch())
    return int(sum(weights[edge] for edge in found))


def is_factor(n: int, edges: Any, loose: bool) -> bool:
    ends = np.asarray(edges, np.int64).reshape(-1, 2)
    degrees = np.bincount(ends.ravel(), minlength=n)
    distinct = len({tuple(edge) for edge in ends.tolist()}) == len(ends)
    return distinct and degrees.max() <= 2 and degrees.min() >= (1 if loose else 2)


@pytest.mark.parametrize("loose", [True, False])
@settings(max_examples=thorough(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables())
def test_programs_find_what_matching_finds(loose: bool, points: LossPoints) -> None:
    answer, weights = cuts.solve(weights_of(points), loose), weights_of(points)
    least = least_weight(points, loose)
    if answer.certain:
        one, other, _ = answer.edges.T
        assert answer.target == least == int(weights[one, other].sum())
        assert is_factor(len(points), answer.edges[:, :2], loose)
    else:
        assert answer.target <= least


@pytest.mark.parametrize("loose", [True, False])
@pytest.mark.parametrize("left", [0, 2, 6])
@settings(max_examples=thorough(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables())
def test_few_edges_are_enough_where_programs_give_up(
    loose: bool, left: int, points: LossPoints
) -> None:
    """A program without any cuts, and a bound that may be too low for the edges that are left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "TURNS", 1)
        patch.setattr(cuts, "LEFT", {loose: left})
        answer = cuts.solve(weights_of(points), loose)
    least, weights = least_weight(points, loose), weights_of(points)
    if not answer.certain:
        assert answer.target <= least
        found = among_candidates(points, answer, loose, MATCH[loose], 325, Watch())
        assert is_factor(len(points), found, loose)
        assert sum(weights[edge] for edge in found) == least


@pytest.mark.parametrize("loose", [True, False])
@settings(max_examples=thorough(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables(), seed=st.integers(0, 2**32))
def test_any_prices_bound_all_factors(loose: bool, points: LossPoints, seed: int) -> None:
    """The proof does not depend on what the programs say: prices and cuts are made up here."""
    rng, n = np.random.default_rng(seed), len(points)
    weights = weights_of(points)
    parts, unit = cuts._told_apart(weights)
    assert np.array_equal(parts, parts.T) and (parts // unit == weights).all()
    program = cuts.Program(parts, unit, loose)
    program.solve()
    for _ in range(rng.integers(0, 4)):
        inside = rng.random(n) < 0.5
        ends = np.flatnonzero(inside) if loose else np.zeros(0, np.int64)
        leave = np.flatnonzero(inside[program.one] != inside[program.other])
        count = int(rng.integers(0, (len(leave) + 1) // 2 + 1))
        edges = rng.choice(leave, min(2 * count + 1, len(leave)), replace=False)
        if len(edges) % 2 == 1:
            stubs = ends[: len(ends) // 4 * 2]
            both = np.column_stack([program.one[edges], program.other[edges]])
            program.cuts.append(cuts.CuttingPlane(inside, both, stubs))
    program.cut_prices = rng.integers(0, unit, len(program.cuts))
    program.prices += rng.integers(-unit // 3, unit // 3, n)
    edges = edges_of(points, None)
    costs = parts[edges].tolist()
    found = MATCH[loose](n, edges, costs, Watch())
    assert cuts._bound(program) <= sum(parts[edge] for edge in found)


@pytest.mark.slow
@pytest.mark.parametrize("k", MODULES)
def test_a_method_keeps_its_bounds_by_programs(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(k)
    codes = np.minimum(rng.geometric(0.4, (70, 6)), 5)
    points = LossPoints.of(np.zeros((70, 0)), codes[np.lexsort(codes.T[::-1])], np.ones(6))
    task = task_for(MODULES[k].__name__.rsplit(".", 1)[1], k)
    matched = task.group(points)
    monkeypatch.setattr(MODULES[k], "MATCHED", 0)
    found, again = task.group(points), task.group(points)
    sizes = np.bincount(found.labels)
    assert sizes.min() >= k and sizes.max() <= 2 * k - 1
    assert found.labels.tolist() == again.labels.tolist()
    # bounds follow from the weight of the lightest factor, which is the same
    assert found.facts == matched.facts
    ratio, lower = found.facts["guaranteed_ratio"], found.facts["lower_bound"]
    assert lower <= generalized_cells(points, found.labels) <= ratio * lower * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loose", [True, False])
def test_hundreds_of_records_and_a_stop(loose: bool) -> None:
    rng = np.random.default_rng(9)
    codes = np.column_stack([rng.integers(0, m, 400) for m in (8, 16, 50, 3, 10, 41)])
    points = LossPoints.of(np.zeros((400, 0)), codes[np.lexsort(codes.T[::-1])], np.ones(6))
    found = lightest_factor(points, loose, MATCH[loose], 5_000, Watch())
    assert found == sorted(found) and is_factor(400, found, loose)
    watch = Watch()
    threading.Timer(0.1, watch.stop).start()
    with pytest.raises(StoppedError):
        while True:
            lightest_factor(points, loose, MATCH[loose], 5_000, watch)
