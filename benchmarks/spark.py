"""What a release by Spark takes on one and on two local workers, beside Spark's own sort of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.apart import Outcome, apart
from benchmarks.lake import PASSING, QUASI
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
WORKERS = (1, 2)


def release(folder: str, target: str, workers: int, block_rows: int) -> Outcome:
    """One release from files to files, in a Spark of its own, and before it a sort of the same."""
    import os
    import sys
    from time import perf_counter

    from pyspark.sql import SparkSession

    import kanon_sql.spark

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local[{workers}]")
        .config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "8").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.read.parquet(folder)
    started = perf_counter()
    rows.orderBy(*rows.columns).write.parquet(f"{target}.sorted")
    sort = perf_counter() - started
    started = perf_counter()
    done = kanon_sql.spark.release(
        rows, k=K, quasi_identifiers=list(QUASI), sensitive=list(PASSING), block_rows=block_rows,
    )
    done.data.write.parquet(target)
    seconds = perf_counter() - started
    told = {name: done.metrics[name] for name in ("k", "blocks", "information_loss")}
    spark.stop()
    return {**told, "seconds": seconds, "sort": sort}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Spark: kanon_sql.spark.release, k = {K}",
        ["rows", "workers", "blocks", "seconds", "x one worker's s", "x a sort's s", "loss %",
         "k of the release"],
        notes=["The rows of the part files, from Parquet to Parquet by Spark, in local[1] and "
               "local[2]; sort: Spark's of all columns, of the same files. The start of Spark is "
               "not in the seconds; that of its Python workers is."],
    )
    if find_spec("pyspark") is None:
        table.rows.append([None, "needs pip install 'kanon-sql[spark]'", *[None] * 6])
        return [table]
    for n in map(plan.rows, plan.spark):
        with TemporaryDirectory() as folder:
            table.rows.extend(_measured(Path(folder), n, plan.limit, say))
    return [table]


def _measured(
    folder: Path, n: int, limit: float, say: Callable[[str], None]
) -> Iterator[list[Cell]]:
    """The lines of so many rows, one for each number of workers."""
    lake = str(folder / "lake")
    say(f"spark: writing {n:,} rows")
    written = apart("files:write", limit, folder=lake, n=n)
    if "failed" in written:
        yield [n, None, written["failed"], *[None] * 5]
        return
    first: float | None = None
    for workers in WORKERS:
        say(f"spark: releasing {n:,} rows with {workers} worker{'s' * (workers > 1)}")
        found = apart(
            "spark:release", limit, folder=lake, workers=workers,
            target=str(folder / f"out_{workers}"), block_rows=min(500_000, max(1000, n // 8)),
        )
        if "failed" in found:
            yield [n, workers, found["failed"], *[None] * 5]
            continue
        first = first or found["seconds"]
        yield [
            n, workers, found["blocks"], found["seconds"], found["seconds"] / first,
            found["seconds"] / found["sort"], found["information_loss"], found["k"],
        ]
