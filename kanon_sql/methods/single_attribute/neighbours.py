"""Which classes may become one: those next to each other, so that what comes of it is a region of
the map, an interval or a rectangle again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kanon_sql.errors import DataError
from kanon_sql.methods.single_attribute.islands import join_islands
from kanon_sql.points.points import Floats, ItemPoints, Labels

STRANDED = (
    "A connected part of the graph breaks a privacy model as a whole. Add links, choose "
    "islands='suppress' to leave its rows out or islands='nearest' to join it to the nearest "
    "region, which needs places, or ask for less."
)

Box = tuple[float, float, float, float]
"""Low and high of axis 0, then of axis 1."""

TOGETHER = 8
"""Classes that may become one rectangle, as long as there are so small ones: larger ones lose more,
and there are many ways to them."""


class Linked:
    """Classes of the nodes of a graph, under mergers.

    Two are next to each other if nodes of theirs are linked, or if a way leads from one to the
    other over nodes that no record has: a region may hold such nodes, and no class has them.
    """

    cells: Floats | None = None

    def __init__(
        self, points: ItemPoints, labels: Labels, links: Labels, islands: str = "error"
    ) -> None:
        """
        Args:
            points: n records.
            labels: int64, shape (n,), 0 .. groups-1; records of an item are in one class.
            links: int64, shape (e, 2); pairs of items.
            islands: what becomes of classes without a neighbour: 'error' or 'suppress' (whoever
                merges leaves them out), or 'nearest'.
        """
        self._points, self._islands = points, islands
        many, groups = len(points.size), int(labels.max()) + 1
        of_item = np.full(many, -1)
        of_item[points.item] = labels
        self._of_item = of_item
        # nodes without records that hang together are one place, behind those of the classes
        bare = links[(of_item[links] < 0).all(axis=1)]
        joined = coo_array((np.ones(len(bare)), (bare[:, 0], bare[:, 1])), (many, many))
        place = np.where(of_item >= 0, of_item, groups + connected_components(joined, False)[1])
        ends = np.unique(np.sort(place[links], axis=1), axis=0)
        self._groups, self._into = groups, np.arange(groups)
        self._near: dict[int, set[int]] = {}
        for a, b in ends[ends[:, 0] < ends[:, 1]].tolist():
            self._near.setdefault(a, set()).add(b)
            self._near.setdefault(b, set()).add(a)

    @property
    def leaves_out(self) -> bool:
        """Whether a class without any other to be merged with is left out."""
        return self._islands == "suppress"

    def choices(self, group: int) -> list[Labels]:
        """The classes next to one; the nearest where none is, if islands are joined so."""
        neighbours: set[int] = set()
        for other in self._near.get(group, ()):
            neighbours |= {other} if other < self._groups else self._near[other]
        neighbours.discard(group)
        if neighbours or self.leaves_out:
            return [np.array([other]) for other in sorted(neighbours)]
        if self._islands != "nearest":
            raise DataError(STRANDED)
        return [np.array([self._nearest(group)])]

    def _nearest(self, group: int) -> int:
        """The class with the place nearest to any of an island's, as the method joins islands."""
        into = self._into
        while (into[into] != into).any():
            into = into[into]
        now = np.where(self._of_item >= 0, into[self._of_item], -1)
        alone = now == group
        others = np.where(alone, -1, now)
        labels = join_islands(others, np.zeros(len(now), np.int64), alone, self._points.place)
        return int(labels[np.argmax(alone)])

    def merged(self, group: int, into: int) -> None:
        """Takes note that one class became part of another."""
        self._into[group] = into
        near = self._near.pop(group, set())
        for other in near:
            self._near[other].discard(group)
            if other != into:
                self._near[other].add(into)
                self._near.setdefault(into, set()).add(other)


