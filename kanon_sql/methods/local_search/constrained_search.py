"""Groupings that keep privacy models, found by search.

Merging classes always repairs them and loses much. A search that pays for what breaks a model, at a
price that rises from cycle to cycle, loses far less; what is left then is merged, and from there
the search goes on among groupings that keep the models.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.methods.local_search.equal_shares import is_hopeless
from kanon_sql.methods.local_search.judging import Judging, helpers_for
from kanon_sql.methods.local_search.merging import merge_rest
from kanon_sql.methods.local_search.penalty import HARD, Penalty
from kanon_sql.methods.local_search.quota import quota_groups
from kanon_sql.methods.local_search.rarest_first import bounds_of, least_classes, rarest_first
from kanon_sql.methods.local_search.refine import (
    CHUNK,
    HOT,
    Ground,
    Refined,
    load_groups,
    loss_of,
)
from kanon_sql.methods.local_search.state import Cycle, DistinctPoints, LocalSearch, no_changes
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, LossPoints, Points, rows_at
from kanon_sql.privacy.demands import Demands
from kanon_sql.privacy.kernels import violations
from kanon_sql.search.nearest_lists import nearest_among

PRICES = (20.0, 320.0, 5000.0)
"""What a row of violation costs in the first cycles, in losses per record."""

SOFT, SOFT_STEPS = 20, 500_000
"""Steps for each record of each of these cycles; and how many they are at most, or as many as there
are records."""

PROBE = 60
"""Steps for each record after which it is decided where to go on, if there is more than one way."""

RARE = 40
"""Classes of more records than the least, to begin by, are tried where that takes one in so many of
the steps."""

FROM_QUOTA = 4.0
"""The temperature from which a search cools down that begins by slices: nothing in its groups is
near to each other."""

ROOM = 4
"""How many times the least records a group may have; larger ones are only made by mergers."""

WIDE, HELD = 2_000, 50_000_000
"""The most records of a class that takes part in the search after mergers, and the most that there
is room for in all classes together: a class has room for the largest."""

BORDER = 1024
"""The most records of a class by whose neighbours one looks for a class to merge it with."""

SLICES, OF_EACH, OF_ALL = 4, 3, 5
"""Neighbours of a record: so many of each slice of the sensitive values, and of all records. What a
class lacks may be far away, where all that are near are alike."""

LARGE, SORTED = 100, 3
"""Records of a class at which steps begin to be fewer; and as how many columns one counts that has
more values than are counted one by one."""

FAR = 200_000
"""Records above which nobody looks for neighbours in slices."""

SPOILT = ((0.2, 6), (0.5, 1))
"""The share of records in classes that break a model after the cycles from which on mergers lose
more than a beginning by slices, and how many steps for each record that takes."""


def kept_codes(demands: Demands, labels: Labels, groups: int) -> Any:
    """The counts of the columns of few values by group: int32, shape (groups, demands.width)."""
    kept = np.zeros(groups * demands.width, np.int64)
    for column, at in enumerate(demands.kept_at.tolist()):
        if at >= 0:
            places = labels * demands.width + at + demands.codes[:, column]
            kept += np.bincount(places, minlength=len(kept))
    return kept.reshape(groups, demands.width).astype(np.int32)


class ConstrainedSearch:
    """A search among groupings whose groups are held to demands.

    Attributes:
        step: where the search is.
    """

    def __init__(
        self, ground: Ground, labels: Labels, demands: Demands, seed: int, watch: Watch
    ) -> None:
        """Labels: int64, shape (n,), 0 .. groups-1, each of ground.k records or more."""
        n, k, data = len(labels), ground.k, ground.data
        sizes = np.bincount(labels)
        groups_at_most = max(n // k, len(sizes))
        # no more than there are: larger ones would have no tallies (see hold_groups)
        capacity = max(min(ROOM * k, n), int(sizes.max())) + 2
        groups, spare = load_groups(data, labels, groups_at_most, capacity)
        unit = np.full(n, loss_of(ground.points, labels) / n)
        if ground.spread is not None:
            unit = np.sqrt(ground.spread * unit)
        held = np.zeros(groups_at_most)
        held[: len(sizes)] = violations(demands, labels)
        self._price = np.zeros(1)
        penalty = Penalty(
            demands, held, kept_codes(demands, labels, groups_at_most), self._price, ROOM * k,
            np.zeros(2, np.int64), seed,
        )
        changes = no_changes(groups_at_most, k, ground.sites)
        self._work = LocalSearch(data, groups, ground.sites, spare, unit, k, changes, penalty)
        self._watch, self._beat, self.step = watch, watch.beat(), 0

    def cycle(
        self, price: float, steps: int, until: float | None = None, hot: float = HOT
    ) -> bool:
        """A cycle at that price; whether it went to its end, or ``until`` a moment came."""
        self._price[0] = price
        n, end = len(self._work.groups.labels), self.step + steps
        cycle = Cycle(self.step, max(steps, 1), hot)
        with helpers_for(n) as helpers:
            judging = Judging(n, helpers)
            while self.step < end:
                if until is not None and perf_counter() >= until:
                    return False
                ahead = min(self.step + CHUNK, end)
                judging.anneal(self._work, cycle, self.step, ahead, self._beat)
                self._watch.check()
                self.step = ahead
        return True

    def labels(self) -> Labels:
        """The grouping as it is, numbered by first records."""
        return number_by_first(self._work.groups.labels)


class Models:
    """The search for a grouping of some records that keeps models.

    Attributes:
        points: the records.
        k: no class of fewer records keeps them.
        steps: visits of records that were made.
    """

    def __init__(
        self, points: Points, demands: Demands, k: int, ranks: Labels, seed: int, watch: Watch,
        by_slices: bool = False,
    ) -> None:
        """
        Args:
            points: n records in canonical order.
            demands: what is demanded of every class of them.
            k: no class of fewer records keeps it.
            ranks: int64, shape (n,); the rank of each record's sensitive value.
            seed: which chances the search takes.
            watch: told of the steps; its stop raises StoppedError.
            by_slices: whether it may begin by a record of each slice of the sensitive values in
                every class.
        """
        self.points, self._demands, self.k, self._ranks = points, demands, k, ranks
        self._seed, self._watch, self.steps, self.by_slices = seed, watch, 0, by_slices
        # of few steps for each record those to the nearest gain most
        few = len(points) > FAR and not by_slices
        self._ground = Ground(points, k, watch, OF_ALL) if few else Ground(points, k, watch)
        self._ground.sites = self._with_slices(self._ground.sites)

    def _with_slices(self, sites: DistinctPoints) -> DistinctPoints:
        """The sites with neighbours in every slice of the sensitive values."""
        points, n = self.points, len(self.points)
        if n > FAR or sites.near.shape[1] == 0:
            return sites
        firsts = sites.order[sites.start[:-1]]
        apart = embedded(points, firsts)
        slice_of = np.empty(n, np.int64)
        slice_of[np.argsort(self._ranks, kind="stable")] = np.arange(n) * SLICES // n
        # a slice has all rows of a value or none, where there are few values
        distinct = np.unique(self._ranks)
        if len(distinct) <= SLICES:
            slice_of = np.searchsorted(distinct, self._ranks)
        parts = [np.unique(sites.site_of[slice_of == s]) for s in range(SLICES)]
        far = nearest_among(apart, [p for p in parts if len(p) > 1], OF_EACH, self._watch.beat())
        self._watch.check()
        return sites._replace(near=np.ascontiguousarray(
            np.hstack([sites.near[:, :OF_ALL], far]).astype(np.int32)
        ))

    def fewer(self, steps: int, labels: Labels | None = None) -> int:
        """The steps that take no longer than so many do of classes that are not LARGE: at each of
        them a class is looked at, and sorted by every column of many values.

        Args:
            steps: for classes of k records.
            labels: the classes, if some of them are larger: steps are made for the records of those
                that take part in ``better``, and cost as much as these have records where all of
                them are looked at.
        """
        sorts, size, n = int((self._demands.kept_at < 0).sum()), self.k, len(self.points)
        if labels is not None:
            sizes = np.bincount(labels)
            sizes = sizes[sizes <= self._most(n)]
            steps = int(steps * sizes.sum()) // n
            if sorts > 0 or isinstance(self.points, LossPoints):
                # the records of the class that a record is in, on average
                size = max(size, int((sizes**2).sum()) // max(int(sizes.sum()), 1))
        return min(steps, max(n // 8, steps * LARGE // (size * (1 + SORTED * sorts))))

    def _most(self, n: int) -> int:
        """The most records of a class that takes part in ``better``, of n in all."""
        return max(ROOM * self.k, min(WIDE, HELD * self.k // n))

    def _near(self, labels: Labels, group: int, members: Labels) -> Labels:
        """The classes of records near to those of a class, of a large one to some of them; a class
        may be there more than once."""
        sites = self._ground.sites
        some = members[:: 1 + len(members) // BORDER]
        places = sites.near[sites.site_of[some]].ravel()
        return labels[sites.order[sites.start[places]]]

    def cooled(self, labels: Labels) -> Labels:
        """A grouping with cycles at rising prices behind it. Some of its classes may break models
        still."""
        n, points = len(labels), self.points
        held = ConstrainedSearch(self._ground, labels, self._demands, self._seed, self._watch)
        unit = loss_of(points, labels) / n
        steps = self._softly(n)
        # of equal records none is a neighbour, and nothing is lost
        if self._ground.sites.near.shape[1] > 0:
            for price in PRICES:
                held.cycle(price * unit, steps)
            # what is held still pays any change that lowers it: so fewer are left to be merged
            held.cycle(HARD, steps)
        self.steps += held.step
        return held.labels()

    @property
    def is_hopeless(self) -> bool:
        """Whether the cycles of ``repaired`` would not end."""
        n = len(self.points)
        return is_hopeless(
            self.points, self.k, self._softly(n), n // self.k, min(ROOM * self.k, n) + 2
        )

    def _softly(self, n: int) -> int:
        """The steps of a cycle at a price that can be paid."""
        return self.fewer(min(SOFT * n, max(SOFT_STEPS, n)))

    def merged(self, labels: Labels) -> Labels:
        """The grouping with every class that breaks a model merged."""
        return number_by_first(
            merge_rest(self.points, labels, self._demands, self._near, self._watch)
        )

    def slices(self, probe: int, steps: int) -> list[int]:
        """How many slices it is worth to begin by: as many as the least class has records, and more
        where so many steps for each are few beside all."""
        k = self.k
        wider = [k * 3 // 2, 2 * k] if RARE * probe <= steps else []
        return [k, *(slices for slices in wider if k < slices <= len(self.points) // 2)]

    def quota(self, slices: int) -> Labels:
        """Groups with a record of each of so many slices of the sensitive values."""
        return quota_groups(self.points, self._ranks, slices, self._watch)

    def rarest(self) -> Labels | None:
        """Groups that are larger where they have rarer values; None where no value asks for more
        than the least class."""
        bounds = bounds_of(self._demands)
        least = least_classes(bounds, self.k)
        if (least == self.k).all():
            return None
        return rarest_first(self.points, bounds, least, self._watch)

    def better(
        self, labels: Labels, steps: int, until: float | None = None, hot: float = HOT
    ) -> tuple[Labels, bool]:
        """A grouping of less loss, that breaks no model which the one given keeps; whether it ended
        for time. Classes that mergers made too large stay as they are."""
        sizes = np.bincount(labels)
        part = np.flatnonzero(sizes[labels] <= self._most(len(labels)))
        ground, demands = self._ground, self._demands
        whole = len(part) == len(labels)
        if len(part) < 2 * self.k or ground.sites.near.shape[1] == 0 or steps == 0:
            return labels, False
        if not whole:
            ground = ground.of_part(part)
            demands = demands._replace(codes=np.ascontiguousarray(rows_at(demands.codes, part)))
        inner = np.unique(labels[part], return_inverse=True)[1].reshape(-1)
        held = ConstrainedSearch(ground, inner, demands, _after(self._seed), self._watch)
        ended = held.cycle(HARD, steps, until, hot)
        self.steps += held.step
        part_labels = number_by_first(held.labels())
        if whole:
            return part_labels, not ended
        out = labels + len(labels)
        out[part] = part_labels
        return number_by_first(np.unique(out, return_inverse=True)[1].reshape(-1)), not ended

    def broken(self, labels: Labels) -> float:
        """The share of the records that are in classes that break a model."""
        return float((violations(self._demands, labels) > 0.0)[labels].mean())


def _after(seed: int) -> int:
    """Another seed: the next one, and behind the last of 64 bits the first."""
    return seed + 1 if seed < 2**63 - 1 else -(2**63)


def keep_models(
    search: Models, labels: Labels, steps: int, seconds: float | None
) -> Refined:
    """A grouping that keeps the models, of little loss.

    Args:
        search: of the records.
        labels: int64, shape (n,); classes of search's k records or more.
        steps: visits of records after the repair.
        seconds: after which it ends early, once it is repaired.

    Raises:
        DataError: all records together break a model.
    """
    begun, points = perf_counter(), search.points
    until = None if seconds is None else begun + seconds
    rarest = search.rarest()
    beginnings = _beginnings(search, labels, rarest, steps, until)
    best, hot = min(beginnings, key=lambda beginning: loss_of(points, beginning[0]))
    most = search.fewer(steps, None if rarest is None else best)
    better, stopped = search.better(best, most, until, hot)
    if loss_of(points, better) >= loss_of(points, best) or search.broken(better) > 0.0:
        better = best
    return Refined(better, search.steps, stopped)


def _beginnings(
    search: Models, labels: Labels, rarest: Labels | None, steps: int, until: float | None
) -> list[tuple[Labels, float]]:
    """Groupings that keep the models, and the temperature from which a search of so many steps
    cools down from there: what the cycles left, merged; slices of the sensitive values; and the
    groups around the rarest values.

    Where the steps are too many to try several ways, it is one alone: the groups around the rarest
    values if there are any, slices if most would be merged, and else what the cycles left.
    """
    n, found = len(labels), list[tuple[Labels, float]]()
    probe, several = min(search.fewer(PROBE * n), steps), PROBE * n <= steps
    if rarest is not None:
        own = search.merged(rarest)
        found.append((own, HOT))
        if not several:
            return found
        found.append((search.better(own, search.fewer(probe, own), until)[0], HOT))
    cooled = search.cooled(labels)
    broken = search.broken(cooled) if search.by_slices and 2 * search.k <= n else 0.0
    unsure = broken > 0.0 and several
    spoilt = any(broken > share and steps >= each * n for share, each in SPOILT)
    if not spoilt or unsure:
        own = search.merged(cooled)
        found.append((own, HOT))
        if unsure or rarest is not None:
            found.append((search.better(own, probe, until)[0], HOT))
    if spoilt or unsure:
        for slices in search.slices(probe, steps):
            other = search.better(search.quota(slices), probe, None, FROM_QUOTA)[0]
            found.append((search.merged(other), FROM_QUOTA))
    return found
