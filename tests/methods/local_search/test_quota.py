"""Groups with a record of each slice of the sensitive values, against the algorithm read slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.local_search.quota import quota_groups
from kanon_sql.points.points import Points
from tests.support.gaps import gap
from tests.support.held import as_sets
from tests.support.thoroughness import examples


def slices(ranks: Any, k: int) -> list[list[int]]:
    """The records by their sensitive values, cut into k runs of nearly the same size."""
    n, order = len(ranks), sorted(range(len(ranks)), key=lambda i: (ranks[i], i))
    return [order[n * s // k : n * (s + 1) // k] for s in range(k)]


def reference(points: Points, ranks: Any, k: int, order: list[int]) -> list[int]:
    """The groups around records in that order; then each record that is left joins the group of the
    record nearest to it."""
    n, made = len(points), 0
    labels, left = [-1] * n, slices(ranks, k)
    for i in order:
        if labels[i] >= 0 or made == n // k:
            continue
        for s in range(k):
            taken = i if i in left[s] else min(left[s], key=lambda j: (gap(points, i, j), j))
            left[s].remove(taken)
            labels[taken] = made
        made += 1
    for i in range(n):
        if labels[i] < 0:
            near = min(
                (j for j in range(n) if labels[j] >= 0), key=lambda j: (gap(points, i, j), j)
            )
            labels[i] = labels[near]
    return labels


def far_first(points: Points) -> list[int]:
    """The records by their distance to the mean of all, the furthest first."""
    away = ((points.numeric - points.numeric.mean(axis=0)) ** 2).sum(axis=1)
    for a, scale in enumerate(points.scale.tolist()):
        share = np.bincount(points.codes[:, a]) / len(points)
        away = away - 2.0 * scale * share[points.codes[:, a]]
    return [int(i) for i in np.argsort(-away, kind="stable")]


@settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(k=st.integers(1, 6), more=st.integers(0, 40), seed=st.integers(0, 10**6))
def test_a_record_of_each_slice(k: int, more: int, seed: int) -> None:
    rng, n = np.random.default_rng(seed), k + more
    points = Points.of(rng.random((n, 2)), rng.integers(0, 3, (n, 1)), [0.1])
    ranks = rng.integers(0, rng.integers(1, 9), n)
    labels = quota_groups(points, ranks, k, Watch())
    assert as_sets(labels) == as_sets(reference(points, ranks, k, far_first(points)))
    # numbered by their first records, and of every slice each group has one
    assert [int(g) for g in dict.fromkeys(labels.tolist())] == list(range(n // k))
    for some in slices(ranks, k):
        assert set(labels[some].tolist()) == set(range(n // k))


def test_a_stop_is_heard() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        quota_groups(Points.of(np.arange(9.0)[:, None]), np.arange(9), 3, watch)
