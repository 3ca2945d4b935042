"""What stands beside k: how a task carries it, and the codes of sensitive columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kanon_sql.group.enforce import enforce
from kanon_sql.group.run import group_points
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS, Grouping, GroupTask, task_for
from kanon_sql.points.points import ItemPoints, LossPoints, MetricPoints, Points
from kanon_sql.privacy import AlphaFrequency, Closeness, DistinctDiversity, KAnonymity
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import violations
from tests.support.held import MODELS, as_sets, with_sensitive


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
    task = replace(task_for("k_member", 5, weights={"a": 2.0}), beside_k=(KAnonymity(7),
                                                                                 *models))
    assert GroupTask.from_json(task.as_json(), METHODS) == task
    assert task.models == models and task.needs_sensitive
    # in the order in which they are first named, whatever the case of the letters
    assert task.sensitive == ("Pay", "job")


@pytest.mark.parametrize("method", ["r_gather", "r_cellular"])
def test_classes_with_centers_are_merged_whole(method: str) -> None:
    points = MetricPoints.of(np.random.default_rng(1).random((120, 2)))
    points = with_sensitive(replace(points, facility=np.full(120, 0.1)), 1)
    task = task_for(method, 4)
    plain = group_points(points, task)
    kept = group_points(points, replace(task, beside_k=MODELS["distinct"]))
    assert kept.centers is not None and kept.facts["violating 0"] > 0.0
    for rows in as_sets(plain.labels):
        assert len(set(kept.labels[list(rows)].tolist())) == 1
    # the center is a row of the class, the one of the least radius; cost and bound are told of it
    radii, sizes = [], np.bincount(kept.labels)
    for group, center in enumerate(kept.centers.tolist()):
        own = np.flatnonzero(kept.labels == group)
        away = np.sqrt(((points.numeric[own][:, None] - points.numeric[own][None]) ** 2).sum(2))
        radii.append(away.max(axis=1).min())
        assert center in own and away[own.tolist().index(center)].max() == pytest.approx(radii[-1])
    cost = max(radii) if method == "r_gather" else float(np.dot(radii, sizes))
    assert kept.facts["chosen_cost"] == pytest.approx(cost)
    assert kept.facts["lower_bound"] == plain.facts["lower_bound"] <= cost
    assert "guaranteed_ratio" in plain.facts and "guaranteed_ratio" not in kept.facts


def test_the_steps_of_best_are_spent_on_groups_that_keep_the_models() -> None:
    points = with_sensitive(Points.of(np.random.default_rng(2).random((120, 2))), 2)
    losses = {}
    for steps in (0, 20_000):
        task = replace(task_for("best", 4, refine_steps=steps), beside_k=MODELS["distinct"])
        found = group_points(points, task)
        everybody = np.arange(120)
        assert not violations(
            demands_of(points, MODELS["distinct"], everybody), found.labels
        ).any()
        losses[steps] = found.facts["loss_with"]
    assert losses[20_000] < losses[0]
