"""Columns of every type that Spark and DuckDB share come out as they went in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kanon_sql import DataError
from kanon_sql import spark as kanon_spark
from kanon_sql.blocks.learn import Learned, learn, survey
from kanon_sql.blocks.request import read_request
from kanon_sql.blocks.source import BlockSource
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.scales import scale_json
from kanon_sql.files.source import FileRows

WIDE = """
    SELECT CAST(id % 5 AS TINYINT) AS tiny, id % 7 = 0 AS flag,
           CAST(id % 90 / 10 AS DECIMAL(9, 2)) AS paid,
           CASE WHEN id % 31 = 0 THEN NULL WHEN id % 29 = 0 THEN double('NaN')
                ELSE id % 13 / 3.0D END AS dose,
           DATE '2024-01-01' + CAST(id % 300 AS INT) AS day,
           TIMESTAMP_NTZ '2024-03-10 02:30:00' + make_interval(0, 0, 0, 0, id % 50) AS local,
           CASE WHEN id % 4 <> 0 THEN concat('c', id % 6) END AS code,
           TIMESTAMP '2024-11-03 01:30:00' + make_interval(0, 0, 0, 0, id % 9) AS seen,
           array(id, NULL) AS list, named_struct('a', id, 'b', concat('x', id)) AS both,
           map(concat('k', id % 3), id) AS pairs, CAST(concat('b', id) AS BINARY) AS bytes,
           CAST(id AS DECIMAL(30, 5)) AS exact, double('NaN') AS nothing,
           CAST(NULL AS STRING) AS empty, CAST(id AS FLOAT) AS single
    FROM range(240)
"""
QUASI = ["tiny", "flag", "paid", "dose", "day", "local", "code"]
PASSING = ["seen", "list", "both", "pairs", "bytes", "exact", "nothing", "empty", "single"]


@pytest.fixture(scope="module")
def wide(spark: Any) -> Any:
    return spark.sql(WIDE).repartition(2).cache()


def test_columns_that_pass_come_out_as_they_went_in(wide: Any) -> None:
    released = kanon_spark.release(
        wide, k=4, quasi_identifiers=QUASI, sensitive=PASSING, block_rows=120
    )
    assert released.data.columns == wide.columns
    for name in PASSING:
        assert released.data.schema[name].dataType == wide.schema[name].dataType, name
    texts = [Counter(map(repr, df.select(*PASSING).collect())) for df in (released.data, wide)]
    assert texts[0] == texts[1]
    assert released.metrics["rows_released"] == 240
    released.unpersist()


def learned_of(source: BlockSource) -> tuple[Learned, int]:
    """What is learned, and how many rows there are with those that are left out."""
    common = survey(source)
    return learn(source, common), common.rows_in


@pytest.mark.parametrize("options", [
    {}, {"distance": "loss", "method": "k_member"}, {"hierarchies": {"code": "prefix"}},
    {"nulls": "suppress"},
], ids=["sse", "loss", "tree", "suppress"])
def test_scales_are_those_that_files_learn(
    spark: Any, wide: Any, tmp_path: Any, options: dict[str, Any]
) -> None:
    from kanon_sql.spark.engine import encoded
    from kanon_sql.spark.request import read_frame
    from kanon_sql.spark.source import FrameRows

    asked = {"k": 4, "quasi_identifiers": QUASI, "others": "drop", **options}
    with Session(None) as session:
        of_files = read_request(session, wide.select(*QUASI).toArrow(), asked)
        known, known_rows = learned_of(FileRows(session, of_files, tmp_path))
    with Session(None) as session:
        frame = read_frame(session, wide, "America/New_York", asked)
        found, rows = learned_of(FrameRows(session, frame.request, encoded(wide, frame)))
    assert (found.rows, rows) == (known.rows, known_rows)
    assert found.counts == known.counts
    for one, other in zip(found.attributes, known.attributes, strict=True):
        told, wanted = scale_json(one), scale_json(other)
        assert told.keys() == wanted.keys()
        for name, value in wanted.items():
            if isinstance(value, str):
                assert told[name] == value
            else:
                assert told[name] == pytest.approx(value, rel=1e-9), (one.name, name)


def test_a_person_is_in_one_block(spark: Any) -> None:
    rows = spark.sql("""
        SELECT concat('p', id % 150) AS who, 20 + id % 61 AS age, id % 17 AS ward,
               concat('d', id % 5) AS disease
        FROM range(600)
    """)
    options: dict[str, Any] = {
        "k": 5, "entity": "who", "quasi_identifiers": ["age", "ward"], "sensitive": ["disease"]
    }
    released = kanon_spark.release(rows, block_rows=200, **options)
    assert released.metrics["persons"] == 150
    assert released.metrics["rows_released"] == 600
    assert "who" not in released.data.columns
    assert released.metrics["k"] >= 5
    released.unpersist()
    lost = rows.withColumn("who", rows["who"].try_cast("int"))
    with pytest.raises(DataError, match="who"):
        kanon_spark.release(lost, **options)


def test_a_column_that_nobody_named_may_be_no_identifier(spark: Any) -> None:
    rows = spark.sql("SELECT id % 50 AS age, concat('n', id) AS name FROM range(300)")
    with pytest.raises(DataError, match="'name', which has no role"):
        kanon_spark.release(rows, k=5, quasi_identifiers=["age"], others="release")
