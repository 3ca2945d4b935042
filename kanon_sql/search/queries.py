"""Searches among records: the nearest ones, and the furthest one, by a tree (see box_tree.py).

Every distance is summed over the original attributes in their order, without fastmath, and every
tie goes to the record that comes first in canonical order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import ZERO, inner
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.search.box_tree import FAN, LEAF, push_children, remove

NOBODY = np.int64(-1)
"""Stands for no record. A plain -1 would have the searches compiled twice: once for that number,
once for all others."""


@inner
def fill_leaves(numeric: Any, codes: Any, tree: Any) -> Any:
    """The records leaf by leaf: values (leaf, attribute, record), kinds (categories, likewise),
    absent (leaf, record; 0.0, or inf where there is no live record)."""
    order = tree[0]
    leaves, d, c = len(order) // LEAF, numeric.shape[1], codes.shape[1]
    values = np.zeros((leaves, d, LEAF))
    kinds = np.zeros((leaves, c, LEAF), np.int32)
    absent = np.full((leaves, LEAF), np.inf)
    for q in range(len(order)):
        i, leaf, s = order[q], q // LEAF, q % LEAF
        if i < 0:
            continue
        absent[leaf, s] = 0.0
        for a in range(d):
            values[leaf, a, s] = numeric[i, a]
        for a in range(c):
            kinds[leaf, a, s] = codes[i, a]
    return values, kinds, absent


@inner
def take_out(tree: Any, leaves: Any, i: int) -> None:
    """Takes a record out of its leaf and of the tree."""
    q = tree[1][i]
    leaves[2][q // LEAF, q % LEAF] = np.inf
    remove(tree, i)


@inner
def padded(limit: float, slack: float) -> float:
    """The limit for bounds along turned axes that leaves out nothing within the limit."""
    return (np.sqrt(limit) + slack) ** 2 * (1.0 + 1e-12) if slack > 0.0 else limit


@njit(cache=True, nogil=True, inline="always")
def _offer(found: Any, gaps: Any, held: int, q: int, i: int, gap: float) -> int:
    """Takes record i into the q nearest, ordered by (distance, index); returns how many."""
    if held == q and (gap > gaps[q] or (gap == gaps[q] and i > found[q])):
        return held
    spot = held + 1 if held < q else q
    while spot > 1 and (gaps[spot - 1] > gap or (gaps[spot - 1] == gap and found[spot - 1] > i)):
        gaps[spot], found[spot] = gaps[spot - 1], found[spot - 1]
        spot -= 1
    gaps[spot], found[spot] = gap, i
    return min(held + 1, q)


@njit(cache=True, nogil=True, inline="always")
def _sweep(
    space: Any, tree: Any, leaves: Any, leaf: int, sums: Any, origin: int, without: int,
    found: Any, gaps: Any, held: int, q: int, limit: float,
) -> Any:
    """Takes the records of a leaf into the q nearest; how many there are, and the new limit."""
    hits = record_lanes(
        leaves[0], leaves[1], leaves[2], leaf, space[0], space[1], origin, space[3], limit, sums
    )
    while hits != 0:
        s = lowest_lane(hits)
        hits &= hits - 1
        if sums[s] <= limit and sums[s] < np.inf:
            i = tree[0][leaf * LEAF + s]
            if i != origin and i != without:
                held = _offer(found, gaps, held, q, i, sums[s])
                if held == q:
                    limit = gaps[q]
    return held, limit


@njit(cache=True, nogil=True)
def nearest_in_order(
    space: Any, tree: Any, leaves: Any, stack: Any, origin: int, without: int,
    found: Any, gaps: Any, q: int,
) -> Any:
    """The same as ``nearest_in_tree``, by all lowest boxes as they lie, from the origin's own on:
    faster where there is little to leave out."""
    _, _, _, apart, axes, sets, _, slack = space
    low, high, held_sets, start, first = tree[2], tree[3], tree[4], tree[6], tree[8]
    sums, bounds = stack[3], stack[4]
    found[0], gaps[0] = origin, 0.0
    limit = loose = np.inf
    base, room = first[len(first) - 2], first[-1]
    home = max(0, tree[1][origin] // (LEAF * FAN))
    held, opened, swept = 0, 0, 0
    for turn in range(-1, room - base if q > 0 else -1):
        g = home if turn < 0 else turn
        if turn == home:
            continue
        opened += 1
        hits = box_lanes(
            low, high, held_sets, start, base + g, axes, sets, origin, apart, 1.0, loose, bounds
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if bounds[s] <= loose and bounds[s] < np.inf:
                swept += 1
                held, limit = _sweep(
                    space, tree, leaves, g * FAN + s, sums, origin, without, found, gaps, held,
                    q, limit,
                )
                loose = padded(limit, slack)
    return opened, swept


@njit(cache=True, nogil=True)
def nearest_in_tree(
    space: Any, tree: Any, leaves: Any, stack: Any, origin: int, without: int,
    found: Any, gaps: Any, q: int,
) -> Any:
    """N(origin): found[0] is the origin, found[1..q] its q nearest live records.

    Args:
        without: a record to pass over (-1: none).
        gaps: squared distances, float64, shape (q + 1,).
        q: at most as many as there are live records besides the two.

    Returns:
        How many nodes were opened and how many leaves were swept.
    """
    _, _, _, apart, axes, sets, _, slack = space
    low, high, held_sets, lead, start, first = (
        tree[2], tree[3], tree[4], tree[5], tree[6], tree[8],
    )
    wait_bound, wait_node, wait_lead, sums, bounds = stack
    room = first[-1]
    found[0], gaps[0] = origin, 0.0
    limit = loose = np.inf
    held, opened, swept, top = 0, 0, 0, 0
    if q > 0:
        wait_bound[0], wait_node[0], wait_lead[0], top = 0.0, 0, -1, 1
    while top > 0:
        top -= 1
        node, bound = wait_node[top], wait_bound[top]
        if bound > loose or (
            held == q and wait_lead[top] > found[q]
            and (limit == 0.0 or (bound == limit and slack == 0.0))
        ):
            continue
        if node < room:
            opened += 1
            hits = box_lanes(
                low, high, held_sets, start, node, axes, sets, origin, apart, 1.0, loose, bounds
            )
            if hits != 0:
                top = push_children(lead, first, stack, top, node, hits)
            continue
        swept += 1
        held, limit = _sweep(
            space, tree, leaves, node - room, sums, origin, without, found, gaps, held, q, limit
        )
        loose = padded(limit, slack)
    return opened, swept


@njit(cache=True, nogil=True)
def furthest_in_tree(
    space: Any, tree: Any, leaves: Any, stack: Any, center: Any, terms: Any, most: Any
) -> int:
    """The live record furthest from a point.

    Args:
        center: numeric attributes of the point, float64, shape (d,).
        terms: what each category adds to the squared distance, float64, shape (c, categories).
        most: the largest of the terms of the categories of one bit, float64, shape (c, 64).
    """
    numeric, codes, _, _, axes, _, turn, slack = space
    order, low, high, masks, start, room = tree[0], tree[2], tree[3], tree[4], tree[6], tree[8][-1]
    values, kinds, absent = leaves
    wait_bound, wait_node, wait_lead, sums, bounds = stack
    at = np.zeros(axes.shape[1])
    for a in range(numeric.shape[1]):
        for b in range(axes.shape[1]):
            at[b] += center[a] * turn[a, b]
    # bounds are negative squared distances, so that the least one is on top here too
    best, furthest = -1, -1.0
    wait_bound[0], wait_node[0], wait_lead[0], top = -np.inf, 0, -1, 1
    while top > 0:
        top -= 1
        node, bound = wait_node[top], wait_bound[top]
        if -bound < furthest or (-bound == furthest and wait_lead[top] > best):
            continue
        if node < room:
            for s in range(FAN):
                bounds[s] = 0.0
            for a in range(low.shape[1]):
                value = at[a]
                for s in range(FAN):
                    below, above = value - low[node, a, s], high[node, a, s] - value
                    gap = below if below > above else above
                    bounds[s] += gap * gap
            for a in range(masks.shape[1]):
                for s in range(FAN):
                    more = 0.0
                    for bit in range(most.shape[1]):
                        if masks[node, a, s] >> np.uint64(bit) & np.uint64(1) != 0:
                            more = max(more, most[a, bit])
                    bounds[s] += more
            for s in range(FAN):
                bounds[s] = np.inf if start[node, s] > 0.0 else -padded(bounds[s], slack)
            hits = ZERO
            for s in range(FAN):
                if bounds[s] <= -furthest:
                    hits |= 1 << s
            top = push_children(tree[5], tree[8], stack, top, node, hits)
            continue
        leaf = node - room
        for s in range(LEAF):
            sums[s] = 0.0
        for a in range(numeric.shape[1]):
            value = center[a]
            for s in range(LEAF):
                gap = values[leaf, a, s] - value
                sums[s] += gap * gap
        for a in range(codes.shape[1]):
            for s in range(LEAF):
                sums[s] += terms[a, kinds[leaf, a, s]]
        for s in range(LEAF):
            if absent[leaf, s] > 0.0 or sums[s] < furthest:
                continue
            i = order[leaf * LEAF + s]
            if sums[s] > furthest or i < best:
                best, furthest = i, sums[s]
    return best
