"""The last pass in Spark: k and every model, counted over the released values of all blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.blocks.metrics import Output
from kanon_sql.errors import KanonError, ReleaseError
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import listed
from kanon_sql.plan.models import checked, model_stages, secret_trees
from kanon_sql.privacy import PrivacyModel
from kanon_sql.spark.columns import BLOCK, SHIFT, SIZE, column, signs
from kanon_sql.spark.worker import ROWS, CutRows, WorkerSetup, asked_of, known_to, opened
from kanon_sql.sql import statement

PIECE_ROWS = 1_000_000
"""Released rows whose models are checked at a time, about."""

FOUND = pa.schema([
    ("model", pa.int32()), ("has", pa.float64()), ("broken", pa.int64()), ("error", pa.string())
])
FOUND_SQL = "model int, has double, broken long, error string"
PART, PIECE = "__kanon_part", "__kanon_piece"

BROKEN = (
    "The release was stopped: {} of its classes don't keep {}. Nothing was released; please report "
    "this as a bug of the method {}."
)
CROSSED = (
    "The release was stopped: {} combinations of values of the columns of within are of several "
    "parts. Nothing was released; please report this as a bug."
)


def count_output(released: Any, counted: Sequence[str]) -> Output:
    """How many rows are released, in how many combinations of the released values of these columns,
    and how many the smallest of them has; None without rows."""
    keys = (*map(column, counted), *signs(released, counted))
    sizes = released.groupBy(*keys).agg(F.count(F.lit(1)).alias(SIZE))
    (totals,) = sizes.agg(
        F.coalesce(F.sum(SIZE), F.lit(0)).alias("rows"), F.count(F.lit(1)).alias("classes"),
        F.min(SIZE).alias("least"),
    ).collect()
    return Output(totals["rows"], totals["classes"], totals["least"])


def verify_models(
    work: WorkerSetup, released: Any, parts: Sequence[CutRows], tables: Mapping[str, pa.Table],
    rows: int,
    counted: Sequence[str],
) -> None:
    """Checks each model in the SQL of ``anonymize``, over what Spark counted.

    Args:
        work: what workers need to know.
        released: the released rows, with their blocks.
        parts: what is cut by itself.
        tables: that all blocks read, by name.
        rows: how many rows there are.
        counted: the columns by which k is counted.

    Raises:
        ReleaseError: a combination of released values doesn't keep a model.
    """
    by_name = {caseless(name): name for name in released.columns}
    task = parts[0].learned.call.task
    within = [by_name[caseless(name)] for name in parts[0].within]
    by_column: dict[str, list[PrivacyModel]] = {}
    for model in task.models:
        by_column.setdefault(by_name[caseless(model.column)], []).append(model)
    part = F.shiftright(F.col(BLOCK), SHIFT).cast("int")
    if by_column and within:
        _refuse_crossed(released, within, part)
    for secret, models in by_column.items():
        # the column may be one of the others too, whose released values stand beside its own
        names = dict.fromkeys([*counted, secret])
        apart = signs(released, list(names))
        sizes = released.groupBy(part.alias(PART), *map(column, names), *apart).agg(
            F.count(F.lit(1)).alias(SIZE)
        ).select(PART, *map(column, names), SIZE)
        checks = sizes.withColumn(PIECE, _piece(parts, counted, within, rows)).groupBy(
            PART, PIECE
        ).applyInArrow(
            _checker(work, [each.to_workers for each in parts], tables, tuple(models), secret,
                     tuple(counted)),
            FOUND_SQL,
        ).collect()
        for row in checks:
            if row["error"] is not None:
                raise ReleaseError(row["error"])
        for j, model in enumerate(models):
            broken = sum(row["broken"] for row in checks if row["model"] == j)
            if broken:
                raise ReleaseError(BROKEN.format(broken, model.in_words, task.method.name))


def _refuse_crossed(released: Any, within: Sequence[str], part: Any) -> None:
    """Raises ReleaseError where rows of a part were cut with those of another."""
    ends = released.groupBy(*map(column, within), *signs(released, within)).agg(
        F.min(part).alias("first"), F.max(part).alias("last")
    )
    crossed = ends.filter("first <> last").count()
    if crossed:
        raise ReleaseError(CROSSED.format(crossed))


def _piece(parts: Sequence[CutRows], counted: Sequence[str], within: Sequence[str],
           rows: int) -> Any:
    """In which piece a combination is counted: small parts are whole in one."""
    pieces = F.lit(max(1, -(-rows // PIECE_ROWS)))
    place = F.pmod(F.xxhash64(*map(column, counted)), pieces)
    small = [i for i, part in enumerate(parts) if part.apart]
    if not small:
        return place
    whole = F.pmod(F.xxhash64(*map(column, within)), pieces)
    return F.when(F.col(PART).isin(small), whole).otherwise(place)


def _checker(
    work: WorkerSetup, parts: Sequence[CutRows], tables: Mapping[str, pa.Table],
    models: tuple[PrivacyModel, ...], secret: str, counted: tuple[str, ...],
) -> Callable[[pa.Table], pa.Table]:
    """A function for applyInArrow: how many combinations don't keep each model."""

    def check(rows: pa.Table) -> pa.Table:
        try:
            session = opened(work.zone, work.threads)
            known_to(session, tables)
            text = _check_sql(parts[rows[PART][0].as_py()], models, secret, counted)
            checks = asked_of(session, text, rows.drop_columns([PART, PIECE]))
            return checks.append_column("error", pa.nulls(len(checks), pa.string())).cast(FOUND)
        except KanonError as error:
            return pa.Table.from_pylist([{"error": str(error)}], schema=FOUND)

    return check


def _check_sql(
    part: CutRows, models: tuple[PrivacyModel, ...], secret: str, counted: tuple[str, ...]
) -> str:
    """SQL of how many combinations don't keep each model, over what Spark counted."""
    call, in_parts = part.learned.call, part.apart
    own = [spec for spec in call.of_sensitive if caseless(spec.column) == caseless(secret)]
    trees = secret_trees(replace(call, of_sensitive=tuple(own)))
    places = checked(models, (secret,), in_parts, call.domains)
    part_of = {"part": "part, " if in_parts else ""}
    stages = model_stages(
        places, (secret,), lambda i, name: statement("spark.histogram", **part_of),
        {caseless(name): number for number, name in trees.numbered()}, in_parts, call.domains,
    )
    broken = "\n    UNION ALL\n    ".join(
        statement("models.broken", j=each.j, worst=each.worst, stage=each.stage)
        for each in places
    )
    numbered = f", dense_rank() OVER (ORDER BY {listed(part.within)}) AS part"
    return statement(
        "spark.models", counted=listed(counted), column=quoted(secret), rows=quoted(ROWS),
        part=numbered if in_parts else "", trees=trees.stages(), stages=stages, broken=broken,
    )
