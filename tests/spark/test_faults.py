"""A task that fails, or whose Python worker dies, is done again by Spark, and the release is the
same to the byte. In a program of its own, whose Spark tries each task again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import os
import sys
from pathlib import Path
import pyarrow as pa
from pyspark.sql import SparkSession
import kanon_sql.spark
from kanon_sql.spark import engine

os.environ["PYSPARK_PYTHON"] = sys.executable
folder = Path(sys.argv[1])
builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
for name, value in {
    "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", "spark.speculation": "true",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
rows = spark.sql("SELECT 18 + id * 7919 % 61 AS age, concat('4', id % 90) AS zip, "
                 "concat('d', xxhash64(id) % 6) AS disease FROM range(2000)").repartition(3)
grouper = engine.grouper


def wrapped(*given):
    group, now, at = grouper(*given), failing, str(folder)

    def failing_once(rows: pa.Table) -> pa.Table:
        import os
        marker = os.path.join(at, now)
        if now in ("raises", "dies") and not os.path.exists(marker):
            open(marker, "w").close()
            if now == "dies":
                os._exit(3)
            raise RuntimeError("once")
        return group(rows)

    return failing_once


def read(batches):
    import os
    for batch in batches:
        if not os.path.exists(os.path.join(at, "reads")):
            open(os.path.join(at, "reads"), "w").close()
            os._exit(3)
        yield batch


engine.grouper, at = wrapped, str(folder)
told = []
for failing in ("", "raises", "dies", "reads"):
    source = rows.mapInArrow(read, rows.schema) if failing == "reads" else rows
    done = kanon_sql.spark.release(
        source, k=5, t=0.4, block_rows=400, quasi_identifiers=["age", "zip"],
        sensitive=["disease"], class_id=True, seed=1)
    told.append(repr(done.data.collect()))
    done.unpersist()
print(len(set(told)), sorted(each.name for each in folder.iterdir()), len(told[0]) > 2000 * 20)
spark.stop()
"""


@pytest.mark.slow
def test_tasks_that_are_tried_again_give_the_same(spark: Any, tmp_path: Path) -> None:
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)], capture_output=True,
        text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.stdout.strip() == "1 ['dies', 'raises', 'reads'] True", done.stderr[-3000:]
