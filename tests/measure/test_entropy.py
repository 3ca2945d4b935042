"""The entropy of a grouping against byun2006's example and a slow reference."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from kanon_sql.measure.entropy import entropy_loss
from kanon_sql.points.points import MISSING, Labels, LossPoints, is_missing
from tests.support.loss_points import (
    CLUSTERS,
    FIGURE_5,
    attributes_of,
    groupings,
    members_of,
    often,
)


def test_two_clusters_of_the_example() -> None:
    # ages: four of the six lie within 24 .. 41 and within 38 .. 57 five; countries: three are
    # American, six of the world; occupations: three of one row each; a pair and one
    ages = 3 * math.log2(4) + 3 * math.log2(5)
    countries = 3 * math.log2(3) + 3 * math.log2(6)
    occupations = 3 * math.log2(3) + (math.log2(3) + 2 * math.log2(3 / 2))
    assert entropy_loss(FIGURE_5, CLUSTERS) == pytest.approx((ages + countries + occupations) / 18)


def test_suppressed_rows_count_the_entropy_of_each_column() -> None:
    alone, together = np.arange(6), np.zeros(6, np.int64)
    assert entropy_loss(FIGURE_5, alone, 6) * 12 < 18 * math.log2(6)
    words = LossPoints.of(np.zeros((6, 0)), FIGURE_5.codes[:, 3:])
    assert entropy_loss(words, alone, 6) == pytest.approx(entropy_loss(words, together) / 2)


def test_missing_numbers_are_published_where_a_class_has_one() -> None:
    points = LossPoints.of(np.array([[0.0], [0.5], [1.0], [MISSING], [MISSING]]))
    apart, mixed = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 1])
    assert entropy_loss(points, apart) == pytest.approx(2 * 1 / 5)
    # 0 or one of two missing; 0.5, 1 or one of two missing
    expected = (math.log2(3) + math.log2(3 / 2) + 2 + 2 + 1) / 5
    assert entropy_loss(points, mixed) == pytest.approx(expected)


def test_what_is_missing_is_told_by_its_place() -> None:
    for weight in (1.0, 0.3, 1e-300):
        column = np.array([0.0, 0.5, 1.0, MISSING]) * weight
        assert is_missing(column, weight).tolist() == [False, False, False, True]
    assert not is_missing(np.zeros(2), 0.0).any()


def test_no_records_and_nothing_lost() -> None:
    assert entropy_loss(FIGURE_5.part(np.arange(0)), np.zeros(0, np.int64)) == 0.0
    assert entropy_loss(FIGURE_5, np.arange(6)) == 0.0


# -- reference: cell by cell, from the definition -----------------------------------------------


def slow_entropy(points: LossPoints, labels: Labels) -> float:
    """-log2 P(value | published set), cell by cell; None stands for a missing number."""
    cells: list[float] = []
    for raw, cap in zip(points.numeric.T.tolist(), points.cap.tolist(), strict=True):
        column: list[float | None] = [None if cap and x > 2 * cap else x for x in raw]
        for e in members_of(labels):
            known = [x for i in e if (x := column[i]) is not None]
            with_none = any(column[i] is None for i in e)
            inside = [
                x for x in column
                if (with_none if x is None else bool(known) and min(known) <= x <= max(known))
            ]
            cells += [-math.log2(inside.count(column[i]) / len(inside)) for i in e]
    for columns in attributes_of(points):
        paths = [tuple(row) for row in points.codes[:, columns].tolist()]
        for e in members_of(labels):
            if len(columns) == 1:
                inside_paths = [path for path in paths if path in {paths[i] for i in e}]
            else:
                shared = [a for a in range(len(columns)) if len({paths[i][a] for i in e}) == 1]
                lowest = shared[:1]  # columns stand leaf first
                inside_paths = [
                    path for path in paths if all(path[a] == paths[e[0]][a] for a in lowest)
                ]
            count = Counter(inside_paths)
            cells += [-math.log2(count[paths[i]] / len(inside_paths)) for i in e]
    return math.fsum(cells) / len(cells) if cells else 0.0


@often
@given(groupings())
def test_entropy_is_the_reference(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    assert entropy_loss(points, labels) == pytest.approx(
        slow_entropy(points, labels), rel=1e-12, abs=1e-14
    )
