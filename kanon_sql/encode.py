"""The encoding: from cells to points. The only place that knows about NULLs, scaling and codes.

Each attribute has the same total variance, 1, unless ``weights`` says otherwise. A number is
standardized. A NULL among numbers is the column's mean plus an indicator coordinate, the two
together with variance 1. Any other type is nominal: equidistant points, NULL one more category.
Rows come out in canonical order: by their encoded quasi-identifiers, then by a seeded hash, so
that nothing downstream can depend on the order in which they came in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.grouping.points import Codes, Floats, Points

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]

ORDERED = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIME|\"?NULL\"?|"
    r"TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE"
)
NOMINAL = re.compile(r"VARCHAR|BOOLEAN|UUID|BLOB|JSON|ENUM\(.*\)", re.DOTALL)


@dataclass(frozen=True)
class Ordered:
    """How a column of numbers, dates or times lies in the embedding.

    A value x becomes (x * 2^-exponent - low - mean) * factor, a NULL 0; ``indicator`` is the
    coordinate that says NULL, 0 where the column has none.
    """

    name: str
    weight: float
    exponent: int
    low: float
    mean: float
    factor: float
    indicator: float

    @staticmethod
    def fit(name: str, weight: float, values: Floats) -> Ordered:
        """Learns the scale from values in canonical order; NaN is missing."""
        known = values[~np.isnan(values)]
        share = len(known) / len(values)
        exponent, low, mean, deviation = 0, 0.0, 0.0, 0.0
        if len(known) and known.min() < known.max():
            # a power of two brings any finite range near 1, so that no square overflows
            exponent = int(np.frexp(np.abs(known).max())[1])
            small = np.ldexp(known, -exponent)
            low = float(small.min())
            mean = float(np.sum(small - low)) / len(known)
            deviation = float(np.sqrt(np.sum((small - low - mean) ** 2) / len(known)))
        factor = np.sqrt(weight) / deviation if deviation > 0.0 else 0.0
        indicator = 0.0
        if 0.0 < share < 1.0:
            left = 1.0 - (share if factor > 0.0 or weight == 0.0 else 0.0)
            indicator = float(np.sqrt(weight * left / (share * (1.0 - share))))
        return Ordered(name, weight, exponent, low, mean, float(factor), indicator)

    def coordinates(self, values: Floats) -> Floats:
        """Coordinates of values (NaN: missing); float64, shape (n, 1 or 2)."""
        missing = np.isnan(values)
        place = (np.ldexp(values, -self.exponent) - self.low - self.mean) * self.factor
        place[missing] = 0.0
        if self.indicator == 0.0:
            return place[:, None]
        return np.column_stack([place, np.where(missing, self.indicator, 0.0)])


@dataclass(frozen=True)
class Nominal:
    """How a column of categories lies in the embedding: one-hot vectors of squared length scale."""

    name: str
    weight: float
    categories: tuple[str | None, ...]
    scale: float

    @staticmethod
    def fit(name: str, weight: float, values: pa.Array) -> Nominal:
        """Learns the categories, sorted, NULL last, and their shares."""
        counts = values.value_counts()
        words = (word for word in counts.field("values").to_pylist() if word is not None)
        shares = np.sort(counts.field("counts").to_numpy() / len(values))
        variance = 1.0 - float(np.sum(shares**2))
        scale = weight / variance if len(shares) > 1 else 0.0
        return Nominal(name, weight, (*sorted(words), None), scale)

    def codes(self, values: pa.Array) -> Codes:
        """Category codes of values; int32, shape (n,); -1 for one that is no category."""
        code = {word: c for c, word in enumerate(self.categories)}
        found = values.dictionary_encode()
        words = [*found.dictionary.to_pylist(), None]
        table = np.array([code.get(word, -1) for word in words], dtype=np.int32)
        spots = found.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
        coded: Codes = table[spots]
        return coded


@dataclass(frozen=True)
class Encoded:
    """The encoded relation, in canonical order.

    Attributes:
        points: what a method works on; attributes without variance or weight are left out.
        order: int64, shape (n,); the position in the input of each canonical record.
        attributes: how each quasi-identifier was encoded, in the relation's order.
        missing: bool, shape (n, attributes); where the value is NULL or NaN.
    """

    points: Points
    order: Indices
    attributes: tuple[Ordered | Nominal, ...]
    missing: Mask


def _check(names: Sequence[str], types: Sequence[str], options: Mapping[str, Any]) -> None:
    for name, kind in zip(names, types, strict=True):
        if not ORDERED.fullmatch(kind) and not NOMINAL.fullmatch(kind):
            raise DataError(
                f"The quasi-identifier {name!r} has the type {kind}, which has neither an order "
                "nor single values. Put its parts into columns of their own, or give it another "
                "role."
            )
    known = {name.lower() for name in names}
    for name in options["weights"]:
        if name.lower() not in known:
            raise OptionError(
                f"weights names the column {name!r}, which is no quasi-identifier. "
                f"{did_you_mean(name, names)}"
            )


def _canonical_order(columns: Sequence[pl.Series], hashes: npt.NDArray[np.uint64]) -> Indices:
    """Positions by the columns, then by the hash.

    Rows that are equal in all columns of the relation have equal hashes. Left so, equal sensitive
    values would lie side by side and end in one class; so the i-th copy of a row gets a hash of
    (hash, i).
    """
    frame = pl.DataFrame([s.alias(f"column_{i}") for i, s in enumerate(columns)])
    frame = frame.with_columns(pl.Series("hash", hashes))
    order = frame.select(pl.arg_sort_by(frame.columns)).to_series().to_numpy().astype(np.int64)
    ordered = frame[order]
    block = ordered.drop("hash").select(
        pl.struct(pl.all()).rle_id() if columns else pl.lit(0)
    ).to_series().to_numpy()
    block = np.broadcast_to(block, (len(order),))
    sorted_hashes = hashes[order]
    repeats = (sorted_hashes[1:] == sorted_hashes[:-1]) & (block[1:] == block[:-1])
    if not repeats.any():
        return order
    starts = np.flatnonzero(np.concatenate([[True], ~repeats]))
    copy = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    salted = _mixed(sorted_hashes + copy.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return order[np.lexsort((salted, block))]


def _mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of splitmix64: a bijection that scatters neighbouring numbers."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), dtype=np.uint64)


def _column(cells: pa.StructArray, field: str, column: int, width: int) -> pa.Array:
    return cells.field(field).take(pa.array(np.arange(column, len(cells), width)))


def number_column(cells: pa.StructArray, column: int, width: int) -> Floats:
    """The numbers of one of ``width`` columns; NaN where missing, 0.0 for -0.0."""
    values = _column(cells, "number", column, width).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) + 0.0


def category_column(cells: pa.StructArray, column: int, width: int) -> pa.Array:
    """The categories of one of ``width`` columns."""
    return _column(cells, "category", column, width)


def _refuse(name: str, values: Floats | None, missing: Mask, nulls: str) -> None:
    if values is not None and np.isinf(values).any():
        raise DataError(
            f"The quasi-identifier {name!r} has {int(np.isinf(values).sum())} infinite values. "
            "Replace them by NULL or by a finite value first."
        )
    if nulls == "error" and missing.any():
        raise DataError(
            f"The quasi-identifier {name!r} has {int(missing.sum())} rows with NULL or NaN, and "
            "nulls is 'error'. Fill them, or choose nulls 'value' or 'suppress'."
        )


def encode(
    cells: pa.StructArray,
    hashes: npt.NDArray[np.uint64],
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
) -> Encoded:
    """Encodes the quasi-identifiers of a relation.

    Args:
        cells: struct<number: double, category: string>, one per row and column, row by row.
        hashes: uint64, shape (n,); a seeded hash of all columns of each row.
        columns: name and SQL type of each quasi-identifier.
        options: weights and nulls are read.

    Raises:
        DataError: a type that can't be encoded, infinite values, NULLs where nulls is 'error'.
        OptionError: a weight for a column that is no quasi-identifier.
    """
    names, types = [name for name, _ in columns], [kind for _, kind in columns]
    _check(names, types, options)
    weights = {name.lower(): weight for name, weight in options["weights"].items()}
    width = len(columns)
    numbers: dict[int, Floats] = {}
    codes: dict[int, Codes] = {}
    nominal: dict[int, Nominal] = {}
    missing = np.zeros((len(hashes), width), np.bool_)
    for j, (name, kind) in enumerate(zip(names, types, strict=True)):
        if ORDERED.fullmatch(kind):
            numbers[j] = number_column(cells, j, width)
            missing[:, j] = np.isnan(numbers[j])
        else:
            words = category_column(cells, j, width)
            missing[:, j] = words.is_null().to_numpy(zero_copy_only=False)
            nominal[j] = Nominal.fit(name, weights.get(name.lower(), 1.0), words)
            codes[j] = nominal[j].codes(words)
        _refuse(name, numbers.get(j), missing[:, j], options["nulls"])
    columns_in_order = [pl.Series(numbers[j] if j in numbers else codes[j]) for j in range(width)]
    order = _canonical_order(columns_in_order, hashes)
    attributes: list[Ordered | Nominal] = []
    coordinates: list[Floats] = []
    for j, name in enumerate(names):
        if j in nominal:
            attributes.append(nominal[j])
        else:
            values = numbers[j][order]
            ordered = Ordered.fit(name, weights.get(name.lower(), 1.0), values)
            attributes.append(ordered)
            if ordered.factor > 0.0 or ordered.indicator > 0.0:
                coordinates.append(ordered.coordinates(values))
    coded = [j for j, attribute in nominal.items() if attribute.scale > 0.0]
    points = Points.of(
        np.column_stack(coordinates) if coordinates else np.zeros((len(order), 0)),
        np.column_stack([codes[j][order] for j in coded]) if coded else np.zeros((len(order), 0)),
        np.array([nominal[j].scale for j in coded]),
    )
    return Encoded(points, order, tuple(attributes), missing[order])
