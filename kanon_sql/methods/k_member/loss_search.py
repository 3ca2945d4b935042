"""The search for the records that add the least loss to a class, or are furthest from a record.

What the box of a node adds to a class at least is a bound for all records below. Bounds are summed
over the columns in the same order as losses, by operations that are monotone also where they
round. So a bound is never above the loss that is computed for a record, and a search returns what
a scan of all records would, ties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import ZERO, inner
from kanon_sql.kernel.simd import joined_box_lanes, joined_lanes, lowest_lane
from kanon_sql.methods.k_member.loss_class import (
    KNOWN,
    NEW,
    Columns,
    Dues,
    LossClass,
    loss_with,
)
from kanon_sql.methods.k_member.loss_tree import LossTree
from kanon_sql.points.points import Floats, Labels
from kanon_sql.search.box_tree import LEAF, Stack, new_stack, push_children

LATER = 32
"""Searches, times how many times as much it opened, until a tree is tried again."""


class Tallies(NamedTuple):
    """What searches took in each of two trees, by the kind of class.

    It makes a difference which columns no record adds anything to any more: a tree that tells
    records apart by these leaves out little. What is found is the same in both, and so is the
    release.

    Attributes:
        opened: nodes and leaves, a moving average, 0.0: unknown; float64, shape (2, 64).
        due: searches until the other tree is tried again; int64, shape (64,).
    """

    opened: Floats
    due: Labels


class BestRecord(NamedTuple):
    """The best records of a search, and room for it.

    Attributes:
        records: the best first, of equal ones the lowest; int64, shape (q,).
        values: what each comes to; float64, shape (q,).
        stack: the nodes that wait, see box_tree.py.
    """

    records: Labels
    values: Floats
    stack: Stack


def new_found(q: int) -> BestRecord:
    """Room for the best q records."""
    # as it is written: what only makes arrays is not worth compiling
    return BestRecord(np.zeros(q, np.int64), np.zeros(q), new_stack.py_func())


@inner
def _offer(best: BestRecord, held: int, q: int, i: int, value: float) -> int:
    """Takes record i into the best q, of which ``held`` are known; returns how many are then."""
    records, values = best.records, best.values
    if held == q:
        if value > values[q - 1] or (value == values[q - 1] and i > records[q - 1]):
            return held
        held -= 1
    spot = held
    while spot > 0 and (
        values[spot - 1] > value or (values[spot - 1] == value and records[spot - 1] > i)
    ):
        values[spot], records[spot] = values[spot - 1], records[spot - 1]
        spot -= 1
    values[spot], records[spot] = value, i
    return held + 1


@inner
def find_records(
    columns: Columns, tree: LossTree, group: LossClass, dues: Dues, more: float, best: BestRecord,
    q: int,
) -> int:
    """The q records left with the least more * D(class and it) + dues, ties to the lowest; returns
    how many nodes and leaves were opened.

    Args:
        more: the weight of D; -1.0 finds the records furthest from a class of one.
        dues: penalties, charged where D counts for more than 0.0.
        q: at most as many as there are records left.
    """
    absent, start, room = tree.absent, tree.start, tree.first[-1]
    low, high, code_low, code_high = tree.low, tree.high, tree.code_low, tree.code_high
    if more < 0.0:
        low, high, code_low, code_high = high, low, code_high, code_low
    ranges, ends, mask, costs = group.ranges, group.ends, group.mask, group.costs
    records, values, stack = best
    by_label, by_sensitive = dues.by_label, dues.by_sensitive
    charged = more > 0.0 and len(by_label) + len(by_sensitive) > 0
    wait_bound, wait_node, wait_lead = (
        stack.waiting_bound, stack.waiting_node, stack.waiting_lead
    )
    sums, bounds = stack.sums, stack.bounds
    wait_bound[0], wait_node[0], wait_lead[0], top = -np.inf, 0, -1, 1
    held, limit, opened = ZERO, np.inf, 0
    while top > 0:
        top -= 1
        node = wait_node[top]
        if wait_bound[top] > limit or (
            wait_bound[top] == limit and held == q and wait_lead[top] > records[q - 1]
        ):
            continue
        opened += 1
        if node < room:
            hits = joined_box_lanes(
                low, high, code_low, code_high, tree.sets, start, node, ranges, ends, mask, costs,
                more, limit, bounds,
            )
            if hits != 0:
                top = push_children(tree, stack, top, node, hits)
            continue
        leaf = node - room
        hits = joined_lanes(
            tree.values, tree.kinds, absent, leaf, ranges, ends, mask, costs, more, limit, sums
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if absent[leaf, s] != 0.0:
                continue
            i, value = tree.order[leaf * LEAF + s], sums[s]
            if group.blurred[0] > 0:
                value = loss_with(columns, group, i) * more
            if charged:
                # penalties only add, so the weighed bounds hold with them too
                if len(by_label) > 0:
                    value += by_label[dues.label[i]]
                if len(by_sensitive) > 0:
                    value += by_sensitive[dues.sensitive[i]]
            if value <= limit:
                held = _offer(best, held, q, i, value)
                if held == q:
                    limit = values[q - 1]
    return opened


@inner
def pick_tree(group: LossClass, tallies: Tallies) -> Any:
    """The kind of the class, and which of the two trees to search."""
    costs, opened, due = group.costs, tallies.opened, tallies.due
    kind = 0
    for a in range(costs.shape[1]):
        if costs[KNOWN, a] == costs[NEW, a]:
            kind |= 1 << a % 6
    which = 0 if opened[0, kind] <= opened[1, kind] else 1
    due[kind] -= 1
    return kind, which if due[kind] >= 0 else 1 - which


@inner
def tally(tallies: Tallies, kind: int, which: int, more: int) -> None:
    """Notes that a search opened so many nodes of a tree."""
    opened, due = tallies.opened, tallies.due
    if opened[which, kind] == 0.0:
        opened[which, kind] = more
    else:
        opened[which, kind] += (more - opened[which, kind]) / 8.0
    if due[kind] < 0:
        one, other = opened[0, kind], opened[1, kind]
        due[kind] = int(LATER * max(one, other) / max(min(one, other), 1.0))
