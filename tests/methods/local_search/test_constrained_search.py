"""The search that is held to models: what it keeps of its groups is right after any steps, and no
thread and no order changes what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search import judging
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
        points, demanded(points, name), K, points.sensitive[:, 0].astype(np.int64), seed, Watch()
    )
    return keep_models(search, np.arange(n) // K, steps, None, slices)


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
