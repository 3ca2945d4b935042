"""Centers that cover all records within a key, and k records for each of them by a flow.

Condition (2) of aggarwal2006, section 2.2. The paper's network has an arc from each center to
every record within the radius, and asks for a flow that gives each center k records. Here every
record starts at its nearest center, and a flow only moves what centers with fewer than k lack: an
arc leads from a center to each record within the radius that is another center's, and on to that
other center, which passes on what it has above k, or takes a record from yet another one. This is
the residual network of the paper's, so that the one flow exists just if the other does; and it is
small, since it begins at centers that lack records and ends at centers that can lend as many
records as could ever be asked of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.centers.lower_bounds import keys_between
from kanon_sql.methods.centers.radius_search import RadiusTrial
from kanon_sql.points.points import Floats, Labels, MetricPoints
from kanon_sql.search.balls import ball_in_tree
from kanon_sql.search.box_tree import new_stack
from kanon_sql.search.marked_counts import MarkedTree

MOST_ARCS = 20_000_000
"""Arcs from centers to records in a flow network, at most."""


@dataclass(frozen=True)
class Assignment:
    """Which center each record belongs to.

    Attributes:
        centers: int64, shape (m,); records.
        owner: int64, shape (n,); which of the centers, -1 for none.
        nearest: int64, shape (n,); the nearest center (the first on ties).
        gaps: float64, shape (n,); the key of each record and its nearest center.
    """

    centers: Labels
    owner: Labels
    nearest: Labels
    gaps: Floats


class CenterCover(NamedTuple):
    """Centers within a key of all records.

    Attributes:
        centers: int64, shape (m,); records. One more than were asked for where these are too few.
        nearest: int64, shape (n,); which of the centers is nearest to each record, the first on
            ties.
        keys: float64, shape (n,); the key of each record and its nearest center.
        shared: int64, shape (n,); how many centers are within the key of each record.
        widest: the largest key within the limit of a center and any record.
    """

    centers: Any
    nearest: Any
    keys: Any
    shared: Any
    widest: float


@kernel
def _cover(marked_tree: MarkedTree, limit: float, most: int, beat: Any) -> CenterCover:
    """Makes every record that no center is within the limit of a center, in canonical order, up to
    one more than ``most``."""
    space, tree, leaves, _ = marked_tree
    numeric, _, _, _, _, _, _, _ = space
    n = len(numeric)
    stack, records, gaps = new_stack(), np.empty(n, np.int64), np.empty(n)
    centers, clusters = np.empty(min(most + 1, n), np.int64), 0
    nearest, keys, shared = np.full(n, -1, np.int64), np.full(n, np.inf), np.zeros(n, np.int64)
    widest = 0.0
    for i in range(n):
        if shared[i] > 0:
            continue
        # one more than allowed says enough: the key is rejected
        if clusters > most or beat[STOP] != 0:
            break
        count = ball_in_tree(space, tree, leaves, stack, i, limit, records, gaps)
        # the one ball of a center says all: who is near it, and who becomes no center any more
        for p in range(count):
            v = records[p]
            shared[v] += 1
            widest = max(widest, gaps[p])
            if gaps[p] < keys[v]:
                nearest[v], keys[v] = clusters, gaps[p]
        centers[clusters] = i
        clusters += 1
    return CenterCover(centers[:clusters], nearest, keys, shared, widest)


@kernel
def _arcs(
    marked_tree: MarkedTree, limit: float, cover: CenterCover, due: Any, ends: Any, most: int,
    beat: Any
) -> Any:
    """Who may take which record: arcs from the centers with dues, and from all that may be asked
    for more, up to centers where flows end.

    Args:
        marked_tree: all records.
        limit: the key up to which a center may take a record.
        cover: the centers, and the records that they have at first.
        due: int64, shape (m,); how many records each center lacks.
        ends: bool, shape (m,); centers that can lend whatever may be asked of them.
        most: arcs at most.
        beat: see watch.py.

    Returns:
        Centers and records, int32; empty where they would be more than ``most``.
    """
    space, tree, leaves, _ = marked_tree
    centers, owner = cover.centers, cover.nearest
    n, m = len(owner), len(centers)
    stack, members, gaps = new_stack(), np.empty(n, np.int64), np.empty(n)
    takers, records, count = np.empty(n, np.int32), np.empty(n, np.int32), 0
    waiting, seen, top = np.empty(m, np.int64), due > 0, 0
    for c in range(m):
        if seen[c]:
            waiting[top] = c
            top += 1
    while top > 0 and beat[STOP] == 0:
        top -= 1
        c = waiting[top]
        size = ball_in_tree(space, tree, leaves, stack, centers[c], limit, members, gaps)
        # twice as much room each time, so that copying never costs more than writing did
        if count + size > len(takers):
            more = max(2 * count, count + size) - count
            takers = np.append(takers, np.empty(more, np.int32))
            records = np.append(records, np.empty(more, np.int32))
        for p in range(size):
            v = members[p]
            a = owner[v]
            # a center does not ask itself for what it has
            if a == c:
                continue
            takers[count], records[count] = c, v
            count += 1
            # what is asked of a center is asked of others in turn, unless it can pay by itself
            if not (seen[a] or ends[a]):
                seen[a] = True
                waiting[top] = a
                top += 1
        # empty arrays stand for too many: there are dues, so that a network is never empty
        if count > most:
            return takers[:0], records[:0]
    return takers[:count], records[:count]


def _moves(takers: Any, records: Any, owner: Labels, due: Labels, spare: Labels) -> Any:
    """The records that a largest flow moves, and to which centers; None if it leaves dues.

    Nodes: 0 the source, then all centers, the records that may move, in order, and the sink.
    """
    m = len(due)
    # a record is one node, however many centers may take it: it moves once
    movable, place = np.unique(records, return_inverse=True)
    sink = 1 + m + len(movable)
    needy, rich = np.flatnonzero(due), np.flatnonzero(spare)
    tails = np.concatenate(
        [np.zeros_like(needy), 1 + takers, np.arange(1 + m, sink), 1 + rich]
    )
    heads = np.concatenate(
        [1 + needy, 1 + m + place, 1 + owner[movable], np.full_like(rich, sink)]
    )
    room = np.concatenate(
        [due[needy], np.ones(len(takers) + len(movable), np.int64), spare[rich]]
    )
    network: Any = csr_matrix(
        (room.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1)
    )
    # the flow that is found depends on the order of arcs: it must not depend on how they came
    network.sort_indices()
    result = maximum_flow(network, 0, sink)
    if result.flow_value < due.sum():
        return None
    flow = result.flow.tocoo()
    used = (flow.data > 0) & (flow.row >= 1) & (flow.row <= m) & (flow.col < sink)
    return movable[flow.col[used] - 1 - m], flow.row[used] - 1


def gather_within(
    marked_tree: MarkedTree, limit: float, k: int, most: int, watch: Watch
) -> RadiusTrial:
    """Centers and k or more records within a key of each: an Assignment, if condition (2) holds.

    It is the same for all keys down to that of the center and record furthest apart within it.

    Args:
        marked_tree: all records.
        limit: the key of 2R.
        k: the least size of a cluster.
        most: centers at most.
        watch: its stop raises StoppedError.

    Raises:
        DataError: the flow network would be too large.
    """
    numeric, *_ = marked_tree.space
    beat = watch.beat()
    most = min(most, len(numeric) // k)  # more centers can't have k records each
    cover = _cover(marked_tree, limit, most, beat)
    watch.check()
    m, nearest = len(cover.centers), cover.nearest
    if m > most:
        return RadiusTrial(limit, None)
    sizes = np.bincount(nearest, minlength=m)
    due, spare = np.maximum(k - sizes, 0), np.maximum(sizes - k, 0)
    owner = nearest
    if due.sum() > 0:
        # no more can be asked of a center than the records it shares, or than all dues
        lent = np.bincount(nearest[cover.shared > 1], minlength=m)
        ends = spare >= np.minimum(lent, due.sum())
        takers, records = _arcs(marked_tree, limit, cover, due, ends, MOST_ARCS, beat)
        watch.check()
        if len(takers) == 0:
            raise DataError(
                f"The flow network of this grouping would have more than {MOST_ARCS} arcs. Group "
                f"in blocks: block_rows = {int(np.sqrt(MOST_ARCS * k))} always works."
            )
        moves = _moves(takers, records, nearest, due, spare)
        if moves is None:
            return RadiusTrial(limit, None)
        owner = nearest.copy()
        owner[moves[0]] = moves[1]
    return RadiusTrial(cover.widest, Assignment(cover.centers, owner, nearest, cover.keys))


def bring_home(points: MetricPoints, assignment: Assignment, k: int) -> Labels:
    """Brings records to their nearest center, where that is strictly nearer than the one they
    have and more than k are there, in canonical order, until nothing changes.

    int64, shape (n,); neither sizes below k nor a larger radius can come of it.
    """
    owner: Labels = assignment.owner.copy()
    nearest = assignment.nearest
    away = np.flatnonzero((owner >= 0) & (owner != nearest))
    away = away[keys_between(points, away, assignment.centers[owner[away]]) > assignment.gaps[away]]
    sizes = np.bincount(owner[owner >= 0], minlength=len(assignment.centers)).tolist()
    waiting = away.tolist()
    while True:
        stay = []
        for i in waiting:
            old, new = int(owner[i]), int(nearest[i])
            if sizes[old] > k:
                sizes[old] -= 1
                sizes[new] += 1
                owner[i] = new
            else:
                stay.append(i)
        # a record that left made room for none of the others: nothing will move any more
        if len(stay) == len(waiting):
            return owner
        waiting = stay
