"""Rectangles that each hold k records or more, from a k-d tree (du2009, section 3.2).

Source: Du, Eppstein, Goodrich and Lueker (2009), On the approximability of geometric and
geographic generalization and the min-max bin covering problem, WADS, here du2009. A rectangle is
cut by an axis-parallel line for as long as both sides keep k records.

The paper leaves open which line. Here it is chosen as follows. A cut runs between two neighbouring
coordinates of a node's sites, so that sites on the same coordinate stay on the same side; with
left and right records on its two sides it is feasible if both are k or more. Of the feasible cuts
of both axes those count that leave the most classes possible, c: left // aim + right // aim, where
either side counts as one class at least, and aim is k or a little more. If both axes have such
cuts, the axis is taken along which the node's sites spread wider, axis 0 where
aspect * (spread of axis 0) >= spread of axis 1. Along it, the cut is taken at which left is nearest
to total * h / c, where h is c // 2 or c - c // 2; of two that are as near, the one at the lower
coordinate. So leaves come out near total / (total // aim) records. The plain median would leave up
to 2k-1 even where all sites are single records: 3k records would become two classes.

With aim = k, the first cuts use up what the records are more than a multiple of k; later on, where
sites aren't single records, hardly any cut meets a multiple of k on both sides, and many classes of
nearly 2k are left. How much more is needed depends on the data, so several trees are grown, for aim
= k + slack with slack 0 and then k // 64, k // 32, k // 16, k // 8 and k // 4, those that are 0
left out. That tree is taken that has the smallest largest class; of these the one with the least
sum of |E|**2 over its classes E; of these the first. A tree with total // k classes, the largest of
them as small as any grouping has it, is the last one grown.

Why no class is larger than the largest site + 4 (k-1): take a node that can't be cut, and on axis 0
the lowest coordinate x with k records or more at or below it. Below x are at most k-1 records.
Above x are at most k-1, too, as the cut there isn't feasible, or x is the highest. On axis 1 there
is such a coordinate y. A record that is not at (x, y) is below or above on one of the two axes, so
all but the records at (x, y) are at most 4 (k-1). And those at (x, y) are one site. The least
possible largest class is kappa = max(k, largest site) or more; so the ratio is at most
(kappa + 4 (k-1)) / kappa < 5 (theorem 4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import ONE, ZERO, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, ItemPoints, Labels, Points


class DistinctPlaces(NamedTuple):
    """Distinct places with records.

    Attributes:
        place: float64, shape (2, m); by axis.
        size: int64, shape (m,); the records at each, 1 or more.
    """

    place: Any
    size: Any


class Nodes(NamedTuple):
    """The nodes that wait to be cut, the lowest last; they follow each other in both orders.

    Attributes:
        boxes: float64, shape (g, 4); low and high of axis 0, then of axis 1.
        stops: int64, shape (g,); where in the orders they end.
        totals: int64, shape (g,); their records.
    """

    boxes: Any
    stops: Any
    totals: Any


@inner
def _best_cut(
    order: Any, column: Any, size: Any, start: int, stop: int, total: int, k: int, aim: int
) -> Any:
    """Of a node's cuts along one axis: the most classes, and where in order the right side starts.

    The node's sites are order[start:stop], ascending in the column; they have ``total`` records.
    Without a feasible cut 0 classes are returned.
    """
    most, least, place, left = ZERO, ZERO, start, ZERO
    for i in range(start, stop - 1):
        left += size[order[i]]
        right = total - left
        # the right side only shrinks
        if right < k:
            break
        if left >= k and column[order[i]] < column[order[i + 1]]:
            classes = max(left // aim, ONE) + max(right // aim, ONE)
            # in whole numbers, times classes: a tie must be one on every machine
            if classes >= most:
                half = total * (classes // 2)
                have = left * classes
                gap = min(abs(have - half), abs(have - (total * classes - half)))
                if classes > most or gap < least:
                    most, least, place = classes, gap, i + 1
    return most, place


@inner
def _part(order: Any, start: int, stop: int, lower: Any, room: Any) -> None:
    """Puts the node's sites that are on the lower side first, both sides in the order they had."""
    # stable, so that no side is ever sorted again
    kept, moved = start, ZERO
    for i in range(start, stop):
        site = order[i]
        if lower[site]:
            order[kept] = site
            kept += 1
        else:
            room[moved] = site
            moved += 1
    for i in range(moved):
        order[kept + i] = room[i]


