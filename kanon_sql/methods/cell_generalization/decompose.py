"""Trees cut into classes (aggarwal2005, section 4.2, algorithm DECOMPOSE-COMPONENT).

The paper splits any tree of more than max(2k-1, 3k-5) vertices in two, by one of four cases, and
then goes on with each of the two. A vertex that both need stays in one; in the other a copy stands
for it, a Steiner vertex, which does not count. But not every tree with a Steiner vertex can be
split: of four branches of k-1 at a vertex, case C leaves three at a copy of it, and those 3k-3
vertices fall into no two connected parts of k. So the cases come in an order here in which no tree
with a Steiner vertex is ever split again.

1. Case A, as long as some edge has k vertices or more on both sides, the heaviest such edge first.
   It is applied to trees of 2k or more, not only to too large ones: a class that is split costs
   less, or the same.
2. Now one side of every edge has fewer than k vertices. Where a tree has 2k or more, following
   every edge to its larger side leads to one vertex, its center, all branches of which have fewer
   than k. The center is the candidate. Case B does not occur: it takes s - phi = k-1, and with
   phi < k that is a tree of fewer than 2k. Branches are put together until they have k vertices or
   more (2k-2 at most); a copy of the center connects them. They are a class if the center and the
   other branches have k too; those are split again as long as they have 2k, and end as a class.

   Case C: a branch of k-1 stays with the center. The others have s - k vertices, which is k or
   more wherever s is 2k or more, so the center's tree ends with fewer than 2k.

   Case D: all branches have k-2 or fewer. They are taken in order, heaviest edge first, so that
   what is far from the center leaves it. Where that would leave the center fewer than k, then
   s <= 3k-4, and the largest branches are taken instead. If s = 3k-4 >= 2k, so k >= 4, this takes
   2k-4 vertices at most: it takes more only if a branch of k-2 comes after k-1 vertices in
   branches of k-2 or more, of which there are two or more, and 2(k-2) > k-1. So k are left, and
   the center's tree always ends with max(2k-1, 3k-5) or fewer. (k = 3: branches are single
   vertices, which leave 2k-1 or fewer; k = 2: case D has no branches.)

Each edge ends up in one tree or none, so the trees weigh no more than before; and a copy has the
codes of its vertex, so a tree weighs no less than D of its class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import STOP, Beat
from kanon_sql.methods.cell_generalization.cells import edge_weights
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, LossPoints
from kanon_sql.search.queries import NOBODY


class HalfEdges(NamedTuple):
    """A forest as lists of half-edges, one a vertex, from which any can be taken out.

    The edge from u is the half-edge 2u in the list of u, and 2u + 1 in the list of its other end.

    Attributes:
        head: int64, shape (n,); the first half-edge of each vertex, -1 for none.
        after, before: int64, shape (2n,); the half-edges around each in its list, -1 for none.
        ends: int64, shape (2n,); the vertex that each half-edge leads to.
    """

    head: Any
    after: Any
    before: Any
    ends: Any


class TreeParts(NamedTuple):
    """The parts of trees: whole ones, or the center and each branch of it.

    The parts of a tree lie together, the center first.

    Attributes:
        part: int64, shape (n,); the part of each vertex.
        root: int64, shape (parts,); the vertex of each part that is next to the center.
        center: int64, shape (parts,); the center of its tree (in a tree of one part, any vertex is
            both).
        size: int64, shape (parts,).
    """

    part: Any
    root: Any
    center: Any
    size: Any


@inner
def _link(out: Any) -> HalfEdges:
    """The half-edges of a forest, given by the other end of the edge from each vertex."""
    n = len(out)
    head, ends = np.full(n, -1, np.int64), np.full(2 * n, -1, np.int64)
    after, before = np.full(2 * n, -1, np.int64), np.full(2 * n, -1, np.int64)
    # from the last on, as each goes to the front: lists are then in ascending order
    for h in range(2 * n - 1, -1, -1):
        u, v = h // 2, out[h // 2]
        if v < 0:
            continue
        start, ends[h] = (u, v) if h % 2 == 0 else (v, u)
        after[h] = head[start]
        if head[start] >= 0:
            before[head[start]] = h
        head[start] = h
    return HalfEdges(head, after, before, ends)


@inner
def _has(links: HalfEdges, start: int, barred: int, k: int, waiting: Any) -> bool:
    """Whether k vertices or more are reached from one by ways that avoid a neighbour of it."""
    head, after, _, ends = links
    # no more than k wait, since it ends as soon as k are known: a side is never walked as a whole
    waiting[0, 0], waiting[0, 1] = start, barred
    top, count = 1, 1
    while top > 0 and count < k:
        top -= 1
        v, came = waiting[top]
        h = head[v]
        while h >= 0 and count < k:
            # in a tree the way back is the only way to meet a vertex twice
            if ends[h] != came:
                waiting[top, 0], waiting[top, 1] = ends[h], v
                top += 1
                count += 1
            h = after[h]
    return count >= k


@kernel
def _cut_edges(out: Any, order: Any, k: int, beat: Any) -> HalfEdges:
    """Case A: takes out each edge, in this order, that has k vertices or more on both sides.

    One pass is enough: sides only shrink, so an edge that must stay now must stay for good. Edges
    are named by the vertex they go out of. Returns the links that are left.
    """
    links: HalfEdges = _link(out)
    head, after, before, ends = links
    waiting = np.empty((k, 2), np.int64)
    for u in order:
        if beat[STOP] == 1:
            break
        v = out[u]
        if v < 0 or not (_has(links, u, v, k, waiting) and _has(links, v, u, k, waiting)):
            continue
        # its other half is h ^ 1, which leads back to where h begins
        for h in range(2 * u, 2 * u + 2):
            if before[h] >= 0:
                after[before[h]] = after[h]
            else:
                head[ends[h ^ 1]] = after[h]
            if after[h] >= 0:
                before[after[h]] = before[h]
    return links


@inner
def _walk(links: HalfEdges, start: int, barred: int, vertices: Any, came: Any) -> int:
    """Writes to vertices all that are reached from one by ways that avoid a neighbour of it, and to
    came which vertex each was reached from, earlier in vertices. Returns how many there are."""
    head, after, _, ends = links
    vertices[0], came[start] = start, barred
    done, count = 0, 1
    while done < count:
        v = vertices[done]
        done += 1
        h = head[v]
        while h >= 0:
            if ends[h] != came[v]:
                vertices[count] = ends[h]
                came[ends[h]] = v
                count += 1
            h = after[h]
    return count


@kernel
def _part_trees(links: HalfEdges, k: int, beat: Any) -> TreeParts:
    """The parts of the trees that case A left.

    A tree of fewer than 2k vertices is one part. Otherwise the center is a part, and each of its
    branches is.
    """
    head, after, _, ends = links
    n = len(head)
    part, below = np.full(n, -1, np.int64), np.ones(n, np.int64)
    root, center, size = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    vertices, came = np.empty(n, np.int64), np.empty(n, np.int64)
    parts = 0
    for start in range(n):
        if beat[STOP] == 1:
            break
        if part[start] >= 0:
            continue
        count, middle = _walk(links, start, NOBODY, vertices, came), start
        if count < 2 * k:
            part[vertices[:count]] = parts
            root[parts], center[parts], size[parts] = start, start, count
            parts += 1
            continue
        # from the far ones on: what lies below v is known when v's turn comes, and the first with
        # k below it has branches of fewer than k on all sides, as no edge has k on both
        for q in range(count - 1, 0, -1):
            v = vertices[q]
            if below[v] >= k:
                middle = v
                break
            # v's own side is known now: it counts for the one that it was reached from
            below[came[v]] += below[v]
        part[middle] = parts
        root[parts], center[parts], size[parts] = middle, middle, 1
        parts += 1
        h = head[middle]
        while h >= 0:
            count = _walk(links, ends[h], middle, vertices, came)
            part[vertices[:count]] = parts
            root[parts], center[parts], size[parts] = ends[h], middle, count
            parts += 1
            h = after[h]
    return TreeParts(part, root[:parts], center[:parts], size[:parts])


@inner
def _take_largest(size: Any, group: Any, begin: int, end: int, k: int, number: int) -> int:
    """Gives a group to the largest branches of begin .. end-1 that have none, the first on ties,
    until they have k vertices or more; returns how many."""
    taken = 0
    while taken < k:
        best = NOBODY
        for q in range(begin, end):
            if group[q] < 0 and (best < 0 or size[q] > size[best]):
                best = q
        group[best] = number
        taken += size[best]
    return taken


@kernel
def _share_out(starts: Any, size: Any, k: int) -> Any:
    """Cases C and D: the group of each part, int64, numbered as they are made.

    Args:
        starts: the place of each tree's first part, and at the end the number of parts.
        size: of each part; a center, then its branches in the order in which to take them.
        k: the least size of a group.
    """
    group = np.full(len(size), -1, np.int64)
    groups = np.int64(0)  # a plain 0 would have _take_largest compiled twice
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        left, kept = 0, NOBODY
        for q in range(first, last):
            left += size[q]
            # case C: one such branch stays with the center, which then has k in the end
            if q > first and size[q] == k - 1:
                kept = q
        begin = end = first + 1
        while left >= 2 * k:
            taken = 0
            while taken < k:
                # the branch that stays is passed over, wherever it stands
                if end != kept:
                    taken += size[end]
                end += 1
            # case D, where in order too little is left for the center
            if left - taken < k:
                if left - _take_largest(size, group, begin, last, k, groups) >= k:
                    groups += 1
                break
            for q in range(begin, end):
                if q != kept:
                    group[q] = groups
            begin = end
            groups += 1
            left -= taken
        for q in range(first, last):
            if group[q] < 0:
                group[q] = groups
        groups += 1
    return group


def decompose(points: LossPoints, out: Labels, k: int, beat: Beat) -> Labels:
    """Cuts the trees of a forest into classes, numbered by their first records.

    Trees of k vertices or more become classes of k to max(2k-1, 3k-5); smaller ones stay.

    Args:
        points: n records in canonical order, without numeric columns.
        out: the other end of the edge that each vertex has (grow_forest), -1 where it has none;
            int64, shape (n,). The edges form no cycle.
        k: the least size of a class, 2 or more.
        beat: may say stop; the result is then no good.

    Returns:
        The class of each record: int64, shape (n,).
    """
    weights = np.where(out < 0, 0.0, edge_weights(points, np.arange(len(out)), out))
    links = _cut_edges(out, np.argsort(-weights, kind="stable"), k, beat)
    part, root, center, size = _part_trees(links, k, beat)
    if beat[STOP] == 1 or len(out) == 0:
        return np.zeros(len(out), np.int64)
    starts = np.flatnonzero(np.diff(center, prepend=-1, append=-1))
    tree = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    # heaviest edges first: what is far from the center leaves it; a center precedes its branches
    heavy = np.where(root == center, np.inf, edge_weights(points, root, center))
    order = np.lexsort((root, -heavy, tree))
    group = np.empty(len(order), np.int64)
    group[order] = _share_out(starts, size[order], k)
    return number_by_first(group[part])
