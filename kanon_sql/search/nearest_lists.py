"""For each record the records nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import in_parallel, threads
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.points.points import Labels, Points
from kanon_sql.search.axes import make_space
from kanon_sql.search.box_tree import new_stack
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.nearest_alike import Lists, nearest_alike
from kanon_sql.search.queries import NOBODY, nearest_in_tree
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import Pool

PIECE = 20_000
"""Records at least for which a thread of its own is worth it."""


@kernel
def _fill_lists(
    space: Space, pool: Pool, origins: Any, lists: Any, full: Any, beat: Any
) -> None:
    """The lists of some records, one after another as they lie, unless they are full."""
    # a stack of its own: the pool's would be shared with the pieces on other threads
    tree, leaves, stack, count = pool.tree, pool.leaves, new_stack(), lists.shape[1]
    neighbours, gaps = np.empty(count + 1, np.int64), np.empty(count + 1)
    for q in range(len(origins)):
        i = origins[q]
        if i < 0 or full[i]:
            continue
        if beat[STOP] == 1:
            return
        nearest_in_tree(space, tree, leaves, stack, i, NOBODY, neighbours, gaps, count)
        for p in range(count):
            lists[i, p] = neighbours[p + 1]


def _fill(
    space: Space, pool: Pool, origins: Any, lists: Any, full: Any, beat: Beat
) -> None:
    """The lists of these records, on as many threads as it may take."""
    pieces = max(1, min(threads(), len(lists) // PIECE))
    bounds = [len(origins) * piece // pieces for piece in range(pieces + 1)]
    in_parallel([
        partial(_fill_lists, space, pool, origins[lo:hi], lists, full, beat)
        for lo, hi in pairwise(bounds)
    ])


def nearest_lists(points: Points, count: int, beat: Beat | None = None) -> Lists:
    """The ``count`` records nearest to each record, by (squared distance, index), itself left out.

    int32, shape (n, min(count, n - 1)). The squared distance is summed over the attributes in
    their order. A beat that says stop ends it early, with lists that are no good. Runs on as many
    threads as it may take.
    """
    n = len(points)
    lists = np.zeros((n, max(min(count, n - 1), 0)), np.int32)
    beat = np.zeros(2, np.int64) if beat is None else beat
    full = np.ones(n, np.bool_)
    if lists.shape[1] > 0:
        full = nearest_alike(points, lists, beat)
    if not full.all():
        space = make_space(points)
        pool = new_pool(space, np.arange(n))
        # by place, not by index: neighbours read the same leaves
        _fill(space, pool, pool.tree.order, lists, full, beat)
    return lists


def nearest_among(
    points: Points, parts: Sequence[Labels], count: int, beat: Beat | None = None
) -> Lists:
    """For each record the ``count`` nearest of each of some parts of the records, by (squared
    distance, index), itself left out.

    Args:
        points: n records.
        parts: for each part its records, int64.
        count: how many; of a part of m records at most m - 1, since each of its own is left out
            and a list has one length for all: a record outside lacks the furthest of so small a
            part.
        beat: says stop, as in ``nearest_lists``.

    Returns: int32, shape (n, the sum of what is taken of each part), part by part.
    """
    n, space = len(points), make_space(points)
    order = new_pool(space, np.arange(n)).tree.order
    beat = np.zeros(2, np.int64) if beat is None else beat
    lists = []
    for part in parts:
        lists.append(np.zeros((n, max(0, min(count, len(part) - 1))), np.int32))
        if lists[-1].shape[1] > 0:
            _fill(space, new_pool(space, part), order, lists[-1], np.zeros(n, np.bool_), beat)
    return np.hstack(lists) if lists else np.zeros((n, 0), np.int32)
