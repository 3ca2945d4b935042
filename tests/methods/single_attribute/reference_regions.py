"""Connected regions once more: slow, in plain Python, line by line as du2009, section 2.2, says it.

And by exhaustive search: the best connected regions of a few nodes, the spanning tree of least
degree, the region that is nearest to an island.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

from tests.support.partitions import partitions

Link = tuple[int, int]


def reached(nodes: Iterable[int], links: Iterable[Link], start: int) -> set[int]:
    """The nodes that links among them lead to from the start."""
    inside, some = set(nodes), list(links)
    found, fresh = {start}, [start]
    while fresh:
        v = fresh.pop()
        for a, b in some:
            for one, other in ((a, b), (b, a)):
                if one == v and other in inside and other not in found:
                    found.add(other)
                    fresh.append(other)
    return found


def is_connected(nodes: Sequence[int], links: Iterable[Link]) -> bool:
    return len(reached(nodes, links, nodes[0])) == len(nodes)


def components(count: int, links: Iterable[Link]) -> list[list[int]]:
    """The connected components, by lowest node."""
    found: list[list[int]] = []
    for v in range(count):
        if not any(v in part for part in found):
            found.append(sorted(reached(range(count), links, v)))
    return found


def cut(size: Sequence[int], nodes: Sequence[int], tree: Sequence[Link], k: int) -> list[list[int]]:
    """The regions of one tree, in the order in which they are cut off.

    "We find an edge e such that removing e from T leaves two trees T1 and T2, both of weight at
    least k, with the weight of T1 as small as possible": of several such T1 the one of fewest
    nodes, then the one with the lowest node.
    """
    choices = []
    for e in tree:
        rest = [other for other in tree if other != e]
        for end in e:
            one = sorted(reached(nodes, rest, end))
            two = sorted(set(nodes) - set(one))
            weight = sum(size[v] for v in one)
            if weight >= k and sum(size[v] for v in two) >= k:
                choices.append(((weight, len(one), one[0]), one, two))
    if not choices:
        return [sorted(nodes)]
    _, one, two = min(choices)
    return [one, *cut(size, two, [(a, b) for a, b in tree if a in two and b in two], k)]


def cut_forest(size: Sequence[int], tree: Sequence[Link], k: int) -> list[list[int]]:
    """The regions of all trees of a forest, by lowest node."""
    regions: list[list[int]] = []
    for part in components(len(size), tree):
        regions += cut(size, part, [e for e in tree if e[0] in part], k)
    return sorted(regions)


def optimum(size: Sequence[int], nodes: Sequence[int], links: Sequence[Link], k: int) -> int:
    """The least weight that the largest of connected regions of k or more must have."""
    costs = []
    for classes in partitions(len(nodes), 1):
        regions = [[nodes[i] for i in members] for members in classes]
        sums = [sum(size[v] for v in region) for region in regions]
        if min(sums) >= k and all(is_connected(region, links) for region in regions):
            costs.append(max(sums))
    return min(costs)


def least_degree(count: int, links: Sequence[Link]) -> int:
    """The least degree of a spanning tree of a connected graph."""
    degrees = []
    for tree in combinations(links, count - 1):
        if is_connected(range(count), tree):
            degrees.append(max((sum(v in e for e in tree) for v in range(count)), default=0))
    return min(degrees)


def nearest(
    island: Iterable[int], others: Iterable[int], place: Sequence[Sequence[float]]
) -> int:
    """The item among the others that is nearest to any item of the island, the lowest of several;
    items at unknown places don't count."""
    distances = []
    for v in island:
        for u in others:
            gap = sum((x - y) ** 2 for x, y in zip(place[v], place[u], strict=True))
            if not math.isnan(gap):
                distances.append((gap, u))
    return min(distances)[1]
