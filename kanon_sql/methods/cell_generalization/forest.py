"""A forest of cheap edges, cut into classes (aggarwal2005, section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.heap import sift_down
from kanon_sql.kernel.jit import ZERO, kernel
from kanon_sql.kernel.union_find import find_root
from kanon_sql.kernel.watch import DONE, STOP, Beat, Watch
from kanon_sql.methods.cell_generalization.cells import edge_points, edge_weights, neighbour_bound
from kanon_sql.methods.cell_generalization.decompose import decompose
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Labels, LossPoints
from kanon_sql.search.nearest_alike import Lists
from kanon_sql.search.nearest_lists import nearest_lists


@kernel
def _grow(codes: Any, scale: Any, lists: Any, gaps: Any, heap: Any, k: int, beat: Any) -> Any:
    """Algorithm FOREST; see grow_forest.

    Args:
        gaps: the weight of the cheapest edge from each vertex, float64, shape (n,).
        heap: all vertices by (gap, vertex), int64, shape (n,).
    """
    n, count = lists.shape
    out, place = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    above, sizes = np.arange(n), np.ones(n, np.int64)
    left = n
    while left > 0 and beat[STOP] == 0:
        u = heap[0]
        own, p = find_root(above, u), place[u]
        # a component that is large enough needs no more edges, wherever they would begin
        small = sizes[own] < k
        # components only grow, so that a neighbour inside stays inside: the place in the list never
        # goes back
        while small and p < count and find_root(above, np.int64(lists[u, p])) == own:
            p += 1
        if small and p < count:
            v = np.int64(lists[u, p])
            # the edge to the next one outside is dearer: u waits again until that one is cheapest
            if p > place[u]:
                place[u], gaps[u] = p, 0.0
                for a in range(codes.shape[1]):
                    if codes[u, a] != codes[v, a]:
                        gaps[u] += scale[a]
                sift_down(heap, left, ZERO, gaps)
                continue
            out[u], other = v, find_root(above, v)
            # the smaller part joins the larger one, so that the ways to roots stay short
            if sizes[other] < sizes[own]:
                own, other = other, own
            above[own] = other
            sizes[other] += sizes[own]
        # has an edge, or needs none: sizes only grow
        left -= 1
        heap[0] = heap[left]
        sift_down(heap, left, ZERO, gaps)
        beat[DONE] += 1
    return out


def grow_forest(points: LossPoints, lists: Lists, k: int, beat: Beat) -> Labels:
    """The other end of each vertex's outgoing edge, -1 where it has none: int64, shape (n,).

    While a component has fewer than k vertices, the one of them without an outgoing edge gets one:
    the cheapest to those of its k - 1 nearest that lie outside. Of all such components, the one
    whose edge is cheapest comes first, then the one whose edge begins, then ends, at the first
    record. The trees have k vertices or more (n, if fewer) and weigh no more in all than any
    k-anonymous table costs (aggarwal2005, section 4.1, lemma 3).

    Args:
        points: n records in canonical order, without numeric columns.
        lists: ``nearest_lists(edge_points(points), k - 1)``, k of 2 or more.
        k: the least size of a tree.
        beat: told of the vertices that are settled; may say stop.
    """
    n = len(points)
    if lists.shape[1] == 0:
        return np.full(n, -1, np.int64)
    gaps = edge_weights(points, np.arange(n), lists[:, 0])
    heap = np.argsort(gaps, kind="stable")  # in ascending order: a heap
    out: Labels = _grow(points.codes, points.scale, lists, gaps, heap, k, beat)
    return out


def forest(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Classes of k to max(2k-1, 3k-5) records, cut from a forest of edges to near records.

    Costs at most max(2k-1, 3k-5) times the optimum, also where rows may be deleted. Needs
    len(points) >= k >= 1 and points without numeric columns. Source: aggarwal2005, section 4.
    """
    k = task.k
    n = len(points)
    if k == 1:
        return Grouping(np.arange(n), {"lower_bound": 0.0, "guaranteed_ratio": 1.0})
    beat = watch.beat()
    lists = nearest_lists(edge_points(points), k - 1, beat)
    watch.check()
    out = grow_forest(points, lists, k, beat)
    watch.check()
    labels = decompose(points, out, k, beat)
    watch.check()
    facts = {
        "lower_bound": neighbour_bound(points, k, beat, lists),
        "guaranteed_ratio": float(max(2 * k - 1, 3 * k - 5)),
    }
    return Grouping(labels, facts)
