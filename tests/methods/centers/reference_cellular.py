"""Cellular clustering (aggarwal2006, sections 3 and 3.1), slow and readable.

Distances are an n x n table, all clusters are looked at again whenever something has happened.
``grow`` and ``shut_down`` use nothing that numba can't compile, so that tests may run them on more
records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

EARTH = 6371.0088


def distances(points: Any) -> list[list[float]]:
    """The distance of each pair, from keys that are summed over the columns in their order."""

    def distance(i: int, j: int) -> float:
        key = 0.0
        for a in range(points.numeric.shape[1]):
            gap = float(points.numeric[i, a]) - float(points.numeric[j, a])
            key += gap * gap
        for a in range(points.codes.shape[1]):
            if points.codes[i, a] != points.codes[j, a]:
                key += 2.0 * float(points.scale[a])
        if points.form == "plain":
            return key
        root = math.sqrt(key)
        return root if points.form == "root" else 2.0 * EARTH * math.asin(min(root / 2.0, 1.0))

    return [[distance(i, j) for j in range(len(points))] for i in range(len(points))]


def orders(away: list[list[float]]) -> list[list[int]]:
    """All records by (distance, index), for each record."""
    return [sorted(range(len(away)), key=lambda i: (row[i], i)) for row in away]


def grow(
    away: Any, order: Any, least: Any, base: Any, rate: float, most: float, spare: int, sweep: bool
) -> Any:
    """Procedure 1; without ``sweep`` no cluster is shut down, and records are never idle.

    The cluster (v, q) has the potential members order[v][: q + 1], those within d of v.

    Returns:
        alpha; the number of the cluster that froze each record, or -1; (v, d) of each cluster.
    """
    n = len(away)
    alpha, cluster, now = [0.0] * n, [-1] * n, 0.0
    dead, left = [False] * n, n
    shut = [[False] * n for _ in range(n)]
    opened = [(0, 0.0)][:0]
    while left > spare:
        best, best_d, best_v = math.inf, math.inf, -1
        for v in range(n):
            for q in range(n):
                d = away[v][order[v][q]]
                if d > best:
                    break  # no cluster opens before the time d
                if d < least[v] or d > most or shut[v][q]:
                    continue
                if q + 1 < n and away[v][order[v][q + 1]] == d:
                    continue
                growing, paid = 0, 0.0
                for p in range(q + 1):
                    i = order[v][p]
                    if cluster[i] < 0:
                        growing += 1
                    elif alpha[i] >= d:
                        paid += alpha[i] - d
                if growing > 0:
                    time = max(now, d + (base[v] + rate * d - paid) / growing)
                    if time < best or (time == best and (d, v) < (best_d, best_v)):
                        best, best_d, best_v = time, d, v
        if best == math.inf:
            break
        now = best
        died = [False] * n
        for i in range(n):
            if away[best_v][i] <= best_d:
                if cluster[i] < 0:
                    alpha[i], cluster[i] = now, len(opened)
                    left -= 1
                    died[i] = True
                elif alpha[i] >= best_d and not dead[i]:
                    died[i] = True
        if sweep:
            left -= shut_down(
                away, order, least, most, alpha, cluster, died, shut, now, len(opened)
            )
            for i in range(n):
                dead[i] = dead[i] or died[i]
        opened.append((best_v, best_d))
    for i in range(n):
        if cluster[i] < 0:
            alpha[i] = now
    return alpha, cluster, opened


def shut_down(
    away: Any, order: Any, least: Any, most: float, alpha: Any, cluster: Any, died: Any, shut: Any,
    now: float, number: int,
) -> int:
    """Steps 10 and 11; returns how many records became idle."""
    n, idle = len(away), 0
    for v in range(n):
        for q in range(n):
            d = away[v][order[v][q]]
            if d > now:
                break  # no edge to it is tight
            if d < least[v] or d > most or (q + 1 < n and away[v][order[v][q + 1]] == d):
                continue
            tight = False
            for p in range(q + 1):
                tight = tight or (died[order[v][p]] and alpha[order[v][p]] >= d)
            if tight:
                shut[v][q] = True
                for p in range(q + 1):
                    i = order[v][p]
                    if cluster[i] < 0:
                        alpha[i], cluster[i] = now, number
                        idle += 1
    return idle


@dataclass
class Records:
    """n records: the distance of each pair, all records by (distance, index) for each one, k."""

    away: list[list[float]]
    order: list[list[int]]
    k: int

    def nearest(self, i: int, count: int) -> list[int]:
        """The nearest other records."""
        return [j for j in self.order[i] if j != i][:count]

    def radius(self, center: int, members: list[int]) -> float:
        return max(self.away[center][i] for i in members)

    def cost(self, center: int, members: list[int]) -> float:
        return len(members) * self.radius(center, members)

    def best_center(self, center: int, members: list[int]) -> int:
        """The first of the members with the smallest radius, if that is smaller than this one's."""
        best = min(members, key=lambda i: (self.radius(i, members), i))
        return best if self.radius(best, members) < self.radius(center, members) else center


