"""The least that any grouping of a few records loses, by trying all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from kanon_sql.points.points import LossPoints, Points
from tests.support.partitions import partitions

Members = tuple[int, ...]


def least_loss(
    n: int, k: int, loss: Callable[[Members], float], passes: Callable[[Members], bool]
) -> float:
    """The least sum of losses of classes of k or more records that all pass; infinite if there is
    no such grouping. For n up to 10 or so: 17,722 groupings of ten records in pairs or more."""

    @cache
    def own(members: Members) -> float:
        return loss(members) if passes(members) else math.inf

    return min(
        (sum(own(tuple(members)) for members in classes) for classes in partitions(n, k)),
        default=math.inf,
    )


def squared_error(points: Points, members: Sequence[int]) -> float:
    """The squared distances of some records from their mean; of categories, from their shares."""
    rows = list(members)
    numbers = points.numeric[rows]
    total = float(((numbers - numbers.mean(axis=0)) ** 2).sum())
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        shares = np.unique(codes[rows], return_counts=True)[1] / len(rows)
        total += scale * len(rows) * float(1.0 - (shares**2).sum())
    return total


def information_loss(points: LossPoints, members: Sequence[int]) -> float:
    """What a class loses (byun2006, definition 5), as LossPoints says."""
    rows = list(members)
    each = 0.0
    for column, cap in zip(points.numeric.T, points.cap.tolist(), strict=True):
        each += min(float(np.ptp(column[rows])), cap)
    codes = zip(points.codes.T, points.scale.tolist(), points.limit.tolist(), strict=True)
    for column, scale, limit in codes:
        each += scale * min(len(set(column[rows].tolist())) - 1, limit)
    return len(rows) * each
