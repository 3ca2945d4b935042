"""The two stages that run outside SQL: group the rows, and measure a grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kanon_sql.encode import encode
from kanon_sql.errors import DataError
from kanon_sql.grouping import METHODS
from kanon_sql.grouping.compiling import make_ready
from kanon_sql.grouping.points import Floats, Labels
from kanon_sql.grouping.run import group_points
from kanon_sql.grouping.watch import Watch
from kanon_sql.measure import measure
from kanon_sql.recall import digest, recall

FLAT = (pa.Int64Array, pa.UInt64Array)
"""What a field is that holds one value per row; all others are lists of some kind."""


GROUPED_BY = ("k", "method", "block_rows", "refine", "refine_steps", "refine_seconds")
"""The options that decide the labels, beside those of the method."""


@dataclass(frozen=True)
class Rows:
    """Rows as DuckDB hands them over: one list of structs, flattened.

    Attributes:
        fields: the struct's fields by name; lists are flattened to their values.
        count: number of rows.
    """

    fields: Mapping[str, Any]
    count: int

    @staticmethod
    def of(argument: Any) -> Rows:
        """From the first value of an argument of type STRUCT(...)[]; NULL is no rows."""
        array = argument.combine_chunks() if isinstance(argument, pa.ChunkedArray) else argument
        structs = array.flatten()
        fields = {}
        for field in structs.type:
            values = structs.field(field.name)
            fields[field.name] = values if isinstance(values, FLAT) else values.flatten()
        return Rows(fields, len(structs))

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """A field as a numpy array."""
        return np.asarray(self.fields[name].to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class Labelled:
    """Row numbers and their labels, int64, shape (n,) each."""

    rows: Labels
    labels: Labels


def group_rows(
    rows: Rows,
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    watch: Watch | None = None,
) -> tuple[Labelled, dict[str, Any]]:
    """Groups the rows by the method of the options; labels and the facts of the run.

    Raises:
        StoppedError: the watch was asked to stop.
        DataError: no rows, fewer than k, or values that can't be encoded.
    """
    if rows.count == 0:
        raise DataError(
            "There are no rows to anonymize: the relation is empty, or nulls 'suppress' left out "
            "every row. Check the relation."
        )
    if rows.count < options["k"]:
        raise DataError(
            f"There are {rows.count} rows to anonymize, fewer than k = {options['k']}. Lower k, "
            "or release nothing."
        )
    started = perf_counter()
    encoded = encode(rows.fields["cells"], rows.numbers("hash"), columns, options)
    encoded_at = perf_counter()
    method = METHODS[options["method"]]
    make_ready(options, len(encoded.points))
    ready_at = perf_counter()
    chosen = {name: options[name] for name in (*GROUPED_BY, *method.options)}
    grouping, remembered = recall(
        digest(encoded.points, chosen),
        lambda: group_points(encoded.points, options, watch),
    )
    finished = perf_counter()
    facts = {
        **grouping.facts,
        "labels": "remembered" if remembered else "computed",
        "seconds_encode": encoded_at - started,
        "seconds_group": 0.0 if remembered else finished - ready_at,
    }
    return Labelled(rows.numbers("row")[encoded.order], grouping.labels), facts


def measure_rows(
    rows: Rows, columns: Sequence[tuple[str, str]], options: Mapping[str, Any]
) -> tuple[dict[str, float], Labels, Floats]:
    """The losses of labelled rows, the classes, and the radius of each."""
    encoded = encode(rows.fields["cells"], rows.numbers("hash"), columns, options)
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    facts, radii = measure(
        encoded, labels[encoded.order], rows.fields["cells"], rows.fields["center"]
    )
    return facts, classes, radii
