"""What all classes keep together, of any number of classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group import whole
from kanon_sql.group.run import group_points
from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import task_for
from kanon_sql.points.points import Grouping, LossPoints, Points
from kanon_sql.privacy import AverageRisk


def records(n: int, by_loss: bool = False) -> Any:
    rng = np.random.default_rng(n)
    plain: Any = LossPoints if by_loss else Points
    return plain.of(rng.random((n, 2)), rng.integers(0, 4, (n, 1)).astype(np.int32), [0.3])


def asked(method: str, bound: float, k: int = 2, **more: Any) -> Any:
    return replace(task_for(method, k, **more), beside_k=(AverageRisk(bound),))


def classes(labels: Any) -> dict[int, frozenset[int]]:
    return {int(g): frozenset(np.flatnonzero(labels == g)) for g in np.unique(labels) if g >= 0}


@pytest.mark.parametrize("method", ["mdav_star", "k_member", "mondrian", "r_gather"])
def test_classes_become_few_enough_and_only_by_mergers(method: str) -> None:
    points = records(300, method in ("k_member", "mondrian"))
    if method == "r_gather":
        points = task_for(method, 2).geometry.trial(task_for(method, 2).method.trial)
    n = len(points)
    free = group_points(points, task_for(method, 2))
    kept = group_points(points, asked(method, 0.1))
    now, before = classes(kept.labels), classes(free.labels)
    assert sorted(now) == list(range(len(now)))
    assert len(now) <= n // 10 and (len(now) == n // 10 or len(now) == len(before))
    assert all(any(own <= joined for joined in now.values()) for own in before.values())
    if kept.centers is not None:
        assert kept.labels[kept.centers].tolist() == list(range(len(now)))
        # how near they come to what is possible isn't promised any more
        assert "guaranteed_ratio" in free.facts and "guaranteed_ratio" not in kept.facts
        assert kept.facts["lower_bound"] == free.facts["lower_bound"]


def test_few_classes_stay_what_they_are() -> None:
    points = records(100)
    free, kept = (group_points(points, task) for task in (
        task_for("mdav_star", 5), asked("mdav_star", 0.2, 5)
    ))
    assert free.labels.tolist() == kept.labels.tolist() and free.facts == kept.facts


def test_of_several_demands_the_one_of_fewest_classes_counts() -> None:
    points, task = records(100), asked("mdav_star", 0.1)
    for bounds, most in (((0.1, 0.2), 10), ((0.2, 0.1), 10), ((0.2, 0.25), 20)):
        several = replace(task, beside_k=tuple(map(AverageRisk, bounds)))
        assert whole.most_classes(points, several, np.arange(100)) == most


def test_who_waits_is_told_how_many_mergers_there_are() -> None:
    points, labels = records(100), np.arange(100) // 4
    grouping, watch = Grouping(labels, {"guaranteed_ratio": 2.0}), Watch()
    assert whole.keep_whole(points, grouping, asked("mdav_star", 0.25), watch) is grouping
    assert watch.stage == ""
    found = whole.keep_whole(points, grouping, asked("mdav_star", 0.24), watch)
    assert (watch.stage, watch.total) == ("merging", 1)
    assert len(classes(found.labels)) == 24 and found.facts == {}


@pytest.mark.parametrize("by_loss", [False, True])
def test_many_classes_are_merged_in_blocks_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, by_loss: bool
) -> None:
    monkeypatch.setattr(whole, "TOGETHER", 40)
    points, found = records(1500, by_loss), []
    task = asked("k_member" if by_loss else "mdav_star", 0.07)
    before = classes(group_points(points, replace(task, beside_k=())).labels)
    for threads in (1, 3):
        with on_threads(threads):
            found.append(group_points(points, task).labels)
    assert found[0].tolist() == found[1].tolist()
    now = classes(found[0])
    assert len(before) > 10 * 40 and len(now) == 1500 * 7 // 100
    assert all(any(own <= joined for joined in now.values()) for own in before.values())


def with_strangers(n: int, strangers: int) -> Any:
    """Records of which the last are far from all others, and from each other."""
    numbers = np.random.default_rng(n).random((n, 2))
    numbers[n - strangers:] += 1000.0 * (np.arange(strangers)[:, None] - strangers / 2)
    return Points.of(numbers, np.zeros((n, 0), np.int32), [])


def test_rows_that_are_left_out_count_for_nothing() -> None:
    kept = group_points(with_strangers(202, 3), asked("mdav_star", 0.1, suppress=0.2))
    left = int((kept.labels >= 0).sum())
    assert left < 202 and len(classes(kept.labels)) == left // 10


def test_what_is_left_may_be_too_few() -> None:
    points, task = with_strangers(20, 3), asked("mdav_star", 0.05, suppress=0.2)
    group_points(points, replace(task, suppress=0.0))
    for persons, what in ((False, "rows"), (True, "persons")):
        with pytest.raises(DataError, match=rf"all \d+ {what} has a mean risk of 1 / "):
            group_points(points, replace(task, persons=persons))


def test_quotas_are_shares_of_the_records() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        sizes = rng.integers(1, 50, rng.integers(1, 9))
        most = int(rng.integers(len(sizes), sizes.sum() + len(sizes)))
        quotas = whole._quotas(sizes, most)
        assert sum(quotas) == most
        assert all(
            abs(quota - size * most / sizes.sum()) < 1
            for quota, size in zip(quotas, sizes.tolist(), strict=True)
        )