class Boxes:
    """Classes of rectangles that divide a box without gaps, under mergers.

    With a neighbour comes all that the smallest rectangle around both meets, and so on, until the
    rectangle is that of whole classes.
    """

    leaves_out = False

    def __init__(self, cells: Floats) -> None:
        """``cells``: float64, shape (groups, 2, 2); the lower and upper bound along each axis."""
        self._boxes: list[Box] = [(a, b, c, d) for (a, b), (c, d) in cells.tolist()]
        self._near: list[set[int]] = [set() for _ in self._boxes]
        for axis in (0, 1):
            for lower, upper in _touching(cells, axis):
                self._near[lower].add(upper)
                self._near[upper].add(lower)

    @property
    def cells(self) -> Floats:
        """The rectangles as they are now: float64, shape (groups, 2, 2)."""
        return np.array(self._boxes, np.float64).reshape(-1, 2, 2)

    def choices(self, group: int) -> list[Labels]:
        """With each neighbour of a class, the classes that make a rectangle with it; only those
        rectangles that are of TOGETHER classes at most, or of twice as many if there is none, and
        so on."""
        most = TOGETHER
        while True:
            rectangles = {self._closed(group, other, most) for other in self._near[group]} - {()}
            if rectangles:
                return [np.array(others) for others in sorted(rectangles)]
            most *= 2

    def _closed(self, group: int, other: int, most: int) -> tuple[int, ...]:
        """The classes in the smallest rectangle of whole classes around two, without the first;
        empty where they are more than so many."""
        inside, box = {group, other}, _around([self._boxes[group], self._boxes[other]])
        while len(inside) <= most:
            # what a rectangle meets hangs together, so that neighbours lead to all of it
            near: set[int] = set().union(*(self._near[g] for g in inside)) - inside
            more = [g for g in near if _meets(self._boxes[g], box)]
            if not more:
                return tuple(sorted(inside - {group}))
            inside.update(more)
            box = _around([box, *(self._boxes[g] for g in more)])
        return ()

    def merged(self, group: int, into: int) -> None:
        """Takes note that one class became part of another."""
        self._boxes[into] = _around([self._boxes[group], self._boxes[into]])
        near, self._near[group] = self._near[group], set()
        for other in near:
            self._near[other].discard(group)
            if other != into:
                self._near[other].add(into)
                self._near[into].add(other)


def _around(boxes: Sequence[Box]) -> Box:
    """The smallest box around some."""
    a, b, c, d = zip(*boxes, strict=True)
    return min(a), max(b), min(c), max(d)


def _meets(one: Box, box: Box) -> bool:
    """Whether a class reaches into a box; a class that is a line, on the border of all places, as
    soon as it touches it."""
    return all(
        (one[a] < box[a + 1] and box[a] < one[a + 1])
        or (one[a] == one[a + 1] and box[a] <= one[a] <= box[a + 1])
        for a in (0, 2)
    )


def _touching(cells: Floats, axis: int) -> list[tuple[int, int]]:
    """Pairs of classes, the upper bound of the first being the lower bound of the second along an
    axis, that have a place of the other axis in common, and be it a corner."""
    pairs: list[tuple[int, int]] = []
    along = cells[:, 1 - axis]
    by_end = np.argsort(cells[:, axis, 1], kind="stable")
    by_start = np.lexsort([along[:, 1], along[:, 0], cells[:, axis, 0]])
    ends, starts = cells[by_end, axis, 1], cells[by_start, axis, 0]
    for cut in np.intersect1d(ends, starts):
        lower = by_end[slice(*np.searchsorted(ends, [cut, np.nextafter(cut, np.inf)]))]
        # those that begin at a cut follow each other along it, so that a run of them touches
        upper = by_start[slice(*np.searchsorted(starts, [cut, np.nextafter(cut, np.inf)]))]
        first = np.searchsorted(along[upper, 1], along[lower, 0], "left")
        last = np.searchsorted(along[upper, 0], along[lower, 1], "right")
        for g, start, stop in zip(lower.tolist(), first.tolist(), last.tolist(), strict=True):
            pairs.extend((g, other) for other in upper[start:stop].tolist() if other != g)
    return pairs
