"""Long paths and cycles cut into classes that cost least (aggarwal2005, sections 5 and 6).

Whatever a cut costs less than another, the bounds of the paper hold, which are about an average of
some cuts: the one taken here is the best of all that have pieces of these sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kanon_sql.points.points import LossPoints


def components(n: int, edges: Sequence[tuple[int, int]]) -> list[tuple[list[int], bool]]:
    """The paths and cycles of a graph whose vertices have one or two edges.

    Each as its vertices along the way, and whether it is a cycle; a path from its lower end, a
    cycle from its lowest vertex to the lower neighbour. By their first vertices.
    """
    near: list[list[int]] = [[] for _ in range(n)]
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    parts, seen = [], [False] * n
    ends = [v for v in range(n) if len(near[v]) == 1]
    for start in (*ends, *range(n)):
        if seen[start]:
            continue
        # paths come first, from their ends: what is left then is cycles only
        way, vertex = [start], min(near[start])
        seen[start] = True
        while not seen[vertex]:
            seen[vertex] = True
            way.append(vertex)
            vertex = next((v for v in near[vertex] if not seen[v]), vertex)
        parts.append((way, len(near[start]) == 2))
    return sorted(parts)


def _costs(points: LossPoints, way: Any, size: int) -> Any:
    """|e| D(e) of each run of that many records along a way that is closed: float64."""
    total = np.zeros(len(way))
    for codes, scale in zip(points.codes.T, points.scale.tolist(), strict=True):
        column = codes[way]
        # all runs of the size at once: the way is turned step by step against itself
        differs = np.zeros(len(way), np.bool_)
        for step in range(1, size):
            differs |= np.roll(column, -step) != column
        total += scale * differs
    return size * total


def cheapest_cut(
    points: LossPoints, way: Sequence[int], closed: bool, sizes: Sequence[int]
) -> list[list[int]]:
    """Cuts a way into runs of these sizes that cost least together; it stays whole if it is no
    longer than the largest.

    Args:
        points: the records.
        way: records along a path or cycle, more than the least size or as many.
        closed: whether it is a cycle.
        sizes: of the runs, ascending, each at most one more than the one before.
    """
    length, largest = len(way), max(sizes)
    if length <= largest:
        return [list(way)]
    whole = np.asarray(way)
    costs = {size: _costs(points, whole, size).tolist() for size in sizes}
    best, least = None, np.inf
    for start in range(largest if closed else 1):  # there is a cut at one of so many places
        price, last = [0.0] + [np.inf] * length, [0] * (length + 1)
        for end in range(min(sizes), length + 1):
            for size in sizes:
                if size <= end:
                    paid = price[end - size] + costs[size][(start + end - size) % length]
                    if paid < price[end]:
                        price[end], last[end] = paid, size
        if price[length] < least:
            least, runs, end = price[length], [], length
            while end > 0:
                runs.append([int(way[(start + p) % length]) for p in range(end - last[end], end)])
                end -= last[end]
            best = runs
    assert best is not None
    return best