Class = tuple[int, list[int]]
"""A center, and the members, ascending."""


def share(r: Records, most: float, out: int) -> tuple[list[Class], float, float]:
    """Steps 1 and 2: clusters that share records, half the dual value, and what is unpaid."""
    n, k = len(r.away), r.k
    least = [r.away[i][r.nearest(i, k - 1)[-1]] if k > 1 else 0.0 for i in range(n)]
    alpha, cluster, opened = grow(r.away, r.order, least, [0.0] * n, k, most, out, False)
    gone = [i for i in range(n) if cluster[i] < 0]
    last = [i for i in range(n) if cluster[i] == len(opened) - 1]
    last.sort(key=lambda i: (r.away[opened[-1][0]][i], i))
    gone += last[len(last) - (out - len(gone)) :] if len(gone) < out else []
    chosen: list[int] = []
    owner = [-1] * n
    for c in sorted(range(len(opened)), key=lambda c: (-opened[c][1], c)):
        v, d = opened[c]
        paying = [i for i in range(n) if r.away[v][i] <= d < alpha[i]]
        if all(owner[i] < 0 for i in paying):
            chosen.append(c)
            for i in paying:
                owner[i] = c
    members: dict[int, list[int]] = {}
    for i in range(n):
        if i in gone:
            continue
        budget = alpha[i] if owner[i] < 0 else opened[owner[i]][1]
        allowed = [
            (max(d, r.away[v][i]), r.away[v][i], place, c)
            for place, c in enumerate(chosen)
            for v, d in [opened[c]]
            if d <= budget and r.away[v][i] <= 3.0 * d * (1.0 + 1e-9) + 1e-150
        ]
        members.setdefault(min(allowed)[3], []).append(i)
    clusters = []
    for c in sorted(members):
        center = opened[c][0]
        own = {*members[c], center, *r.nearest(center, k - 1)}
        clusters.append((center, sorted(own)))
    unpaid = math.fsum(alpha[i] - opened[owner[i]][1] for i in gone if owner[i] >= 0)
    return clusters, math.fsum(sorted(alpha)[: n - out]) / 2.0, unpaid


def disjoint(r: Records, shared: list[Class]) -> list[Class]:
    """Step 3."""
    n, k = len(r.away), r.k
    clusters = sorted(shared, key=lambda c: (r.radius(*c), c[0]))
    opened_by, assigned = [-1] * n, {}
    for c, (_, members) in enumerate(clusters):
        unassigned = [i for i in members if opened_by[i] < 0]
        if len(unassigned) >= k:
            assigned[c] = unassigned
            for i in unassigned:
                opened_by[i] = c
    weight: dict[int, list[int]] = {}
    for i in range(n):
        belongs = [c for c in range(len(clusters)) if i in clusters[c][1]]
        if opened_by[i] < 0 and belongs:
            home = min(belongs, key=lambda c: (r.away[clusters[c][0]][i], c))
            weight.setdefault(home, []).append(i)
    trees: dict[int, list[int]] = {o: [] for o in assigned}
    for c in sorted(weight):
        hosts = {opened_by[i] for i in clusters[c][1] if 0 <= opened_by[i] < c}
        trees[min(hosts, key=lambda o: (r.away[clusters[c][0]][clusters[o][0]], o))].append(c)
    return [
        made for o, nodes in trees.items()
        for made in regroup(r, clusters, weight, clusters[o][0], assigned[o], nodes)
    ]


