"""Distances for kernels: squared ones, and in a metric space from keys and back (see
MetricPoints)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.points.points import EARTH, Floats, MetricPoints

FORMS = {"root": 0, "plain": 1, "arc": 2}
"""The form of MetricPoints as a number, as kernels take it."""


@inner
def squared_distance(numeric: Any, codes: Any, scale: Any, i: int, j: int) -> float:
    """Squared distance between records i and j."""
    total = 0.0
    for a in range(numeric.shape[1]):
        gap = numeric[i, a] - numeric[j, a]
        total += gap * gap
    for a in range(codes.shape[1]):
        if codes[i, a] != codes[j, a]:
            total += 2.0 * scale[a]
    return total


@inner
def distance_of(key: float, form: int) -> float:
    """The distance that a key stands for, as MetricPoints.distances has it."""
    if form == 1:
        return key
    # rounding may take half a chord of antipodes beyond 1
    root = math.sqrt(key)
    return root if form == 0 else 2.0 * EARTH * math.asin(min(root / 2.0, 1.0))


@inner
def key_within(distance: float, form: int) -> float:
    """A key that is no less than any whose distance is ``distance`` or less, and hardly more."""
    key = distance
    if form == 0:
        key = distance * distance
    elif form == 2:
        # half the angle: from a quarter turn on every place is within, while the sine would fall
        half = distance / (2.0 * EARTH)
        key = (2.0 * math.sin(half)) ** 2 if half < 1.5 else np.inf
    # far more than the rounding of the way there and back; the second for keys of 0.0
    return key * (1.0 + 1e-9) + 1e-300


@kernel
def _fill(
    numeric: Any, codes: Any, scale: Any, form: int, some: Any, others: Any, distances: Any
) -> None:
    for p in range(len(some)):
        key = squared_distance(numeric, codes, scale, some[p], others[p])
        distances[p] = distance_of(key, form)


def distances_between(points: MetricPoints, some: Any, others: Any) -> Floats:
    """The distances of pairs of records, to the bit those that kernels have: float64, shape (m,).

    Args:
        points: n records.
        some, others: their indices, shape (m,), or one index for all.
    """
    # copies, since the kernel is compiled for arrays that lie without gaps
    pairs = np.broadcast_arrays(np.asarray(some, np.int64), np.asarray(others, np.int64))
    some, others = (np.array(indices) for indices in pairs)
    distances = np.empty(len(some))
    _fill(
        points.numeric, points.codes, points.scale, FORMS[points.form], some, others, distances
    )
    return distances
