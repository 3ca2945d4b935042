"""The first pass: what all rows have in common, by sums and counts that no order changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.blocks.identifier_check import refuse_identifiers
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import BlockSource, ColumnRange, levels_of
from kanon_sql.blocks.values import learn_values
from kanon_sql.call.call import GroupingCall
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.encode.attributes import Attribute, Categorical, NumberTotals, Numeric
from kanon_sql.encode.cells import refuse_counts
from kanon_sql.encode.precision import steps_of_type
from kanon_sql.encode.scales import scale_json
from kanon_sql.errors import DataError
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.methods.auto import AUTO, TableShape, settle
from kanon_sql.names import caseless
from kanon_sql.plan.persons import OF_NOBODY
from kanon_sql.points.sensitive import SensitiveColumn

PARTS = 40
"""Values are summed as multiples of 2 ** -PARTS of the range of their column."""

LEAST_EXPONENT = -1021
"""Smaller numbers are divided by 2 ** LEAST_EXPONENT: 2 to the power of its negative is a double.
"""

FEW = (
    "There are {} rows to anonymize, fewer than k = {}. Lower k, or release nothing."
)
NONE = "There are no rows to anonymize. Check the {}."


@dataclass(frozen=True)
class Learned:
    """What was learned of all rows, or of those of one part.

    Attributes:
        rows: how many take part.
        call: the call, its hierarchies those of all rows, its method chosen.
        scales: of the quasi-identifiers, by their names in lower case; None where each part of the
            rows has its own.
        attributes: how each lies in the geometries.
        counts: how many rows have each category, None a NULL, by the names of such columns.
        known: the sensitive columns that models hold against all rows, or by a hierarchy, by their
            names in lower case.
        chosen: what is told of the method, where it was left to kanon_sql.methods.auto.
        going_on: the classes of a ledger that its rows may join, if there are any: see
            kanon_sql.stages.block.
    """

    rows: int
    call: GroupingCall
    scales: Mapping[str, Any] | None = None
    attributes: tuple[Attribute, ...] = ()
    counts: Mapping[str, Mapping[str | None, int]] = field(default_factory=dict)
    known: Mapping[str, SensitiveColumn] = field(default_factory=dict)
    chosen: str | None = None
    going_on: Any = None


@dataclass(frozen=True)
class Common:
    """What all rows have in common, whatever parts they are in.

    Attributes:
        request: what is asked of them.
        rows: how many take part.
        rows_in: how many there are with those that nulls 'suppress' leaves out.
        ends: of the columns of numbers, by their places among the quasi-identifiers.
        call: the call, its hierarchies those of all rows.
        trees: their levels, by column in lower case.
    """

    request: Request
    rows: int
    rows_in: int
    ends: Mapping[int, ColumnRange]
    call: GroupingCall
    trees: Mapping[str, Sequence[pa.Array]]


def survey(source: BlockSource) -> Common:
    """Counts the rows and makes the hierarchies.

    Raises:
        DataError: no rows, too few, rows of nobody, or a column that may be one of identifiers.
    """
    count, ends = _ends(source)
    rows_in = source.rows_in()
    _refuse_few(source, count)
    entity = source.request.entity
    if entity is not None and source.lacks_persons():
        raise DataError(OF_NOBODY.format(entity=entity))
    refuse_identifiers(source)
    call, trees = _hierarchies(source)
    release = replace(call.release, precisions=_precisions(source.request, ends))
    return Common(source.request, count, rows_in, ends, replace(call, release=release), trees)


def _precisions(request: Request, ends: Mapping[int, ColumnRange]) -> dict[str, int]:
    """How fine the values of columns are, by their names in lower case."""
    found = {}
    for i, end in ends.items():
        name = request.quasi[i]
        steps = steps_of_type(request.type_of(name))
        if end.steps is not None and end.steps < len(steps):
            found[caseless(name)] = steps[end.steps]
    return found


def learn(source: BlockSource, common: Common, part: int = 0) -> Learned:
    """Learns the scales, and how sensitive values are spread.

    Args:
        source: all rows, or those of a part of them.
        common: what all of them have in common.
        part: the number of the part.

    Raises:
        DataError: values that can't be encoded.
    """
    request, task = source.request, common.call.task
    count, ends = common.rows, common.ends
    if source.request is not common.request:
        count, ends = _ends(source)
    totals = _number_totals(source, count, ends)
    weights = {caseless(name): weight for name, weight in task.weights.items()}
    distance, counts, attributes, gaps = task.distance or "sse", {}, [], False
    for i, name in enumerate(request.quasi):
        weight = weights.get(caseless(name), 1.0)
        if i in totals:
            attribute: Attribute = Numeric.of_totals(name, weight, totals[i], distance)
            missing = round((1.0 - totals[i].share) * count)
        else:
            attribute, counts[name] = _categorical(
                source, i, weight, common.trees.get(caseless(name)), distance
            )
            missing = counts[name].get(None, 0)
        refuse_counts(name, 0, missing, task.nulls)
        attributes.append(attribute)
        gaps = gaps or missing > 0
    task, chosen = _settled(source, task, count, gaps)
    known, domains = learn_values(source, task.models, common.trees, part)
    call = replace(common.call, task=task, roles=request.call.roles, domains=domains)
    scales = {caseless(a.name): scale_json(a) for a in attributes}
    return Learned(count, call, scales, tuple(attributes), counts, known, chosen)


def _settled(
    source: BlockSource, task: GroupTask, rows: int, gaps: bool
) -> tuple[GroupTask, str | None]:
    """The task of the method that it asks for, and what is told of the choice."""
    if task.method is not AUTO:
        return task, None
    numeric = source.request.numeric
    count = source.persons() if task.persons else rows
    if task.block_rows is None and rows > task.block_size():
        # methods that group all rows as one are not for so many
        task = replace(task, block_rows=task.block_size())
    looked = TableShape(count, sum(numeric), len(numeric) - sum(numeric), gaps)
    return settle(task, looked, METHODS)


def _ends(source: BlockSource) -> tuple[int, dict[int, ColumnRange]]:
    spots = [i for i, is_number in enumerate(source.request.numeric) if is_number]
    count, ends = source.ends(spots)
    return count, dict(zip(spots, ends, strict=True))


def _refuse_few(source: BlockSource, count: int) -> None:
    least = source.request.call.task.least_size
    if count == 0:
        raise DataError(NONE.format(source.named))
    if count < least:
        raise DataError(FEW.format(count, least))


def _hierarchies(source: BlockSource) -> tuple[GroupingCall, dict[str, Sequence[pa.Array]]]:
    """The call with the hierarchies of all rows, and their levels by column in lower case."""
    call = source.request.call
    trees: dict[str, Sequence[pa.Array]] = {}
    kept: list[HierarchySpec] = []
    for i, spec in enumerate((*call.hierarchies, *call.of_sensitive)):
        levels = levels_of(source, spec)
        trees[caseless(spec.column)] = levels
        table = pa.table({f"level{j}": level for j, level in enumerate(levels)})
        kept.append(replace(spec, levels=source.keep(f"levels_{i}", table), table=None))
    many = len(call.hierarchies)
    return replace(
        call, hierarchies=tuple(kept[:many]), of_sensitive=tuple(kept[many:])
    ), trees


def _categorical(
    source: BlockSource, spot: int, weight: float, tree: Sequence[pa.Array] | None, distance: str
) -> tuple[Attribute, dict[str | None, int]]:
    """A column of categories, and how many rows have each."""
    table = source.categories(spot)
    values = table.column(0).combine_chunks().cast(pa.string())
    sizes = table.column(1).to_numpy().astype(np.int64)
    counts = dict(zip(values.to_pylist(), sizes.tolist(), strict=True))
    plain = Categorical.fit(
        source.request.quasi[spot], weight, values.drop_null(), tree, distance
    )
    return plain.counted(values, sizes, distance), counts


def _number_totals(source: BlockSource, count: int, ends: Mapping[int, ColumnRange]) -> dict[int,
                                                                                             NumberTotals]:
    """The totals of the columns of numbers, by their places among the quasi-identifiers."""
    request, by_place = source.request, {}
    for i, end in ends.items():
        refuse_counts(request.quasi[i], end.infinite, 0, request.call.task.nulls)
        by_place[i] = _begun(end, count)
    places = {i: totals for i, totals in by_place.items() if totals.span > 0.0}
    for i, (total, squares) in (source.sums(places) if places else {}).items():
        known = ends[i].known
        # in whole numbers, so that nothing cancels
        variance = (known * squares - total * total) / known**2
        scale = by_place[i].span / 2.0**PARTS
        by_place[i] = replace(
            by_place[i], mean=total / known * scale, deviation=float(np.sqrt(variance)) * scale
        )
    return by_place


def _begun(end: ColumnRange, count: int) -> NumberTotals:
    """The range of a column of numbers; of one number, or none, only how many rows have it."""
    share = end.known / count
    if end.low is None or end.high is None or end.low == end.high:
        return NumberTotals(share)
    exponent = max(int(np.frexp(max(abs(end.low), abs(end.high)))[1]), LEAST_EXPONENT)
    low = float(np.ldexp(end.low + 0.0, -exponent))
    span = float(np.ldexp(end.high + 0.0, -exponent)) - low
    return NumberTotals(share, exponent, low, 0.0, span)
