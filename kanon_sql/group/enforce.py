"""Enforcement: classes that break a constraint are merged with the nearest until none does.

Which classes break one, the constraint says; merging never breaks one (see Constraint). So the
stage ends with classes that keep them all, or with one class that does not: then no grouping of
these records does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon_sql.constraints import Constraint
from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import Watch
from kanon_sql.points.points import Floats, Grouping, Labels, Points

INFEASIBLE = (
    "All rows together break {}, so no release of them keeps it. Ask for less, or release nothing."
)


def _breaking(
    points: Points, labels: Labels, constraints: Sequence[Constraint]
) -> tuple[Labels, str]:
    """The classes that break a constraint, and the name of one that is broken."""
    broken = {c.name: c.broken(points, labels) for c in constraints}
    names = [name for name, mask in broken.items() if mask.any()]
    some = np.logical_or.reduce(list(broken.values()))
    return np.flatnonzero(some), names[0] if names else ""


def _gaps(points: Points, labels: Labels, group: int) -> Floats:
    """How far each class is from one of them, itself infinitely: float64, shape (groups,).

    Squared distances between means; of categories, the squared length of the difference of their
    shares, which is what the mean of one-hot vectors gives.
    """
    sizes = np.bincount(labels[labels >= 0])
    kept = labels >= 0
    own, gaps = labels[kept], np.zeros(len(sizes))
    for column in points.numeric.T:
        means = np.bincount(own, weights=column[kept]) / sizes
        gaps += (means - means[group]) ** 2
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        for code in range(int(codes.max(initial=-1)) + 1):
            shares = np.bincount(own, weights=codes[kept] == code, minlength=len(sizes)) / sizes
            gaps += scale * (shares - shares[group]) ** 2
    gaps[group] = np.inf
    return gaps


def enforce(
    points: Points, grouping: Grouping, constraints: Sequence[Constraint], watch: Watch
) -> Grouping:
    """The grouping in which every class keeps the constraints.

    Of the classes that break one the smallest is merged first, with the class nearest to it; of
    equals the one that was made first. What a method guarantees of its own classes doesn't hold of
    merged ones, so such facts are dropped where classes were merged.

    Args:
        points: n records in canonical order.
        grouping: its classes; records that are left out stay so.
        constraints: what each class must keep; none costs nothing.
        watch: its stop raises StoppedError.

    Raises:
        DataError: all records together break a constraint.
    """
    if not constraints:
        return grouping
    labels, centers = grouping.labels, grouping.centers
    while True:
        watch.check()
        breaking, name = _breaking(points, labels, constraints)
        if len(breaking) == 0:
            break
        sizes = np.bincount(labels[labels >= 0])
        if len(sizes) == 1:
            raise DataError(INFEASIBLE.format(name))
        group = int(breaking[np.argmin(sizes[breaking])])
        into = int(np.argmin(_gaps(points, labels, group)))
        labels = np.where(labels == group, into, labels)
        labels = np.where(labels > group, labels - 1, labels)
        centers = None if centers is None else np.delete(centers, group)
    if labels is grouping.labels:
        return grouping
    facts = {n: v for n, v in grouping.facts.items() if n not in ("guaranteed_ratio", "facility")}
    return replace(grouping, labels=labels, centers=centers, facts=facts)
