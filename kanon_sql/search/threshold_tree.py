"""A tree over records in a metric space, each of which has come to a value that only some searches
look for: the largest one below each node is known, so that most of the tree is passed over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.points.distances import FORMS, distance_of, key_within
from kanon_sql.points.points import MetricPoints
from kanon_sql.search.box_tree import FAN, LEAF
from kanon_sql.search.queries import padded
from kanon_sql.search.space import make_space
from kanon_sql.search.unassigned import plant


def ground_of(points: MetricPoints) -> Any:
    """What ``members_within`` searches: (space, tree, leaves, stack, highest, form, standing).

    standing: float64, shape (n,); what each record has come to, inf at first. highest: the largest
    of that below each node, float64, shape (groups, FAN).
    """
    space, n = make_space(points), len(points)
    tree, leaves, stack, _ = plant(space, np.arange(n))
    highest = np.where(tree[6] == 0.0, np.inf, -np.inf)
    return space, tree, leaves, stack, highest, FORMS[points.form], np.full(n, np.inf)


@njit(cache=True, nogil=True)
def freeze(ground: Any, i: int, value: float) -> None:
    """Writes what a record has come to, and the largest of that below each node above it."""
    tree, highest, standing = ground[1], ground[4], ground[6]
    order, place, first = tree[0], tree[1], tree[8]
    standing[i] = value
    node, top = place[i] // LEAF, -1.0
    for q in range(node * LEAF, min((node + 1) * LEAF, len(order))):
        if order[q] >= 0:
            top = max(top, standing[order[q]])
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        if highest[g, s] == top:
            break
        highest[g, s] = top
        for t in range(FAN):
            top = max(top, highest[g, t])
        node //= FAN


@njit(cache=True, nogil=True)
def members_within(
    ground: Any, origin: int, wide: float, need: float, found: Any, away: Any
) -> int:
    """The records within a distance that have come to ``need`` or more; their distances, too."""
    space, tree, leaves, stack, highest, form, standing = ground
    apart, axes, sets, slack = space[3], space[4], space[5], space[7]
    first, waiting, sums, bounds, count = tree[8], stack[1], stack[3], stack[4], 0
    limit, room = key_within(wide, form), tree[8][-1]
    loose = padded(limit, slack)
    waiting[0], top = 0, 1
    while top > 0:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                tree[2], tree[3], tree[4], tree[6], node, axes, sets, origin, apart, 1.0, loose,
                bounds,
            )
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                if bounds[s] < np.inf and highest[node, s] >= need:
                    waiting[top] = base + s
                    top += 1
            continue
        hits = record_lanes(
            leaves[0], leaves[1], leaves[2], node - room, space[0], space[1], origin, apart, limit,
            sums,
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            i = tree[0][(node - room) * LEAF + s]
            if sums[s] < np.inf and standing[i] >= need:
                distance = distance_of(sums[s], form)
                if distance <= wide:
                    found[count], away[count] = i, distance
                    count += 1
    return count
