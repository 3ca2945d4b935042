"""The groups made so far, and which of them is closest to a record.

They lie in the leaves of a tree that is laid out over the records, since groups will be where
records are: a new group goes to the leaf of one of its members, or to a free one near by, and the
boxes above widen. The few that find no place go to a list that is swept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import box_lanes, group_lanes, lowest_lane
from kanon_sql.methods.microaggregation.centroids import empty_groups, group_distance, join_group
from kanon_sql.search.box_tree import FAN, LEAF, empty_tree, insert, new_stack, push_children
from kanon_sql.search.queries import NOBODY, padded

ROOMY = 2
"""Places in the tree's leaves for each group that can come, at least."""


@inner
def _empty_shelf(space: Any, leaves: int) -> Any:
    """Leaves of groups: group at each place, centroids, category sets, growth factors, and absent
    (0.0, or inf where there is no group)."""
    d, c = space[0].shape[1], space[1].shape[1]
    return (
        np.full(leaves * LEAF, -1, np.int64),
        np.zeros((leaves, d, LEAF)),
        np.zeros((leaves, c, LEAF), np.uint64),
        np.ones((leaves, LEAF)),
        np.full((leaves, LEAF), np.inf),
    )


@njit(cache=True, nogil=True)
def new_groups(space: Any, place: Any, room: int, k: int, grow: bool) -> Any:
    """Room for that many groups of k or more.

    Args:
        place: the place of each record in a tree over all records.
        grow: whether distances are growths of the SSE.

    Returns: groups (see empty_groups), along (centroids along the axes), sets (of categories),
    tree, shelf (the tree's leaves), spare (the list's leaves), where (each group's place, counted
    on from the tree's to the list's, -1: none), home (each record's leaf), counts (groups shown,
    places used in the list), stack, grow.
    """
    numeric, codes, _, _, axes, _, _, _ = space
    width = LEAF
    while width * ROOMY < k * LEAF // 2:
        width *= 2
    home = place // width
    leaves = (len(numeric) + width - 1) // width
    along, sets = np.zeros((room, axes.shape[1])), np.zeros((room, codes.shape[1]), np.uint64)
    return (
        empty_groups(numeric, codes, room), along, sets,
        empty_tree(leaves, axes.shape[1], codes.shape[1]), _empty_shelf(space, leaves),
        _empty_shelf(space, room // LEAF + 1), np.full(room, -1, np.int64), home,
        np.zeros(2, np.int64), new_stack(), grow,
    )


@inner
def _put(shelf: Any, q: int, group: int, store: Any) -> None:
    """Writes a group to a place of a shelf."""
    who, values, kinds, factors, absent = shelf
    groups, sets, grow = store[0], store[2], store[10]
    leaf, s, size = q // LEAF, q % LEAF, groups[0][group]
    who[q], absent[leaf, s] = group, 0.0
    factors[leaf, s] = size / (size + 1.0) if grow else 1.0
    for a in range(values.shape[1]):
        values[leaf, a, s] = groups[2][group, a]
    for a in range(kinds.shape[1]):
        kinds[leaf, a, s] = sets[group, a]


@njit(cache=True, nogil=True)
def join(space: Any, store: Any, i: int, group: int, labels: Any) -> None:
    """Puts record i into a group. Call ``show`` when the group has all that it gets for now."""
    numeric, codes, sets = space[0], space[1], space[5]
    join_group(numeric, codes, i, group, labels, store[0])
    for a in range(codes.shape[1]):
        store[2][group, a] |= sets[i, a]


@inner
def _find_place(who: Any, leaf: int) -> int:
    """A free place in the leaf or one near it, below the same node; -1 where all are taken."""
    base, leaves = leaf - leaf % FAN, len(who) // LEAF
    for step in range(FAN):
        near = base + (leaf % FAN ^ step)
        if near < leaves and who[near * LEAF + LEAF - 1] < 0:
            for s in range(LEAF):
                if who[near * LEAF + s] < 0:
                    return near * LEAF + s
    return -1


@njit(cache=True, nogil=True)
def show(space: Any, store: Any, group: int, member: int) -> None:
    """Makes a new or changed group known to the search; ``member`` is one of its records."""
    turn = space[6]
    groups, along, sets, tree, shelf, spare, where, home, counts, _, _ = store
    for b in range(along.shape[1]):
        along[group, b] = 0.0
    for a in range(turn.shape[0]):
        for b in range(along.shape[1]):
            along[group, b] += groups[2][group, a] * turn[a, b]
    counts[0] = max(counts[0], group + 1)
    if where[group] < 0:
        where[group] = _find_place(shelf[0], home[member])
        if where[group] < 0:
            where[group] = len(shelf[0]) + counts[1]
            counts[1] += 1
    if where[group] < len(shelf[0]):
        _put(shelf, where[group], group, store)
        insert(tree, where[group] // LEAF, group, along[group], sets[group])
    else:
        _put(spare, where[group] - len(shelf[0]), group, store)


@inner
def _sweep(
    space: Any, store: Any, shelf: Any, leaf: int, i: int, best: int, best_gap: float
) -> Any:
    """The better of ``best`` and the closest group of one leaf, and how far it is."""
    numeric, codes, scale, _, _, sets, _, _ = space
    groups, stack, grow = store[0], store[9], store[10]
    who, values, kinds, factors, absent = shelf
    sums = stack[3]
    # where no member has the category, the mean is further than the scale
    hits = group_lanes(
        values, kinds, factors, absent, leaf, numeric, sets, i, scale, best_gap, sums
    )
    while hits != 0:
        s = lowest_lane(hits)
        hits &= hits - 1
        if sums[s] > best_gap or sums[s] == np.inf:
            continue
        group, gap = who[leaf * LEAF + s], sums[s]
        if codes.shape[1] > 0:
            gap = group_distance(numeric, codes, scale, i, group, grow, best_gap, groups)
        if gap < best_gap or (gap == best_gap and group < best):
            best, best_gap = group, gap
    return best, best_gap


@inner
def _loose(best_gap: float, factor: float, slack: float) -> Any:
    """The limit for bounds that leaves out no group within best_gap."""
    if slack == 0.0:
        return best_gap
    return factor * padded(best_gap / factor, slack) * (1.0 + 1e-12)


@njit(cache=True, nogil=True)
def find_group(space: Any, store: Any, i: int, k: int) -> Any:
    """The closest of the groups that were shown to record i, and how far it is: |x - c|^2, or
    with growth n/(n+1) |x - c|^2 (clos(x) in thaeter2021, section 3). Every group has k or more.
    """
    _, _, scale, _, axes, sets, _, slack = space
    tree, shelf, spare, counts, stack, grow = (
        store[3], store[4], store[5], store[8], store[9], store[10],
    )
    wait_bound, wait_node, wait_lead, _, _ = stack
    best, best_gap = NOBODY, np.inf
    for leaf in range((counts[1] + LEAF - 1) // LEAF):
        best, best_gap = _sweep(space, store, spare, leaf, i, best, best_gap)
    factor = k / (k + 1.0) if grow else 1.0
    room, top = tree[8][-1], 0
    if counts[0] > 0:
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
            hits = box_lanes(
                tree[2], tree[3], tree[4], tree[6], node, axes, sets, i, scale, factor, loose,
                stack[4],
            )
            if hits != 0:
                top = push_children(tree[5], tree[8], stack, top, node, hits)
            continue
        best, best_gap = _sweep(space, store, shelf, node - room, i, best, best_gap)
        loose = _loose(best_gap, factor, slack)
    return best, best_gap
