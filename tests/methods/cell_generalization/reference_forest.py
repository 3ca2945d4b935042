"""aggarwal2005, section 4, in plain Python: as the paper has it, slow, and easy to check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from tests.support.partitions import partitions

Tree = dict[int, set[int]]
"""The neighbours of each vertex of a forest."""


@dataclass(frozen=True)
class Cells:
    """Records of codes, and what it costs to generalize a cell of each column."""

    codes: list[list[int]]
    scale: list[float]

    def charge(self, members: list[int]) -> float:
        """D(e): what each record of a class is charged."""
        total = 0.0
        for a, scale in enumerate(self.scale):
            if len({self.codes[i][a] for i in members}) > 1:
                total += scale
        return total

    def weight(self, a: int, b: int) -> float:
        """w(a, b)."""
        return self.charge([a, b])

    def cost(self, classes: list[list[int]]) -> float:
        return sum(len(members) * self.charge(members) for members in classes)

    def nearest(self, u: int, count: int) -> list[int]:
        others = [v for v in range(len(self.codes)) if v != u]
        return sorted(others, key=lambda v: (self.weight(u, v), v))[:count]


def optimum(cells: Cells, k: int) -> float:
    """The least cost of any partition into classes of k or more."""
    return _optimum(cells, list(range(len(cells.codes))), k, {})


def optimum_with_deletion(cells: Cells, k: int) -> float:
    """The same where rows may be deleted, each charged all its cells."""
    n, known = len(cells.codes), dict[tuple[int, ...], float]()
    costs: list[float] = [
        (n - m) * sum(cells.scale) + _optimum(cells, list(kept), k, known)
        for m in (0, *range(k, n + 1))
        for kept in combinations(range(n), m)
    ]
    return min(costs)


def _optimum(
    cells: Cells, records: list[int], k: int, known: dict[tuple[int, ...], float]
) -> float:
    def cost(places: list[int]) -> float:
        members = tuple(records[p] for p in places)
        if members not in known:
            known[members] = len(members) * cells.charge(list(members))
        return known[members]

    return min(sum(map(cost, classes)) for classes in partitions(len(records), k))


def bound(cells: Cells, k: int) -> list[float]:
    """The weight from each record to its (k-1)-th nearest."""
    if k == 1:
        return [0.0] * len(cells.codes)
    return [cells.weight(u, cells.nearest(u, k - 1)[-1]) for u in range(len(cells.codes))]


# --- section 4.1 --------------------------------------------------------------------------------


def reach(tree: Tree, start: int, barred: int | None = None) -> list[int]:
    """The vertices connected with one, by ways that avoid a neighbour of it; ascending."""
    found, waiting = {start}, [start]
    while waiting:
        v = waiting.pop()
        more = tree[v] - found - ({barred} if v == start else set())
        found |= more
        waiting += more
    return sorted(found)


def grow_forest(cells: Cells, k: int) -> list[int]:
    """Algorithm FOREST: the end of each vertex's outgoing edge, or -1."""
    n = len(cells.codes)
    nearest = [cells.nearest(u, k - 1) for u in range(n)]
    out, tree = [-1] * n, {u: set[int]() for u in range(n)}
    while True:
        edges = []
        for u in range(n):
            component = reach(tree, u)
            if out[u] < 0 and len(component) < k:
                assert [v for v in component if out[v] < 0] == [u]
                edges += [(cells.weight(u, v), u, v) for v in nearest[u] if v not in component]
        if not edges:
            return out
        _, u, v = min(edges)
        out[u] = v
        tree[u].add(v)
        tree[v].add(u)


# --- section 4.2 --------------------------------------------------------------------------------


def heaviest_cut(cells: Cells, out: list[int], tree: Tree, k: int) -> int | None:
    """The heaviest edge with k vertices or more on both sides; named by where it goes out."""
    cuts = [
        (-cells.weight(u, v), u)
        for u, v in enumerate(out)
        if v in tree[u] and min(len(reach(tree, u, v)), len(reach(tree, v, u))) >= k
    ]
    return min(cuts)[1] if cuts else None


def split(cells: Cells, tree: Tree, component: list[int], k: int) -> Iterator[list[int]]:
    """Cases C and D at the center of a tree that no edge splits."""

    def size(some: list[list[int]]) -> int:
        return sum(map(len, some))

    center = next(
        u for u in component if all(len(reach(tree, v, u)) < k for v in tree[u])
    )
    roots = sorted(tree[center], key=lambda v: (-cells.weight(v, center), v))
    left = [reach(tree, v, center) for v in roots]
    kept = [branch for branch in left if len(branch) == k - 1][-1:]
    while 1 + size(left) >= 2 * k:
        in_order = [branch for branch in left if branch not in kept]
        for some in (in_order, sorted(left, key=len, reverse=True)):
            taken = [branch for p, branch in enumerate(some) if size(some[:p]) < k]
            rest = [branch for branch in left if branch not in taken]
            if 1 + size(rest) >= k:
                break
        else:
            break
        yield [i for branch in taken for i in branch]
        left = rest
    yield [center, *(i for branch in left for i in branch)]


def decompose(cells: Cells, out: list[int], k: int) -> list[int]:
    """The class of each record, numbered by first records."""
    tree = {u: set[int]() for u in range(len(out))}
    for u, v in enumerate(out):
        if v >= 0:
            tree[u].add(v)
            tree[v].add(u)
    while (cut := heaviest_cut(cells, out, tree, k)) is not None:
        tree[cut].remove(out[cut])
        tree[out[cut]].remove(cut)
    classes: list[list[int]] = []
    for start in tree:
        component = reach(tree, start)
        if component[0] == start:
            classes += [component] if len(component) < 2 * k else split(cells, tree, component, k)
    labels = [-1] * len(out)
    for g, members in enumerate(sorted(sorted(members) for members in classes)):
        for i in members:
            assert labels[i] == -1
            labels[i] = g
    return labels


def forest(cells: Cells, k: int) -> list[int]:
    n = len(cells.codes)
    return list(range(n)) if k == 1 else decompose(cells, grow_forest(cells, k), k)
