"""The two stages that run outside SQL: group the rows, and measure a grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import Labelled, Rows, Table
from kanon_sql.encode.attributes import Nominal
from kanon_sql.encode.encoded import ORDERED, Encoded, encode
from kanon_sql.encode.metric_space import (
    cell_points,
    center_distances,
    facility_costs,
    metric_points,
)
from kanon_sql.encode.single_attribute import Items, read_items
from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.group.warm_up import make_ready
from kanon_sql.hierarchies.kinds import ROOT
from kanon_sql.kernel.watch import Watch
from kanon_sql.measure.facts import measure
from kanon_sql.methods import METHODS
from kanon_sql.points.points import Floats, Grouping, Labels, Points
from kanon_sql.stages.remembered import digest, recall

BY_TYPE = ""
DATES = ("DATE", "TIMESTAMP")

GROUPED_BY = (
    "k", "method", "block_rows", "refine", "refine_steps", "refine_seconds", "suppress",
)
"""The options that decide the labels, beside those of the method."""


def read_hierarchy(
    values: Any, kind: str | None, names: Any, rows: Any, spec: Mapping[str, Any]
) -> pa.Array:
    """The paths of a hierarchy's leaves, root last: list<string>, one per leaf.

    Args:
        values: list of the distinct values of the column, as text, with how many rows have each,
            one entry.
        kind: the SQL type of the column.
        names, rows: column names and rows of the relation that holds the levels, or that the kind
            is made from, one entry each.
        spec: column, show_values, and relation or the kind and its options.

    Raises:
        DataError: the hierarchy is none, or values are missing from it.
    """
    from kanon_sql.hierarchies.tree import built_in, check_values, read_tree

    known = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    structs, column = known.flatten(), spec["column"]
    known, counts = structs.field("value").cast(pa.string()), structs.field("count")
    counts, known = counts.filter(known.is_valid()), known.drop_null()
    ordered = bool(ORDERED.fullmatch(kind or "NULL"))
    table = Table.of(names[0].as_py(), rows[0])
    if "relation" in spec:
        if not table.names:
            raise DataError(f"The hierarchy of {column!r}, {spec['relation']}, has no rows.")
        tree = read_tree(
            column,
            table.names,
            table.columns,
            spec["show_values"],
            numbers=ordered,
        )
    else:
        chosen = {n: v for n, v in spec.items() if n not in ("column", "kind", "show_values")}
        name = spec["kind"]
        if name == BY_TYPE:
            dated = (kind or "").startswith(DATES)
            name = "date" if dated else "bins" if ordered and kind != "TIME" else "flat"
        tree = built_in(column, name, chosen, known, ordered, counts, table)
    check_values(column, tree, known, spec["show_values"])
    count, height = len(tree.levels[0]), len(tree.levels)
    if count == 0:  # nothing but NULL: a tree of its root alone
        return pa.array([[None, ROOT]], pa.list_(pa.string()))
    labels = pa.concat_arrays(list(tree.levels)).take(
        pa.array(np.arange(count * height).reshape(height, count).T.ravel())
    )
    bounds = pa.array(np.arange(0, count * height + 1, height), pa.int32())
    return pa.ListArray.from_arrays(bounds, labels)


def group_rows(
    rows: Rows,
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    watch: Watch | None = None,
    trees: Mapping[str, Sequence[pa.Array]] | None = None,
    tables: Mapping[str, Table] | None = None,
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
    method = METHODS[options["method"]]
    items, encoded, told = None, None, {n: v for n, v in options.items() if v is not None}
    if method.items:
        items = read_items(rows, columns, method, options, tables or {})
        told |= items.options
        points: Points = items.points
    else:
        encoded = encode(
            rows.fields["cells"], rows.numbers("hash"), columns, options, trees,
            rows.fields["label"] if options["class_label"] else None,
            rows.fields["secret"] if options["diversity"] else None,
        )
        points = _points(encoded, rows, options)
    encoded_at = perf_counter()
    make_ready(told, len(points))
    ready_at = perf_counter()
    seed = ("seed",) if method.seeded else ()
    decides = (*GROUPED_BY, *method.options, *seed, *(items.options if items else ()))
    grouping, remembered = recall(
        digest(points, {name: told.get(name) for name in decides}),
        lambda: _grouped(points, told, items, watch),
    )
    if items is not None:
        grouping = items.spread(grouping)
    finished = perf_counter()
    facts = {
        **_by_name(grouping.facts, encoded),
        **(items.facts if items else {}),
        "labels": "remembered" if remembered else "computed",
        "seconds_encode": encoded_at - started,
        "seconds_group": 0.0 if remembered else finished - ready_at,
    }
    numbers = rows.numbers("row")
    numbers = numbers[encoded.order] if encoded else numbers
    centers = np.zeros(0, np.int64) if grouping.centers is None else numbers[grouping.centers]
    return Labelled(numbers, grouping.labels, centers, grouping.cells), facts


def _grouped(
    points: Points, options: Mapping[str, Any], items: Items | None, watch: Watch | None
) -> Grouping:
    """Groups the points; what is refused tells of codes that the graph doesn't know."""
    if len(points) == 0:  # no row has a place
        return Grouping(np.zeros(0, np.int64), {}, None, np.zeros((0, 2, 2)))
    try:
        return group_points(points, options, watch)
    except DataError as refusal:
        strange = int(items.facts.get("codes_unknown", 0)) if items else 0
        if strange == 0:
            raise
        codes = "1 code of the data is" if strange == 1 else f"{strange} codes of the data are"
        raise DataError(f"{codes} unknown to the graph. {refusal}") from None


