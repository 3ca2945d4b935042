"""Spanning trees of small degree (du2009, section 2.2).

The guarantee depends on the degree d of the tree. A least one is hard to find, but the local search
of Fürer and Raghavachari (1994, Approximating the minimum-degree Steiner tree to within one of
optimal, Journal of Algorithms 17(3)) ends at most 1 above it.

A link outside the tree closes a cycle. Where the cycle goes through a vertex of the largest degree,
and both ends of the link have degree d-2 or less, the link takes the place of an edge at that
vertex. Vertices of degree d-1 and d are therefore in the way. A vertex of degree d-1 is no longer
so once it lies on such a cycle itself, since its own degree can be lowered first. What lowers it
lies within the part of the tree that was joined before, and the two ends of a link lie in different
parts, so these exchanges don't get in each other's way. When no link joins two parts any more, the
vertices still in the way show that no spanning tree has a degree below d-1 (their section 3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.union_find import find_root
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.points.points import Labels

EFFORT = 500_000_000
"""How many nodes and links all rounds together look at before the tree is good enough as it is."""

ENOUGH = 3
"""The degree that is not lowered further: a tree of more than two nodes can't be better by more
than one."""


class LinkGraph(NamedTuple):
    """All links: those at node v are near[start[v] : start[v + 1]].

    Attributes:
        start: int64, shape (n + 1,).
        near: int64, shape (2e,); nodes.
    """

    start: Any
    near: Any


class Forest(NamedTuple):
    """Rooted trees that span the components of the graph.

    Attributes:
        parent: int64, shape (n,); the node above each in its tree, -1 for a root.
        degree: int64, shape (n,); the edges at each node.
    """

    parent: Any
    degree: Any


class ForestRound(NamedTuple):
    """What one round knows of each node; a node is in a part once it is not in the way any more.

    Attributes:
        depth: int64, shape (n,); how far below the root it is.
        above: int64, shape (n,); a node of its part that is nearer to the topmost one, see
            find_root.
        place: int64, shape (n,); where it stands in ``fresh``, -1 while it is in the way.
        fresh: int64, shape (n,); the nodes that are in parts, as they came.
        ends: int64, shape (2, n); the two ends of the link that lowers its degree.
        needed: int64, shape (n,); room for the nodes whose degrees are lowered first.
    """

    depth: Any
    above: Any
    place: Any
    fresh: Any
    ends: Any
    needed: Any


@kernel
def _join(links: Any, count: int) -> Any:
    """Which links make a spanning forest: bool, shape (e,).

    Links are taken in order where they join two trees and leave both ends with two edges at most;
    then the same with three, four, eight and so on.
    """
    kept, above = np.zeros(len(links), np.bool_), np.arange(count)
    degree, most, refused = np.zeros(count, np.int64), 2, True
    while refused:
        refused = False
        for i in range(len(links)):
            a, b = links[i, 0], links[i, 1]
            one, other = find_root(above, a), find_root(above, b)
            # a link within a tree would close a cycle
            if one == other:
                continue
            if degree[a] < most and degree[b] < most:
                kept[i], above[other] = True, one
                degree[a] += 1
                degree[b] += 1
            else:
                refused = True
        # links that were refused may be what joins two trees: then more edges at a node
        most = most + 1 if most < 4 else 2 * most
    return kept


@inner
def _turn(parent: Any, v: int, last: int, new: int) -> None:
    """Turns the way from v up to ``last`` (-1: the root) around; v then hangs from ``new``."""
    while v >= 0:
        up = parent[v]
        parent[v] = new
        if v == last:
            break
        new, v = v, up


@inner
def _exchange(forest: Forest, a: int, b: int, w: int) -> None:
    """Puts the link of a and b into the tree, and takes out an edge of their cycle at w."""
    parent, degree = forest
    # with a as the root, the cycle is the way from b up to it
    _turn(parent, a, np.int64(-1), np.int64(-1))
    cut = b
    while parent[cut] != w:
        cut = parent[cut]
    # of the two edges at w the one whose other end has more edges
    if degree[parent[w]] > degree[cut]:
        cut = w
    degree[cut] -= 1
    degree[parent[cut]] -= 1
    _turn(parent, b, cut, a)
    degree[a] += 1
    degree[b] += 1


@inner
def _settle(forest: Forest, most: int, round_: ForestRound, a: int, b: int, w: int) -> None:
    """Lowers the degree of w by the link of a and b; before that, the degrees of ends of links
    that have most - 1, inner ones first."""
    degree, ends, needed, count = forest.degree, round_.ends, round_.needed, 0
    for v in (a, b):
        if degree[v] == most - 1:
            needed[count] = v
            count += 1
    done = 0
    while done < count:
        for side in range(2):
            v = ends[side, needed[done]]
            if degree[v] == most - 1:
                needed[count] = v
                count += 1
        done += 1
    # inner ones first: an exchange of an outer one relies on theirs
    for i in range(count - 1, -1, -1):
        v = needed[i]
        _exchange(forest, ends[0, v], ends[1, v], v)
    _exchange(forest, a, b, w)


@inner
def _measure(nodes: Any, parent: Any, depth: Any) -> None:
    """Writes how far below the root each node is."""
    for v in nodes:
        depth[v] = -1
    for v in nodes:
        # up to a node whose depth is known, and down again: no node is counted twice
        steps, up = 0, v
        while up >= 0 and depth[up] < 0:
            steps, up = steps + 1, parent[up]
        base = depth[up] if up >= 0 else -1
        up = v
        for far in range(steps, 0, -1):
            depth[up] = base + far
            up = parent[up]


@inner
def _improve(nodes: Any, graph: LinkGraph, forest: Forest, most: int, round_: ForestRound) -> bool:
    """One round: whether there is one vertex less of degree ``most``, and none of a larger one."""
    (start, near), (parent, degree) = graph, forest
    depth, above, place, fresh, ends, _ = round_
    _measure(nodes, parent, depth)
    count, done = 0, 0
    for v in nodes:
        above[v], place[v] = v, -1
        if degree[v] <= most - 2:
            place[v], fresh[count] = count, v
            count += 1
    for v in nodes:
        p = parent[v]
        if p >= 0 and place[v] >= 0 and place[p] >= 0:
            above[v] = p
    while done < count:
        v = fresh[done]
        done += 1
        for i in range(start[v], start[v + 1]):
            u = near[i]
            if place[u] < 0:
                continue
            # along the cycle that the link closes, from its lower end up, part by part
            a, b = find_root(above, v), find_root(above, u)
            while a != b:
                # the deeper part goes up, until both have met
                if depth[a] < depth[b]:
                    a, b = b, a
                p = parent[a]
                if place[p] < 0:
                    # a vertex of the largest degree lies on the cycle: this is what was looked for
                    if degree[p] == most:
                        _settle(forest, most, round_, v, u, p)
                        return True
                    # its degree can be lowered by this link if need be: not in the way any more
                    place[p], fresh[count], ends[0, p], ends[1, p] = count, p, v, u
                    count += 1
                above[a] = p
                a = find_root(above, p)
    return False


@kernel
def _lower(
    nodes: Any, first: Any, graph: LinkGraph, forest: Forest, effort: int, beat: Any
) -> None:
    """Changes the trees until no degree above ENOUGH can be lowered by a round.

    Args:
        nodes: the nodes of one component after the other, int64, shape (m,).
        first: where each begins in ``nodes``, and the end, int64.
        graph: all links.
        forest: changed.
        effort: how many nodes and links all rounds together may look at.
        beat: see watch.py.
    """
    start, degree, n = graph.start, forest.degree, len(forest.parent)
    round_ = ForestRound(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.empty(n, np.int64), np.empty((2, n), np.int64), np.empty(n, np.int64),
    )
    for c in range(len(first) - 1):
        part = nodes[first[c] : first[c + 1]]
        size = np.int64(0)
        for v in part:
            size += 1 + start[v + 1] - start[v]
        while effort > 0 and beat[STOP] == 0:
            most = np.int64(0)
            for v in part:
                most = max(most, degree[v])
            if most <= ENOUGH or not _improve(part, graph, forest, most, round_):
                break
            # a round may look at all nodes and links of its component
            effort -= size


def sparse(links: Any, count: int) -> Any:
    """The links as a matrix of ones in both directions, shape (count, count)."""
    rows, columns = np.concatenate([links, links[:, ::-1]]).T
    return csr_matrix((np.ones(len(rows), np.int8), (rows, columns)), (count, count))


def components(links: Any, count: int) -> Labels:
    """The connected component of each node, numbered by least node: int64, shape (count,)."""
    return np.asarray(connected_components(sparse(links, count), False)[1], dtype=np.int64)


def joined(links: Any, count: int) -> Labels:
    """Some of the links that make a spanning forest: early ones first, degrees low by the way.

    Args:
        links: int64, shape (e, 2).
        count: the number of nodes.
    """
    links = np.ascontiguousarray(links, dtype=np.int64)
    return np.asarray(links[_join(links, count)], dtype=np.int64)


def low_degree_forest(links: Any, count: int, beat: Beat) -> Labels:
    """The edges of a spanning tree of each component: int64, shape (t, 2), lower node first.

    The largest degree in a component is at most 3, or at most one above the least possible, unless
    EFFORT runs out. O(e) for each time that a degree above 3 is lowered. Source: du2009, section
    2.2; Fürer and Raghavachari.

    Args:
        links: int64, shape (e, 2); each pair of neighbours once.
        count: the number of nodes.
        beat: may say stop; the forest is then whatever it is.
    """
    tree = joined(links, count)
    degree = np.bincount(tree.ravel(), minlength=count).astype(np.int64)
    if not len(tree) or degree.max() <= ENOUGH:
        return tree[np.lexsort(tree.T[::-1])]
    part = components(links, count)
    nodes = np.argsort(part, kind="stable").astype(np.int64)
    first = np.flatnonzero(np.diff(part[nodes], prepend=-1, append=part.max() + 1))
    # one search from a node above all roots gives every node its parent
    roots = np.column_stack([nodes[first[:-1]], np.full(len(first) - 1, count)])
    rooted = sparse(np.concatenate([tree, roots]), count + 1)
    parent = breadth_first_order(rooted, count, False)[1][:count].astype(np.int64)
    parent[parent == count] = -1
    graph = sparse(links, count)
    graph.sort_indices()
    linked = LinkGraph(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    _lower(nodes, first, linked, Forest(parent, degree), EFFORT, beat)
    below = np.flatnonzero(parent >= 0)
    tree = np.sort(np.column_stack([below, parent[below]]), axis=1)
    return np.asarray(tree[np.lexsort(tree.T[::-1])], dtype=np.int64)
