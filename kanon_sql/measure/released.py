"""What a release loses, by what its classes publish and not only by which rows are together.

A published value is a set of values that the rows of its class may have; its loss is that of
byun2006, definition 7, its entropy that of the relation's values in the set, by their frequencies
(the entropy measure of Gionis and Tassa 2009). anonymize_audit reads the same from the texts of a
release (kanon_sql/audit/published.py), and must come to the same numbers.

A single value that not all rows of its class have, such as a mean, is no such set: of a column
with one, nothing is told. A range or set beside which a class has NULLs, which it doesn't show,
stands for NULL as well, and so loses all; also for the rows of other groups that release the same
values, since nobody tells them from those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kanon_sql.encode.attributes import Attribute, Categorical, Numeric, Taxonomy
from kanon_sql.encode.encoded import Encoded
from kanon_sql.measure.in_words import Coarse
from kanon_sql.names import caseless
from kanon_sql.points.by_class import ByClass, Numbers
from kanon_sql.points.by_label import renumbered
from kanon_sql.points.points import Floats, Labels, is_missing

FORMS = (
    "range", "set", "agreed", "node", "level", "point", "number", "box", "closed_box", "untold",
)
"""What a class publishes of a column: the range or set of its values (of numbers a range), the set
also of numbers, the value on which all agree or else nothing, the label of the lowest common
ancestor, that at a level, a single value, its number, a box that contains its values, or that box
with all of its borders; or what can't be told."""

Boxes = npt.NDArray[np.float64]
Alike = tuple[Labels, ByClass]
"""For each group the number of what it releases, and the rows by that number."""


@dataclass(frozen=True)
class ReleasedForm:
    """What classes publish.

    Attributes:
        form: of columns without a hierarchy, one of FORMS.
        of_trees: of those that have one.
        by_column: of single columns, by name in lower case; these win.
        nothing_is_null: the columns in which a class publishes NULL where its rows don't agree.
        levels: of columns of the form 'level' the level, by name in lower case.
        trees: hierarchies by column name in lower case.
        boxes: of the form 'box': float64, shape (columns, groups, 3), the lower and upper bound,
            and 1.0 where the upper one belongs to it; NaN where a class has none.
    """

    form: str
    of_trees: str
    nothing_is_null: Sequence[str] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    trees: Mapping[str, Taxonomy] = field(default_factory=dict)
    boxes: Boxes = field(default_factory=lambda: np.zeros((0, 0, 3)))
    by_column: Mapping[str, str] = field(default_factory=dict)

    def form_of(self, column: str) -> str:
        """What classes publish of a column: one of FORMS."""
        plain = self.of_trees if caseless(column) in self.trees else self.form
        return self.by_column.get(caseless(column), plain)


@dataclass(frozen=True)
class ColumnLoss:
    """What the classes lose in a column.

    Attributes:
        loss: float64, shape (groups,), 0 .. 1; None where it can't be told.
        distinct: the same, of a category by how many values it may have.
        bits: float64, shape (groups,); the entropy of what each publishes.
    """

    loss: Floats | None
    distinct: Floats
    bits: Floats


def released_losses(
    encoded: Encoded, labels: Labels, shown: ReleasedForm, alike: Labels | None = None
) -> dict[str, Any]:
    """Total-IL and the like, of all rows of the relation.

    Args:
        encoded: the whole relation, n rows.
        labels: int64, shape (n,), canonical order, 0 .. groups-1; -1 where a row isn't released.
        shown: what the classes publish.
        alike: int64, shape (groups,), 0 ..; groups of the same number release the same values.
            None: no two do.

    Returns:
        released_il and released_distinct (cells, all those of rows that are not released among
        them), released_entropy (bits per released cell), each None where a column that counts
        can't be told, and attributes: of each, in the order of the relation, the released ncp and
        how coarse it is, None where that can't be told.
    """
    kept = np.flatnonzero(labels >= 0)
    view, out = ByClass(labels[kept]), len(labels) - len(kept)
    alike = np.arange(view.groups) if alike is None else alike
    apart = bool((alike == np.arange(view.groups)).all())
    same = alike, view if apart else ByClass(alike[view.labels])
    il: float | None = 0.0
    distinct, bits = 0.0, 0.0
    ncps: list[dict[str, Any]] = []
    known = True
    for j, attribute in enumerate(encoded.attributes):
        column = _column(encoded, j, kept, view, shown, same)
        lost = None if column.loss is None else float(np.sum(view.sizes * column.loss)) + out
        ncps.append({
            "name": attribute.name, "ncp": None if lost is None else lost / len(labels),
            "coarse": _coarse(attribute, column, view),
        })
        known = known and lost is not None
        bits += float(np.sum(view.sizes * column.bits))
        if attribute.weight > 0.0:
            il = None if il is None or lost is None else il + attribute.weight * lost
            distinct += attribute.weight * (float(np.sum(view.sizes * column.distinct)) + out)
    cells = len(kept) * len(encoded.attributes)
    return {
        "released_il": il,
        "released_distinct": None if il is None else distinct,
        "released_entropy": bits / cells if known else None,
        "attributes": ncps,
    }


