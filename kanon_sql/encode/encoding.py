"""The encoding: from cells to points. With attributes.py the only place that knows about NULLs,
scaling, codes and hierarchies.

Rows come out in canonical order: by their encoded quasi-identifiers, then by a seeded hash, so
that nothing downstream can depend on the order in which they came in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import Attribute, Categorical, Numeric, Taxonomy
from kanon_sql.encode.cells import Cells, Mask, check_types
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.order import Indices
from kanon_sql.encode.scales import scaled
from kanon_sql.encode.sensitive import fit_sensitive, sensitive_codes
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.methods import GroupTask
from kanon_sql.names import caseless
from kanon_sql.points.points import NO_SENSITIVE, Codes, rows_at
from kanon_sql.points.sensitive import SensitiveColumn


def _check_names(
    columns: Sequence[Column], weights: Mapping[str, float], trees: Collection[str]
) -> None:
    names = [column.name for column in columns]
    known = {caseless(name) for name in names}
    for option, named in (("column_weights", weights), ("hierarchies", trees)):
        for name in named:
            if caseless(name) not in known:
                raise OptionError(
                    f"{option} names the column {name!r}, which is not a quasi-identifier. "
                    f"{did_you_mean(name, names)}"
                )


@dataclass(frozen=True)
class Words:
    """The values of a column that no distance looks at, and their codes.

    Attributes:
        known: the values, sorted, then NULL.
    """

    known: tuple[str | None, ...] = (None,)

    @staticmethod
    def fit(values: pa.Array | None) -> Words:
        """Learns the values; None stands for a column that nobody asks for."""
        if values is None:
            return Words()
        return Words((*sorted(values.drop_null().unique().to_pylist()), None))

    def codes(self, values: pa.Array | None, count: int) -> Codes:
        """The codes of values: int32, shape (count,); zeros where nobody asks for them."""
        if values is None:
            return np.zeros(count, np.int32)
        indices = pc.index_in(values, pa.array(self.known[:-1], pa.string()))
        indices = indices.fill_null(len(self.known) - 1)
        return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int32)


@dataclass(frozen=True)
class Encoding:
    """What was learned of a relation: how its rows become points.

    Attributes:
        columns: the quasi-identifiers.
        attributes: how each lies in the geometries.
        nulls: what becomes of a NULL, as the option says.
        label: the class labels.
        sensitive: the sensitive columns that are asked for.
        protected: bool, shape (values + 1,); which values of the first of them, NULL last, are
            truly sensitive.
    """

    columns: tuple[Column, ...]
    attributes: tuple[Attribute, ...]
    nulls: str = "value"
    label: Words = field(default_factory=Words)
    sensitive: tuple[SensitiveColumn, ...] = ()
    protected: Mask = field(default_factory=lambda: np.zeros(1, np.bool_))

    def _placed(
        self, rows: Rows, cells: Cells, codes: Mapping[int, Codes], order: Indices
    ) -> Encoded:
        sensitive = NO_SENSITIVE
        if self.sensitive:
            sensitive = rows_at(sensitive_codes(rows, self.sensitive), order)
        labels = rows.fields.get("label") if len(self.label.known) > 1 else None
        return Encoded(
            self.attributes,
            tuple(
                rows_at(cells.numbers[j], order) if j in cells.numbers
                else rows_at(codes[j], order)
                for j in range(len(self.columns))
            ),
            order,
            rows_at(cells.missing, order),
            self.label.codes(labels, rows.count)[order],
            sensitive,
            self.sensitive,
            self.protected,
            rows.numbers("extra")[order] if "extra" in rows else np.zeros(0),
        )


def encode(
    rows: Rows, columns: Sequence[Column], task: GroupTask, trees: Mapping[str, Taxonomy],
    sensitive: Sequence[Column] = (),
) -> Encoded:
    """Encodes the quasi-identifiers of a relation.

    Args:
        rows: n rows; of the fields cells (struct<number: double, category: string>, one per row and
            column, row by row, or CellColumns), and where they are there hash (uint64, a seeded
            hash of all columns of each row), label, extra, and secrets (CellColumns).
        columns: the quasi-identifiers.
        task: weights, nulls, distance, sensitive_values, and what its method asks for, are read.
        trees: hierarchies by column name.
        sensitive: the columns of secrets.

    Raises:
        DataError: a type that can't be encoded, infinite values, NULLs where nulls is 'error'.
        OptionError: a weight or hierarchy for a column that is no quasi-identifier.
    """
    encoding, cells, codes, order = _learned(rows, columns, task, trees, sensitive)
    return encoding._placed(rows, cells, codes, order)


def _learned(
    rows: Rows, columns: Sequence[Column], task: GroupTask, trees: Mapping[str, Taxonomy],
    sensitive: Sequence[Column],
) -> tuple[Encoding, Cells, dict[int, Codes], Indices]:
    """The encoding, and what it was learned from: cells, codes of the categories, and the
    canonical order, in which sums of numbers run."""
    by_name = {caseless(name): tree for name, tree in trees.items()}
    check_types(columns)
    _check_names(columns, task.weights, by_name.keys() - {caseless(c.name) for c in sensitive})
    weights = {caseless(name): weight for name, weight in task.weights.items()}
    distance = task.distance or "sse"
    cells = Cells.of(rows, columns, task.nulls)
    attributes: dict[int, Attribute] = {}
    codes: dict[int, Codes] = {}
    for j, words in cells.words.items():
        name = columns[j].name
        tree = by_name.get(caseless(name))
        attributes[j], codes[j] = Categorical.fit_codes(
            name, weights.get(caseless(name), 1.0), words, tree.levels if tree else None, distance
        )
    order = cells.order(codes, rows.hashes)
    for j, values in cells.numbers.items():
        name = columns[j].name
        weight = weights.get(caseless(name), 1.0)
        attributes[j] = Numeric.fit(name, weight, values[order], distance)
    if task.scales is not None:
        attributes = {
            j: scaled(attribute, task.scales[caseless(attribute.name)])
            for j, attribute in attributes.items()
        }
    label = rows.fields.get("label") if task.class_label is not None else None
    known = fit_sensitive(rows, sensitive, by_name)
    protected = np.array([word in task.sensitive_values for word in (*known[0].words, None)]
                         if known else [False])
    if known and task.own.needs_protected and not protected.any():
        raise DataError(
            f"None of the {len(task.sensitive_values)} sensitive_values is a value of the "
            "sensitive column. Check how they are written."
        )
    encoding = Encoding(
        tuple(columns), tuple(attributes[j] for j in range(len(columns))), task.nulls,
        Words.fit(label), known, protected,
    )
    return encoding, cells, codes, order
