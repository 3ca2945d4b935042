"""A NULL that a released range hides, counted by the rows that nobody can tell apart.

Two groups may release the same values, of which only one has NULLs beside them: whoever reads the
release sees one class, and of none of its rows that it has a value.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection
Cells = Sequence[Any]


def lost(source: list[Cells], released: list[Cells]) -> tuple[float, float]:
    """Total-IL, and that by distinct values, of released rows in the order of their source, whose
    columns are numbers, but the last, which is a text. Slow, and plain to read."""
    classes = defaultdict(list)
    for row, shown in zip(source, released, strict=True):
        classes[repr(shown)].append(row)
    width = len(source[0])
    total = distinct = 0.0
    for rows in classes.values():
        for j in range(width):
            values = {row[j] for row in rows}
            every = {row[j] for row in source}
            if j == width - 1:
                total += len(rows) * (len(values) > 1)
                distinct += len(rows) * (len(values) - 1) / max(len(every) - 1, 1)
                continue
            known, domain = values - {None}, every - {None}
            loss = 0.0
            if None in values and known:
                loss = 1.0
            elif len(known) > 1:
                loss = (max(known) - min(known)) / (max(domain) - min(domain))
            total += len(rows) * loss
            distinct += len(rows) * loss
    return total, distinct


def table(con: Connection, seed: int) -> list[Cells]:
    draw = random.Random(seed)
    rows = [
        (i, draw.choice((None, 10, 10, 20, 30)), draw.choice((None, 1.5, 2.5)),
         draw.choice((None, "a", "b")))
        for i in range(draw.choice((24, 40)))
    ]
    con.execute("CREATE OR REPLACE TABLE t (i INTEGER, x INTEGER, y DOUBLE, w VARCHAR)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return [row[1:] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["interval", "bounds"])
def test_a_hidden_null_counts_for_all_rows_of_a_released_class(
    con: Connection, representation: str
) -> None:
    shared = 0
    for seed in range(8):
        source = table(con, seed)
        call = (
            f"'t', k := 2, identifiers := ['i'], method := '{('k_member', 'mdav')[seed % 2]}', "
            f"representation := '{representation}', keep_order := true, class_id := true"
        )
        rows = con.execute(f"SELECT x, y, w FROM anonymize({call})").fetchall()
        told = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
        total, distinct = lost(source, rows)
        cells = len(source) * 3
        assert told["total_il"] == pytest.approx(total), seed
        assert told["ncp"] == pytest.approx(total / cells), seed
        assert told["ncp_distinct"] == pytest.approx(distinct / cells), seed
        by_column = sum(told[f"ncp ({name})"] for name in ("x", "y", "w"))
        assert by_column * len(source) == pytest.approx(total)
        grouped = con.execute(f"SELECT count(*) FROM anonymize_clusters({call})").fetchall()
        shared += grouped[0][0] > told["classes"]
    assert shared  # in some of them groups release the same
