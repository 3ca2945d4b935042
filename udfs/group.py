"""The grouping: announce it, hand over the rows, wait for it, finish it (see job.py), and ask for
the class of each row.

Rows and labels cross in pieces of some thousands: DuckDB would hold a list of all rows two or three
times over until the query ends.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.jobs.job import finish as finish_job
from kanon_sql.jobs.job import hand_over, press
from kanon_sql.jobs.job import start as start_job
from kanon_sql.jobs.job import wait as wait_for
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.memory import bytes_of, give_back
from kanon_sql.kernel.parallel import cores, on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import CHOICES
from kanon_sql.methods.task import Run
from kanon_sql.stages.labels import UNKNOWN, by_row, held, hold
from kanon_sql.udfs.signature import (
    BOXES,
    CELLS,
    KEYS,
    REFUSAL,
    TABLES,
    TREES,
    Signature,
    not_refused,
    once,
    refused,
    whole,
)

CENTERS = pa.list_(pa.struct([("row", pa.int64()), ("class", pa.int64())]))
CELLS_OF = pa.list_(pa.struct([
    ("class", pa.int64()), ("number", pa.int64()), ("low", pa.float64()), ("high", pa.float64()),
    ("closed", pa.bool_()),
]))
PRECISIONS = pa.list_(pa.struct([("name", pa.string()), ("steps", pa.int64())]))
CENTERS_SQL = 'STRUCT("row" BIGINT, "class" BIGINT)[]'


def start(
    columns: Any, secrets: Any, options: Any, hierarchies: Any, tables: Any, passing: Any,
    repeated: Any, unnamed: Any, threads: Any, divided: Any, expected: Any, memory: Any,
) -> Any:
    """Announces the method that the options name, which will take that many threads; the ticket
    under which its rows come, or one below 0 where the ``expected`` number of them is refused,
    since ``memory`` doesn't suffice. Remarks where the release is ``divided`` into files."""
    from kanon_sql.encode.arrow import read_columns, read_keys, read_tables
    from kanon_sql.hierarchies.tree import read_trees

    # here: it takes a while to load
    from kanon_sql.stages.group import GroupingWork, room_for
    from kanon_sql.stages.remarks import DIVIDED, say

    once(options)
    run, names = Run.from_json(options[0].as_py(), CHOICES), read_columns(columns)
    sensitive = read_columns(secrets)
    limit = bytes_of(memory[0].as_py() or "")
    taken = room_for(names, run.task, sensitive, expected[0].as_py(), limit)
    work = GroupingWork(
        taken, names, run, read_trees(hierarchies), read_tables(tables), passing[0].as_py() or [],
        sensitive, repeated[0].as_py() or [], read_keys(whole(unnamed)),
    )
    if divided[0].as_py() and run.progress:
        say(DIVIDED)
    many = max(1, min(threads[0].as_py(), cores()))

    def on_so_many(watch: Watch) -> Any:
        with on_threads(many):
            return work(watch)

    ticket = start_job(
        on_so_many, Progress(run.progress), taken=taken.take, takes=not taken.refuses
    )
    return pa.array([ticket], pa.int64())


def take(
    tickets: Any, rows: Any, aparts: Any, hashes: Any, cells: Any, labels: Any, secrets: Any,
    extras: Any,
) -> Any:
    """Takes a piece of the rows in; their tickets."""
    ticket = tickets[0].as_py()
    beside = {"label": whole(labels), "secrets": whole(secrets), "extra": whole(extras)}
    try:
        hand_over(ticket, whole(rows), (whole(aparts), whole(hashes)), whole(cells), beside)
    except KeyboardInterrupt:
        press(ticket)
    return tickets


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
    """Struct of the number of labels, centers (row, class), cells, the hidden columns, the
    precisions of columns, facts (JSON) and error (NULL where all went well). The labels are left to
    ``class_of``."""
    count, centers, text = None, pa.nulls(1, CENTERS), None
    cells, error = pa.nulls(1, CELLS_OF), not_refused()
    hidden: tuple[str, ...] = ()
    precisions: dict[str, int] = {}
    ticket = tickets[0].as_py()
    try:
        found, hidden, precisions, facts = finish_job(ticket)
        hold(ticket, by_row(found.rows, found.labels), found.source)
        count = len(found.labels)
        centers = _pairs(found.centers, pa.array(range(len(found.centers)), pa.int64()))
        if found.cells is not None:
            cells = _cells(found.cells)
        text = json.dumps(facts)
        del found
        give_back(count)
    except KanonError as refusal:
        error = refused(type(refusal).__name__, str(refusal))
    return pa.StructArray.from_arrays(
        [
            pa.array([count], pa.int64()), centers, cells,
            pa.array([list(hidden)], pa.list_(pa.string())),
            pa.array([[{"name": name, "steps": steps} for name, steps in precisions.items()]],
                     PRECISIONS),
            pa.array([text], pa.string()), error,
        ],
        ["rows", "centers", "cells", "hidden", "precisions", "facts", "error"]
    )


def class_of(tickets: Any, rows: Any) -> Any:
    """The class of each row, -1 for one that is left out, NULL for one without a label."""
    found = held(tickets[0].as_py()).classes(whole(rows).to_numpy())
    return pa.array(found, mask=found == UNKNOWN)


START = Signature(
    "__kanon_start",
    start,
    ("VARCHAR[][]", "VARCHAR[][]", "VARCHAR", TREES, TABLES, "VARCHAR[]", "VARCHAR[][]", KEYS,
     "BIGINT", "BOOLEAN", "BIGINT", "VARCHAR"),
    "BIGINT",
    side_effects=True,
)
TAKE = Signature(
    "__kanon_take",
    take,
    ("BIGINT", "BIGINT", "UBIGINT", "UBIGINT", CELLS, "VARCHAR", CELLS, "DOUBLE"),
    "BIGINT",
    side_effects=True,
)
WAIT = Signature("__kanon_wait", wait, ("BIGINT", "BIGINT"), "BOOLEAN", side_effects=True)
FINISH = Signature(
    "__kanon_finish",
    finish,
    ("BIGINT", "BIGINT"),
    f'STRUCT("rows" BIGINT, centers {CENTERS_SQL}, cells {BOXES}, hidden VARCHAR[], '
    f"precisions STRUCT(name VARCHAR, steps BIGINT)[], facts VARCHAR, error {REFUSAL})",
    side_effects=True,
)
CLASS_OF = Signature("__kanon_class_of", class_of, ("BIGINT", "BIGINT"), "BIGINT")
