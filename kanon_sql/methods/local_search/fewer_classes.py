"""Classes are merged until only so many are left: the smallest first, with the one with which it
loses least.

Of classes of equal size the first is merged first, and of partners that cost the same the first is
taken. A class is compared with all others, which takes as long as there are records; so where
there are many classes, those of the same block of close ones are merged among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.geometry import Mergers
from kanon_sql.methods.local_search.merger_costs import MergerCosts
from kanon_sql.methods.local_search.merging import together
from kanon_sql.points.points import Floats, ItemPoints, Labels, Points

APART = (
    "No two regions are connected at the end, but there are {}, and {} allows {}. Add links, "
    "choose islands='nearest', which needs places, or ask for less."
)


class LiveClasses:
    """Which classes there are, and what became of the others."""

    def __init__(self, sizes: Labels) -> None:
        """``sizes``: int64, shape (groups,); their records."""
        self.into = np.arange(len(sizes))
        self.count = len(sizes)
        self._sizes = sizes.astype(np.float64)

    @property
    def groups(self) -> Labels:
        """Those there are: int64, ascending."""
        return np.flatnonzero(self._sizes > 0.0)

    def sizes(self, groups: Labels) -> Floats:
        """The records of some: float64."""
        return np.asarray(self._sizes[groups])

    def smallest(self, besides: Labels | Sequence[int] = ()) -> int | None:
        """The smallest class, of equals the first; None where there is none but these."""
        sizes = np.where(self._sizes > 0.0, self._sizes, np.inf)
        sizes[np.asarray(besides, np.int64)] = np.inf
        group = int(np.argmin(sizes))
        return group if np.isfinite(sizes[group]) else None

    def merge(self, group: int, into: int) -> None:
        """One class becomes part of the other."""
        self._sizes[into] += self._sizes[group]
        self._sizes[group], self.into[group] = 0.0, into
        self.count -= 1

    def merged(self, labels: Labels) -> Labels:
        """The labels after all mergers: int64, with the numbers of the classes that took others
        in."""
        into = self.into
        while (into[into] != into).any():
            into = into[into]
        return np.asarray(into[labels])


def merge_smallest(points: Points, labels: Labels, most: int, watch: Watch) -> Labels:
    """The grouping with so many classes at most: int64, shape (n,), with the numbers of the classes
    that took the others in.

    Args:
        points: n records in canonical order.
        labels: int64, shape (n,), 0 .. groups-1.
        most: 1 or more.
        watch: its stop raises StoppedError.
    """
    costs, live = MergerCosts(points, labels), LiveClasses(np.bincount(labels))
    while live.count > most:
        watch.check()
        group = live.smallest()
        assert group is not None
        others = live.groups
        others = others[others != group]
        into = int(costs.least(group, others, 1, labels)[0])
        costs.merge(group, into)
        live.merge(group, into)
    return live.merged(labels)


def merge_smallest_allowed(
    points: ItemPoints, labels: Labels, most: int, mergers: Mergers, asked: str, watch: Watch
) -> Labels:
    """The same of classes of which only some may become one; fewer are left where several become
    one at once.

    Args:
        points: n records of one attribute.
        labels, most, watch: as above.
        mergers: which sets of classes may become one.
        asked: what allows no more, in words.

    Raises:
        DataError: there are more, and none of them may be merged with another.
    """
    live = LiveClasses(np.bincount(labels))
    alone: list[int] = []
    while live.count > most:
        watch.check()
        group = live.smallest(alone)
        if group is None:
            raise DataError(APART.format(live.count, asked, most))
        choices = _choices(mergers, group)
        if not choices:
            alone.append(group)
            continue
        growth = [together(live.sizes(np.append(some, group))) for some in choices]
        first, *others = sorted([group, *choices[int(np.argmin(growth))].tolist()])
        for other in others:
            live.merge(other, first)
            mergers.merged(other, first)
    return live.merged(labels)


def _choices(mergers: Mergers, group: int) -> list[Labels]:
    """The sets of classes that a class may be put together with; none of a region without a
    neighbour, whatever would become of it if it broke a model."""
    try:
        return mergers.choices(group)
    except DataError:
        return []
