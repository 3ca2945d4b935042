"""Searches among records: the nearest ones, and the furthest one, by a tree (see box_tree.py).

Every distance is summed over the original attributes in their order, without fastmath, and every
tie goes to the record that comes first in canonical order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import ZERO, inlined, inner
from kanon_sql.kernel.simd import box_lanes, lowest_lane, record_lanes
from kanon_sql.points.points import Codes, Floats, Labels
from kanon_sql.search.box_tree import FAN, LEAF, BoxTree, Stack, push_children, remove
from kanon_sql.search.space import Space

NOBODY = np.int64(-1)
"""Stands for no record. A plain -1 would have the searches compiled twice: once for that number,
once for all others."""


HEAPED = 48
"""Records that are wanted from which on those found so far are a heap: in a sorted list each that
is found moves half of them."""


class Leaves(NamedTuple):
    """The records of a tree leaf by leaf, attribute by attribute.

    Attributes:
        values: the numeric attributes, 0.0 where there is no record; float64, shape
            (leaves, d, LEAF).
        codes: the categories, likewise; int32, shape (leaves, c, LEAF).
        absent: 0.0, or inf where there is no live record; float64, shape (leaves, LEAF).
    """

    values: Floats
    codes: Codes
    absent: Floats


class NearestQuery(NamedTuple):
    """A search for the nearest records, and those that it has found so far.

    Attributes:
        origin: the record that is searched from.
        without: a record to pass over (-1: none).
        neighbours: the origin, and the nearest records by (squared distance, index); int64, shape
            (q + 1,) or more.
        gaps: their squared distances; float64, shape (q + 1,) or more.
        q: how many are wanted.
    """

    origin: int
    without: int
    neighbours: Labels
    gaps: Floats
    q: int


@inner
def new_leaves(space: Space, tree: BoxTree) -> Leaves:
    """Leaves of a tree without records."""
    leaves, d, c = len(tree.order) // LEAF, space.numeric.shape[1], space.codes.shape[1]
    # inf is where the sum of an absent record starts, and ends: no test for each lane
    return Leaves(
        np.zeros((leaves, d, LEAF)), np.zeros((leaves, c, LEAF), np.int32),
        np.full((leaves, LEAF), np.inf),
    )


@inner
def fill_leaves(space: Space, tree: BoxTree, leaves: Leaves, lo: int, hi: int) -> None:
    """Puts the records of the leaves lo .. hi-1 of a tree where they belong."""
    numeric, codes, order = space.numeric, space.codes, tree.order
    values, kinds, absent = leaves.values, leaves.codes, leaves.absent
    for q in range(lo * LEAF, hi * LEAF):
        i, leaf, s = order[q], q // LEAF, q % LEAF
        if i < 0:
            continue
        absent[leaf, s] = 0.0
        for a in range(numeric.shape[1]):
            values[leaf, a, s] = numeric[i, a]
        for a in range(codes.shape[1]):
            kinds[leaf, a, s] = codes[i, a]


@inner
def take_out(tree: BoxTree, leaves: Leaves, i: int) -> None:
    """Takes a record out of its leaf and of the tree."""
    q = tree.place[i]
    leaves.absent[q // LEAF, q % LEAF] = np.inf
    remove(tree, i)


@inner
def padded(limit: float, slack: float) -> float:
    """The limit for bounds along turned axes that leaves out nothing within the limit."""
    return (np.sqrt(limit) + slack) ** 2 * (1.0 + 1e-12) if slack > 0.0 else limit


@inlined
def _behind(neighbours: Any, gaps: Any, a: int, b: int) -> Any:
    """Whether what is at place a comes after what is at place b."""
    return gaps[a] > gaps[b] or (gaps[a] == gaps[b] and neighbours[a] > neighbours[b])


@inlined
def _exchange(neighbours: Any, gaps: Any, a: int, b: int) -> None:
    """Lets two places change what they have."""
    neighbours[a], neighbours[b] = neighbours[b], neighbours[a]
    gaps[a], gaps[b] = gaps[b], gaps[a]


@inner
def _sink(neighbours: Any, gaps: Any, q: int, held: int) -> None:
    """Has the top of a heap of so many sink to where it belongs.

    Node v is at place q + 1 - v: so the top, the furthest, is where a sorted list has it.
    """
    v = 1
    while 2 * v <= held:
        w = 2 * v
        if w < held and _behind(neighbours, gaps, q - w, q + 1 - w):
            w += 1
        if not _behind(neighbours, gaps, q + 1 - w, q + 1 - v):
            break
        _exchange(neighbours, gaps, q + 1 - w, q + 1 - v)
        v = w


@inner
def _push(query: NearestQuery, held: int, i: int, gap: float) -> int:
    """As ``_offer``, of a record that is to be taken in, where those found are a heap."""
    neighbours, gaps, q = query.neighbours, query.gaps, query.q
    if held == q:
        neighbours[q], gaps[q] = i, gap
        _sink(neighbours, gaps, q, held)
        return held
    v = held + 1
    neighbours[q + 1 - v], gaps[q + 1 - v] = i, gap
    while v > 1 and _behind(neighbours, gaps, q + 1 - v, q + 1 - v // 2):
        _exchange(neighbours, gaps, q + 1 - v, q + 1 - v // 2)
        v //= 2
    return held + 1


@inner
def _sorted(query: NearestQuery, held: int) -> None:
    """Makes a sorted list of a heap."""
    neighbours, gaps, q = query.neighbours, query.gaps, query.q
    for end in range(held, 1, -1):
        _exchange(neighbours, gaps, q, q + 1 - end)
        _sink(neighbours, gaps, q, end - 1)
    for p in range(1, q // 2 + 1):
        _exchange(neighbours, gaps, p, q + 1 - p)


@inlined
def _offer(query: NearestQuery, held: int, i: int, gap: float) -> int:
    """Takes record i into the q nearest, ordered by (distance, index); returns how many."""
    neighbours, gaps, q = query.neighbours, query.gaps, query.q
    if held == q and (gap > gaps[q] or (gap == gaps[q] and i > neighbours[q])):
        return held
    if q >= HEAPED:
        held = _push(query, held, i, gap)
        return held
    spot = held + 1 if held < q else q
    while spot > 1 and (
        gaps[spot - 1] > gap or (gaps[spot - 1] == gap and neighbours[spot - 1] > i)
    ):
        gaps[spot], neighbours[spot] = gaps[spot - 1], neighbours[spot - 1]
        spot -= 1
    gaps[spot], neighbours[spot] = gap, i
    return min(held + 1, q)


@inlined
def _sweep(
    space: Space, tree: BoxTree, leaves: Leaves, leaf: int, sums: Any, query: NearestQuery,
    held: int,
    limit: float,
) -> Any:
    """Takes the records of a leaf into the q nearest; how many there are, and the new limit."""
    origin = query.origin
    hits = record_lanes(
        leaves.values, leaves.codes, leaves.absent, leaf, space.numeric, space.codes, origin,
        space.apart, limit, sums,
    )
    while hits != 0:
        s = lowest_lane(hits)
        hits &= hits - 1
        # asked again: the limit may have come down since the lanes were compared with it
        if sums[s] <= limit and sums[s] < np.inf:
            i = tree.order[leaf * LEAF + s]
            if i != origin and i != query.without:
                held = _offer(query, held, i, sums[s])
                if held == query.q:
                    limit = query.gaps[query.q]
    return held, limit


@inner
def nearest_in_order(
    space: Space, tree: BoxTree, leaves: Leaves, stack: Stack, origin: int, without: int,
    neighbours: Any, gaps: Any, q: int,
) -> Any:
    """The same as ``nearest_in_tree``, by all lowest boxes as they lie, from the origin's own on:
    faster where there is little to leave out."""
    apart, axes, sets, slack = space.apart, space.axes, space.sets, space.slack
    low, high, held_sets, start = tree.low, tree.high, tree.sets, tree.start
    first, sums, bounds = tree.first, stack.sums, stack.bounds
    query = NearestQuery(origin, without, neighbours, gaps, q)
    neighbours[0], gaps[0] = origin, 0.0
    limit = loose = np.inf
    base, room = first[len(first) - 2], first[-1]
    home = max(0, tree.place[origin] // (LEAF * FAN))
    held, opened, swept = ZERO, 0, 0
    # the origin's own box comes first, since it most often holds the nearest: the limit is low
    # from then on
    for turn in range(-1, room - base if q > 0 else -1):
        g = home if turn < 0 else turn
        if turn == home:
            continue
        opened += 1
        hits = box_lanes(
            low, high, held_sets, start, base + g, axes, sets, origin, apart, 1.0, loose, bounds
        )
        while hits != 0:
            s = lowest_lane(hits)
            hits &= hits - 1
            if bounds[s] <= loose and bounds[s] < np.inf:
                swept += 1
                held, limit = _sweep(
                    space, tree, leaves, g * FAN + s, sums, query, held, limit
                )
                loose = padded(limit, slack)
    if q >= HEAPED:
        _sorted(query, held)
    return opened, swept


@inner
def nearest_in_tree(
    space: Space, tree: BoxTree, leaves: Leaves, stack: Stack, origin: int, without: int,
    neighbours: Any, gaps: Any, q: int,
) -> Any:
    """N(origin): neighbours[0] is the origin, neighbours[1..q] its q nearest live records.

    Nine arguments: tree and leaves are what searches in parallel share, stack, found and gaps what
    each needs for itself, and the rest is the question.

    Args:
        without: a record to pass over (-1: none).
        gaps: squared distances, float64, shape (q + 1,).
        q: at most as many as there are live records besides the two.

    Returns:
        How many nodes were opened and how many leaves were swept.
    """
    apart, axes, sets, slack = space.apart, space.axes, space.sets, space.slack
    low, high, held_sets, start = tree.low, tree.high, tree.sets, tree.start
    wait_bound, wait_node = stack.waiting_bound, stack.waiting_node
    wait_lead, sums, bounds = stack.waiting_lead, stack.sums, stack.bounds
    room = tree.first[-1]
    query = NearestQuery(origin, without, neighbours, gaps, q)
    neighbours[0], gaps[0] = origin, 0.0
    limit = loose = np.inf
    held, opened, swept, top = ZERO, 0, 0, 0
    # its own leaf first: it most often holds some of the nearest, and with a limit fewer wait
    home = NOBODY
    if q > 0 and tree.place[origin] >= 0:
        leaf = tree.place[origin] // LEAF
        home, swept = room + leaf, swept + 1
        held, limit = _sweep(space, tree, leaves, leaf, sums, query, held, limit)
        loose = padded(limit, slack)
    if q > 0:
        wait_bound[0], wait_node[0], wait_lead[0], top = 0.0, 0, -1, 1
    while top > 0:
        top -= 1
        node, bound = wait_node[top], wait_bound[top]
        if node == home:
            continue
        # what is as near as the last found counts only with a lower index; a bound with slack is
        # too low to tell a tie, but nothing is nearer than 0.0
        if bound > loose or (
            held == q and wait_lead[top] > neighbours[q]
            and (limit == 0.0 or (bound == limit and slack == 0.0))
        ):
            continue
        if node < room:
            opened += 1
            hits = box_lanes(
                low, high, held_sets, start, node, axes, sets, origin, apart, 1.0, loose, bounds
            )
            if hits != 0:
                top = push_children(tree, stack, top, node, hits)
            continue
        swept += 1
        held, limit = _sweep(space, tree, leaves, node - room, sums, query, held, limit)
        loose = padded(limit, slack)
    if q >= HEAPED:
        _sorted(query, held)
    return opened, swept


@inner
def furthest_in_tree(
    space: Space, tree: BoxTree, leaves: Leaves, stack: Stack, center: Any, terms: Any, most: Any
) -> int:
    """The live record furthest from a point.

    Args:
        center: numeric attributes of the point, float64, shape (d,).
        terms: what each category adds to the squared distance, float64, shape (c, categories).
        most: the largest of the terms of the categories of one bit, float64, shape (c, 64).
    """
    numeric, codes, axes = space.numeric, space.codes, space.axes
    turn, slack = space.turn, space.slack
    order, low, high, masks = tree.order, tree.low, tree.high, tree.sets
    start, room = tree.start, tree.first[-1]
    values, kinds, absent = leaves.values, leaves.codes, leaves.absent
    wait_bound, wait_node = stack.waiting_bound, stack.waiting_node
    wait_lead, sums, bounds = stack.waiting_lead, stack.sums, stack.bounds
    at = np.zeros(axes.shape[1])
    for a in range(numeric.shape[1]):
        for b in range(axes.shape[1]):
            at[b] += center[a] * turn[a, b]
    # bounds are negative squared distances, so that the least one is on top here too
    best, furthest = -1, -1.0
    wait_bound[0], wait_node[0], wait_lead[0], top = -np.inf, 0, -1, 1
    while top > 0:
        top -= 1
        node, bound = wait_node[top], wait_bound[top]
        if -bound < furthest or (-bound == furthest and wait_lead[top] > best):
            continue
        if node < room:
            for s in range(FAN):
                bounds[s] = 0.0
            for a in range(low.shape[1]):
                value = at[a]
                for s in range(FAN):
                    below, above = value - low[node, a, s], high[node, a, s] - value
                    gap = below if below > above else above
                    bounds[s] += gap * gap
            for a in range(masks.shape[1]):
                for s in range(FAN):
                    more = 0.0
                    for bit in range(most.shape[1]):
                        if masks[node, a, s] >> np.uint64(bit) & np.uint64(1) != 0:
                            more = max(more, most[a, bit])
                    bounds[s] += more
            # inf is never among the hits, and push_children leaves it out, too
            for s in range(FAN):
                bounds[s] = np.inf if start[node, s] > 0.0 else -padded(bounds[s], slack)
            hits = ZERO
            for s in range(FAN):
                if bounds[s] <= -furthest:
                    hits |= 1 << s
            top = push_children(tree, stack, top, node, hits)
            continue
        # summed over the original attributes in their order, as every distance that decides
        leaf = node - room
        for s in range(LEAF):
            sums[s] = 0.0
        for a in range(numeric.shape[1]):
            value = center[a]
            for s in range(LEAF):
                gap = values[leaf, a, s] - value
                sums[s] += gap * gap
        for a in range(codes.shape[1]):
            for s in range(LEAF):
                sums[s] += terms[a, kinds[leaf, a, s]]
        for s in range(LEAF):
            if absent[leaf, s] > 0.0 or sums[s] < furthest:
                continue
            i = order[leaf * LEAF + s]
            if sums[s] > furthest or i < best:
                best, furthest = i, sums[s]
    return best
