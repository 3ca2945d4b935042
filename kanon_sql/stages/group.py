"""Groups the rows: cells in, a class for each row out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.encode.arrow import Column, Keys, Labelled, Rows, SideTable
from kanon_sql.encode.attributes import has_order, is_numeric
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.identifier_detection import Suspects
from kanon_sql.encode.persons import of_persons
from kanon_sql.encode.precision import precisions_of
from kanon_sql.encode.row_buffer import RowBuffer
from kanon_sql.encode.single_attribute import Items
from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.group.warm_up import warm_up
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.kernel.memory import available, give_back
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.methods.task import Run
from kanon_sql.points.people import Population
from kanon_sql.points.points import Grouping, Points
from kanon_sql.stages.block import going_on_of, keep_facts, totals_of, with_known
from kanon_sql.stages.facts import facts_of
from kanon_sql.stages.hidden import look_at, without_hidden
from kanon_sql.stages.ledger import group_beside, group_newcomers
from kanon_sql.stages.parts import InParts, group_parts, without_number
from kanon_sql.stages.prepare import Prepared, prepare, refuse_too_few
from kanon_sql.stages.remarks import notices, remark
from kanon_sql.stages.remembered import Recalled, digest, recall

MEASURED = ("row", "hash", "cells")
"""The fields of rows that are read once more when what was made of them is measured."""


def room_for(
    columns: Sequence[Column], task: GroupTask, sensitive: Sequence[Column] = (),
    expected: int | None = None, limit: int | None = None,
) -> RowBuffer:
    """Where the rows go that a task is about to be given.

    Args:
        columns: the quasi-identifiers.
        task: what it asks for beside them is kept, and nothing else.
        sensitive: the sensitive columns that it asks for.
        expected: the number of rows; None where it isn't known.
        limit: DuckDB's memory_limit in bytes, which the rows and their grouping keep, too.
    """
    geometry = task.geometry
    single = isinstance(geometry, AttributeGeometry)
    numeric = [j for j, column in enumerate(columns) if is_numeric(column.sql_type)]
    textual = [j for j in range(len(columns)) if single or j not in set(numeric)]
    ranked = isinstance(geometry, AttributeGeometry) and geometry.domain == "values"
    asked = {
        "label": task.class_label is not None,
        "extra": ranked or task.own.cost_column is not None,
    }
    return RowBuffer(
        len(columns), numeric, textual, [name for name, needs in asked.items() if needs],
        [has_order(column.sql_type) for column in sensitive], available, expected, limit,
        task.method.memory,
    )


def group_rows(
    prepared: Prepared, watch: Watch | None = None, in_block: bool = False
) -> tuple[Labelled, dict[str, Any]]:
    """Groups the rows as the task says; labels and the facts of the run.

    Args:
        prepared: the rows, encoded.
        watch: told how far it is; may stop it.
        in_block: whether the rows are a block of many: nobody asks for their labels again, and
            sums are told of which those of all blocks follow.

    Raises:
        StoppedError: the watch was asked to stop.
    """
    points, task, records = prepared.points, prepared.task, prepared.records
    warm_up(task, len(points))
    beside: dict[str, Any] = {}
    if prepared.past is not None and in_block:
        started = perf_counter()
        grouping = group_newcomers(prepared.past, points, task, watch or Watch())
        beside = {"records": float(len(points))}
        recalled = Recalled(grouping, perf_counter() - started, False)
    elif prepared.past is not None:
        grouping, beside, of_newcomers = group_beside(prepared.past, points, task, watch or Watch())
        recalled = of_newcomers or Recalled(grouping, 0.0, False)
    elif in_block:
        started = perf_counter()
        grouping = _grouped(points, task, records, watch)
        beside = totals_of(points, grouping)
        recalled = Recalled(grouping, perf_counter() - started, False)
    elif prepared.people is not None:  # of which no key tells
        started = perf_counter()
        grouping = _grouped(points, task, records, watch, prepared.people)
        recalled = Recalled(grouping, perf_counter() - started, False)
    else:
        with of_persons(prepared.persons):
            recalled = recall(
                digest(points, task), lambda: _grouped(points, task, records, watch)
            )
        grouping = records.whole(recalled.grouping)
    facts = {**records.named(grouping.facts), **beside}
    return prepared.labelled(grouping), facts_of(prepared, facts, recalled)


class GroupedRows(NamedTuple):
    """What a query is told of a grouping.

    Attributes:
        labelled: the labels.
        hidden: the columns that come out as NULL, since they look like identifiers.
        precisions: of the columns whose means are told no finer than their values are, in lower
            case: see kanon_sql.encode.precision.
        facts: of the run.
    """

    labelled: Labelled
    hidden: tuple[str, ...]
    precisions: Mapping[str, int]
    facts: dict[str, Any]


class GroupingWork:
    """The whole work of a call, from the rows that DuckDB handed over to labels. Where it is begun
    anew after a stop, it goes on from the encoded rows, since it lets go of the others."""

    def __init__(
        self, taken: RowBuffer, columns: Sequence[Column], run: Run, trees: Mapping[str, Tree],
        tables: Mapping[str, SideTable], passing: Collection[str], sensitive: Sequence[Column] = (),
        repeated: Collection[Sequence[str]] = (), unnamed: Sequence[Keys] = (),
    ) -> None:
        """
        Args:
            taken: the rows, all there when the work begins.
            columns: the quasi-identifiers.
            run: what to do.
            trees, tables: as in ``prepare``.
            passing: the columns that would pass unchanged, but look like identifiers.
            sensitive: the sensitive columns that the task asks for.
            repeated: each identifier, and the quasi-identifiers that are the same in all its rows.
            unnamed: some values of each column without a role, with all their rows.
        """
        self._unnamed = unnamed
        self._repeated = [(key, constant) for key, *constant in repeated if constant]
        self._taken, self._columns, self._run = taken, columns, run
        self._trees, self._tables, self._passing = trees, tables, passing
        self._sensitive = sensitive if run.parts is None else sensitive[:-1]
        if run.block is not None:
            self._sensitive = with_known(run.block, self._sensitive)
        self._begun = 0.0
        self._suspects = Suspects()
        self._precisions: Mapping[str, int] = {}
        self._prepared: Prepared | InParts | None = None
        self._source: Rows | None = None

    def _prepare(self) -> Prepared | InParts:
        self._begun = perf_counter()
        rows, run, numbers = self._taken.rows(), self._run, None
        if run.measured:
            fields = {name: rows.fields[name] for name in MEASURED if name in rows}
            self._source = Rows(fields, rows.count)
        if run.parts is not None:
            rows, numbers = without_number(rows)
        looked = look_at(
            rows, self._columns, self._sensitive, run, self._passing, self._repeated, self._unnamed
        )
        self._suspects, hidden = looked.suspects, looked.suspects.hidden
        if run.progress:
            remark(run.task, looked.remarks)
        kept, columns, trees = without_hidden(rows, self._columns, self._trees, hidden)
        if run.precise:
            self._precisions = precisions_of(kept, columns)
        if numbers is not None:
            refuse_too_few(int(np.sum(numbers >= 0)), 1, "rows")

            def group(part: Rows, task: GroupTask, watch: Watch) -> Any:
                prepared = prepare(part, columns, task, trees, None, self._sensitive)
                return group_rows(prepared, watch, run.block is not None)

            return InParts(kept, numbers, group, run.task, run.parts == "by_part")
        return prepare(
            kept, columns, run.task, trees, self._tables, self._sensitive, run.ledger,
            looked.of_row, None if run.block is None else going_on_of(run.block),
        )

    def __call__(self, watch: Watch) -> GroupedRows:
        """Groups the rows."""
        if self._prepared is None:
            self._prepared = self._prepare()
            give_back(self._prepared.count)
        chosen = None
        if isinstance(self._prepared, InParts):
            labelled, facts = group_parts(self._prepared, watch)
        else:
            labelled, facts = group_rows(self._prepared, watch, self._run.block is not None)
            chosen = self._prepared.chosen
        facts["notices"] = [
            *([] if chosen is None else [chosen]), *notices(self._run.task, self._suspects)
        ]
        times = {"started": self._begun, "finished": perf_counter()}
        if self._run.block is not None:
            keep_facts(self._run.block, facts)
        facts.update(times)
        labelled = replace(labelled, source=self._source)
        return GroupedRows(labelled, self._suspects.hidden, self._precisions, facts)


def _grouped(
    points: Points, task: GroupTask, records: Encoded | Items, watch: Watch | None,
    people: Population | None = None,
) -> Grouping:
    """Groups the points; what is refused tells of codes that the graph doesn't know."""
    if len(points) == 0:  # no row has a place
        return Grouping(np.zeros(0, np.int64), {}, None, np.zeros((0, 2, 2)))
    try:
        return group_points(points, task, watch, people)
    except DataError as refusal:
        unknown = int(records.facts.get("codes_unknown", 0))
        if unknown == 0:
            raise
        codes = "1 code of the data is" if unknown == 1 else f"{unknown} codes of the data are"
        raise DataError(f"{codes} unknown to the graph. {refusal}") from None
