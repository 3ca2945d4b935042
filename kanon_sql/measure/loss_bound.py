"""What no grouping into classes of k records or more loses less than, in squared errors.

Pairs. The squared error of a class C of s records is the sum, over all ordered pairs of its
records, of their squared distance, over 2s. (The squared distance of i to the centroid, summed over
i, is that sum; a category is a one-hot vector, so this holds for ``losses.sse`` term by term: of a
column of codes, scale * (s - the sum of squared counts / s).) So record i pays a share of

    (1 / 2s) * (the sum of its squared distances to the s - 1 others),

and the shares of all records add up to the sse.

Nearest. Let e_1 <= e_2 <= ... be the squared distances of i to all other records. Those of its
class are s - 1 of these, so its share is at least f(s) / 2, f(s) = (e_1 + ... + e_{s-1}) / s.

Sizes. f doesn't fall: f(s+1) - f(s) = (s e_s - (e_1 + ... + e_{s-1})) / (s (s + 1)), and e_s is no
less than any of the s - 1 before it, so this is no less than e_s / (s (s + 1)) >= 0. With s >= k
record i pays f(k) / 2 at least: the sum of its k - 1 least squared distances, over 2k.

The bound is the sum of that over all records. No class is named in it, so it holds for every
method, and with any other demand on classes beside k. It is reached where all classes are k records
that are equally far from each other, and nobody else is as near. Of numbers it is about half the
optimum, or less: it takes each record for the middle of its class.

Of one numeric coordinate the optimum itself is known (optimal_1d), and is told instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_sql.kernel.compiling import announcing
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Floats, Points
from kanon_sql.search.nearest_lists import nearest_lists

MOST_LISTED = 20_000_000
"""Records times k - 1 up to which the nearest are searched for: as many int32 are held."""


@dataclass(frozen=True)
class LossBound:
    """What no grouping loses less than.

    Attributes:
        sse: in squared standard deviations.
        exact: whether a grouping loses that.
    """

    sse: float
    exact: bool


def loss_bound(points: Points, k: int) -> LossBound | None:
    """What no grouping of all records into classes of k or more loses less than; None where there
    are too many records to look for the nearest of each, or fewer than k.

    Args:
        points: n records in canonical order.
        k: the least records of a class, 1 or more.

    Source: the pairs are Huygens' theorem; the rest is proven above. One coordinate: Hansen and
    Mukherjee 2003.
    """
    n = len(points)
    if n < k:
        return None
    if points.codes.shape[1] == 0 and points.numeric.shape[1] <= 1:
        with announcing("the metrics"):
            optimal = GroupTask.of(METHODS["optimal_1d"], k).group(points)
        return LossBound(sse(points, optimal.labels), True)
    if n * (k - 1) > MOST_LISTED:
        return None
    return LossBound(float(np.sum(nearest_sums(points, k - 1))) / (2.0 * k), False)


def nearest_sums(points: Points, count: int) -> Floats:
    """The sum of the squared distances of each record to its ``count`` nearest: float64, shape
    (n,). Each is summed over the attributes in their order, and they are added up from the least
    on."""
    with announcing("the metrics"):
        lists = nearest_lists(points, count)
    sums = np.zeros(len(points))
    for others in lists.T.astype(np.int64):
        squares = np.zeros(len(points))
        for column in points.numeric.T:
            squares += (column - column[others]) ** 2
        for codes, scale in zip(points.codes.T, points.scale, strict=True):
            squares += np.where(codes != codes[others], 2.0 * scale, 0.0)
        sums += squares
    return sums
