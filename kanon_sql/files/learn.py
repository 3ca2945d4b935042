"""The first pass: what all rows have in common, by sums and counts that no order changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.attributes import Attribute, Categorical, NumberTotals, Numeric, is_numeric
from kanon_sql.encode.cells import check_types, refuse_counts
from kanon_sql.encode.scales import told_scale
from kanon_sql.errors import DataError
from kanon_sql.files.asked import Asked
from kanon_sql.files.questioned import refuse_identifiers
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.persons import OF_NOBODY
from kanon_sql.plan.pipeline import trees_of
from kanon_sql.sql import expression, statement

PARTS = 40
"""Values are summed as multiples of 2 ** -PARTS of the range of their column."""

LEAST_EXPONENT = -1021
"""Smaller numbers are divided by 2 ** LEAST_EXPONENT: 2 to the power of its negative is a double.
"""

FEW = (
    "There are {} rows to anonymize, fewer than k = {}. Lower k, or release nothing."
)
NONE = "There are no rows to anonymize. Check the files."


@dataclass(frozen=True)
class Learned:
    """What was learned of all rows.

    Attributes:
        rows: how many take part.
        suppressed: how many nulls 'suppress' leaves out.
        scales: of the quasi-identifiers, by their names in lower case.
        attributes: how each lies in the geometries.
        counts: how many rows have each category, None a NULL, by the names of such columns.
    """

    rows: int
    suppressed: int
    scales: Mapping[str, Any]
    attributes: tuple[Attribute, ...]
    counts: Mapping[str, Mapping[str | None, int]]


def rows_sql(asked: Asked, relation: Relation | None = None, keyed: bool = True) -> str:
    """SQL of the rows that take part.

    Args:
        relation: some of them; None: all.
        keyed: whether categories are the texts that they are known by.
    """
    columns = ", ".join(map(quoted, asked.columns))
    without = ""
    if asked.call.task.nulls == "suppress":
        names = ", ".join(map(literal, asked.quasi))
        without = f" WHERE __kanon_value(COLUMNS([{names}])) IS NOT NULL"
    rows = expression(
        "blocks.rows", columns=columns, relation=(relation or asked.source).sql,
        without_nulls=without,
    )
    return trees_of(asked.call).keyed(rows) if keyed else rows


def number_of(column: str) -> str:
    """SQL of the number that a column is in the encoding."""
    return f"(__kanon_cell({quoted(column)})).number"


def category_of(column: str) -> str:
    """SQL of the category that a column is in the encoding."""
    return f"(__kanon_cell({quoted(column)})).category"


def kinds_of(asked: Asked) -> list[bool]:
    """Whether each quasi-identifier lies on an axis."""
    types = {caseless(name): kind for name, kind in asked.types.items()}
    trees = {caseless(spec.column) for spec in asked.call.hierarchies}
    as_texts = trees | {caseless(name) for name in asked.call.categorical}
    check_types([Column(name, types[caseless(name)]) for name in asked.quasi])
    return [
        is_numeric(types[caseless(name)]) and caseless(name) not in as_texts for name in asked.quasi
    ]


def _one(session: Session, text: str) -> tuple[Any, ...]:
    (found,) = session.rows(text)
    return tuple(found)


def _whole_sql(asked: Asked) -> str:
    """SQL of how many rows there are, and of a hash of what is left out of them: the query of
    anonymize reads that too, so that a file that is damaged there is refused here as it is there.
    """
    kept = {caseless(name) for name in asked.columns}
    dropped = [quoted(n) for n in asked.source.columns or () if caseless(n) not in kept]
    read = f"bit_xor(hash({', '.join(dropped)}))" if dropped else "0"
    return f"SELECT count(*), {read} FROM {asked.source.sql}"


def learn(session: Session, asked: Asked, folder: Path) -> tuple[Learned, GroupingCall]:
    """Learns the scales; what was learned, and the call with the hierarchies of all rows.

    Args:
        session: over a connection of our own.
        asked: what is asked.
        folder: where the levels of hierarchies are written, which all blocks read.

    Raises:
        DataError: no rows, too few, or values that can't be encoded.
    """
    rows, numeric = rows_sql(asked), kinds_of(asked)
    ends = [
        expression("blocks.ends", number=number_of(name))
        for name, is_number in zip(asked.quasi, numeric, strict=True) if is_number
    ]
    count, found = _one(session, f"SELECT count(*), [{', '.join(ends)}] FROM {rows}")
    everything, _ = _one(session, _whole_sql(asked))
    _refuse_few(count, asked.call.task.least_size)
    if asked.entity is not None:
        of_nobody, = _one(
            session, f"SELECT count(*) FROM {rows} WHERE {quoted(asked.entity)} IS NULL"
        )
        if of_nobody:
            raise DataError(OF_NOBODY.format(entity=asked.entity))
    refuse_identifiers(session, asked, rows_sql(asked, keyed=False))
    totals = _number_totals(session, asked, rows, count, found or [])
    call, counts, attributes = asked.call, {}, []
    trees: dict[str, list[pa.Array]] = {}
    for i, spec in enumerate(asked.call.hierarchies):
        levels = _levels(session, asked, i)
        trees[caseless(spec.column)] = levels
        call = replace(call, hierarchies=tuple(
            replace(other, levels=_written(levels, folder / f"levels_{i}.parquet"), table=None)
            if other is spec else other for other in call.hierarchies
        ))
    weights = {caseless(name): weight for name, weight in asked.call.task.weights.items()}
    distance, nulls = asked.call.task.distance or "sse", asked.call.task.nulls
    for name, is_number in zip(asked.quasi, numeric, strict=True):
        weight = weights.get(caseless(name), 1.0)
        if is_number:
            attribute: Attribute = Numeric.of_totals(name, weight, totals[name], distance)
            missing = round((1.0 - totals[name].share) * count)
        else:
            text = statement("blocks.counts", category=category_of(name), rows=rows)
            table = session.query(text, lambda relation: relation.to_arrow_table())
            values = table["category"].combine_chunks().cast(pa.string())
            sizes = table["size"].to_numpy().astype(np.int64)
            counts[name] = dict(zip(values.to_pylist(), sizes.tolist(), strict=True))
            plain = Categorical.fit(
                name, weight, values.drop_null(), trees.get(caseless(name)), distance
            )
            attribute = plain.counted(values, sizes, distance)
            missing = counts[name].get(None, 0)
        refuse_counts(name, 0, missing, nulls)
        attributes.append(attribute)
    scales = {caseless(a.name): told_scale(a) for a in attributes}
    return Learned(count, everything - count, scales, tuple(attributes), counts), call


def _refuse_few(count: int, least: int) -> None:
    if count == 0:
        raise DataError(NONE)
    if count < least:
        raise DataError(FEW.format(count, least))


def _number_totals(
    session: Session, asked: Asked, rows: str, count: int, ends: list[dict[str, Any]]
) -> dict[str, NumberTotals]:
    """The totals of the columns of numbers."""
    names = [n for n, is_number in zip(asked.quasi, kinds_of(asked), strict=True) if is_number]
    begun: dict[str, NumberTotals] = {}
    sums: dict[str, str] = {}
    for name, end in zip(names, ends, strict=True):
        refuse_counts(name, end["infinite"], 0, asked.call.task.nulls)
        share = end["known"] / count
        begun[name] = NumberTotals(share)
        if not end["known"] or end["low"] == end["high"]:
            continue
        exponent = max(int(np.frexp(max(abs(end["low"]), abs(end["high"])))[1]), LEAST_EXPONENT)
        low = float(np.ldexp(end["low"] + 0.0, -exponent))
        span = float(np.ldexp(end["high"] + 0.0, -exponent)) - low
        begun[name] = NumberTotals(share, exponent, low, 0.0, span)
        part = expression(
            "blocks.part", number=number_of(name), unit=f"{2.0**-exponent!r}::DOUBLE",
            low=f"{low!r}::DOUBLE", span=f"{span!r}::DOUBLE",
        )
        sums[name] = expression("blocks.sums", part=part)
    if not sums:
        return begun
    found, = _one(session, f"SELECT [{', '.join(sums.values())}] FROM {rows}")
    for name, end in zip(sums, found, strict=True):
        known = round(begun[name].share * count)
        total, squares = int(end["sum"]), int(end["squares"])
        # in whole numbers, so that nothing cancels
        variance = (known * squares - total * total) / known**2
        scale = begun[name].span / 2.0**PARTS
        begun[name] = replace(
            begun[name], mean=total / known * scale, deviation=float(np.sqrt(variance)) * scale
        )
    return begun


def _levels(session: Session, asked: Asked, i: int) -> list[pa.Array]:
    """The labels of the leaves of a hierarchy, level by level, root last, over all rows."""
    spec = asked.call.hierarchies[i]
    rows = rows_sql(asked, keyed=False)
    tree = Hierarchies([spec], asked.call.show_values, "__kanon_values").stages().rstrip(",\n")
    text = f"WITH __kanon_values AS {rows}, {tree} SELECT unnest(paths) AS path FROM __kanon_tree_1"
    paths = session.rows(text)
    height = len(paths[0][0])
    return [pa.array([path[level] for (path,) in paths], pa.string()) for level in range(height)]


def _written(levels: list[pa.Array], path: Path) -> Relation:
    """The levels as a file that blocks read."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"level{i}": level for i, level in enumerate(levels)}), path)
    text = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    return Relation(text, (str(path),))
