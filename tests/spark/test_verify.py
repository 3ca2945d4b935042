"""What Spark counts over the released values stops a release that doesn't keep what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import OptionError, ReleaseError
from kanon_sql import spark as kanon_spark
from kanon_sql.blocks.learn import learn, survey
from kanon_sql.blocks.metrics import Output
from kanon_sql.duckdb.session import Session

ROWS = """
    SELECT IF(id < 6, 30.5D, 40.5D) AS age, concat('z', id % 1) AS zip,
           IF(id < 6, concat('d', id % 2), concat('d', id % 3)) AS disease
    FROM range(15)
"""
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "sensitive": ["disease"]}


def verified(spark: Any, rows: Any, **options: Any) -> Output:
    from kanon_sql.spark.engine import encoded
    from kanon_sql.spark.request import read_frame
    from kanon_sql.spark.source import FrameRows
    from kanon_sql.spark.verify import count_output, verify_models
    from kanon_sql.spark.worker import CutRows, WorkerSetup

    with Session(None) as session:
        frame = read_frame(session, rows, "UTC", {**ROLES, **options})
        source = FrameRows(session, frame.request, encoded(rows, frame))
        learned = learn(source, survey(source))
    names = ["age", "zip"]
    counted = count_output(rows, names)
    released = rows.selectExpr("*", "0L AS __kanon_block")
    parts = [CutRows(frame.request, learned)]
    verify_models(WorkerSetup(frame.request, "UTC", 1), released, parts, source.tables, 15, names)
    return counted


def test_the_smallest_class_is_counted(spark: Any) -> None:
    assert verified(spark, spark.sql(ROWS), k=5) == (15, 2, 6)


def test_zeros_that_look_different_are_counted_apart(spark: Any) -> None:
    """Spark groups -0.0 with 0.0; a reader of the release sees two combinations."""
    from kanon_sql.spark.verify import count_output

    # Spark itself takes one for the other in IF(x, -0.0, 0.0)
    zeros = [-0.0 if i < 3 else 0.0 for i in range(15)]
    listed = [(zero, [zero], 1) for zero in zeros]
    rows = spark.createDataFrame(listed, "a double, b array<double>, c int")
    for column in "ab":
        assert count_output(rows, ["c", column]) == (15, 2, 3)
    parts = [(-0.0 if i % 3 == 0 else 0.0, i % 2, f"d{i % 5}") for i in range(60)]
    rows = spark.createDataFrame(parts, "part double, age int, ill string")
    done = kanon_spark.release(rows, k=5, l=2, quasi_identifiers=["age"], within="part",
                               sensitive=["ill"])
    seen = done.data.selectExpr("age", "CAST(part AS STRING) AS part").distinct().count()
    assert done.metrics["classes"] == seen and done.metrics["parts"] == 2
    done.unpersist()


@pytest.mark.parametrize(("options", "broken"), [
    ({"l": 3}, "1 of its classes don't keep distinct_l_diversity"),
    ({"l": 4}, "2 of its classes don't keep distinct_l_diversity"),
    ({"alpha": 0.4}, "1 of its classes don't keep alpha_k_anonymity"),
    ({"l": 2.5, "diversity_kind": "entropy"}, "1 of its classes don't keep entropy"),
    ({"l": 3, "diversity_kind": "recursive", "c": 2}, "1 of its classes don't keep recursive"),
    ({"t": 0.1}, "2 of its classes don't keep t_closeness"),
    ({"t": 0.05, "hierarchies": {"disease": "prefix"}}, "2 of its classes don't keep t_closeness"),
    ({"beta": 0.1}, "2 of its classes don't keep beta_likeness"),
    ({"delta": 5.0}, "1 of its classes don't keep delta"),
    ({"alpha": {"d0": 0.45}}, "1 of its classes don't keep alpha_k_anonymity"),
])
def test_a_broken_model_stops_the_release(
    spark: Any, options: dict[str, Any], broken: str
) -> None:
    with pytest.raises(ReleaseError, match=broken):
        verified(spark, spark.sql(ROWS), k=5, **options)


def test_a_model_that_holds_passes(spark: Any) -> None:
    assert verified(spark, spark.sql(ROWS), k=5, l=2)[2] == 6
    assert verified(spark, spark.sql(ROWS), k=5, alpha=0.5)[2] == 6


def test_a_class_below_k_stops_the_release(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from kanon_sql.spark import engine

    monkeypatch.setattr(engine, "count_output", lambda released, quasi: Output(15, 3, 4))
    with pytest.raises(ReleaseError, match="has 4 rows, fewer than k = 5"):
        kanon_spark.release(spark.sql(ROWS), k=5, **ROLES)
    monkeypatch.setattr(engine, "count_output", lambda released, quasi: Output(14, 2, 6))
    with pytest.raises(ReleaseError, match="14 are in the output"):
        kanon_spark.release(spark.sql(ROWS), k=5, **ROLES)


def test_columns_that_differ_in_capitals_alone_are_refused(spark: Any) -> None:
    twice = spark.sql("SELECT 1 AS age, 2 AS AGE, 'a' AS disease")
    with pytest.raises(OptionError, match="two columns 'AGE'"):
        kanon_spark.release(twice, k=5, quasi_identifiers=["age"], sensitive=["disease"])


@pytest.mark.parametrize("name", ["a.b", "a`b"])
def test_a_name_that_spark_takes_for_another_is_refused(spark: Any, name: str) -> None:
    rows = spark.range(30).toDF(name)
    with pytest.raises(OptionError, match="a dot or a backtick"):
        kanon_spark.release(rows, k=5, quasi_identifiers=[name])


CONNECTED = """
import kanon_sql.spark
from pyspark.sql import SparkSession
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.memory", "1g").getOrCreate()
rows = spark.sql("SELECT 18 + id % 61 AS age, concat('d', id % 5) AS disease FROM range(600)")
done = kanon_sql.spark.release(
    rows, k=5, l=2, block_rows=200, quasi_identifiers=["age"], sensitive=["disease"])
kanon_sql.spark.register(spark)
rows.createOrReplaceTempView("rows")
whole = spark.sql("SELECT * FROM anonymize(TABLE(rows), k => 5, quasi_identifiers => array('age'),"
                  "sensitive => array('disease'))").toArrow()
print(type(spark).__module__, done.data.toArrow().num_rows, done.metrics["blocks"],
      done.metrics["k"] >= 5, whole.num_rows)
spark.stop()
"""


@pytest.mark.slow
def test_spark_connect_does_alike(spark: Any) -> None:
    """In a program of its own: one program is either classic or connected."""
    pytest.importorskip("grpc", reason="pyspark[connect] isn't installed")
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECTED], capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.stdout.split() == ["pyspark.sql.connect.session", "600", "3", "True", "600"], (
        done.stderr[-2000:]
    )
