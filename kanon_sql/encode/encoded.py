"""The encoding: from cells to points. With attributes.py the only place that knows about NULLs,
scaling, codes and hierarchies.

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
import pyarrow.compute as pc

from kanon_sql.encode.attributes import Attribute, Nominal, Ordered
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.points.content_order import mixed
from kanon_sql.points.points import Codes, Floats, LossPoints, Points

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]

ORDERED = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIME|\"?NULL\"?|"
    r"TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE"
)
NOMINAL = re.compile(r"VARCHAR|BOOLEAN|UUID|BLOB|JSON|ENUM\(.*\)", re.DOTALL)


@dataclass(frozen=True)
class Encoded:
    """The encoded relation, in canonical order.

    Attributes:
        attributes: how each quasi-identifier lies in the geometries, in the relation's order.
        columns: its values: float64 shape (n,) with NaN for a missing number, or codes, int32
            shape (n, height).
        order: int64, shape (n,); the position in the input of each canonical record.
        missing: bool, shape (n, attributes); where the value is NULL or NaN.
        label, secret: int32, shape (n,); codes of the class label and of the sensitive value.
        grave: bool, shape (secrets,); whether each sensitive value is truly sensitive.
    """

    attributes: tuple[Attribute, ...]
    columns: tuple[Floats | Codes, ...]
    order: Indices
    missing: Mask
    label: Codes
    secret: Codes
    grave: Mask

    def squared(self) -> Points:
        """Points for squared distances; attributes without variance or weight are left out."""
        places = [
            attribute.coordinates(column.astype(np.float64))
            for attribute, column in zip(self.attributes, self.columns, strict=True)
            if isinstance(attribute, Ordered)
            and (attribute.factor > 0.0 or attribute.indicator > 0.0)
        ]
        used = [
            (attribute, column)
            for attribute, column in zip(self.attributes, self.columns, strict=True)
            if isinstance(attribute, Nominal) and attribute.squared.any()
        ]
        nothing = np.zeros((len(self.order), 0))
        return Points.of(
            np.column_stack(places) if places else nothing,
            np.column_stack([column for _, column in used]) if used else nothing,
            np.concatenate([[], *(attribute.squared for attribute, _ in used)]),
        )

    def losses(self, loss: str = "range_flat", weighted: bool = True) -> LossPoints:
        """Points for information loss; every attribute is there.

        Args:
            loss: what categories lose. 'range_flat': the height of the lowest common ancestor
                over that of the hierarchy, 1 without one. 'range_distinct': (values - 1) / (values
                of the column - 1), of the class, or below the ancestor (each level counts what its
                nodes have on average).
            weighted: whether attributes have their weights; else all have 1.
        """
        places, caps = [], []
        codes: list[Codes] = []
        scale: list[float] = []
        limit: list[int] = []
        first: list[int] = []
        for attribute, column in zip(self.attributes, self.columns, strict=True):
            weight = attribute.weight if weighted else 1.0
            if isinstance(attribute, Ordered):
                places.append(attribute.place(column.astype(np.float64), weight))
                caps.append(weight)
                continue
            height = attribute.nodes.shape[1]
            codes.append(column.astype(np.int32))
            counted = loss == "range_distinct"
            most = attribute.present - 1 if counted and not attribute.in_tree else 1
            shares = attribute.shares(codes[-1]) if counted else np.full(height, 1.0 / height)
            first += [len(scale)] * height
            scale += (weight / max(most, 1) * shares).tolist()
            limit += [max(most, 1)] * height
        nothing = np.zeros((len(self.order), 0))
        return LossPoints.of(
            np.column_stack(places) if places else nothing,
            np.column_stack(codes) if codes else nothing,
            scale, caps, limit, first, self.label, self.secret, self.grave,
        )

    def points(self, distance: str, loss_points: bool, loss: str) -> Points:
        """What a method works on."""
        return self.losses(loss) if distance == "loss" and loss_points else self.squared()


def check_types(columns: Sequence[tuple[str, str]]) -> None:
    """Raises DataError for a quasi-identifier (name, SQL type) that can't be encoded."""
    for name, kind in columns:
        if not ORDERED.fullmatch(kind) and not NOMINAL.fullmatch(kind):
            raise DataError(
                f"The quasi-identifier {name!r} has the type {kind}, which has neither an order "
                "nor single values. Put its parts into columns of their own, or give it another "
                "role."
            )


