"""A tree over records in a metric space, each of which has a threshold that only some searches
reach: the largest one below each node is known, so that most of the tree is passed over."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.points.distances import FORMS, distance_of, key_within
from kanon_sql.points.points import MetricPoints
from kanon_sql.search.axes import make_space
from kanon_sql.search.box_tree import FAN, LEAF
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.queries import padded


class ThresholdTree(NamedTuple):
    """What ``members_within`` searches.

    Attributes:
        space: see make_space.
        tree, leaves: of all records, see build_tree and fill_leaves.
        stack: room for a search, see new_stack: one search at a time.
        highest: float64, shape (groups, FAN); the largest threshold below each child of a node.
        form: of the keys, see FORMS.
        threshold: float64, shape (n,); of each record, inf at first.
        held: float64, shape (places,); the same by place in the tree, -1 where there is no record.
    """

    space: Any
    tree: Any
    leaves: Any
    stack: Any
    highest: Any
    form: int
    threshold: Any
    held: Any


class Ball(NamedTuple):
    """Room for the records that a search finds, in the order in which they lie in the tree.

    Attributes:
        records: int64, shape (n,).
        distances: float64, shape (n,); of each to the origin.
    """

    records: Any
    distances: Any


def new_threshold_tree(points: MetricPoints) -> ThresholdTree:
    """All records, each with a threshold of inf."""
    space, n = make_space(points), len(points)
    tree, leaves, stack, _ = new_pool(space, np.arange(n))
    highest = np.where(tree.start == 0.0, np.inf, -np.inf)
    form, held = FORMS[points.form], np.where(tree.order < 0, -1.0, np.inf)
    return ThresholdTree(space, tree, leaves, stack, highest, form, np.full(n, np.inf), held)


@inner
def new_ball(n: int) -> Ball:
    """Room for n records."""
    return Ball(np.empty(n, np.int64), np.empty(n))


@inner
def lower_threshold(threshold_tree: ThresholdTree, i: int, value: float) -> None:
    """Gives a record a lower threshold, and each node above it the largest of those below."""
    _, tree, _, _, highest, _, threshold, held = threshold_tree
    place, first = tree.place, tree.first
    threshold[i] = held[place[i]] = value
    # the largest of a leaf can't be corrected, only found anew: the one lowered may have been it
    node, top = place[i] // LEAF, -1.0
    for q in range(node * LEAF, (node + 1) * LEAF):
        top = max(top, held[q])
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        # what does not change here changes nothing further up
        if highest[g, s] == top:
            break
        highest[g, s] = top
        for t in range(FAN):
            top = max(top, highest[g, t])
        node //= FAN


@inner
def members_within(
    threshold_tree: ThresholdTree, origin: int, wide: float, need: float, ball: Ball
) -> int:
    """Fills the ball with the records within a distance whose threshold is ``need`` or more, and no
    less than their own distance; a need of -inf takes all records. How many there are."""
    space, tree, leaves, stack, highest, form, _, held = threshold_tree
    numeric, codes, apart = space.numeric, space.codes, space.apart
    axes, sets, slack = space.axes, space.sets, space.slack
    order, low, high, held_sets = tree.order, tree.low, tree.high, tree.sets
    start, first = tree.start, tree.first
    values, kinds, absent = leaves
    waiting, sums, bounds = stack.waiting_node, stack.sums, stack.bounds
    records, away = ball
    limit, room, count = key_within(wide, form), first[-1], 0
    loose, every = padded(limit, slack), need == -np.inf
    waiting[0], top = 0, 1
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
                # box_lanes leaves out what is too far; what has come to too little is left out here
                most = highest[node, s]
                if bounds[s] < np.inf and (
                    every
                    or (most >= need and bounds[s] <= padded(key_within(most, form), slack))
                ):
                    waiting[top] = base + s
                    top += 1
            continue
        leaf = node - room
        hits = record_lanes(
            values, kinds, absent, leaf, numeric, codes, origin, apart, limit, sums
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            q = leaf * LEAF + s
            if sums[s] < np.inf and held[q] >= need:
                # the key's limit is a hair too wide, so that the distance itself decides
                distance = distance_of(sums[s], form)
                if distance <= wide and (every or held[q] >= distance):
                    records[count], away[count] = order[q], distance
                    count += 1
    return count
