"""Large inputs in blocks: the table is cut into blocks of close records, and each is grouped on
its own, on all cores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping import Method
from kanon_sql.grouping.parallel import in_parallel
from kanon_sql.grouping.points import Grouping, Points
from kanon_sql.grouping.space import category_sets
from kanon_sql.grouping.tree import cut, widest_axis
from kanon_sql.grouping.watch import Watch

AUTOMATIC = 500_000
"""Records in a block unless the call says otherwise; up to twice that are grouped as one."""

LEAST = 50
"""Times k: the fewest records in a block."""


def block_size(options: Mapping[str, Any], k: int) -> int:
    """The largest number of records in a block, by the options."""
    wanted = options.get("block_rows") or AUTOMATIC
    return max(int(wanted), LEAST * k)


@njit(cache=True, nogil=True)
def _cut_blocks(axes: Any, masks: Any, scale: Any, order: Any, blocks: int) -> Any:
    """Orders the records so that each of the blocks, of nearly the same size, is a run; returns
    where they begin, int64, shape (blocks + 1,)."""
    n = len(order)
    key = np.empty(n)
    bounds = np.zeros(blocks + 1, np.int64)
    for b in range(blocks + 1):
        bounds[b] = b * n // blocks
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1], top = 0, blocks, 1
    while top > 0:
        top -= 1
        first, last = waiting[top, 0], waiting[top, 1]
        lo, hi = bounds[first], bounds[last]
        if last - first == 1:
            continue
        middle = (first + last) // 2
        axis = widest_axis(axes, masks, scale, order, lo, hi)
        cut(axes, masks, order, key, lo, hi, axis, bounds[middle])
        waiting[top, 0], waiting[top, 1] = first, middle
        waiting[top + 1, 0], waiting[top + 1, 1] = middle, last
        top += 2
    return bounds


def cut_blocks(points: Points, size: int) -> list[Any]:
    """Blocks of at most ``size`` records, by cuts at the median of the widest attribute: their
    records in canonical order, int64 arrays."""
    n = len(points)
    order = np.arange(n)
    bounds = _cut_blocks(
        points.numeric, category_sets(points.codes), points.scale, order, -(-n // size)
    )
    return [np.sort(order[lo:hi]) for lo, hi in pairwise(bounds)]


def group_in_blocks(
    method: Method, points: Points, k: int, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """Runs a method, in blocks where there are more records than fit one.

    The cuts follow from the records alone, so the result is the same for any number of cores.
    ``facts`` has the number of blocks; what a method decided on its own is not told of blocks.
    """
    size = block_size(options, k)
    if len(points) <= (size if options.get("block_rows") else 2 * size) or not method.in_blocks:
        grouping = method.group(points, k, options, watch)
        return Grouping(grouping.labels, {**grouping.facts, "blocks": 1.0})
    blocks = cut_blocks(points, size)

    def group(members: Any) -> Any:
        watch.check()
        part = Points(points.numeric[members], points.codes[members], points.scale)
        return method.group(part, k, options, watch).labels

    labels = np.empty(len(points), np.int64)
    made = 0
    found = in_parallel([partial(group, members) for members in blocks])
    for members, part in zip(blocks, found, strict=True):
        labels[members] = part + made
        made += int(part.max()) + 1
    return Grouping(labels, {"blocks": float(len(blocks))})