def _column(
    encoded: Encoded, j: int, kept: Labels, view: ByClass, shown: ReleasedForm, same: Alike
) -> ColumnLoss:
    attribute = encoded.attributes[j]
    form = shown.form_of(attribute.name)
    nulls = encoded.missing[:, j]
    column = (
        _Numbers(attribute, encoded.columns[j], nulls, kept, view, same)
        if isinstance(attribute, Numeric)
        else _Categories(attribute, encoded.columns[j], nulls, kept, view, same)
    )
    if form == "untold":
        return column.untold()
    if form == "number":
        return column.nothing(np.ones(view.groups, np.bool_))
    if form == "point":
        return column.as_it_is() if column.agreed.all() else column.untold()
    if form == "agreed":
        hidden = ~column.agreed
        if caseless(attribute.name) in shown.nothing_is_null and hidden.any():
            hidden |= column.only_nulls  # NULL says nothing where it also stands for other values
        return column.nothing(hidden)
    if isinstance(column, _Numbers):
        if form in ("box", "closed_box"):
            return column.boxes(shown.boxes[j], form == "closed_box")
        return column.ranges(as_set=form == "set")
    if form in ("range", "set"):
        return column.sets()
    name = caseless(attribute.name)
    if form == "node":
        return column.nodes(None)
    return column.nodes(_levels_shown(shown.trees[name], shown.levels[name]))


def _coarse(attribute: Attribute, column: ColumnLoss, view: ByClass) -> Coarse | None:
    """How coarse what the classes publish of a column is."""
    if column.loss is None:
        return None
    generalized, step = int(np.sum(view.sizes[column.loss > 0.0])), None
    if isinstance(attribute, Numeric) and attribute.span > 0.0:
        widths = np.ldexp(column.loss * attribute.span, attribute.exponent)
        step = float(np.average(widths, weights=view.sizes))
    return Coarse(generalized, step)


def _levels_shown(tree: Taxonomy, level: int) -> Numbers:
    """For each leaf the lowest level at which its node has the label that it has at ``level``."""
    labels = [np.array(texts.to_pylist(), object) for texts in tree.levels]
    lowest = np.full(len(labels[0]), level)
    for below in range(level - 1, -1, -1):
        lowest[labels[below] == labels[level]] = below
    return lowest


class _Entropies:
    """Sums from which the entropy of any set of values follows."""

    def __init__(self, counts: Numbers) -> None:
        """``counts``: how many rows have each value."""
        self.rows = counts.astype(np.float64)
        self.logs = self.rows * np.log2(np.maximum(self.rows, 1.0))
        self.whole = _bits(self.rows.sum(), self.logs.sum())


def _bits(rows: Any, logs: Any) -> Any:
    """The entropy of sets that have so many rows, and that sum of c log2 c over their values."""
    many = np.maximum(rows, 1.0)
    return np.maximum(np.log2(many) - logs / many, 0.0)


