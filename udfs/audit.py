"""__kanon_audit(source, columns, release, released, options, hierarchies): what a release loses."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.udfs.signature import REFUSAL, TREES, Signature, not_refused, refused


def audit(
    source: Any, columns: Any, release: Any, released: Any, options: Any, hierarchies: Any
) -> Any:
    """Struct of facts (JSON) and error (NULL if all is well)."""
    from kanon_sql.encode.arrow import flat_cells, read_columns
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.audit import audit_rows  # here: Polars takes a while to load

    facts, error = None, not_refused()
    try:
        facts = json.dumps(
            audit_rows(
                flat_cells(source), read_columns(columns),
                flat_cells(release), read_columns(released),
                json.loads(options[0].as_py())["weights"], read_trees(hierarchies),
            )
        )
    except KanonError as refusal:
        error = refused(type(refusal).__name__, str(refusal))
    return pa.StructArray.from_arrays([pa.array([facts], pa.string()), error], ["facts", "error"])


AUDIT = Signature(
    "__kanon_audit",
    audit,
    ("VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR", TREES),
    f"STRUCT(facts VARCHAR, error {REFUSAL})",
)
