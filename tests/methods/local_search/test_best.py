"""The method best: never above what it starts from, the same however it is run, and its parts."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.group.run import group_points
from kanon_sql.kernel import child
from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search import highs, long_search
from kanon_sql.methods.local_search.best import is_line, starts_of
from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.methods.local_search.highs import CoverProblem, Solver, solved
from kanon_sql.methods.local_search.partitioning import Region
from kanon_sql.methods.local_search.refine import _small, data_of, loss_of
from kanon_sql.methods.local_search.regions import cut_regions
from kanon_sql.methods.local_search.variations import PricedClasses, class_costs, class_rows, vary
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, LossPoints, Points
from kanon_sql.search.nearest_lists import nearest_lists
from tests.methods.local_search.test_refine import Draw, continuous, often
from tests.methods.microaggregation import reference
from tests.methods.microaggregation.reference import Records


@st.composite
def tables(draw: Draw, most: int = 40) -> Points:
    """Heavy tails, ties, copies, categories, one column and none, in either geometry."""
    n, d, c = draw(st.integers(1, most)), draw(st.integers(0, 3)), draw(st.integers(0, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "tails", "ties", "copies"]))
    numeric = rng.normal(size=(n, d))
    if kind == "tails":
        numeric = np.exp(3.0 * numeric)
    if kind == "ties":
        numeric = rng.integers(0, 3, (n, d)).astype(float)
    if kind == "copies":
        numeric = numeric[rng.integers(0, max(1, n // 3), n)]
    codes = rng.integers(0, draw(st.integers(1, 4)), (n, c)).astype(np.int32)
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1], np.zeros(n)])
    numeric, codes, scale = numeric[order], codes[order], rng.choice([0.5, 3.0], c)
    if draw(st.booleans()):
        spread = np.ptp(numeric, axis=0)
        low = numeric.min(axis=0, initial=np.inf)
        return LossPoints.of((numeric - low) / np.where(spread > 0.0, spread, 1.0), codes, scale)
    return Points.of(numeric, codes, scale)


def distance_of(points: Points) -> str:
    return "loss" if isinstance(points, LossPoints) else "sse"


def lost(points: Points, labels: Labels) -> float:
    return loss_of(points, number_by_first(labels))


def best_of(points: Points, k: int, **options: Any) -> Any:
    return group_points(points, task_for("best", k, distance=distance_of(points), **options))


def never_above(points: Points, k: int, steps: int | None) -> None:
    """Neither with nor without refine, each given the steps that best is given."""
    found = best_of(points, k, refine_steps=steps).labels
    assert np.bincount(found).min() >= k
    # without a step the groups are those of a start; later those of 2k or more stay only where it
    # would gain nothing to split them, as groups of equal records
    small = _small(data_of(points), found, k)
    assert np.bincount(small).max() < 2 * k
    assert steps == 0 or lost(points, small) >= lost(points, found)
    for start, _ in starts_of(points):
        for refine in ("none", "local"):
            task = task_for(start.__name__, k, refine=refine, refine_steps=steps)
            other = group_points(points, task).labels
            assert lost(points, found) <= lost(points, other), start.__name__


@often(60)
@given(tables(), st.integers(1, 5), st.sampled_from([0, 1, 300, 7000]))
def test_it_is_never_above_any_start_refined_or_not(points: Points, k: int, steps: int) -> None:
    never_above(points, min(k, len(points)), steps)


@pytest.mark.slow
@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize(("n", "k"), [(20, 2), (34, 3)])
def test_by_default_it_is_never_above_either(n: int, k: int, by_loss: bool) -> None:
    """With heavy tails, and with all that follows the starts."""
    rng = np.random.default_rng(n)
    numeric = np.exp(2.0 * rng.normal(size=(n, 4)))
    numeric = numeric[np.lexsort(numeric.T[::-1])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_search, "LONG", 200_000)
        patch.setattr(long_search, "LONG_BY_LOSS", 200_000)
        never_above(LossPoints.of(numeric / numeric.max(axis=0)) if by_loss else Points.of(numeric),
                    k, None)


def test_what_it_starts_from() -> None:
    line, plane = Points.of(np.arange(9.0)[:, None]), continuous(9, 2, 3)[0]
    assert is_line(line) and not is_line(plane)
    names = [start.__name__ for start, _ in starts_of(line)]
    assert names == ["optimal_1d", "mdav_plus", "mdav_star", "mdav", "v_mdav"]
    assert [start.__name__ for start, _ in starts_of(plane)] == names[1:]
    by_loss = LossPoints.of(plane.numeric)
    assert [s.__name__ for s, _ in starts_of(by_loss)] == ["k_member", "nearest", "mondrian"]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the search does, in a moment."""
    for name, value in {
        "LONG": 30_000, "LONG_BY_LOSS": 30_000, "REFINE_STEPS": 1, "LOSS_STEPS": 1, "REGION": 200,
    }.items():
        monkeypatch.setattr(long_search, name, value)


