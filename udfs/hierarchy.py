"""__kanon_tree(values, type, names, rows, spec): the paths of a hierarchy's leaves."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kanon_sql.errors import KanonError, lacks_memory
from kanon_sql.udfs.signature import REFUSAL, Signature, not_refused, refused

FAILED = "The hierarchy failed with {}. Nothing was returned; please report this as a bug."
PATHS = pa.list_(pa.list_(pa.string()))


def tree(values: Any, kinds: Any, names: Any, rows: Any, specs: Any) -> Any:
    """Struct of paths (one list of labels per leaf, root last) and error (NULL if all is well)."""
    from kanon_sql.stages.hierarchy import read_hierarchy  # here: Polars takes a while to load

    paths, error = pa.nulls(1, PATHS), not_refused()
    try:
        found = read_hierarchy(values, kinds[0].as_py(), names, rows, json.loads(specs[0].as_py()))
        paths = pa.ListArray.from_arrays(pa.array([0, len(found)], pa.int32()), found)
    except KanonError as refusal:
        error = refused(type(refusal).__name__, str(refusal))
    except Exception as failure:
        if lacks_memory(failure):
            raise
        error = refused("KanonError", FAILED.format(type(failure).__name__))
    return pa.StructArray.from_arrays([paths, error], ["paths", "error"])


TREE = Signature(
    "__kanon_tree",
    tree,
    ('STRUCT("value" VARCHAR, "count" BIGINT)[]', "VARCHAR", "VARCHAR[]", "VARCHAR[][]", "VARCHAR"),
    f"STRUCT(paths VARCHAR[][], error {REFUSAL})",
)
