"""Where all rows are cut into blocks of rows that lie close together.

The cuts are chosen over a sample, which rows are in by a hash of their quasi-identifiers, so that
neither their order nor the number of threads nor a sensitive value has a part in it. Each is along
the column in which the rows of its part vary most, near their median: through the values of a
number, or between groups of categories. Rows that are alike in all columns are told apart by a hash
of what else isn't sensitive, and where that is alike, too, they are dealt out like cards. How many
rows a block has is counted afterwards, over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.attributes import Attribute, Categorical, Numeric
from kanon_sql.points.points import Codes, Floats
from kanon_sql.search.cut_cost import SAMPLE, cut_costs

SAMPLED = 4000
"""Rows of the sample for each block."""

BUCKETS, CROWD = 2**16, 16
"""Into so many buckets rows are counted by the hash of their quasi-identifiers; and where one has
more than it should, by as many as so many rows of a sample stand for, some are taken to be alike.
"""

MOST = 2.0
"""A leaf with this many times the rows that it should have is cut again."""

AGAIN = 3
"""How often a leaf is cut again at most: what is left then is alike in all columns."""

EVEN = 0.5
"""The smaller side of a cut has at least this share of the rows that it should have; else another
column is tried."""

BY_HASH = ""
"""Stands for the column of a cut through rows that are alike in all columns."""

TOP = 2**64


@dataclass(frozen=True)
class Axis:
    """A column as cuts go along it.

    Attributes:
        name: the column; BY_HASH for the hash.
        place: float64, shape (n,); where each row of a sample lies: its number, or the rank of its
            category; what is missing lies below all.
        nodes: int32, shape (n, height); its nodes, of a column of categories.
        squared: float64, shape (height,); what a difference of nodes counts at each level.
        factor: what a difference of 2 ** exponent counts, of a column of numbers.
        exponent: see factor.
    """

    name: str
    place: Floats
    nodes: Codes | None
    squared: Floats
    factor: float = 1.0
    exponent: int = 0

    def spread(self, rows: Any) -> float:
        """Half the mean squared distance of two of these rows."""
        if self.nodes is None:
            known = self.place[rows]
            known = known[np.isfinite(known)]
            # not squared as they are: that may be too large for a double, or too small
            known = np.ldexp(known, -self.exponent) * self.factor
            return float(np.var(known)) if len(known) else 0.0
        total = 0.0
        for level, weight in enumerate(self.squared.tolist()):
            counts = np.unique(self.nodes[rows, level], return_counts=True)[1]
            total += weight * (1.0 - float(np.sum((counts / len(rows)) ** 2)))
        return total

    def cut(self, rows: Any, share: float) -> float | None:
        """The place up to which the rows on the first side lie, as near as can be to that share of
        them; None where no cut is near enough."""
        values, counts = np.unique(self.place[rows], return_counts=True)
        if len(values) < 2:
            return None
        below = np.cumsum(counts)[:-1] / len(rows)
        best = int(np.argmin(np.abs(below - share)))
        even = min(below[best] / share, (1.0 - below[best]) / (1.0 - share)) >= EVEN
        return float(values[best]) if even else None


@dataclass(frozen=True)
class CutTree:
    """A cut and its two sides, or a leaf.

    Attributes:
        leaf: its number; -1 where there is a cut.
        column: along which the cut is.
        place: up to which the rows of the first side lie.
        sides: both.
    """

    leaf: int = -1
    column: str = BY_HASH
    place: float = 0.0
    sides: tuple[CutTree, ...] = ()

    @property
    def leaves(self) -> list[int]:
        """The numbers of its leaves, those side by side that were cut last."""
        if not self.sides:
            return [self.leaf]
        return [number for side in self.sides for number in side.leaves]

    @property
    def columns(self) -> set[str]:
        """The columns along which it is cut, BY_HASH among them."""
        if not self.sides:
            return set()
        return {self.column}.union(*(side.columns for side in self.sides))


@dataclass
class _Growing:
    """The cuts of a sample.

    Attributes:
        axes: the columns along which cuts may be.
        k: the least rows of a class.
        density: how many rows each row of the sample stands for.
        leaves: how many leaves there are.
    """

    axes: Sequence[Axis]
    k: int
    density: float
    leaves: int = 0

    def costs(self, rows: Any) -> list[float]:
        """About what share more a cut along each axis makes these rows lose."""
        if len(rows) == 0:  # nothing is known of them
            return [float("inf")] * len(self.axes)
        taken = rows[:: max(1, len(rows) // SAMPLE)]
        kinds = [axis for axis in self.axes if axis.nodes is not None]
        of_numbers, of_kinds = map(iter, cut_costs(
            len(taken), np.array([axis.spread(rows) for axis in self.axes if axis.nodes is None]),
            [axis.nodes[taken, 0] for axis in kinds if axis.nodes is not None],
            np.array([float(axis.squared.sum()) for axis in kinds]), self.k,
            self.density * len(rows) / len(taken),
        ))
        return [next(of_numbers if axis.nodes is None else of_kinds) for axis in self.axes]

    def grow(self, rows: Any, blocks: int, low: float = 0.0, high: float = float(TOP)) -> CutTree:
        """The tree of some rows, in so many blocks; ``low`` and ``high``: between which their
        hashes lie."""
        if blocks < 2:
            self.leaves += 1
            return CutTree(self.leaves - 1)
        share = (blocks // 2) / blocks
        best: tuple[tuple[float, float], Axis, float] | None = None
        for axis, cost in zip(self.axes, self.costs(rows), strict=True):
            threshold = axis.cut(rows, share) if np.isfinite(cost) else None
            if threshold is None:
                continue
            # of cuts that cost as little, that which is most even
            rank = round(cost, 3), abs(float(np.mean(axis.place[rows] <= threshold)) - share)
            if best is None or rank < best[0]:
                best = rank, axis, threshold
        if best is not None:
            _, axis, place = best
            first = axis.place[rows] <= place
            many = min(max(round(blocks * float(np.mean(first))), 1), blocks - 1)
            return CutTree(-1, axis.name, place, (
                self.grow(rows[first], many, low, high),
                self.grow(rows[~first], blocks - many, low, high),
            ))
        middle = low + (high - low) * share
        many = blocks // 2
        return CutTree(-1, BY_HASH, middle, (
            self.grow(rows, many, low, middle), self.grow(rows, blocks - many, middle, high),
        ))


def cut_sample(
    sample: pa.Table, attributes: Sequence[Attribute],
    ranks: Mapping[str, Mapping[str | None, int]], rows: int, blocks: int, k: int,
) -> CutTree:
    """The cuts of rows into blocks, chosen over a sample of them.

    Args:
        sample: the cells of each quasi-identifier in a column of its own, in their order.
        attributes: of the quasi-identifiers.
        ranks: where each category stands among all, by the names of such columns.
        rows: how many rows it is a sample of.
        blocks: how many blocks there shall be.
        k: the least rows of a class.
    """
    axes = [
        _axis(attribute, _values(sample.column(i), attribute), ranks.get(attribute.name, {}))
        for i, attribute in enumerate(attributes)
    ]
    growing = _Growing(axes, k, rows / max(sample.num_rows, 1))
    return growing.grow(np.arange(sample.num_rows), blocks)


def _values(column: pa.ChunkedArray, attribute: Attribute) -> Any:
    values = column.combine_chunks()
    if isinstance(attribute, Categorical):
        return values.cast(pa.string())
    return values.cast(pa.float64()).to_numpy(zero_copy_only=False) + np.float64(0.0)


def _axis(attribute: Attribute, values: Any, ranks: Mapping[str | None, int]) -> Axis:
    """A column of a sample.

    Args:
        attribute: how it lies in the geometries.
        values: those of the sample: numbers as float64, NaN where missing, or texts, an Arrow
            array.
        ranks: where each category stands among all.
    """
    if isinstance(attribute, Numeric):
        place = np.where(np.isnan(values), -np.inf, values)
        none = np.zeros(0)
        return Axis(attribute.name, place, None, none, attribute.factor, attribute.exponent)
    encoded = values.dictionary_encode()
    known = [ranks[word] for word in encoded.dictionary.to_pylist()]
    words = np.array([*known, ranks.get(None, -1)])
    indices = encoded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    place = words[indices].astype(np.float64)
    return Axis(attribute.name, place, attribute.codes(values), attribute.squared)


def ranks_of(
    attributes: Sequence[Attribute], counts: Mapping[str, Mapping[str | None, int]]
) -> dict[str, dict[str | None, int]]:
    """Where each category of each column stands, by its name: those below one node of a hierarchy
    side by side, else the most frequent first; NULL before all."""
    return {
        a.name: _ranks(a, counts[a.name]) for a in attributes if isinstance(a, Categorical)
    }


def _ranks(attribute: Categorical, counts: Mapping[str | None, int]) -> dict[str | None, int]:
    known = [word for word in counts if word is not None]
    if attribute.in_tree:
        spots = {word: i for i, word in enumerate(attribute.leaves.to_pylist())}
        known.sort(key=lambda word: spots[word])
    else:
        known.sort(key=lambda word: (-counts[word], word))
    return {None: -1, **{word: i for i, word in enumerate(known)}}
