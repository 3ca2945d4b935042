"""The records that are still unassigned. A kernel asks for the nearest, and settles those that it
put into a group. As they grow fewer the tree over them is built anew, so that it stays tight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.leaves import fill_leaves, furthest_in_tree, nearest_in_tree, take_out
from kanon_sql.grouping.steps import drop_assigned
from kanon_sql.grouping.tree import build_tree, new_stack

RENEWED = 0.5
"""The share of a tree's records at which a new one is built of those that are left."""

SMALL = 256
"""Records that need no new tree."""


@njit(cache=True, nogil=True)
def plant(space: Any, members: Any) -> Any:
    """A pool of some records: (tree, leaves, stack, counts: those left, those in the tree)."""
    tree = build_tree(space[4], space[5], space[2], members)
    counts = np.array([len(members), len(members)])
    return tree, fill_leaves(space[0], space[1], tree), new_stack(), counts


@njit(cache=True, nogil=True)
def find_nearest(
    space: Any, pool: Any, origin: int, without: int, found: Any, gaps: Any, q: int
) -> None:
    """N(origin) among those left: found[0] is the origin, found[1..q] its q nearest."""
    tree, leaves, stack, _ = pool
    nearest_in_tree(space, tree, leaves, stack, origin, without, found, gaps, q)


@njit(cache=True, nogil=True)
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
    counts[0] -= count
    if counts[0] < RENEWED * counts[1] and counts[0] > SMALL:
        order, kept = tree[0], 0
        rest = np.empty(counts[0], np.int64)
        for q in range(len(order)):
            if order[q] >= 0 and labels[order[q]] < 0:
                rest[kept] = order[q]
                kept += 1
        return plant(space, rest)
    return pool


@njit(cache=True, nogil=True)
def list_left(labels: Any) -> Any:
    """The unassigned records in canonical order."""
    left = np.arange(len(labels))
    return left[: drop_assigned(left, len(labels), labels)]
