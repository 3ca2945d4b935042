"""What several threads judge ahead of its turn changes nothing: groups are those of one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.kernel.parallel import Helpers, on_threads
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.local_search import judging
from kanon_sql.methods.local_search import refine as module
from kanon_sql.methods.local_search.annealing import anneal
from kanon_sql.methods.local_search.refine import Ground, Refined, Refining, cycles_of, refine
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, Points
from tests.methods.local_search import test_refine, test_refine_loss
from tests.methods.local_search.test_refine import continuous, often
from tests.support.records import loss_points_of, points_of


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Has all batches be of that many steps, on other threads too, however few the records."""

    def patch(size: int) -> None:
        monkeypatch.setattr(judging, "FEW", 0)
        monkeypatch.setattr(judging, "HELPERS", 9)
        monkeypatch.setattr(judging, "PART", 1)
        monkeypatch.setattr(judging, "LEAST", size)
        monkeypatch.setattr(judging, "MOST", size)

    yield patch


def start(n: int, k: int) -> Labels:
    return np.minimum(np.arange(n) // k, n // k - 1)


def refined(points: Points, k: int, steps: int, threads: int) -> Refined:
    with on_threads(threads):
        return refine(points, start(len(points), k), k, steps, None, Watch())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "steps"), ((1, 3_000), (37, 30_000), (256, 30_000), (3_000, 60_000))
)
@pytest.mark.parametrize("make", (points_of, loss_points_of))
def test_groups_are_those_of_one_thread(
    make: Callable[..., Points], size: int, steps: int, batches: Callable[[int], None]
) -> None:
    """Numbers, ties and categories, with batches of any size."""
    cases = [
        (make(kind, n), k)
        for kind in ("normal", "grid", "mixed", "six_texts")
        for n, k in ((1_200, 2), (403, 5))
    ]
    expected = [refined(points, k, steps, 1) for points, k in cases]
    batches(size)
    for (points, k), one in zip(cases, expected, strict=True):
        for threads in (2, 3, 8) if size == 256 else (2,):
            found = refined(points, k, steps, threads)
            assert np.array_equal(found.labels, one.labels) and found.steps == one.steps