def _check(
    names: Sequence[str], options: Mapping[str, Any], trees: Mapping[str, Any]
) -> None:
    known = {name.lower() for name in names}
    for option, named in (("weights", options["weights"]), ("hierarchies", trees)):
        for name in named:
            if name.lower() not in known:
                raise OptionError(
                    f"{option} names the column {name!r}, which is no quasi-identifier. "
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
    salted = mixed(sorted_hashes + copy.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return order[np.lexsort((salted, block))]


def _column(cells: pa.StructArray, field: str, column: int, width: int) -> pa.Array:
    return cells.field(field).take(pa.array(np.arange(column, len(cells), width)))


def number_column(cells: pa.StructArray, column: int, width: int) -> Floats:
    """The numbers of one of ``width`` columns; NaN where missing, 0.0 for -0.0."""
    values = _column(cells, "number", column, width).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) + 0.0


def category_column(cells: pa.StructArray, column: int, width: int) -> pa.Array:
    """The categories of one of ``width`` columns."""
    return _column(cells, "category", column, width)


def refuse(name: str, values: Floats | None, missing: Mask, nulls: str) -> None:
    """Raises DataError, with their number, for infinite values, and NULLs where nulls is
    'error'."""
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


def _coded(values: pa.Array | None, count: int) -> tuple[Codes, list[str | None]]:
    """Codes of the values, sorted, NULL last; zeros where there are none."""
    if values is None:
        return np.zeros(count, np.int32), [None]
    words = [*sorted(values.drop_null().unique().to_pylist()), None]
    found = pc.index_in(values, pa.array(words[:-1], pa.string())).fill_null(len(words) - 1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int32), words


def encode(
    cells: pa.StructArray,
    hashes: npt.NDArray[np.uint64],
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    trees: Mapping[str, Sequence[pa.Array]] | None = None,
    label: pa.Array | None = None,
    secret: pa.Array | None = None,
) -> Encoded:
    """Encodes the quasi-identifiers of a relation.

    Args:
        cells: struct<number: double, category: string>, one per row and column, row by row.
        hashes: uint64, shape (n,); a seeded hash of all columns of each row.
        columns: name and SQL type of each quasi-identifier.
        options: weights, nulls, distance and sensitive_values are read.
        trees: hierarchies by column name: the labels of their leaves, level by level.
        label, secret: the class label and the sensitive value of each row as text, or None.

    Raises:
        DataError: a type that can't be encoded, infinite values, NULLs where nulls is 'error'.
        OptionError: a weight or hierarchy for a column that is no quasi-identifier.
    """
    names, types = [name for name, _ in columns], [kind for _, kind in columns]
    given = {name.lower(): levels for name, levels in (trees or {}).items()}
    check_types(columns)
    _check(names, options, given)
    weights = {name.lower(): weight for name, weight in options["weights"].items()}
    distance, width = options.get("distance", "sse"), len(columns)
    numbers: dict[int, Floats] = {}
    codes: dict[int, Codes] = {}
    attributes: dict[int, Attribute] = {}
    missing = np.zeros((len(hashes), width), np.bool_)
    for j, (name, kind) in enumerate(zip(names, types, strict=True)):
        if ORDERED.fullmatch(kind):
            numbers[j] = number_column(cells, j, width)
            missing[:, j] = np.isnan(numbers[j])
        else:
            words = category_column(cells, j, width)
            missing[:, j] = words.is_null().to_numpy(zero_copy_only=False)
            fitted = Nominal.fit(
                name, weights.get(name.lower(), 1.0), words, given.get(name.lower()), distance
            )
            attributes[j], codes[j] = fitted, fitted.codes(words)
        refuse(name, numbers.get(j), missing[:, j], options["nulls"])
    order = _canonical_order(
        [pl.Series(numbers[j] if j in numbers else codes[j][:, 0]) for j in range(width)], hashes
    )
    for j in numbers:
        weight = weights.get(names[j].lower(), 1.0)
        attributes[j] = Ordered.fit(names[j], weight, numbers[j][order], distance)
    labels, _ = _coded(label, len(order))
    secrets, known = _coded(secret, len(order))
    grave = np.array([word in options.get("sensitive_values", ()) for word in known])
    if options.get("diversity") == "sensitive" and not grave.any():
        raise DataError(
            f"None of the {len(options['sensitive_values'])} sensitive_values is a value of the "
            "sensitive column. Check how they are written."
        )
    return Encoded(
        tuple(attributes[j] for j in range(width)),
        tuple(numbers[j][order] if j in numbers else codes[j][order] for j in range(width)),
        order,
        missing[order],
        labels[order],
        secrets[order],
        grave,
    )
