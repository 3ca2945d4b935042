"""What every grouping method works on: points in the embedding of the quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from kanon_sql.points.sensitive import SensitiveColumn

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int64]

Fact = Literal[
    "lower_bound", "guaranteed_ratio", "facility", "chosen_cost", "gamma", "blocks",
    "spanning_degree", "islands", "island_rows", "codes_unknown", "rows_without_place",
    "refine_steps", "refine_stopped", "lattice_nodes", "lattice_checked", "grouping_cache",
    "started",
    "finished", "seconds_encode", "seconds_group", "seconds_remembered",
    "notices", "method", "loss_with", "loss_without",
]
"""What a run may report. Beside these, full_domain reports its levels by the names of columns, and
for the privacy model in place j of the call "least_size j", what no smaller class keeps, and
"violating j", how many classes broke it before."""

Cell = TypeVar("Cell", bound=np.generic)

NO_SENSITIVE: Codes = np.zeros((0, 0), np.int32)
"""Stands for "no sensitive columns"."""


def rows_at(table: npt.NDArray[Cell], places: Any) -> npt.NDArray[Cell]:
    """The rows of a table at some places: int64 indices, or a mask. Where rows have several cells,
    numpy copies them several times as fast by ``take`` as by an index."""
    if isinstance(places, np.ndarray) and places.dtype.kind == "i":
        return table.take(places, axis=0)
    return np.asarray(table[places])


@dataclass(frozen=True)
class Points:
    """n records in canonical order.

    A nominal attribute with frequencies p over its categories is a set of equidistant points
    (aggarwal2006, section 1): one-hot vectors, scaled. They are never written out; the category
    code and the scale say all that a distance needs.

    Attributes:
        numeric: float64, shape (n, d), C-contiguous; standardized coordinates.
        codes: int32, shape (n, c), C-contiguous; category codes 0 .. m-1 per nominal attribute.
        scale: float64, shape (c,); squared length of a one-hot vector per nominal attribute, so
            that two different categories are 2 * scale apart (squared).
        sensitive: int32, shape (n, s), C-contiguous; codes of the sensitive columns that a
            constraint or the method asks for, shape (0, 0) where none does. No distance looks at
            them.
        sensitive_columns: what these codes mean, one entry for each column.
    """

    numeric: Floats
    codes: Codes
    scale: Floats
    sensitive: Codes = field(default_factory=lambda: NO_SENSITIVE, kw_only=True)
    sensitive_columns: tuple[SensitiveColumn, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return int(self.numeric.shape[0])

    def part(self, members: Any) -> Points:
        """Some of the records, in the order given: int64 indices, shape (m,)."""
        return Points(
            rows_at(self.numeric, members), rows_at(self.codes, members), self.scale,
            sensitive=self.sensitive_of(members), sensitive_columns=self.sensitive_columns,
        )

    def sensitive_of(self, members: Any) -> Codes:
        """The sensitive codes of some of the records."""
        return rows_at(self.sensitive, members) if self.sensitive.shape[1] else self.sensitive

    @staticmethod
    def of(
        numeric: Any, codes: Any = None, scale: Any = None, *, sensitive: Any = None
    ) -> Points:
        """Points from anything array-like; without codes all attributes are numeric. A scale of a
        half, so that two categories are 1 apart, where none is given."""
        matrix = np.ascontiguousarray(numeric, dtype=np.float64)
        if codes is None:
            codes, scale = np.zeros((len(matrix), 0), np.int32), np.zeros(0)
        elif scale is None:
            scale = np.full(np.shape(codes)[1], 0.5)
        return Points(
            matrix,
            np.ascontiguousarray(codes, dtype=np.int32),
            np.ascontiguousarray(scale, dtype=np.float64),
            sensitive=(
                NO_SENSITIVE if sensitive is None
                else np.ascontiguousarray(sensitive, dtype=np.int32)
            ),
        )


MISSING = 4.0
"""Where a missing number lies in LossPoints, in weights: 3 above all values, which span 0 .. 1, so
that a range with any of them is longer than the cap and costs the whole weight."""


def is_missing(column: Floats, cap: float) -> npt.NDArray[np.bool_]:
    """Whether each number of a column of LossPoints is missing: bool, shape (n,).

    Told by twice the cap: values end at one and missing ones lie at four, so no rounding matters.
    Without weight all lie at 0, where nothing is lost and nothing can be told.
    """
    return np.asarray(column > 2.0 * cap if cap > 0.0 else np.zeros(len(column), np.bool_))


@dataclass(frozen=True)
class LossPoints(Points):
    """n records in the geometry of information loss (byun2006, definitions 4 to 8).

    A class e of records loses IL(e) = |e| D(e), and D(e) is a sum over the columns: for a numeric
    column min(max - min, cap), for a column of codes scale * min(distinct codes - 1, limit), added
    up in the order of the columns, numeric ones first. The distance of two records is D of the two.

    A hierarchy of height N is N columns, one per level below its root, that hold the record's node
    at that level; each is charged, once, the share of the tree's height that lies above it. So
    their sum is the height of the lowest common ancestor over the height of the tree, and a kernel
    need not know what a tree is. A flat taxonomy is one such column.

    Attributes:
        numeric: float64, shape (n, d), C-contiguous; values over the size of the column's domain,
            times its weight, so that all together span 0 .. weight. A missing value lies at
            MISSING weights, where a range with any other value reaches the cap.
        codes: int32, shape (n, c), C-contiguous; codes 0 .. m-1 per column.
        scale: float64, shape (c,); what each distinct code after the first costs.
        cap: float64, shape (d,); the most that a numeric column loses: its weight.
        limit: int32, shape (c,); how many distinct codes after the first are charged. 1 where all
            codes are equally far apart; more where the loss counts distinct values.
        first: int32, shape (c,); the first column of the attribute that each column belongs to.
        label: int32, shape (n,); the code of the class label (byun2006, section 5.2), 0 if unused.
        protected: bool, shape (values,); whether each value of the one sensitive column is truly
            sensitive (section 5.1).
    """

    cap: Floats
    limit: Codes
    first: Codes
    label: Codes
    protected: npt.NDArray[np.bool_]

    @property
    def sensitive_value(self) -> Codes:
        """The code of the one sensitive value of each record; 0 where there is none. Shape (n,)."""
        if self.sensitive.shape[1] == 0:
            return np.zeros(len(self), np.int32)
        return np.ascontiguousarray(self.sensitive[:, 0])

    def part(self, members: Any) -> LossPoints:
        """Some of the records, in the order given: int64 indices, shape (m,)."""
        return replace(
            self,
            numeric=rows_at(self.numeric, members),
            codes=rows_at(self.codes, members),
            label=self.label[members],
            sensitive=self.sensitive_of(members),
        )

    @staticmethod
    def of(
        numeric: Any, codes: Any = None, scale: Any = None, cap: Any = None, limit: Any = None,
        first: Any = None, label: Any = None, protected: Any = None, *, sensitive: Any = None,
    ) -> LossPoints:
        """Points from anything array-like. Without more: flat taxonomies, caps of 1. Sensitive:
        shape (n, s), or (n,) for one column."""
        if sensitive is not None and np.ndim(sensitive) == 1:
            sensitive = np.asarray(sensitive)[:, None]
        plain = Points.of(numeric, codes, scale, sensitive=sensitive)
        n, d, c = len(plain), plain.numeric.shape[1], plain.codes.shape[1]

        def array(value: Any, otherwise: Any, kind: Any) -> Any:
            return np.ascontiguousarray(otherwise if value is None else value, dtype=kind)

        return LossPoints(
            plain.numeric,
            plain.codes,
            plain.scale,
            array(cap, np.ones(d), np.float64),
            array(limit, np.ones(c), np.int32),
            array(first, np.arange(c), np.int32),
            array(label, np.zeros(n), np.int32),
            array(protected, np.ones(1), np.bool_),
            sensitive=plain.sensitive,
        )


Form = Literal["root", "plain", "arc"]
EARTH = 6371.0088
"""The mean radius of the earth, in kilometres."""


@dataclass(frozen=True)
class MetricPoints(Points):
    """n records in a metric space (aggarwal2006, section 1).

    The key of two records is the sum over the columns, in their order, numeric ones first: of
    squared differences, and of 2 * scale where codes differ. Their distance grows with the key, so
    that searches and comparisons go by keys; ``form`` says how:

    - 'root': the square root of the key. Euclidean distance.
    - 'plain': the key itself, where there are codes only. Hamming distance, and sums of heights of
      lowest common ancestors (a column of codes per level).
    - 'arc': kilometres along a great circle, where the numeric columns are places on the unit
      sphere. A missing place lies beside the sphere, half way around the earth from everything.

    Attributes:
        numeric, codes, scale: as in Points.
        form: how a distance follows from a key.
        facility: float64, shape (n,); what it costs to open a cluster centered at each record.
    """

    form: Form
    facility: Floats

    def part(self, members: Any) -> MetricPoints:
        """Some of the records, in the order given: int64 indices, shape (m,)."""
        return replace(
            self,
            numeric=rows_at(self.numeric, members),
            codes=rows_at(self.codes, members),
            facility=self.facility[members],
            sensitive=self.sensitive_of(members),
        )

    def distances(self, keys: Any) -> Floats:
        """The distances of these keys, any shape."""
        lengths: Floats = np.asarray(keys, dtype=np.float64)
        if self.form != "plain":
            lengths = np.sqrt(lengths)
        if self.form == "arc":
            lengths = 2.0 * EARTH * np.arcsin(np.minimum(lengths / 2.0, 1.0))
        return lengths

    @staticmethod
    def of(
        numeric: Any, codes: Any = None, scale: Any = None, form: Form = "root",
        facility: Any = None, *, sensitive: Any = None,
    ) -> MetricPoints:
        """Points from anything array-like."""
        plain = Points.of(numeric, codes, scale, sensitive=sensitive)
        costs = np.zeros(len(plain)) if facility is None else facility
        return MetricPoints(
            plain.numeric, plain.codes, plain.scale, form,
            np.ascontiguousarray(costs, dtype=np.float64), sensitive=plain.sensitive,
        )


@dataclass(frozen=True)
class ItemPoints(Points):
    """n records of one attribute, whose values are generalized as they are (du2009).

    What counts is which value (item) each record has, and how many records have it (its size).
    Items stand in the order of their content, so that a lower index is a lower value.

    Attributes:
        numeric, codes, scale: empty, shapes (n, 0), (n, 0) and (0,).
        item: int64, shape (n,); the item of each record.
        size: int64, shape (m,); the records of each item; 0 for a node of the graph that no record
            has.
        place: float64, shape (m, d); where each item lies, NaN where that is not known. d is 0 for
            labels.
        links: int64, shape (e, 2); pairs of items that are neighbours in the graph, each pair
            once, lower index first, ascending.
        aspect: how much a unit of the first coordinate counts relative to one of the second.
        extent: float64, shape (d, 2), the box that all places lie in; or (0, 2) for the smallest.
    """

    item: Labels
    size: Labels
    place: Floats
    links: Labels
    aspect: float = 1.0
    extent: Floats = field(default_factory=lambda: np.zeros((0, 2)))

    def part(self, members: Any) -> ItemPoints:
        """Some of the records, in the order given: int64 indices, shape (m,)."""
        item = self.item[members]
        return replace(
            self,
            numeric=rows_at(self.numeric, members),
            codes=rows_at(self.codes, members),
            item=item,
            size=np.bincount(item, minlength=len(self.size)).astype(np.int64),
            sensitive=self.sensitive_of(members),
        )

    def grouping(self, groups: Any, facts: dict[str, float]) -> Grouping:
        """The grouping in which each item's records are in the group of the item.

        Args:
            groups: int64, shape (m,); the group of each item, -1 for one that is left out. Groups
                without records are passed over in numbering.
            facts: what the method decided on its own.
        """
        labels = np.asarray(groups, dtype=np.int64)
        used = np.unique(labels[(labels >= 0) & (self.size > 0)])
        numbers = np.where(labels >= 0, np.searchsorted(used, labels), -1)
        return Grouping(numbers[self.item], facts)

    @staticmethod
    def of(
        size: Any, place: Any = None, links: Any = (), item: Any = None, *,
        sensitive: Any = None,
    ) -> ItemPoints:
        """Points from anything array-like; without ``item`` records in the order of their items."""
        sizes = np.ascontiguousarray(size, dtype=np.int64)
        m = len(sizes)
        if item is None:
            item = np.repeat(np.arange(m), sizes)
        items = np.ascontiguousarray(item, dtype=np.int64)
        none = np.zeros((len(items), 0))
        empty = Points.of(none, none, np.zeros(0), sensitive=sensitive)
        places = np.zeros((m, 0)) if place is None else place
        return ItemPoints(
            empty.numeric, empty.codes, empty.scale, items, sizes,
            np.ascontiguousarray(places, dtype=np.float64).reshape(m, -1 if m else 0),
            np.ascontiguousarray(links, dtype=np.int64).reshape(-1, 2),
            sensitive=empty.sensitive,
        )


@dataclass(frozen=True)
class Grouping:
    """The result of a method.

    Attributes:
        labels: int64, shape (n,); the group of each record, groups numbered as they were made; -1
            for a record that is left out.
        facts: what the method decided on its own, to be reported, by names of Fact (v_mdav: the
            gamma used; methods with a guarantee: lower_bound and guaranteed_ratio).
        centers: int64, shape (groups,); the record that the method chose as the center of each
            group, where it has such.
        cells: float64, shape (groups, d, 2); the lower and upper bound of each group in each
            dimension, where the method divides space.
    """

    labels: Labels
    facts: dict[str, float]
    centers: Labels | None = None
    cells: Floats | None = None
