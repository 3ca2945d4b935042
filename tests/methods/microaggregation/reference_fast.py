"""The rules of reference.py once more, column by column in numpy, for thousands of records.

It shares nothing with the compiled kernels. Sums run over the attributes, and over the members of
a group, in the same order as in reference.py, so that all three give the same bits:
np.cumsum adds one by one, np.sum does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.methods import Points


def gaps_to_record(points: Points, i: int, others: Any) -> Any:
    """Squared distances of record i to other records."""
    total = np.zeros(len(others))
    for column in points.numeric.T:
        gap = column[others] - column[i]
        total += gap * gap
    for column, scale in zip(points.codes.T, points.scale, strict=True):
        total += np.where(column[others] != column[i], 2.0 * scale, 0.0)
    return total


def gaps_to_centroid(points: Points, center: Any, counts: Any, m: int, others: Any) -> Any:
    """Squared distances of records to a centroid of m records with these category counts."""
    total = np.zeros(len(others))
    for column, value in zip(points.numeric.T, center, strict=True):
        gap = column[others] - value
        total += gap * gap
    for column, count, scale in zip(points.codes.T, counts, points.scale, strict=True):
        squares = np.sum(count * count)
        total += scale * ((squares - 2 * m * count[column[others]] + m * m) / (m * m))
    return total


def category_counts(points: Points, members: Any) -> list[Any]:
    """How often each category occurs among the members, attribute by attribute."""
    return [
        np.bincount(column[members], minlength=int(column.max()) + 1) for column in points.codes.T
    ]


def sum_of(points: Points, members: Any) -> Any:
    """The sums of the numeric attributes, added one by one."""
    return np.cumsum(points.numeric[members], axis=0)[-1]


def nearest(points: Points, i: int, others: Any, count: int) -> tuple[Any, Any]:
    """The nearest of other records (in index order) to record i, and how far they are."""
    gaps = gaps_to_record(points, i, others)
    count = min(count, len(others))
    if count == 0:
        return others[:0], gaps[:0]
    within = np.flatnonzero(gaps <= np.partition(gaps, count - 1)[count - 1])
    chosen = within[np.argsort(gaps[within], kind="stable")[:count]]
    return others[chosen], gaps[chosen]


def squared_error(points: Points, members: Any) -> float:
    """Sum of squared distances of the members to their centroid."""
    m = len(members)
    gaps = points.numeric[members] - sum_of(points, members) / m
    total = float(np.cumsum(gaps * gaps)[-1]) if gaps.size else 0.0
    counts = category_counts(points, members)
    for scale, count in zip(points.scale.tolist(), counts, strict=True):
        total += scale * ((m * m - int(np.sum(count * count))) / m)
    return total


class Clusters:
    """All groups at once: sums, centroids and category counts."""

    def __init__(self, points: Points, room: int) -> None:
        self.points, self.made = points, 0
        self.labels = np.full(len(points), -1, np.int64)
        self.sizes = np.zeros(room, np.int64)
        self.sums = np.zeros((room, points.numeric.shape[1]))
        self.centers = np.zeros((room, points.numeric.shape[1]))
        self.counts = [
            np.zeros((room, int(column.max()) + 1), np.int64) for column in points.codes.T
        ]

    def found(self, members: Any) -> None:
        """A new group of these members."""
        self.made += 1
        for i in members:
            self.join(self.made - 1, i)

    def join(self, group: int, i: int) -> None:
        """Record i into a group."""
        self.labels[i] = group
        self.sizes[group] += 1
        self.sums[group] += self.points.numeric[i]
        self.centers[group] = self.sums[group] / self.sizes[group]
        for count, code in zip(self.counts, self.points.codes[i], strict=True):
            count[group, code] += 1

    def closest(self, i: int, grow: bool) -> tuple[int, float]:
        """The closest group to record i, or the one whose squared error grows least."""
        points, sizes = self.points, self.sizes[: self.made]
        total = np.zeros(self.made)
        for a, value in enumerate(points.numeric[i]):
            gap = value - self.centers[: self.made, a]
            total += gap * gap
        for a, scale in enumerate(points.scale):
            count = self.counts[a][: self.made]
            squares = np.sum(count * count, axis=1)
            alike = count[:, points.codes[i, a]]
            total += scale * ((squares - 2 * sizes * alike + sizes * sizes) / (sizes * sizes))
        if grow:
            total = (sizes / (sizes + 1.0)) * total
        group = int(np.argmin(total))
        return group, float(total[group])

    def left(self) -> Any:
        """The unassigned records in index order."""
        return np.flatnonzero(self.labels < 0)

    def place_leftovers(self, grow: bool) -> None:
        """Each record that is left into its closest group, one by one."""
        for i in self.left():
            self.join(self.closest(i, grow)[0], i)


def mdav(points: Points, k: int) -> list[int]:
    """MDAV: two groups a round, at opposite ends of the remaining records."""
    n = len(points)
    labels, made = np.full(n, -1, np.int64), 0
    left = np.arange(n)
    sums, counts = sum_of(points, left), category_counts(points, left)
    while len(left) >= 2 * k:
        gaps = gaps_to_centroid(points, sums / len(left), counts, len(left), left)
        origin = first = int(left[np.argmax(gaps)])
        for side in range(2 if len(left) >= 3 * k else 1):
            if side == 1:
                first = int(left[np.argmax(gaps_to_record(points, origin, left))])
            near, _ = nearest(points, first, left[left != first], k - 1)
            for i in (first, *near):
                labels[i] = made
                sums -= points.numeric[i]
                for count, code in zip(counts, points.codes[i], strict=True):
                    count[code] -= 1
            made += 1
            left = np.flatnonzero(labels < 0)
    labels[left] = made
    return list(labels.tolist())


def furthest_first(points: Points) -> Any:
    """All records, the one furthest from the centroid of all first."""
    n = len(points)
    everyone = np.arange(n)
    counts = category_counts(points, everyone)
    gaps = gaps_to_centroid(points, sum_of(points, everyone) / n, counts, n, everyone)
    return np.argsort(-gaps, kind="stable")


def mdav_plus(points: Points, k: int) -> list[int]:
    """MDAV+: one group a round, around the record furthest from the global centroid."""
    return v_mdav(points, k, 0.0)


def v_mdav(points: Points, k: int, gamma: float) -> list[int]:
    """V-MDAV: as MDAV+, but each new group may take in up to k-1 records close to it."""
    clusters, order = Clusters(points, len(points) // k), furthest_first(points)
    left = clusters.left()
    while len(left) >= k:
        order = order[clusters.labels[order] < 0]
        members = [int(order[0])]
        members += nearest(points, members[0], left[left != members[0]], k - 1)[0].tolist()
        clusters.found(members)
        left = clusters.left()
        reach = np.full(len(points), np.inf)
        for i in members if gamma > 0.0 else []:
            reach[left] = np.minimum(reach[left], gaps_to_record(points, i, left))
        while len(members) < 2 * k - 1 and len(left) > 0 and gamma > 0.0:
            x = int(left[np.argmin(reach[left])])
            others = left[left != x]
            gap_out = gaps_to_record(points, x, others).min() if len(others) else np.inf
            if not reach[x] < gamma * gap_out:
                break
            members.append(x)
            clusters.join(clusters.made - 1, x)
            left = others
            reach[left] = np.minimum(reach[left], gaps_to_record(points, x, left))
    clusters.place_leftovers(False)
    return list(clusters.labels.tolist())


def mdav_star(points: Points, k: int) -> list[int]:
    """MDAV*: extends the closest group where that costs less per record than a new group."""
    clusters, order = Clusters(points, len(points) // k), furthest_first(points)
    left = clusters.left()
    while len(left) >= k:
        order = order[clusters.labels[order] < 0]
        x = int(order[0])
        others = left[left != x]
        near, _ = nearest(points, x, others, max(k - 1, 1))
        group = [x, *near.tolist()][:k]
        cost_new, cost_extend, closest = squared_error(points, group) / k, np.inf, -1
        if clusters.made > 0 and len(left) > k:
            closest, growth = clusters.closest(x, True)
            around = nearest(points, int(near[0]), others[others != near[0]], k - 1)[0]
            error = squared_error(points, [int(near[0]), *around.tolist()])
            cost_extend = (growth + error) / (k + 1)
        if cost_extend < cost_new:
            clusters.join(closest, x)
        else:
            clusters.found(group)
        left = clusters.left()
    clusters.place_leftovers(True)
    return list(clusters.labels.tolist())
