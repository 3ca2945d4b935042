"""A static k-d tree over the records, whose nodes count the records that are still unassigned.

It answers "the nearest unassigned records" exactly: a bound is summed over the same attributes in
the same order as a distance, with gaps that are never larger, and rounding keeps such an order.
So a bound is never above the distance of a record below it, to the last bit, and a branch is left
out only if its bound is strictly worse than what was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.steps import group_distance

LEAF = 16
"""Records in a leaf at most."""


@njit(cache=True, nogil=True)
def _value(numeric: Any, codes: Any, i: int, axis: int) -> float:
    d = numeric.shape[1]
    return numeric[i, axis] if axis < d else float(codes[i, axis - d])


@njit(cache=True, nogil=True)
def _halve(numeric: Any, codes: Any, order: Any, lo: int, hi: int, axis: int) -> int:
    """Partitions order[lo:hi] about its median along an axis (quickselect); returns the middle."""
    middle = (lo + hi) // 2
    left, right = lo, hi - 1
    while left < right:
        pivot = _value(numeric, codes, order[(left + right) // 2], axis)
        i, j = left, right
        while i <= j:
            while _value(numeric, codes, order[i], axis) < pivot:
                i += 1
            while _value(numeric, codes, order[j], axis) > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return middle


@njit(cache=True, nogil=True)
def _measure_node(
    numeric: Any, codes: Any, scale: Any, order: Any, node: int, lo: int, hi: int,
    low: Any, high: Any, common: Any,
) -> int:
    """Box and common categories of order[lo:hi]; returns its widest axis, -1 where all agree."""
    d, c = numeric.shape[1], codes.shape[1]
    widest, axis = 0.0, -1
    for a in range(d):
        least = most = numeric[order[lo], a]
        for p in range(lo + 1, hi):
            value = numeric[order[p], a]
            least, most = min(least, value), max(most, value)
        low[node, a], high[node, a] = least, most
        if (most - least) ** 2 > widest:
            widest, axis = (most - least) ** 2, a
    for a in range(c):
        common[node, a] = codes[order[lo], a]
        for p in range(lo + 1, hi):
            if codes[order[p], a] != common[node, a]:
                common[node, a] = -1
                break
        if common[node, a] < 0 and 2.0 * scale[a] > widest:
            widest, axis = 2.0 * scale[a], d + a
    return axis


@njit(cache=True, nogil=True)
def build_tree(numeric: Any, codes: Any, scale: Any) -> Any:
    """The tree: order of records, start, stop, left child (right is the next), parent, records
    unassigned, box (low, high), common categories (-1: none), and the leaf of each record."""
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    room = 4 * (n // LEAF + 1) + 3
    order = np.arange(n)
    start, stop = np.zeros(room, np.int64), np.zeros(room, np.int64)
    left, parent = np.full(room, -1, np.int64), np.full(room, -1, np.int64)
    low, high = np.zeros((room, d)), np.zeros((room, d))
    common = np.full((room, c), -1, np.int32)
    leaf_of = np.zeros(n, np.int64)
    stop[0] = n
    nodes, node = 1, 0
    while node < nodes:
        lo, hi = start[node], stop[node]
        axis = _measure_node(numeric, codes, scale, order, node, lo, hi, low, high, common)
        if hi - lo > LEAF and axis >= 0:
            middle = _halve(numeric, codes, order, lo, hi, axis)
            left[node] = nodes
            for child, (a, b) in enumerate(((lo, middle), (middle, hi))):
                start[nodes + child], stop[nodes + child] = a, b
                parent[nodes + child] = node
            nodes += 2
        else:
            if axis < 0:  # all alike: in the order of their index, so that the first ones do
                order[lo:hi] = np.sort(order[lo:hi])
            for p in range(lo, hi):
                leaf_of[order[p]] = node
        node += 1
    alive = stop[:nodes] - start[:nodes]
    return (
        order, start[:nodes], stop[:nodes], left[:nodes], parent[:nodes], alive,
        low[:nodes], high[:nodes], common[:nodes], leaf_of,
    )


@njit(cache=True, nogil=True)
def remove(tree: Any, i: int) -> None:
    """Counts record i as assigned."""
    parent, alive, leaf_of = tree[4], tree[5], tree[9]
    node = leaf_of[i]
    while node >= 0:
        alive[node] -= 1
        node = parent[node]


@njit(cache=True, nogil=True)
def _bound(numeric: Any, codes: Any, scale: Any, origin: int, tree: Any, node: int) -> float:
    """No record below the node is nearer to the origin than this (squared)."""
    low, high, common = tree[6], tree[7], tree[8]
    total = 0.0
    for a in range(numeric.shape[1]):
        value = numeric[origin, a]
        if value < low[node, a]:
            gap = value - low[node, a]
            total += gap * gap
        elif value > high[node, a]:
            gap = value - high[node, a]
            total += gap * gap
    for a in range(codes.shape[1]):
        if common[node, a] >= 0 and common[node, a] != codes[origin, a]:
            total += 2.0 * scale[a]
    return total


@njit(cache=True, nogil=True)
def _offer(found: Any, gaps: Any, held: int, q: int, i: int, gap: float) -> int:
    """Takes record i into the q nearest, ordered by (distance, index); returns how many."""
    if held == q and (gap > gaps[q] or (gap == gaps[q] and i > found[q])):
        return held
    spot = held + 1 if held < q else q
    while spot > 1 and (
        gaps[spot - 1] > gap or (gaps[spot - 1] == gap and found[spot - 1] > i)
    ):
        gaps[spot], found[spot] = gaps[spot - 1], found[spot - 1]
        spot -= 1
    gaps[spot], found[spot] = gap, i
    return min(held + 1, q)


@njit(cache=True, nogil=True)
def tree_nearest(
    numeric: Any, codes: Any, scale: Any, tree: Any, labels: Any, origin: int, without: int,
    found: Any, gaps: Any, q: int,
) -> int:
    """As ``nearest`` in steps.py, over all unassigned records; returns how many it looked at."""
    order, start, stop, left, alive = tree[0], tree[1], tree[2], tree[3], tree[5]
    found[0], gaps[0] = origin, 0.0
    held, looked = 0, 0
    waiting = np.empty(128, np.int64)
    bounds = np.empty(128)
    waiting[0], bounds[0], top = 0, 0.0, 1 if q > 0 else 0
    while top > 0:
        top -= 1
        node = waiting[top]
        if held == q and bounds[top] > gaps[q]:
            continue
        if left[node] >= 0:
            near, far = left[node], left[node] + 1
            near_bound = _bound(numeric, codes, scale, origin, tree, near)
            far_bound = _bound(numeric, codes, scale, origin, tree, far)
            if far_bound < near_bound:
                near, far, near_bound, far_bound = far, near, far_bound, near_bound
            looked += 2
            if alive[far] > 0 and (held < q or far_bound <= gaps[q]):
                waiting[top], bounds[top] = far, far_bound
                top += 1
            if alive[near] > 0 and (held < q or near_bound <= gaps[q]):
                waiting[top], bounds[top] = near, near_bound
                top += 1
            continue
        while labels[order[start[node]]] >= 0:
            start[node] += 1
        alike = stop[node] - start[node] > LEAF
        for p in range(start[node], stop[node]):
            i = order[p]
            if labels[i] >= 0 or i == origin or i == without:  # noqa: SIM109
                continue
            limit = gaps[q] if held == q else np.inf
            looked += 1
            total = 0.0
            for a in range(numeric.shape[1]):
                gap = numeric[origin, a] - numeric[i, a]
                total += gap * gap
            if total > limit:
                continue
            for a in range(codes.shape[1]):
                if codes[origin, a] != codes[i, a]:
                    total += 2.0 * scale[a]
            if alike and held == q and (total > gaps[q] or (total == gaps[q] and i > found[q])):
                break
            held = _offer(found, gaps, held, q, i, total)
    return looked


@njit(cache=True, nogil=True)
def plant_groups(tree: Any, room: int, d: int) -> Any:
    """Room for groups in the tree: per node whether it has any and the box of their centroids;
    per leaf its groups as a chain; per group its leaf."""
    nodes = tree[1].shape[0]
    return (
        np.zeros(nodes, np.bool_),
        np.full((nodes, d), np.inf),
        np.full((nodes, d), -np.inf),
        np.full(nodes, -1, np.int64),
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
    )


@njit(cache=True, nogil=True)
def place_group(tree: Any, planted: Any, centers: Any, group: int, origin: int) -> None:
    """Enters a new group at the leaf of its origin, or widens the boxes above a changed one."""
    has, low, high, head, chain, leaf = planted
    if leaf[group] < 0:
        leaf[group] = tree[9][origin]
        chain[group] = head[leaf[group]]
        head[leaf[group]] = group
    node = leaf[group]
    while node >= 0:
        has[node] = True
        for a in range(centers.shape[1]):
            low[node, a] = min(low[node, a], centers[group, a])
            high[node, a] = max(high[node, a], centers[group, a])
        node = tree[4][node]


@njit(cache=True, nogil=True)
def _group_bound(numeric: Any, i: int, low: Any, high: Any, node: int) -> float:
    """No centroid below the node is nearer to record i than this (squared)."""
    total = 0.0
    for a in range(numeric.shape[1]):
        value = numeric[i, a]
        if value < low[node, a]:
            gap = value - low[node, a]
            total += gap * gap
        elif value > high[node, a]:
            gap = value - high[node, a]
            total += gap * gap
    return total


@njit(cache=True, nogil=True)
def tree_closest_group(
    numeric: Any, codes: Any, scale: Any, i: int, grow: bool, least: float,
    tree: Any, planted: Any, groups: Any,
) -> Any:
    """As ``closest_group`` in steps.py; every group has a growth factor of ``least`` or more.
    Returns the group, how far it is, and how many groups and nodes were looked at."""
    left = tree[3]
    has, low, high, leaf_head, leaf_chain, _ = planted
    best, best_gap, looked = -1, np.inf, 0
    waiting = np.empty(128, np.int64)
    bounds = np.empty(128)
    waiting[0], bounds[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        node = waiting[top]
        if bounds[top] > best_gap:
            continue
        if left[node] >= 0:
            near, far = left[node], left[node] + 1
            near_bound = far_bound = np.inf
            if has[near]:
                near_bound = least * _group_bound(numeric, i, low, high, near)
            if has[far]:
                far_bound = least * _group_bound(numeric, i, low, high, far)
            if far_bound < near_bound:
                near, far, near_bound, far_bound = far, near, far_bound, near_bound
            looked += 2
            if has[far] and far_bound <= best_gap:
                waiting[top], bounds[top] = far, far_bound
                top += 1
            if has[near] and near_bound <= best_gap:
                waiting[top], bounds[top] = near, near_bound
                top += 1
            continue
        g = leaf_head[node]
        while g >= 0:
            looked += 1
            gap = group_distance(numeric, codes, scale, i, g, grow, best_gap, groups)
            if gap < best_gap or (gap == best_gap and g < best):
                best, best_gap = g, gap
            g = leaf_chain[g]
    return best, best_gap, looked
