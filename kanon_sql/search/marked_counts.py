"""Some records are marked: how many of those lie within a distance of a record.

Where a whole box of the tree is within the distance, its records are not looked at.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.parallel import in_parallel, threads
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.points.points import Labels, MetricPoints
from kanon_sql.search.axes import make_space
from kanon_sql.search.box_tree import FAN, LEAF, new_stack
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.queries import padded

ANY = np.int64(1)
"""One is enough, for ``count_marked``. A plain 1 would have it compiled a second time."""

PIECE = 2_000
"""Records at least for which a thread of its own is worth it."""


class MarkedTree(NamedTuple):
    """All records, to be searched for the marked ones among them, or for all.

    Attributes:
        space: with all axes, see make_space.
        tree, leaves: of all records, see build_tree and fill_leaves.
        exact_sets: uint64, shape (c,); all bits set for an attribute whose categories have a bit of
            their own each in the tree's sets, else none: a set of one bit then says nothing
            certain.
    """

    space: Any
    tree: Any
    leaves: Any
    exact_sets: Any


class Marks(NamedTuple):
    """Which records are marked.

    Attributes:
        marked: bool, shape (n,).
        below: int64, shape (groups, FAN); how many are marked below each child of a node.
    """

    marked: Any
    below: Any


def new_marked_tree(points: MetricPoints) -> MarkedTree:
    """What ``count_marked`` searches: all records."""
    space = make_space(points, whole=True)
    tree, leaves, _, _ = new_pool(space, np.arange(len(points)))
    single = points.codes.max(axis=0, initial=0) < 64
    return MarkedTree(space, tree, leaves, np.where(single, ~np.uint64(0), np.uint64(0)))


@inner
def _farthest_bound(marked_tree: MarkedTree, node: int, s: int, origin: int) -> Any:
    """No record below a node's child s has a larger key to the origin than this."""
    space, tree, _, exact_sets = marked_tree
    apart, axes, sets, slack = space.apart, space.axes, space.sets, space.slack
    low, high, held = tree.low, tree.high, tree.sets
    total = 0.0
    for a in range(axes.shape[1]):
        gap = max(axes[origin, a] - low[node, a, s], high[node, a, s] - axes[origin, a])
        total += gap * gap
    # along turned axes a box may be too narrow by rounding: an upper bound must not be too low
    total = padded(total, slack)
    for a in range(sets.shape[1]):
        # only the same single category below says that no record there differs
        if held[node, a, s] != sets[origin, a] & exact_sets[a]:
            total += apart[a]
    return total


@inner
def no_marks(marked_tree: MarkedTree) -> Marks:
    """Marks for all records, none of which is set."""
    tree = marked_tree.tree
    place, live = tree.place, tree.live
    return Marks(np.zeros(len(place), np.bool_), np.zeros(live.shape, np.int64))


@inner
def change_mark(marked_tree: MarkedTree, marks: Marks, i: int) -> None:
    """Marks record i, or takes its mark away."""
    tree = marked_tree.tree
    place, first = tree.place, tree.first
    marked, below = marks
    marked[i] = not marked[i]
    more = 1 if marked[i] else -1
    node = place[i] // LEAF
    for level in range(len(first) - 2, -1, -1):
        below[first[level] + node // FAN, node % FAN] += more
        # the nodes above are found by division: the tree has no pointers
        node //= FAN


@inner
def count_marked(
    marked_tree: MarkedTree, marks: Marks, stack: Any, origin: int, limit: float, enough: int
) -> int:
    """How many marked records lie within a key of the origin; stops at ``enough``, or beyond."""
    space, tree, (values, kinds, absent), _ = marked_tree
    numeric, codes, apart = space.numeric, space.codes, space.apart
    axes, sets, slack = space.axes, space.sets, space.slack
    order, low, high, held = tree.order, tree.low, tree.high, tree.sets
    start, first = tree.start, tree.first
    marked, below = marks
    waiting, sums, bounds = stack.waiting_node, stack.sums, stack.bounds
    loose, room, count, top = padded(limit, slack), first[-1], 0, 1
    waiting[0] = 0
    while top > 0 and count < enough:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                low, high, held, start, node, axes, sets, origin, apart, 1.0, loose, bounds
            )
            # children have no pointers: their numbers follow from the level of the node
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                # an empty child is never opened, whatever its bound
                if below[node, s] == 0:
                    continue
                # a child that lies within as a whole is counted, not opened
                if _farthest_bound(marked_tree, node, s, origin) <= limit:
                    count += below[node, s]
                else:
                    waiting[top] = base + s
                    top += 1
            continue
        leaf = node - room
        hits = record_lanes(
            values, kinds, absent, leaf, numeric, codes, origin, apart, limit, sums
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if sums[s] < np.inf:
                count += marked[order[leaf * LEAF + s]]
    return count


@kernel
def _fill_sizes(
    marked_tree: MarkedTree, limit: float, first: int, last: int, sizes: Any, beat: Any
) -> None:
    """The sizes of the balls of the records first .. last-1."""
    # each core has marks of its own: with all records marked a count is the size of a ball
    marks, stack = no_marks(marked_tree), new_stack()
    for i in range(len(sizes)):
        change_mark(marked_tree, marks, i)
    for i in range(first, last):
        if beat[STOP] != 0:
            return
        sizes[i] = count_marked(marked_tree, marks, stack, i, limit, len(sizes) + 1)


def ball_sizes(marked_tree: MarkedTree, limit: float, watch: Watch) -> Labels:
    """How many records lie within a key of each record: int64, shape (n,). Runs on all cores."""
    numeric, *_ = marked_tree.space
    n, beat = len(numeric), watch.beat()
    sizes = np.zeros(n, np.int64)
    # each core marks all records first: too small a piece would not pay for that
    pieces = max(1, min(threads(), n // PIECE))
    bounds = [n * piece // pieces for piece in range(pieces + 1)]
    in_parallel(
        [partial(_fill_sizes, marked_tree, limit, *ends, sizes, beat) for ends in pairwise(bounds)]
    )
    watch.check()
    return sizes
