"""Full-domain generalization: every value of an attribute is generalized to the same level.

The levels that a release may use are the nodes of a lattice, one level per attribute (Samarati
2001, Protecting respondents' identities in microdata release, IEEE TKDE 13(6)). A node costs the
height that its levels cut off every released record, and the whole height for a record in a class
of fewer than k, which is suppressed. The search returns the node of least loss, exactly.

What prunes it:

- The records in classes of fewer than k never grow in number on the way up the lattice
  (generalization property; LeFevre, DeWitt and Ramakrishnan 2005, Incognito, SIGMOD, section 2).
  So a node with too many of them shuts all nodes below it (Kohlmayer et al. 2012, Flash, IEEE
  PASSAT), and any other number is a lower bound on the suppressed records below.
- Some attributes alone, the others at their roots, are a node above (Incognito, subset property).
  These have few classes. All attributes, pairs and perhaps triples of them are checked first.
- The loss at the lower bound on the suppressed records is a lower bound on the node's loss. It
  grows upwards, so that nodes dear enough need no check.

One sweep visits the nodes in descending lexicographic order, each after all nodes above it. It
takes the largest of the bounds of its direct predecessors, checks the node where that leaves it a
chance to be the best, and keeps one byte: 255 for shut, else the bound in shares of ``out``.

Losses are compared as whole numbers, in units of 2**-30 of the power of two above a record's whole
loss. So sums that differ by rounding alone are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import floor, frexp, fsum, prod
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import ZERO, inner
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.recoding.class_counts import count_classes, extend_keys
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Codes, Floats, Grouping, Labels, LossPoints

MOST_NODES = 50_000_000
"""The largest lattice that is searched; a node takes a byte."""
WIDEST = 2**62
"""Keys stay below it. Where the levels of a node have more combinations, some are ranked first."""
TOGETHER = 2
"""How many attributes are checked together first; one more where no record may be suppressed,
since more of them fail then."""
TRIES = 8
"""Checks in one box of the lattice before a smaller table is made for it."""
SMALL_ROWS = 2048
"""A table of fewer rows is not made any smaller."""
BUG = "Nothing came out; please report this as a bug."

Node = tuple[int, ...]


@njit(cache=True, nogil=True)
def _find_parents(codes: Any, low: int, high: int, parent: Any) -> bool:
    """Fills in the parent, in column ``high``, of each code in column ``low``; False where a code
    has two."""
    for i in range(codes.shape[0]):
        code, above = codes[i, low], codes[i, high]
        if parent[code] < 0:
            parent[code] = above
        elif parent[code] != above:
            return False
    return True


@inner
def _bounds(
    tags: Any, here: int, levels: Any, top: Any, stride: Any, rise: float, scalars: Any
) -> Any:
    """Takes over the bounds of the nodes above. The least loss that a node can have, and the
    least number of suppressed records; a loss of -1 where it is shut."""
    n, full, out, unit = scalars
    tag = tags[here]
    for b in range(len(levels)):
        if levels[b] < top[b]:
            tag = max(tag, tags[here + stride[b]])
    tags[here] = tag
    if tag == 255:
        return -1, 0
    lost = (np.int64(tag) * out + 253) // 254
    return (n - lost) * np.int64(np.rint(rise * unit)) + lost * full, lost


@inner
def _step(levels: Any, fixed: int, low: Any, top: Any, rise: Any, sums: Any) -> bool:
    """On to the next node in descending order of those with the same first ``fixed`` levels;
    False after the last. sums[a]: what the levels before a cost a record."""
    a = len(levels) - 1
    while a >= fixed and levels[a] == low[a]:
        levels[a] = top[a]
        a -= 1
    if a < fixed:
        return False
    levels[a] -= 1
    for b in range(a, len(levels)):
        sums[b + 1] = sums[b] + rise[b, levels[b]]
    return True


@njit(cache=True, nogil=True)
def _next_node(
    tags: Any, here: int, levels: Any, low: Any, top: Any, stride: Any, rise: Any, sums: Any,
    order: Any, scalars: Any, best: Any, beat: Any,
) -> int:
    """The number of the next node that may be better than the best; -1 where there is none.

    best: loss, suppressed records and levels of the best node; order: the attributes by number.
    """
    while (here & 65535 or beat[STOP] == 0) and _step(levels, ZERO, low, top, rise, sums):
        here -= 1
        loss, lost = _bounds(tags, here, levels, top, stride, sums[-1], scalars)
        if loss < 0 or loss > best[0]:
            continue
        ahead = loss < best[0] or lost < best[1]
        if not ahead and lost == best[1]:
            for a in order:
                if levels[a] != best[2 + a]:
                    ahead = levels[a] < best[2 + a]
                    break
        if ahead:
            return here
    return -1


@njit(cache=True, nogil=True)
def _meet(
    tags: Any, here: int, levels: Any, fixed: int, low: Any, top: Any, stride: Any, rise: Any,
    sums: Any, scalars: Any, most: int,
) -> Any:
    """The most general node that lies below all nodes that may lose ``most`` or less, of those
    that share the first ``fixed`` levels. Starts at the highest of them."""
    meet = levels.copy()
    while True:
        loss, _ = _bounds(tags, here, levels, top, stride, sums[-1], scalars)
        if 0 <= loss <= most:
            for b in range(fixed, len(levels)):
                meet[b] = min(meet[b], levels[b])
        here -= 1
        if not _step(levels, fixed, low, top, rise, sums):
            return meet


@dataclass(frozen=True)
class _Tree:
    """One attribute. nodes[L][leaf]: the node at level L, numbered from 0, of every leaf; rise[L]:
    what a cell at level L costs; low: the lowest level at which it is k-anonymous by itself."""

    number: int
    column: int
    nodes: list[Labels]
    rise: Floats
    low: int

    def width(self, level: int) -> int:
        return int(self.nodes[level].max()) + 1


@dataclass(frozen=True)
class _Table:
    """Distinct rows: leaves, int32, shape (rows, attributes), and the records of each."""

    leaves: Codes
    counts: Codes


def _tree(points: LossPoints, number: int, first: int, k: int, out: int) -> _Tree:
    """The attribute whose columns start at ``first``."""
    columns = np.flatnonzero(points.first == first)
    records = np.bincount(points.codes[:, first])
    nodes = [np.arange(len(records))]
    for column in columns[1:]:
        parent = np.full(len(records), -1, np.int32)
        one = _find_parents(points.codes, int(columns[0]), int(column), parent)
        above = np.unique(parent, return_inverse=True)[1].astype(np.int64)
        of_node = np.zeros(len(records), np.int64)
        of_node[nodes[-1]] = above
        if not one or (of_node[nodes[-1]] != above).any():
            raise DataError(f"A level of attribute {number} does not refine the next. {BUG}")
        nodes.append(above)
    sizes = [np.bincount(of_leaf, records) for of_leaf in nodes]
    fits = [int(size[size < k].sum()) <= out for size in sizes]
    rise = np.cumsum(np.append(0.0, points.scale[columns] * points.limit[columns]))
    return _Tree(number, first, [*nodes, np.zeros_like(nodes[0])], rise, [*fits, True].index(True))


class _Search:
    """The lattice from the levels that every attribute needs by itself up to the root."""

    def __init__(self, points: LossPoints, k: int, out: int, trees: list[_Tree]) -> None:
        n, count = len(points), len(trees)
        self.k, self.out, self.checked = k, out, 0
        self.trees = sorted(trees, key=lambda tree: -tree.width(tree.low))
        self.order = np.argsort([tree.number for tree in self.trees])
        self.low = np.array([tree.low for tree in self.trees], np.int64)
        self.top = np.array([len(tree.nodes) - 1 for tree in self.trees], np.int64)
        self.rise = np.zeros((count, int(self.top.max()) + 1))
        self.starts, begin = [], 0
        for tree, row in zip(self.trees, self.rise, strict=True):
            row[: len(tree.rise)] = tree.rise
            sizes = [begin, *(len(nodes) for nodes in tree.nodes)]
            self.starts.append(np.cumsum(sizes))
            begin = int(self.starts[-1][-1])
        self.nodes = np.concatenate([nodes for tree in self.trees for nodes in tree.nodes])
        self.widths = [[tree.width(L) for L in range(len(tree.nodes))] for tree in self.trees]
        radix = self.top - self.low + 1
        self.stride = np.array([prod(radix[a + 1 :].tolist()) for a in range(count)], np.int64)
        self.tags = np.zeros(prod(radix.tolist()), np.uint8)
        whole = self.sums(self.top)[-1]
        unit = 2.0 ** (30 - frexp(fsum(points.scale.tolist()))[1])
        self.scalars = (n, int(np.rint(whole * unit)), out, unit)
        self.best = np.array([n * self.scalars[1], 0, *self.top], np.int64)
        leaves = points.codes[:, [tree.column for tree in self.trees]]
        records = _Table(np.ascontiguousarray(leaves), np.ones(n, np.int32))
        self.base, self.row = self.rolled_up(records, tuple(self.low.tolist()))
        self.boxes: list[tuple[Node, Node, _Table, int]] = []

    def sums(self, levels: Labels) -> Floats:
        """What the first 0, 1, ... of the levels cost a record."""
        return np.cumsum(np.append(0.0, self.rise[np.arange(len(levels)), levels]))

    def index(self, levels: Any) -> int:
        """The number of a node, in lexicographic order."""
        return int(((np.asarray(levels) - self.low) * self.stride).sum())

    def keys(self, table: _Table, levels: Node) -> tuple[Labels, int]:
        """A number per row, equal for equal nodes; and what the numbers are below."""
        keys, width, parts = np.zeros(len(table.counts), np.int64), 1, [[]]  # type: ignore[var-annotated]
        for a, level in enumerate(levels):
            if level == self.top[a]:
                continue
            if width * self.widths[a][level] > WIDEST:
                keys = self.extended(keys, table, levels, parts.pop())
                keys = self.listed(keys, table, width)[0].astype(np.int64)
                width, parts = len(keys), [[]]
            width *= self.widths[a][level]
            parts[-1].append(a)
        return self.extended(keys, table, levels, parts[-1]), width

    def extended(self, keys: Labels, table: _Table, levels: Node, used: list[int]) -> Labels:
        starts = np.array([self.starts[a][levels[a]] for a in used], np.int64)
        widths = np.array([self.widths[a][levels[a]] for a in used], np.int64)
        extend_keys(keys, table.leaves, np.array(used, np.int64), self.nodes, starts, widths)
        return keys

    def listed(self, keys: Labels, table: _Table, width: int) -> tuple[Codes, Codes, Labels]:
        """The class of each row, and the first row and the records of each class."""
        rows = len(keys)
        owner, first = np.empty(rows, np.int32), np.empty(rows, np.int32)
        sizes = np.empty(rows, np.int64)
        classes, _ = count_classes(keys, table.counts, width, self.k, self.out, owner, first, sizes)
        return owner, first[:classes], sizes[:classes]

    def rolled_up(self, table: _Table, levels: Node) -> tuple[_Table, Codes]:
        """The rows that differ at a node, each by its first leaves; and each row's new row."""
        keys, width = self.keys(table, levels)
        owner, first, sizes = self.listed(keys, table, width)
        return _Table(table.leaves[first], sizes.astype(np.int32)), owner

    def check(self, table: _Table, levels: Node) -> bool:
        """Counts a node's classes, keeps its bound, and the node itself where it is the best."""
        self.checked += 1
        none, (n, full, out, unit) = np.empty(0, np.int32), self.scalars
        keys, width = self.keys(table, levels)
        _, small = count_classes(
            keys, table.counts, width, self.k, out, none, none, np.empty(0, int)
        )
        here = self.index(levels)
        if small > out:
            self.tags[here] = 255
            return False
        self.tags[here] = max(int(self.tags[here]), small * 254 // out if out else 0)
        charge = int(np.rint(self.sums(np.array(levels))[-1] * unit))
        found = np.array([(n - small) * charge + small * full, small, *levels], np.int64)
        place = [0, 1, *(2 + self.order)]
        if found[place].tolist() < self.best[place].tolist():
            self.best[:] = found
        return True

    def check_few(self, watch: Watch) -> None:
        """Checks the nodes at which few attributes are below their roots."""
        done, count = {self.index(self.top)}, len(self.top)
        most = min(TOGETHER if self.out else TOGETHER + 1, count)
        for chosen in (c for size in range(1, most + 1) for c in combinations(range(count), size)):
            watch.check()
            levels, at, table = self.top.copy(), list(chosen), None
            for own in product(*(range(self.top[a], self.low[a] - 1, -1) for a in at)):
                levels[at] = own
                here = self.index(levels)
                above = [self.tags[here + self.stride[a]] for a in at if levels[a] < self.top[a]]
                if 255 in above:
                    self.tags[here] = 255
                elif here not in done:
                    done.add(here)
                    if table is None:
                        lowest = self.top.copy()
                        lowest[at] = self.low[at]
                        table, _ = self.rolled_up(self.base, tuple(lowest.tolist()))
                    self.check(table, tuple(levels.tolist()))

    def table(self, levels: Node) -> _Table:
        """The smallest table at hand that tells the classes of a node.

        A box is the nodes that share their first levels. After some checks in it, a table of the
        box is made: that of the most general node below all that may still be checked there.
        """
        last, table = tuple(self.low.tolist()), self.base
        for j in range(len(levels) - 1):
            head = levels[: j + 1]
            if j < len(self.boxes) and self.boxes[j][0] == head:
                _, own, box, tries = self.boxes[j]
            else:
                del self.boxes[j:]
                own, box, tries = last, table, 0
                self.boxes.append((head, own, box, tries))
            if tries == TRIES and len(table.counts) > SMALL_ROWS:
                start = self.top.copy()
                start[: j + 1] = head
                meet = _meet(
                    self.tags, self.index(start), start, j + 1, self.low, self.top, self.stride,
                    self.rise, self.sums(start), self.scalars, self.best[0],
                )
                own = tuple(meet.tolist())
                box = table if own == last else self.rolled_up(table, own)[0]
                del self.boxes[j + 1 :]
            self.boxes[j] = (head, own, box, tries + 1)
            last, table = own, box
        return table

    def run(self, watch: Watch) -> None:
        """Finds the best node."""
        beat, n = watch.beat(), self.scalars[0]
        self.check_few(watch)
        here, levels, sums = len(self.tags) - 1, self.top.copy(), self.sums(self.top)
        while here >= 0:
            here = _next_node(
                self.tags, here, levels, self.low, self.top, self.stride, self.rise, sums,
                self.order, self.scalars, self.best, beat,
            )
            watch.check()
            beat[0] = n - n * (here + 1) // len(self.tags)
            if here >= 0:
                node = tuple(levels.tolist())
                self.check(self.table(node), node)

    def labels(self) -> Labels:
        """The classes of the best node, numbered by their first record; -1 for suppressed."""
        keys, width = self.keys(self.base, tuple(self.best[2:].tolist()))
        owner, _, sizes = self.listed(keys, self.base, width)
        labels = owner[self.row].astype(np.int64)
        first = np.empty(len(sizes), np.int64)
        first[labels[::-1]] = np.arange(len(labels))[::-1]
        number = np.full(len(sizes), -1)
        kept = np.flatnonzero(sizes >= self.k)
        number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
        return np.asarray(number[labels], np.int64)


def full_domain(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """The levels of least loss at which all but a share of the records are k-anonymous.

    The columns of an attribute are its levels 0 .. N-1; level N is the root. A cell at level L
    costs the scale (times limit) of the columns of the levels below L; a suppressed record costs
    that of all columns. Ties go to fewer suppressed records, then to the lowest levels, the first
    attribute first. Options: ``suppress``, the share of records that may be suppressed, 0 if not
    given. Needs len(points) >= k >= 1.

    Returns classes numbered by their first record, -1 for a suppressed one, and as facts
    ``level 0``, ``level 1`` ... by attribute, ``lattice_nodes`` and ``lattice_checked``, the nodes
    whose classes were counted. Raises DataError where an attribute has no hierarchy or the
    lattice has more than MOST_NODES nodes. Source: see the module.
    """
    k = task.k
    firsts, heights = np.unique(points.first, return_counts=True)
    if points.numeric.shape[1] or not len(firsts):
        raise DataError(f"Global recoding got attributes without a hierarchy. {BUG}")
    nodes = prod(int(height) + 1 for height in heights)
    if nodes > MOST_NODES:
        raise DataError(
            f"The hierarchies have {nodes:,} combinations of levels, and global recoding searches "
            f"at most {MOST_NODES:,}. Give hierarchies of fewer levels, or fewer quasi-identifiers."
        )
    out = floor(task.suppress * len(points))
    trees = [_tree(points, a, int(first), k, out) for a, first in enumerate(firsts)]
    search = _Search(points, k, out, trees)
    search.run(watch)
    levels = search.best[2 + search.order].tolist()
    facts = {f"level {number}": float(level) for number, level in enumerate(levels)}
    counts = {"lattice_nodes": float(nodes), "lattice_checked": float(search.checked)}
    return Grouping(search.labels(), facts | counts)
