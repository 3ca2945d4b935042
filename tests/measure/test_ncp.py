"""The normalized certainty penalty against byun2006's example and a slow reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from kanon_sql.measure.ncp import attribute_ncp, attribute_weights
from kanon_sql.points.losses import class_losses, total_il
from kanon_sql.points.points import MISSING, Labels, LossPoints
from tests.support.loss_points import (
    CLUSTERS,
    FIGURE_5,
    FIVE,
    FOUR,
    ONE,
    SIX,
    THREE,
    TWO,
    attributes_of,
    groupings,
    members_of,
    often,
)


def distance(i: int, j: int) -> float:
    """Of two records: D of the class of the two."""
    return float(class_losses(FIGURE_5.part(np.array([i, j])), np.zeros(2, np.int64))[0])


def test_distances_of_the_example() -> None:
    assert distance(ONE, TWO) == pytest.approx(16 / 33 + 3 / 3 + 1)
    assert round(distance(ONE, TWO), 4) == 2.4848
    assert distance(ONE, THREE) == pytest.approx(1 / 33 + 1 / 3 + 1)
    assert round(distance(ONE, THREE), 4) == 1.3636
    assert distance(TWO, FOUR) == pytest.approx(19 / 33 + 2 / 3 + 0)  # India, Iran
    assert distance(FIVE, SIX) == pytest.approx(21 / 33 + 1 + 1)


def test_two_clusters_of_the_example() -> None:
    first, second = 17 / 33 + 2 / 3 + 1, 19 / 33 + 1 + 1
    assert class_losses(FIGURE_5, CLUSTERS) == pytest.approx([first, second])
    assert total_il(FIGURE_5, CLUSTERS) == pytest.approx(3 * first + 3 * second)
    assert attribute_ncp(FIGURE_5, CLUSTERS) == pytest.approx(
        [(17 / 33 + 19 / 33) / 2, (2 / 3 + 1) / 2, 1.0]
    )


def test_suppressed_rows_lose_every_cell() -> None:
    assert attribute_ncp(FIGURE_5, CLUSTERS, 6)[2] == 1.0


def test_missing_numbers_are_far_from_values_only() -> None:
    points = LossPoints.of(np.array([[0.0], [0.5], [1.0], [MISSING], [MISSING]]))
    assert attribute_ncp(points, np.array([0, 0, 1, 2, 2])) == [pytest.approx(0.2)]
    assert attribute_ncp(points, np.array([0, 1, 1, 0, 1])) == [1.0]


def test_no_records_and_nothing_lost() -> None:
    none, nobody = FIGURE_5.part(np.arange(0)), np.zeros(0, np.int64)
    assert attribute_ncp(none, nobody) == [0.0, 0.0, 0.0]
    assert attribute_ncp(none, nobody, 3) == [1.0, 1.0, 1.0]
    assert attribute_ncp(FIGURE_5, np.arange(6)) == [0.0, 0.0, 0.0]


# -- reference: cell by cell, from the definition -----------------------------------------------


def slow_attribute_losses(points: LossPoints, labels: Labels) -> list[float]:
    """Per attribute the sum over the rows of its part of D(e)."""
    losses = []
    for column, cap in zip(points.numeric.T.tolist(), points.cap.tolist(), strict=True):
        parts = [[column[i] for i in e] for e in members_of(labels)]
        losses.append(math.fsum(len(part) * min(max(part) - min(part), cap) for part in parts))
    for columns in attributes_of(points):
        losses.append(math.fsum(
            len(e) * points.scale[a]
            * min(len({points.codes[i, a] for i in e}) - 1, points.limit[a])
            for a in columns for e in members_of(labels)
        ))
    return losses


@often
@given(groupings())
def test_ncp_is_the_reference(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    weights = attribute_weights(points)
    losses = slow_attribute_losses(points, labels)
    expected = [
        lost / weight / len(labels) if weight else 0.0
        for lost, weight in zip(losses, weights, strict=True)
    ]
    assert attribute_ncp(points, labels) == pytest.approx(expected, rel=1e-12)
    assert all(-1e-12 <= share <= 1 + 1e-12 for share in expected)
