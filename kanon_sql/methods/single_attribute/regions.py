"""Connected regions of a graph, cut from a spanning tree (du2009, section 2.2).

The paper cuts an edge that leaves two trees of weight k or more, the weight of T1, which is cut
off, being as small as possible; then it goes on with the rest, T2, until there is no such edge.
Here a side of an edge of weight k or more is called heavy, otherwise light.

How it is found without trying every edge: a leaf that is light joins its only neighbour, and so
on, until each leaf stands for k or more, or one vertex is left. Two vertices that were joined lie
on no edge with two heavy sides, and every edge that is left has two: beyond either end there is a
leaf. A heavy side of such an edge holds all that some leaf stands for, so the smallest T1 is what
the lightest leaf stands for. When it is cut off, the others stay what they are, since their sides
don't reach it; only its neighbour may become a leaf, heavy or light.

Ties: of several T1 of the least weight, the one of fewest nodes, which again is a leaf; then the
one with the lowest item. Lemma 2 holds for it: a subtree of T1 of weight k or more would have no
more weight and fewer nodes.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.methods.single_attribute.spanning_forest import joined, low_degree_forest
from kanon_sql.points.content_order import mixed
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels

STRIDE = 1024
"""How many regions are cut off between two looks at the beat."""

TRIES = 12
"""How many other forests are tried where a region has 2k records or more."""


class _Forest:
    """Trees whose light leaves are joined to their neighbours.

    A vertex needs no list of its neighbours: what counts is how many there are, and the exclusive
    or of their numbers, which at a leaf is the one neighbour.
    """

    def __init__(self, size: Any, tree: Any, least: int) -> None:
        count = len(size)
        self.least = least
        self.weight: list[int] = size.tolist()
        self.nodes, self.first = [1] * count, list(range(count))
        self.degree: list[int] = np.bincount(tree.ravel(), minlength=count).tolist()
        others = np.zeros(count, np.int64)
        np.bitwise_xor.at(others, tree.ravel(), tree[:, ::-1].ravel())
        self.others: list[int] = others.tolist()
        self.into = list(range(count))
        self.leaves: list[tuple[int, int, int, int]] = []

    def detach(self, v: int) -> int:
        """Takes the edge at a leaf out; the neighbour."""
        u = self.others[v]
        self.degree[v], self.degree[u] = 0, self.degree[u] - 1
        # taken out of the exclusive or, what is left at a leaf is its one neighbour
        self.others[u] ^= v
        return u

    def settle(self, v: int) -> None:
        """Joins v to its neighbour if it is a light leaf, and so on; lists it if it is heavy."""
        while self.degree[v] == 1 and self.weight[v] < self.least:
            u = self.detach(v)
            self.into[v] = u
            self.weight[u] += self.weight[v]
            self.nodes[u] += self.nodes[v]
            self.first[u] = min(self.first[u], self.first[v])
            v = u
        if self.degree[v] == 1:
            # the least of these is the smallest T1, ties as the module says
            heappush(self.leaves, (self.weight[v], self.nodes[v], self.first[v], v))

    def regions(self) -> Labels:
        """The lowest item of each vertex's region: int64, shape (m,)."""
        # each pass doubles how far a vertex looks, so that long ways take few passes
        into, first = np.array(self.into, np.int64), np.array(self.first, np.int64)
        while (into[into] != into).any():
            into = into[into]
        return first[into]


def weights(size: Any, labels: Any) -> Labels:
    """The weight of the items of each label from 0 on: int64."""
    return np.bincount(labels, size, len(size)).astype(np.int64)