@inner
def _axis_to_cut(
    place: Any, orders: Any, start: int, stop: int, aspect: float, classes: int, others: int
) -> Any:
    """The axis of a node's cut; ``classes`` and ``others`` are what is possible on either."""
    # more classes go before better shapes
    if classes != others:
        return ZERO if classes > others else ONE
    wide = place[0, orders[0, stop - 1]] - place[0, orders[0, start]]
    high = place[1, orders[1, stop - 1]] - place[1, orders[1, start]]
    return ZERO if aspect * wide >= high else ONE


@kernel
def _grow_tree(
    sites: DistinctPlaces, orders: Any, k: int, aim: int, aspect: float, box: Any, beat: Any
) -> Any:
    """The group of each site, int64, shape (m,), and the boxes of the groups, float64, shape
    (groups, 4).

    Leaves are numbered from the lower side of each cut on. The nodes that are still to be cut wait
    on a stack, the lowest on top. They follow each other in both orders, so that each is known by
    where it stops. Waiting nodes and leaves all have k records or more, so no more than
    g = min(m, total // k) can be there at a time.

    Args:
        sites: m of them, with k records or more in all.
        orders: int64, shape (2, m); the sites in ascending order of each axis; rearranged.
        k: int64.
        aim: int64; how large classes should be.
        aspect: how much a unit of axis 0 counts relative to a unit of axis 1.
        box: float64, shape (4,); low and high of axis 0, then of axis 1, of the root.
        beat: where to count records and look for a wish to stop.
    """
    (place, size), m = sites, len(sites.size)
    every = ZERO
    for i in range(m):
        every += size[i]
    most = min(m, every // k)
    nodes = Nodes(np.empty((most, 4)), np.full(most, m), np.full(most, every))
    (boxes, stops, totals), cells = nodes, np.empty((most, 4))
    for i in range(4):
        # one by one: what numpy would say of wrong shapes takes two seconds to compile
        boxes[0, i] = box[i]
    # room for one side of a cut, allocated once for all nodes
    groups, room = np.zeros(m, np.int64), np.empty(m, np.int64)
    lower = np.zeros(m, np.bool_)
    waiting, leaves, start = ONE, ZERO, ZERO  # the node on top starts where the last leaf stops
    while waiting > 0 and beat[STOP] == 0:
        top = waiting - 1
        stop, total = stops[top], totals[top]
        classes, middle = _best_cut(orders[0], place[0], size, start, stop, total, k, aim)
        others, other_middle = _best_cut(orders[1], place[1], size, start, stop, total, k, aim)
        if classes == 0 and others == 0:
            for i in range(start, stop):
                groups[orders[0, i]] = leaves
            for i in range(4):
                cells[leaves, i] = boxes[top, i]
            beat[DONE] += total
            leaves, waiting, start = leaves + 1, top, stop
            continue
        axis = _axis_to_cut(place, orders, start, stop, aspect, classes, others)
        if axis == 1:
            middle = other_middle
        # the order of the axis of the cut is parted as it is; the other one follows it
        order, column = orders[axis], place[axis]
        left = ZERO
        for i in range(start, stop):
            lower[order[i]] = i < middle
            if i < middle:
                left += size[order[i]]
        _part(orders[1 - axis], start, stop, lower, room)
        below, above = column[order[middle - 1]], column[order[middle]]
        cut = 0.5 * below + 0.5 * above  # the sum of the two may be no float
        if cut <= below:
            cut = above
        # the upper side takes the place of the node, and the lower side goes on top of it
        for i in range(4):
            boxes[waiting, i] = boxes[top, i]
        boxes[waiting, 2 * axis + 1] = cut
        boxes[top, 2 * axis] = cut
        stops[waiting], totals[waiting], totals[top] = middle, left, total - left
        waiting += 1
    return groups, cells[:leaves]


def _box(place: Floats, size: Labels, extent: Any) -> Floats:
    """What the cells tile: the extent, or the bounding box of the sites; float64, shape (2, 2).

    Raises:
        DataError: a site lies outside the extent.
    """
    low, high = place.min(axis=1), place.max(axis=1)
    if extent is None:
        return np.stack([low, high], axis=1)
    box = np.array(extent, np.float64) + 0.0
    outside = ((place < box[:, :1]) | (place > box[:, 1:])).any(axis=0)
    if outside.any():
        count = int(size[outside].sum())
        raise DataError(
            f"{count} record{' lies' if count == 1 else 's lie'} outside the extent. "
            "Make the extent larger, or leave it out."
        )
    return box


def _tree(
    sites: DistinctPlaces, orders: Labels, k: int, aim: int, aspect: float, box: Floats, beat: Any
) -> tuple[Labels, Floats, Labels]:
    """The groups of a tree, as _grow_tree has them, their cells, and their sizes."""
    groups, cells = _grow_tree(sites, orders, k, aim, aspect, box.reshape(-1), beat)
    classes = np.bincount(groups, sites.size, len(cells)).astype(np.int64)
    return groups, cells.reshape(-1, 2, 2), classes


def _slacks(k: int) -> list[int]:
    """By how much more than k the aims are, in the order in which trees are grown."""
    return [0, *(k >> shift for shift in (6, 5, 4, 3, 2) if k >> shift)]


def gps_rectangles(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups places into rectangles of k records or more that can't be cut any further.

    The rectangles are in the grouping's cells: [group, axis, (low, high)]. A cut between the
    neighbouring coordinates a < b lies midway, or at b where no float lies midway. So a cell is
    half-open, [low, high), and closed where high is the upper border of the box. The cells together
    tile the box. (Where a cut falls on the upper border itself, because no float lies between it
    and the next lower coordinate, the cell above the cut is a line, low = high, and has the places
    on it.) Groups are numbered from the lower side of each cut on.

    Args:
        points: ItemPoints; distinct places of shape (m, 2), finite, with sizes of 1 or more; the
            aspect, by which the wider axis of a node is found, and the extent, if it isn't that of
            the places.
        task: k, from 1 to len(points).
        watch: gets records done, for up to six trees.

    Returns:
        The grouping, with its cells. Facts: ``lower_bound``, no grouping at all has a smaller
        largest class; ``guaranteed_ratio``, the largest class over the least possible one, at most.

    Source: du2009, section 3.2. O(m log m) after sorting as long as cuts leave a share of the sites
    on either side; O(m) per level of the tree.

    Raises:
        DataError: a place lies outside the extent.
        StoppedError: the watch was told to stop.
    """
    k = task.k
    assert isinstance(points, ItemPoints)
    place = np.ascontiguousarray(points.place.T) + 0.0  # there is no -0.0
    size = points.size
    box = _box(place, size, points.extent if len(points.extent) else None)
    sites, orders = DistinctPlaces(place, size), np.argsort(place, axis=1, kind="stable")
    total, largest = int(size.sum()), int(size.max())
    least = max(k, largest, -(-total // (total // k)))
    aspect, best = points.aspect, (total + 1, 0)
    for slack in _slacks(k):
        watch.check()
        if slack > 0:
            watch.expect(total)
        tree = _tree(sites, orders.copy(), k, k + slack, aspect, box, watch.beat())
        watch.check()
        classes = tree[2]
        rank = int(classes.max()), int((classes * classes).sum())
        # the first of equal trees stays: that of the least aim
        if rank < best:
            best, (groups, cells, _) = rank, tree
        if rank[0] == least and len(classes) == total // k:
            break
    facts = {
        "lower_bound": float(least),
        "guaranteed_ratio": min(total, largest + 4 * (k - 1)) / least,
    }
    return replace(points.grouping(groups, facts), cells=cells)
