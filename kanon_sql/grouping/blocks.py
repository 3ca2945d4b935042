"""Large inputs in blocks: the table is cut into blocks of close records, and each is grouped on
its own, on all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.grouping import Method
from kanon_sql.grouping.parallel import in_parallel
from kanon_sql.grouping.points import Grouping, Labels, Points
from kanon_sql.grouping.space import category_sets
from kanon_sql.grouping.tree import cut, widest_axis
from kanon_sql.grouping.watch import Watch

AUTOMATIC = 500_000
"""Records in a block at most, unless the call says otherwise."""

LEAST = 50
"""Times k: the fewest records in a block."""


def block_size(options: Mapping[str, Any], k: int) -> int:
    """The largest number of records in a block, by the options."""
    wanted = options.get("block_rows") or AUTOMATIC
    return max(int(wanted), LEAST * k)


REACH = 1.0
"""A group is at a seam if a record of it is nearer to a cut than this many times its radius."""

MENDING = 20
"""Steps of refine for each record of a group at a seam."""


@njit(cache=True, nogil=True)
def _cut_blocks(axes: Any, masks: Any, scale: Any, order: Any, blocks: int) -> Any:
    """Orders the records so that each of the blocks, of nearly the same size, is a run.

    Returns where they begin, int64, shape (blocks + 1,), and the cuts: first and last place, axis
    (int64, shape (blocks - 1, 3)) and value (float64, shape (blocks - 1,)).
    """
    n = len(order)
    key = np.empty(n)
    bounds = np.zeros(blocks + 1, np.int64)
    for b in range(blocks + 1):
        bounds[b] = b * n // blocks
    cuts, values, made = np.zeros((blocks - 1, 3), np.int64), np.zeros(blocks - 1), 0
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
        cuts[made, 0], cuts[made, 1], cuts[made, 2] = lo, hi, axis
        values[made] = key[bounds[middle]]
        made += 1
        waiting[top, 0], waiting[top, 1] = first, middle
        waiting[top + 1, 0], waiting[top + 1, 1] = middle, last
        top += 2
    return bounds, cuts, values


@dataclass(frozen=True)
class Blocks:
    """A cut table.

    Attributes:
        members: the records of each block in canonical order, int64 arrays.
        seams: for each cut, the records on its two sides (int64) and how far each is from it
            (float64; inf where the cut is between categories and the record's is whole).
    """

    members: Sequence[Any]
    seams: Sequence[tuple[Any, Any]]


def cut_blocks(points: Points, size: int) -> Blocks:
    """Blocks of at most ``size`` records, by cuts at the median of the widest attribute."""
    order, sets, d = np.arange(len(points)), category_sets(points.codes), points.numeric.shape[1]
    bounds, cuts, values = _cut_blocks(
        points.numeric, sets, points.scale, order, -(-len(points) // size)
    )
    seams = []
    for (lo, hi, axis), value in zip(cuts.tolist(), values.tolist(), strict=True):
        both = order[lo:hi].copy()
        if axis < 0:
            away = np.zeros(len(both))
        elif axis < d:
            away = np.abs(points.numeric[both, axis] - value)
        else:
            away = np.where(sets[both, axis - d].astype(np.float64) == value, 0.0, np.inf)
        seams.append((both, away))
    return Blocks([np.sort(order[lo:hi]) for lo, hi in pairwise(bounds)], seams)


def _at_seams(points: Points, blocks: Blocks, labels: Labels) -> Any:
    """The records of the groups that lie at a cut, in canonical order: int64."""
    sizes = np.bincount(labels)
    radius = np.zeros(len(sizes))
    for column in points.numeric.T:
        means = np.bincount(labels, weights=column) / sizes
        radius += np.bincount(labels, weights=(column - means[labels]) ** 2)
    radius = REACH * np.sqrt(radius / sizes)
    near = np.zeros(len(sizes), np.bool_)
    for both, away in blocks.seams:
        groups = labels[both]
        near[groups[away <= radius[groups]]] = True
    return np.flatnonzero(near[labels])


def _mend(points: Points, blocks: Blocks, labels: Labels, k: int, watch: Watch) -> Labels:
    """The same grouping, the groups at the seams refined together."""
    from kanon_sql.grouping.refine import refine  # here, since it is compiled only for this

    members = _at_seams(points, blocks, labels)
    steps = MENDING * len(members)
    watch.begin("mending", steps)
    part = Points(points.numeric[members], points.codes[members], points.scale)
    _, inner = np.unique(labels[members], return_inverse=True)
    better = refine(part, inner, k, steps, None, watch)
    mended = labels.copy()
    mended[members] = better.labels + len(labels)
    return np.unique(mended, return_inverse=True)[1].astype(np.int64)


def group_in_blocks(
    method: Method, points: Points, k: int, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """Runs a method, in blocks where there are more records than fit one.

    At the cuts, groups come out longer than they need be; those are refined together afterwards.
    The cuts follow from the records alone, so the result is the same for any number of cores.
    ``facts`` has the number of blocks; what a method decided on its own is not told of blocks.
    """
    size = block_size(options, k)
    if len(points) <= size or not method.in_blocks:
        grouping = method.group(points, k, options, watch)
        return Grouping(grouping.labels, {**grouping.facts, "blocks": 1.0})
    blocks = cut_blocks(points, size)
    members_of = blocks.members

    def group(members: Any) -> Any:
        watch.check()
        part = Points(points.numeric[members], points.codes[members], points.scale)
        return method.group(part, k, options, watch).labels

    labels = np.empty(len(points), np.int64)
    made = 0
    found = in_parallel([partial(group, members) for members in members_of])
    for members, part in zip(members_of, found, strict=True):
        labels[members] = part + made
        made += int(part.max()) + 1
    return Grouping(
        _mend(points, blocks, labels, k, watch), {"blocks": float(len(members_of))}
    )
