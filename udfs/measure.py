"""__kanon_measure(rows, columns, options, hierarchies, forms, grouped, outside, hidden): losses
and radii."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.methods import CHOICES
from kanon_sql.methods.task import Run
from kanon_sql.udfs.signature import BOXES, CELLS, TREES, Signature, whole

NO_CELLS = pa.struct([("number", pa.float64()), ("category", pa.string())])


def measured(
    tickets: Any, rows: Any, columns: Any, options: Any, hierarchies: Any, forms: Any, grouped: Any,
    outside: Any, hidden: Any,
) -> Any:
    """For each list of rows a struct of facts (JSON) and radii (class, radius). With a ticket, the
    list is of classes, and the rows are those that were handed over under it."""
    from kanon_sql.encode.arrow import Rows, read_columns
    from kanon_sql.encode.identifier_detection import cells_without
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages import measure  # here: Polars is slow to load
    from kanon_sql.stages.hidden import without_hidden

    run, beside, away = grouped[0], outside[0].values, hidden[0].as_py() or []
    every = read_columns(columns)
    cells = pa.array([], NO_CELLS) if beside is None else beside.flatten()
    published = measure.PublishedForm(
        **json.loads(forms[0].as_py()),
        facts=json.loads(run["facts"].as_py()),
        boxes=run["cells"].values,
        types=[
            sql_type for column, sql_type in zip(every, run["types"].as_py(), strict=True)
            if column.name not in away
        ],
        outside=cells_without(cells, every, away),
    )
    task = Run.from_json(options[0].as_py(), CHOICES).task
    given, found = read_trees(hierarchies.slice(0, 1)), []
    for i in range(len(rows)):
        part, ticket = Rows.of(whole(rows).slice(i, 1)), tickets[i].as_py()
        if ticket is not None:
            part = measure.rows_of(ticket, part, every)
        kept, names, trees = without_hidden(part, every, given, away)
        found.append(measure.measure_rows(kept, names, task, published, trees))
    return _told(found)


def _told(found: list[Any]) -> Any:
    """Facts, classes and radii of each list of rows, as structs."""
    lists = [
        pa.StructArray.from_arrays([pa.array(classes), pa.array(radii)], ["class", "radius"])
        for _, classes, radii in found
    ]
    ends = pa.array(np.cumsum([0, *map(len, lists)]), pa.int32())
    return pa.StructArray.from_arrays(
        [
            pa.array([json.dumps(facts) for facts, _, _ in found], pa.string()),
            pa.ListArray.from_arrays(ends, pa.concat_arrays(lists)),
        ],
        ["facts", "radii"],
    )


MEASURE = Signature(
    "__kanon_measure",
    measured,
    (
        "BIGINT",
        f'STRUCT(row BIGINT, hash UBIGINT, "class" BIGINT, alike BIGINT, cells {CELLS}, '
        f"center {CELLS})[]",
        "VARCHAR[][]",
        "VARCHAR",
        TREES,
        "VARCHAR",
        f"STRUCT(facts VARCHAR, cells {BOXES}, types VARCHAR[])",
        f"{CELLS}[]",
        "VARCHAR[]",
    ),
    'STRUCT(facts VARCHAR, radii STRUCT("class" BIGINT, radius DOUBLE)[])',
)
