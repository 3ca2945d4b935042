"""What enforcement never loses more than: the method's own classes with those merged that break a
model, by either of two rules, done once more slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search.merging import cheapest_merge
from kanon_sql.methods.local_search.refine import loss_of
from kanon_sql.points.points import LossPoints, Points
from kanon_sql.privacy.demands import demands_of
from tests.group.test_small_tables import MANY, renamed
from tests.methods.local_search.reference_merging import Classes, loss, merged, violation
from tests.privacy.histograms import KINDS, NUMBERS, THRESHOLDS, T, Table, model_of
from tests.support.thoroughness import examples


def made(kind: str, seed: int) -> tuple[Points, Any]:
    """Some dozens of skewed records, and a model; the sensitive values go with a number. No two
    mergers cost the same, so that rounding chooses none."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 5])
    n = int(rng.integers(30, 70))
    numbers = np.exp(rng.standard_normal((n, 2)))
    codes = np.argsort(np.argsort(numbers[:, 0])) / n * MANY + rng.normal(0.0, rng.random(), n)
    codes = np.minimum(codes.clip(0), MANY - 1).astype(np.int32)
    codes[rng.random(n) < 0.04 * (seed % 3)] = MANY
    make = LossPoints.of if seed % 4 == 3 else Points.of
    table = Table(MANY, tuple(None if c == MANY else NUMBERS[c] for c in codes.tolist()))
    thresholds = THRESHOLDS.get(kind, T)
    model = model_of(kind, thresholds[seed % len(thresholds)], ("worst", "value")[seed % 2])
    points = make(numbers, rng.integers(0, 4, (n, 1)), [0.5])
    return renamed(table.column(kind), codes, points), model


def nearest(points: Points, labels: Any, demands: Any) -> Classes:
    """The classes when each that breaks a model, the smallest first, is merged with the one with
    which it loses least."""
    n, now = len(labels), {
        g: np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)
    }
    while True:
        breaking = [g for g, rows in now.items() if violation(demands, n, rows) > 0.0]
        if not breaking:
            return now
        group = min(breaking, key=lambda g: (len(now[g]), g))
        rows = now.pop(group)
        into = min(now, key=lambda g: (loss(points, now[g] + rows) - loss(points, now[g]), g))
        now[into] = now[into] + rows


def useful(points: Points, labels: Any, demands: Any) -> Classes:
    """The same, by what is paid for each row of violation that goes."""
    def others(now: Classes, group: int) -> list[tuple[int, ...]]:
        return [(g,) for g in now if g != group]

    return merged(points, labels, demands, others, many=64)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_mergers_are_a_floor(kind: str) -> None:
    compared = 0
    for seed in range(examples(9)):
        points, model = made(kind, seed)
        plain = task_for("k_member" if isinstance(points, LossPoints) else "mdav_star", 3)
        own = group_points(points, plain).labels
        demands = demands_of(points, (model,), np.arange(len(own)))
        try:
            kept = group_points(points, task_for(plain.method.name, 3, beside_k=(model,)))
        except DataError:
            continue
        best = min(
            sum(loss(points, rows) for rows in merge(points, own, demands).values())
            for merge in (nearest, useful)
        )
        ours = loss_of(points, cheapest_merge(points, own, demands, Watch()))
        assert ours == pytest.approx(best)
        assert loss_of(points, kept.labels) <= best * (1.0 + 1e-9) + 1e-12
        compared += 1
    assert compared > 0
