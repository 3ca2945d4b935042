"""The diameters of classes against byun2006's example and a slow reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.measure import diameter
from kanon_sql.measure.diameter import diameters, intra_cluster_distance
from kanon_sql.points.losses import total_il
from kanon_sql.points.points import Labels, LossPoints
from tests.support.loss_points import CLUSTERS, FIGURE_5, groupings, members_of, often


def test_two_clusters_of_the_example() -> None:
    # of the first the furthest are 1 and 5, of the second 2 and 6 (12/33) or 4 and 6 (7/33)
    assert intra_cluster_distance(FIGURE_5, CLUSTERS) == pytest.approx(
        3 * (17 / 33 + 2 / 3 + 1) + 3 * (12 / 33 + 1 + 1)
    )


def test_no_records_and_nothing_lost() -> None:
    assert intra_cluster_distance(FIGURE_5.part(np.arange(0)), np.zeros(0, np.int64)) == 0.0
    assert intra_cluster_distance(FIGURE_5, np.arange(6)) == 0.0


def slow_distance(points: LossPoints, i: int, j: int) -> float:
    total = 0.0
    for a, cap in enumerate(points.cap.tolist()):
        total += min(abs(points.numeric[i, a] - points.numeric[j, a]), cap)
    for a, scale in enumerate(points.scale.tolist()):
        if points.codes[i, a] != points.codes[j, a]:
            total += scale
    return total


@often
@given(groupings())
def test_diameters_are_the_reference_bit_by_bit(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    expected = [
        max(slow_distance(points, i, j) for i in e for j in e) for e in members_of(labels)
    ]
    assert diameters(points, labels, Watch()).tolist() == expected
    whole = intra_cluster_distance(points, labels)
    assert whole == pytest.approx(
        math.fsum(len(e) * d for e, d in zip(members_of(labels), expected, strict=True)), rel=1e-12
    )
    assert whole is not None and whole <= total_il(points, labels) * (1 + 1e-12)


def test_diameters_of_large_classes() -> None:
    """Enough records that most are passed over."""
    rng = np.random.default_rng(1)
    points = LossPoints.of(rng.random((600, 3)), rng.integers(0, 3, (600, 2)), [0.2, 0.1])
    labels = np.arange(600) % 2
    expected = [
        max(slow_distance(points, i, j) for i in e for j in e) for e in members_of(labels)
    ]
    assert diameters(points, labels, Watch()).tolist() == expected


def test_large_classes_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    points = LossPoints.of(np.repeat(np.arange(5.0), 40)[:, None] / 4)
    labels = np.zeros(200, np.int64)
    monkeypatch.setattr(diameter, "MOST_COMPARED", 25)  # five distinct records
    assert intra_cluster_distance(points, labels) == 200.0
    monkeypatch.setattr(diameter, "MOST_COMPARED", 24)
    assert intra_cluster_distance(points, labels) is None


def test_a_stop_is_heard() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        intra_cluster_distance(FIGURE_5, np.zeros(6, np.int64), watch)
