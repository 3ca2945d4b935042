"""Large inputs in blocks: the table is cut into blocks of close records, and each is grouped on
its own, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Floats, Grouping, Labels, Points
from kanon_sql.search.cuts import cut, widest_axis
from kanon_sql.search.space import category_sets

BOUNDS = ("lower_bound", "guaranteed_ratio", "facility")
"""Facts that hold for a block only."""

REACH = 1.0
"""A group is at a seam if a record of it is nearer to a cut than this many times its radius."""

MENDING = 15
"""Steps of refine for each record of a group at a seam."""


class Cuts(NamedTuple):
    """The cuts between blocks, each through a run of the records in their order.

    Attributes:
        lo: the place where each run begins; int64, shape (blocks - 1,).
        hi: the place behind its end; int64, shape (blocks - 1,).
        axis: the attribute along which it is cut, the numeric ones first; -1: all are alike;
            int64, shape (blocks - 1,).
        value: where on its axis; float64, shape (blocks - 1,).
    """

    lo: Labels
    hi: Labels
    axis: Labels
    value: Floats


@kernel
def _cut_blocks(axes: Any, masks: Any, scale: Any, order: Any, blocks: int) -> Any:
    """Orders the records so that each of the blocks, of nearly the same size, is a run.

    Returns where they begin, int64, shape (blocks + 1,), and the cuts.
    """
    n = len(order)
    key = np.empty(n)
    bounds = np.zeros(blocks + 1, np.int64)
    for b in range(blocks + 1):
        bounds[b] = b * n // blocks
    m, made = blocks - 1, 0
    cuts = Cuts(
        np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m)
    )
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
        cuts.lo[made], cuts.hi[made], cuts.axis[made] = lo, hi, axis
        # the key of the first record above the cut, which the cut has put there
        cuts.value[made] = key[bounds[middle]]
        made += 1
        waiting[top, 0], waiting[top, 1] = first, middle
        waiting[top + 1, 0], waiting[top + 1, 1] = middle, last
        top += 2
    return bounds, cuts


@dataclass(frozen=True)
class Blocks:
    """A cut table.

    Attributes:
        members: the records of each block in canonical order, int64 arrays.
        order: all records, block by block: int64, shape (n,).
        cuts: the cuts between them.
    """

    members: Sequence[Any]
    order: Any
    cuts: Cuts


def cut_blocks(points: Points, size: int) -> Blocks:
    """Blocks of at most ``size`` records, by cuts at the median of the widest attribute."""
    # as few blocks as the size allows: every cut makes groups longer
    order = np.arange(len(points))
    bounds, cuts = _cut_blocks(
        points.numeric, category_sets(points.codes), points.scale, order, -(-len(points) // size)
    )
    return Blocks([np.sort(order[lo:hi]) for lo, hi in pairwise(bounds)], order, cuts)


def _at_seams(points: Points, blocks: Blocks, labels: Labels) -> Any:
    """The records of the groups that lie at a cut, in canonical order: int64."""
    sizes = np.bincount(labels)
    radius = np.zeros(len(sizes))
    for column in points.numeric.T:
        means = np.bincount(labels, weights=column) / sizes
        radius += np.bincount(labels, weights=(column - means[labels]) ** 2)
    # a mean distance, not the largest: one record far away would make seams of whole blocks
    radius = REACH * np.sqrt(radius / sizes)
    near = np.zeros(len(sizes), np.bool_)
    d = points.numeric.shape[1]
    for lo, hi, axis, value in zip(*(field.tolist() for field in blocks.cuts), strict=True):
        both = blocks.order[lo:hi]
        groups = labels[both]
        if axis < 0:  # all alike
            close = np.ones(len(both), np.bool_)
        elif axis < d:
            close = np.abs(points.numeric[both, axis] - value) <= radius[groups]
        else:  # a category that the cut divides
            close = category_sets(points.codes[both, axis - d]).astype(np.float64) == value
        near[groups[close]] = True
    return np.flatnonzero(near[labels])


def _mend(points: Points, blocks: Blocks, labels: Labels, k: int, watch: Watch) -> Labels:
    """The same grouping, the groups at the seams refined together."""
    from kanon_sql.methods.local_search.refine import (
        refine,  # here, since it is compiled only for this
    )

    members = _at_seams(points, blocks, labels)
    steps = MENDING * len(members)
    watch.begin("mending", steps)
    part = points.part(members)
    _, inner = np.unique(labels[members], return_inverse=True)
    better = refine(part, inner, k, steps, None, watch)
    mended = labels.copy()
    mended[members] = better.labels + len(labels)
    return np.unique(mended, return_inverse=True)[1].astype(np.int64)


def group_in_blocks(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Runs a method, in blocks where there are more records than fit one.

    At the cuts, groups come out longer than they need be; those are refined together afterwards.
    The cuts follow from the records alone, so the result is the same for any number of cores.
    ``facts`` has the number of blocks; what a method decided in each is told only where all
    blocks decided the same.
    """
    size = task.block_size()
    if len(points) <= size or not task.method.in_blocks:
        grouping = task.group(points, watch)
        return replace(grouping, facts={**grouping.facts, "blocks": 1.0})
    whole = task.own.needs_all_rows
    if whole is not None:
        raise DataError(
            f"{whole} needs all rows as one, and there are {len(points)}, more than the {size} of "
            f"a block. Set block_rows to {len(points)}, or leave {whole} out."
        )
    blocks = cut_blocks(points, size)
    members_of = blocks.members

    def group(members: Any) -> Grouping:
        watch.check()
        return task.group(points.part(members), watch)

    labels, centers = np.empty(len(points), np.int64), []
    made = 0
    found = in_parallel([partial(group, members) for members in members_of])
    for members, part in zip(members_of, found, strict=True):
        labels[members] = np.where(part.labels < 0, -1, part.labels + made)
        if part.centers is not None:
            centers.append(members[part.centers])
        made += int(part.labels.max()) + 1
    facts = {**_agreed(found), "blocks": float(len(members_of))}
    if task.geometry.objective is not None:
        facts = {name: value for name, value in facts.items() if name not in BOUNDS}
        facts |= _bounds(points, task, found)
    if task.geometry.has_centers:
        # refine lowers squared errors, which is not what the guarantees of centers are about
        return Grouping(labels, facts, np.concatenate(centers))
    return Grouping(_mend(points, blocks, labels, task.k, watch), facts)


def _agreed(found: Sequence[Grouping]) -> dict[str, float]:
    """The facts that are the same in all blocks."""
    return {
        name: value for name, value in found[0].facts.items()
        if all(part.facts.get(name) == value for part in found)
    }


def _bounds(points: Points, task: GroupTask, found: Sequence[Grouping]) -> dict[str, float]:
    """The facts of a cost over all blocks: no block knows what a class across a cut would cost, so
    the lower bound is that of all points, and nothing is guaranteed."""
    facts: dict[str, float] = {}
    bound = task.geometry.lower_bound(points, task)
    if bound is not None:
        facts["lower_bound"] = bound
    if any("facility" in part.facts for part in found):
        facts["facility"] = sum(part.facts["facility"] for part in found)
    return facts