def regroup(
    r: Records, clusters: list[Class], weight: dict[int, list[int]], center: int,
    first: list[int], nodes: list[int],
) -> list[Class]:
    """The classes of one tree."""
    made: list[Class] = []

    def near(to: int) -> Any:
        return lambda c: (r.away[clusters[c][0]][to], c)

    def joined(group: list[int]) -> Class:
        widest = max(group, key=lambda c: (r.radius(*clusters[c]), -c))
        return clusters[widest][0], sorted(i for c in group for i in weight[c])

    nodes = sorted(nodes, key=near(center), reverse=True)
    while sum(len(weight[c]) for c in nodes) >= r.k:
        group: list[int] = []
        for c in sorted(nodes, key=near(clusters[nodes[0]][0])):
            if sum(len(weight[c]) for c in group) < r.k:
                group.append(c)
        made.append(joined(group))
        nodes = [c for c in nodes if c not in group]
    if nodes:
        p, members = joined(nodes)
        first = sorted(first, key=lambda i: (r.away[p][i], i))
        needed = r.k - len(members) if len(members) + len(first) >= 2 * r.k else len(first)
        made.append((p, sorted(members + first[:needed])))
        first = sorted(first[needed:])
    return [*made, (center, first)] if first else made


def sides(r: Records, center: int, members: list[int]) -> list[tuple[list[int], list[int]]]:
    """Four ways to halve a class."""
    size, k = len(members), r.k
    one = max(members, key=lambda i: (r.away[center][i], -i))
    other = max(members, key=lambda i: (r.away[one][i], -i))
    gap = {i: r.away[one][i] - r.away[i][other] for i in members}
    by_gap = sorted(members, key=lambda i: (gap[i], i))
    by_end = sorted(members, key=lambda i: (r.away[one][i], i))
    nearer = min(max(sum(gap[i] <= 0.0 for i in members), k), size - k)
    cuts = [by_gap[:nearer], by_gap[:k], by_gap[: size - k], by_end[:k]]
    return [(sorted(cut), [i for i in members if i not in cut]) for cut in cuts]


def halve(r: Records, classes: list[Class]) -> list[Class]:
    """Halves classes where that costs no more; round by round, new ones last."""
    classes = [(r.best_center(*c), c[1]) for c in classes]
    waiting = list(range(len(classes)))
    while waiting:
        kept, fresh = [], []
        for g in waiting:
            center, members = classes[g]
            if len(members) < 2 * r.k or r.cost(center, members) == 0.0:
                continue
            tried = [
                [(r.best_center(center, half), half) for half in both]
                for both in sides(r, center, members)
            ]
            spent = [r.cost(*one) + r.cost(*other) for one, other in tried]
            if min(spent) <= r.cost(center, members):
                classes[g], new = tried[spent.index(min(spent))]
                kept.append(g)
                fresh.append(new)
        waiting = kept + list(range(len(classes), len(classes) + len(fresh)))
        classes += fresh
    return classes


def move(r: Records, classes: list[Class], near: int) -> int:
    """Moves the farthest records of large classes, where that costs less; returns how many."""
    label = {i: g for g, (_, members) in enumerate(classes) for i in members}
    radius, moved = [r.radius(*c) for c in classes], 0
    for g, (center, members) in enumerate(classes):
        while len(members) > r.k:
            far = min(members, key=lambda i: (-r.away[center][i], i))
            rest = [i for i in members if i != far]
            smaller = r.radius(center, rest)
            worst = r.away[center][far]
            spared = (len(members) * worst - len(rest) * smaller) * (1.0 - 1e-12)
            best, cost = -1, math.inf
            for c in sorted({label.get(i, g) for i in r.nearest(far, near)} - {g}):
                size = len(classes[c][1])
                more = (size + 1) * max(radius[c], r.away[far][classes[c][0]]) - size * radius[c]
                if more < spared and more < cost:
                    best, cost = c, more
            if best < 0:
                break
            members.remove(far)
            classes[best][1].append(far)
            classes[best][1].sort()
            radius[g], label[far] = smaller, best
            radius[best] = max(radius[best], r.away[far][classes[best][0]])
            moved += 1
    return moved


def r_cellular(points: Any, k: int, out: int, most: float = math.inf) -> tuple[list[Class], float]:
    """One run: the classes, and half the dual value."""
    away = distances(points)
    r = Records(away, orders(away), k)
    shared, bound, _ = share(r, most, out)
    classes = disjoint(r, shared)
    for _ in range(4):
        classes = halve(r, classes)
        if move(r, classes, max(k - 1, 8)) == 0:
            return classes, bound
    return [(r.best_center(*c), c[1]) for c in classes], bound
