"""Groups the rows: cells in, a class for each row out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.encode.arrow import Column, Labelled, Rows, Table
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.looks import Suspects, find_suspects, hidden_notice, key_notice
from kanon_sql.encode.persons import Persons, numbered_anew, of_persons, persons_of, whose
from kanon_sql.encode.repeated import repeated_keys, repeated_notice
from kanon_sql.encode.sensitive import fit_sensitive
from kanon_sql.encode.single_attribute import Items, read_items
from kanon_sql.encode.taken import Taken
from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.group.warm_up import warm_up
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.kernel.memory import available, give_back
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.methods.auto import Table as Looked
from kanon_sql.methods.auto import settle
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.methods.task import Run
from kanon_sql.names import caseless
from kanon_sql.points.points import Grouping, Labels, Points
from kanon_sql.privacy.feasible import refuse_infeasible
from kanon_sql.stages.block import keep_facts, totals_of, with_known
from kanon_sql.stages.hidden import without_hidden
from kanon_sql.stages.ledger import Past, group_beside, read_past
from kanon_sql.stages.parts import InParts, group_parts, without_number
from kanon_sql.stages.remarks import notices, remark
from kanon_sql.stages.remembered import Recalled, digest, recall


def room_for(
    columns: Sequence[Column], task: GroupTask, sensitive: Sequence[Column] = (),
    expected: int | None = None, limit: int | None = None,
) -> Taken:
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
    return Taken(
        len(columns), numeric, textual, [name for name, needs in asked.items() if needs],
        [is_numeric(column.sql_type) for column in sensitive], available, expected, limit,
        task.method.memory,
    )


@dataclass(frozen=True)
class Prepared:
    """Rows that are ready to be grouped: nothing is held of them but this.

    Attributes:
        points: n records in canonical order.
        records: what is known of the encoding.
        numbers: int64, shape (n,); the row number of each record.
        task: what to group by, and how.
        chosen: what is told of the method, where it was left to kanon_sql.methods.auto.
        seconds: how long it took to prepare them.
        persons: whose rows the records stand for, where they are persons.
        past: what a ledger says of them, where they go on from earlier releases.
    """

    points: Points
    records: Encoded | Items
    numbers: Labels
    task: GroupTask
    seconds: float
    persons: Persons | None = None
    past: Past | None = None
    chosen: str | None = None

    @property
    def count(self) -> int:
        """The number of records."""
        return len(self.points)

    def labelled(self, grouping: Grouping) -> Labelled:
        """The rows with the labels of their records."""
        none = np.zeros(0, np.int64)
        centers = none if grouping.centers is None else self.numbers[grouping.centers]
        if self.persons is None:
            return Labelled(self.numbers, grouping.labels, centers, grouping.cells)
        persons = self.persons
        of_person = np.full(len(persons.shown), UNLABELLED, np.int64)
        of_person[self.numbers] = grouping.labels
        labels = of_person[persons.of_row]
        known = labels != UNLABELLED
        return Labelled(
            persons.numbers[known], labels[known], persons.shown[centers], grouping.cells
        )


UNLABELLED = -2
"""The label of a person who got none, since the method has no place for it."""

OF_RECORDS = ("guaranteed_ratio", "lower_bound")
"""Facts of the records that say nothing of rows where these are persons with several."""


def prepare(
    rows: Rows,
    columns: Sequence[Column],
    task: GroupTask,
    trees: Mapping[str, Tree] | None = None,
    tables: Mapping[str, Table] | None = None,
    sensitive: Sequence[Column] = (),
    ledger: Mapping[str, Any] | None = None,
) -> Prepared:
    """Encodes the rows.

    Args:
        rows: their cells, hashes, and what else the task asks for.
        columns: the quasi-identifiers, in the order of the cells.
        task: what to group by, and how.
        trees: hierarchies by column name.
        tables: the relations beside the one that is anonymized, by the option that names them.
        sensitive: the sensitive columns that the task asks for, in the order of their cells; where
            its records are persons, the last column says whose row a row is.
        ledger: how they go on from earlier releases, as Run has it.

    Raises:
        DataError: no rows, fewer than k, rows of nobody, values that can't be encoded, or a privacy
            model that no release of these rows keeps.
    """
    started, persons = perf_counter(), None
    if task.persons and rows.count:
        whole_rows = isinstance(task.geometry, AttributeGeometry)
        persons = persons_of(rows, sensitive[-1].name, whole_rows)
        rows, sensitive = persons.rows, sensitive[:-1]
    _refuse_too_few(rows.count, task.least_size, "rows" if persons is None else "persons")
    with of_persons(persons):
        asked, looked = task, _looked(rows, columns, trees or {})
        task, chosen = settle(asked, looked, METHODS)
        records = _encoded(rows, columns, task, trees or {}, tables or {}, sensitive)
        if chosen is not None and isinstance(records, Encoded) and records.missing.any():
            # encoded in the same way, whichever method it is
            task, chosen = settle(asked, looked._replace(gaps=True), METHODS)
        points = task.geometry.points(records, task)
    if task.apart is not None:
        points = numbered_anew(points, task.apart)
    with of_persons(persons):
        refuse_infeasible(points, task.models)
    numbers = records.in_order(rows.numbers("row"))
    past = None
    if ledger is not None:
        assert isinstance(records, Encoded) and persons is not None
        types = [column.sql_type for column in columns]
        shown = persons.shown[numbers]
        past = read_past(ledger, tables or {}, records, shown, trees or {}, types)
    return Prepared(
        points, records.bare(), numbers, task, perf_counter() - started, persons, past, chosen
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
    if prepared.past is not None:
        grouping, beside, made = group_beside(prepared.past, points, task, watch or Watch())
        recalled = made or Recalled(grouping, 0.0, False)
    elif in_block:
        started = perf_counter()
        grouping = _grouped(points, task, records, watch)
        beside = totals_of(points, grouping)
        recalled = Recalled(grouping, perf_counter() - started, False)
    else:
        with of_persons(prepared.persons):
            recalled = recall(
                digest(points, task), lambda: _grouped(points, task, records, watch)
            )
        grouping = records.whole(recalled.grouping)
    told = {**records.named(grouping.facts), **beside}
    if prepared.persons is not None and not prepared.persons.alone:
        told = {name: value for name, value in told.items() if name not in OF_RECORDS}
    if prepared.chosen is not None:
        told["method"] = task.method.name
    facts = {
        **told,
        "labels": "remembered" if recalled.remembered else "computed",
        "seconds_encode": prepared.seconds,
        "seconds_group": recalled.seconds,
        "seconds_remembered": recalled.seconds if recalled.remembered else 0.0,
    }
    return prepared.labelled(grouping), facts


class Work:
    """The whole work of a call, from the rows that DuckDB handed over to labels. Where it is begun
    anew after a stop, it goes on from the encoded rows, since it lets go of the others."""

    def __init__(
        self, taken: Taken, columns: Sequence[Column], run: Run, trees: Mapping[str, Tree],
        tables: Mapping[str, Table], passing: Collection[str], sensitive: Sequence[Column] = (),
        repeated: Collection[Sequence[str]] = (),
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
        """
        self._repeated = [(key, constant) for key, *constant in repeated if constant]
        self._taken, self._columns, self._run = taken, columns, run
        self._trees, self._tables, self._passing = trees, tables, passing
        self._sensitive = sensitive if run.parts is None else sensitive[:-1]
        if run.block is not None:
            self._sensitive = with_known(run.block, self._sensitive)
        self._begun = 0.0
        self._suspects = Suspects()
        self._prepared: Prepared | InParts | None = None

    def _prepare(self) -> Prepared | InParts:
        self._begun = perf_counter()
        rows, run, numbers = self._taken.rows(), self._run, None
        if run.parts is not None:
            rows, numbers = without_number(rows)
        said, persons = list(map(hidden_notice, self._passing)), None
        spot = entity_of(run.task, self._sensitive)
        if spot is not None:
            entity, persons = self._sensitive[spot], whose(rows, spot)
            keys = (name for name in entity.alike if name not in self._passing)
            said += [key_notice(name, entity.name) for name in keys]
        elif run.block is None:
            found = chain(self._repeated, repeated_keys(rows, self._columns, run.named))
            said += [repeated_notice(key, constant) for key, constant in found]
        self._suspects = suspects_of(rows, self._columns, run, said, persons)
        hidden = self._suspects.hidden
        if run.progress:
            remark(run.task, (*map(hidden_notice, hidden), *said))
        kept, columns, trees = without_hidden(rows, self._columns, self._trees, hidden)
        if numbers is not None:
            _refuse_too_few(int(np.sum(numbers >= 0)), 1, "rows")

            def group(part: Rows, task: GroupTask, watch: Watch) -> Any:
                prepared = prepare(part, columns, task, trees, None, self._sensitive)
                return group_rows(prepared, watch, run.block is not None)

            return InParts(kept, numbers, group, run.task, run.parts == "by_part")
        return prepare(kept, columns, run.task, trees, self._tables, self._sensitive, run.ledger)

    def __call__(self, watch: Watch) -> tuple[Labelled, tuple[str, ...], dict[str, Any]]:
        """Labels, the hidden columns, and the facts of the run."""
        if self._prepared is None:
            self._prepared = self._prepare()
            give_back(self._prepared.count)
        chosen = None
        if isinstance(self._prepared, InParts):
            found, facts = group_parts(self._prepared, watch)
        else:
            found, facts = group_rows(self._prepared, watch, self._run.block is not None)
            chosen = self._prepared.chosen
        facts["notices"] = [
            *([] if chosen is None else [chosen]), *notices(self._run.task, self._suspects)
        ]
        times = {"started": self._begun, "finished": perf_counter()}
        if self._run.block is not None:
            keep_facts(self._run.block, facts)
        return found, self._suspects.hidden, {**facts, **times}


