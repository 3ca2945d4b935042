"""The methods of aggarwal2006, section 2, in plain Python: all pairs, all candidates, one by one.

``keys[i][j]`` is the key of two records (see MetricPoints). A key x stands for the distance 2R, or
R where centers must be records and some may be left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

Keys = list[list[float]]
Clusters = tuple[list[int], list[int]]
"""Centers, and for each record which of them it belongs to (-1: left out)."""


def keys_of(numeric: list[list[float]], codes: list[list[int]], scale: list[float]) -> Keys:
    n = len(numeric)
    keys = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for x, y in zip(numeric[i], numeric[j], strict=True):
                total += (x - y) * (x - y)
            for a, b, s in zip(codes[i], codes[j], scale, strict=True):
                total += 2.0 * s if a != b else 0.0
            keys[i][j] = total
    return keys


def distance(key: float, form: str) -> float:
    if form == "plain":
        return key
    root = math.sqrt(key)
    return root if form == "root" else 2.0 * 6371.0088 * math.asin(min(root / 2.0, 1.0))


def ball(keys: Keys, p: int, x: float) -> list[int]:
    return [u for u in range(len(keys)) if keys[p][u] <= x]


def nearest(keys: Keys, u: int, centers: list[int]) -> int:
    return min(range(len(centers)), key=lambda c: (keys[u][centers[c]], centers[c]))


def flow_value(network: dict[tuple[int, int], int], sink: int) -> tuple[int, Any]:
    """The largest flow from node 0, by scipy, arcs in order of their nodes."""
    arcs = sorted(network)
    room = np.array([network[arc] for arc in arcs], np.int32)
    tails, heads = np.array(arcs).T
    matrix: Any = csr_matrix((room, (tails, heads)), shape=(sink + 1, sink + 1))
    matrix.sort_indices()
    result: Any = maximum_flow(matrix, 0, sink)
    return result.flow_value, result.flow.toarray()


# --- section 2.2 --------------------------------------------------------------------------------


def condition_2(keys: Keys, x: float, k: int, most: int) -> tuple[Clusters | None, float]:
    """Centers, then the paper's flow network decides, and a smaller one says who moves. Also the
    largest key within x of a center and a record; x itself where there is no clustering."""
    n, centers, marked = len(keys), [], [False] * len(keys)
    for p in range(n):
        if not marked[p]:
            centers.append(p)
            for u in ball(keys, p, x):
                marked[u] = True
    m = len(centers)
    if m > most:
        return None, x
    network, sink = {}, 1 + m + n
    for c, p in enumerate(centers):
        network[0, 1 + c] = k
        for u in ball(keys, p, x):
            network[1 + c, 1 + m + u] = 1
    for u in range(n):
        network[1 + m + u, sink] = 1
    if flow_value(network, sink)[0] < k * m:
        return None, x
    widest = max(keys[p][u] for p in centers for u in ball(keys, p, x))
    return (centers, moved(keys, x, k, centers)), widest


def moved(keys: Keys, x: float, k: int, centers: list[int]) -> list[int]:
    """Every record at its nearest center, but for those that a largest flow moves to centers that
    lack some (see gather_flow.py for where the flow begins and ends)."""
    n, m = len(keys), len(centers)
    owner = [nearest(keys, u, centers) for u in range(n)]
    sizes = [owner.count(c) for c in range(m)]
    due, spare = [max(k - size, 0) for size in sizes], [max(size - k, 0) for size in sizes]
    if sum(due) == 0:
        return owner
    lent = [0] * m
    for u in range(n):
        if sum(keys[u][p] <= x for p in centers) > 1:
            lent[owner[u]] += 1
    asked = [c for c in range(m) if due[c] > 0]
    arcs = set()
    for c in asked:  # grows
        for u in ball(keys, centers[c], x):
            a = owner[u]
            if a == c:
                continue
            arcs.add((c, u))
            if a not in asked and spare[a] < min(lent[a], sum(due)):
                asked.append(a)
    records = sorted({u for _, u in arcs})
    sink = 1 + m + len(records)
    network = {(1 + c, 1 + m + records.index(u)): 1 for c, u in arcs}
    for q, u in enumerate(records):
        network[1 + m + q, 1 + owner[u]] = 1
    for c in range(m):
        if due[c] > 0:
            network[0, 1 + c] = due[c]
        if spare[c] > 0:
            network[1 + c, sink] = spare[c]
    value, flow = flow_value(network, sink)
    assert value == sum(due)  # as the paper's network says
    for c, u in arcs:
        if flow[1 + c, 1 + m + records.index(u)] > 0:
            owner[u] = c
    return owner


def bring_home(keys: Keys, k: int, centers: list[int], owner: list[int]) -> list[int]:
    owner, changed = list(owner), True
    while changed:
        changed = False
        for u in range(len(keys)):
            if owner[u] < 0 or owner.count(owner[u]) <= k:
                continue
            home = nearest(keys, u, centers)
            if keys[u][centers[home]] < keys[u][centers[owner[u]]]:
                owner[u], changed = home, True
    return owner


# --- the search ---------------------------------------------------------------------------------


def candidates(keys: Keys) -> list[float]:
    return sorted({0.0, *(key for row in keys for key in row)})


def search(
    keys: Keys, start: float, listed: int, test: Callable[[float], Any], counted: bool
) -> tuple[float, Any]:
    """An accepted key, and below it a rejected one, with no pair's key in between.

    A test returns what it made of a key, or None, and the least key that gives the same.
    ``counted``: it is enough that the two have the same number of pairs within.
    """
    n = len(keys)
    step = math.ceil(n / max(listed // n, 1))
    rungs = sorted({key for i in range(0, n, step) for key in keys[i]})
    low, (made, high) = start, test(start)
    if made is not None:
        return high, made
    while made is None:
        low = high
        made, high = test(2.0 * low if low > 0.0 else min(key for key in rungs if key > 0.0))
    sharp = high in rungs
    while True:
        between = [key for row in keys for key in row if low < key <= high]
        if math.nextafter(low, math.inf) >= high or (counted and not between):
            return high, made
        middle = [key for key in rungs if low < key < high]
        below = not middle and sharp
        if middle:
            x = middle[len(middle) // 2]
        else:
            x = math.nextafter(high, -math.inf) if below else low + (high - low) / 2.0
        tried, key = test(x)
        if tried is None:
            low = x
        else:
            made, high = tried, key
            sharp = not below and (high < x or high in rungs)


# --- sections 2.3 and 2.4, records left out -----------------------------------------------------


def core(keys: Keys, x: float, k: int) -> list[int]:
    """What is left when records with fewer than k-1 others within x are removed repeatedly."""
    kept = list(range(len(keys)))
    while True:
        stay = [u for u in kept if sum(keys[u][v] <= x for v in kept) >= k]
        if len(stay) == len(kept):
            return kept
        kept = stay


def least(keys: Keys, enough: Callable[[float], bool]) -> float:
    """The least candidate that is enough, where all larger ones are enough, too."""
    tried = candidates(keys)
    low, high = -1, len(tried) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(tried[middle]) else (middle, high)
    return tried[high]


def finish(
    keys: Keys, k: int, centers: list[int], owner: list[int], kept: list[int]
) -> Clusters:
    for u in kept:
        if owner[u] < 0:
            owner[u] = nearest(keys, u, centers)
    return centers, bring_home(keys, k, centers, owner)


def without_outliers(keys: Keys, k: int, out: int) -> tuple[float, Clusters]:
    n = len(keys)
    x = least(keys, lambda x: len(core(keys, x, k)) >= n - out)
    kept = core(keys, x, k)
    centers: list[int] = []
    owner = [-1] * n
    for p in kept:
        free = [u for u in kept if owner[u] < 0 and keys[p][u] <= x]
        if owner[p] < 0 and len(free) >= k:
            for u in free:
                owner[u] = len(centers)
            centers.append(p)
    for u in kept:  # as the paper says: some neighbour's cluster takes u, within twice x's distance
        assert owner[u] >= 0 or any(keys[u][v] <= x and owner[v] >= 0 for v in kept)
    return x, finish(keys, k, centers, owner, kept)


def around_rows(keys: Keys, k: int, out: int) -> tuple[float, Clusters]:
    n = len(keys)

    def heavy(x: float) -> list[int]:
        return [p for p in range(n) if len(ball(keys, p, x)) >= k]

    def covered(x: float) -> list[int]:
        return sorted({u for p in heavy(x) for u in ball(keys, p, x)})

    x = least(keys, lambda x: len(covered(x)) >= n - out)
    centers: list[int] = []
    owner = [-1] * n
    for p in heavy(x):
        if all(owner[u] < 0 for u in ball(keys, p, x)):
            for u in ball(keys, p, x):
                owner[u] = len(centers)
            centers.append(p)
    return x, finish(keys, k, centers, owner, covered(x))


def few_clusters(
    keys: Keys, k: int, out: int, most: int, form: str, listed: int, start: float
) -> tuple[float, Clusters]:
    """Charikar et al. 2001 with heavy balls; E is three times as wide as G."""
    n = len(keys)

    def test(x: float) -> Any:
        reach = 3.0 * distance(x, form) * (1.0 + 1e-12)
        centers: list[int] = []
        owner, bare = [-1] * n, set(range(n))
        for _ in range(most):
            available = [
                p for p in range(n)
                if len(ball(keys, p, x)) >= k and all(owner[u] < 0 for u in ball(keys, p, x))
            ]
            if not available:
                break
            p = max(available, key=lambda p: (len(bare.intersection(ball(keys, p, x))), -p))
            for u in ball(keys, p, x):
                owner[u] = len(centers)
            bare -= {u for u in range(n) if distance(keys[p][u], form) <= reach}
            centers.append(p)
        kept = [u for u in range(n) if u not in bare]
        return ((centers, owner, kept) if len(kept) >= n - out else None), x

    x, (centers, owner, kept) = search(keys, start, listed, test, True)
    return x, finish(keys, k, centers, owner, kept)


def r_gather(
    keys: Keys, k: int, form: str, out: int, most: int, among: bool, listed: int
) -> tuple[Clusters, float, float]:
    """Clusters, lower bound and guaranteed ratio; ``out`` records may be left out. ``among``:
    of centers that are rows."""
    if out == 0:
        start = max(sorted(row)[k - 1] for row in keys)
        x, (centers, owner) = search(
            keys, start, listed, lambda x: condition_2(keys, x, k, most), False
        )
        bound = distance(x, form) / 2.0
        if among:
            bound = max(bound, distance(around_rows(keys, k, 0)[0], form))
        return (centers, bring_home(keys, k, centers, owner)), bound, 2.0
    half = 1.0 if among else 2.0
    x, clusters = around_rows(keys, k, out) if among else without_outliers(keys, k, out)
    if len(clusters[0]) <= most:
        return clusters, distance(x, form) / half, 3.0 if among else 4.0
    x, clusters = few_clusters(keys, k, out, most, form, listed, x)
    return clusters, distance(x, form) / half, 3.0 if among else 6.0
