"""How many records the classes have by which a search for privacy models begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.group import enforce as enforcement
from kanon_sql.group.enforce import FROM_LEAST, least_class, size_to_begin_by
from kanon_sql.group.run import group_points
from kanon_sql.methods import task_for
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import Closeness, DistinctDiversity

MANY = FROM_LEAST + 5_000


def skewed(n: int, values: int, ordered: bool = False) -> Points:
    """Records on a plane, with values of which the first are the most frequent."""
    rng = np.random.default_rng(n)
    codes = np.floor(values * rng.random(n) * rng.random(n)).astype(np.int32)[:, None]
    names = tuple(f"{value:02}" for value in range(values))
    column = SensitiveColumn("ill", names, ordered=ordered)
    return replace(
        Points.of(rng.standard_normal((n, 2)), sensitive=codes), sensitive_columns=(column,)
    )


def closeness(t: float, distance: Any = "equal") -> Closeness:
    return Closeness(column="ill", t=t, distance=distance)


def begun(points: Points, model: Any, k: int = 3) -> int:
    return size_to_begin_by(points, (model,), k, np.arange(len(points)))


def test_where_hardly_any_of_the_least_passes_they_are_twice_as_large() -> None:
    points = skewed(MANY, 20)
    least = least_class(points, (closeness(0.3),), np.arange(MANY))[0]
    assert least > 3
    assert begun(points, closeness(0.3)) == 2 * least
    diverse = DistinctDiversity(column="ill", l=2)
    assert size_to_begin_by(points, (diverse, closeness(0.3)), 3, np.arange(MANY)) == 2 * least
    # twice what is asked for, where that is more
    assert begun(points, closeness(0.3), least + 1) == 2 * (least + 1)


@pytest.mark.parametrize(
    ("model", "k"),
    [
        (closeness(0.7), 5),  # most classes pass
        (DistinctDiversity(column="ill", l=8), 8),  # hardly any passes, but any values do
        (closeness(0.02, "ordered"), 3),  # a value stands for its neighbours
    ],
)
def test_others_begin_by_the_least(model: Any, k: int) -> None:
    points = skewed(MANY, 20, ordered=True)
    least = max(k, *least_class(points, (model,), np.arange(MANY)))
    assert begun(points, model, k) == least


def test_small_tables_begin_by_the_least() -> None:
    model = closeness(0.3)
    for n, times in ((FROM_LEAST, 1), (FROM_LEAST + 1, 2)):
        points = skewed(n, 20)
        assert begun(points, model) == times * least_class(points, (model,), np.arange(n))[0]


def test_there_is_room_for_four_of_them() -> None:
    points, model = skewed(MANY, 20), closeness(0.001)
    assert begun(points, model, MANY // 8) == MANY // 8 * 2
    assert begun(points, model, MANY // 8 + 1) == MANY // 8 + 1


def test_rows_that_are_left_out_count_for_nothing() -> None:
    """Those that are released have two values, in turn; the others as many of each of 20."""
    points = skewed(2 * MANY, 20)
    codes = points.sensitive.copy()
    codes[:MANY, 0], codes[MANY:, 0] = np.arange(MANY) % 2, np.arange(MANY) % 20
    points, model = replace(points, sensitive=codes), closeness(0.4)
    assert size_to_begin_by(points, (model,), 3, np.arange(MANY)) == 3
    assert begun(points, model) > 3


@pytest.mark.slow
def test_it_loses_less(monkeypatch: pytest.MonkeyPatch) -> None:
    points, model = skewed(300_000, 20), closeness(0.3)
    losses = []
    for full in (FROM_LEAST, 10**9):
        monkeypatch.setattr(enforcement, "FROM_LEAST", full)
        kept = group_points(points, task_for("mdav_plus", 5, beside_k=(model,)))
        sizes = np.bincount(kept.labels)
        counts = np.zeros((len(sizes), 20))
        np.add.at(counts, (kept.labels, points.sensitive[:, 0]), 1.0)
        apart = np.abs(counts / sizes[:, None] - counts.sum(axis=0) / len(points)).sum(axis=1) / 2
        assert sizes.min() >= 5
        assert apart.max() <= 0.3 + 1e-12
        losses.append(sse(points, kept.labels))
    assert losses[0] < 0.98 * losses[1]
