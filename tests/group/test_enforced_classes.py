"""Classes after enforcement: what is changed of them, what is told, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group import enforce as enforcement
from kanon_sql.group.enforce import enforce, facts_before, least_class, merged_if_few
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import task_for
from kanon_sql.points.points import Grouping, ItemPoints, Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import Closeness, DistinctDiversity
from tests.support.held import as_sets, classes

ILL, PAY = SensitiveColumn("ill", ("flu", "gout", "rash")), SensitiveColumn("pay", ("a", "b"))
TWO = (DistinctDiversity(column="ill", l=2),)
"""Two values in each class."""


def records(values: Any, numbers: Any = None) -> Points:
    """Records on a line, with values of ill."""
    codes = np.array(values, np.int32)[:, None]
    places = np.arange(len(codes), dtype=np.float64) if numbers is None else np.array(numbers)
    points = Points.of(places[:, None], sensitive=codes)
    return replace(points, sensitive_columns=(ILL,))


def diverse(points: Points, labels: Any) -> bool:
    return all(len(set(points.sensitive[rows, 0].tolist())) >= 2 for rows in classes(labels))


PAIRS = records([0, 0, 0, 1, 1, 1, 2, 0])
"""In pairs, the first and the third break it."""
LABELS = np.arange(8) // 2


def test_what_classes_need_and_how_many_lack_it_is_told_of_each_model() -> None:
    points = replace(
        PAIRS, sensitive=np.column_stack([PAIRS.sensitive[:, 0], [0, 1, 0, 1, 0, 1, 1, 1]]),
        sensitive_columns=(ILL, PAY),
    )
    models = (*TWO, DistinctDiversity(column="PAY", l=2), DistinctDiversity(column="ill", l=3))
    assert facts_before(points, LABELS, models) == {
        "least_size 0": 2.0, "violating 0": 2.0, "least_size 1": 2.0, "violating 1": 1.0,
        "least_size 2": 3.0, "violating 2": 4.0,
    }
    assert least_class(points, models, np.arange(8)) == [2, 2, 3]


@pytest.mark.parametrize("method", ["mdav_star", "k_member"])
def test_classes_keep_the_model_and_those_that_are_left_out_stay_so(method: str) -> None:
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3, -1])
    points = records([*PAIRS.sensitive[:, 0], 0])
    if method == "k_member":
        points = task_for(method, 2).geometry.trial(task_for(method, 2).method.trial)
        rng = np.random.default_rng(3)
        points = replace(points, sensitive=rng.integers(0, 3, (len(points), 1)).astype(np.int32),
                         sensitive_columns=(ILL,))
        labels = np.arange(len(points)) // 2
        labels[::7] = -1
        labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    grouping = Grouping(labels, {"tried": 1.0, "guaranteed_ratio": 2.0})
    found = enforce(points, grouping, TWO, task_for(method, 2), Watch())
    assert (found.labels < 0).tolist() == (labels < 0).tolist()
    assert diverse(points, found.labels)
    assert "guaranteed_ratio" not in found.facts and found.facts["tried"] == 1.0
    assert found.facts["violating 0"] >= 1 and found.facts["least_size 0"] == 2.0


def test_classes_that_keep_the_model_stay_and_so_does_what_is_guaranteed() -> None:
    points = records([0, 1, 0, 1])
    grouping = Grouping(np.array([0, 0, 1, 1]), {"guaranteed_ratio": 2.0})
    found = enforce(points, grouping, TWO, task_for("mdav", 2), Watch())
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.facts == {"guaranteed_ratio": 2.0, "least_size 0": 2.0, "violating 0": 0.0}


def test_where_there_is_room_for_one_class_all_are_one() -> None:
    points = records([0, 0, 0, 1, 2])
    found = enforce(points, Grouping(np.array([0, 0, 0, 1, 1]), {}), (
        DistinctDiversity(column="ill", l=3),), task_for("mdav", 2), Watch())
    assert found.labels.tolist() == [0] * 5


def test_mergers_alone_are_tried_where_few_classes_break_a_model(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    grouping = Grouping(np.array([0, 0, 1, 1, 2, 2, 3, 3, -1]), {})
    points = records([*PAIRS.sensitive[:, 0], 2])
    found = merged_if_few(points, grouping, TWO, Watch())
    assert found is not None and diverse(points, found)
    assert found[8] == -1 and grouping.labels[8] == -1
    # the first with its neighbour, and the third with one of its own
    assert as_sets(found) in (
        {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7})},
        {frozenset({0, 1}), frozenset({2, 3, 4, 5}), frozenset({6, 7})},
        {frozenset({0, 1, 2, 3, 4, 5}), frozenset({6, 7})},
    )
    monkeypatch.setattr(enforcement, "MERGED", 2)
    assert merged_if_few(points, grouping, TWO, Watch()) is not None
    monkeypatch.setattr(enforcement, "MERGED", 1)
    assert merged_if_few(points, grouping, TWO, Watch()) is None
    monkeypatch.setattr(enforcement, "MERGED", 400)
    one = Grouping(np.array([0, 0, 1, 1, 1, 1, 2, 2, -1]), {})
    assert merged_if_few(points, one, TWO, Watch()) is not None
    kept = Grouping(np.array([0, 0, 0, 0, 1, 1, 1, 1, -1]), {})
    assert merged_if_few(points, kept, TWO, Watch()) is None


@pytest.mark.parametrize(("rows", "refused"), [([0, 0, 0, 0], True), ([0, 0, 1, 1], False)])
def test_a_block_that_is_far_from_all_rows_is_refused(rows: list[int], refused: bool) -> None:
    """Half of all rows have the second value."""
    model = (Closeness(column="ill", t=0.3, distance="equal"),)
    column = replace(ILL, table=np.array([50, 50, 0, 0]))
    points = replace(records(rows), sensitive_columns=(column,))
    grouping = Grouping(np.array([0, 0, 1, 1]), {})
    if refused:
        said = r"A block of 4 rows can't keep .*: their values are spread too differently"
        for call in (lambda: enforce(points, grouping, model, task_for("mdav", 2), Watch()),
                     lambda: merged_if_few(points, grouping, model, Watch())):
            with pytest.raises(DataError, match=said):
                call()
    else:
        found = enforce(points, grouping, model, task_for("mdav", 2), Watch())
        shares = [np.mean(points.sensitive[own, 0]) for own in classes(found.labels)]
        assert np.abs(np.array(shares) - 0.5).max() <= 0.3


def regions(values: list[int]) -> ItemPoints:
    """Six nodes of two rows each, in a chain of four and one of two."""
    links = [(0, 1), (1, 2), (2, 3), (4, 5)]
    points = ItemPoints.of([2] * 6, np.zeros((6, 0)), links, sensitive=np.array(values)[:, None])
    return replace(points, sensitive_columns=(ILL,))


def nodes_grouped(facts: dict[str, float]) -> Grouping:
    return Grouping(np.repeat(np.arange(6), 2), facts)


def test_neighbours_are_merged_until_each_region_keeps_the_model() -> None:
    points = regions([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1])
    facts = {"lower_bound": 2.0, "guaranteed_ratio": 3.0, "islands": 0.0}
    task = task_for("zip_regions", 2, islands="suppress")
    watch = Watch()
    found = enforce(points, nodes_grouped(facts), TWO, task, watch)
    assert (watch.stage, watch.total) == ("merging", 1)
    assert diverse(points, found.labels)
    for rows in as_sets(found.labels):
        assert rows <= set(range(8)) or rows <= set(range(8, 12))
    assert found.facts["violating 0"] == 5.0 and "guaranteed_ratio" not in found.facts
    assert found.facts["lower_bound"] == 2.0 and found.facts["islands"] == 0.0


def test_an_island_that_breaks_the_model_is_left_out_and_told() -> None:
    points = regions([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0])
    task = task_for("zip_regions", 2, islands="suppress")
    facts = {"lower_bound": 7.0, "guaranteed_ratio": 3.0, "islands": 2.0, "island_rows": 3.0}
    found = enforce(points, nodes_grouped(facts), TWO, task, Watch())
    assert (found.labels[8:] < 0).all() and (found.labels[:8] >= 0).all()
    assert diverse(points, found.labels)
    left = int((found.labels < 0).sum())
    assert left == 4
    assert found.facts["island_rows"] == 3.0 + left and found.facts["islands"] == 3.0
    assert found.facts["lower_bound"] == 2.0 and "guaranteed_ratio" not in found.facts
    assert found.facts["violating 0"] == 5.0
    assert sorted(set(found.labels[:8].tolist())) == list(range(int(found.labels.max()) + 1))
    plain = enforce(points, nodes_grouped({}), TWO, task, Watch())
    assert plain.facts["islands"] == 1.0 and plain.facts["island_rows"] == 4.0


def test_beside_an_island_nothing_is_guaranteed_though_all_other_classes_stay() -> None:
    points = regions([0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    task = task_for("zip_regions", 2, islands="suppress")
    grouping = nodes_grouped({"guaranteed_ratio": 3.0, "tried": 1.0})
    found = enforce(points, grouping, TWO, task, Watch())
    assert as_sets(found.labels) == {frozenset({2 * i, 2 * i + 1}) for i in range(4)}
    assert "guaranteed_ratio" not in found.facts and found.facts["tried"] == 1.0


def test_what_is_left_beside_an_island_may_break_the_model() -> None:
    points = regions([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    task = task_for("zip_regions", 2, islands="suppress")
    with pytest.raises(DataError, match=r"'ill' has 1 different value, so l = 2 can't be kept"):
        enforce(points, nodes_grouped({}), TWO, task, Watch())
