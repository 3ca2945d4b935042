"""A shallow tree over points: leaves of 16 records, nodes of 16 children.

Leaves and boxes are stored attribute by attribute, so that one sweep of vector instructions
measures 16 records, or bounds 16 children. The tree only ever leaves out what can't be the
answer, so what a search returns does not depend on it.

Boxes lie in ``axes``: the numeric attributes themselves, or their leading principal axes, which
bound correlated data more tightly (see space.py). Categories are bounded by a set of 64 bits per
attribute (category modulo 64).

Group g of level l holds the 16 children that are nodes g*16 .. g*16+15 of the next level, so the
tree needs no pointers; the levels' groups lie behind each other, the root's group first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import ZERO, inner
from kanon_sql.kernel.simd import LANES, lowest_lane
from kanon_sql.points.points import Floats, Labels
from kanon_sql.search.cuts import cut, weigh_categories, widest_axis

LEAF = FAN = LANES
"""Records in a leaf; children of a node."""


class BoxTree(NamedTuple):
    """A tree over some of n records, along p axes and with c categorical attributes.

    Attributes:
        order: the record at each place of the leaves, -1: none; int64, shape (leaves * LEAF,).
        place: where in the order each record lies, -1: nowhere; int64, shape (n,).
        low: the lower ends of the box of each child; float64, shape (groups, p, FAN).
        high: the upper ends, likewise.
        sets: the categories below each child; uint64, shape (groups, c, FAN).
        lead: the lowest index below each child; int64, shape (groups, FAN).
        start: where the bound of each child starts: 0.0, or inf where no live record is below;
            float64, shape (groups, FAN).
        live: live records below each child of the lowest level, live children of each of the
            others; int64, shape (groups, FAN).
        first: the first group of each level, from the root down, and the number of all groups;
            int64, shape (height + 1,).
    """

    order: Labels
    place: Labels
    low: Floats
    high: Floats
    sets: npt.NDArray[np.uint64]
    lead: Labels
    start: Floats
    live: Labels
    first: Labels


class Stack(NamedTuple):
    """Room for one search at a time: the nodes that wait, and what is measured of 16 lanes.

    Attributes:
        waiting_bound: a lower bound of what is below each node that waits; float64, shape (r,).
        waiting_node: its number, groups first and leaves behind them; int64, shape (r,).
        waiting_lead: the lowest index below it; int64, shape (r,).
        sums: what the records of a leaf measure; float64, shape (LEAF,).
        bounds: the bounds of the children of a node; float64, shape (FAN,).
    """

    waiting_bound: Floats
    waiting_node: Labels
    waiting_lead: Labels
    sums: Floats
    bounds: Floats


@inner
def halve(space: Any, order: Any, key: Any, part: Any, n: int) -> int:
    """Cuts the leaves part[0] .. part[1]-1 in two; returns the first leaf of the second half.

    Args:
        space: the Space of the records, of which it takes axes, sets and scale.
        order: the records of all leaves, of which there are n; int64, shape (leaves * LEAF,).
        key: room to work in; float64, shape (n,).
        part: int64, shape (2,), two leaves or more.
    """
    axes, masks, scale = space.axes, space.sets, space.scale
    first, last = part[0], part[1]
    lo, hi = first * LEAF, min(last * LEAF, n)
    # at whole nodes of the level below: all but the last are full, and the tree needs no pointers
    capacity = 1
    while capacity * FAN < last - first:
        capacity *= FAN
    middle: int = first + capacity * ((last - first + capacity - 1) // capacity // 2)
    # alike, as far as a sample tells: by their index, which breaks ties
    weights = np.empty(len(scale))
    weigh_categories(masks, scale, order, lo, hi, weights)
    axis = widest_axis(axes, masks, weights, order, lo, hi)
    cut(axes, masks, order, key, lo, hi, axis, middle * LEAF)
    return middle


@inner
def arrange(space: Any, order: Any, key: Any, part: Any, n: int) -> None:
    """Orders the leaves part[0] .. part[1]-1, so that each run of LEAF records is a leaf, and each
    aligned run of LEAF * FAN^l records a node. Arguments as for ``halve``."""
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1], top = part[0], part[1], 1
    while top > 0:
        top -= 1
        first, last = waiting[top]
        if last - first <= 1:
            continue
        middle = halve(space, order, key, waiting[top], n)
        # 128 are enough: one part waits for each cut on the way down, and a cut nearly halves
        waiting[top, 0], waiting[top, 1] = middle, last
        waiting[top + 1, 0], waiting[top + 1, 1] = first, middle
        top += 2


@inner
def levels(leaves: int) -> Any:
    """The first group of each level, from the root down, and the number of all groups."""
    counts = [leaves, (leaves + FAN - 1) // FAN]
    while counts[-1] > 1:
        counts.append((counts[-1] + FAN - 1) // FAN)
    height = len(counts) - 1
    first = np.zeros(height + 1, np.int64)
    for level in range(height):
        first[level + 1] = first[level] + counts[height - level]
    return first


@inner
def bare_tree(order: Any, place: Any, first: Any, p: int, c: int) -> BoxTree:
    """A tree of these levels whose boxes hold nothing: any point widens them to itself."""
    room = first[-1]
    return BoxTree(
        order,
        place,
        np.full((room, p, FAN), np.inf),
        np.full((room, p, FAN), -np.inf),
        np.zeros((room, c, FAN), np.uint64),
        np.full((room, FAN), np.int64(2**62)),
        np.full((room, FAN), np.inf),
        np.zeros((room, FAN), np.int64),
        first,
    )


def empty_tree(leaves: int, p: int) -> BoxTree:
    """A tree of that many empty leaves, without categories, to be filled by ``insert``."""
    order, nowhere = np.full(leaves * LEAF, -1, np.int64), np.full(0, -1)
    # as it is written: it is not worth compiling for one tree
    tree: BoxTree = bare_tree.py_func(order, nowhere, levels.py_func(leaves), p, 0)
    return tree


@inner
def insert(tree: BoxTree, leaf: int, i: int, at: Any) -> None:
    """Widens the boxes above a leaf so that they hold point i, at these axes."""
    low, high, lead, start, first = tree.low, tree.high, tree.lead, tree.start, tree.first
    node = leaf
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        start[g, s], lead[g, s] = 0.0, min(lead[g, s], i)
        for a in range(low.shape[1]):
            low[g, a, s], high[g, a, s] = min(low[g, a, s], at[a]), max(high[g, a, s], at[a])
        node //= FAN


@inner
def start_tree(space: Any, members: Any) -> BoxTree:
    """A tree over some records (int64, shape (m,)) as they lie, whose boxes hold nothing."""
    n, leaves = len(members), (len(members) + LEAF - 1) // LEAF
    order = np.full(leaves * LEAF, -1, np.int64)
    for q in range(n):
        # one by one: what numpy would say of wrong shapes takes two seconds to compile
        order[q] = members[q]
    place = np.full(space.axes.shape[0], -1, np.int64)
    first = levels(leaves)
    tree: BoxTree = bare_tree(order, place, first, space.axes.shape[1], space.sets.shape[1])
    return tree


@inner
def fill_boxes(space: Any, tree: BoxTree, lo: int, hi: int) -> None:
    """Makes the boxes of the leaves lo .. hi-1, whose records are in order."""
    axes, masks = space.axes, space.sets
    order, place, low, high, sets = tree.order, tree.place, tree.low, tree.high, tree.sets
    lead, start, live, first = tree.lead, tree.start, tree.live, tree.first
    base = first[len(first) - 2]
    for q in range(lo * LEAF, hi * LEAF):
        i, leaf = order[q], q // LEAF
        if i < 0:
            continue
        place[i] = q
        g, s = base + leaf // FAN, leaf % FAN
        live[g, s] += 1
        start[g, s] = 0.0
        lead[g, s] = min(lead[g, s], i)
        for a in range(low.shape[1]):
            value = axes[i, a]
            low[g, a, s], high[g, a, s] = min(low[g, a, s], value), max(high[g, a, s], value)
        for a in range(sets.shape[1]):
            sets[g, a, s] |= masks[i, a]


@inner
def raise_boxes(tree: BoxTree) -> None:
    """Makes the boxes of all nodes above the leaves', which are made."""
    low, high, sets = tree.low, tree.high, tree.sets
    lead, start, live, first = tree.lead, tree.start, tree.live, tree.first
    # from the leaves up: a node's box is made of those of its children
    for level in range(len(first) - 2, 0, -1):
        for below in range(first[level], first[level + 1]):
            j = below - first[level]
            g, s = first[level - 1] + j // FAN, j % FAN
            start[g, s] = 0.0
            for t in range(FAN):
                if live[below, t] == 0:
                    continue
                live[g, s] += 1
                lead[g, s] = min(lead[g, s], lead[below, t])
                for a in range(low.shape[1]):
                    low[g, a, s] = min(low[g, a, s], low[below, a, t])
                    high[g, a, s] = max(high[g, a, s], high[below, a, t])
                for a in range(sets.shape[1]):
                    sets[g, a, s] |= sets[below, a, t]


