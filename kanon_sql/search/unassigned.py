"""The pool of the records that are still unassigned.

A kernel asks for the nearest, and settles those that it put into a group. As they grow fewer the
tree over them is built anew, so that it stays tight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import ZERO, inner
from kanon_sql.points.points import Labels
from kanon_sql.search.box_tree import (
    LEAF,
    BoxTree,
    Stack,
    build_tree,
    new_stack,
)
from kanon_sql.search.queries import (
    Leaves,
    fill_leaves,
    furthest_in_tree,
    nearest_in_order,
    nearest_in_tree,
    new_leaves,
    take_out,
)
from kanon_sql.search.space import Space

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
"""Places in a pool's counts: records left, records when the tree was built, searches since it was
last judged how to search, leaves swept by them, and 1 where it is searched in order."""


class Pool(NamedTuple):
    """The unassigned records, as one kernel at a time searches them.

    Attributes:
        tree: over those that were left when it was built.
        leaves: the same records leaf by leaf.
        stack: room for one search at a time.
        counts: indexed by LEFT .. IN_ORDER; int64, shape (5,).
    """

    tree: BoxTree
    leaves: Leaves
    stack: Stack
    counts: Labels


@inner
def _pool(space: Space, tree: BoxTree, left: int) -> Pool:
    """A pool of a tree's records, none of which is in its leaf."""
    counts = np.zeros(5, np.int64)
    counts[LEFT] = counts[BUILT] = left
    return Pool(tree, new_leaves(space, tree), new_stack(), counts)


@inner
def plant(space: Space, members: Any) -> Pool:
    """A pool of some records: int64, shape (m,)."""
    tree = build_tree(space, members)
    pool: Pool = _pool(space, tree, len(members))
    fill_leaves(space, tree, pool.leaves, ZERO, len(tree.order) // LEAF)
    return pool


@inner
def find_nearest(
    space: Space, pool: Pool, origin: int, without: int, neighbours: Any, gaps: Any, q: int
) -> None:
    """N(origin) among those left: neighbours[0] is the origin, neighbours[1..q] its q nearest."""
    tree, leaves, stack, counts = pool.tree, pool.leaves, pool.stack, pool.counts
    if counts[IN_ORDER] == 1:
        _, swept = nearest_in_order(
            space, tree, leaves, stack, origin, without, neighbours, gaps, q
        )
    else:
        _, swept = nearest_in_tree(space, tree, leaves, stack, origin, without, neighbours, gaps, q)
    # how much of a tree can be left out depends on the data, so it is seen by the searches; what
    # is found is the same either way, and so is the release
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
def find_furthest(space: Space, pool: Pool, center: Any, terms: Any, most: Any) -> int:
    """The record furthest from a point, among those left; see furthest_in_tree."""
    tree, leaves, stack = pool.tree, pool.leaves, pool.stack
    furthest: int = furthest_in_tree(space, tree, leaves, stack, center, terms, most)
    return furthest


@inner
def take_away(pool: Pool, members: Any, count: int) -> bool:
    """Takes members[:count], which have just got their labels, out; returns whether so few are left
    that a new tree pays.

    Searches may run meanwhile on other threads: each of those members is there for them or not,
    and all others are.
    """
    counts = pool.counts
    for p in range(count):
        take_out(pool.tree, pool.leaves, members[p])
    counts[LEFT] -= count
    return bool(counts[LEFT] < RENEWED * counts[BUILT] and counts[LEFT] > SMALL)


@inner
def _rest(pool: Pool, labels: Any) -> Any:
    """The records left in a pool, as its tree has them: int64, shape (left,)."""
    # in any order: what a search finds does not depend on how its tree is cut
    order, kept = pool.tree.order, 0
    rest = np.empty(pool.counts[LEFT], np.int64)
    for q in range(len(order)):
        if order[q] >= 0 and labels[order[q]] < 0:
            rest[kept] = order[q]
            kept += 1
    return rest


def rest_of(pool: Pool, labels: Any) -> Any:
    """The same, outside of kernels."""
    order = pool.tree.order[pool.tree.order >= 0]
    return order[labels[order] < 0]


@inner
def settle(space: Space, pool: Pool, labels: Any, members: Any, count: int) -> Pool:
    """Takes members[:count], which have just got their labels, out; returns the pool."""
    if take_away(pool, members, count):
        renewed: Pool = plant(space, _rest(pool, labels))
        renewed.counts[IN_ORDER] = pool.counts[IN_ORDER]
        return renewed
    return pool


@inner
def list_left(labels: Any) -> Any:
    """The unassigned records in canonical order."""
    # by hand: an array of numpy's own making would take longer to compile
    left, kept = np.empty(len(labels), np.int64), 0
    for i in range(len(labels)):
        if labels[i] < 0:
            left[kept] = i
            kept += 1
    return left[:kept]