def _looked(rows: Rows, columns: Sequence[Column], trees: Mapping[str, Tree]) -> Looked:
    """What the choice of a method goes by."""
    by_tree = set(map(caseless, trees))
    ordered = sum(is_numeric(c.sql_type) and caseless(c.name) not in by_tree for c in columns)
    return Looked(rows.count, ordered, len(columns) - ordered)


def _refuse_too_few(count: int, k: int, what: str) -> None:
    if count == 0:
        raise DataError(
            "There are no rows to anonymize: the relation is empty, or nulls 'suppress' left out "
            "every row. Check the relation."
        )
    if count < k:
        raise DataError(
            f"There are {count} {what} to anonymize, fewer than k = {k}. Lower k, or release "
            "nothing."
        )


def _encoded(
    rows: Rows, columns: Sequence[Column], task: GroupTask, trees: Mapping[str, Tree],
    tables: Mapping[str, Table], sensitive: Sequence[Column],
) -> Encoded | Items:
    """The records, as the geometry of the task needs them."""
    if isinstance(task.geometry, AttributeGeometry):
        given = {caseless(name): tree for name, tree in trees.items()}
        return read_items(
            rows, columns, task, tables, fit_sensitive(rows, sensitive, given)
        )
    return encode(rows, columns, task, trees, sensitive)


