"""How long classes that break a model are searched for, and from where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.group import enforce as enforcement
from kanon_sql.group.enforce import enforce
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search.constrained_search import PROBE, Models
from kanon_sql.methods.search_steps import LOSS_STEPS, REFINE_STEPS, default_steps
from kanon_sql.points.points import Grouping, Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import Closeness, DistinctDiversity

ILL, PAY = SensitiveColumn("ill", ("flu", "gout")), SensitiveColumn("pay", ("1", "2"), True)
TWO = DistinctDiversity(column="ill", l=2)
SHARES = Closeness(column="ill", t=0.0)


def records(ill: Any, pay: Any = None, columns: Any = (ILL,)) -> Points:
    """Records on a line."""
    values = [ill] if pay is None else [ill, pay]
    codes = np.column_stack(values).astype(np.int32)
    points = Points.of(np.arange(len(codes), dtype=np.float64)[:, None], sensitive=codes)
    return replace(points, sensitive_columns=columns)


@pytest.mark.parametrize(("n", "steps"), [
    (1, 60), (100, 6_000), (33_333, 1_999_980), (33_334, 2_000_000), (1_000_000, 2_000_000),
    (1_000_001, 2_000_002), (3_000_000, 6_000_000),
])
def test_a_search_for_models_visits_each_record_60_times_or_two_million_records_or_each_twice(
    n: int, steps: int
) -> None:
    assert enforcement._steps(n, 5, task_for("mdav_star", 5)) == steps
    # what is told of a search that isn't asked for means nothing
    assert enforcement._steps(n, 5, task_for("mdav_star", 5, refine_steps=7)) == steps


def test_where_a_search_is_asked_for_it_takes_the_steps_of_that() -> None:
    for method, refine, most in (("mdav_star", "local", REFINE_STEPS),
                                 ("k_member", "local", LOSS_STEPS),
                                 ("best", "none", REFINE_STEPS)):
        task = task_for(method, 5, refine=refine)
        assert enforcement._steps(20_000, 7, task) == default_steps(20_000, 7, most)
        assert enforcement._steps(20_000, 7, replace(task, refine_steps=11)) == 11


def test_who_waits_is_told_of_both_halves_of_a_search() -> None:
    told: list[tuple[str, int]] = []

    class Told(Watch):
        """Notes the stages."""

        def begin(self, stage: str, total: int) -> None:
            told.append((stage, total))
            super().begin(stage, total)

    points = records([0, 0, 0, 1, 1, 1, 0, 1])
    enforce(points, Grouping(np.arange(8) // 2, {}), (TWO,), task_for("mdav", 2), Told())
    assert told[0] == ("repairing", 2 * 60 * 8)


@pytest.mark.parametrize(("steps", "by_slices"), [
    (2 * PROBE * 8 * 10, True), (2 * PROBE * 8 * 10 - 1, False), (0, False),
])
def test_slices_of_an_order_are_tried_where_that_is_a_tenth_of_the_search(
    steps: int, by_slices: bool
) -> None:
    points = records(np.arange(8) % 2, columns=(PAY,))
    near = Closeness(column="pay", t=0.1, distance="ordered")
    assert enforcement._ranked(points, (near,), steps) == (0, by_slices)


def test_records_are_ranked_by_the_first_column_that_slices_may_begin_with() -> None:
    points = records(np.arange(8) % 2, np.arange(8) // 4, (ILL, PAY))
    near = Closeness(column="pay", t=0.1, distance="equal")
    apart = DistinctDiversity(column="pay", l=2)
    for models, expected in (
        ((TWO,), (0, False)), ((apart, TWO), (1, False)), ((TWO, near), (1, True)),
        ((near, SHARES), (1, True)), ((SHARES, near), (0, True)),
    ):
        assert enforcement._ranked(points, models, 10**9) == expected


def test_only_columns_whose_shares_each_class_must_have_are_shared_out() -> None:
    points = records(np.arange(8) % 2, np.arange(8) // 4, (ILL, PAY))
    assert enforcement._in_shares(points, (TWO,)) is None
    shares = enforcement._in_shares(points, (TWO, SHARES, DistinctDiversity(column="pay", l=2)))
    assert shares is not None and shares[:, 0].tolist() == [0, 1] * 4 and shares.shape == (8, 1)


def test_classes_without_an_end_of_search_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    points = records([0, 0, 1, 1] * 10)
    grouping = Grouping(np.arange(40) // 2, {})
    task = replace(task_for("mdav", 2), beside_k=(SHARES,))
    searched = enforce(points, grouping, (SHARES,), task, Watch())
    assert searched.facts["refine_steps"] > 0.0
    monkeypatch.setattr(Models, "is_hopeless", True)
    shared = enforce(points, grouping, (SHARES,), task, Watch())
    assert shared.facts["refine_steps"] == 0.0 == shared.facts["refine_stopped"]
    for found in (searched, shared):
        for group in range(int(found.labels.max()) + 1):
            own = points.sensitive[found.labels == group, 0]
            assert 2 * own.sum() == len(own) >= 2
    # nothing but shares can be shared out
    searched = enforce(points, grouping, (TWO,), task, Watch())
    assert searched.facts["refine_steps"] > 0.0


@pytest.mark.parametrize(("values", "k", "groups"), [
    ([0, 0, 0, 0, 1, 1, 1, 1], 4, 2), ([0, 0, 0, 0, 1, 1, 1, 1, 1], 4, 2),
    ([0, 0, 0, 0, 1, 1, 1], 4, 1), ([0, 0, 0, 0, 1, 1, 1, 1, 1], 5, 1),
])
def test_two_classes_are_searched_for_where_there_is_room_for_them(
    values: list[int], k: int, groups: int
) -> None:
    points = records(values)
    labels = (np.arange(len(values)) >= 4).astype(np.int64)
    found = enforce(points, Grouping(labels, {}), (TWO,), task_for("mdav", k), Watch())
    assert found.labels.max() + 1 == groups
    assert ("refine_steps" in found.facts) == (groups > 1)
