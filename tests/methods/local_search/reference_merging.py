"""Mergers of classes that break a model, once more: slow, everything found anew at each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kanon_sql.points.losses import sse, total_il
from kanon_sql.points.points import ItemPoints, LossPoints
from kanon_sql.privacy.kernels import violations

Classes = dict[int, list[int]]
"""The records of each class, by its number."""


def loss(points: Any, rows: Sequence[int]) -> float:
    """What one class loses; of values of one attribute the square of its rows."""
    members = np.array(sorted(rows))
    if isinstance(points, ItemPoints):
        return float(len(members) ** 2)
    measure = total_il if isinstance(points, LossPoints) else sse
    return float(measure(points.part(members), np.zeros(len(members), np.int64)))


def violation(demands: Any, n: int, rows: Sequence[int]) -> float:
    """How far one class is from what is demanded."""
    labels = np.full(n, -1)
    labels[list(rows)] = 0
    return float(violations(demands, labels)[0])


def merged(
    points: Any, labels: Any, demands: Any,
    choices: Callable[[Classes, int], list[tuple[int, ...]]], many: int | None = None,
) -> Classes:
    """The classes when none breaks a model any more.

    Args:
        points, labels, demands: as in merge_rest.
        choices: which sets of classes a class may become one with.
        many: of sets of one class, how many of the cheapest are looked at first; None: all.
    """
    n = len(labels)
    now: Classes = {}
    for i, label in enumerate(labels.tolist()):
        now.setdefault(label, []).append(i)
    while True:
        held = {g: violation(demands, n, rows) for g, rows in now.items()}
        breaking = [g for g in now if held[g] > 0.0]
        if not breaking:
            return now
        group = min(breaking, key=lambda g: (len(now[g]), g))
        found = []
        for some in choices(now, group):
            rows = [i for g in (group, *some) for i in now[g]]
            growth = loss(points, rows) - sum(loss(points, now[g]) for g in (group, *some))
            removed = held[group] + sum(held[g] for g in some) - violation(demands, n, rows)
            found.append((growth, removed, some))
        if many is not None:
            found.sort(key=lambda each: each[0])
            found = next(
                (part for part in (found[:many], found) if any(r > 0.0 for _, r, _ in part)), found
            )
        helping = [(growth / removed, some) for growth, removed, some in found if removed > 0.0]
        best = min(helping)[1] if helping else min((g, some) for g, _, some in found)[1]
        rows = now.pop(group)
        into = best[0] if many is not None else min(group, *best)
        rows = rows + [i for g in best if g in now for i in now.pop(g)]
        now[into] = rows
