"""Pools of records planted on several threads.

The cuts at the top are made level by level, those of a level side by side; then each part is
ordered on its own. A cut looks at its own part only, so the tree is the one that ``plant`` builds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import in_parallel, threads
from kanon_sql.search.box_tree import (
    FAN,
    LEAF,
    BoxTree,
    arrange,
    bare_tree,
    fill_boxes,
    halve,
    levels,
    new_stack,
    raise_boxes,
)
from kanon_sql.search.queries import fill_leaves, new_leaves
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import BUILT, IN_ORDER, LEFT, Pool, rest_of

WORTH = 1_000
"""Leaves for which a thread of its own is worth it."""


@kernel
def _order(space: Space, order: Any, key: Any, part: Any, n: int, once: bool) -> int:
    """Orders the records of the leaves part[0] .. part[1]-1, or cuts them ``once`` and returns
    the first leaf of the second half. See ``halve``."""
    if once:
        middle: int = halve(space, order, key, part, n)
        return middle
    arrange(space, order, key, part, n)
    return 0


@kernel
def _fill(space: Space, pool: Pool, lo: int, hi: int) -> None:
    """Makes the boxes of the leaves lo .. hi-1, and fills these; without leaves, makes the boxes of
    all nodes above."""
    if lo == hi:
        raise_boxes(pool.tree)
    fill_boxes(space, pool.tree, lo, hi)
    fill_leaves(space, pool.tree, pool.leaves, lo, hi)


def _cut(space: Space, order: Any, key: Any, part: Any) -> list[Any]:
    """The two halves of a part."""
    middle = _order(space, order, key, part, len(key), True)
    return [np.array([part[0], middle]), np.array([middle, part[1]])]


def new_pool(space: Space, members: Any) -> Pool:
    """A pool of some records, as ``plant`` plants it: members int64, shape (m,)."""
    leaves = -(-len(members) // LEAF)
    order, place = np.full(leaves * LEAF, -1), np.full(len(space.axes), -1)
    order[: len(members)] = members
    # as they are written: what only makes arrays is not worth compiling
    tree: BoxTree = bare_tree.py_func(
        order, place, levels.py_func(leaves), space.axes.shape[1], space.sets.shape[1]
    )
    counts = np.zeros(5, np.int64)
    counts[LEFT] = counts[BUILT] = len(members)
    pool = Pool(tree, new_leaves.py_func(space, tree), new_stack.py_func(), counts)
    key = np.empty(len(members))
    parts, limit = [np.array([0, leaves])], max(leaves // (2 * threads()), WORTH)
    while threads() > 1 and any(part[1] - part[0] > limit for part in parts):
        large = [part for part in parts if part[1] - part[0] > limit]
        parts = [part for part in parts if part[1] - part[0] <= limit]
        for halves in in_parallel([partial(_cut, space, order, key, part) for part in large]):
            parts += halves
    # the largest first, so that no thread is left with it at the end
    parts.sort(key=lambda part: int(part[0] - part[1]))
    in_parallel([partial(_order, space, order, key, part, len(key), False) for part in parts])
    # whole nodes, so that no two threads write to one
    step = max(-(-leaves // (threads() * FAN)), WORTH // FAN) * FAN
    in_parallel(
        [
            partial(_fill, space, pool, lo, min(lo + step, leaves))
            for lo in range(0, leaves, step)
        ]
    )
    # by the same kernel: to compile one for it alone took as long as to compile what it does
    _fill(space, pool, leaves, leaves)
    return pool


def replant(space: Space, pool: Pool, labels: Any) -> Pool:
    """A pool of the records of another one that have no labels yet."""
    renewed = new_pool(space, rest_of(pool, labels))
    renewed.counts[IN_ORDER] = pool.counts[IN_ORDER]
    return renewed