def cut_forest(size: Any, tree: Any, least: int, beat: Beat) -> Labels:
    """The lowest item of each item's region, regions being cut from trees: int64, shape (m,).

    Of each tree, the T1 of least weight that leaves ``least`` or more on both sides is cut off,
    again and again; see above. What can't be cut is one region, even if it is lighter than that.
    O(m log m). Source: du2009, section 2.2.

    Args:
        size: int64, shape (m,); weights, 0 or more.
        tree: int64, shape (t, 2); the edges of a forest.
        least: 1 or more.
        beat: may say stop; what is left is then not cut.
    """
    forest = _Forest(size, tree, least)
    for v in [v for v, edges in enumerate(forest.degree) if edges == 1]:
        forest.settle(v)
    cut = 0
    while forest.leaves:
        v = heappop(forest.leaves)[-1]
        if forest.degree[v] == 1:  # else it is what is left of its tree
            forest.settle(forest.detach(v))
            cut += 1
            if cut % STRIDE == 0 and beat[STOP] == 1:
                break
    return forest.regions()


def cut_again(size: Any, links: Any, labels: Any, k: int, beat: Beat) -> Labels:
    """The same regions, those of 2k or more cut by other spanning trees where one allows it.

    A region of a + b that becomes two of a and b, both k or more, makes no other larger, and lowers
    the sum of |E| (|E| - k) by 2 a b. The trees follow from a hash of the items.

    Args:
        size: int64, shape (m,).
        links: int64, shape (e, 2).
        labels: the lowest item of each item's region, int64, shape (m,).
        k: the least weight of a region.
        beat: may say stop.
    """
    regions: Labels = np.array(labels, np.int64)
    for attempt in range(TRIES):
        items = np.flatnonzero(weights(size, regions)[regions] >= 2 * k)
        ends = regions[links]
        inside = links[(ends[:, 0] == ends[:, 1]) & np.isin(links[:, 0], items)]
        if not len(inside) or beat[STOP] == 1:
            break
        # the first links that join two parts make the tree: another order, another tree
        key = inside[:, 0] * len(size) + inside[:, 1] + (attempt << 48)
        local = np.searchsorted(items, inside[np.argsort(mixed(key.astype(np.uint64)))])
        tree = joined(local, len(items))
        regions[items] = items[cut_forest(size[items], tree, k, beat)]
    return regions


def quotient(labels: Any, links: Any) -> Labels:
    """The links between regions: int64, shape (e', 2), each pair once, lower first, ascending.

    Args:
        labels: the region of each item, 0 or more, int64, shape (m,).
        links: int64, shape (e, 2); links between items.
    """
    ends = np.sort(np.asarray(labels, dtype=np.int64)[links], axis=1)
    count = int(ends.max(initial=0)) + 1
    keys = np.unique(ends[ends[:, 0] < ends[:, 1]] @ np.array([count, 1]))
    return np.column_stack(np.divmod(keys, count)).astype(np.int64)


def _power(total: int, level: int, levels: int) -> int:
    """ceil(total ** (level / levels)), exactly; 1 at least."""
    root = max(int(total ** (level / levels)), 1)  # rounded down, so never too large
    while root**levels < total**level:
        root += 1
    return root


def nested_regions(size: Any, links: Any, levels: int) -> list[Labels]:
    """Levels of ever larger connected regions, each made of whole regions of the level before.

    Regions of level i have ceil(total ** (i / (levels + 1))) records or more, except a component
    that has fewer in all: it is one region. Each level is made as du2009, section 2.2, makes
    regions: from a spanning tree of small degree, whose vertices are the regions of the level
    before.

    Args:
        size: int64, shape (m,); the records of each item, 0 or more. Items that no record has
            belong to regions, too.
        links: int64, shape (e, 2); pairs of neighbours, each once.
        levels: 0 or more.

    Returns:
        ``levels`` arrays, int64, shape (m,): the region of each item, numbered by lowest item.
    """
    nobody = np.zeros(2, np.int64)
    sizes = np.asarray(size, dtype=np.int64)
    pairs = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    labels, regions = np.arange(len(sizes)), []
    for level in range(1, levels + 1):
        least = _power(int(sizes.sum()), level, levels + 1)
        heads = np.unique(labels)
        between = quotient(labels, pairs)
        tree = low_degree_forest(between, len(heads), nobody)
        merged = cut_forest(weights(sizes, labels)[: len(heads)], tree, least, nobody)
        labels = number_by_first(merged)[labels]
        regions.append(labels)
    return regions
