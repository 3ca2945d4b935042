"""The first use of each method, which compiles it, and the next one, which loads that."""

from __future__ import annotations

import os
from collections.abc import Callable
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table


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
    return [alone, together]


def _sums(rows: list[list[Cell]]) -> list[Cell]:
    """The sum of each column of numbers."""
    return [
        sum(cell for cell in column if isinstance(cell, (int, float)))
        for column in list(zip(*rows, strict=True))[2:]
    ]
