"""The metrics of a grouping against byun2006's example and slow references."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.measure import ncp as quality
from kanon_sql.measure.diameter import diameters
from kanon_sql.points.losses import class_losses, total_il
from kanon_sql.points.points import Labels, LossPoints

Draw = Callable[[st.SearchStrategy[Any]], Any]

often = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

# figure 5: age, country (continent, part of it, itself), occupation. Of figure 6 the text names
# three distances; where Brazil and Greece stand is chosen here.
AGES = (41, 57, 40, 38, 24, 45)
COUNTRIES = (
    ("America", "North", "USA"), ("Asia", "East", "India"), ("America", "North", "Canada"),
    ("Asia", "West", "Iran"), ("America", "South", "Brazil"), ("Europe", "South", "Greece"),
)
OCCUPATIONS = (
    "Armed-Forces", "Tech-support", "Teacher", "Tech-support", "Doctor", "Salesman",
)
ONE, TWO, THREE, FOUR, FIVE, SIX = range(6)


def coded(words: Any) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(word, len(numbers)) for word in words]


FIGURE_5 = LossPoints.of(
    np.array([[(age - 24) / 33] for age in AGES]),
    np.column_stack([
        *(coded(path[:depth] for path in COUNTRIES) for depth in (3, 2, 1)), coded(OCCUPATIONS)
    ]),
    scale=[1 / 3, 1 / 3, 1 / 3, 1.0],
    first=[0, 0, 0, 3],
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
    """{1, 3, 5}: ages 24 to 41, America, three occupations. {2, 4, 6}: 38 to 57, the world."""
    labels = np.array([0, 1, 0, 1, 0, 1])
    first, second = 17 / 33 + 2 / 3 + 1, 19 / 33 + 1 + 1
    assert class_losses(FIGURE_5, labels) == pytest.approx([first, second])
    assert total_il(FIGURE_5, labels) == pytest.approx(3 * first + 3 * second)
    assert quality.ncp(FIGURE_5, labels) == pytest.approx((first + second) / 6)
    assert quality.attribute_ncp(FIGURE_5, labels) == pytest.approx(
        [(17 / 33 + 19 / 33) / 2, (2 / 3 + 1) / 2, 1.0]
    )
    # of the first the furthest are 1 and 5, of the second 2 and 6 (12/33) or 4 and 6 (7/33)
    assert quality.intra_cluster_distance(FIGURE_5, labels) == pytest.approx(
        3 * (17 / 33 + 2 / 3 + 1) + 3 * (12 / 33 + 1 + 1)
    )
    # ages: four of the six lie within 24 .. 41 and within 38 .. 57 five; countries: three are
    # American, six of the world; occupations: three of one row each; a pair and one
    ages = 3 * math.log2(4) + 3 * math.log2(5)
    countries = 3 * math.log2(3) + 3 * math.log2(6)
    occupations = 3 * math.log2(3) + (math.log2(3) + 2 * math.log2(3 / 2))
    assert quality.entropy_loss(FIGURE_5, labels) == pytest.approx(
        (ages + countries + occupations) / 18
    )


def test_suppressed_rows_lose_every_cell() -> None:
    labels = np.array([0, 1, 0, 1, 0, 1])
    assert quality.ncp(FIGURE_5, labels, 6) == pytest.approx(
        (quality.ncp(FIGURE_5, labels) + 1) / 2
    )
    assert quality.attribute_ncp(FIGURE_5, labels, 6)[2] == 1.0
    alone, together = np.arange(6), np.zeros(6, np.int64)
    assert quality.entropy_loss(FIGURE_5, alone, 6) * 12 < 18 * math.log2(6)
    flat = FIGURE_5.codes[:, 3:]
    words = LossPoints.of(np.zeros((6, 0)), flat)
    assert quality.entropy_loss(words, alone, 6) == pytest.approx(
        quality.entropy_loss(words, together) / 2
    )


def test_missing_numbers_are_published_where_a_class_has_one() -> None:
    """0, 0.5, 1 and two missing values, which lie 3 weights above 1."""
    points = LossPoints.of(np.array([[0.0], [0.5], [1.0], [4.0], [4.0]]))
    apart, mixed = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 1])
    assert quality.entropy_loss(points, apart) == pytest.approx(2 * 1 / 5)
    # 0 or one of two missing; 0.5, 1 or one of two missing
    expected = (math.log2(3) + math.log2(3 / 2) + 2 + 2 + 1) / 5
    assert quality.entropy_loss(points, mixed) == pytest.approx(expected)
    assert quality.attribute_ncp(points, apart) == [pytest.approx(0.2)]
    assert quality.attribute_ncp(points, mixed) == [1.0]


def test_no_records_and_nothing_lost() -> None:
    none = FIGURE_5.part(np.arange(0))
    nobody = np.zeros(0, np.int64)
    assert quality.ncp(none, nobody) == quality.entropy_loss(none, nobody) == 0.0
    assert quality.intra_cluster_distance(none, nobody) == 0.0
    assert quality.attribute_ncp(none, nobody) == [0.0, 0.0, 0.0]
    assert quality.ncp(none, nobody, 3) == 1.0
    assert quality.attribute_ncp(none, nobody, 3) == [1.0, 1.0, 1.0]
    alone = np.arange(6)
    assert quality.ncp(FIGURE_5, alone) == quality.entropy_loss(FIGURE_5, alone) == 0.0
    assert quality.intra_cluster_distance(FIGURE_5, alone) == 0.0


# -- references: cell by cell, from the definitions ---------------------------------------------


def members_of(labels: Labels) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)]


def attributes_of(points: LossPoints) -> list[list[int]]:
    """Columns of codes, attribute by attribute."""
    return [np.flatnonzero(points.first == a).tolist() for a in sorted(set(points.first.tolist()))]


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


def slow_distance(points: LossPoints, i: int, j: int) -> float:
    total = 0.0
    for a, cap in enumerate(points.cap.tolist()):
        total += min(abs(points.numeric[i, a] - points.numeric[j, a]), cap)
    for a, scale in enumerate(points.scale.tolist()):
        if points.codes[i, a] != points.codes[j, a]:
            total += scale
    return total


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


@st.composite
def groupings(draw: Draw) -> tuple[LossPoints, Labels]:
    """Numbers, some missing, flat attributes and hierarchies, weights, with ties and copies."""
    n = draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    caps = rng.choice([0.5, 1.0, 3.0, 0.0], draw(st.integers(0, 3)))
    grain = draw(st.sampled_from([1, 3, 10]))
    numeric = rng.integers(0, grain + 1, (n, len(caps))) / grain * caps
    numeric[rng.random(numeric.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = np.inf
    numeric = np.where(np.isinf(numeric), 4 * caps, numeric)
    codes: list[Any] = []
    scale: list[float] = []
    limit: list[int] = []
    first: list[int] = []
    for _ in range(draw(st.integers(0 if len(caps) else 1, 3))):
        height = draw(st.integers(1, 3))
        leaves = rng.integers(0, draw(st.integers(1, 8)), n)
        weight = draw(st.sampled_from([1.0, 0.3]))
        counted = height == 1 and rng.random() < 0.5
        distinct = max(len(np.unique(leaves)) - 1, 1) if counted else 1
        first += [len(scale)] * height
        codes += [leaves // 2**level for level in range(height)]
        scale += [weight / distinct / height] * height
        limit += [distinct] * height
    matrix = np.column_stack(codes) if codes else np.zeros((n, 0))
    order = np.lexsort([*matrix.T[::-1], *numeric.T[::-1]])
    drawn = rng.integers(0, draw(st.integers(1, n)), n)
    labels = np.unique(drawn, return_inverse=True)[1].reshape(-1).astype(np.int64)
    points = LossPoints.of(numeric[order], matrix[order], scale, caps, limit, first)
    return points, labels


@often
@given(groupings())
def test_ncp_is_the_reference(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    weights = quality.attribute_weights(points)
    losses = slow_attribute_losses(points, labels)
    expected = [
        lost / weight / len(labels) if weight else 0.0
        for lost, weight in zip(losses, weights, strict=True)
    ]
    assert quality.attribute_ncp(points, labels) == pytest.approx(expected, rel=1e-12)
    assert all(-1e-12 <= share <= 1 + 1e-12 for share in expected)
    whole = math.fsum(losses) / math.fsum(weights) / len(labels) if any(weights) else 0.0
    assert quality.ncp(points, labels) == pytest.approx(whole, rel=1e-12)


@often
@given(groupings())
def test_entropy_is_the_reference(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    assert quality.entropy_loss(points, labels) == pytest.approx(
        slow_entropy(points, labels), rel=1e-12, abs=1e-14
    )


@often
@given(groupings())
def test_diameters_are_the_reference_bit_by_bit(case: tuple[LossPoints, Labels]) -> None:
    points, labels = case
    expected = [
        max(slow_distance(points, i, j) for i in e for j in e) for e in members_of(labels)
    ]
    assert diameters(points, labels, Watch()).tolist() == expected
    whole = quality.intra_cluster_distance(points, labels)
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
    monkeypatch.setattr(quality, "MOST_COMPARED", 25)  # five distinct records
    assert quality.intra_cluster_distance(points, labels) == 200.0
    monkeypatch.setattr(quality, "MOST_COMPARED", 24)
    assert quality.intra_cluster_distance(points, labels) is None


def test_a_stop_is_heard() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        quality.intra_cluster_distance(FIGURE_5, np.zeros(6, np.int64), watch)
