"""The groups made so far, and which of them is closest to a record.

They lie in the leaves of a tree that is laid out over the records, since groups will be where
records are: a new group goes to the leaf of one of its members, or to a free one near by, and the
boxes above widen. The few that find no place go to a list that is swept.
What categories add to distances is bounded by category_shares.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import group_lanes, lowest_lane, share_lanes
from kanon_sql.methods.microaggregation.category_shares import Shares, empty_shares, lower
from kanon_sql.methods.microaggregation.centroids import (
    GroupBuffers,
    empty_groups,
    group_distance,
    join_group,
)
from kanon_sql.points.points import Floats, Labels
from kanon_sql.search.box_tree import (
    FAN,
    LEAF,
    BoxTree,
    Stack,
    empty_tree,
    insert,
    new_stack,
    push_children,
)
from kanon_sql.search.queries import NOBODY, padded
from kanon_sql.search.space import Bits, Space

ROOMY = 2
"""Places in the tree's leaves for each group that can come, at least."""

SHOWN, OVERFLOWN = range(2)
"""Places in an index's counts: groups shown, and places used in the overflow."""


class Shelf(NamedTuple):
    """Leaves with groups in them, attribute by attribute.

    Attributes:
        groups: the group at each place, -1: none; int64, shape (leaves * LEAF,).
        centers: their centroids; float64, shape (leaves, d, LEAF).
        sets: the categories that occur in them; uint64, shape (leaves, c, LEAF).
        inside: the least that one of these adds to a squared distance; float64, shape (leaves, c,
            LEAF).
        outside: what any other category adds; likewise.
        factors: what the squared distance to each is multiplied with; float64, shape
            (leaves, LEAF).
        absent: 0.0, or inf where there is no group; float64, shape (leaves, LEAF).
    """

    groups: Labels
    centers: Floats
    sets: Bits
    inside: Floats
    outside: Floats
    factors: Floats
    absent: Floats


class GroupIndex(NamedTuple):
    """Room for m groups of k or more out of n records, and a search for the closest.

    Attributes:
        groups: the groups themselves.
        along: their centroids along the p axes; float64, shape (m, p).
        tree: boxes over the groups on the shelf; its order and its places are not used.
        shares: what categories add, of the tree's nodes.
        shelf: the tree's leaves.
        overflow: the list's leaves, for groups that found no place on the shelf.
        where: the place of each group, counted on from the shelf's to the overflow's, -1: none;
            int64, shape (m,).
        home: the leaf that groups founded around each record go to; int64, shape (n,).
        counts: indexed by SHOWN and OVERFLOWN; int64, shape (2,).
        stack: room for one search at a time.
        grow: whether distances are growths of the SSE.
    """

    groups: GroupBuffers
    along: Floats
    tree: BoxTree
    shares: Shares
    shelf: Shelf
    overflow: Shelf
    where: Labels
    home: Labels
    counts: Labels
    stack: Stack
    grow: bool


def _empty_shelf(space: Space, leaves: int) -> Shelf:
    """That many leaves without groups."""
    d, c = space.numeric.shape[1], space.codes.shape[1]
    return Shelf(
        np.full(leaves * LEAF, -1, np.int64),
        np.zeros((leaves, d, LEAF)),
        np.zeros((leaves, c, LEAF), np.uint64),
        np.zeros((leaves, c, LEAF)),
        np.zeros((leaves, c, LEAF)),
        np.ones((leaves, LEAF)),
        np.full((leaves, LEAF), np.inf),
    )


