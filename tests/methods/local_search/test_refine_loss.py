"""The search for groupings that lose less information: what holds for every result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search import moves as costs
from kanon_sql.methods.local_search import refine as module
from kanon_sql.methods.local_search.moves_by_information_loss import pack_records
from kanon_sql.methods.local_search.refine import Refined, refine
from kanon_sql.methods.search_steps import steps_through
from kanon_sql.points.losses import total_il
from kanon_sql.points.points import Labels, LossPoints
from tests.methods.local_search.test_refine import Draw, as_sets, often


@dataclass(frozen=True)
class Task:
    """Records, a grouping of them in groups of k or more, and how many steps to make."""

    points: LossPoints
    labels: Labels
    k: int
    steps: int

    def refined(self, labels: Labels | None = None) -> Refined:
        start = self.labels if labels is None else labels
        return refine(self.points, start, self.k, self.steps, None, Watch())


def mixed(rng: Any, n: int, d: int, c: int, codes: int) -> LossPoints:
    """Numbers, some missing; columns of up to that many codes, flat and counted, free ones too."""
    numeric = rng.choice([0.0, 0.25, 0.5, 1.0, 3.0], (n, d)) + rng.choice([0.0, 1e-3], (n, d))
    columns = rng.integers(0, codes, (n, c))
    limit = rng.choice([1, 1, 2, max(1, codes - 1)], c)
    scale = rng.choice([0.0, 0.25, 1.0], c)
    return LossPoints.of(numeric, columns, scale, rng.choice([0.0, 0.5, 1.0], d), limit)


@st.composite
def tasks(draw: Draw, most: int = 40) -> Task:
    """Ties, duplicates, missing values, and domains of up to 200 codes, which fit no word."""
    n, k = draw(st.integers(1, most)), draw(st.integers(1, 5))
    k = min(k, n)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = draw(st.sampled_from([1, 2, 3, 9, 64, 65, 200]))
    points = mixed(rng, n, draw(st.integers(0, 2)), draw(st.integers(0, 5)), codes)
    groups = draw(st.integers(1, n // k))
    labels = rng.permutation(np.append(np.repeat(np.arange(groups), k), rng.integers(
        0, groups, n - groups * k
    )))
    return Task(points, labels, k, draw(st.sampled_from([0, 1, 300, 7000, 30000])))


def loss(points: LossPoints, labels: Labels) -> float:
    return total_il(points, np.unique(labels, return_inverse=True)[1].reshape(-1))


def optimal_loss(points: LossPoints, k: int) -> float:
    """The least Total-IL of any partition of a few records in groups of k to 2k - 1."""
    n = len(points)
    losses = {}
    for members in range(1, 2**n):
        rows = [i for i in range(n) if members >> i & 1]
        if k <= len(rows) < 2 * k:
            losses[members] = total_il(points.part(rows), np.zeros(len(rows), np.int64))
    best = {0: 0.0}
    for covered in range(1, 2**n):
        lowest = covered & -covered
        best[covered] = min(
            (
                best[covered ^ members] + cost
                for members, cost in losses.items()
                if members & lowest and members & covered == members
            ),
            default=np.inf,
        )
    return best[2**n - 1]


@njit(nogil=True)
def _hold(data: Any, labels: Any, room: int, capacity: int) -> Any:
    groups = costs.hold_groups(data, room, capacity)
    for i in range(len(labels)):
        costs.join(data, i, labels[i], groups)
    return groups


@njit(nogil=True)
def _weigh(data: Any, groups: Any, i: int, j: int, out: Any) -> None:
    """What a kernel thinks of record i in its group, and in the group of record j."""
    b = groups.labels[j]
    out[0] = costs.cost(data, b, groups)
    out[1] = costs.relief(data, i, groups)
    out[2] = costs.growth(data, i, b, groups)
    out[3] = costs.exchange(data, i, j, groups, np.inf)
    out[4] = costs.distance(data, i, j)


@njit(nogil=True)
def _change(data: Any, groups: Any, i: int, j: int, swapped: bool) -> None:
    """Record i joins the group of record j, or changes places with it."""
    if swapped:
        costs.swap(data, i, j, groups)
    else:
        b = groups.labels[j]
        costs.leave(data, i, groups)
        costs.join(data, i, b, groups)


@pytest.mark.slow
@often(150)
@given(tasks(), st.data())
def test_costs_are_differences_of_the_loss(task: Task, data: Any) -> None:
    points, n = task.points, len(task.points)
    packed = pack_records(points)
    held = _hold(packed, np.arange(n) % 3 % 2, 2, n)
    for _ in range(data.draw(st.integers(1, 6))):
        i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
        labels = held.labels.copy()
        a, b = int(labels[i]), int(labels[j])
        if a == b or (labels == a).sum() < 2:
            continue
        out = np.zeros(5)
        _weigh(packed, held, i, j, out)
        before = loss(points, labels)
        alone, moved, swapped = labels.copy(), labels.copy(), labels.copy()
        alone[i], moved[i], swapped[i], swapped[j] = 9, b, b, a
        assert out[0] == pytest.approx(loss(points.part(labels == b), labels[labels == b]))
        assert out[1] == pytest.approx(before - loss(points, alone))
        assert out[2] - out[1] == pytest.approx(loss(points, moved) - before)
        assert out[3] == pytest.approx(loss(points, swapped) - before)
        assert 2 * out[4] == pytest.approx(loss(points.part([i, j]), np.zeros(2, np.int64)))
        change = data.draw(st.booleans())
        _change(packed, held, i, j, change)
        assert (held.labels == (swapped if change else moved)).all()


@often(150)
@given(tasks())
def test_result_is_a_partition_in_groups_of_k_that_loses_no_more(task: Task) -> None:
    result = task.refined()
    assert result.labels.shape == task.labels.shape and result.labels.dtype == np.int64
    sizes = np.bincount(result.labels)
    assert sizes.min() >= task.k
    before, after = loss(task.points, task.labels), loss(task.points, result.labels)
    assert after <= before
    if after == before:
        assert (result.labels == task.labels).all()
    else:
        assert sizes.max() < 2 * task.k
    assert not result.stopped and result.steps <= task.steps


@often(60)
@given(tasks(), st.randoms(use_true_random=False))
def test_group_numbers_do_not_matter(task: Task, random: Any) -> None:
    numbers = list(range(int(task.labels.max()) + 1))
    random.shuffle(numbers)
    first, second = task.refined(), task.refined(np.array(numbers)[task.labels])
    assert as_sets(first.labels) == as_sets(second.labels)
    assert first.steps == second.steps


@often(30)
@given(tasks(most=8))
def test_result_is_not_below_the_optimum(task: Task) -> None:
    assert loss(task.points, task.refined().labels) >= optimal_loss(task.points, task.k) - 1e-9


@pytest.mark.parametrize("k", [2, 3])
def test_search_finds_most_optima_of_a_few_records(k: int) -> None:
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = LossPoints.of(rng.random((9, 2)), rng.integers(0, 3, (9, 2)), [1.0, 0.5])
        labels = np.minimum(np.arange(9) // k, 9 // k - 1)
        result = refine(points, labels, k, steps_through(9, 2), None, Watch())
        found += loss(points, result.labels) <= optimal_loss(points, k) + 1e-9
    assert found >= 5


@often(40)
@given(tasks(), st.sampled_from([1, 7, 256, 1000]))
def test_chunks_do_not_matter(task: Task, chunk: int) -> None:
    task = Task(task.points, task.labels, task.k, min(task.steps, 9000))
    whole = task.refined()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        parts = task.refined()
    assert (whole.labels == parts.labels).all() and whole.steps == parts.steps


def correlated(n: int, k: int) -> tuple[LossPoints, Labels]:
    """A number and four columns of codes that go with it, and groups of records at random."""
    rng = np.random.default_rng(1)
    value = np.sort(rng.random(n))
    codes = (value[:, None] * [2, 5, 9, 70] + rng.random((n, 4))).astype(int)
    points = LossPoints.of(value[:, None], codes, [1.0, 1.0, 0.125, 1 / 69], None, [1, 1, 8, 69])
    return points, rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1])
def test_stopped_for_time_equals_as_many_steps(seconds: float) -> None:
    points, labels = correlated(1500, 4)
    stopped = refine(points, labels, 4, 10**9, seconds, Watch())
    assert stopped.stopped
    again = refine(points, labels, 4, stopped.steps, None, Watch())
    assert not again.stopped and (stopped.labels == again.labels).all()


def test_search_gains_much() -> None:
    points, labels = correlated(600, 3)
    losses = [
        loss(points, refine(points, labels, 3, steps_through(600, cycles), None, Watch()).labels)
        for cycles in range(3)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.9 * losses[0] < 0.5 * loss(points, labels)
