"""Columns that look like identifiers, and what is left of a relation where they take no part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import Column, Keys, Rows
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.encode.identifier_detection import (
    Suspects,
    find_suspects,
    hidden_notice,
    key_notice,
    without,
)
from kanon_sql.encode.persons import whose
from kanon_sql.encode.repeated import repeated_among, repeated_keys, repeated_notice
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.codes import CodeFacts, WrittenForm, code_notice, is_number, suggest
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.methods.task import Run
from kanon_sql.names import caseless
from kanon_sql.points.content_order import mixed
from kanon_sql.points.points import Labels


class Looked(NamedTuple):
    """What a look at a relation finds.

    Attributes:
        suspects: the columns that take no part since they look like identifiers, and what is said
            of columns.
        remarks: what of that is said before the release is used.
        of_row: int64, shape (n,); the person of each row, where persons may have several.
    """

    suspects: Suspects
    remarks: tuple[str, ...]
    of_row: Labels | None


def look_at(
    rows: Rows, columns: Sequence[Column], sensitive: Sequence[Column], run: Run,
    passing: Collection[str], repeated: Sequence[tuple[str, Sequence[str]]],
    unnamed: Sequence[Keys] = (),
) -> Looked:
    """Looks for columns that tell who somebody is.

    Args:
        rows: n rows, all that there are.
        columns: the quasi-identifiers.
        sensitive: the sensitive columns that the task asks for.
        run: says which of them somebody named, and what of a text is a person's own.
        passing: the columns that would pass unchanged, but look like identifiers.
        repeated: identifiers, and the quasi-identifiers that are the same in all rows of each.
        unnamed: some values of each column without a role, with all their rows.

    Raises:
        DataError: no quasi-identifier is left.
    """
    said, of_row = list(map(hidden_notice, passing)), None
    spot = _entity_of(run.task, sensitive)
    if spot is not None:
        entity, of_row = sensitive[spot], whose(rows, spot)
        keys = (name for name in entity.alike if name not in passing)
        said += [key_notice(name, entity.name) for name in keys]
    elif run.block is None:
        pairs = chain(
            repeated, repeated_keys(rows, columns, run.named),
            repeated_among(rows, columns, unnamed),
        )
        said += [repeated_notice(key, constant) for key, constant in pairs]
    coded = {} if run.block is not None or not _may_have_trees(run.task) else (
        codes_among(rows, columns)
    )
    suspects = find_suspects(rows, columns, run.named, of_row, run.least, tuple(coded))
    said += [notice for name, notice in coded.items() if name not in suspects.hidden]
    if columns and len(suspects.hidden) == len(columns):
        raise DataError(
            "No column is left as a quasi-identifier: "
            + ", ".join(map(repr, suspects.hidden))
            + (" looks like an identifier" if len(columns) == 1 else " look like identifiers")
            + ". Name the quasi-identifiers in quasi_identifiers=[...]."
        )
    return Looked(
        Suspects(suspects.hidden, (*suspects.notices, *said)),
        (*map(hidden_notice, suspects.hidden), *said), of_row,
    )


def codes_among(rows: Rows, columns: Sequence[Column]) -> dict[str, str]:
    """What is said of quasi-identifiers that are treated as numbers and hold codes, by name.

    Args:
        rows: the cells are read.
        columns: the quasi-identifiers; one with a hierarchy is a text here.
    """
    cells, width = rows.fields["cells"], len(columns)
    notices = {}
    for j, column in enumerate(columns):
        if not is_number(column.sql_type):
            continue
        numbers = number_column(cells, j, width)
        known = numbers[np.isfinite(numbers)]
        if not len(known) or not bool(np.all(known == np.floor(known))):
            continue
        ends = int(known.min()), int(known.max())
        # a few values of many rows: what isn't one then is none, and needs no counting
        facts = CodeFacts(
            column.name, column.sql_type, len(known), 3, *ends,
            WrittenForm(whole=True, tens=bool(np.all(known % 10 == 0))),
        )
        if not _has_reason(facts):
            continue
        facts = replace(facts, distinct=pc.count_distinct(pa.array(known)).as_py())
        suggestion = suggest(facts)
        if suggestion is not None and suggestion.reason is not None:
            notices[column.name] = code_notice(column.name, suggestion)
    return notices


def _may_have_trees(task: GroupTask) -> bool:
    """Whether the quasi-identifiers of a task may have hierarchies."""
    single = isinstance(task.geometry, AttributeGeometry)
    return not single and task.own.in_metric != "haversine"


def _has_reason(facts: CodeFacts) -> bool:
    suggestion = suggest(facts)
    return suggestion is not None and suggestion.reason is not None


def _entity_of(task: GroupTask, sensitive: Sequence[Column]) -> int | None:
    """Where the column that says whose row each is stands among the sensitive ones of the task;
    None where each row is a person's only one."""
    if task.persons:
        return len(sensitive) - 1
    if task.apart is None:
        return None
    return [caseless(column.name) for column in sensitive].index(caseless(task.apart))


def without_hidden(
    rows: Rows, columns: Sequence[Column], trees: Mapping[str, Tree], hidden: Collection[str]
) -> tuple[Rows, list[Column], dict[str, Tree]]:
    """The rows, the quasi-identifiers and their hierarchies, without some columns."""
    if hidden and "apart" in rows:
        rows = Rows({**rows.fields, "apart": _told_apart(rows, columns, hidden)}, rows.count)
    kept, left = without(rows, columns, hidden)
    return kept, left, {name: tree for name, tree in trees.items() if name not in hidden}


def _told_apart(rows: Rows, columns: Sequence[Column], hidden: Collection[str]) -> Any:
    """The hash of all that isn't sensitive, with the values of the hidden columns: no cell tells
    rows apart by them any more, and what tells rows apart must not be their sensitive values."""
    cells, width = rows.fields["cells"], len(columns)
    hashes = rows.numbers("apart")
    for j, column in enumerate(columns):
        if column.name not in hidden:
            continue
        if is_numeric(column.sql_type):
            ranks = np.unique(number_column(cells, j, width), return_inverse=True)[1]
        else:
            words = category_column(cells, j, width).cast(pa.string())
            ranks = pc.rank(words, tiebreaker="dense").to_numpy()
        hashes = mixed(hashes + mixed(ranks.reshape(-1).astype(np.uint64)))
    return hashes
