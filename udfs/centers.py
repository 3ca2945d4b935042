"""__kanon_centers(rows, columns, options, hierarchies, hidden): which classes publish their own
center."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kanon_sql.methods import METHODS
from kanon_sql.methods.task import Run
from kanon_sql.udfs.signature import CELLS, TREES, Signature


def centers(rows: Any, columns: Any, options: Any, hierarchies: Any, hidden: Any) -> Any:
    """List of the classes whose centroid has a larger radius than the method's own center."""
    from kanon_sql.encode.arrow import Rows, read_columns
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.centers import choose_centers  # here: Polars is slow to load
    from kanon_sql.stages.hidden import without_hidden

    found = Rows.of(rows)
    if found.count == 0:
        return pa.array([[]], pa.list_(pa.int64()))
    task = Run.from_json(options[0].as_py(), METHODS).task
    away = hidden[0].as_py() or []
    kept, names, trees = without_hidden(
        found, read_columns(columns), read_trees(hierarchies), away
    )
    classes = choose_centers(kept, names, task, trees)
    return pa.array([classes.tolist()], pa.list_(pa.int64()))


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
