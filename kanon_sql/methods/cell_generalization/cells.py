"""Generalized cells (aggarwal2005, sections 2 and 4): what a class costs, and the least any can.

The points have no numeric columns; each quasi-identifier is one column of codes per level of its
hierarchy, with scale weight / height. Generalizing to level r then costs r of those scales, and so
the generalization of trees is the suppression of weighted columns: a class e costs |e| D(e), and
D(e) is the sum of the scales of the columns in which it has more than one code.
"""

from __future__ import annotations

import math

import numpy as np

from kanon_sql.kernel.watch import Beat
from kanon_sql.points.points import Floats, Labels, LossPoints, Points
from kanon_sql.search.nearest_alike import Lists
from kanon_sql.search.nearest_lists import nearest_lists


def edge_points(points: LossPoints) -> Points:
    """The same records, with the weight of an edge as the key of its two ends.

    w(a, b) is the sum of the scales of the columns in which a and b differ (aggarwal2005,
    section 4, construction of the graph). Searches add up 2 * scale; halving and doubling a scale
    leaves its bits as they were.
    """
    return Points(points.numeric, points.codes, points.scale / 2.0)


def edge_weights(points: LossPoints, one: Labels | Lists, other: Labels | Lists) -> Floats:
    """w(a, b) of pairs of records, added up in the order of the columns: float64, shape (m,).

    One, other: the ends of each edge, integers, shape (m,).
    """
    total = np.zeros(len(one))
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        total += scale * (codes[one] != codes[other])
    return total


def neighbour_bound(
    points: LossPoints, k: int, beat: Beat | None = None, lists: Lists | None = None
) -> float:
    """What every k-anonymous table of these records costs at least, in cells.

    A record shares its class with k - 1 others, so it is charged no less than the weight of the
    edge to its (k-1)-th nearest (aggarwal2005, section 4.1). A deleted record is charged all its
    cells, and no edge weighs more. The sum over the records is rounded once, as if it had been
    exact, so their order does not matter.

    Args:
        points: n records in canonical order, without numeric columns.
        k: every class has k records or more.
        beat: may say stop; the result is then no good.
        lists: ``nearest_lists(edge_points(points), m)`` with m of k - 1 or more, if it is known.
    """
    if lists is None:
        lists = nearest_lists(edge_points(points), k - 1, beat)
    last = min(k - 1, lists.shape[1]) - 1
    if last < 0:
        return 0.0
    return math.fsum(edge_weights(points, np.arange(len(points)), lists[:, last]).tolist())
