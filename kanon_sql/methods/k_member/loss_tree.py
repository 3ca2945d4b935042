"""A tree over the records that are left, for searches by the loss of a class with one of them.

It is laid out as box_tree.py says, with boxes of numbers and of codes. Records leave it for good,
and the boxes shrink with them: the first classes take the records that lie far out, and where
many records tie, the one that comes first is next to go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.methods.k_member.loss_class import Bits, code_bit
from kanon_sql.points.points import Codes, Floats, Labels, LossPoints
from kanon_sql.search.box_tree import FAN, LEAF, levels
from kanon_sql.search.cuts import cut

PAIRS = 64
"""Pairs of records that are looked at to choose the column of a cut."""

USUAL = 0.5
"""Records with the same code, as a share, from which on others are told from them first."""


class LossTree(NamedTuple):
    """A tree over m of n records, of d numbers and c codes; of box_tree.Tree it has what
    push_children takes.

    Attributes:
        order: the record at each place of the leaves, -1: none; int64, shape (leaves * LEAF,).
        place: where in the order each record lies, -1: nowhere; int64, shape (n,).
        values: the numbers of the records in the leaves; float64, shape (leaves, d, LEAF).
        kinds: their codes; int32, shape (leaves, c, LEAF).
        absent: 0.0, or inf where there is no record any more; float64, shape (leaves, LEAF).
        low, high: the ends of the numbers below each child; float64, shape (groups, d, FAN).
        code_low, code_high: those of the codes; int32, shape (groups, c, FAN).
        sets: the codes below each child, see code_bit; uint64, shape (groups, c, FAN).
        start: 0.0, or inf where no record is below; float64, shape (groups, FAN).
        lead: the lowest record below each child; int64, shape (groups, FAN).
        first: the first group of each level, from the root down, and the number of all groups;
            int64, shape (height + 1,).
    """

    order: Labels
    place: Labels
    values: Floats
    kinds: Codes
    absent: Floats
    low: Floats
    high: Floats
    code_low: Codes
    code_high: Codes
    sets: Bits
    start: Floats
    lead: Labels
    first: Labels


@inner
def _parting_column(
    columns: Any, cap: Any, scale: Any, order: Any, lo: int, hi: int, far: bool
) -> int:
    """The column in which pairs of order[lo:hi] differ most; -1 where they don't.

    With far, codes count only as far as one of them is usual: whoever has it is far from all
    others, and from nobody else for sure.
    """
    d, half = len(cap), (hi - lo) // 2
    step = max(1, half // PAIRS)
    widest, best = 0.0, -1
    for a in range(columns.shape[1]):
        total, pairs = 0.0, 0
        for q in range(lo, lo + half, step):
            x, y = columns[order[q], a], columns[order[q + half], a]
            pairs += 1
            if a < d:
                total += min(abs(x - y), cap[a])
            elif x != y:
                total += 1.0
        if a >= d:
            same = pairs - total
            if far:
                total = max(0.0, same - USUAL * pairs) if same < pairs else 0.0
            total *= scale[a - d]
        if total > widest * pairs:
            widest, best = total / pairs, a
    return best


@kernel
def _arrange(
    columns: Any, masks: Any, cap: Any, scale: Any, far: bool, order: Any, key: Any
) -> None:
    """Orders all records so that each run of LEAF is a leaf, and each aligned run of LEAF * FAN^l a
    node: order, int64, shape (n,). No column is one of masks, uint64, shape (n, 0); key is room,
    float64, shape (n,)."""
    n = len(columns)
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1], top = 0, (n + LEAF - 1) // LEAF, 1
    while top > 0:
        top -= 1
        first, last = waiting[top]
        if last - first <= 1:
            continue
        lo, hi = first * LEAF, min(last * LEAF, n)
        # cuts at whole nodes of the level below, as in box_tree.py
        capacity = 1
        while capacity * FAN < last - first:
            capacity *= FAN
        middle = first + capacity * ((last - first + capacity - 1) // capacity // 2)
        axis = _parting_column(columns, cap, scale, order, lo, hi, far)
        cut(columns, masks, order, key, lo, hi, axis, middle * LEAF)
        waiting[top, 0], waiting[top, 1] = middle, last
        waiting[top + 1, 0], waiting[top + 1, 1] = first, middle
        top += 2


def arrange(points: LossPoints, far: bool) -> Labels:
    """All records in an order for a tree: int64, shape (n,).

    Args:
        far: for searches for what is far, not for what adds little. What is far from a record
            differs in every column, also in those where nearly all are alike; among the many that
            are equally far the order of the records decides.
    """
    columns = np.column_stack([points.numeric, points.codes.astype(np.float64)])
    n = len(columns)
    order, masks = np.arange(n), np.empty((n, 0), np.uint64)
    _arrange(columns, masks, points.cap, points.scale, far, order, np.empty(n))
    return order


def fill_tree(numeric: Any, codes: Any, members: Any) -> LossTree:
    """A tree over some records, as they lie in an order: int64, shape (m,)."""
    n, d, c = len(members), numeric.shape[1], codes.shape[1]
    leaves = (n + LEAF - 1) // LEAF
    # as it is written: what only makes arrays is not worth compiling
    first = levels.py_func(leaves)
    room = int(first[-1])
    order, place = np.full(leaves * LEAF, -1, np.int64), np.full(len(numeric), -1, np.int64)
    tree = LossTree(
        order, place, np.zeros((leaves, d, LEAF)), np.zeros((leaves, c, LEAF), np.int32),
        np.full((leaves, LEAF), np.inf), np.full((room, d, FAN), np.inf),
        np.full((room, d, FAN), -np.inf), np.zeros((room, c, FAN), np.int32),
        np.zeros((room, c, FAN), np.int32), np.zeros((room, c, FAN), np.uint64),
        np.full((room, FAN), np.inf), np.full((room, FAN), np.int64(2**62)), first,
    )
    _fill(tree, numeric, codes, members)
    return tree


@kernel
def _fill(tree: LossTree, numeric: Any, codes: Any, members: Any) -> None:
    """Puts the records into the leaves of a tree without any, and makes all boxes."""
    order, place, first = tree.order, tree.place, tree.first
    d, c, height = numeric.shape[1], codes.shape[1], len(first) - 1
    for q in range(len(members)):
        i, leaf, s = members[q], q // LEAF, q % LEAF
        order[q], place[i] = i, q
        tree.absent[leaf, s] = 0.0
        for a in range(d):
            tree.values[leaf, a, s] = numeric[i, a]
        for a in range(c):
            tree.kinds[leaf, a, s] = codes[i, a]
    for leaf in range(len(order) // LEAF):
        _enclose_leaf(tree, leaf, first[height - 1] + leaf // FAN, leaf % FAN)
    for level in range(height - 1, 0, -1):
        for j in range(first[level + 1] - first[level]):
            _enclose(tree, first[level] + j, first[level - 1] + j // FAN, j % FAN)


@inner
def _enclose_leaf(tree: LossTree, leaf: int, g: int, s: int) -> bool:
    """Makes child s of group g the box of a leaf; whether it was another before."""
    values, kinds, absent, order = tree.values, tree.kinds, tree.absent, tree.order
    low, high, sets = tree.low, tree.high, tree.sets
    code_low, code_high = tree.code_low, tree.code_high
    changed, lead = False, np.int64(2**62)
    for t in range(LEAF):
        if absent[leaf, t] == 0.0:
            lead = min(lead, order[leaf * LEAF + t])
    start = 0.0 if lead < 2**62 else np.inf
    changed = lead != tree.lead[g, s]
    tree.lead[g, s], tree.start[g, s] = lead, start
    for a in range(low.shape[1]):
        least, most = np.inf, -np.inf
        for t in range(LEAF):
            if absent[leaf, t] == 0.0:
                least, most = min(least, values[leaf, a, t]), max(most, values[leaf, a, t])
        changed |= low[g, a, s] != least or high[g, a, s] != most
        low[g, a, s], high[g, a, s] = least, most
    for a in range(sets.shape[1]):
        begin, end, held = np.int32(2**31 - 1), np.int32(-1), np.uint64(0)
        for t in range(LEAF):
            if absent[leaf, t] == 0.0:
                v = kinds[leaf, a, t]
                begin, end, held = min(begin, v), max(end, v), held | code_bit(v)
        # the ends follow from the set nearly always, and are looked at for the rest
        changed |= held != sets[g, a, s] or code_low[g, a, s] != begin or code_high[g, a, s] != end
        code_low[g, a, s], code_high[g, a, s], sets[g, a, s] = begin, end, held
    return bool(changed)


@inner
def _enclose(tree: LossTree, below: int, g: int, s: int) -> bool:
    """Makes child s of group g the box of the boxes in a group; whether it was another before."""
    low, high, sets = tree.low, tree.high, tree.sets
    code_low, code_high = tree.code_low, tree.code_high
    lead = tree.lead[below, 0]
    for t in range(1, FAN):
        lead = min(lead, tree.lead[below, t])
    changed = lead != tree.lead[g, s]
    tree.lead[g, s], tree.start[g, s] = lead, 0.0 if lead < 2**62 else np.inf
    # an empty child has boxes that widen nothing
    for a in range(low.shape[1]):
        least, most = low[below, a, 0], high[below, a, 0]
        for t in range(1, FAN):
            least, most = min(least, low[below, a, t]), max(most, high[below, a, t])
        changed |= low[g, a, s] != least or high[g, a, s] != most
        low[g, a, s], high[g, a, s] = least, most
    for a in range(sets.shape[1]):
        begin, end, held = code_low[below, a, 0], code_high[below, a, 0], sets[below, a, 0]
        for t in range(1, FAN):
            begin = min(begin, code_low[below, a, t])
            end = max(end, code_high[below, a, t])
            held |= sets[below, a, t]
        changed |= held != sets[g, a, s] or code_low[g, a, s] != begin or code_high[g, a, s] != end
        code_low[g, a, s], code_high[g, a, s], sets[g, a, s] = begin, end, held
    return bool(changed)


@inner
def take_out(tree: LossTree, i: int) -> None:
    """Record i is no longer there."""
    first, q = tree.first, tree.place[i]
    tree.absent[q // LEAF, q % LEAF] = np.inf
    node = q // LEAF
    level = len(first) - 2
    changed = _enclose_leaf(tree, node, first[level] + node // FAN, node % FAN)
    while changed and level > 0:
        node //= FAN
        level -= 1
        changed = _enclose(tree, first[level + 1] + node, first[level] + node // FAN, node % FAN)
