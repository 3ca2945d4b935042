"""Enforcement of what all classes must keep together: there are merged until few enough are left.

It comes last, since a merger breaks nothing that every class keeps.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from kanon_sql.group.block_cuts import cut_blocks
from kanon_sql.group.enforce import GUARANTEED
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Labels, Points
from kanon_sql.privacy.feasible import persons_among

TOGETHER = 5_000
"""The most classes that are compared with each other. With k = 5 and a mean of 0.05, adult loses
13.9 percent where they are 2,000, 13.4 here, and 13.1 where all are."""


def most_classes(points: Points, task: GroupTask, kept: Labels) -> int:
    """The most classes that these records may be in.

    Args:
        points: n records, of persons or of rows.
        task: what to group by.
        kept: int64, shape (m,); those that are released.

    Raises:
        DataError: not even one class of them all keeps what is asked.
    """
    persons = persons_among(points, task.apart, kept)
    what = "rows" if task.apart is None and not task.persons else "persons"
    for each in task.whole:
        each.refuse(persons, what)
    return min(each.most_classes(persons) for each in task.whole)


def keep_whole(points: Points, grouping: Grouping, task: GroupTask, watch: Watch) -> Grouping:
    """The grouping whose classes keep together what is asked of them all.

    Args:
        points: n records in canonical order.
        grouping: its classes, each of which keeps the models; records that are left out stay so.
        task: how they were made; without such demands nothing happens.
        watch: told how far it is; its stop raises StoppedError.

    Raises:
        DataError: the classes can't become few enough.
    """
    if not task.whole:
        return grouping
    kept = np.flatnonzero(grouping.labels >= 0)
    most = most_classes(points, task, kept)
    before = grouping.labels[kept]
    many = len(np.unique(before))
    if many <= most:
        return grouping
    watch.begin("merging", many - most)
    part = points if len(kept) == len(points) else points.part(kept)
    mergers = task.geometry.mergers(part, replace(grouping, labels=before), task)
    cells = grouping.cells
    if mergers is None:
        merged = _merged(part, before, most, task, watch)
    else:
        # here, since it loads the compiler
        from kanon_sql.methods.local_search.fewer_classes import merge_smallest_allowed

        assert isinstance(part, ItemPoints)
        asked = " and ".join(each.in_words for each in task.whole)
        merged = merge_smallest_allowed(part, before, most, mergers, asked, watch)
        cells = mergers.cells
    used, numbered = np.unique(merged, return_inverse=True)
    labels = grouping.labels.copy()
    labels[kept] = numbered
    return Grouping(
        labels,
        {name: value for name, value in grouping.facts.items() if name not in GUARANTEED},
        None if grouping.centers is None else grouping.centers[used],
        None if cells is None else cells[used],
    )


def _merged(points: Points, labels: Labels, most: int, task: GroupTask, watch: Watch) -> Labels:
    """Classes of which any may become one, in blocks where there are many."""
    from kanon_sql.methods.local_search.fewer_classes import merge_smallest

    groups, first = np.unique(labels, return_index=True)
    if len(groups) <= TOGETHER or isinstance(points, ItemPoints):
        return merge_smallest(points, labels, most, watch)
    # each class lies where its first record does
    block_of = np.empty(len(groups), np.int64)
    blocks = cut_blocks(points.part(first), TOGETHER, 1).members
    for number, members in enumerate(blocks):
        block_of[members] = number
    order = np.argsort(block_of[labels], kind="stable")
    sizes = np.bincount(block_of[labels], minlength=len(blocks))
    records = np.split(order, np.cumsum(sizes)[:-1])
    quotas = _quotas(sizes, most)

    def merge(block: int) -> Labels:
        rows = records[block]
        own, inner = np.unique(labels[rows], return_inverse=True)
        merged = merge_smallest(points.part(rows), inner, quotas[block], watch)
        return np.asarray(own[merged])

    result = np.empty(len(labels), np.int64)
    merged = in_parallel([partial(merge, block) for block in range(len(blocks))])
    for rows, part in zip(records, merged, strict=True):
        result[rows] = part
    return result


def _quotas(sizes: Labels, most: int) -> list[int]:
    """How many classes each block may have, by its records; what is left over goes to those to
    whom most is owed, the first of equals first."""
    shares = sizes * most
    quotas = shares // sizes.sum()
    owed = np.argsort(-(shares % sizes.sum()), kind="stable")
    quotas[owed[: most - int(quotas.sum())]] += 1
    return [int(quota) for quota in quotas]
