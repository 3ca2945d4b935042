"""What a release loses, in two functions: begin the audit, fetch what it found. Between them the
query waits for it, as for a grouping (see group.py and kanon_sql/jobs/job.py)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.jobs.job import finish as finish_job
from kanon_sql.jobs.job import start as start_job
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.watch import Watch
from kanon_sql.udfs.signature import REFUSAL, TREES, Signature, not_refused, once, refused


def audit(
    source: Any, columns: Any, release: Any, released: Any, options: Any, hierarchies: Any
) -> Any:
    """Begins to audit; the ticket."""
    from kanon_sql.encode.arrow import flat_cells, read_columns
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.audit import audit_rows  # here: Polars takes a while to load

    given, shown = flat_cells(source), flat_cells(release)
    beside, trees = read_columns(released), read_trees(hierarchies)
    once(options)
    told = json.loads(options[0].as_py())
    names = [
        replace(column, sql_type="VARCHAR") if column.name.lower() in told["categorical"]
        else column for column in read_columns(columns)
    ]

    def work(watch: Watch) -> Any:
        return audit_rows(
            given, names, shown, beside, told["column_weights"], trees, watch, told["named"]
        )

    return pa.array([start_job(work, Progress(False), "audit")], pa.int64())


def audited(tickets: Any, turns: Any) -> Any:
    """Struct of facts (JSON) and error (NULL if all is well)."""
    facts, error = None, not_refused()
    try:
        facts = json.dumps(finish_job(tickets[0].as_py()))
    except KanonError as refusal:
        error = refused(type(refusal).__name__, str(refusal))
    return pa.StructArray.from_arrays([pa.array([facts], pa.string()), error], ["facts", "error"])


AUDIT = Signature(
    "__kanon_audit",
    audit,
    ("VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR[][]", "VARCHAR", TREES),
    "BIGINT",
    side_effects=True,
)
AUDITED = Signature(
    "__kanon_audited",
    audited,
    ("BIGINT", "BIGINT"),
    f"STRUCT(facts VARCHAR, error {REFUSAL})",
    side_effects=True,
)
