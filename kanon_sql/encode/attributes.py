"""How one quasi-identifier lies in the two geometries in which rows are grouped.

- **sse**: every attribute has the same total variance, 1 (times its weight). A number is
  standardized, a NULL among numbers is the mean plus an indicator coordinate. A category is a
  one-hot vector, scaled.
- **loss** (byun2006, definitions 4 to 8): every attribute spans 1 (times its weight). A number
  counts by its range, a category by the height of the lowest common ancestor over the height of
  its hierarchy; NULL is a leaf directly below the root.

A hierarchy of height N is written as N columns of codes, the record's node at each level below the
root. Two leaves whose lowest common ancestor has height h differ in the first h of them, so any
distance that grows with h is a sum of flat distances over these columns, and no kernel needs to
know what a tree is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.points.ordered_sum import ordered_sum
from kanon_sql.points.points import MISSING, Codes, Floats, Labels, rows_at


class Taxonomy(Protocol):
    """A hierarchy, as far as the encoding looks at it: see kanon_sql.hierarchies.tree.Tree."""

    @property
    def levels(self) -> tuple[pa.Array, ...]:
        """Labels of all leaves, level by level, root last; leaves below a node are neighbours."""


NUMERIC = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIME|\"?NULL\"?|"
    r"TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE"
)
"""SQL types whose values lie on an axis."""

CATEGORICAL = re.compile(r"VARCHAR|BOOLEAN|UUID|BLOB|JSON|ENUM\(.*\)", re.DOTALL)


def is_numeric(sql_type: str) -> bool:
    """Whether values of this SQL type lie on an axis: numbers, dates and times."""
    return bool(NUMERIC.fullmatch(sql_type))


def has_order(sql_type: str) -> bool:
    """Whether sensitive values of this SQL type have an order: as SQL has it, BIGNUM, too."""
    return is_numeric(sql_type) or sql_type == "BIGNUM"


def is_categorical(sql_type: str) -> bool:
    """Whether values of this SQL type are categories."""
    return bool(CATEGORICAL.fullmatch(sql_type))


@dataclass(frozen=True)
class NumberTotals:
    """What the scale of a column of numbers follows from.

    Attributes:
        share: of the rows that have a value.
        exponent: the power of two by which values are divided.
        low, mean, span, deviation: the least of them then, and of how much they lie above it the
            mean, the range and the standard deviation.
    """

    share: float
    exponent: int = 0
    low: float = 0.0
    mean: float = 0.0
    span: float = 0.0
    deviation: float = 0.0


@dataclass(frozen=True)
class Numeric:
    """A column of numbers, dates or times.

    A value x becomes (x * 2^-exponent - low - mean) * factor, a NULL 0; ``indicator`` is the
    coordinate that says NULL, 0 where the column has none. ``span`` is the range of the values, in
    units of 2^exponent.
    """

    name: str
    weight: float
    exponent: int
    low: float
    mean: float
    span: float
    factor: float
    indicator: float
    missing: bool

    @staticmethod
    def fit(name: str, weight: float, values: Floats, distance: str = "sse") -> Numeric:
        """Learns the scale from values in canonical order; NaN is missing."""
        known = values[~np.isnan(values)]
        share = len(known) / len(values)
        exponent, low, mean, deviation, span = 0, 0.0, 0.0, 0.0, 0.0
        if len(known) and known.min() < known.max():
            # a power of two brings any finite range near 1, so that no square overflows
            exponent = int(np.frexp(np.abs(known).max())[1])
            small = np.ldexp(known, -exponent)
            low = float(small.min())
            span = float(small.max()) - low
            mean = ordered_sum(small - low) / len(known)
            deviation = math.sqrt(ordered_sum((small - low - mean) ** 2) / len(known))
        return Numeric.of_totals(
            name, weight, NumberTotals(share, exponent, low, mean, span, deviation), distance
        )

    @staticmethod
    def of_totals(
        name: str, weight: float, totals: NumberTotals, distance: str = "sse"
    ) -> Numeric:
        """The scale of values of which only the totals are known."""
        share, exponent, low, mean, span, deviation = astuple(totals)
        unit = deviation if distance == "sse" else span
        factor = np.sqrt(weight) / unit if unit > 0.0 else 0.0
        indicator = 0.0
        if 0.0 < share < 1.0 and distance == "sse":
            left = 1.0 - (share if factor > 0.0 or weight == 0.0 else 0.0)
            indicator = float(np.sqrt(weight * left / (share * (1.0 - share))))
        elif 0.0 < share < 1.0:
            indicator = float(np.sqrt(weight))
        return Numeric(
            name, weight, exponent, low, mean, span, float(factor), indicator, share < 1.0
        )

    def coordinates(self, values: Floats) -> Floats:
        """Coordinates of values for squared distances (NaN: missing); float64, (n, 1 or 2)."""
        missing = np.isnan(values)
        place = (np.ldexp(values, -self.exponent) - self.low - self.mean) * self.factor
        place[missing] = 0.0
        if self.indicator == 0.0:
            return place[:, None]
        return np.column_stack([place, np.where(missing, self.indicator, 0.0)])

    def place(self, values: Floats, weight: float | None = None) -> Floats:
        """Places of values in 0 .. weight, missing ones above; float64, shape (n,)."""
        weight = self.weight if weight is None else weight
        place = np.zeros(len(values))
        if self.span > 0.0:
            place = (np.ldexp(values, -self.exponent) - self.low) / self.span * weight
        place[np.isnan(values)] = MISSING * weight
        return place


def squared_lengths(weight: float, shares: Sequence[Floats], distance: str) -> Floats:
    """The squared lengths of one-hot vectors, by level: float64, shape (height,).

    Args:
        weight: of the column.
        shares: those of the nodes at each level, smallest first.
        distance: 'sse' or 'loss'.
    """
    height = len(shares)
    steps = np.diff((np.arange(height + 1) / height) ** 2) / 2.0
    if distance == "loss":
        return np.asarray(weight * steps)
    variance = sum(
        step * (1.0 - ordered_sum(part**2))
        for step, part in zip(steps.tolist(), shares, strict=True)
    )
    return np.asarray(weight * steps / variance if len(shares[0]) > 1 else 0.0 * steps)


def _shares(codes: Codes) -> Floats:
    """Shares of the codes, smallest first."""
    counts = np.bincount(codes)
    return np.sort(counts[counts > 0] / len(codes))


@dataclass(frozen=True)
class Categorical:
    """A column of categories, with a hierarchy or without (height 1).

    Attributes:
        name: the column.
        weight: what the column counts.
        leaves: the categories, without NULL.
        nodes: int32, shape (leaves + 2, height); the node of each leaf at each level below the
            root; after them those of NULL, and -1 for what is no category.
        squared: float64, shape (height,); the squared length of a one-hot vector per level, so
            that two leaves whose ancestors differ up to level h are 2 * sum(squared[:h]) apart.
        present: how many categories the data has, NULL included.
        in_tree: whether it has a hierarchy.
        distinct: float64, shape (height,); for each level, by how many leaves the ancestors above
            it have more than those at it, on average over the rows, as a share of all leaves but
            one. Sum 1.
    """

    name: str
    weight: float
    leaves: pa.Array
    nodes: Codes
    squared: Floats
    present: int
    in_tree: bool
    distinct: Floats

    @staticmethod
    def fit(
        name: str, weight: float, values: pa.Array, levels: Sequence[pa.Array] | None = None,
        distance: str = "sse",
    ) -> Categorical:
        """Learns the categories, as ``fit_codes`` does."""
        return Categorical.fit_codes(name, weight, values, levels, distance)[0]

    @staticmethod
    def fit_codes(
        name: str, weight: float, values: pa.Array, levels: Sequence[pa.Array] | None = None,
        distance: str = "sse",
    ) -> tuple[Categorical, Codes]:
        """Learns the categories, sorted, or in the depth-first order of the hierarchy; these, and
        the nodes of the values, as ``codes`` gives them.

        Args:
            name: the column.
            weight: its weight.
            values: its values as text, any order.
            levels: labels of all leaves, level by level, root last; leaves below a node are
                neighbours. None: a flat taxonomy.
            distance: 'sse' or 'loss'.
        """
        encoded = values.dictionary_encode()
        if levels is None:
            leaves = encoded.dictionary
            ranked = pc.sort_indices(leaves)
            leaves = leaves.take(ranked)
            own = np.arange(len(leaves), dtype=np.int32)[:, None]
        else:
            leaves = levels[0]
            own = np.column_stack([_runs(level) for level in levels[:-1]])
        null = own[-1:] + 1 if len(own) else np.zeros((1, own.shape[1]), np.int32)
        nodes = np.vstack([own, null, np.full((1, own.shape[1]), -1)]).astype(np.int32)
        in_tree = levels is not None
        height = nodes.shape[1]
        nothing = np.zeros(height)
        plain = Categorical(name, weight, leaves, nodes, nothing, 0, in_tree, nothing)
        words = None
        if levels is None:  # where each value stands among the sorted ones is known
            words = np.empty(len(leaves), np.int64)
            words[ranked.to_numpy()] = np.arange(len(leaves))
        codes = plain._nodes_of(encoded, words)
        shares = [_shares(codes[:, level]) for level in range(height)]
        fitted = replace(
            plain, squared=squared_lengths(weight, shares, distance), present=len(shares[0]),
            distinct=plain._distinct(codes),
        )
        return fitted, codes

    def counted(self, values: pa.Array, counts: Labels, distance: str = "sse") -> Categorical:
        """The same categories, scaled to rows of which only how many have each value is known.

        Args:
            values: different values, NULL among them where rows have none.
            counts: int64, shape (values,); how many rows have each.
            distance: 'sse' or 'loss'.
        """
        codes, total = self.codes(values), float(counts.sum())
        height = codes.shape[1]
        by_level = [np.bincount(codes[:, level], weights=counts) for level in range(height)]
        shares = [np.sort(at_level[at_level > 0] / total) for at_level in by_level]
        return replace(
            self, squared=squared_lengths(self.weight, shares, distance), present=len(shares[0]),
            distinct=self._distinct(codes, counts),
        )

    def codes(self, values: pa.Array) -> Codes:
        """Nodes of values at each level; int32, shape (n, height); -1 for what is no category."""
        return self._nodes_of(values.dictionary_encode())

    def _nodes_of(self, encoded: pa.DictionaryArray, words: Labels | None = None) -> Codes:
        """The nodes of values; ``words`` are the leaves of their dictionary, where these are
        known."""
        if words is None:
            spots = pc.index_in(encoded.dictionary, self.leaves).fill_null(len(self.leaves) + 1)
            words = spots.to_numpy(zero_copy_only=False)
        table = np.append(words, len(self.leaves))
        spots = encoded.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)
        return np.ascontiguousarray(rows_at(self.nodes[table], spots), dtype=np.int32)

    def _distinct(self, codes: Codes, many: Labels | None = None) -> Floats:
        """The attribute ``distinct`` of rows with these nodes: int32, shape (n, height); ``many``:
        how many rows each stands for."""
        total, height = len(self.leaves), self.nodes.shape[1]
        if total < 2 or height == 1:
            return np.full(height, 1.0 / height)
        below = [np.bincount(self.nodes[:-1, level]) for level in range(height)]
        counts = [below[level][codes[:, level]] for level in range(height)]
        means = np.array(
            [1.0, *(float(np.average(c, weights=many)) for c in counts[1:]), float(total)]
        )
        return np.diff(np.maximum.accumulate(means)) / (total - 1.0)


def _runs(labels: pa.Array) -> Codes:
    """Numbers the runs of equal labels."""
    codes = labels.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    fresh = np.append(False, codes[1:] != codes[:-1]) if len(codes) else np.zeros(0, np.bool_)
    return np.cumsum(fresh).astype(np.int32)


Attribute = Numeric | Categorical
