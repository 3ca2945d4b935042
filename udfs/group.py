"""__kanon_group(rows, columns, options): one class per row, by the method that options name."""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

import pyarrow as pa

from kanon_sql.errors import KanonError
from kanon_sql.stages import Rows, group_rows
from kanon_sql.udfs.signature import CELLS, Signature

LABELS = pa.list_(pa.struct([("row", pa.int64()), ("class", pa.int64())]))


def group(rows: Any, columns: Any, options: Any) -> Any:
    """Struct of labels (row, class), facts (JSON) and error (NULL where all went well)."""
    started = perf_counter()
    labels, text, error = pa.nulls(1, LABELS), None, None
    try:
        found, facts = group_rows(
            Rows.of(rows), columns[0].as_py() or [], json.loads(options[0].as_py())
        )
        pairs = pa.StructArray.from_arrays(
            [pa.array(found.rows), pa.array(found.labels)], ["row", "class"]
        )
        labels = pa.ListArray.from_arrays(pa.array([0, len(pairs)], pa.int32()), pairs)
        text = json.dumps({**facts, "started": started, "finished": perf_counter()})
    except KanonError as refusal:
        error = str(refusal)
    texts = pa.array([text], pa.string()), pa.array([error], pa.string())
    return pa.StructArray.from_arrays([labels, *texts], ["labels", "facts", "error"])


GROUP = Signature(
    "__kanon_group",
    group,
    (f"STRUCT(row BIGINT, hash UBIGINT, cells {CELLS})[]", "VARCHAR[][]", "VARCHAR"),
    'STRUCT(labels STRUCT("row" BIGINT, "class" BIGINT)[], facts VARCHAR, error VARCHAR)',
)
