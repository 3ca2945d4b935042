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

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import LANES, lowest_lane

LEAF = FAN = LANES
"""Records in a leaf; children of a node."""

SAMPLE = 128
"""Records that are looked at to choose the axis of a cut."""


@inner
def _select(key: Any, order: Any, lo: int, hi: int, middle: int) -> None:
    """Partitions key[lo:hi], and order with it, about the value that belongs at ``middle``."""
    left, right = lo, hi - 1
    while left < right:
        a, b, c = key[left], key[(left + right) // 2], key[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break


@inner
def widest_axis(axes: Any, masks: Any, scale: Any, order: Any, lo: int, hi: int) -> int:
    """The axis along which a sample of order[lo:hi] varies most; -1 where it doesn't vary."""
    p, step = axes.shape[1], max(1, (hi - lo) // SAMPLE)
    widest, axis = 0.0, -1
    for a in range(p):
        base, total, squares, m = axes[order[lo], a], 0.0, 0.0, 0
        for q in range(lo, hi, step):
            value = axes[order[q], a] - base
            total += value
            squares += value * value
            m += 1
        variance = squares / m - (total / m) ** 2
        if variance > widest:
            widest, axis = variance, a
    for a in range(masks.shape[1]):
        changes, m = 0, 0
        for q in range(lo + step, hi, step):
            m += 1
            if masks[order[q], a] != masks[order[q - step], a]:
                changes += 1
        if m > 0 and scale[a] * changes / m > widest:
            widest, axis = scale[a] * changes / m, p + a
    return axis


@inner
def cut(axes: Any, masks: Any, order: Any, key: Any, lo: int, hi: int, axis: int, at: int) -> None:
    """Partitions order[lo:hi] about position ``at`` along an axis; -1 stands for the index."""
    p = axes.shape[1]
    for q in range(lo, hi):
        if axis < 0:
            key[q] = float(order[q])
        elif axis < p:
            key[q] = axes[order[q], axis]
        else:
            bits = masks[order[q], axis - p]
            key[q] = float(bits & (~bits + np.uint64(1)))
    _select(key, order, lo, hi, at)


@inner
def _arrange(axes: Any, masks: Any, scale: Any, order: Any, n: int) -> None:
    """Orders order[:n] so that each run of LEAF records is a leaf, and each aligned run of
    LEAF * FAN^l records a node."""
    key = np.empty(n)
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1], top = 0, (n + LEAF - 1) // LEAF, 1
    while top > 0:
        top -= 1
        first, last = waiting[top]
        if last - first <= 1:
            continue
        lo, hi = first * LEAF, min(last * LEAF, n)
        capacity = 1
        while capacity * FAN < last - first:
            capacity *= FAN
        middle = first + capacity * ((last - first + capacity - 1) // capacity // 2)
        # alike, as far as a sample tells: by their index, which breaks ties
        axis = widest_axis(axes, masks, scale, order, lo, hi)
        cut(axes, masks, order, key, lo, hi, axis, middle * LEAF)
        waiting[top, 0], waiting[top, 1] = middle, last
        waiting[top + 1, 0], waiting[top + 1, 1] = first, middle
        top += 2


@inner
def _levels(leaves: int) -> Any:
    """Nodes of each level, from the leaves up, and the first group of each, from the root down."""
    counts = [leaves, (leaves + FAN - 1) // FAN]
    while counts[-1] > 1:
        counts.append((counts[-1] + FAN - 1) // FAN)
    height = len(counts) - 1
    first = np.zeros(height + 1, np.int64)
    for level in range(height):
        first[level + 1] = first[level] + counts[height - level]
    return counts, first


@inner
def _boxes(room: int, p: int, c: int) -> Any:
    """Empty boxes for that many groups of nodes."""
    return (
        np.full((room, p, FAN), np.inf),
        np.full((room, p, FAN), -np.inf),
        np.zeros((room, c, FAN), np.uint64),
        np.full((room, FAN), np.int64(2**62)),
        np.full((room, FAN), np.inf),
        np.zeros((room, FAN), np.int64),
    )


@inner
def empty_tree(leaves: int, p: int, c: int) -> Any:
    """A tree of that many empty leaves, to be filled by ``insert``."""
    low, high, sets, lead, start, live = _boxes(_levels(leaves)[1][-1], p, c)
    order = np.full(leaves * LEAF, -1, np.int64)
    return order, np.full(0, -1), low, high, sets, lead, start, live, _levels(leaves)[1]


@inner
def insert(tree: Any, leaf: int, i: int, at: Any, bits: Any) -> None:
    """Widens the boxes above a leaf so that they hold point i, at these axes and categories."""
    low, high, sets, lead, start, first = tree[2], tree[3], tree[4], tree[5], tree[6], tree[8]
    node = leaf
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        start[g, s], lead[g, s] = 0.0, min(lead[g, s], i)
        for a in range(low.shape[1]):
            low[g, a, s], high[g, a, s] = min(low[g, a, s], at[a]), max(high[g, a, s], at[a])
        for a in range(sets.shape[1]):
            sets[g, a, s] |= bits[a]
        node //= FAN


@inner
def build_tree(axes: Any, masks: Any, scale: Any, members: Any) -> Any:
    """A tree over some records.

    Returns: order (record at each leaf place, -1: none), place (of each record, -1: not here),
    low and high (box of each child: group, axis, child), sets (of categories: group, attribute,
    child), lead (lowest index below each child), start (0.0, or inf where no live record is below:
    group, child), live (number of live records or children below), first (group of each level).
    """
    n, p, c = len(members), axes.shape[1], masks.shape[1]
    leaves = (n + LEAF - 1) // LEAF
    order = np.full(leaves * LEAF, -1, np.int64)
    for q in range(n):
        order[q] = members[q]
    _arrange(axes, masks, scale, order, n)
    counts, first = _levels(leaves)
    height, room = len(first) - 1, first[-1]
    low, high, sets, lead, start, live = _boxes(room, p, c)
    place = np.full(axes.shape[0], -1, np.int64)
    for q in range(n):
        i, leaf = order[q], q // LEAF
        place[i] = q
        g, s = first[height - 1] + leaf // FAN, leaf % FAN
        live[g, s] += 1
        start[g, s] = 0.0
        lead[g, s] = min(lead[g, s], i)
        for a in range(p):
            value = axes[i, a]
            low[g, a, s], high[g, a, s] = min(low[g, a, s], value), max(high[g, a, s], value)
        for a in range(c):
            sets[g, a, s] |= masks[i, a]
    for level in range(height - 1, 0, -1):
        for j in range(counts[height - level]):
            below, g, s = first[level] + j, first[level - 1] + j // FAN, j % FAN
            start[g, s] = 0.0
            for t in range(FAN):
                if live[below, t] == 0:
                    continue
                live[g, s] += 1
                lead[g, s] = min(lead[g, s], lead[below, t])
                for a in range(p):
                    low[g, a, s] = min(low[g, a, s], low[below, a, t])
                    high[g, a, s] = max(high[g, a, s], high[below, a, t])
                for a in range(c):
                    sets[g, a, s] |= sets[below, a, t]
    return order, place, low, high, sets, lead, start, live, first


@inner
def remove(tree: Any, i: int) -> None:
    """Takes a record out; a node without live records is never visited again."""
    start, live, first = tree[6], tree[7], tree[8]
    node = tree[1][i] // LEAF
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        live[g, s] -= 1
        if live[g, s] > 0:
            break
        start[g, s] = np.inf
        node //= FAN


@inner
def new_stack() -> Any:
    """What a search keeps: the bounds, nodes and lowest indices that wait, the sums over a leaf,
    the sums over the children of a node."""
    room = 16 * FAN
    return (
        np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64),
        np.empty(LEAF), np.empty(FAN),
    )


@inner
def push_children(
    lead: Any, first: Any, stack: Any, top: int, node: int, hits: int
) -> int:
    """Puts the children of a node that are among the hits (bits) on the stack, so that the least
    bound (in stack[4]), and of equal ones the lowest index below it, is on top."""
    wait_bound, wait_node, wait_lead, _, bounds = stack
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
