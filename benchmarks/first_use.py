"""What it takes to start: the import, the first release of a process, and the first use of each
method, which compiles it, and the next one, which loads that."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

LIBRARIES = "import duckdb, numpy, polars, pyarrow"
HELP = "import sys, kanon_sql.cli.main as s; sys.argv[1:] = ['--help']; s.start()"
RELEASE = """
import duckdb, kanon_sql
from kanon_sql.data import adult
con = kanon_sql.register(duckdb.connect())
con.execute("SET enable_progress_bar = false")
for _ in range({times}):
    con.execute(f"FROM anonymize('{{adult()}}', k := 5, sensitive := ['salary-class'])").fetchall()
"""
STARTS = (
    ("import duckdb, numpy, polars and pyarrow", LIBRARIES, False),
    ("import kanon_sql", "import kanon_sql", False),
    ("kanon --help", HELP, False),
    ("a release of Adult, nothing compiled yet", RELEASE.format(times=1), True),
    ("a release of Adult", RELEASE.format(times=1), False),
    ("two releases of Adult in one process", RELEASE.format(times=2), False),
)
"""Programs, and whether each run finds an empty cache."""

RUNS = 3


def started(code: str, folder: str) -> Outcome:
    """A process that runs the code."""
    wall = perf_counter()
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True,
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # this one has no other child
    return {
        "cpu": used.ru_utime + used.ru_stime, "seconds": perf_counter() - wall,
        "peak": used.ru_maxrss * 1024,
    }


def _starting(limit: float, say: Callable[[str], None]) -> Table:
    """The table of whole processes."""
    table = Table(
        f"Starting: the fastest of {RUNS} processes",
        ["what", "CPU s", "x the libraries", "seconds", "peak MB"],
        notes=["the libraries: those of the first row. Nothing compiled: an empty cache of "
               "numba, one run."],
    )
    first: float | None = None
    with TemporaryDirectory() as shared:
        for what, code, empty in STARTS:
            say(f"first use: {what}")
            runs = [
                apart("first_use:started", limit, code=code, folder=shared)
                for _ in range(1 if empty else RUNS)
            ]
            if failed := [run["failed"] for run in runs if "failed" in run]:
                table.rows.append([what, failed[0], *[None] * 3])
                continue
            best = min(runs, key=lambda run: float(run["cpu"]))
            first = first or best["cpu"]
            table.rows.append([
                what, best["cpu"], best["cpu"] / first, best["seconds"], best["peak"] / 1e6
            ])
    return table


def one(method: str, refine: str, folder: str) -> Outcome:
    """What a call compiles or loads, in a process of its own with a cache in that folder."""
    os.environ["NUMBA_CACHE_DIR"] = folder  # before the compiler is loaded, which reads it once
    import kanon_sql.group.blocks  # noqa: F401  loads the compiler, which is not what is measured
    from kanon_sql.group.warm_up import compile_for
    from kanon_sql.methods import task_for

    task = task_for(method, refine=refine)
    task.method.load()
    cpu, wall = process_time(), perf_counter()
    compiled = compile_for(task, in_blocks=False)
    return {
        "cpu": process_time() - cpu, "seconds": perf_counter() - wall, "functions": len(compiled)
    }


def _row(method: str, refine: str, folder: str, limit: float) -> list[Any]:
    """What the first and the second process take, or why there is no number."""
    cells: list[Any] = []
    for fields in (("functions", "cpu", "seconds"), ("cpu", "seconds")):
        found = apart("first_use:one", limit, method=method, refine=refine, folder=folder)
        failed = "failed" in found
        cells += [found["failed"], *[None] * len(fields[1:])] if failed else [
            found[field] for field in fields
        ]
    return cells


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    from kanon_sql.methods import METHODS

    columns = ["functions", "compiling CPU s", "seconds", "loading CPU s", "seconds loading"]
    alone = Table(
        "The first use of a method: an empty cache for each row", ["method", "refine", *columns],
        notes=["The second process finds in the cache what the first has compiled; both without "
               "the time to import the compiler, about half a second."],
    )
    together = Table(
        "All methods: one cache, each row compiles what those above have not",
        ["method", "refine", *columns],
    )
    names = plan.first_use or tuple(METHODS)
    runs = [
        (name, refine)
        for name in names
        for refine in (("none", "local") if METHODS[name].refinable else ("none",))
    ]
    with TemporaryDirectory() as shared:
        for name, refine in runs:
            say(f"first use: {name}, refine {refine}")
            with TemporaryDirectory() as own:
                alone.rows.append([name, refine, *_row(name, refine, own, plan.limit)])
            together.rows.append([name, refine, *_row(name, refine, shared, plan.limit)])
    together.rows.append(["all", None, *_sums(together.rows)])
    return [_starting(plan.limit, say), alone, together]


def _sums(rows: list[list[Cell]]) -> list[Cell]:
    """The sum of each column of numbers."""
    return [
        sum(cell for cell in column if isinstance(cell, (int, float)))
        for column in list(zip(*rows, strict=True))[2:]
    ]