def _grouped(
    points: Points, task: GroupTask, records: Encoded | Items, watch: Watch | None
) -> Grouping:
    """Groups the points; what is refused tells of codes that the graph doesn't know."""
    if len(points) == 0:  # no row has a place
        return Grouping(np.zeros(0, np.int64), {}, None, np.zeros((0, 2, 2)))
    try:
        return group_points(points, task, watch)
    except DataError as refusal:
        unknown = int(records.facts.get("codes_unknown", 0))
        if unknown == 0:
            raise
        codes = "1 code of the data is" if unknown == 1 else f"{unknown} codes of the data are"
        raise DataError(f"{codes} unknown to the graph. {refusal}") from None


def entity_of(task: GroupTask, sensitive: Sequence[Column]) -> int | None:
    """Where the column that says whose row each is stands among the sensitive ones of the task;
    None where each row is a person's only one."""
    if task.persons:
        return len(sensitive) - 1
    if task.apart is None:
        return None
    return [caseless(column.name) for column in sensitive].index(caseless(task.apart))


def suspects_of(
    rows: Rows, columns: Sequence[Column], run: Run, said: Collection[str] = (),
    persons: Labels | None = None,
) -> Suspects:
    """The columns that take no part since they look like identifiers, and what is said of columns.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers.
        run: says which of them somebody named, and what of a text is a person's own.
        said: what is said of columns that pass unchanged.
        persons: int64, shape (n,); the person of each row, where persons may have several.

    Raises:
        DataError: no quasi-identifier is left.
    """
    found = find_suspects(rows, columns, run.named, persons, run.least)
    if columns and len(found.hidden) == len(columns):
        raise DataError(
            "No column is left as a quasi-identifier: "
            + ", ".join(map(repr, found.hidden))
            + (" looks like an identifier" if len(columns) == 1 else " look like identifiers")
            + ". Name the quasi-identifiers in quasi_identifiers=[...]."
        )
    return Suspects(found.hidden, (*found.notices, *said))
