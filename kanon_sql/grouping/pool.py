"""The records that are still unassigned: by the tree while it prunes, by a scan where it doesn't.

Both ways find the same records; which one runs is decided by how much the tree had to look at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping.steps import closest_group, drop_assigned, nearest
from kanon_sql.grouping.tree import (
    build_tree,
    place_group,
    plant_groups,
    remove,
    tree_closest_group,
    tree_nearest,
)

LEFT, BY_TREE, LOOKED, POSSIBLE, GROUPS_BY_TREE, GROUPS_LOOKED, GROUPS_POSSIBLE = range(7)
TRIAL = 64
"""Searches, and one more for as many records, after which the tree is judged anew. The first
ones are not typical: they are around the records furthest out."""

FEW = 256
"""Groups or records that are looked through as fast as a tree is asked."""

WORTH = 4
"""The tree must look at less than one in WORTH, since each of its looks costs several of a scan."""


@njit(cache=True, nogil=True)
def fill_pool(numeric: Any, codes: Any, scale: Any, room: int) -> Any:
    """A pool of all records: tree, groups in the tree, active records (for scans), and its state,
    indexed by the names above."""
    n = numeric.shape[0]
    tree = build_tree(numeric, codes, scale)
    state = np.zeros(7, np.int64)
    state[LEFT], state[BY_TREE], state[GROUPS_BY_TREE] = n, 1, 1
    return tree, plant_groups(tree, room, numeric.shape[1]), np.arange(n), state


@njit(cache=True, nogil=True)
def list_active(pool: Any, labels: Any) -> Any:
    """The unassigned records in canonical order."""
    active, state = pool[2], pool[3]
    if state[BY_TREE] == 1:
        state[LEFT] = drop_assigned(active, active.shape[0], labels)
        state[BY_TREE] = 0
    return active[: state[LEFT]]


@njit(cache=True, nogil=True)
def find_nearest(
    numeric: Any, codes: Any, scale: Any, pool: Any, labels: Any, origin: int, without: int,
    found: Any, gaps: Any, q: int,
) -> None:
    """N(origin) among the unassigned: found[0] the origin, found[1..q] its q nearest."""
    tree, _, active, state = pool
    if state[BY_TREE] == 0:
        nearest(numeric, codes, scale, active, state[LEFT], origin, without, found, gaps, q)
        return
    state[LOOKED] += tree_nearest(
        numeric, codes, scale, tree, labels, origin, without, found, gaps, q
    )
    state[POSSIBLE] += state[LEFT]
    if state[POSSIBLE] > (TRIAL + state[LEFT] // TRIAL) * state[LEFT]:
        if state[LOOKED] * WORTH > state[POSSIBLE] and state[LEFT] > FEW:
            list_active(pool, labels)
        state[LOOKED] = state[POSSIBLE] = 0


@njit(cache=True, nogil=True)
def settle(pool: Any, labels: Any, members: Any, count: int) -> None:
    """Takes members[:count], which have just got their labels, out of the pool."""
    tree, _, active, state = pool
    if state[BY_TREE] == 1:
        for p in range(count):
            remove(tree, members[p])
        state[LEFT] -= count
    else:
        state[LEFT] = drop_assigned(active, state[LEFT], labels)


@njit(cache=True, nogil=True)
def enter_group(pool: Any, groups: Any, group: int, origin: int) -> None:
    """Makes a new or changed group known to the pool."""
    tree, planted, _, state = pool
    if state[GROUPS_BY_TREE] == 1:
        place_group(tree, planted, groups[2], group, origin)


@njit(cache=True, nogil=True)
def find_group(
    numeric: Any, codes: Any, scale: Any, pool: Any, i: int, made: int, k: int, grow: bool,
    groups: Any,
) -> Any:
    """The closest of the groups that were entered, and how far it is."""
    tree, planted, _, state = pool
    if state[GROUPS_BY_TREE] == 0 or made < FEW:
        return closest_group(numeric, codes, scale, i, made, grow, groups)
    least = k / (k + 1.0) if grow else 1.0
    best, gap, looked = tree_closest_group(
        numeric, codes, scale, i, grow, least, tree, planted, groups
    )
    state[GROUPS_LOOKED] += looked
    state[GROUPS_POSSIBLE] += made
    if state[GROUPS_POSSIBLE] > (TRIAL + made // TRIAL) * made:
        if state[GROUPS_LOOKED] * WORTH > state[GROUPS_POSSIBLE]:
            state[GROUPS_BY_TREE] = 0
        state[GROUPS_LOOKED] = state[GROUPS_POSSIBLE] = 0
    return best, gap
