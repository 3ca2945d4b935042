"""For each record the records nearest to it."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import in_parallel, threads
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.points.points import Points
from kanon_sql.search.box_tree import new_stack
from kanon_sql.search.nearest_alike import Lists, nearest_alike
from kanon_sql.search.planting import new_pool
from kanon_sql.search.queries import NOBODY, nearest_in_tree
from kanon_sql.search.space import Space, make_space
from kanon_sql.search.unassigned import Pool

PIECE = 20_000
"""Records at least for which a thread of its own is worth it."""


@kernel
def _fill_lists(
    space: Space, pool: Pool, lo: int, hi: int, lists: Any, full: Any, beat: Any
) -> None:
    """The lists of the records at the tree's places lo .. hi-1, one after another as they lie,
    unless they are full."""
    # a stack of its own: the pool's would be shared with the pieces on other threads
    tree, leaves, stack, count = pool.tree, pool.leaves, new_stack(), lists.shape[1]
    found, gaps = np.empty(count + 1, np.int64), np.empty(count + 1)
    # by place, not by index: neighbours read the same leaves
    for q in range(lo, hi):
        i = tree.order[q]
        if i < 0 or full[i]:
            continue
        if beat[STOP] == 1:
            return
        nearest_in_tree(space, tree, leaves, stack, i, NOBODY, found, gaps, count)
        for p in range(count):
            lists[i, p] = found[p + 1]


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
        places = len(pool.tree.order)
        pieces = max(1, min(threads(), n // PIECE))
        bounds = [places * piece // pieces for piece in range(pieces + 1)]
        in_parallel(
            [
                partial(_fill_lists, space, pool, lo, hi, lists, full, beat)
                for lo, hi in pairwise(bounds)
            ]
        )
    return lists