def new_groups(space: Space, place: Labels, room: int, k: int, grow: bool) -> GroupIndex:
    """Room for that many groups of k or more.

    Args:
        place: the place of each record in a tree over all records: int64, shape (n,).
        grow: whether distances are growths of the SSE.
    """
    numeric, codes, axes = space.numeric, space.codes, space.axes
    # 4k records or more share a leaf, so that it gets several groups; fewer than 8k (where k is
    # above 1), so that it has ROOMY places for each
    width = LEAF
    while width * ROOMY < k * LEAF // 2:
        width *= 2
    home = place // width
    leaves = (len(numeric) + width - 1) // width
    tree = empty_tree(leaves, axes.shape[1])
    return GroupIndex(
        empty_groups(space, room), np.zeros((room, axes.shape[1])), tree,
        empty_shares(codes, int(tree.first[-1])), _empty_shelf(space, leaves),
        _empty_shelf(space, room // LEAF + 1), np.full(room, -1, np.int64), home,
        np.zeros(2, np.int64), new_stack.py_func(), grow,
    )


@inner
def _put(shelf: Shelf, q: int, group: int, index: GroupIndex) -> None:
    """Writes a group to a place of a shelf."""
    centers = index.groups.centers
    leaf, s, size = q // LEAF, q % LEAF, index.groups.sizes[group]
    shelf.groups[q], shelf.absent[leaf, s] = group, 0.0
    shelf.factors[leaf, s] = size / (size + 1.0) if index.grow else 1.0
    for a in range(centers.shape[1]):
        shelf.centers[leaf, a, s] = centers[group, a]


@inner
def _put_shares(
    space: Space, index: GroupIndex, shelf: Shelf, q: int, group: int, first: Any
) -> None:
    """Writes to a place of a shelf, and to the nodes above, what categories add to the distance
    from a group."""
    codes, scale, groups, shares = space.codes, space.scale, index.groups, index.shares
    head, chain, squares, size = groups.head, groups.chain, groups.squares, groups.sizes[group]
    counts, leaf, slot = shares.counts, q // LEAF, q % LEAF
    for a in range(codes.shape[1]):
        member = head[group]
        while member >= 0:
            counts[codes[member, a]] += 1
            member = chain[member]
        # the terms of group_distance, computed as there
        rest = scale[a] * ((squares[group, a] + size * size) / (size * size))
        least, bits, member = rest, np.uint64(0), head[group]
        while member >= 0:
            same = counts[codes[member, a]]
            # 0 where the category was met before
            if same > 0:
                counts[codes[member, a]] = 0
                term = scale[a] * (
                    (squares[group, a] - 2 * size * same + size * size) / (size * size)
                )
                spot = shares.place[a, codes[member, a]]
                if spot > 0:
                    least = min(least, term)
                    bits |= np.uint64(1) << np.uint64(spot & 63)
                    lower(shares.inside, first, leaf, spot, term)
            member = chain[member]
        lower(shares.outside, first, leaf, a, rest)
        shelf.sets[leaf, a, slot] = bits
        shelf.inside[leaf, a, slot], shelf.outside[leaf, a, slot] = least, rest


@inner
def join(space: Space, index: GroupIndex, i: int, group: int, labels: Any) -> None:
    """Puts record i into a group. Call ``show`` when the group has all that it gets for now."""
    join_group(space, i, group, labels, index.groups)


@inner
def _find_place(who: Any, leaf: int) -> int:
    """A free place in the leaf or one near it, below the same node; -1 where all are taken."""
    base, leaves = leaf - leaf % FAN, len(who) // LEAF
    for step in range(FAN):
        # goes through all leaves of the node, first the other side of the last cut, then of the
        # one before
        near = base + (leaf % FAN ^ step)
        # places fill from the first on, so the last one tells whether a leaf is full
        if near < leaves and who[near * LEAF + LEAF - 1] < 0:
            for s in range(LEAF):
                if who[near * LEAF + s] < 0:
                    return near * LEAF + s
    return -1


@inner
def show(space: Space, index: GroupIndex, group: int, member: int) -> None:
    """Makes a new or changed group known to the search; ``member`` is one of its records."""
    turn, centers, along = space.turn, index.groups.centers, index.along
    shelf, where, counts = index.shelf, index.where, index.counts
    for b in range(along.shape[1]):
        along[group, b] = 0.0
    for a in range(turn.shape[0]):
        for b in range(along.shape[1]):
            along[group, b] += centers[group, a] * turn[a, b]
    counts[SHOWN] = max(counts[SHOWN], group + 1)
    # a group stays where it began: boxes only widen, so that it is found wherever it moves to
    places = len(shelf.groups)
    if where[group] < 0:
        where[group] = _find_place(shelf.groups, index.home[member])
        if where[group] < 0:
            where[group] = places + counts[OVERFLOWN]
            counts[OVERFLOWN] += 1
    if where[group] < places:
        _put(shelf, where[group], group, index)
        _put_shares(space, index, shelf, where[group], group, index.tree.first)
        insert(index.tree, where[group] // LEAF, group, along[group])
    else:
        spot = where[group] - places
        _put(index.overflow, spot, group, index)
        # no node is above
        _put_shares(space, index, index.overflow, spot, group, index.tree.first[:0])


@inner
def _sweep(
    space: Space, index: GroupIndex, shelf: Shelf, leaf: int, i: int, best: int, best_gap: float
) -> Any:
    """The better of ``best`` and the closest group of one leaf, and how far it is."""
    who, sums, groups, grow = shelf.groups, index.stack.sums, index.groups, index.grow
    bits = index.shares.bits
    nominal = space.codes.shape[1] > 0
    hits = group_lanes(
        shelf.centers, shelf.sets, shelf.inside, shelf.outside, shelf.factors, shelf.absent, leaf,
        space.numeric, i, bits, best_gap, sums,
    )
    while hits != 0:
        s = lowest_lane(hits)
        hits &= hits - 1
        if sums[s] > best_gap or sums[s] == np.inf:
            continue
        group, gap = who[leaf * LEAF + s], sums[s]
        # with categories the lanes hold lower bounds only
        if nominal:
            gap = group_distance(space, i, group, grow, best_gap, groups)
        if gap < best_gap or (gap == best_gap and group < best):
            best, best_gap = group, gap
    return best, best_gap


@inner
def _ask(space: Space, index: GroupIndex, labels: Any, i: int, most: float) -> Any:
    """Notes the places of a record's categories; the closest of the groups that share a rare one
    with it, and how far it is."""
    codes, shares, groups, grow = space.codes, index.shares, index.groups, index.grow
    best, best_gap = NOBODY, most
    for a in range(codes.shape[1]):
        spot = shares.place[a, codes[i, a]]
        shares.asked[a] = spot
        shares.bits[a] = np.uint64(1) << np.uint64(spot & 63) if spot > 0 else np.uint64(0)
        other = i
        while True:
            group = labels[other]
            if group >= 0:
                gap = group_distance(space, i, group, grow, best_gap, groups)
                if gap < best_gap or (gap == best_gap and group < best):
                    best, best_gap = group, gap
            other = shares.kin[other, a]
            if other == i:
                break
    return best, best_gap


@inner
def _loose(best_gap: float, factor: float, slack: float) -> Any:
    """The limit for bounds that leaves out no group within best_gap."""
    if slack == 0.0:
        return best_gap
    # slack is one of distances, so the factor of the bounds is taken off, and put on again
    return factor * padded(best_gap / factor, slack) * (1.0 + 1e-12)


@inner
def find_group(
    space: Space, index: GroupIndex, labels: Any, i: int, k: int, most: float
) -> Any:
    """The closest of the groups that were shown to record i, and how far it is: |x - c|^2, or
    with growth n/(n+1) |x - c|^2 (clos(x) in thaeter2021, section 3). Every group has k or more.

    Args:
        most: groups as far as that or further may be passed over; the group is then NOBODY.
    """
    axes, slack, shares = space.axes, space.slack, index.shares
    inside, outside, asked = shares.inside, shares.outside, shares.asked
    tree, shelf, counts = index.tree, index.shelf, index.counts
    low, high, start, stack = tree.low, tree.high, tree.start, index.stack
    wait_bound, wait_node = stack.waiting_bound, stack.waiting_node
    wait_lead, bounds = stack.waiting_lead, stack.bounds
    best, best_gap = _ask(space, index, labels, i, most)
    # the overflow has no boxes, so it is swept whole; first, as that brings the limit down
    for leaf in range((counts[OVERFLOWN] + LEAF - 1) // LEAF):
        best, best_gap = _sweep(space, index, index.overflow, leaf, i, best, best_gap)
    # size / (size + 1) grows with the size, so that of k is a lower bound of all
    factor = k / (k + 1.0) if index.grow else 1.0
    room, top = tree.first[-1], 0
    if counts[SHOWN] > 0:
        wait_bound[0], wait_node[0], wait_lead[0], top = 0.0, 0, -1, 1
    loose = _loose(best_gap, factor, slack)
    while top > 0:
        top -= 1
        node, bound = wait_node[top], wait_bound[top]
        if bound > loose or (
            wait_lead[top] > best
            and (best_gap == 0.0 or (bound == best_gap and slack == 0.0))
        ):
            continue
        if node < room:
            hits = share_lanes(
                low, high, inside, outside, start, node, axes, i, asked, factor, loose, bounds
            )
            if hits != 0:
                top = push_children(tree, stack, top, node, hits)
            continue
        best, best_gap = _sweep(space, index, shelf, node - room, i, best, best_gap)
        loose = _loose(best_gap, factor, slack)
    return best, best_gap
