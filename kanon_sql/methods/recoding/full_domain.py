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
chance to be the best, and keeps one byte: 255 for shut, else the bound in shares of ``out``. The
sweep itself is in lattice.py.

Privacy models that all classes must keep are asked of the node, too, where no record may be
suppressed: classes only merge on the way up, and the union of two classes that keep a model keeps
it. So a node that breaks one shuts all nodes below it. The same is true of a demand on all classes
together, which allows only so many of them.

Losses are compared as whole numbers, in units of 2**-30 of the power of two above a record's whole
loss. So sums that differ by rounding alone are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import floor, frexp, fsum, prod
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.recoding.class_counts import count_classes, extend_keys
from kanon_sql.methods.recoding.lattice import (
    LEVELS,
    LOSS,
    LOST,
    SHUT,
    Lattice,
    meet_of,
    next_node,
)
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Codes, Floats, Grouping, Labels, LossPoints
from kanon_sql.privacy.demands import Demands, demands_of
from kanon_sql.privacy.feasible import persons_among
from kanon_sql.privacy.kernels import violations

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
BUG = "Nothing was released; please report this as a bug."

Node = tuple[int, ...]


@kernel
def _find_parents(codes: Any, low: int, high: int, parent: Any) -> bool:
    """Fills in the parent, in column ``high``, of each code in column ``low``; False where a code
    has two."""
    # all records are asked, not one of each code: so a code with two parents can't hide
    for i in range(codes.shape[0]):
        code, above = codes[i, low], codes[i, high]
        if parent[code] < 0:
            parent[code] = above
        elif parent[code] != above:
            return False
    return True


@dataclass(frozen=True)
class _AttributeTree:
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


def _tree(points: LossPoints, number: int, first: int, k: int, out: int) -> _AttributeTree:
    """The attribute whose columns start at ``first``."""
    columns = np.flatnonzero(points.first == first)
    records = np.bincount(points.codes[:, first])
    nodes = [np.arange(len(records))]
    for column in columns[1:]:
        parent = np.full(len(records), -1, np.int32)
        one = _find_parents(points.codes, int(columns[0]), int(column), parent)
        above = np.unique(parent, return_inverse=True)[1].astype(np.int64)
        # the last leaf of a node tells what is above it; all others must say the same
        of_node = np.zeros(len(records), np.int64)
        of_node[nodes[-1]] = above
        if not one or (of_node[nodes[-1]] != above).any():
            raise DataError(f"A level of attribute {number} does not refine the next. {BUG}")
        nodes.append(above)
    sizes = [np.bincount(of_leaf, records) for of_leaf in nodes]
    fits = [int(size[size < k].sum()) <= out for size in sizes]
    rise = np.cumsum(np.append(0.0, points.scale[columns] * points.limit[columns]))
    return _AttributeTree(number, first, [*nodes, np.zeros_like(nodes[0])], rise, [*fits,
                                                                                   True].index(True))


class _Box(NamedTuple):
    """The nodes that share their first levels, and a table that tells the classes of those that may
    still be checked.

    Attributes:
        head: the levels that they share.
        lowest: the levels at which the rows of the table are told apart.
        table: the table.
        tries: checks made in the box.
    """

    head: Node
    lowest: Node
    table: _Table
    tries: int


