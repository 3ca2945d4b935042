"""Rows of a DataFrame in parts: Spark counts them, and the SQL of ``anonymize`` says what becomes
of small ones; see kanon_sql.blocks.parts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.blocks.parts import Divided, divided
from kanon_sql.blocks.request import Request
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session
from kanon_sql.plan.parts import parts_sql, refusals_of_parts, same_part
from kanon_sql.spark.columns import BLOCK, JOINED, KEY, PACK, SIZE, column
from kanon_sql.sql import statement

COUNTED = "kanon_parts_counted"
PERSONS = "__kanon_persons"


def divide(session: Session, spark: Any, request: Request, rows: Any) -> tuple[Divided, Any]:
    """How rows are divided; the rows that are not left out, with their pack and whether their part
    is put together with others.

    Args:
        session: over a connection of our own.
        spark: the Spark session.
        request: what is asked.
        rows: those that take part, with their cells.

    Raises:
        DataError: parts that are too small.
    """
    entity, within = request.entity, request.within
    of_persons = [] if entity is None else [F.count_distinct(column(entity)).alias(PERSONS)]
    counted = rows.groupBy(KEY).agg(
        *(F.any_value(column(name)).alias(name) for name in within),
        F.count(F.lit(1)).alias(SIZE), *of_persons,
    )
    session.con.register(COUNTED, counted.toArrow())
    stages = parts_sql(request.call, {
        "rows": f"sum({SIZE})::BIGINT",
        "persons": f"{'NULL' if entity is None else f'sum({PERSONS})'}::BIGINT",
    })
    with session.refusals():
        session.con.execute(telling(statement(
            "blocks.parts", rows=COUNTED, stages=stages, refusals=refusals_of_parts(request.call)
        )))
    division = divided(
        session.rows(statement("blocks.part_sizes")), request.call.task.block_size()
    )
    text = statement(
        "spark.parts", key=KEY, rows=COUNTED, same=same_part(request.call, "__kanon_taking")
    )
    parts = session.query(text, lambda relation: relation.to_arrow_table())
    packs = {number: i for i, pack in enumerate(division.packs) for number in pack.parts}
    lookup = pa.table({
        KEY: parts[KEY],
        PACK: pa.array([packs[number] for number in parts["number"].to_pylist()], pa.int64()),
        **({JOINED: parts["joined"]} if request.call.small_parts == "join" else {}),
    })
    return division, rows.join(F.broadcast(spark.createDataFrame(lookup)), KEY).drop(KEY)


def in_packs(spark: Any, rows: Any, numbers: dict[str, int]) -> Any:
    """The rows of these packs, with a number for each in the column BLOCK."""
    table = pa.table({
        PACK: pa.array(map(int, numbers), pa.int64()), BLOCK: pa.array(numbers.values(), pa.int64())
    })
    return rows.join(F.broadcast(spark.createDataFrame(table)), PACK)
