"""A table larger than the rest: from a Parquet file to a Parquet file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.apart import Outcome, apart
from benchmarks.data import FOUR
from benchmarks.meter import available_memory
from benchmarks.plan import Plan
from benchmarks.tables import Table

K, D = 5, 4
KINDS = ("doubles", "mixed")
DISK = 4
"""Times the matrix: what both files and DuckDB's own need on the disk."""


def write(kind: str, target: str, n: int) -> Outcome:
    """Rows of one of FOUR as a Parquet file, a piece at a time."""
    import duckdb
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if FOUR[kind]:
        con = duckdb.connect()
        con.execute("SET enable_progress_bar = false; SELECT setseed(0.5)")
        con.execute(f"COPY (SELECT {FOUR[kind]} FROM range({n})) TO '{target}' (FORMAT parquet)")
        return {"bytes": Path(target).stat().st_size}
    rng, piece = np.random.default_rng([n, D]), 250_000
    schema = pa.schema([(letter, pa.float64()) for letter in "abcd"])
    with pq.ParquetWriter(target, schema) as writer:
        for begin in range(0, n, piece):
            values = rng.standard_normal((min(piece, n - begin), D))
            writer.write_table(pa.table([*values.T.copy()], schema=schema))
    return {"bytes": Path(target).stat().st_size}


def release(kind: str, source: str, target: str, n: int) -> Outcome:
    """One COPY from file to file, in a process of its own; once, however long it takes."""
    import duckdb

    import kanon_sql
    from benchmarks.data import make_four
    from benchmarks.meter import Measured, peak_of

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    make_four(con, kind, "few", 600)
    options = f"k={K}, method='mdav_plus'"
    con.execute(f"FROM anonymize('few', {options}, block_rows=300)").fetchall()
    query = f"COPY (FROM anonymize('{source}', {options})) TO '{target}' (FORMAT parquet)"
    found = Measured(*peak_of(lambda: con.execute(query)))
    return {**found.numbers(n * D * 8), "bytes": Path(target).stat().st_size}


def audit(target: str) -> Outcome:
    """What k_anonymity says of the file, in a process of its own."""
    import duckdb

    import kanon_sql

    con = kanon_sql.register(duckdb.connect())
    found = con.execute(f"SELECT k, rows, classes FROM k_anonymity('{target}')").fetchall()[0]
    return {"k": found[0], "rows": found[1], "classes": found[2]}


def steps(kind: str, n: int, limit: float, say: Callable[[str], None]) -> Outcome:
    """All of it: writes the file, releases it, audits the release."""
    with TemporaryDirectory() as folder:
        need, free = n * D * 8 * DISK, shutil.disk_usage(folder).free
        if free < need:
            return {"failed": f"needs {need / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free"}
        source, target = str(Path(folder) / "in.parquet"), str(Path(folder) / "out.parquet")
        say(f"large: writing {n:,} rows, {kind}")
        written = apart("large:write", limit, kind=kind, target=source, n=n)
        if "failed" in written:
            return written
        say("large: releasing")
        released = apart("large:release", limit, kind=kind, source=source, target=target, n=n)
        if "failed" in released:
            return released
        say("large: the audit")
        audited = apart("large:audit", limit, target=target)
        if "failed" in audited:
            audited = {"k": f"audit: {audited['failed']}", "rows": None, "classes": None}
        return {**released, **audited}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Large: COPY (FROM anonymize('in.parquet', k={K}, method='mdav_plus')) TO 'out.parquet'",
        ["columns", "rows", "seconds", "rows/s", "peak MB", "x matrix", "released rows",
         "k of the file", "classes"],
        notes=["peak: above what the process held before; read from the file, not from a table. "
               "Kinds of columns as in SQL; matrix: 8 bytes a cell."],
    )
    if not plan.large:
        table.rows.append(["mixed", 10_000_000, "only with --full", *[None] * 6])
        return [table]
    n, memory = plan.rows(plan.large), available_memory()
    table.notes.append(f"{memory / 1e9:.1f} GB of memory were available.")
    for kind in KINDS:
        found = steps(kind, n, plan.limit, say)
        if "failed" in found:
            table.rows.append([kind, n, found["failed"], *[None] * 6])
            continue
        table.rows.append([
            kind, n, found["seconds"], n / found["seconds"], found["peak"] / 1e6,
            found["multiple"], found["rows"], found["k"], found["classes"],
        ])
    return [table]