class _LatticeSearch:
    """The lattice from the levels that every attribute needs by itself up to the root."""

    def __init__(
        self, points: LossPoints, k: int, out: int, trees: list[_AttributeTree],
        demands: Demands | None, most: int
    ) -> None:
        n, count = len(points), len(trees)
        self.k, self.checked, self.demands, self.most = k, 0, demands, most
        self.trees = sorted(trees, key=lambda tree: -tree.width(tree.low))
        order = np.argsort([tree.number for tree in self.trees])
        low = np.array([tree.low for tree in self.trees], np.int64)
        top = np.array([len(tree.nodes) - 1 for tree in self.trees], np.int64)
        rise = np.zeros((count, int(top.max()) + 1))
        self.starts, begin = [], 0
        for tree, row in zip(self.trees, rise, strict=True):
            row[: len(tree.rise)] = tree.rise
            sizes = [begin, *(len(nodes) for nodes in tree.nodes)]
            self.starts.append(np.cumsum(sizes))
            begin = int(self.starts[-1][-1])
        self.nodes = np.concatenate([nodes for tree in self.trees for nodes in tree.nodes])
        self.widths = [[tree.width(L) for L in range(len(tree.nodes))] for tree in self.trees]
        radix = top - low + 1
        stride = np.array([prod(radix[a + 1 :].tolist()) for a in range(count)], np.int64)
        tags = np.zeros(prod(radix.tolist()), np.uint8)
        # a power of two, so that the product is exact and only the rounding to a whole one counts
        unit = 2.0 ** (30 - frexp(fsum(points.scale.tolist()))[1])
        lattice = Lattice(tags, low, top, stride, rise, order, n, 0, out, unit)
        self.lattice = lattice._replace(full=int(np.rint(lattice.sums(top)[-1] * unit)))
        self.best = np.array([n * self.lattice.full, 0, *top], np.int64)
        leaves = points.codes[:, [tree.column for tree in self.trees]]
        records = _Table(np.ascontiguousarray(leaves), np.ones(n, np.int32))
        self.base, self.row = self.rolled_up(records, tuple(low.tolist()))
        self.boxes: list[_Box] = []

    def keys(self, table: _Table, levels: Node) -> tuple[Labels, int]:
        """A number per row, equal for equal nodes; and what the numbers are below."""
        keys, width, parts = np.zeros(len(table.counts), np.int64), 1, [[]]  # type: ignore[var-annotated]
        for a, level in enumerate(levels):
            if level == self.lattice.top[a]:
                continue
            # keys so far are numbered 0, 1, ..., so that there is room for more attributes
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
        classes, _ = count_classes(
            keys, table.counts, width, self.k, self.lattice.out, owner, first, sizes
        )
        return owner, first[:classes], sizes[:classes]

    def rolled_up(self, table: _Table, levels: Node) -> tuple[_Table, Codes]:
        """The rows that differ at a node, each by its first leaves; and each row's new row."""
        keys, width = self.keys(table, levels)
        owner, first, sizes = self.listed(keys, table, width)
        return _Table(table.leaves[first], sizes.astype(np.int32)), owner

    def check(self, table: _Table, levels: Node) -> bool:
        """Counts a node's classes, keeps its bound, and the node itself where it is the best."""
        self.checked += 1
        lattice, none = self.lattice, np.empty(0, np.int32)
        keys, width = self.keys(table, levels)
        _, small = count_classes(
            keys, table.counts, width, self.k, lattice.out, none, none, np.empty(0, int)
        )
        index = lattice.number(levels)
        if small > lattice.out or self.breaks(levels):
            lattice.tags[index] = SHUT
            return False
        lattice.tags[index] = max(int(lattice.tags[index]), lattice.tag(small))
        charge = int(np.rint(lattice.sums(np.array(levels))[-1] * lattice.unit))
        loss = (lattice.records - small) * charge + small * lattice.full
        candidate = np.array([loss, small, *levels], np.int64)
        place = [LOSS, LOST, *(LEVELS + lattice.order)]
        if candidate[place].tolist() < self.best[place].tolist():
            self.best[:] = candidate
        return True

    def breaks(self, levels: Node) -> bool:
        """Whether a class of a node breaks a model, or there are too many classes."""
        if self.demands is None and self.most >= self.lattice.records:
            return False
        keys, width = self.keys(self.base, levels)
        owner, first, _ = self.listed(keys, self.base, width)
        if len(first) > self.most or self.demands is None:
            return len(first) > self.most
        return bool((violations(self.demands, owner[self.row].astype(np.int64)) > 0.0).any())

    def check_few(self, watch: Watch) -> None:
        """Checks the nodes at which few attributes are below their roots."""
        lattice = self.lattice
        tags, low, top, stride = lattice.tags, lattice.low, lattice.top, lattice.stride
        done, count = {lattice.number(top)}, len(top)
        most = min(TOGETHER if lattice.out else TOGETHER + 1, count)
        for chosen in (c for size in range(1, most + 1) for c in combinations(range(count), size)):
            watch.check()
            levels, at, table = top.copy(), list(chosen), None
            for own in product(*(range(top[a], low[a] - 1, -1) for a in at)):
                levels[at] = own
                index = lattice.number(levels)
                above = [tags[index + stride[a]] for a in at if levels[a] < top[a]]
                if SHUT in above:
                    tags[index] = SHUT
                elif index not in done:  # with fewer attributes it may have been checked
                    done.add(index)
                    if table is None:
                        lowest = top.copy()
                        lowest[at] = low[at]
                        table, _ = self.rolled_up(self.base, tuple(lowest.tolist()))
                    self.check(table, tuple(levels.tolist()))

    def table(self, levels: Node) -> _Table:
        """The smallest table at hand that tells the classes of a node.

        A box is the nodes that share their first levels. After some checks in it, a table of the
        box is made: that of the most general node below all that may still be checked there.
        """
        lattice, lowest, table = self.lattice, tuple(self.lattice.low.tolist()), self.base
        for j in range(len(levels) - 1):
            head = levels[: j + 1]
            if j < len(self.boxes) and self.boxes[j].head == head:
                box = self.boxes[j]
            else:
                del self.boxes[j:]
                box = _Box(head, lowest, table, 0)
                self.boxes.append(box)
            # a table pays only where many nodes of the box are checked
            if box.tries == TRIES and len(table.counts) > SMALL_ROWS:
                start = lattice.top.copy()
                start[: j + 1] = head
                index, sums = lattice.number(start), lattice.sums(start)
                meet = meet_of(lattice, index, start, j + 1, sums, self.best[LOSS])
                own = tuple(meet.tolist())
                smaller = table if own == lowest else self.rolled_up(table, own)[0]
                box = box._replace(lowest=own, table=smaller)
                del self.boxes[j + 1 :]
            self.boxes[j] = box._replace(tries=box.tries + 1)
            lowest, table = box.lowest, box.table
        return table

    def run(self, watch: Watch) -> None:
        """Finds the best node."""
        beat, lattice = watch.beat(), self.lattice
        self.check_few(watch)
        n, nodes = lattice.records, len(lattice.tags)
        index, levels, sums = nodes - 1, lattice.top.copy(), lattice.sums(lattice.top)
        while index >= 0:
            index = next_node(lattice, index, levels, sums, self.best, beat)
            watch.check()
            beat[DONE] = n - n * (index + 1) // nodes
            if index >= 0:
                node = tuple(levels.tolist())
                self.check(self.table(node), node)

    def labels(self) -> Labels:
        """The classes of the best node, numbered by their first record; -1 for suppressed."""
        keys, width = self.keys(self.base, tuple(self.best[LEVELS:].tolist()))
        owner, _, sizes = self.listed(keys, self.base, width)
        labels = owner[self.row].astype(np.int64)
        first = np.empty(len(sizes), np.int64)
        first[labels[::-1]] = np.arange(len(labels))[::-1]
        # classes too small for k have no number: their records are suppressed
        number = np.full(len(sizes), -1)
        kept = np.flatnonzero(sizes >= self.k)
        number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
        return np.asarray(number[labels], np.int64)


