"""byun2006's example as points, and any points and groupings for the measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kanon_sql.points.points import MISSING, Labels, LossPoints

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
CLUSTERS = np.array([0, 1, 0, 1, 0, 1])
"""{1, 3, 5}: ages 24 to 41, America, three occupations. {2, 4, 6}: 38 to 57, the world."""


def members_of(labels: Labels) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)]


def attributes_of(points: LossPoints) -> list[list[int]]:
    """Columns of codes, attribute by attribute."""
    return [np.flatnonzero(points.first == a).tolist() for a in sorted(set(points.first.tolist()))]


@st.composite
def groupings(draw: Draw) -> tuple[LossPoints, Labels]:
    """Numbers, some missing, flat attributes and hierarchies, weights, with ties and copies."""
    n = draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    caps = rng.choice([0.5, 1.0, 3.0, 0.0], draw(st.integers(0, 3)))
    grain = draw(st.sampled_from([1, 3, 10]))
    numeric = rng.integers(0, grain + 1, (n, len(caps))) / grain * caps
    numeric[rng.random(numeric.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = np.inf
    numeric = np.where(np.isinf(numeric), MISSING * caps, numeric)
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
