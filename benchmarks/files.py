"""Tables larger than memory: a lake of Parquet files to a folder of released ones, by
kanon_sql.anonymize_files, on all cores with DuckDB's memory limit at 4 GB."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.kernels import growth
from benchmarks.lake import PASSING, QUASI
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
MEMORY = "4GB"
ONE_THREAD = 20_000_000
"""The most rows that are released by one thread, too."""

DISK = 120
"""Bytes of disk for each row: the lake, the draft and the release."""


def write(folder: str, n: int) -> Outcome:
    """The lake."""
    import duckdb

    from benchmarks.lake import make

    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    return {"bytes": sum(path.stat().st_size for path in make(con, folder, n))}


def release(folder: str, target: str, threads: int | None = None) -> Outcome:
    """One release, in a process of its own, beside what DuckDB takes to sort the same files."""
    import resource
    import threading
    from time import perf_counter, process_time, sleep

    import duckdb

    import kanon_sql

    draft, most, over = Path(f"{target}.kanon-draft"), [0], threading.Event()

    def watch() -> None:
        while not over.is_set():
            with suppress(OSError):  # a file is gone between two looks
                most[0] = max(most[0], sum(p.stat().st_size for p in draft.rglob("*")))
            sleep(1.0)

    con = duckdb.connect()
    con.execute(f"SET enable_progress_bar = false; SET memory_limit = '{MEMORY}'")
    started = perf_counter()
    con.execute(
        f"COPY (FROM '{folder}/*.parquet' ORDER BY ALL) TO '{target}.sorted' (FORMAT parquet)"
    )
    sort = perf_counter() - started
    Path(f"{target}.sorted").unlink()
    watching = threading.Thread(target=watch)
    watching.start()
    wall, spent = perf_counter(), process_time()
    found = kanon_sql.anonymize_files(
        f"{folder}/*.parquet", target, memory=MEMORY, k=K, quasi_identifiers=list(QUASI),
        sensitive=list(PASSING), threads=threads, progress=False,
    )
    wall, spent = perf_counter() - wall, process_time() - spent
    over.set()
    watching.join()
    told: dict[str, Any] = {
        name: found.metrics[name] for name in ("k", "blocks", "information_loss")
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**told, "seconds": wall, "cpu": spent, "peak": peak, "disk": most[0], "sort": sort}


def steps(n: int, limit: float, say: Callable[[str], None]) -> Outcome:
    """Writes the lake, and releases it; where that isn't long, by one thread, too."""
    with TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < n * DISK:
            return {"failed": f"needs {n * DISK / 1e9:.1f} GB of disk"}
        say(f"files: writing {n:,} rows")
        lake = str(Path(folder) / "lake")
        written = apart("files:write", limit, folder=lake, n=n)
        if "failed" in written:
            return written
        say("files: releasing")
        found = apart("files:release", limit, folder=lake, target=str(Path(folder) / "out"))
        if n > ONE_THREAD or "failed" in found:
            return found
        say("files: releasing by one thread")
        alone = apart(
            "files:release", limit, folder=lake, target=str(Path(folder) / "alone"), threads=1
        )
        if "failed" in alone:
            return alone
        return {**found, "speed": alone["seconds"] / found["seconds"]}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Files: kanon_sql.anonymize_files, k = {K}, memory {MEMORY}",
        ["rows", "blocks", "seconds", "CPU s", "x a sort's s", "peak MB", "draft MB", "loss %",
         "k of the files", "growth", "one thread's s / s"],
        notes=["Quasi-identifiers: age, education (16 values), zip (900), a date; four columns "
               "pass. peak: of the whole process; draft: the most that lay beside the output. "
               "sort: COPY (FROM lake ORDER BY ALL) by DuckDB; growth: the exponent of CPU "
               "seconds from the size before."],
    )
    before: tuple[int, float] | None = None
    for wanted in plan.files:
        n = plan.rows(wanted)
        found = steps(n, plan.limit, say)
        if "failed" in found:
            table.rows.append([n, found["failed"], *[None] * 9])
            continue
        row: list[Cell] = [
            n, found["blocks"], found["seconds"], found["cpu"], found["seconds"] / found["sort"],
            found["peak"] / 1e6, found["disk"] / 1e6, found["information_loss"],
            found["k"],
            None if before is None else growth([before[0], n], [before[1], found["cpu"]]),
            found.get("speed"),
        ]
        before = n, found["cpu"]
        table.rows.append(row)
    return [table]