def table(by_loss: bool, n: int = 140) -> Points:
    points, _ = continuous(n, 3, 3, 5)
    if not by_loss:
        return points
    low = points.numeric.min(axis=0)
    codes = np.arange(n)[:, None] % 3
    return LossPoints.of((points.numeric - low) / np.ptp(points.numeric, axis=0), codes, [1.0])


@pytest.mark.slow
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("by_loss", [True, False])
def test_threads_do_not_matter(by_loss: bool) -> None:
    points, found = table(by_loss), []
    for threads in (1, 3):
        with on_threads(threads):
            found.append(best_of(points, 3))
    assert (found[0].labels == found[1].labels).all() and found[0].facts == found[1].facts


@pytest.mark.slow
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("by_loss", [False, True])
def test_stopped_for_time_equals_as_many_steps(
    by_loss: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock says stop when it is read for that many times, in the midst of any stage."""
    points, steps = table(by_loss), set()
    for reads in (0, 1, 3, 6, 9, 40, 10**9):
        ticks = itertools.count()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_search, "TURN", 1)
            patch.setattr(long_search, "perf_counter", lambda t=ticks, r=reads: next(t) > r)
            found = best_of(points, 3, refine_seconds=0.5)
        made = int(found.facts["refine_steps"])
        assert bool(found.facts["refine_stopped"]) == (reads < 10**9)
        again = best_of(points, 3, refine_steps=made)
        assert (found.labels == again.labels).all()
        assert again.facts["refine_steps"] == made and not again.facts["refine_stopped"]
        steps.add(made)
    assert len(steps) > 3


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_each_stage_finds_what_the_one_before_did_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_search, "LONG", 300_000)
    points = table(False, 400)
    n, k = len(points), 3
    ends = [long_search.polish(points, k)]
    ends.append(ends[0] + long_search.long_cycle(points, k))
    ends.append(long_search.all_steps(points, k))
    assert ends[2] == ends[1] + long_search.turns(n, k) * n
    losses = [lost(points, best_of(points, k, refine_steps=steps).labels) for steps in ends]
    assert losses[0] > losses[1] > losses[2]
    watch = Watch()
    group_points(points, task_for("best", k), watch)
    assert watch.done == watch.total == long_search.visits(points, k, 4, ends[2])


@often(30)
@given(tables(30), st.integers(2, 4), st.integers(1, 8), st.floats(-1.0, 3.0))
def test_variations_are_all_that_are_cheap(
    points: Points, k: int, count: int, limit: float
) -> None:
    n = len(points)
    if n < k:
        return
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    rows, rng = class_rows(labels, k), np.random.default_rng(n)
    prices = rng.normal(size=n)
    near = nearest_lists(embedded(points), count)
    room = PricedClasses(np.empty((9000, 2 * k - 1), np.int32), np.empty(9000))
    reduced = np.empty(9000)
    made = vary(data_of(points), near, prices, rows, k, limit, room, reduced)
    # what a class costs is a difference of sums over the table, and is as exact as these are
    error = 1e-9 + 1e-14 * float((points.numeric**2).sum())
    found = {frozenset(row[row >= 0].tolist()): p for p, row in enumerate(room.rows[:made])}
    wanted = set()
    for group in (frozenset(row[row >= 0].tolist()) for row in rows):
        close = {int(j) for i in group for j in near[i]} - group
        for out, into in itertools.product([(), *((i,) for i in group)],
                                           [(), *((j,) for j in close)]):
            one = group.difference(out).union(into)
            if not k <= len(one) < 2 * k:
                continue
            members = np.array(sorted(one))
            paid = loss_of(points.part(members), np.zeros(len(one), np.int64))
            worth = paid - prices[members].sum()
            if abs(worth - limit) > 1e-6:
                assert (one in found) == (worth < limit)
                wanted.add(one)
            if one in found:
                p = found[one]
                assert room.costs[p] == pytest.approx(paid, rel=1e-9, abs=error)
                assert reduced[p] == pytest.approx(worth, rel=1e-9, abs=error)
                assert room.rows[p].tolist()[: len(one)] == members.tolist()
                assert (room.rows[p][len(one) :] == -1).all()
    assert {one for one in found if one not in wanted} <= {
        one for one, p in found.items() if abs(reduced[p] - limit) <= 1e-6
    }
    costs = class_costs(data_of(points), rows, k)
    assert costs.sum() == pytest.approx(loss_of(points, labels), rel=1e-9, abs=error)


@often(40)
@given(tables(60), st.integers(1, 4), st.integers(4, 20), st.integers(0, 3))
def test_regions_hold_each_class_once(points: Points, k: int, size: int, turn: int) -> None:
    n = len(points)
    labels = np.random.default_rng(n).permutation(np.arange(n) // k % max(1, n // k))
    cut = cut_regions(points, labels, size, turn)
    assert np.sort(np.concatenate(cut)).tolist() == list(range(n))
    for members in cut:
        assert (np.diff(members) > 0).all()
        assert not set(labels[members]) & set(np.delete(labels, members))
    again = cut_regions(points, labels, size, turn)
    assert [each.tolist() for each in again] == [each.tolist() for each in cut]


@pytest.mark.slow
def test_a_region_of_few_records_is_parted_at_its_best() -> None:
    found = 0
    for seed, k in itertools.product(range(8), (2, 3)):
        points, labels = continuous(9, 2, k, seed)
        solver = Solver()
        none = np.zeros((0, 2 * k - 1), np.int32)
        better = Region(points, number_by_first(labels), k, none, solver).parted(lambda: None)
        solver.close()
        records = Records(points.numeric.tolist(), [[]] * 9, [])
        optimum = reference.optimal_squared_error(records, k)
        reached = loss_of(points, labels if better is None else better)
        assert reached >= optimum * (1.0 - 1e-9)
        found += reached <= optimum * (1.0 + 1e-9)
    assert found == 16


def test_classes_that_the_linear_program_takes_whole_stay_as_they_are() -> None:
    """Three pairs far from all others are best; six records of a line are in the wrong pairs."""
    line = np.array([0.0, 1.0, 10.0, 11.0, 20.0, 21.0])
    values = np.append(line, [1e3, 1e3 + 1, 2e3, 2e3 + 1, 3e3, 3e3 + 1])
    wrong = np.array([0, 1, 1, 2, 2, 0, 3, 3, 4, 4, 5, 5])
    solver = Solver()
    region = Region(Points.of(values[:, None]), wrong, 2, np.zeros((0, 3), np.int32), solver)
    better = region.parted(lambda: None)
    solver.close()
    assert region.free == 6
    assert better is not None and better.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def cover(nodes: int) -> CoverProblem:
    """Five records in a ring: neighbours cost 1, one alone costs 1.2."""
    rows = [[i, (i + 1) % 5] for i in range(5)] + [[i] for i in range(5)]
    starts = np.cumsum([0, *map(len, rows)])
    return CoverProblem(5, nodes, np.array([1.0] * 5 + [1.2] * 5), starts, np.concatenate(rows))


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Solver]:
    """One that begins its process at once."""
    monkeypatch.setattr(highs, "FEW", 0)
    made = Solver()
    yield made
    made.close()


@pytest.mark.slow
def test_the_process_gives_what_this_one_would(solver: Solver) -> None:
    for _ in range(2):
        given = solver.solve(cover(0), lambda: None)
        assert given[:5] == pytest.approx([0.5] * 5)
        assert given[5:] @ cover(0).costs == pytest.approx(2.5)
        assert (given == solved(cover(0))).all()
        taken = solver.solve(cover(9), lambda: None)
        assert (taken == solved(cover(9))).all() and taken @ cover(9).costs == pytest.approx(3.2)
    impossible = CoverProblem(2, 9, np.ones(1), np.array([0, 1]), np.array([0]))
    assert len(solver.solve(impossible, lambda: None)) == 0 == len(solved(impossible))


@pytest.mark.slow
def test_a_stop_ends_the_process(solver: Solver) -> None:
    rng = np.random.default_rng(0)
    rows = [rng.choice(600, 5, replace=False) for _ in range(60_000)]
    large = CoverProblem(600, 10**6, rng.random(60_000), np.arange(0, 300_001, 5),
                         np.concatenate(rows))
    watch = Watch()
    threading.Timer(1.0, watch.stop).start()
    with pytest.raises(StoppedError):
        solver.solve(large, watch.check)
    process = solver._process
    solver.close()
    assert process is not None and process.poll() is not None


@pytest.mark.parametrize("start", ["raise SystemExit", "import sys; sys.stdin.buffer.read(9)"])
def test_a_process_that_ends_too_soon_is_done_without(
    solver: Solver, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setattr(child, "RUN", start)
    for _ in range(2):
        assert solver.solve(cover(0), lambda: None)[:5] == pytest.approx([0.5] * 5)
    solver.close()


def test_what_the_library_prints_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS writes to the standard output now and then, whatever it is told."""
    loud = """
import os
import scipy.optimize
quiet = scipy.optimize.linprog
def linprog(*given, **named):
    os.write(1, b"said by the library")
    return quiet(*given, **named)
scipy.optimize.linprog = linprog
"""
    monkeypatch.setattr(highs, "FEW", 0)
    monkeypatch.setattr(child, "RUN", loud + child.RUN)
    classes = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    cover = CoverProblem(4, 0, np.array([1.0, 2.0, 1.0, 2.0]), 2 * np.arange(5), classes.ravel())
    solver = Solver()
    try:
        given = solver.solve(cover, lambda: None)
    finally:
        solver.close()
    assert given[:4].sum() == pytest.approx(2.0)
