"""What no clustering costs less than, and what the published centers cost at most.

There are two problems. With centers 'rows' every center is a row of the table. Otherwise a center
may be any point of a metric space that holds the rows, such as a centroid: what such centers cost
may be less than what any rows do, so no bound for rows says anything of them. Below, R is the
radius of a class around any point, S its radius around the best of the rows.

Rows and other points. S <= 2R: two rows of the class are within 2R of each other, so each row of it
reaches all others so far. No smaller factor is true of all classes: of two rows, the point half way
has R = S / 2. So the least cost with rows is at most twice that with any points, of the largest
radius, and of the sum of rows times radii. A bound for rows is halved, a guarantee doubled, where
no better is known.

Nearest neighbours. Let d_i be the distance of row i to its (k-1)-th nearest. In a class of k or
more, each row has k-1 others within 2R: R >= d_i / 2. Around a row v, S >= d(i, v), and k rows are
within S of v: S >= need_i, the least over v of max(d(i, v), d_v). It is no less than d_i / 2, as k
rows lie within 2 need_i of i.

Their sum. Each row pays the radius of its class, and so the largest need in it, at least.
``cheapest_classes`` is the least sum over all partitions into classes of k or more. It is found
among those that cut the rows, sorted by need, into runs: give the row with the largest need, and
those behind it, to a class of the size that the dearest class had, and so on. The first row of the
j-th run is then the (m+1)-th of all, m being the sizes before it; of the m+1 first rows one was in
no class before the j-th, so the j-th largest of all classes' needs was no less. Where rows may be
left out, the smallest needs are kept, as few as may be or more: fewer rows may cost more, if they
don't divide well.

Centroids. A centroid has the mean of numbers and the most frequent of categories, one of those that
tie. In the metric 'euclidean', without hierarchies, and if no class holds both NULLs and values of
a column, its radius is at most 2R, so at most twice that of any row (``WIDENED``). Let v be any
center, with numbers and categories, x a row, g the centroid; in units of v's radius, let a and b be
how far x is from v along the numbers and along the categories, A and B the square roots of the
means of these squares over all rows. So a^2 + b^2 <= 1 and A^2 + B^2 <= 1. Along the numbers, x is
within a + A of g, as v is within A of the mean. Where x differs from g in a category, it differs
from v, or v has not g's category; then at most half of the rows have v's, as g's is no rarer, and
so that category adds to the distance at most twice what it adds to B^2. In all the squared distance
is at most (a + A)^2 + b^2 + 2 B^2 <= 3 + 2 a A - A^2 <= 4. Elsewhere no factor is proven: the mean
of numbers is another value to 'hamming', and one of degrees to 'haversine'; a most frequent value
may lie below a rare node of its hierarchy; dates have means of whole days. So a run with centers
'means' is told its guarantee where its centroids do keep within twice the radii, and none where
they don't.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.points.points import Floats, Labels, MetricPoints, Points
from kanon_sql.search.nearest_lists import nearest_lists

FREE = 2.0
"""What the least cost around rows is at most, over that around any points."""


def keys_between(points: Points, some: Any, others: Any) -> Floats:
    """The keys of pairs of records (see MetricPoints): float64, shape (m,).

    Args:
        points: n records.
        some, others: int64 indices, shape (m,) or one for all.
    """
    keys = np.zeros(np.broadcast_shapes(np.shape(some), np.shape(others)))
    for column in points.numeric.T:
        keys += (column[some] - column[others]) ** 2
    for column, scale in zip(points.codes.T, points.scale, strict=True):
        keys += np.where(column[some] != column[others], 2.0 * scale, 0.0)
    return keys


def half_distances(points: MetricPoints, k: int) -> Floats:
    """Half the distance of each record to its (k-1)-th nearest: float64, shape (n,), ascending."""
    lists = nearest_lists(points, k - 1)
    # where no record has a (k-1)-th nearest there is nothing to bound
    if lists.shape[1] < k - 1 or k == 1:
        return np.zeros(len(points))
    last = lists[:, -1].astype(np.int64)
    keys = keys_between(points, np.arange(len(points)), last)
    return np.sort(points.distances(keys)) / 2.0


def radii_around(points: MetricPoints, labels: Labels, centers: Labels) -> Floats:
    """The largest distance of a record to the center of its class: float64, shape (groups,).

    Args:
        points: n records.
        labels: int64, shape (n,), 0 .. groups-1; -1 for records that are left out.
        centers: int64, shape (groups,), records.
    """
    placed = np.flatnonzero(labels >= 0)
    away = points.distances(keys_between(points, placed, centers[labels[placed]]))
    radii = np.zeros(len(centers))
    np.maximum.at(radii, labels[placed], away)
    return radii


@kernel
def _cheapest(needs: Any, k: int) -> Any:
    """For each m, what the m smallest needs cost at least: float64, shape (n + 1,).

    With f(m) for that, f(m) = min over j <= m - k of f(j) + (m - j) * need of the m-th: lines of
    slope -j at that need. Slopes fall and needs rise, so the lines that are lowest somewhere form a
    queue, from which the first one goes once the next is lower.
    """
    n = len(needs)
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    lines, first, count = np.empty(n + 1, np.int64), 0, 0
    for m in range(k, n + 1):
        j, need = m - k, needs[m - 1]
        if least[j] < np.inf:
            # the last line is nowhere lowest if the new one is below it before it is below the
            # one before it
            while count - first > 1:
                a, b = lines[count - 2], lines[count - 1]
                if (least[j] - least[a]) * (b - a) > (least[b] - least[a]) * (j - a):
                    break
                count -= 1
            lines[count] = j
            count += 1
        while count - first > 1 and (
            least[lines[first + 1]] - lines[first + 1] * need
            <= least[lines[first]] - lines[first] * need
        ):
            first += 1
        j = lines[first]
        least[m] = least[j] + (m - j) * need
    return least


def cheapest_classes(needs: Floats, k: int, out: int = 0) -> float:
    """The least sum over all partitions into classes of k or more, each row paying the largest need
    of its class; 0 where there are fewer than k rows.

    Args:
        needs: float64, shape (n,), ascending, 0 or more.
        k: the least size of a class.
        out: how many rows may be left out.
    """
    n = len(needs)
    if n < k or n == 0:
        return 0.0
    return float(_cheapest(needs, k)[max(n - out, 1) :].min())


def neighbour_bound(points: MetricPoints, k: int, objective: str, out: int = 0) -> float:
    """A lower bound of the largest radius ('radius') or the cellular cost ('cellular'), around any
    points.

    Args:
        points: n records.
        k: the least class size.
        objective: of which of the two.
        out: how many records may be left out.
    """
    halves = half_distances(points, k)
    if len(halves) <= out:
        return 0.0
    if objective == "radius":
        return float(halves[len(halves) - out - 1])
    return cheapest_classes(halves, k, out)
