"""Enforcement: classes that break a constraint are merged, for any method and any constraint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.constraints import CONSTRAINTS, Constraint, KAnonymity
from kanon_sql.errors import DataError
from kanon_sql.group.enforce import enforce
from kanon_sql.group.run import group_points
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import METHODS, Grouping, GroupTask, task_for
from kanon_sql.points.points import ItemPoints, Labels, LossPoints, MetricPoints, Points


@dataclass(frozen=True)
class Distinct(Constraint):
    """At least so many distinct codes of the first sensitive column: a toy of the tests."""

    name: ClassVar[str] = "distinct"
    values: int

    @property
    def least_size(self) -> int:
        return self.values

    @property
    def needs_sensitive(self) -> bool:
        return True

    def broken(self, points: Points, labels: Labels) -> Any:
        kept = labels >= 0
        pairs = {*zip(labels[kept].tolist(), points.sensitive[kept, 0].tolist(), strict=True)}
        groups = int(labels.max()) + 1
        return np.bincount([group for group, _ in pairs], minlength=groups) < self.values


def records(n: int, seed: int, values: int = 3) -> Points:
    rng = np.random.default_rng(seed)
    return Points.of(
        rng.standard_normal((n, 2)), rng.integers(0, 3, (n, 1)), [0.5],
        sensitive=rng.integers(0, values, (n, 1)),
    )


@given(st.integers(8, 60), st.integers(0, 10**6), st.integers(1, 3))
def test_classes_are_unions_of_what_they_were_and_keep_the_constraint(
    n: int, seed: int, values: int
) -> None:
    points = records(n, seed)
    rng = np.random.default_rng(seed)
    before = np.unique(rng.integers(-1, 9, n), return_inverse=True)[1] - 1
    constraint = Distinct(values)
    whole = np.where(before < 0, -1, 0)
    if (before < 0).all() or constraint.broken(points, whole).any():
        return
    grouping = Grouping(before, {"lower_bound": 1.0, "guaranteed_ratio": 2.0})
    after = enforce(points, grouping, [constraint], Watch())
    assert not constraint.broken(points, after.labels).any()
    assert ((after.labels < 0) == (before < 0)).all()
    for group in range(before.max() + 1):
        assert len(set(after.labels[before == group].tolist())) == 1
    assert sorted(set(after.labels[after.labels >= 0])) == list(range(after.labels.max() + 1))
    merged = after.labels.max() < before.max()
    assert ("guaranteed_ratio" in after.facts) is not merged


def test_the_nearest_class_takes_in_the_one_that_breaks_it() -> None:
    points = Points.of([[0.0], [0.1], [5.0], [5.1], [6.0]], sensitive=[[0], [1], [0], [1], [0]])
    grouping = Grouping(np.array([0, 0, 1, 1, 2]), {})
    after = enforce(points, grouping, [Distinct(2)], Watch())
    assert after.labels.tolist() == [0, 0, 1, 1, 1]


def test_what_all_rows_together_break_is_refused() -> None:
    points = records(12, 0, values=1)
    with pytest.raises(DataError, match="All rows together break distinct"):
        enforce(points, Grouping(np.arange(12) // 4, {}), [Distinct(2)], Watch())


def test_without_a_constraint_nothing_happens_and_a_stop_is_heard() -> None:
    points, watch = records(12, 0), Watch()
    grouping = Grouping(np.arange(12) // 4, {})
    watch.stop()
    assert enforce(points, grouping, (), watch) is grouping
    with pytest.raises(StoppedError):
        enforce(points, grouping, [Distinct(2)], watch)


@pytest.mark.parametrize("method", ["mdav_star", "mdav_plus", "v_mdav"])
def test_a_run_keeps_what_stands_beside_k(method: str) -> None:
    points = records(200, 4, values=5)
    task = replace(task_for(method, 4), beside_k=(Distinct(3),))
    found = group_points(points, task)
    assert all(not c.broken(points, found.labels).any() for c in task.constraints)
    assert task.least_size == 4 and task.needs_sensitive
    plain = group_points(points, task_for(method, 4))
    assert Distinct(3).broken(points, plain.labels).any()


def test_centers_stay_with_their_classes() -> None:
    rng = np.random.default_rng(1)
    points = MetricPoints.of(rng.standard_normal((90, 2)), sensitive=rng.integers(0, 4, (90, 1)))
    found = group_points(points, replace(task_for("r_gather", 3), beside_k=(Distinct(4),)))
    assert found.centers is not None and len(found.centers) == found.labels.max() + 1
    assert (found.labels[found.centers] == np.arange(len(found.centers))).all()
    assert "guaranteed_ratio" not in found.facts


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
    labels = np.array([0, 0, 0, 1, 1, -1])
    assert KAnonymity(3).broken(records(6, 0), labels).tolist() == [False, True]


def test_a_task_with_constraints_goes_through_json_and_back() -> None:
    task = replace(task_for("k_member", 5, weights={"a": 2.0}), beside_k=(KAnonymity(7),))
    assert GroupTask.of_told(task.told(), METHODS) == task
    assert list(CONSTRAINTS) == ["k_anonymity"]
