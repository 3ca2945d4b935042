"""The records that are still unassigned. A kernel asks for the nearest, and settles those that it
put into a group. As they grow fewer the tree over them is built anew, so that it stays tight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import inner
from kanon_sql.search.box_tree import LEAF, build_tree, new_stack
from kanon_sql.search.queries import (
    fill_leaves,
    furthest_in_tree,
    nearest_in_order,
    nearest_in_tree,
    take_out,
)

RENEWED = 0.5
"""The share of a tree's records at which a new one is built of those that are left."""

SMALL = 256
"""Records that need no new tree."""

JUDGED = 32
"""Searches after which it is judged anew whether to go by the tree or in order."""

MUCH, LITTLE = 0.08, 0.04
"""In order, if by the tree more than this share of the leaves is swept; by the tree again, if in
order less than that share is."""

LEFT, BUILT, SEARCHES, SWEPT, IN_ORDER = range(5)
"""Places in a pool's counts."""


@inner
def drop_assigned(active: Any, m: int, labels: Any) -> int:
    """Closes the gaps that newly labelled records leave in active[:m]; returns the new m."""
    kept = 0
    for p in range(m):
        if labels[active[p]] < 0:
            active[kept] = active[p]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def plant(space: Any, members: Any) -> Any:
    """A pool of some records: tree, leaves, stack, counts (see LEFT)."""
    tree = build_tree(space[4], space[5], space[2], members)
    counts = np.zeros(5, np.int64)
    counts[LEFT] = counts[BUILT] = len(members)
    return tree, fill_leaves(space[0], space[1], tree), new_stack(), counts


@inner
def find_nearest(
    space: Any, pool: Any, origin: int, without: int, found: Any, gaps: Any, q: int
) -> None:
    """N(origin) among those left: found[0] is the origin, found[1..q] its q nearest."""
    tree, leaves, stack, counts = pool
    if counts[IN_ORDER] == 1:
        _, swept = nearest_in_order(space, tree, leaves, stack, origin, without, found, gaps, q)
    else:
        _, swept = nearest_in_tree(space, tree, leaves, stack, origin, without, found, gaps, q)
    counts[SEARCHES] += 1
    counts[SWEPT] += swept
    if counts[SEARCHES] == JUDGED:
        share = counts[SWEPT] * LEAF / (JUDGED * max(counts[LEFT], 1))
        if share > MUCH:
            counts[IN_ORDER] = 1
        elif share < LITTLE:
            counts[IN_ORDER] = 0
        counts[SEARCHES] = counts[SWEPT] = 0


@inner
def find_furthest(space: Any, pool: Any, center: Any, terms: Any, most: Any) -> int:
    """The record furthest from a point, among those left; see furthest_in_tree."""
    tree, leaves, stack, _ = pool
    return furthest_in_tree(space, tree, leaves, stack, center, terms, most)


@njit(cache=True, nogil=True)
def settle(space: Any, pool: Any, labels: Any, members: Any, count: int) -> Any:
    """Takes members[:count], which have just got their labels, out; returns the pool."""
    tree, leaves, _, counts = pool
    for p in range(count):
        take_out(tree, leaves, members[p])
    counts[LEFT] -= count
    if counts[LEFT] < RENEWED * counts[BUILT] and counts[LEFT] > SMALL:
        order, kept = tree[0], 0
        rest = np.empty(counts[LEFT], np.int64)
        for q in range(len(order)):
            if order[q] >= 0 and labels[order[q]] < 0:
                rest[kept] = order[q]
                kept += 1
        renewed = plant(space, rest)
        renewed[3][IN_ORDER] = counts[IN_ORDER]
        return renewed
    return pool


@njit(cache=True, nogil=True)
def list_left(labels: Any) -> Any:
    """The unassigned records in canonical order."""
    left = np.arange(len(labels))
    return left[: drop_assigned(left, len(labels), labels)]
