"""The grouping, in three functions: start it, wait for it, fetch the labels (see job.py)."""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.jobs.job import finish as finish_job
from kanon_sql.jobs.job import press
from kanon_sql.jobs.job import start as start_job
from kanon_sql.jobs.job import wait as wait_for
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS
from kanon_sql.methods.task import Run
from kanon_sql.udfs.signature import (
    BOXES,
    CELLS,
    REFUSAL,
    TABLES,
    TREES,
    Signature,
    not_refused,
    refused,
)

LABELS = pa.list_(pa.struct([("row", pa.int64()), ("class", pa.int64())]))
CELLS_OF = pa.list_(pa.struct([
    ("class", pa.int64()), ("number", pa.int64()), ("low", pa.float64()), ("high", pa.float64()),
    ("closed", pa.bool_()),
]))
LABELS_SQL = 'STRUCT("row" BIGINT, "class" BIGINT)[]'


def start(
    rows: Any, columns: Any, options: Any, hierarchies: Any, tables: Any, passing: Any
) -> Any:
    """Starts the method that the options name; the ticket."""
    from kanon_sql.encode.arrow import Rows, read_columns, read_tables
    from kanon_sql.hierarchies.tree import read_trees
    from kanon_sql.stages.group import (  # here: Polars takes a while to load
        group_rows,
        notices,
        remark,
        suspects_of,
    )
    from kanon_sql.stages.hidden import without_hidden

    begun, run = perf_counter(), Run.from_json(options[0].as_py(), METHODS)
    given, names, trees = Rows.of(rows), read_columns(columns), read_trees(hierarchies)
    outside = read_tables(tables)
    away = passing[0].as_py() or []

    def work(watch: Watch) -> Any:
        suspects = suspects_of(given, names, run.named, away)
        if run.progress:
            remark(run.task, (*suspects.hidden, *away))
        kept, columns, known = without_hidden(given, names, trees, suspects.hidden)
        found, facts = group_rows(kept, columns, run.task, watch, known, outside)
        facts["notices"] = notices(run.task, suspects)
        times = {"started": begun, "finished": perf_counter()}
        return found, suspects.hidden, {**facts, **times}

    return pa.array([start_job(work, Progress(run.progress))], pa.int64())


def wait(tickets: Any, turns: Any) -> Any:
    """Waits a moment; whether the grouping is done, for each turn."""
    done = False
    try:
        done = wait_for(tickets[0].as_py())
    except KeyboardInterrupt:
        press(tickets[0].as_py())
    return pa.repeat(pa.scalar(done), len(turns))


def _pairs(rows: Any, classes: Any) -> Any:
    """A list of structs (row, class), as the one entry of an array."""
    pairs = pa.StructArray.from_arrays([pa.array(rows), pa.array(classes)], ["row", "class"])
    return pa.ListArray.from_arrays(pa.array([0, len(pairs)], pa.int32()), pairs)


def _cells(found: Any) -> Any:
    """A list of structs (class, number of the column from 1, low, high, closed), as the one entry
    of an array; closed is an upper bound at the border of the space."""
    groups, width, _ = found.shape
    low, high = (pa.array(found[:, :, side].ravel(), from_pandas=True) for side in (0, 1))
    closed = pa.array((found[:, :, 1] == np.fmax.reduce(found[:, :, 1], axis=0)).ravel())
    numbers = np.arange(groups * width)
    cells = pa.StructArray.from_arrays(
        [pa.array(numbers // width), pa.array(numbers % width + 1), low, high, closed],
        fields=list(CELLS_OF.value_type),
    )
    return pa.ListArray.from_arrays(pa.array([0, len(cells)], pa.int32()), cells)


def finish(tickets: Any, turns: Any) -> Any:
    """Struct of labels (row, class), centers (row, class), cells, the hidden columns, facts (JSON)
    and error (NULL where all went well)."""
    labels, centers, text = pa.nulls(1, LABELS), pa.nulls(1, LABELS), None
    cells, error = pa.nulls(1, CELLS_OF), not_refused()
    hidden: tuple[str, ...] = ()
    try:
        found, hidden, facts = finish_job(tickets[0].as_py())
        labels = _pairs(found.rows, found.labels)
        centers = _pairs(found.centers, pa.array(range(len(found.centers)), pa.int64()))
        if found.cells is not None:
            cells = _cells(found.cells)
        text = json.dumps(facts)
    except KanonError as refusal:
        error = refused(type(refusal).__name__, str(refusal))
    return pa.StructArray.from_arrays(
        [
            labels, centers, cells, pa.array([list(hidden)], pa.list_(pa.string())),
            pa.array([text], pa.string()), error,
        ],
        ["labels", "centers", "cells", "hidden", "facts", "error"]
    )


START = Signature(
    "__kanon_start",
    start,
    (
        f"STRUCT(row BIGINT, hash UBIGINT, cells {CELLS}, label VARCHAR, secret VARCHAR, "
        "extra DOUBLE)[]",
        "VARCHAR[][]",
        "VARCHAR",
        TREES,
        TABLES,
        "VARCHAR[]",
    ),
    "BIGINT",
    side_effects=True,
)
WAIT = Signature("__kanon_wait", wait, ("BIGINT", "BIGINT"), "BOOLEAN", side_effects=True)
FINISH = Signature(
    "__kanon_finish",
    finish,
    ("BIGINT", "BIGINT"),
    f"STRUCT(labels {LABELS_SQL}, centers {LABELS_SQL}, cells {BOXES}, "
    f"hidden VARCHAR[], facts VARCHAR, "
    f"error {REFUSAL})",
    side_effects=True,
)
