"""What a release by Spark takes on one and on two local workers, beside Spark's own sort of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.apart import Outcome, apart
from benchmarks.lake import PASSING, QUASI
from benchmarks.plan import Plan
from benchmarks.tables import Table

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
    done.frame.write.parquet(target)
    seconds = perf_counter() - started
    told = {name: done.metrics[name] for name in ("k_reached", "blocks", "information_loss")}
    spark.stop()
    return {**told, "seconds": seconds, "sort": sort}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    n = plan.rows(plan.spark)
    table = Table(
        f"Spark: kanon_sql.spark.release, {n:,} rows, k = {K}",
        ["workers", "blocks", "seconds", "x one worker's s", "x a sort's s", "loss %",
         "k of the release"],
        notes=["The rows of the part files, from Parquet to Parquet by Spark, in local[1] and "
               "local[2]; sort: Spark's of all columns, of the same files. The start of Spark is "
               "not in the seconds; that of its Python workers is."],
    )
    if find_spec("pyspark") is None:
        table.rows.append([WORKERS[0], "needs pip install 'kanon-sql[spark]'", *[None] * 5])
        return [table]
    with TemporaryDirectory() as folder:
        lake = str(Path(folder) / "lake")
        say(f"spark: writing {n:,} rows")
        written = apart("files:write", plan.limit, folder=lake, n=n)
        if "failed" in written:
            table.rows.append([WORKERS[0], written["failed"], *[None] * 5])
            return [table]
        first: float | None = None
        for workers in WORKERS:
            say(f"spark: releasing with {workers} worker{'s' * (workers > 1)}")
            found = apart(
                "spark:release", plan.limit, folder=lake, workers=workers,
                target=str(Path(folder) / f"out_{workers}"), block_rows=max(1000, n // 8),
            )
            if "failed" in found:
                table.rows.append([workers, found["failed"], *[None] * 5])
                continue
            first = first or found["seconds"]
            table.rows.append([
                workers, found["blocks"], found["seconds"], found["seconds"] / first,
                found["seconds"] / found["sort"], found["information_loss"], found["k_reached"],
            ])
    return [table]
