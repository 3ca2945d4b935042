"""The first pass in Spark: what all rows have in common, in sums that no order of them changes.

What it finds is what kanon_sql.files.learn finds of the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.attributes import Attribute, Categorical, NumberTotals, Numeric
from kanon_sql.encode.cells import refuse_counts
from kanon_sql.encode.scales import told_scale
from kanon_sql.errors import DataError
from kanon_sql.files.asked import Asked
from kanon_sql.files.learn import FEW, LEAST_EXPONENT, PARTS, Learned
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.persons import OF_NOBODY
from kanon_sql.spark.columns import cell, column
from kanon_sql.spark.questioned import refuse_identifiers
from kanon_sql.spark.verify import SIZE
from kanon_sql.sql import expression

NONE = "There are no rows to anonymize. Check the DataFrame."
VALUES = "kanon_values"


@dataclass(frozen=True)
class Common:
    """What all rows have in common.

    Attributes:
        learned: of them.
        call: the call, its hierarchies those of all rows.
        levels: of these hierarchies, by the names under which the call knows them.
    """

    learned: Learned
    call: GroupingCall
    levels: Mapping[str, pa.Table]


def taking_part(asked: Asked, encoded: Any) -> Any:
    """The encoded rows without those that nulls 'suppress' leaves out."""
    if asked.call.task.nulls != "suppress":
        return encoded
    for i in range(len(asked.quasi)):
        encoded = encoded.filter(F.col(cell(i)).isNotNull())
    return encoded


def learn(session: Session, asked: Asked, encoded: Any, numeric: Sequence[bool]) -> Common:
    """Learns the scales.

    Args:
        session: over a connection of our own.
        asked: what is asked.
        encoded: the rows with their cells.
        numeric: whether each quasi-identifier lies on an axis.

    Raises:
        DataError: no rows, too few, or values that can't be encoded.
    """
    rows = taking_part(asked, encoded)
    spots = [i for i, is_number in enumerate(numeric) if is_number]
    ends, count = _ends(rows, spots)
    everything = count if rows is encoded else encoded.count()
    if count == 0:
        raise DataError(NONE)
    if count < asked.call.task.least_size:
        raise DataError(FEW.format(count, asked.call.task.least_size))
    _refuse_of_nobody(asked, rows)
    refuse_identifiers(asked, rows)
    nulls, distance = asked.call.task.nulls, asked.call.task.distance or "sse"
    totals = _totals(rows, spots, ends, count, {i: asked.quasi[i] for i in spots}, nulls)
    call, trees, levels = _trees(session, asked, rows)
    weights = {caseless(name): weight for name, weight in asked.call.task.weights.items()}
    counts: dict[str, Mapping[str | None, int]] = {}
    attributes: list[Attribute] = []
    for i, name in enumerate(asked.quasi):
        weight = weights.get(caseless(name), 1.0)
        if numeric[i]:
            attributes.append(Numeric.of_totals(name, weight, totals[i], distance))
            missing = round((1.0 - totals[i].share) * count)
        else:
            found = rows.groupBy(cell(i)).agg(F.count(F.lit(1)).alias("size")).toArrow()
            values = found[cell(i)].combine_chunks().cast(pa.string())
            sizes = found["size"].to_numpy().astype(np.int64)
            counts[name] = dict(zip(values.to_pylist(), sizes.tolist(), strict=True))
            plain = Categorical.fit(
                name, weight, values.drop_null(), trees.get(caseless(name)), distance
            )
            attributes.append(plain.counted(values, sizes, distance))
            missing = counts[name].get(None, 0)
        refuse_counts(name, 0, missing, nulls)
    scales = {caseless(a.name): told_scale(a) for a in attributes}
    learned = Learned(count, everything - count, scales, tuple(attributes), counts)
    return Common(learned, call, levels)


def _refuse_of_nobody(asked: Asked, rows: Any) -> None:
    """Raises DataError for rows that say of no person whose they are."""
    if asked.entity is not None and rows.filter(column(asked.entity).isNull()).limit(1).count():
        raise DataError(OF_NOBODY.format(entity=asked.entity))


def _ends(rows: Any, spots: Sequence[int]) -> tuple[Mapping[int, Any], int]:
    """What the scales of columns of numbers begin with, by column; and how many rows there are."""
    asked = [F.count(F.lit(1)).alias("count")]
    for i in spots:
        value = F.col(cell(i))
        infinite = F.abs(value) == F.lit(float("inf"))
        asked += [
            F.count(value).alias(f"known{i}"), F.count_if(infinite).alias(f"infinite{i}"),
            F.min(value).alias(f"low{i}"), F.max(value).alias(f"high{i}"),
        ]
    (found,) = rows.agg(*asked).collect()
    words = ("known", "infinite", "low", "high")
    return {i: {word: found[f"{word}{i}"] for word in words} for i in spots}, found["count"]


def _totals(
    rows: Any, spots: Sequence[int], ends: Mapping[int, Any], count: int, names: Mapping[int, str],
    nulls: str,
) -> dict[int, NumberTotals]:
    """The totals of the columns of numbers: values are summed as whole parts of their range."""
    begun: dict[int, NumberTotals] = {}
    sums: list[Any] = []
    for i in spots:
        end = ends[i]
        refuse_counts(names[i], end["infinite"], 0, nulls)
        share = end["known"] / count
        begun[i] = NumberTotals(share)
        if not end["known"] or end["low"] == end["high"]:
            continue
        exponent = max(int(np.frexp(max(abs(end["low"]), abs(end["high"])))[1]), LEAST_EXPONENT)
        low = float(np.ldexp(end["low"] + 0.0, -exponent))
        span = float(np.ldexp(end["high"] + 0.0, -exponent)) - low
        begun[i] = NumberTotals(share, exponent, low, 0.0, span)
        place = (F.col(cell(i)) * F.lit(2.0**-exponent) - F.lit(low)) / F.lit(span)
        # 2^40 has 13 digits, so that a square has 27, and the sum of 10^11 of them 38
        part = F.round(place * F.lit(2.0**PARTS)).cast("decimal(13,0)")
        sums += [
            F.sum(part).cast("decimal(38,0)").alias(f"sum{i}"),
            F.sum((part * part).cast("decimal(28,0)")).alias(f"squares{i}"),
        ]
    if not sums:
        return begun
    (found,) = rows.agg(*sums).collect()
    for i in spots:
        if begun[i].span == 0.0:
            continue
        known = ends[i]["known"]
        total, squares = (_whole(found[f"{word}{i}"]) for word in ("sum", "squares"))
        # in whole numbers, so that nothing cancels
        variance = (known * squares - total * total) / known**2
        scale = begun[i].span / 2.0**PARTS
        begun[i] = replace(
            begun[i], mean=total / known * scale, deviation=float(np.sqrt(variance)) * scale
        )
    return begun


def _whole(value: Decimal) -> int:
    return int(value)


def _trees(
    session: Session, asked: Asked, rows: Any
) -> tuple[GroupingCall, dict[str, list[pa.Array]], dict[str, pa.Table]]:
    """The call with the hierarchies of all rows; their levels, by column and by the names under
    which the call knows them."""
    call = asked.call
    trees: dict[str, list[pa.Array]] = {}
    tables: dict[str, pa.Table] = {}
    for i, spec in enumerate(asked.call.hierarchies):
        levels = trees[caseless(spec.column)] = _levels(session, asked, rows, i)
        name = f"kanon_levels_{i}"
        tables[name] = pa.table({f"level{j}": level for j, level in enumerate(levels)})
        call = replace(call, hierarchies=tuple(
            replace(other, levels=Relation(quoted(name), (name,)), table=None)
            if other is spec else other for other in call.hierarchies
        ))
    return call, trees, tables


def _levels(session: Session, asked: Asked, rows: Any, i: int) -> list[pa.Array]:
    """The labels of the leaves of a hierarchy, level by level, root last, over all rows."""
    spec = asked.call.hierarchies[i]
    found = rows.groupBy(column(spec.column)).agg(F.count(F.lit(1)).alias(SIZE)).toArrow()
    session.con.register(VALUES, found.rename_columns([spec.column, SIZE]))
    values = expression("spark.expanded", column=quoted(spec.column), rows=VALUES)
    tree = Hierarchies([spec], asked.call.show_values, "__kanon_values").stages().rstrip(",\n")
    text = (
        f"WITH __kanon_values AS {values}, {tree} "
        "SELECT unnest(paths) AS path FROM __kanon_tree_1"
    )
    try:
        paths = session.rows(text)
    finally:
        session.con.unregister(VALUES)
    height = len(paths[0][0])
    return [pa.array([path[level] for (path,) in paths], pa.string()) for level in range(height)]
