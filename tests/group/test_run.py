"""One grouping from beginning to end: what each step does to classes, and what is told of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask, task_for
from kanon_sql.methods.search_steps import LOSS_STEPS, REFINE_STEPS, default_steps
from kanon_sql.points.losses import information_loss, sse, sst, total_il
from kanon_sql.points.points import LossPoints, MetricPoints, Points
from kanon_sql.privacy import Closeness, DistinctDiversity
from tests.support.held import COLUMNS, MODELS, as_sets, classes, with_sensitive


def records(n: int, seed: int, method: str = "mdav_star") -> Any:
    """Of a kind that the method takes."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n, 2))
    geometry = task_for(method, 2).geometry
    if geometry.has_centers:
        return MetricPoints.of(numbers, facility=np.full(n, 0.3))
    if method == "full_domain":
        coarse = rng.integers(0, 6, (n, 1))
        return LossPoints.of(np.zeros((n, 0)), np.column_stack([coarse, coarse // 3]), [0.5, 0.5],
                             first=[0, 0])
    if geometry.by_loss:
        return LossPoints.of(numbers / np.ptp(numbers, axis=0), rng.integers(0, 3, (n, 1)))
    return Points.of(numbers, rng.integers(0, 3, (n, 1)), [0.5])


def loss(points: Any, labels: Any) -> float:
    """As it is told."""
    kept = np.flatnonzero(labels >= 0)
    part, own = points.part(kept), labels[kept]
    if isinstance(points, LossPoints):
        return total_il(part, own)
    return information_loss(sse(part, own), sst(part))


def check_classes(labels: Any, k: int) -> None:
    """Numbered from 0, and none too small."""
    sizes = np.bincount(labels[labels >= 0])
    assert sizes.min() >= k


@pytest.mark.parametrize("method", ["mdav_star", "k_member"])
@pytest.mark.parametrize("share", [0.0, 0.004, 0.05, 0.3])
def test_strangers_are_left_out_where_that_is_allowed(share: float, method: str) -> None:
    points = records(200, 1, method)
    points.numeric[:7] += 100.0 * np.arange(1, 8)[:, None]
    plain = group_points(points, task_for(method, 4))
    found = group_points(points, task_for(method, 4, suppress=share))
    out = int(share * 200)
    assert 0 <= int((found.labels < 0).sum()) <= out
    check_classes(found.labels, 4)
    if out == 0:
        assert found.labels.tolist() == plain.labels.tolist() and found.facts == plain.facts
    else:
        assert (found.labels[:7] < 0).any()
        left = np.flatnonzero(found.labels >= 0)
        lost = total_il if method == "k_member" else sse
        assert lost(points.part(left), found.labels[left]) < lost(points, plain.labels)


def test_who_waits_is_told_how_many_rows_may_be_left_out() -> None:
    points, watch = records(200, 1), Watch()
    group_points(points, task_for("mdav_star", 4, suppress=0.05), watch)
    assert (watch.stage, watch.total) == ("suppressing", 10)


def told(points: Any, task: GroupTask) -> tuple[Any, Any]:
    """The grouping with the models of a task, and the one without."""
    return group_points(points, task), group_points(points, replace(task, beside_k=()))


@pytest.mark.parametrize("suppress", [0.0, 0.1])
@pytest.mark.parametrize("method", ["mdav_star", "k_member", "mondrian"])
@pytest.mark.parametrize("name", ["distinct", "equal", "two"])
def test_classes_keep_the_models_and_it_is_told_what_that_costs(
    name: str, method: str, suppress: float
) -> None:
    points = with_sensitive(records(150, 3, method), 3)
    models = MODELS[name]
    task = task_for(method, 4, beside_k=models, suppress=suppress)
    kept, free = told(points, task)
    check_classes(kept.labels, 4)
    assert (kept.labels < 0).sum() <= 15 * (suppress > 0)
    assert kept.facts["loss_with"] == pytest.approx(loss(points, kept.labels))
    assert kept.facts["loss_without"] == pytest.approx(loss(points, free.labels))
    assert kept.facts["loss_with"] >= kept.facts["loss_without"] - 1e-12 or method == "mondrian"
    for j, model in enumerate(models):
        if isinstance(model, DistinctDiversity):
            spot = [column.name for column in COLUMNS].index(model.column)

            def poor(labels: Any, spot: int = spot, model: Any = model) -> int:
                values = [set(points.sensitive[rows, spot].tolist()) - {COLUMNS[spot].values}
                          for rows in classes(labels)]
                return sum(len(each) < model.l for each in values)

            assert poor(kept.labels) == 0
            if suppress == 0.0:
                assert kept.facts[f"violating {j}"] == poor(free.labels) > 0
                assert kept.facts[f"least_size {j}"] >= model.l


def test_methods_without_a_loss_tell_none() -> None:
    points = with_sensitive(records(100, 4, "r_gather"), 4)
    kept = group_points(points, task_for("r_gather", 4, beside_k=MODELS["distinct"]))
    assert not {"loss_with", "loss_without"} & set(kept.facts)


def test_a_method_that_keeps_models_by_itself_tells_what_that_costs() -> None:
    points = with_sensitive(records(30, 4, "full_domain"), 4)
    kept, free = told(points, task_for("full_domain", 2, beside_k=MODELS["distinct"]))
    assert kept.facts["loss_with"] == pytest.approx(loss(points, kept.labels))
    assert kept.facts["loss_without"] == pytest.approx(loss(points, free.labels))
    assert kept.facts["violating 0"] > 0.0
    assert kept.facts["loss_with"] > kept.facts["loss_without"]


def test_where_no_small_class_keeps_the_models_it_begins_with_larger_ones() -> None:
    """Ten of 100 have the rare value, of which every class needs nearly as many as all rows."""
    rng = np.random.default_rng(5)
    codes = np.zeros((100, 2), np.int32)
    codes[rng.permutation(100)[:10], 0] = 1
    points = replace(records(100, 5), sensitive=codes, sensitive_columns=COLUMNS)
    model = Closeness(column="ill", t=0.02, distance="equal")
    kept, free = told(points, task_for("mdav_star", 3, beside_k=(model,)))
    assert kept.facts["least_size 0"] > 6
    assert 0 < kept.facts["violating 0"] <= 100 // kept.facts["least_size 0"]
    assert len(classes(free.labels)) > 25
    shares = [float((points.sensitive[rows, 0] == 1).mean()) for rows in classes(kept.labels)]
    assert np.abs(np.array(shares) - 0.1).max() <= 0.02 + 1e-12
    assert len(shares) > 2  # not one class of all
    tight = Closeness(column="ill", t=0.0, distance="equal")
    alike, _ = told(points, task_for("mdav_star", 3, beside_k=(tight,)))
    assert {len(rows) % 10 for rows in classes(alike.labels)} == {0}


def test_what_is_left_may_break_a_model() -> None:
    rng = np.random.default_rng(6)
    numbers = rng.random((40, 2))
    numbers[-3:] += 1000.0 * np.arange(1, 4)[:, None]
    codes = np.zeros((40, 2), np.int32)
    codes[-3:, 0] = 1  # whoever has the other value is far from all
    points = replace(Points.of(numbers), sensitive=codes, sensitive_columns=COLUMNS)
    model = DistinctDiversity(column="ill", l=2)
    group_points(points, task_for("mdav_star", 3, beside_k=(model,)))
    with pytest.raises(DataError, match="ill"):
        group_points(points, task_for("mdav_star", 3, beside_k=(model,), suppress=0.1))


@pytest.mark.parametrize("method", ["r_gather", "cellular"])
def test_classes_around_centers_are_divided_and_keep_their_radius(method: str) -> None:
    points = records(240, 7, method)
    points = replace(points, facility=np.full(240, 60.0))
    options: dict[str, Any] = {"max_clusters": 6} if method == "r_gather" else {}
    plain = group_points(points, task_for(method, 5, **options))
    task = task_for(method, 5, refine="local", refine_steps=20_000, **options)
    better = group_points(points, task)
    before, after = as_sets(plain.labels), as_sets(better.labels)
    assert plain.centers is not None and better.centers is not None
    assert all(sum(own <= whole for whole in before) == 1 for own in after)
    assert len(after) > len(before)
    assert {whole for whole in before if len(whole) < 10} <= after
    assert sse(points, better.labels) <= sse(points, plain.labels)
    check_classes(better.labels, 5)
    assert len(better.centers) == len(after)
    for group, rows in enumerate(classes(better.labels)):
        (whole,) = {int(plain.labels[row]) for row in rows}
        if method == "r_gather":  # the best row of the class
            assert better.centers[group] in rows
        else:  # a part has the center of the class that it is of
            assert better.centers[group] == plain.centers[whole]
    assert better.facts["chosen_cost"] <= plain.facts["chosen_cost"] + 1e-9
    large = sum(len(whole) for whole in before if len(whole) >= 10)
    steps = sum(20_000 * len(whole) // 240 for whole in before if len(whole) >= 10)
    assert better.facts["refine_steps"] == steps <= 20_000 * large // 240
    assert better.facts["refine_stopped"] == 0.0
    for name in plain.facts:
        assert name in better.facts
    # with time enough nothing changes, and with too little it is told that time ended it
    same = group_points(points, replace(task, refine_seconds=600.0))
    assert same.labels.tolist() == better.labels.tolist() and same.facts == better.facts
    ended = group_points(points, replace(task, refine_steps=10**11, refine_seconds=0.02))
    assert ended.facts["refine_stopped"] == 1.0 and ended.facts["refine_steps"] < 10**11


def test_refine_tells_its_steps_and_whether_time_ended_it() -> None:
    points = records(300, 8)
    plain = group_points(points, task_for("mdav", 4))
    found = group_points(points, task_for("mdav", 4, refine="local", refine_steps=5_000))
    assert found.facts["refine_steps"] == 5_000 and found.facts["refine_stopped"] == 0.0
    assert loss(points, found.labels) < loss(points, plain.labels)
    long = task_for("mdav", 4, refine="local", refine_steps=10**12, refine_seconds=0.05)
    ended = group_points(points, long)
    assert ended.facts["refine_stopped"] == 1.0 and ended.facts["refine_steps"] < 10**12
    watch = Watch()
    group_points(points, task_for("mdav", 4, refine="local", refine_steps=77), watch)
    assert (watch.stage, watch.total) == ("refining", 77)


@pytest.mark.parametrize(("method", "most"), [("mdav", REFINE_STEPS), ("k_member", LOSS_STEPS)])
def test_more_times_are_more_steps(method: str, most: int) -> None:
    points = records(60, 9, method)
    steps = [
        group_points(points, task_for(method, 4, refine="local", refine_times=times)).facts[
            "refine_steps"]
        for times in (1, 3)
    ]
    assert steps[1] > 2 * steps[0] > 0
    assert steps == [default_steps(60, 4, most), default_steps(60, 4, 3 * most)]
    assert default_steps(60, 4, REFINE_STEPS) != default_steps(60, 4, LOSS_STEPS)
