"""The four methods of the MDAV family once more: slow, in plain Python, written from the paper.

It follows the pseudo-code of thaeter2021, sections 2 and 3, and shares nothing with the compiled
kernels, so that a test can hold one against the other. Where the paper leaves a choice open, the
choice is fixed here:

- every tie (nearest, furthest, closest group) goes to the lowest record index or group number;
- sums of floats run in a fixed order, one addition at a time, so that the results of both sides
  have the same bits. The built-in sum() is avoided for floats: from Python 3.12 on it compensates
  rounding errors, which gives other bits.

A nominal attribute stands for equidistant points: two different categories are 2 * scale apart
(squared), and the centroid of several records is their mix of categories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

Groups = list[list[int]]


@dataclass(frozen=True)
class Records:
    """n records in canonical order, each known by its index."""

    numeric: Sequence[Sequence[float]]
    codes: Sequence[Sequence[int]]
    scale: Sequence[float]

    def __len__(self) -> int:
        return len(self.numeric)


def squared_distance(records: Records, i: int, j: int) -> float:
    """Squared distance of two records."""
    total = 0.0
    for x, y in zip(records.numeric[i], records.numeric[j], strict=True):
        gap = x - y
        total += gap * gap
    for a, scale in enumerate(records.scale):
        if records.codes[i][a] != records.codes[j][a]:
            total += 2.0 * scale
    return total


class Cluster:
    """Sums and category counts of some records: all that their centroid needs."""

    def __init__(self, records: Records, members: Sequence[int] = ()) -> None:
        self.records = records
        self.size = 0
        self.sums = [0.0] * len(records.numeric[0])
        self.counts: list[dict[int, int]] = [{} for _ in records.scale]
        for member in members:
            self.add(member)

    def add(self, i: int) -> None:
        """Take in record i."""
        self.size += 1
        for j, x in enumerate(self.records.numeric[i]):
            self.sums[j] += x
        for count, code in zip(self.counts, self.records.codes[i], strict=True):
            count[code] = count.get(code, 0) + 1

    def subtract(self, i: int) -> None:
        """Let go of record i."""
        self.size -= 1
        for j, x in enumerate(self.records.numeric[i]):
            self.sums[j] -= x
        for count, code in zip(self.counts, self.records.codes[i], strict=True):
            count[code] -= 1

    def centroid(self, divisor: int | None = None) -> list[float]:
        """The numeric coordinates of the centroid: sums over size, or over another divisor."""
        return [total / (divisor or self.size) for total in self.sums]

    def squared_counts(self, a: int) -> int:
        """Sum of the squared category counts of nominal attribute a."""
        return sum(count * count for count in self.counts[a].values())

    def distance(self, i: int, divisor: int | None = None) -> float:
        """Squared distance of record i to the centroid."""
        total = 0.0
        for x, c in zip(self.records.numeric[i], self.centroid(divisor), strict=True):
            gap = x - c
            total += gap * gap
        m = self.size
        for a, scale in enumerate(self.records.scale):
            count = self.counts[a].get(self.records.codes[i][a], 0)
            total += scale * ((self.squared_counts(a) - 2 * m * count + m * m) / (m * m))
        return total

    def growth(self, i: int) -> float:
        """By how much the squared error of the records grows when record i joins them."""
        return (self.size / (self.size + 1.0)) * self.distance(i)


def squared_error(records: Records, members: Sequence[int]) -> float:
    """Sum of squared distances of the members to their centroid (d_SSE of the paper)."""
    cluster = Cluster(records, members)
    centroid = cluster.centroid()
    total = 0.0
    for i in members:
        for x, c in zip(records.numeric[i], centroid, strict=True):
            gap = x - c
            total += gap * gap
    m = cluster.size
    for a, scale in enumerate(records.scale):
        total += scale * ((m * m - cluster.squared_counts(a)) / m)
    return total


def neighborhood(records: Records, x: int, unassigned: Sequence[int], k: int) -> list[int]:
    """x and its k-1 nearest unassigned neighbours (N_{k-1}(x, U) of the paper), nearest first."""
    others = [i for i in unassigned if i != x]
    others.sort(key=lambda i: (squared_distance(records, x, i), i))
    return [x, *others[: k - 1]]


def without(unassigned: Sequence[int], members: Sequence[int]) -> list[int]:
    """The unassigned records that are no members, in index order."""
    return [i for i in unassigned if i not in members]


def furthest(cluster: Cluster, unassigned: Sequence[int], divisor: int | None = None) -> int:
    """The unassigned record furthest from the centroid of the cluster."""
    return max(unassigned, key=lambda i: cluster.distance(i, divisor))


def labels_of(groups: Groups, n: int) -> list[int]:
    """The group number of each record."""
    labels = [-1] * n
    for number, members in enumerate(groups):
        for i in members:
            labels[i] = number
    return labels


def mdav(records: Records, k: int, over_all: bool = False) -> list[int]:
    """MDAV: two groups a round, at opposite ends of the remaining records.

    With over_all the running sum is divided by the number of all records instead of the number of
    those that remain, a slip seen in published implementations.
    """
    remaining = list(range(len(records)))
    rest = Cluster(records, remaining)
    divisor = len(records) if over_all else None
    groups: Groups = []

    def take(origin: int) -> None:
        nonlocal remaining
        groups.append(neighborhood(records, origin, remaining, k))
        remaining = without(remaining, groups[-1])
        for i in groups[-1]:
            rest.subtract(i)

    while len(remaining) >= 2 * k:
        room_for_two = len(remaining) >= 3 * k
        r = furthest(rest, remaining, divisor)
        take(r)
        if room_for_two:
            take(max(remaining, key=lambda i: squared_distance(records, r, i)))
    if remaining:
        groups.append(remaining)
    return labels_of(groups, len(records))


def mdav_plus(records: Records, k: int) -> list[int]:
    """MDAV+: one group a round, around the record furthest from the global centroid."""
    return v_mdav(records, k, 0.0)


def v_mdav(records: Records, k: int, gamma: float) -> list[int]:
    """V-MDAV: as MDAV+, but each new group may take in up to k-1 records close to it."""
    unassigned = list(range(len(records)))
    everything = Cluster(records, unassigned)
    groups: Groups = []
    while len(unassigned) >= k:
        group = neighborhood(records, furthest(everything, unassigned), unassigned, k)
        unassigned = without(unassigned, group)
        while len(group) < 2 * k - 1 and unassigned and gamma > 0:
            x = min(unassigned, key=lambda i: distance_to_members(records, i, group))
            d_in = distance_to_members(records, x, group)
            d_out = distance_to_members(records, x, without(unassigned, [x]))
            if not d_in < gamma * d_out:
                break
            group.append(x)
            unassigned = without(unassigned, [x])
        groups.append(group)
    clusters = [Cluster(records, group) for group in groups]
    for i in unassigned:
        g = min(range(len(groups)), key=lambda g: clusters[g].distance(i))
        groups[g].append(i)
        clusters[g].add(i)
    return labels_of(groups, len(records))


def distance_to_members(records: Records, i: int, members: Sequence[int]) -> float:
    """Squared distance of record i to the nearest of the members; infinite if there are none."""
    return min((squared_distance(records, i, j) for j in members), default=math.inf)


def mdav_star(records: Records, k: int) -> list[int]:
    """MDAV*: extends the closest group where that costs less per record than a new group."""
    unassigned = list(range(len(records)))
    everything = Cluster(records, unassigned)
    groups: Groups = []
    clusters: list[Cluster] = []

    def closest(i: int) -> int:
        return min(range(len(clusters)), key=lambda g: clusters[g].growth(i))

    def extend(g: int, i: int) -> None:
        groups[g].append(i)
        clusters[g].add(i)

    while len(unassigned) >= k:
        x = furthest(everything, unassigned)
        group = neighborhood(records, x, unassigned, k)
        cost_new = squared_error(records, group) / k
        cost_extend = math.inf
        if groups and len(unassigned) > k:
            y = neighborhood(records, x, unassigned, 2)[1]
            around_y = neighborhood(records, y, without(unassigned, [x]), k)
            growth = clusters[closest(x)].growth(x)
            cost_extend = (growth + squared_error(records, around_y)) / (k + 1)
        if cost_extend < cost_new:
            extend(closest(x), x)
            unassigned = without(unassigned, [x])
        else:
            groups.append(group)
            clusters.append(Cluster(records, group))
            unassigned = without(unassigned, group)
    for i in unassigned:
        extend(closest(i), i)
    return labels_of(groups, len(records))


def total_squared_error(records: Records, labels: Sequence[int]) -> float:
    """The squared error of a whole grouping, rounded once at the end.

    Everything before is exact: fractions, and the differences of all pairs instead of a centroid.
    """
    total = Fraction(0)
    for number in set(labels):
        members = [i for i, label in enumerate(labels) if label == number]
        pairs = sum(
            (exact_squared_distance(records, i, j) for i, j in combinations(members, 2)),
            Fraction(0),
        )
        total += pairs / len(members)
    return float(total)


def exact_squared_distance(records: Records, i: int, j: int) -> Fraction:
    """Squared distance of two records without any rounding."""
    total = Fraction(0)
    for x, y in zip(records.numeric[i], records.numeric[j], strict=True):
        total += (Fraction(x) - Fraction(y)) ** 2
    for a, scale in enumerate(records.scale):
        if records.codes[i][a] != records.codes[j][a]:
            total += 2 * Fraction(scale)
    return total


def best_gamma(records: Records, k: int) -> float:
    """The gain factor from 0.0, 0.1 .. 2.0 with the least squared error, the smallest on ties."""
    gammas = [step / 10 for step in range(21)]
    return min(gammas, key=lambda g: total_squared_error(records, v_mdav(records, k, g)))


def optimal_squared_error(records: Records, k: int) -> float:
    """The least squared error of all partitions into groups of k or more; for nine records or so.

    The first record of what is left goes with every possible choice of companions.
    """

    @cache
    def best(rest: tuple[int, ...]) -> float:
        if not rest:
            return 0.0
        least = math.inf
        for companions in range(k - 1, len(rest)):
            for chosen in combinations(rest[1:], companions):
                group = (rest[0], *chosen)
                left = tuple(without(rest, group))
                least = min(least, squared_error(records, group) + best(left))
        return least

    return best(tuple(range(len(records))))
