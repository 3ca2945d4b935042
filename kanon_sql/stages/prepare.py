"""Prepares rows to be grouped: cells in, points out, and what is known of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.encode.arrow import Column, Labelled, Rows, SideTable
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import Cells
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.persons import Persons, numbered_anew, of_persons, persons_of
from kanon_sql.encode.population import read_people
from kanon_sql.encode.sensitive import fit_sensitive
from kanon_sql.encode.single_attribute import Items, read_items
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.methods.auto import TableShape as Looked
from kanon_sql.methods.auto import settle
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless
from kanon_sql.points.people import Population
from kanon_sql.points.points import Grouping, Labels, Points
from kanon_sql.privacy.feasible import persons_among, refuse_infeasible
from kanon_sql.stages.block import GoingOn
from kanon_sql.stages.ledger import Past, past_of_newcomers, read_past
from kanon_sql.stages.several import refuse_several

POPULATION = "population"
"""The name of the population among the relations beside the one that is anonymized."""


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
        people: the population against which classes are held, if one is.
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
    people: Population | None = None

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

def prepare(
    rows: Rows,
    columns: Sequence[Column],
    task: GroupTask,
    trees: Mapping[str, Tree] | None = None,
    tables: Mapping[str, SideTable] | None = None,
    sensitive: Sequence[Column] = (),
    ledger: Mapping[str, Any] | None = None,
    of_row: Labels | None = None,
    going_on: GoingOn | None = None,
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
        of_row: int64, shape (n,); the person of each row, as of ``whose``, where it is known.
        going_on: the classes that they may join, where they are a block of newcomers.

    Raises:
        DataError: no rows, fewer than k, rows of nobody, values that can't be encoded, or a privacy
            model that no release of these rows keeps.
    """
    started, persons = perf_counter(), None
    if task.persons and rows.count:
        whole_rows = isinstance(task.geometry, AttributeGeometry)
        if task.nulls == "error":  # of a row, whatever the other rows of its person have
            Cells.of(rows, columns, task.nulls)
        persons = persons_of(rows, sensitive[-1].name, whole_rows, of_row)
        each_row, rows, sensitive = rows, persons.rows, sensitive[:-1]
    of_newcomers = ledger is not None and "largest" in ledger
    # a few newcomers may join classes, or wait
    least = 1 if of_newcomers else task.least_size
    refuse_too_few(rows.count, least, "rows" if persons is None else "persons")
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
    if persons is not None:
        refuse_several(
            points, task, each_row, persons.of_row, sensitive, trees or {}, ledger is not None
        )
    with of_persons(persons):
        refuse_infeasible(points, task.models)
        _refuse_whole(points, task)
    numbers = records.in_order(rows.numbers("row"))
    people = None
    if task.of_population:
        assert isinstance(records, Encoded)
        people = read_people((tables or {})[POPULATION], rows, columns, records.order)
        everybody = people.covered(np.arange(len(points)))
        for each in task.of_population:
            each.refuse(everybody)
    past = None
    if ledger is not None:
        assert isinstance(records, Encoded) and persons is not None
        types = [column.sql_type for column in columns]
        if of_newcomers:
            past = past_of_newcomers(ledger, going_on, records, trees or {}, types)
        else:
            shown = persons.shown[numbers]
            past = read_past(ledger, tables or {}, records, shown, trees or {}, types)
    return Prepared(
        points, records.bare(), numbers, task, perf_counter() - started, persons, past, chosen,
        people,
    )


def _refuse_whole(points: Points, task: GroupTask) -> None:
    """Raises DataError for a demand on all classes that not even one class keeps."""
    if not task.whole:
        return
    persons = persons_among(points, task.apart, np.arange(len(points)))
    for each in task.whole:
        each.refuse(persons, "rows" if task.apart is None and not task.persons else "persons")


def _looked(rows: Rows, columns: Sequence[Column], trees: Mapping[str, Tree]) -> Looked:
    """What the choice of a method goes by."""
    by_tree = set(map(caseless, trees))
    ordered = sum(is_numeric(c.sql_type) and caseless(c.name) not in by_tree for c in columns)
    return Looked(rows.count, ordered, len(columns) - ordered)


def refuse_too_few(count: int, k: int, what: str) -> None:
    """Raises DataError where there are none, or fewer than k."""
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
    tables: Mapping[str, SideTable], sensitive: Sequence[Column],
) -> Encoded | Items:
    """The records, as the geometry of the task needs them."""
    if isinstance(task.geometry, AttributeGeometry):
        by_name = {caseless(name): tree for name, tree in trees.items()}
        return read_items(
            rows, columns, task, tables, fit_sensitive(rows, sensitive, by_name)
        )
    return encode(rows, columns, task, trees, sensitive)
