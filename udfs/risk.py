"""__kanon_risk(rows, columns, sizes, pairs, people, options): begins to look at all subsets of the
columns, and at the population; the ticket. __kanon_audited fetches what it found (see audit.py)."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kanon_sql.jobs.job import start as start_job
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.watch import Watch
from kanon_sql.udfs.signature import Signature, once, whole


def risk(rows: Any, columns: Any, sizes: Any, pairs: Any, people: Any, options: Any) -> Any:
    """Begins; the ticket."""
    from kanon_sql.encode.arrow import read_columns
    from kanon_sql.stages.risk import measure_risk  # here: it takes a while to load

    once(options)
    combinations, counts = whole(rows).flatten(), whole(sizes).flatten()
    frequencies = whole(pairs).flatten()
    names = [column.name for column in read_columns(columns)]
    size, told = people[0].as_py(), json.loads(options[0].as_py())

    def work(watch: Watch) -> Any:
        return measure_risk(combinations, names, counts, frequencies, size, told, watch)

    return pa.array([start_job(work, Progress(False), "risk")], pa.int64())


RISK = Signature(
    "__kanon_risk",
    risk,
    (
        "STRUCT(size BIGINT, cells VARCHAR[])[]",
        "VARCHAR[][]",
        "STRUCT(size BIGINT, classes BIGINT)[]",
        "STRUCT(here BIGINT, people DOUBLE, classes BIGINT)[]",
        "DOUBLE",
        "VARCHAR",
    ),
    "BIGINT",
    side_effects=True,
)
