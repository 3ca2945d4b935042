"""__kanon_audit(source, columns, release, released, options, hierarchies): what a release loses."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.udfs.signature import TREES, Signature


def audit(
    source: Any, columns: Any, release: Any, released: Any, options: Any, hierarchies: Any
) -> Any:
    """Struct of facts (JSON) and error (NULL if all is well)."""
    from kanon_sql.encode.arrow import flat_cells, read_columns
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.audit import audit_rows  # here: Polars takes a while to load

    facts, error = None, None
    try:
        facts = json.dumps(
            audit_rows(
                flat_cells(source), read_columns(columns),
                flat_cells(release), read_columns(released),
                json.loads(options[0].as_py())["weights"], read_trees(hierarchies),
            )
        )
    except KanonError as refusal:
        error = str(refusal)
    texts = pa.array([facts], pa.string()), pa.array([error], pa.string())
    return pa.StructArray.from_arrays([*texts], ["facts", "error"])


AUDIT = Signature(
    "__kanon_audit",
    audit,
    ("VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR", TREES),
    "STRUCT(facts VARCHAR, error VARCHAR)",
)
