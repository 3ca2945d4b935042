"""What a release by Spark takes on one and on two local workers, beside a release in files of the
same rows, and beside Spark's moving of them to its Python workers and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.lake import PASSING, QUASI
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
WORKERS = (1, 2)
PARTITIONS = 8
FEW = 100_000
"""Rows below which one release is made, and not two."""


def cpu_seconds() -> float:
    """CPU seconds of this process and all that it started and that still run: the virtual machine
    of Java, and its Python workers."""
    import os

    spent: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        spent[int(path.parent.name)] = int(told[1]), sum(map(int, told[11:13]))
    own = {os.getpid()}
    while more := {each for each, (parent, _) in spent.items() if parent in own} - own:
        own |= more
    return sum(spent[each][1] for each in own) / os.sysconf("SC_CLK_TCK")


def move(rows: Any, target: str) -> None:
    """What every release in Spark does beside grouping: keeps the rows, sends each to a Python
    worker and back, orders, counts and writes them."""
    from pyspark.sql import functions as F  # noqa: N812

    kept = rows.withColumn("h", F.xxhash64(*rows.columns)).persist()
    placed = kept.repartitionById(PARTITIONS, F.pmod(F.col("h"), F.lit(PARTITIONS)).cast("int"))
    back = placed.mapInArrow(lambda batches: batches, placed.schema)
    ordered = back.repartition(PARTITIONS, "h").sortWithinPartitions("h").localCheckpoint()
    ordered.groupBy(*rows.columns).count().agg(F.min("count")).collect()
    ordered.drop("h").write.parquet(target)
    kept.unpersist()


def release(folder: str, target: str, workers: int, block_rows: int, turns: int) -> Outcome:
    """The last of some releases from files to files in a Spark of its own, and of as many movings.
    """
    import os
    import sys
    from time import perf_counter

    from pyspark.sql import SparkSession

    import kanon_sql.spark

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local[{workers}]")
        .config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", str(PARTITIONS)).getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.read.parquet(folder)
    outcome: Outcome = {}
    for turn in range(turns):
        begun = cpu_seconds()
        move(rows, f"{target}.moved{turn}")
        outcome["moved"] = cpu_seconds() - begun
        started, begun = perf_counter(), cpu_seconds()
        done = kanon_sql.spark.release(
            rows, k=K, quasi_identifiers=list(QUASI), sensitive=list(PASSING),
            block_rows=block_rows,
        )
        done.data.write.parquet(f"{target}.{turn}")
        outcome.update(seconds=perf_counter() - started, cpu=cpu_seconds() - begun)
        outcome.setdefault("first", outcome["cpu"])
        done.unpersist()
    told = {name: done.metrics[name] for name in ("k", "blocks", "information_loss")}
    spark.stop()
    return {**told, **outcome}


def in_files(folder: str, target: str, workers: int, block_rows: int, turns: int) -> Outcome:
    """The last of some releases of the same rows in files."""
    from time import process_time

    import kanon_sql

    outcome: Outcome = {}
    for turn in range(turns):
        begun = process_time()
        kanon_sql.anonymize_files(
            f"{folder}/*.parquet", f"{target}.{turn}", k=K, quasi_identifiers=list(QUASI),
            sensitive=list(PASSING), block_rows=block_rows, threads=workers, progress=False,
        )
        outcome["cpu"] = process_time() - begun
    return outcome


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Spark: kanon_sql.spark.release, k = {K}",
        ["rows", "workers", "blocks", "seconds", "CPU s", "x files' CPU", "x moving's CPU",
         "first CPU s", "loss %", "k of the release"],
        notes=["The rows of the part files, from Parquet to Parquet by Spark, in local[1] and "
               "local[2], without the start of Spark. CPU seconds of Spark and its Python workers, "
               "of the second release; the first also compiles the code of Java. Below "
               f"{FEW:,} rows only the first is made.",
               "files: the same by anonymize_files with as many threads; moving: Spark keeps the "
               "same rows, sends them to its Python workers and back, orders, counts and writes "
               "them, and nothing is grouped."],
    )
    if find_spec("pyspark") is None:
        table.rows.append([None, "needs pip install 'kanon-sql[spark]'", *[None] * 8])
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
        yield [n, None, written["failed"], *[None] * 7]
        return
    for workers in WORKERS:
        say(f"spark: releasing {n:,} rows with {workers} worker{'s' * (workers > 1)}")
        given: dict[str, Any] = {
            "folder": lake, "workers": workers, "block_rows": min(500_000, max(1000, n // 8)),
            "turns": 1 if n < FEW else 2,
        }
        found = apart("spark:release", limit, target=str(folder / f"out_{workers}"), **given)
        files = apart("spark:in_files", limit, target=str(folder / f"files_{workers}"), **given)
        if failed := found.get("failed") or files.get("failed"):
            yield [n, workers, failed, *[None] * 7]
            continue
        yield [
            n, workers, found["blocks"], found["seconds"], found["cpu"],
            found["cpu"] / files["cpu"], found["cpu"] / found["moved"], found["first"],
            found["information_loss"], found["k"],
        ]
