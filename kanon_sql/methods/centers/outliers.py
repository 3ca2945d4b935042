"""Clusters that leave some records out: (r, epsilon)-gather and (k, r, epsilon)-center.

Aggarwal2006, sections 2.3 and 2.4. Here r is called k, and the paper's k most. A ball is a record
and all within a key of it; a record is heavy where its ball holds k or more.

Section 2.3, centers anywhere: ``least_core``. The least radius is found without a search: take
out the record whose k-1 neighbours among those left reach furthest, again and again, as long as
records may be left out; the radius is the least that the worst record left ever had. For let S be
the largest set whose records have k-1 neighbours within x in S. While the worst record needs more
than x it isn't in S, since all of S is still there; so it is S that is left when no record needs
more than x.

Centers among the records, factor 3 (the paper defers it): ``heavy_cover`` and ``disjoint_balls``.
Let x be a key within which some heavy records' balls hold all but those left out. The optimal
radius is such a key, as each optimal cluster lies in its center's ball; the least one is a lower
bound. Record u lies in the ball of a heavy q within x just if max(key(u, q), the key that q needs)
is x or less, and no ball larger than what u itself needs can matter. As clusters take the balls of
heavy records, in canonical order, that meet no ball taken before. A heavy ball that was not taken
meets one that was, so that all of its records are within 3 distances of that one's center.

Section 2.4 with records left out, factor 6 or 3 (the paper defers it): ``heaviest_balls``, after
Charikar et al. 2001. Again balls of heavy records that meet no ball taken before, but each time
the one with the most records not covered yet; it covers all within 3 distances, and at most
``most`` are taken. Let every optimal cluster O lie in a ball B(O) around some record: any member,
and a key of the largest diameter; or its center, and a key of the largest radius. B(O) is heavy.
Then no less is covered than the optimal clusters hold. Settle, with each ball G taken, the optimal
clusters whose B(O) it meets, if they are not settled yet: all of such an O is covered now, and is
set off against itself. If there is none, settle one other O: B(O) meets no ball taken so far, so it
might have been taken, and G has at least as many records not covered before as O; set those of O
off against these, and the covered ones of O against themselves. No record is used twice: G's new
records are in no O that is settled later or at the same time, or else G would meet B(O); and not
used by an O settled earlier, whose records were covered by then, or set off against others. Each
ball settles one or more, as long as there are any, and balls don't run out before: they may be no
more than ``most``, but optimal clusters are no more, either. So where too little is covered the
key is below the optimum's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.tournament import change_value, new_tournament
from kanon_sql.kernel.watch import STOP
from kanon_sql.search.balls import ball_in_tree
from kanon_sql.search.box_tree import new_stack
from kanon_sql.search.marked_counts import (
    ANY,
    MarkedTree,
    change_mark,
    count_marked,
    no_marks,
)
from kanon_sql.search.queries import NOBODY, nearest_in_tree, take_out


class CoveringBalls(NamedTuple):
    """Balls that have no record in common.

    Attributes:
        centers: int64, shape (m,); records.
        owner: int64, shape (n,); which ball each record is in, -1 for none.
        covered: bool, shape (n,); whether it is within reach of a center.
    """

    centers: Any
    owner: Any
    covered: Any


@kernel
def least_core(space: Any, pool: Any, needed: Any, k: int, out: int, beat: Any) -> Any:
    """The least key within which all records but some have k-1 others of those within reach.

    Args:
        space: of all records, see make_space.
        pool: of all records, see plant; those that are tried without are taken out.
        needed: for each record the key within which there are k, itself among them.
        k: 1 to n.
        out: records that may be left out, less than n.
        beat: see watch.py.

    Returns:
        The key, and the records kept: bool, shape (n,).
    """
    n = len(needed)
    tree, leaves, stack, _ = pool
    # the order in which records left is kept, since only after the last is it known where the least
    # key was
    keys, left = new_tournament(needed), np.empty(out, np.int64)
    records, gaps = np.empty(n, np.int64), np.empty(n)
    near, near_gaps = np.empty(k, np.int64), np.empty(k)
    field, winners = keys
    worst = winners[1]
    least, when = field[worst], 0
    # with fewer than k left there is no key at all
    for step in range(min(out, n - k)):
        if beat[STOP] != 0:
            break
        limit = field[worst]
        take_out(tree, leaves, worst)
        change_value(keys, worst, -np.inf)
        left[step] = worst
        # the worst record's key is the largest of all: whoever it was near to is within it
        count = ball_in_tree(space, tree, leaves, stack, worst, limit, records, gaps)
        for p in range(count):
            v = records[p]
            # a record loses a neighbour only if the one taken out was among its k-1 nearest
            if gaps[p] <= field[v]:
                nearest_in_tree(space, tree, leaves, stack, v, NOBODY, near, near_gaps, k - 1)
                change_value(keys, v, near_gaps[k - 1])
        worst = winners[1]
        if field[worst] < least:
            least, when = field[worst], step + 1
    kept = np.ones(n, np.bool_)
    for step in range(when):
        kept[left[step]] = False
    return least, kept


@kernel
def core_balls(space: Any, pool: Any, kept: Any, k: int, limit: float, beat: Any) -> Any:
    """Balls of k or more records kept that are in no ball yet, in canonical order.

    Args:
        space: of all records, see make_space.
        pool: of the records kept, see plant; those in balls are taken out.
        kept: bool, shape (n,).
        k: the least number of records in a ball.
        limit: the key of a ball.
        beat: see watch.py.

    Returns:
        The centers, and the number of each record's ball, -1 where it is in none.
    """
    n = len(kept)
    tree, leaves, stack, _ = pool
    records, gaps = np.empty(n, np.int64), np.empty(n)
    centers, balls, owner = np.empty(n // k, np.int64), 0, np.full(n, -1, np.int64)
    for i in range(n):
        if not kept[i] or owner[i] >= 0:
            continue
        if beat[STOP] != 0:
            break
        count = ball_in_tree(space, tree, leaves, stack, i, limit, records, gaps)
        if count < k:
            continue
        # taken out at once, so that later balls are of what no ball holds yet
        for p in range(count):
            owner[records[p]] = balls
            take_out(tree, leaves, records[p])
        centers[balls] = i
        balls += 1
    return centers[:balls], owner


@kernel
def heavy_cover(marked_tree: MarkedTree, needed: Any, beat: Any) -> Any:
    """For each record the least key x such that it is within x of a record whose own ball of x is
    heavy: float64, shape (n,)."""
    space, tree, leaves, _ = marked_tree
    n = len(needed)
    stack, records, gaps = new_stack(), np.empty(n, np.int64), np.empty(n)
    least = needed.copy()
    for i in range(n):
        if beat[STOP] != 0:
            break
        # a ball larger than what i needs itself can't give it a smaller key
        count = ball_in_tree(space, tree, leaves, stack, i, needed[i], records, gaps)
        for p in range(count):
            least[i] = min(least[i], max(gaps[p], needed[records[p]]))
    return least


@kernel
def heaviest_balls(
    marked_tree: MarkedTree, sizes: Any, k: int, limit: float, reach: float, most: int, beat: Any
) -> CoveringBalls:
    """Balls of heavy records that meet none taken before, each with the most records that are not
    covered yet (the first on ties).

    Args:
        marked_tree: all records.
        sizes: of the balls of all records, see ball_sizes.
        k: the least number of records in a heavy ball.
        limit: the key of a ball.
        reach: the key up to which a ball that was taken covers.
        most: balls taken at most.
        beat: see watch.py.
    """
    space, tree, leaves, _ = marked_tree
    n = len(sizes)
    stack, records, gaps = new_stack(), np.empty(n, np.int64), np.empty(n)
    taken, bare = no_marks(marked_tree), no_marks(marked_tree)
    owner, centers, balls = np.full(n, -1, np.int64), np.empty(min(most, n), np.int64), 0
    for i in range(n):
        change_mark(marked_tree, bare, i)
    weights = new_tournament(np.where(sizes >= k, sizes, -1).astype(np.float64))
    field, winners = weights
    while balls < most and beat[STOP] == 0:
        # weights only fall: one that is still the largest when counted anew is the largest
        i = winners[1]
        if field[i] < 0.0:
            break
        if count_marked(marked_tree, taken, stack, i, limit, ANY) > 0:
            change_value(weights, i, -1.0)
            continue
        change_value(weights, i, float(count_marked(marked_tree, bare, stack, i, limit, n)))
        if winners[1] != i:
            continue
        count = ball_in_tree(space, tree, leaves, stack, i, reach, records, gaps)
        for p in range(count):
            # balls of reach overlap, those of the limit don't
            if bare.marked[records[p]]:
                change_mark(marked_tree, bare, records[p])
            if gaps[p] <= limit:
                owner[records[p]] = balls
                change_mark(marked_tree, taken, records[p])
        change_value(weights, i, -1.0)
        centers[balls] = i
        balls += 1
    return CoveringBalls(centers[:balls], owner, ~bare.marked)


@kernel
def disjoint_balls(
    marked_tree: MarkedTree, needed: Any, limit: float, k: int, beat: Any
) -> Any:
    """Balls of heavy records that meet none taken before, in canonical order.

    Returns:
        The centers, and the number of each record's ball, -1 where it is in none.
    """
    space, tree, leaves, _ = marked_tree
    n = len(needed)
    stack, records, gaps = new_stack(), np.empty(n, np.int64), np.empty(n)
    taken, owner = no_marks(marked_tree), np.full(n, -1, np.int64)
    centers, balls = np.empty(n // k, np.int64), 0
    for i in range(n):
        # its ball would meet the one that it is in, or it is not heavy
        if owner[i] >= 0 or needed[i] > limit:
            continue
        if beat[STOP] != 0:
            break
        # that i is in no ball is not enough: its own ball must meet none
        if count_marked(marked_tree, taken, stack, i, limit, ANY) > 0:
            continue
        count = ball_in_tree(space, tree, leaves, stack, i, limit, records, gaps)
        for p in range(count):
            owner[records[p]] = balls
            change_mark(marked_tree, taken, records[p])
        centers[balls] = i
        balls += 1
    return centers[:balls], owner


@kernel
def nearest_centers(space: Any, pool: Any, centers: Any, beat: Any) -> Any:
    """For each record the number of the nearest center (the first record on ties), and the key.

    The pool is of the centers.
    """
    numeric, _, _, _, _, _, _, _ = space
    n = len(numeric)
    nearest, keys = np.zeros(n, np.int64), np.zeros(n)
    tree, leaves, stack, _ = pool
    number = np.full(n, -1, np.int64)
    # the tree knows records, the caller wants the number of the center
    for c in range(len(centers)):
        number[centers[c]] = c
    neighbours, gaps, one = np.empty(2, np.int64), np.empty(2), np.int64(1)
    for i in range(n):
        if beat[STOP] != 0:
            break
        # a search never finds its origin: a center is its own nearest
        nearest[i] = number[i]
        if number[i] < 0:
            nearest_in_tree(space, tree, leaves, stack, i, NOBODY, neighbours, gaps, one)
            nearest[i], keys[i] = number[neighbours[1]], gaps[1]
    return nearest, keys
