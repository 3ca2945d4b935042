"""From clusters that share records to disjoint ones (aggarwal2006, section 3.1, step 3).

A cluster's radius here is that of all its shared members, not the d_c that it was opened with: the
lemmas need that no member is farther from the center, and members may be up to 3 d_c away.

Clusters in order of increasing radius get their unassigned members, if these are k or more; the
others are leftover. Once a cluster has fewer it never has more, so one pass will do. A leftover
cluster had k members; at its turn one of them was assigned, to an open cluster that came before and
has no larger radius: its tree. (An open cluster that comes later may be larger, and won't do.)

Lemma 3.5: let a class hold nodes of leftover clusters, c' the one of them with the largest radius
R, p its center, and o the open cluster of the tree. A member of o is within 2 R_o + R <= 3 R of p,
one of another leftover cluster c'' within 2 R_c'' + 2 R_o + R <= 5 R. The class has 2k - 1 records
or fewer, so it costs less than 10 k R, where c' alone, which no other class has as its own, pays
k R or more among the shared clusters. A class of members of o only costs no more than o. So all
cost 10 times what the shared clusters do, at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_sql.points.distances import distances_between
from kanon_sql.points.points import Labels, MetricPoints


@dataclass(frozen=True)
class _ClusterTree:
    """An open cluster's assigned members, and the leftover clusters that hang on it.

    Attributes:
        center: of the open cluster.
        first: the first level, ascending.
        nodes: the second level: clusters, by (radius, center).
    """

    center: int
    first: Labels
    nodes: list[int]


class Disjoint:
    """Makes clusters disjoint.

    Args:
        points: n records.
        k: the least size of a class.
        centers: int64, shape (clusters,).
        members: of each cluster, ascending, k or more; int64.
    """

    def __init__(
        self, points: MetricPoints, k: int, centers: Labels, members: list[Labels]
    ) -> None:
        self.points, self.k = points, k
        radii = np.array([
            distances_between(points, center, own).max()
            for center, own in zip(centers, members, strict=True)
        ])
        order = np.lexsort((centers, radii))
        self.centers, self.radii = centers[order], radii[order]
        self.members = [members[c] for c in order]
        self.held: dict[int, Labels] = {}

    def trees(self) -> list[_ClusterTree]:
        """The forest: opens clusters, and hangs each leftover one that holds records on a tree."""
        n = len(self.points)
        opened_by = np.full(n, -1, np.int64)
        opened, leftover = {}, []
        for c, own in enumerate(self.members):
            free = own[opened_by[own] < 0]
            if len(free) >= self.k:
                opened_by[free] = c
                opened[c] = _ClusterTree(int(self.centers[c]), free, [])
            else:
                leftover.append(c)
        self._place(leftover, opened_by)
        for c in self.held:
            hosts = np.unique(opened_by[self.members[c]])
            # only clusters that came before have a radius that is no larger
            hosts = hosts[(hosts >= 0) & (hosts < c)]
            away = distances_between(self.points, self.centers[c], self.centers[hosts])
            opened[int(hosts[np.argmin(away)])].nodes.append(c)
        return list(opened.values())

    def _place(self, leftover: list[int], opened_by: Labels) -> None:
        """Each unassigned record goes to the leftover cluster with the nearest center of those that
        it belongs to."""
        least, home = np.full(len(opened_by), np.inf), np.full(len(opened_by), -1, np.int64)
        for c in leftover:
            free = self.members[c][opened_by[self.members[c]] < 0]
            away = distances_between(self.points, self.centers[c], free)
            closer = away < least[free]
            least[free[closer]], home[free[closer]] = away[closer], c
        for c in leftover:
            mine = self.members[c][home[self.members[c]] == c]
            if len(mine) > 0:
                self.held[c] = mine

    def classes(self) -> tuple[list[int], list[Labels]]:
        """The center and the members, ascending, of each class."""
        classes = [one for tree in self.trees() for one in self._regroup(tree)]
        return [center for center, _ in classes], [np.sort(members) for _, members in classes]

    def _regroup(self, tree: _ClusterTree) -> list[tuple[int, Labels]]:
        """Classes of k or more records of a tree: of its second level first, from the far ones on,
        then what is left of that with the nearest of the first level."""
        classes, k = [], self.k
        nodes = self._by_distance(tree.nodes, tree.center)[::-1]
        # from the far ones on, so that what is left in the end is near the first level
        while sum(len(self.held[c]) for c in nodes) >= k:
            near = self._by_distance(nodes, int(self.centers[nodes[0]]))
            weights = np.cumsum([len(self.held[c]) for c in near])
            taken = near[: int(np.searchsorted(weights, k)) + 1]
            classes.append(self._join(taken))
            nodes = [c for c in nodes if c not in taken]
        rest = tree.first
        if nodes:
            center, members = self._join(nodes)
            rest = rest[np.lexsort((rest, distances_between(self.points, center, rest)))]
            needed = k - len(members)
            # the first level would be too small: it joins as a whole
            if len(rest) - needed < k:
                needed = len(rest)
            classes.append((center, np.concatenate([members, rest[:needed]])))
            rest = rest[needed:]
        if len(rest) > 0:
            classes.append((tree.center, rest))
        return classes

    def _by_distance(self, nodes: list[int], center: int) -> list[int]:
        """Clusters by the distance of their centers to a record, then in their order."""
        away = distances_between(self.points, center, self.centers[nodes])
        return [c for _, c in sorted(zip(away.tolist(), nodes, strict=True))]

    def _join(self, nodes: list[int]) -> tuple[int, Labels]:
        """The center of the one with the largest radius, the first of those, and the records of
        all."""
        widest = max(nodes, key=lambda c: (self.radii[c], -c))
        return int(self.centers[widest]), np.concatenate([self.held[c] for c in nodes])
