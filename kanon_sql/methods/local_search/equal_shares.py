"""Classes that have the shares of all records exactly, without a search.

Where a class must have them, t = 0 say, its size is a multiple of what the counts of all records
allow. Where that is large, a search moves one record after the other among a few huge classes, and
each of its steps looks at all their members: it would not end.
"""

from __future__ import annotations

import math

import numpy as np

from kanon_sql.methods.local_search.annealing import CLOSE, RARELY
from kanon_sql.methods.local_search.moves_by_squared_error import has_tallies
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Codes, Labels, LossPoints, Points

HOPELESS = 10_000_000_000
"""Looks at records, for one cycle and one beginning of a search, from which on there is none: they
take ten seconds or more, and there are five cycles or more."""


def is_hopeless(points: Points, k: int, steps: int, room: int, capacity: int) -> bool:
    """Whether a search with cycles of so many steps looks at too many records.

    RARELY of 256 steps dissolve a class or make one. There k records leave; each looks at CLOSE
    classes, and is compared to all members of the one that it joins: in every column of codes,
    unless these are tallied, or once for the information loss. And where a search begins by slices
    of the sensitive values, up to k records that are left look at all others.

    Args:
        points: n records.
        k: a class has as many or more.
        steps: of a cycle.
        room, capacity: how many classes there is room for, and of how many records.
    """
    columns = points.codes.shape[1]
    if isinstance(points, LossPoints):
        compared = 1
    else:
        compared = 0 if has_tallies(points, room, capacity) else columns
    moved = steps * RARELY // 256 * k * (CLOSE + compared * k)
    left = k * len(points) * (columns + points.numeric.shape[1])
    return int(moved + left) > HOPELESS


def spread_ties(labels: Labels, values: Codes, k: int) -> Labels:
    """Classes of k records or more that all have the shares of all records: int64, shape (n,).

    The records of each combination of values are dealt to them in equal parts, in the order of the
    classes that are given, so that what is together there stays so as far as can be.

    Args:
        labels: int64, shape (n,); the classes that are given.
        values: int32, shape (n, m); codes of the values of which a class is to have the shares.
        k: the least class.
    """
    n = len(labels)
    value_of = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(value_of)
    parts = math.gcd(*counts.tolist())
    # whole parts of n / parts records each, as few to a class as k allows
    classes = parts // -(-k * parts // n)
    if classes < 2:
        return np.zeros(n, np.int64)
    order = np.lexsort((labels, value_of))
    place = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    out = np.empty(n, np.int64)
    out[order] = place // (counts[value_of[order]] // parts) * classes // parts
    return number_by_first(out)