def _points(encoded: Encoded, rows: Rows, options: Mapping[str, Any]) -> Points:
    """What the method of the options works on."""
    method = METHODS[options["method"]]
    if method.objective == "cells":
        return cell_points(encoded)
    if not method.has_centers:
        return encoded.points(options["distance"], method.loss_points, options["loss"])
    points = metric_points(encoded, options["metric"])
    if "facility_cost" not in method.options:
        return points
    given = options["facility_cost"]
    if isinstance(given, str):
        given = rows.numbers("extra")[encoded.order]
    return facility_costs(points, given)


def choose_centers(
    rows: Rows,
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    trees: Mapping[str, Sequence[pa.Array]] | None = None,
) -> Labels:
    """The classes that publish the center that the method chose, since their centroid has a larger
    radius; all other classes publish their centroid. int64, ascending.

    Published are so the radii that the guarantee is about, or smaller ones.
    """
    given = {**options, "diversity": None}
    encoded = encode(rows.fields["cells"], rows.numbers("hash"), columns, given, trees)
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    labels = labels.reshape(-1)[encoded.order]
    radii = np.zeros((2, len(classes)))
    for radius, points in zip(radii, ("center", "own"), strict=True):
        distances = center_distances(
            encoded, options["metric"], rows.fields["cells"], rows.fields[points]
        )
        np.maximum.at(radius, labels, distances)
    return np.asarray(classes[radii[0] > radii[1]], dtype=np.int64)


def _by_name(facts: Mapping[str, float], encoded: Encoded | None) -> dict[str, Any]:
    """The facts, the levels of full_domain by the names of the columns, in lower case."""
    if encoded is None:
        return dict(facts)
    named = [a.name.lower() for a in encoded.attributes if isinstance(a, Nominal)]
    levels = {f"level {number}": f"level {name}" for number, name in enumerate(named)}
    return {levels.get(fact, fact): value for fact, value in facts.items()}


def measure_rows(
    rows: Rows,
    columns: Sequence[tuple[str, str]],
    options: Mapping[str, Any],
    trees: Mapping[str, Sequence[pa.Array]] | None = None,
) -> tuple[dict[str, Any], Labels, Floats]:
    """The losses of labelled rows, the classes, and the radius of each; class -1 is suppressed."""
    given = {**options, "distance": "sse", "diversity": None}
    encoded = encode(rows.fields["cells"], rows.numbers("hash"), columns, given, trees)
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    labels = labels.reshape(-1) - int(np.sum(classes < 0))
    facts, radii = measure(
        encoded, labels[encoded.order], rows.fields["cells"], rows.fields["center"],
        options["method"], options.get("metric") or "euclidean",
        options["k"] if options.get("objective") == "quadratic" else 0,
    )
    return facts, classes[classes >= 0], radii
