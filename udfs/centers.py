"""__kanon_centers(rows, columns, options, hierarchies, hidden): which classes publish their own
center."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kanon_sql.methods import CHOICES
from kanon_sql.methods.task import Run
from kanon_sql.udfs.signature import CELLS, TREES, Signature, whole


def centers(rows: Any, columns: Any, options: Any, hierarchies: Any, hidden: Any) -> Any:
    """For each list of rows the classes whose centroid has a larger radius than the method's own
    center."""
    from kanon_sql.encode.arrow import Rows, read_columns
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.centers import choose_centers  # here: Polars is slow to load
    from kanon_sql.stages.hidden import without_hidden

    task = Run.from_json(options[0].as_py(), CHOICES).task
    away, every = hidden[0].as_py() or [], read_columns(columns)
    given, found = read_trees(hierarchies.slice(0, 1)), []
    for i in range(len(rows)):
        part = Rows.of(whole(rows).slice(i, 1))
        kept, names, trees = without_hidden(part, every, given, away)
        found.append(choose_centers(kept, names, task, trees).tolist() if part.count else [])
    return pa.array(found, pa.list_(pa.int64()))


CENTERS = Signature(
    "__kanon_centers",
    centers,
    (
        f'STRUCT(row BIGINT, hash UBIGINT, "class" BIGINT, cells {CELLS}, center {CELLS}, '
        f"own {CELLS})[]",
        "VARCHAR[][]",
        "VARCHAR",
        TREES,
        "VARCHAR[]",
    ),
    "BIGINT[]",
)