class _Plain:
    """What is the same for columns of all kinds.

    Attributes:
        agreed: bool, shape (groups,); whether all rows of a class have one value, or all NULL.
        first, last: int64, shape (groups,); the least and the largest number of a value.
        only_nulls: whether all have NULL.
        alike: int64, shape (groups,); classes of the same number release the same.
        together: the rows by that number.
        mixed: whether the class, or one that releases the same, has NULLs beside values.
    """

    def __init__(
        self, values: Numbers, nulls: Numbers, kept: Labels, view: ByClass, same: Alike
    ) -> None:
        """``values``: the number of each record's value among all of the relation, NULL too."""
        self.values, self.view = values[kept], view
        self.entropies = _Entropies(np.bincount(values))
        self.first, self.last = view.span(self.values)
        missing = np.bincount(view.labels[nulls[kept]], minlength=view.groups)
        self.agreed = self.first == self.last
        self.only_nulls = missing == view.sizes
        self.alike, self.together = same
        mixed = (missing > 0) & ~self.only_nulls
        self.mixed = (np.bincount(self.alike, weights=mixed) > 0)[self.alike]

    def nothing(self, hidden: Numbers) -> ColumnLoss:
        """Nothing for the classes in ``hidden``, for all others their one value."""
        loss = hidden.astype(np.float64)
        return ColumnLoss(loss, loss, loss * self.entropies.whole)

    def as_it_is(self) -> ColumnLoss:
        """The value of every row."""
        return self.nothing(np.zeros(self.view.groups, np.bool_))

    def untold(self) -> ColumnLoss:
        """What can't be told."""
        nothing = np.zeros(self.view.groups)
        return ColumnLoss(None, nothing, nothing)

    def values_of_classes(self) -> Floats:
        """The entropy of the set of values that each class has, with those that look alike."""
        owner, value = self.together.distinct(self.values)
        rows, logs = (
            np.bincount(owner, weights=each[value], minlength=self.together.groups)
            for each in (self.entropies.rows, self.entropies.logs)
        )
        return np.asarray(_bits(rows, logs))[self.alike]


class _Numbers(_Plain):
    """A column of numbers, dates or times."""

    def __init__(
        self, attribute: Numeric, column: Any, nulls: Numbers, kept: Labels, view: ByClass,
        same: Alike,
    ) -> None:
        numbers = np.asarray(column, dtype=np.float64)
        places = attribute.place(numbers, 1.0)
        self._known, values = np.unique(numbers, return_inverse=True)
        super().__init__(values.reshape(-1), nulls, kept, view, same)
        self._known = self._known[~np.isnan(self._known)]
        self._attribute = attribute
        missing = is_missing(own := places[kept], 1.0)
        self._low, self._high = view.span(own)
        if missing.any():
            self._high = view.span(np.where(missing, -np.inf, own))[1]

    def ranges(self, as_set: bool) -> ColumnLoss:
        """From the least to the greatest value of each class."""
        loss = np.where(
            self.mixed, 1.0, np.where(self.agreed, 0.0, self._high - self._low)
        )
        bits = self.values_of_classes()
        if not as_set:
            count = len(self._known)
            first, last = np.minimum(self.first, count), self.last
            if (last >= count).any():  # a NULL
                last = self.view.span(np.where(self.values < count, self.values, -1))[1]
            bits = self._between(first, last + 1, self.mixed)
            bits[self.agreed & ~self.mixed] = 0.0
        return ColumnLoss(loss, loss, bits)

    def boxes(self, box: Floats, with_border: bool) -> ColumnLoss:
        """From the lower to the upper bound of each class; NULL where there is none, which says
        nothing where classes with values have none either."""
        low, high, closed = box.T
        none = np.isnan(low)
        wide = self._attribute.place(np.append(high, low), 1.0)
        loss = np.minimum(np.subtract(*np.split(wide, 2)), 1.0)
        loss = np.where(self.mixed, 1.0, loss)
        first = np.searchsorted(self._known, low)
        ends = [np.searchsorted(self._known, high, side) for side in ("left", "right")]
        end = np.where((closed > 0.0) | with_border | (low == high), ends[1], ends[0])
        bits = self._between(first, end, self.mixed)
        nothing = float(np.any(none & ~self.only_nulls))
        loss = np.where(none, nothing, loss)
        return ColumnLoss(loss, loss, np.where(none, nothing * self.entropies.whole, bits))

    def _between(self, first: Numbers, end: Numbers, and_null: Numbers) -> Floats:
        """The entropy of the values from the first to that before the end, and of NULL."""
        sums = []
        for each in (self.entropies.rows, self.entropies.logs):
            up_to = np.append(0.0, np.cumsum(each[: len(self._known)]))
            null = np.where(and_null, float(each[len(self._known) :].sum()), 0.0)
            sums.append(up_to[np.maximum(end, first)] - up_to[first] + null)
        return np.asarray(_bits(*sums))