@pytest.mark.slow
@pytest.mark.parametrize("make", (points_of, loss_points_of))
def test_most_judgements_hold_and_some_do_not(
    make: Callable[..., Points], batches: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both happen, and the groups are the same."""
    points, held, vain, actual = make("normal", 20_000), 0, 0, anneal

    def noted(search: Any, cycle: Any, first: int, last: int, judged: Any, beat: Any) -> None:
        nonlocal held, vain
        actual(search, cycle, first, last, judged, beat)
        found = judged.proposals[: judged.steps]
        found = found[found[:, 0] >= 0, :2]
        changed = (search.changes.last[found] >= judged.since).any(axis=1)
        held, vain = held + int((~changed).sum()), vain + int(changed.sum())

    expected = refined(points, 5, 500_000, 1)
    batches(512)
    monkeypatch.setattr(judging, "anneal", noted)
    found = refined(points, 5, 500_000, 3)
    assert np.array_equal(found.labels, expected.labels)
    assert vain > 1_000 and held > 250_000


class Liars(Helpers):
    """Judge before the steps of the batch before are made, or after; and then write anything of
    all groups that were changed meanwhile, as threads may that read them at that moment."""

    def __init__(self, late: bool, lies: bool) -> None:
        super().__init__(1)
        self.late, self.lies, self.told = late, lies, 0
        self.random = np.random.default_rng(5)

    def __enter__(self) -> Liars:
        return self

    def start(self, work: Callable[[int], None]) -> None:
        self.work: Any = work
        if not self.late:
            work(1)

    def finish(self) -> None:
        if self.late:
            self.work(1)
        search, _, judged = self.work.args
        if not self.lies:
            return
        found = judged.proposals[: judged.steps]
        changed = (search.changes.last[found[:, :2]] >= judged.since).any(axis=1)
        changed &= found[:, 0] >= 0
        lies = self.random.integers(-1, len(search.groups.labels), (int(changed.sum()), 2))
        found[changed, 2:] = lies
        self.told += int(changed.sum())


@pytest.mark.sample(3)
@pytest.mark.parametrize("late", (False, True))
@pytest.mark.parametrize("lies", (False, True))
@pytest.mark.parametrize("make", (points_of, loss_points_of))
def test_nothing_is_believed_of_groups_that_were_changed(
    make: Callable[..., Points], lies: bool, late: bool, batches: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whenever the helper reads them, and whatever it then says."""
    points, steps, watch = make("mixed", 3_000), 120_000, Watch()
    expected = refined(points, 4, steps, 1)
    batches(600)
    # what this thread would judge is left to the helper, which may be late
    actual, helpers = judging._judge, Liars(late, lies)
    monkeypatch.setattr(judging, "_judge", lambda *_: None)
    monkeypatch.setattr(judging, "_judge_as", lambda search, cycle, judged, _: actual(
        search, cycle, judged
    ))
    given_labels = number_by_first(start(len(points), 4))
    lane = Refining(Ground(points, 4, watch), given_labels, cycles_of(len(points)), watch, helpers)
    while lane.step < steps:
        lane.forward(steps)
    lane.finish()
    assert np.array_equal(lane.labels, expected.labels)
    assert helpers.told > 1_000 or not lies


@pytest.mark.slow
@often(60)
@given(test_refine.tasks(), st.sampled_from([1, 5, 256]))
def test_few_records_are_searched_alike_by_squared_errors(task: Any, size: int) -> None:
    """Ties, duplicates, groups that are split: as one thread does it."""
    alike_on_threads(task, size)


@pytest.mark.slow
@often(60)
@given(test_refine_loss.tasks(), st.sampled_from([1, 5, 256]))
def test_few_records_are_searched_alike_by_loss(task: Any, size: int) -> None:
    """The same, with codes that fit no word."""
    alike_on_threads(task, size)


def alike_on_threads(task: Any, size: int) -> None:
    with on_threads(1):
        expected = task.refined()
    with pytest.MonkeyPatch.context() as patch, on_threads(2):
        for where, name, value in (
            (judging, "FEW", 0), (judging, "PART", 1), (judging, "LEAST", size),
            (judging, "MOST", size),
        ):
            patch.setattr(where, name, value)
        found = task.refined()
    assert np.array_equal(found.labels, expected.labels) and found.steps == expected.steps


@pytest.mark.parametrize("chunk", (7, 256, 1_000))
def test_chunks_do_not_matter(
    chunk: int, batches: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches go on from one chunk to the next."""
    points, labels = continuous(900, 3, 4)
    with on_threads(1):
        expected = refine(points, labels, 4, 40_000, None, Watch())
    batches(300)
    monkeypatch.setattr(module, "CHUNK", chunk)
    with on_threads(2):
        found = refine(points, labels, 4, 40_000, None, Watch())
    assert np.array_equal(found.labels, expected.labels)


def test_stopped_for_time_equals_as_many_steps(batches: Callable[[int], None]) -> None:
    """What was judged for later steps is left."""
    points, labels = continuous(2_000, 3, 4)
    batches(2_048)
    with on_threads(2):
        stopped = refine(points, labels, 4, 10**9, 0.2, Watch())
    assert stopped.stopped
    with on_threads(1):
        again = refine(points, labels, 4, stopped.steps, None, Watch())
    assert np.array_equal(stopped.labels, again.labels)


def test_a_stop_ends_it_on_all_threads(
    batches: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is raised here, and nobody works on."""
    points, watch, actual, turns = points_of("normal", 5_000), Watch(), anneal, 0

    def stopping(*arguments: Any) -> None:
        nonlocal turns
        turns += 1
        actual(*arguments)
        if turns == 5:
            watch.stop()

    batches(512)
    monkeypatch.setattr(judging, "anneal", stopping)
    with on_threads(2), pytest.raises(StoppedError):
        refine(points, start(5_000, 5), 5, 400_000, None, watch)
    assert turns == 5 and 0 < watch.done <= 5 * 512