def _most_classes(points: LossPoints, task: GroupTask) -> int:
    """How many classes there may be; as many as records, where nobody asks."""
    persons = persons_among(points, task.apart, np.arange(len(points)))
    return min([len(points), *(each.most_classes(persons) for each in task.whole)])


def full_domain(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """The levels of least loss at which all but a share of the records are k-anonymous.

    The columns of an attribute are its levels 0 .. N-1; level N is the root. A cell at level L
    costs the scale (times limit) of the columns of the levels below L; a suppressed record costs
    that of all columns. Ties go to fewer suppressed records, then to the lowest levels, the first
    attribute first. Options: ``suppress``, the share of records that may be suppressed, 0 if not
    given. Needs len(points) >= k >= 1, and where the task has demands beside k, no records to be
    suppressed and that one class of all records keeps them.

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
    demands = demands_of(points, task.models, np.arange(len(points))) if task.models else None
    search = _LatticeSearch(points, k, out, trees, demands, _most_classes(points, task))
    search.run(watch)
    levels = search.best[LEVELS + search.lattice.order].tolist()
    facts = {f"level {number}": float(level) for number, level in enumerate(levels)}
    counts = {"lattice_nodes": float(nodes), "lattice_checked": float(search.checked)}
    return Grouping(search.labels(), facts | counts)
