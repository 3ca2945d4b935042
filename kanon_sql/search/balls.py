"""The records within a distance of a record, by a tree (see box_tree.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.search.box_tree import FAN, LEAF
from kanon_sql.search.queries import padded


@inner
def ball_in_tree(
    space: Any, tree: Any, leaves: Any, stack: Any, origin: int, limit: float, records: Any,
    gaps: Any,
) -> int:
    """The live records whose key to the origin is ``limit`` or less, the origin among them.

    Args:
        space, tree, leaves: of all records, see make_space, build_tree and fill_leaves.
        stack: room for the search, see new_stack.
        origin: a record.
        limit: the largest key; squared where distances are roots.
        records, gaps: filled with the records, as they lie in the tree, and their keys, summed in
            the order of the columns: int64 and float64, shape (n,).

    Returns:
        How many there are.
    """
    _, _, _, apart, axes, sets, _, slack = space
    low, high, held_sets, start, first = tree.low, tree.high, tree.sets, tree.start, tree.first
    waiting, sums, bounds = stack.waiting_node, stack.sums, stack.bounds
    # boxes along turned axes are off by rounding: what decides is the key itself, further down
    loose, room = padded(limit, slack), first[-1]
    waiting[0], top, count = 0, 1, 0
    while top > 0:
        top -= 1
        node = waiting[top]
        if node < room:
            hits = box_lanes(
                low, high, held_sets, start, node, axes, sets, origin, apart, 1.0, loose, bounds
            )
            # children have no pointers: their numbers follow from the level of the node
            level = 0
            while first[level + 1] <= node:
                level += 1
            base = first[level + 1] + (node - first[level]) * FAN
            while hits != 0:
                s = lowest_lane(hits)
                hits &= hits - 1
                # a limit of inf lets empty children through
                if bounds[s] <= loose and bounds[s] < np.inf:
                    waiting[top] = base + s
                    top += 1
            continue
        leaf = node - room
        hits = record_lanes(
            leaves.values, leaves.codes, leaves.absent, leaf, space.numeric, space.codes, origin,
            apart, limit, sums,
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if sums[s] <= limit and sums[s] < np.inf:
                records[count] = tree.order[leaf * LEAF + s]
                gaps[count] = sums[s]
                count += 1
    return count

