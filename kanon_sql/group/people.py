"""Enforcement of what classes must have of a population: those that cover too few people are merged
with the one with which they lose least, the smallest first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kanon_sql.group.enforce import GUARANTEED
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.by_label import label_order
from kanon_sql.points.people import Population
from kanon_sql.points.points import Grouping, Points


def keep_people(
    points: Points, grouping: Grouping, task: GroupTask, people: Population | None, watch: Watch
) -> Grouping:
    """The grouping whose classes cover as many people as is asked.

    Args:
        points: n records in canonical order.
        grouping: its classes; records that are left out stay so, and cover nobody.
        task: how they were made; without such a demand nothing happens.
        people: the population.
        watch: told how far it is; its stop raises StoppedError.

    Raises:
        DataError: one class of all records covers too few.
    """
    if not task.of_population or people is None:
        return grouping
    least = max(each.limit for each in task.of_population)
    kept = np.flatnonzero(grouping.labels >= 0)
    everybody = people.covered(kept)
    for each in task.of_population:
        each.refuse(everybody)
    labels = grouping.labels[kept]
    order = label_order(labels)
    members = np.split(kept[order], np.cumsum(np.bincount(labels))[:-1])
    covered = np.array([people.covered(rows) for rows in members])
    lacking = int((covered < least).sum())
    if lacking == 0:
        return grouping
    # here, since it loads the compiler
    from kanon_sql.methods.local_search.fewer_classes import LiveClasses
    from kanon_sql.methods.local_search.merger_costs import MergerCosts

    watch.begin("merging", lacking)
    part = points if len(kept) == len(points) else points.part(kept)
    costs, live = MergerCosts(part, labels), LiveClasses(np.bincount(labels))
    while True:
        watch.check()
        enough = np.flatnonzero(covered >= least)
        group = live.smallest(enough)
        if group is None:
            break
        others = live.groups
        others = others[others != group]
        into = int(costs.least(group, others, 1, labels)[0])
        costs.merge(group, into)
        live.merge(group, into)
        members[into] = np.concatenate([members[into], members[group]])
        covered[into] = people.covered(members[into])
    used, numbered = np.unique(live.merged(labels), return_inverse=True)
    result = grouping.labels.copy()
    result[kept] = numbered.reshape(-1)
    facts = {name: value for name, value in grouping.facts.items() if name not in GUARANTEED}
    return replace(
        grouping, labels=result, facts=facts,
        centers=None if grouping.centers is None else grouping.centers[used],
    )