class _Categories(_Plain):
    """A column of categories, with a hierarchy or without."""

    def __init__(
        self, attribute: Categorical, column: Any, nulls: Numbers, kept: Labels, view: ByClass,
        same: Alike,
    ) -> None:
        codes = np.asarray(column, dtype=np.int64)
        super().__init__(renumbered(codes[:, 0])[1], nulls, kept, view, same)
        self._attribute, self._codes, self._kept = attribute, codes, kept
        self._height = codes.shape[1]

    def _ancestors(self, view: ByClass) -> Numbers:
        """The level of the lowest common ancestor of each class; shape (groups,)."""
        level = np.zeros(view.groups, np.int64)
        for codes in self._codes.T:
            low, high = view.span(codes[self._kept])
            level += low != high
        return level

    def _losses(self, level: Numbers) -> tuple[Floats, Floats]:
        """The loss of nodes of these levels, and that by how many values they have."""
        upward = np.append(0.0, np.cumsum(self._attribute.distinct))
        return level / self._height, np.minimum(upward[level], 1.0)

    def sets(self) -> ColumnLoss:
        """The values that each class has, with those that look alike: their sets hide NULL."""
        loss, distinct = self._losses(self._ancestors(self.together))
        if not self._attribute.in_tree:
            owner, _ = self.together.distinct(self.values)
            more = np.bincount(owner, minlength=self.together.groups) - 1
            distinct = more / max(self._attribute.present - 1, 1)
        return ColumnLoss(loss[self.alike], distinct[self.alike], self.values_of_classes())

    def nodes(self, lowest: Numbers | None) -> ColumnLoss:
        """The labels of nodes: of the lowest common ancestors, or at the level that ``lowest`` has
        for each leaf. A class of nothing but NULL releases NULL, below the root."""
        level = self._ancestors(self.view)
        if lowest is not None:
            code = self.view.span(self._codes[self._kept, 0])[0]
            known = np.flatnonzero(~self.only_nulls & (level < self._height))
            at = np.full(self.view.groups, self._height)
            at[self.only_nulls] = 0
            leaf = np.searchsorted(self._leaf_codes, code[known])
            at[known] = np.maximum(lowest[leaf], level[known])
            top = len(lowest) > 0 and bool((lowest == self._height).all())
            level = np.where(self.only_nulls & top, self._height, at)
        loss, distinct = self._losses(level)
        return ColumnLoss(loss, distinct, self._bits_below(level))

    @property
    def _leaf_codes(self) -> Numbers:
        """The codes of the leaves at level 0, ascending."""
        return self._attribute.nodes[: len(self._attribute.leaves), 0]

    def _bits_below(self, level: Numbers) -> Floats:
        """The entropy of the values below the node of each class at its level."""
        bits = np.where(level >= self._height, self.entropies.whole, 0.0)
        first = self._codes[:, 0]
        counts = np.bincount(first)
        rows, logs = counts.astype(np.float64), counts * np.log2(np.maximum(counts, 1))
        spelled, record = np.unique(first, return_index=True)
        for h in range(1, self._height):
            nodes = self._codes[record, h]
            sums = [np.bincount(nodes, weights=each[spelled]) for each in (rows, logs)]
            at_level = np.flatnonzero(level == h)
            node = self.view.span(self._codes[self._kept, h])[0][at_level]
            bits[at_level] = _bits(sums[0][node], sums[1][node])
        return bits


def box_array(rows: pa.StructArray, groups: int, columns: int) -> Boxes:
    """Boxes as a method gives them (class, number of the column from 1, low, high, closed)."""
    count = len(rows) // columns
    boxes = np.full((columns, max(groups, count), 3), np.nan)
    boxes[..., 2] = 0.0
    at = tuple(
        rows.field(name).to_numpy(zero_copy_only=False) - first
        for name, first in (("number", 1), ("class", 0))
    )
    for side, name in enumerate(("low", "high")):
        boxes[at[0], at[1], side] = rows.field(name).to_numpy(zero_copy_only=False)
    closed = rows.field("closed").to_numpy(zero_copy_only=False)
    boxes[at[0], at[1], 2] = closed.astype(np.float64)
    return boxes
