"""What stands beside k: how a task carries it, and the codes of sensitive columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kanon_sql.constraints import AlphaFrequency, Closeness, DistinctDiversity, KAnonymity
from kanon_sql.group.enforce import enforce
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS, Grouping, GroupTask, task_for
from kanon_sql.points.points import ItemPoints, LossPoints, MetricPoints, Points


def records(n: int, seed: int, values: int = 3) -> Points:
    rng = np.random.default_rng(seed)
    return Points.of(
        rng.standard_normal((n, 2)), rng.integers(0, 3, (n, 1)), [0.5],
        sensitive=rng.integers(0, values, (n, 1)),
    )


def test_without_a_model_nothing_happens() -> None:
    points, watch, task = records(12, 0), Watch(), task_for("mdav", 4)
    grouping = Grouping(np.arange(12) // 4, {})
    watch.stop()
    assert enforce(points, grouping, (), task, watch) is grouping


def test_every_kind_of_points_carries_sensitive_codes() -> None:
    codes = np.arange(6)[:, None] % 2
    made = (
        Points.of(np.zeros((6, 1)), sensitive=codes),
        LossPoints.of(np.zeros((6, 1)), sensitive=codes),
        MetricPoints.of(np.zeros((6, 1)), sensitive=codes),
        ItemPoints.of([2, 4], sensitive=codes),
    )
    for points in made:
        assert points.sensitive.tolist() == codes.tolist()
        assert points.part(np.array([1, 4])).sensitive.tolist() == [[1], [0]]


def test_k_is_a_constraint_that_a_task_always_has() -> None:
    task = task_for("mdav", 5)
    assert task.constraints == (KAnonymity(5),) and task.least_size == 5


def test_a_task_with_constraints_goes_through_json_and_back() -> None:
    models = (
        DistinctDiversity(column="Pay", l=3), Closeness(column="job", t=0.2, nulls="value"),
        AlphaFrequency(column="pay", by_value=(("HIV", 0.1),)),
    )
    task = replace(task_for("k_member", 5, weights={"a": 2.0}), beside_k=(KAnonymity(7), *models))
    assert GroupTask.of_told(task.told(), METHODS) == task
    assert task.models == models and task.needs_sensitive
    # in the order in which they are first named, whatever the case of the letters
    assert task.sensitive == ("Pay", "job")
