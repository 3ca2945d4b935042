"""A DataFrame in, a DataFrame out: what ``kanon_sql.spark.release`` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from pyspark.errors import PySparkException

from kanon_sql.blocks.beside_ledger import release_beside_ledger
from kanon_sql.blocks.driver import release_in_blocks
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import OptionError
from kanon_sql.names import literal
from kanon_sql.spark.beside_ledger import EarlierInSpark
from kanon_sql.spark.engine import FrameEngine
from kanon_sql.spark.ledger import ledger_frame, named
from kanon_sql.spark.released import SparkRelease
from kanon_sql.spark.request import empty, read_frame, refuse_no_frame
from kanon_sql.version import __version__

ABSENT = (
    "Spark's Python workers don't find kanon_sql {}. Install it where they run, in the Python that "
    "PYSPARK_PYTHON names."
)
"""Its SQL and its compiled kernels are files, which a zip sent to the workers can't give them."""


def release_frame(df: Any, options: Mapping[str, Any]) -> SparkRelease:
    """Releases a DataFrame; see ``kanon_sql.spark.release``."""
    refuse_no_frame(df)
    started = perf_counter()
    spark, name, ledger = df.sparkSession, options.get("ledger"), None
    zone = spark.conf.get("spark.sql.session.timeZone")
    if name is not None:
        ledger = ledger_frame(spark, name)
        options = {**options, "ledger": empty(ledger.schema)}
    with Session(None) as session:
        # labels of times are made here, and by the workers
        session.con.execute(f"SET TimeZone = {literal(zone)}")
        frame = read_frame(session, df, zone, options)
        frame = replace(frame, request=named(frame.request, name))
        engine = FrameEngine(session, spark, frame, df)
        try:
            if frame.request.call.ledger is None:
                metrics = release_in_blocks(engine)
            else:
                metrics = release_beside_ledger(
                    engine, lambda learned: EarlierInSpark(engine, ledger, learned)
                )
            return engine.hand_out({**metrics, "seconds": perf_counter() - started})
        except PySparkException as error:
            if "No module named 'kanon_sql" in str(error):
                raise OptionError(ABSENT.format(__version__)) from None
            raise
        finally:
            engine.free()
