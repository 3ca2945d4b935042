"""Groups of blocks as those of one table, and which of them lie at a cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group import blocks
from kanon_sql.group.block_cuts import BlockCuts, Seam, cut_blocks
from kanon_sql.group.blocks import group_in_blocks
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import GroupTask, task_for
from kanon_sql.points.points import Grouping, MetricPoints, Points


def seams(points: Points, seam: Seam, labels: Sequence[int]) -> list[int]:
    """The records of groups at one cut."""
    cuts = BlockCuts(points, 2, [], [seam])
    return [int(row) for row in blocks._at_seams(points, cuts, np.array(labels))]


def test_a_group_is_at_a_cut_that_is_nearer_than_its_radius() -> None:
    """Its root mean squared distance from the mean: 1 and 2 here, and 0 of the last."""
    points = Points.of(np.array([[0.0], [2.0], [5.0], [9.0], [30.0], [30.0]]))
    labels, rows = [0, 0, 1, 1, 2, 2], np.arange(6)
    for value, near in ((3.0, [0, 1, 2, 3]), (2.9, [0, 1]), (3.1, [2, 3]), (-1.0, [0, 1]),
                        (11.0, [2, 3]), (11.1, []), (30.0, [4, 5]), (29.9, []), (1.0, [0, 1])):
        assert seams(points, Seam(rows, 0, value), labels) == near, value
    # only the records that were cut there count
    assert seams(points, Seam(np.array([0, 2, 3, 4]), 0, 2.5), labels) == []


def test_the_radius_is_of_all_numbers() -> None:
    """3 in one column and 4 in the other: 5 in all."""
    points = Points.of(np.array([[0.0, 0.0], [6.0, 8.0]]))
    for column, value, near in ((0, 11.0, [0, 1]), (0, 11.1, []), (1, 13.0, [0, 1]), (1, 13.1, [])):
        assert seams(points, Seam(np.arange(2), column, value), [0, 0]) == near


def test_a_group_is_at_a_cut_between_categories_if_it_has_several() -> None:
    """Unless most of them have."""
    points = Points.of(np.zeros((8, 1)), np.array([0, 0, 0, 1, 1, 1, 1, 1])[:, None], [0.5])
    seam = Seam(np.arange(8), 1, 0.0)
    assert seams(points, seam, [0, 0, 1, 1, 2, 2, 3, 3]) == [2, 3]
    assert seams(points, seam, [0, 1, 1, 1, 0, 2, 2, 2]) == []
    assert seams(points, seam, [0, 0, 1, 1, 1, 1, 2, 2]) == [2, 3, 4, 5]
    assert seams(points, seam, [0, 0, 1, 1, 1, 1, 1, 2]) == []
    assert seams(points, Seam(np.arange(3), 1, 0.0), [0, 0, 1, 1, 2, 2, 3, 3]) == []


def test_among_equal_records_a_group_is_at_a_cut_if_it_has_others_too() -> None:
    points = Points.of(np.array([[0.0], [0.0], [0.0], [0.0], [7.0], [8.0]]))
    seam = Seam(np.arange(4), -1, 0.0)
    assert seams(points, seam, [0, 0, 1, 1, 1, 2]) == [2, 3, 4]
    assert seams(points, seam, [0, 0, 0, 0, 1, 1]) == []
    # one of them is enough
    assert seams(points, seam, [0, 0, 0, 1, 1, 1]) == [3, 4, 5]


Given = dict[str, Any]


def grouped(
    monkeypatch: pytest.MonkeyPatch, points: Points, task: GroupTask, facts: Sequence[Given],
    left_out: int = 0,
) -> tuple[Grouping, list[Any]]:
    """A grouping in blocks, each of pairs of neighbours; and the members of the blocks."""
    told = iter(facts)

    def group(_: GroupTask, part: Points, watch: Watch) -> Grouping:
        labels = np.arange(len(part)) // 2
        labels[:left_out] = -1
        labels[labels >= 0] -= labels[labels >= 0].min()
        centers = np.flatnonzero(np.diff(labels, prepend=-1))
        return Grouping(labels, next(told), centers if task.geometry.has_centers else None)

    monkeypatch.setattr(GroupTask, "group", group)
    monkeypatch.setattr(GroupTask, "block_size", lambda _: 10)
    monkeypatch.setattr(blocks, "in_parallel", lambda works: [work() for work in works])
    monkeypatch.setattr(blocks, "MENDING", 0)
    return group_in_blocks(points, task, Watch()), cut_blocks(points, 10, task.k).members


def test_groups_of_blocks_are_numbered_on_and_facts_told_where_all_agree(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    points = Points.of(np.random.default_rng(1).random((30, 2)))
    told = [{"gamma": 0.5, "tried": 1.0, "lower_bound": 2.0},
            {"gamma": 0.5, "tried": 2.0, "lower_bound": 2.0},
            {"gamma": 0.5, "lower_bound": 2.0, "late": 1.0}]
    found, members = grouped(monkeypatch, points, task_for("mdav", 2), told)
    assert found.facts == {"gamma": 0.5, "lower_bound": 2.0, "blocks": 3.0}
    assert sorted(np.bincount(found.labels).tolist()) == [2] * 15
    for rows in members:
        pairs = found.labels[rows].reshape(-1, 2)
        assert (pairs[:, 0] == pairs[:, 1]).all()


def test_a_table_of_one_block_is_grouped_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    points = Points.of(np.random.default_rng(1).random((10, 2)))
    found, _ = grouped(monkeypatch, points, task_for("mdav", 2), [{"tried": 1.0}])
    assert found.facts == {"tried": 1.0, "blocks": 1.0}
    # what needs all rows has them
    points = MetricPoints.of(np.random.default_rng(1).random((10, 2)))
    task = task_for("r_gather", 2, max_clusters=3)
    found, _ = grouped(monkeypatch, points, task, [{"tried": 1.0}])
    assert found.facts == {"tried": 1.0, "blocks": 1.0}
    points = Points.of(np.random.default_rng(1).random((30, 1)))
    found, _ = grouped(monkeypatch, points, task_for("optimal_1d", 2), [{"tried": 1.0}])
    assert found.facts == {"tried": 1.0, "blocks": 1.0}


def test_centers_are_rows_of_the_table_and_nothing_is_guaranteed_of_all_blocks(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    points = MetricPoints.of(np.random.default_rng(1).random((20, 2)))
    told = [{"lower_bound": 9.0, "guaranteed_ratio": 2.0, "facility": 3.0, "same": 1.0},
            {"lower_bound": 9.0, "guaranteed_ratio": 2.0, "facility": 4.0, "same": 1.0}]
    task = task_for("r_gather", 2)
    found, members = grouped(monkeypatch, points, task, told, left_out=2)
    expected = {"same": 1.0, "blocks": 2.0, "facility": 7.0}
    bound = task.geometry.lower_bound(points, task)
    assert found.facts == expected | ({} if bound is None else {"lower_bound": bound})
    assert found.centers is not None
    assert found.labels[found.centers].tolist() == list(range(8))
    assert all((found.labels[rows[:2]] == -1).all() for rows in members)
    assert int((found.labels < 0).sum()) == 4
    plain, _ = grouped(monkeypatch, points, task, [{"same": 1.0}, {"same": 2.0}])
    assert plain.facts == {"blocks": 2.0} | ({} if bound is None else {"lower_bound": bound})


def test_a_stopped_watch_ends_it_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    points = Points.of(np.random.default_rng(1).random((30, 2)))
    monkeypatch.setattr(GroupTask, "block_size", lambda _: 10)
    monkeypatch.setattr(GroupTask, "group", lambda *_: 1 / 0)
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        group_in_blocks(points, task_for("mdav", 2), watch)


def test_a_number_of_classes_is_asked_of_all_rows_as_one() -> None:
    points = Points.of(np.random.default_rng(1).random((3000, 2)))
    task = task_for("r_gather", 2, max_clusters=5, block_rows=100)
    with pytest.raises(DataError, match="max_clusters needs all rows as one, and there are 3000"):
        group_in_blocks(points, task, Watch())
