"""Large inputs in blocks: the table is cut into blocks of close records, and each is grouped on
its own, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.group.block_cuts import BlockCuts, cut_blocks
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, Labels, Points

BOUNDS = ("lower_bound", "guaranteed_ratio", "facility")
"""Facts that hold for a block only."""

REACH = 1.0
"""A group is at a seam if a record of it is nearer to a cut than this many times its radius."""

MENDING = 15
"""Steps of refine for each record of a group at a seam."""

MIXED = 0.5
"""Where groups with more than this share of the records on both sides of a cut between categories
have several of these, they have them everywhere, and none for the cut."""


def _at_seams(points: Points, blocks: BlockCuts, labels: Labels) -> Labels:
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
    for seam in blocks.seams:
        groups = labels[seam.rows]
        if seam.column < 0:  # all alike: the groups that have others, too
            held = np.bincount(groups, minlength=len(sizes))
            near |= (held > 0) & (held < sizes)
            continue
        values = blocks.values(seam.rows, seam.column)
        if seam.column < d:
            near[groups[np.abs(values - seam.value) <= radius[groups]]] = True
        else:  # the groups that have several categories
            one = np.full(len(sizes), -1, np.int64)
            one[groups] = values
            mixed = np.zeros(len(sizes), np.bool_)
            mixed[groups[one[groups] != values]] = True
            if np.count_nonzero(mixed[groups]) <= MIXED * len(groups):
                near |= mixed
    return np.flatnonzero(near[labels])


def _mend(points: Points, blocks: BlockCuts, labels: Labels, k: int, watch: Watch) -> Labels:
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
    blocks = cut_blocks(points, size, task.k)
    members_of = blocks.members

    def group(members: Any) -> Grouping:
        watch.check()
        return task.group(points.part(members), watch)

    labels, centers = np.empty(len(points), np.int64), []
    offset = 0
    groupings = in_parallel([partial(group, members) for members in members_of])
    for members, part in zip(members_of, groupings, strict=True):
        labels[members] = np.where(part.labels < 0, -1, part.labels + offset)
        if part.centers is not None:
            centers.append(members[part.centers])
        offset += int(part.labels.max()) + 1
    facts = {**_agreed(groupings), "blocks": float(len(members_of))}
    if task.geometry.objective is not None:
        facts = {name: value for name, value in facts.items() if name not in BOUNDS}
        facts |= _bounds(points, task, groupings)
    if task.geometry.has_centers:
        # refine lowers squared errors, which is not what the guarantees of centers are about
        return Grouping(labels, facts, np.concatenate(centers))
    return Grouping(_mend(points, blocks, labels, task.k, watch), facts)


def _agreed(groupings: Sequence[Grouping]) -> dict[str, float]:
    """The facts that are the same in all blocks."""
    return {
        name: value for name, value in groupings[0].facts.items()
        if all(part.facts.get(name) == value for part in groupings)
    }


def _bounds(points: Points, task: GroupTask, groupings: Sequence[Grouping]) -> dict[str, float]:
    """The facts of a cost over all blocks: no block knows what a class across a cut would cost, so
    the lower bound is that of all points, and nothing is guaranteed."""
    facts: dict[str, float] = {}
    bound = task.geometry.lower_bound(points, task)
    if bound is not None:
        facts["lower_bound"] = bound
    if any("facility" in part.facts for part in groupings):
        facts["facility"] = sum(part.facts["facility"] for part in groupings)
    return facts