@inner
def build_tree(space: Any, members: Any) -> BoxTree:
    """A tree over some records of a space: int64, shape (m,)."""
    tree: BoxTree = start_tree(space, members)
    leaves = len(tree.order) // LEAF
    part = np.zeros(2, np.int64)
    part[1] = leaves
    arrange(space, tree.order, np.empty(len(members)), part, len(members))
    fill_boxes(space, tree, ZERO, leaves)
    raise_boxes(tree)
    return tree


@inner
def remove(tree: BoxTree, i: int) -> None:
    """Takes a record out; a node without live records is never visited again.

    Boxes stay as wide as they are: that costs time, but no answer, and the tree is built anew
    when many records are gone (see unassigned.py).
    """
    start, live, first = tree.start, tree.live, tree.first
    node = tree.place[i] // LEAF
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        live[g, s] -= 1
        if live[g, s] > 0:
            break
        start[g, s] = np.inf
        node //= FAN


@inner
def new_stack() -> Stack:
    """An empty stack."""
    # at most FAN nodes wait at each level, and 16 levels hold 2^64 leaves
    room = 16 * FAN
    return Stack(
        np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64),
        np.empty(LEAF), np.empty(FAN),
    )


@inner
def push_children(tree: BoxTree, stack: Stack, top: int, node: int, hits: int) -> int:
    """Puts the children of a node that are among the hits (bits) on the stack, so that the one
    with the least bound, and of equal ones the lowest index below it, is on top; returns how many
    wait. The bounds are those in stack.bounds."""
    lead, first, bounds = tree.lead, tree.first, stack.bounds
    wait_bound, wait_node = stack.waiting_bound, stack.waiting_node
    wait_lead = stack.waiting_lead
    level = 0
    while first[level + 1] <= node:
        level += 1
    base, bottom = first[level + 1] + (node - first[level]) * FAN, top
    while hits != 0:
        s = lowest_lane(hits)
        hits &= hits - 1
        bound, least = bounds[s], lead[node, s]
        if bound == np.inf:
            continue
        # by insertion, above what waited before: the nearest first shortens the limit soonest, and
        # the lowest index first lets ties be passed over
        spot = top
        while spot > bottom and (
            wait_bound[spot - 1] < bound
            or (wait_bound[spot - 1] == bound and wait_lead[spot - 1] < least)
        ):
            wait_bound[spot], wait_node[spot] = wait_bound[spot - 1], wait_node[spot - 1]
            wait_lead[spot] = wait_lead[spot - 1]
            spot -= 1
        wait_bound[spot], wait_node[spot], wait_lead[spot] = bound, base + s, least
        top += 1
    return top
