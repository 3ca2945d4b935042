"""The search that is held to models: what it keeps of its groups is right after any steps, and no
thread and no order changes what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search import constrained_search, judging
from kanon_sql.methods.local_search.constrained_search import (
    ConstrainedSearch,
    Models,
    keep_models,
    kept_codes,
)
from kanon_sql.methods.local_search.penalty import HARD
from kanon_sql.methods.local_search.refine import Ground
from kanon_sql.points.points import LossPoints, Points
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import violations
from tests.support.held import MODELS, with_sensitive

N, K = 400, 5


def records(by_loss: bool, n: int = N, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    numbers, codes = rng.random((n, 2)), rng.integers(0, 4, (n, 1)).astype(np.int32)
    plain: Any = LossPoints if by_loss else Points
    return with_sensitive(plain.of(numbers, codes, [0.3]), seed)


def demanded(points: Any, name: str) -> Any:
    return demands_of(points, MODELS[name], np.arange(len(points)))


@contextmanager
def judged_ahead() -> Iterator[None]:
    """Steps are judged ahead however few the records are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judging, "FEW", 0)
        yield


def check_held(held: Any, demands: Any) -> None:
    """What is kept of each group is what its records say."""
    work = held._work
    labels, penalty = work.groups.labels, work.penalty
    groups = len(penalty.held)
    expected = np.zeros(groups)
    used, inner = np.unique(labels, return_inverse=True)
    expected[used] = violations(demands, inner.reshape(-1))
    assert penalty.held.tolist() == expected.tolist()
    counts = kept_codes(demands, labels, groups)
    assert np.array_equal(penalty.kept[used], counts[used])
    sizes = np.bincount(labels, minlength=groups)
    assert np.array_equal(work.groups.sizes, sizes)
    assert sizes[used].min() >= K and sizes.max() <= penalty.most


@pytest.mark.sample(1)
@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_held_of_groups_is_their_violation(name: str, by_loss: bool) -> None:
    points = records(by_loss)
    demands = demanded(points, name)
    labels = np.arange(N) // K
    held = ConstrainedSearch(Ground(points, K, Watch()), labels, demands, 7, Watch())
    check_held(held, demands)
    for price, steps in ((0.0, 3), (0.01, 997), (1.0, 2000), (HARD, 2000)):
        before = held._work.penalty.held.sum()
        held.cycle(price, steps)
        check_held(held, demands)
        if price == HARD:  # nothing that is paid for may grow
            assert held._work.penalty.held.sum() <= before


def found(
    name: str, by_loss: bool, seed: int, steps: int = 4000, slices: bool = True, n: int = N
) -> Any:
    points = records(by_loss, n)
    search = Models(
        points, demanded(points, name), K, points.sensitive[:, 0].astype(np.int64), seed, Watch(),
        slices,
    )
    return keep_models(search, np.arange(n) // K, steps, None)


@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", ["distinct", "two"])
def test_the_groups_are_those_of_one_thread(name: str, by_loss: bool) -> None:
    with judged_ahead():
        results = []
        for threads in (1, 2, 3):
            with on_threads(threads):
                results.append(found(name, by_loss, 3).labels.tolist())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("name", ["distinct", "two"])
def test_the_seed_decides(name: str) -> None:
    one, again, other = (found(name, False, seed).labels for seed in (3, 3, 4))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.sample(10)
@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [0, 3000])
def test_models_are_kept_and_more_steps_lose_no_more(
    name: str, by_loss: bool, steps: int
) -> None:
    from kanon_sql.methods.local_search.refine import loss_of

    points = records(by_loss)
    result = found(name, by_loss, 5, steps)
    assert not (violations(demanded(points, name), result.labels) > 0.0).any()
    assert np.bincount(result.labels).min() >= K
    if steps:
        assert loss_of(points, result.labels) <= loss_of(
            points, found(name, by_loss, 5, 0).labels
        ) * (1.0 + 1e-12)


@pytest.mark.parametrize("by_loss", [False, True])
def test_the_ground_of_most_records_has_their_nearest_neighbours(by_loss: bool) -> None:
    """Of those that a record had before, those that are still there, in their order."""
    points = records(by_loss, 300)
    points = points.part(np.append(np.arange(300), np.arange(60)))  # some are there twice
    ground = Ground(points, K, Watch())
    part = np.sort(np.random.default_rng(1).permutation(len(points))[:250])
    own, whole = ground.of_part(part).sites, ground.sites
    rows = np.hstack([points.numeric, points.codes])[part]
    firsts = own.order[own.start[:-1]]
    assert np.array_equal(rows[firsts][own.site_of], rows)
    assert len(np.unique(rows, axis=0)) == len(firsts)
    assert np.array_equal(np.sort(own.order), np.arange(250))
    places = np.repeat(np.arange(len(firsts)), np.diff(own.start))
    assert np.array_equal(own.site_of[own.order], places)
    number = {site: place for place, site in enumerate(np.unique(whole.site_of[part]).tolist())}
    for site, place in number.items():
        left = [number[each] for each in whole.near[site].tolist() if each in number]
        near = own.near[place].tolist()
        assert near[: len(left)] == left
        assert set(near[len(left):]) <= set(left or [place - 1 if place else 1])
    few = part[:100]  # fewer than half: their neighbours are found anew
    fresh = Ground(points.part(few), K, Watch()).sites
    assert np.array_equal(ground.of_part(few).sites.near, fresh.near)


@pytest.mark.parametrize("steps", [0, 12_000, 30_000])
def test_where_most_classes_would_be_merged_it_begins_by_slices(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a value follows from where a record lies, neighbours all have the same one. Too few
    steps would leave slices as they are, and slices lose much."""
    monkeypatch.setattr(constrained_search, "FAR", 0)
    from kanon_sql.methods.local_search.refine import loss_of

    points = with_sensitive(records(False, 1200), 0, missing=False)
    codes = points.sensitive.copy()
    codes[np.argsort(points.numeric[:, 0], kind="stable"), 0] = np.sort(codes[:, 0])
    points = replace(points, sensitive=codes)
    demands = demanded(points, "equal")
    given = (points, demands, K, codes[:, 0].astype(np.int64), 1, Watch())
    labels = np.arange(1200) // K
    by_slices, merged = (
        keep_models(Models(*given, slices), labels, steps, None) for slices in (True, False)
    )
    for result in (by_slices, merged):
        assert not (violations(demands, result.labels) > 0.0).any()
    losses = [loss_of(points, result.labels) for result in (by_slices, merged)]
    assert losses[0] < losses[1] * (0.99 if steps else 1.1)
