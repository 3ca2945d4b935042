"""Lightest factors by linear programs, against those by matching, and what proves them."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.cell_generalization import factor_program, factors_by_cuts
from kanon_sql.methods.cell_generalization.factor_graph import FactorGraph
from kanon_sql.methods.cell_generalization.factor_program import (
    FAR,
    CuttingPlane,
    FactorProgram,
    priced,
)
from kanon_sql.methods.cell_generalization.factors_by_cuts import Factor, lightest
from kanon_sql.methods.cell_generalization.lightest_factor import FEW, lightest_factor
from kanon_sql.points.points import LossPoints
from tests.methods.cell_generalization.reference_factors import (
    one_or_two_factor,
    two_factor,
    weights,
)
from tests.support.thoroughness import examples as thorough

MATCH: dict[bool, Any] = {True: one_or_two_factor, False: two_factor}


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


def found_in(points: LossPoints, loose: bool) -> Factor:
    return lightest(points.codes.astype(np.int64), points.scale.astype(np.int64), loose)


def checked(points: LossPoints, loose: bool, factor: Factor) -> None:
    """That it is a factor, weighs what it says, and that no factor weighs less than the bound."""
    n, costs = len(points), weights(points)
    edges = [tuple(edge) for edge in factor.edges.tolist()]
    degrees = np.bincount(factor.edges.ravel(), minlength=n)
    assert edges == sorted(set(edges)) and all(one < other for one, other in edges)
    assert degrees.max() <= 2 and degrees.min() >= (1 if loose else 2)
    assert factor.weight == sum(costs[edge] for edge in edges)
    least = sum(costs[edge] for edge in MATCH[loose](n, costs))
    assert factor.bound <= least <= factor.weight


@pytest.mark.parametrize("loose", [True, False])
@settings(max_examples=thorough(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables())
def test_programs_find_what_matching_finds(loose: bool, points: LossPoints) -> None:
    factor = found_in(points, loose)
    checked(points, loose, factor)
    assert factor.weight == factor.bound


@pytest.mark.parametrize("loose", [True, False])
@pytest.mark.parametrize(
    "name, value", [("TURNS", 1), ("TURNS", 3), ("NODES", 0), ("BROKEN", 2.0)]
)
@settings(max_examples=thorough(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables())
def test_less_work_gives_a_factor_and_a_bound(
    loose: bool, name: str, value: float, points: LossPoints
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factors_by_cuts, name, value)
        checked(points, loose, found_in(points, loose))


@pytest.mark.parametrize("loose", [True, False])
@pytest.mark.parametrize("solved", [0, 1, 2])
def test_a_program_that_fails_costs_the_proof_only(
    loose: bool, solved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(solved)
    codes = rng.integers(0, 3, (25, 4))
    points, real, calls = LossPoints.of(np.zeros((25, 0)), codes, np.ones(4)), [], []

    def failing(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return real[0](*arguments, **options) if len(calls) <= solved else SimpleNamespace(status=4)

    real.append(factor_program.linprog)
    monkeypatch.setattr(factor_program, "linprog", failing)
    checked(points, loose, found_in(points, loose))
    monkeypatch.setattr(factors_by_cuts, "milp", lambda *_, **__: SimpleNamespace(x=None))
    calls.clear()
    checked(points, loose, found_in(points, loose))


@pytest.mark.parametrize("loose", [True, False])
@settings(max_examples=thorough(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(points=tables(), seed=st.integers(0, 2**32))
def test_any_prices_bound_all_factors(loose: bool, points: LossPoints, seed: int) -> None:
    """The proof does not depend on what the programs say: prices and cuts are made up here. And
    what an edge is above its price is added up one by one."""
    rng, n = np.random.default_rng(seed), len(points)
    graph = FactorGraph(points.codes.astype(np.int64), points.scale.astype(np.int64))
    one, other = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
    keys = graph.keys(one, other)
    parts = dict(zip(zip(one.tolist(), other.tolist(), strict=True), graph.parts(keys).tolist(),
                     strict=True))
    assert {edge: part // graph.unit for edge, part in parts.items()} == weights(points)
    program = FactorProgram(graph, loose)
    assert program.solve()
    for _ in range(rng.integers(0, 4)):
        inside = np.flatnonzero(rng.random(n) < 0.5)
        ends = inside if loose else np.zeros(0, np.int64)
        leave = keys[np.isin(one, inside) != np.isin(other, inside)]
        count = int(rng.integers(0, (len(leave) + 1) // 2 + 1))
        edges = np.sort(rng.choice(leave, min(2 * count + 1, len(leave)), replace=False))
        if len(edges) % 2 == 1:
            program.cuts.append(CuttingPlane(inside, edges, ends[: len(ends) // 4 * 2]))
    program.paid = rng.integers(0, graph.unit, len(program.cuts))
    program.prices += rng.integers(-graph.unit // 3, graph.unit // 3, n)
    bound, near, gaps = priced(program, FAR)
    found = MATCH[loose](n, parts)
    assert bound <= sum(parts[edge] for edge in found)
    expected = {}
    for (a, b), part in parts.items():
        above = part - int(program.prices[a]) - int(program.prices[b])
        for cut, paid in zip(program.cuts, program.paid.tolist(), strict=True):
            if (a in cut.inside) != (b in cut.inside):
                above += paid if a * n + b in cut.edges else -paid
        expected[a * n + b] = above
    assert {key: expected[key] for key in near.tolist()} == dict(
        zip(near.tolist(), gaps.tolist(), strict=True)
    )
    for vertex in range(n):
        at = sorted(gap for key, gap in expected.items() if vertex in (key // n, key % n))
        shown = {gap for key, gap in zip(near.tolist(), gaps.tolist(), strict=True)
                 if vertex in (key // n, key % n)}
        assert set(at[: factor_program.NEAR]) <= shown
    limit = int(np.median(gaps))
    again, fewer, _ = priced(program, limit)
    assert set(fewer.tolist()) == {key for key in near.tolist() if expected[key] <= limit}
    assert again == bound or limit < 0


def test_the_heaviest_edges_of_most_records_are_added_up_whole() -> None:
    """2**24 units for each edge of 10,000 records."""
    n = 10_000
    graph = FactorGraph(np.arange(n)[:, None], np.array([2**24]))
    program = FactorProgram.__new__(FactorProgram)
    program.graph, program.loose, program.cuts = graph, False, []
    program.prices, program.paid = np.full(n, graph.unit * 2**23), np.zeros(0, np.int64)
    bound, _, gaps = priced(program, 0)
    assert bound == n * 2**24 * graph.unit and (gaps == 0).all()
    program.prices += graph.unit
    bound, _, gaps = priced(program, FAR)
    marks = gaps + 2 * graph.unit
    assert marks.min() >= 0 and marks.max() < 2**10
    pairs = n * (n - 1) // 2
    assert 0 <= bound - (2 * n * (2**23 + 1) - 2 * pairs) * graph.unit < pairs * 2**10


@pytest.mark.slow
@pytest.mark.parametrize("loose", [True, False])
def test_hundreds_of_records_and_a_stop(loose: bool) -> None:
    rng = np.random.default_rng(9)
    codes = np.column_stack([rng.integers(0, m, 300) for m in (8, 16, 50, 3, 10, 41)])
    points = LossPoints.of(np.zeros((300, 0)), codes[np.lexsort(codes.T[::-1])], np.ones(6))
    found = lightest_factor(points, loose, Watch())
    assert found.weight == found.bound
    again = lightest_factor(points, loose, Watch())
    assert found.edges.tolist() == again.edges.tolist()
    watch = Watch()
    threading.Timer(0.1, watch.stop).start()
    with pytest.raises(StoppedError):
        while True:
            lightest_factor(points, loose, watch)


@pytest.mark.parametrize("loose", [True, False])
def test_a_process_of_its_own_gives_the_same(loose: bool) -> None:
    rng = np.random.default_rng(3)
    n = FEW + 1
    points = LossPoints.of(np.zeros((n, 0)), rng.integers(0, 4, (n, 6)), np.ones(6))
    here, there = found_in(points, loose), lightest_factor(points, loose, Watch())
    assert here.edges.tolist() == there.edges.tolist()
    assert (here.weight, here.bound) == (there.weight, there.bound)
