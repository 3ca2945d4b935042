"""Measures a grouping and its release: labelled rows in, losses and radii out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import encode
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.measure.facts import class_radii, measure
from kanon_sql.measure.in_words import (
    errors_in_unit,
    words_of,
    words_of_changes,
    words_of_errors,
)
from kanon_sql.measure.released import ReleasedForm, box_array, released_losses
from kanon_sql.methods import GroupTask
from kanon_sql.names import caseless
from kanon_sql.points.by_label import places_of, renumbered
from kanon_sql.points.points import Floats, Labels
from kanon_sql.stages.labels import UNKNOWN, held

TEXT = ("VARCHAR", "JSON", "ENUM")
"""How the types begin of which a class that doesn't agree publishes '*'; of all others NULL."""


@dataclass(frozen=True)
class PublishedForm:
    """What the classes publish, as far as the plan and the method know.

    Attributes:
        form, of_trees, by_column: as in ReleasedForm.
        facts: what the method reported.
        boxes: the boxes that it made, struct<class, number, low, high, closed>; None without any.
        types: the SQL types of the quasi-identifiers; where they have a hierarchy or are taken as
            categories, the columns that are measured hold texts.
        outside: the cells of the rows that took no part, row by row, as those of Rows.
        bounded: whether to tell what no grouping loses less than.
        only_radii: whether nothing but the radii of the classes is asked.
    """

    form: str
    of_trees: str
    by_column: Mapping[str, str]
    facts: Mapping[str, Any]
    boxes: pa.StructArray | None
    types: Sequence[str]
    outside: pa.StructArray
    bounded: bool = False
    only_radii: bool = False


def rows_of(ticket: int, classes: Rows, columns: Sequence[Column]) -> Rows:
    """The rows that were handed over under a ticket, as ``with_classes`` gives them.

    Raises:
        KanonError: they were dropped.
    """
    labelled = held(ticket)
    source = labelled.let_go()
    return with_classes(source, labelled.classes(source.numbers("row")), classes, columns)


def with_classes(
    rows: Rows, labels: Labels, classes: Rows, columns: Sequence[Column]
) -> Rows:
    """The rows that have a label, with what their classes release beside them, as ``measure_rows``
    reads them.

    Args:
        rows: as they were handed over, in the order of their numbers.
        labels: int64, shape (n,); the class of each, -1 where it is suppressed, UNKNOWN without.
        classes: of the released classes the number, the least number of those that release the
            same, and the cells of the released point.
        columns: the quasi-identifiers.
    """
    known = np.flatnonzero(labels != UNKNOWN)
    every, width = len(known) == len(labels), len(columns)
    labels = labels[known]
    at, kept = places_of(labels, classes.numbers("class")), labels >= 0
    source, released = rows.fields["cells"], classes.fields["center"]
    own: tuple[dict[int, Floats], dict[int, pa.Array]] = {}, {}
    of_class: tuple[dict[int, Floats], dict[int, pa.Array]] = {}, {}
    for j in range(width):
        if j in source.numbers:
            values = source.numbers[j] if every else source.numbers[j][known]
            points = number_column(released, j, width)
            own[0][j], of_class[0][j] = values, np.where(kept, points[at], values)
        if j in source.words:
            words = source.words[j]
            if not every:
                words = words.take(pa.array(known)).cast(pa.string()).dictionary_encode()
            own[1][j] = words
            of_class[1][j] = _words_of(words, category_column(released, j, width), at, kept)
    fields: dict[str, Any] = {
        "class": labels, "alike": np.where(kept, classes.numbers("alike")[at], labels),
        "cells": CellColumns(*own), "center": CellColumns(*of_class),
    }
    if "hash" in rows:
        fields["hash"] = rows.numbers("hash")[known]
    return Rows(fields, len(labels))


def _words_of(
    own: pa.DictionaryArray, released: pa.Array, at: Labels, kept: npt.NDArray[np.bool_]
) -> pa.DictionaryArray:
    """The released text of the class of each row, or its own one where it isn't kept; the codes of
    texts that rows have are those of ``own``."""
    known = own.dictionary
    new = pc.unique(released).drop_null()
    new = new.filter(pc.invert(pc.is_in(new, known)))
    every = pa.concat_arrays([known, new])
    codes = pc.index_in(released, every).fill_null(-1).to_numpy(zero_copy_only=False)
    of_rows = own.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    spots = np.where(kept, codes[at], of_rows).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(spots, mask=spots < 0), every)


def measure_rows(
    rows: Rows, columns: Sequence[Column], task: GroupTask, published: PublishedForm,
    trees: Mapping[str, Tree] | None = None,
) -> tuple[dict[str, Any], Labels, Floats]:
    """The losses of labelled rows, the classes, and the radius of each; class -1 is suppressed.
    No losses where only radii are asked."""
    classes, labels, first = renumbered(rows.numbers("class"))
    # rows that look alike stand by class: else the order in which they came in would say in which
    # order the losses of classes are added up
    rows = replace(rows, fields={**rows.fields, "apart": labels.astype(np.uint64)})
    encoded = encode(rows, columns, replace(task, distance="sse"), trees or {})
    labels = labels - int(np.sum(classes < 0))
    alike = rows.numbers("alike")[first[classes >= 0]]
    classes = classes[classes >= 0]
    if published.only_radii:
        cells, centers = rows.fields["cells"], rows.fields["center"]
        return {}, classes, class_radii(encoded, labels[encoded.order], cells, centers, task)
    shown = _shown(columns, published, classes, trees or {})
    alike = np.unique(alike, return_inverse=True)[1].reshape(-1)
    # classes of the same means lose as one what they lose apart
    means = all(shown.form_of(column.name) == "point" for column in columns)
    facts, radii = measure(
        encoded, labels[encoded.order], rows.fields["cells"], rows.fields["center"], task,
        published.bounded, None if means else alike,
    )
    everything, labels = _with_outside(rows, columns, task, published, trees or {}, encoded, labels)
    losses = released_losses(everything, labels[everything.order], shown, alike)
    kept = int(np.sum(labels >= 0))
    generalized = 0
    for entry, grouped, sql_type in zip(
        losses["attributes"], facts["attributes"], published.types, strict=True
    ):
        form = shown.form_of(entry["name"])
        coarse = entry.pop("coarse") or grouped["apart"]
        errors = grouped["apart"].errors if form == "point" else None
        generalized += coarse.generalized
        entry |= {
            "grouping": grouped["ncp"], "verbatim": grouped["verbatim"],
            "words": words_of(entry["name"], sql_type, coarse, kept),
            "error": None if errors is None else errors_in_unit(sql_type, errors),
            "error_words": None if errors is None else words_of_errors(sql_type, errors, kept),
            "changed": coarse.generalized / kept,
            "changed_words": words_of_changes(sql_type, coarse, kept, form),
        }
    losses["cells_generalized"] = generalized / (kept * len(columns))
    return {**facts, **losses}, classes, radii


def _with_outside(
    rows: Rows, columns: Sequence[Column], task: GroupTask, published: PublishedForm,
    trees: Mapping[str, Tree], encoded: Encoded, labels: Labels,
) -> tuple[Encoded, Labels]:
    """The whole relation and its labels: also the rows that took no part, of label -1, since what
    is lost is held against all values of the relation."""
    if len(published.outside) == 0:
        return encoded, labels
    more = len(published.outside) // len(columns)
    numbers: dict[int, Floats] = {}
    texts: dict[int, pa.Array] = {}
    lacking: dict[int, Labels] = {}
    levels = {caseless(name): tree.levels[0] for name, tree in trees.items()}
    for j, column in enumerate(columns):
        if is_numeric(column.sql_type):
            number = number_column(published.outside, j, len(columns))
            numbers[j] = np.append(
                number_column(rows.fields["cells"], j, len(columns)),
                np.where(np.isfinite(number), number, np.nan),
            )
            continue
        words = category_column(published.outside, j, len(columns))
        known = levels.get(caseless(column.name))
        if known is not None:
            # a hierarchy is made of the rows that took part; what it lacks lies below the root
            known_words = pc.is_in(words, known)
            others = pc.if_else(known_words, pa.scalar(None, words.type), words).cast(pa.string())
            numbered = others.dictionary_encode().indices.fill_null(-1)
            lacking[j] = np.append(np.full(rows.count, -1), numbered.to_numpy())
            words = pc.if_else(known_words, words, pa.scalar(None, words.type))
        own = category_column(rows.fields["cells"], j, len(columns)).cast(pa.string())
        texts[j] = pa.concat_arrays([own, words.cast(pa.string())])
    hashes = rows.hashes[1:] or (np.zeros(rows.count, np.uint64),)
    every = Rows({
        "cells": CellColumns(numbers, texts),
        "hash": np.append(hashes[0], np.zeros(more, np.uint64)),
        "apart": np.append(rows.fields["apart"], np.zeros(more, np.uint64)),
    }, rows.count + more)
    plain = GroupTask(task.method, task.k, task.own, weights=task.weights, distance="sse")
    whole = encode(every, columns, plain, trees)
    places: list[Any] = list(whole.columns)
    for j, values in lacking.items():
        own, beside = places[j], values[whole.order][:, None]
        # each value of these is one of its own at every level
        places[j] = np.where(beside < 0, own, own.max() + 1 + beside).astype(own.dtype)
    return replace(whole, columns=tuple(places)), np.append(labels, np.full(more, -1))


def _shown(
    columns: Sequence[Column], published: PublishedForm, classes: Labels, trees: Mapping[str, Tree]
) -> ReleasedForm:
    levels = {
        name.removeprefix("level "): int(level) for name, level in published.facts.items()
        if name.startswith("level ")
    }
    boxes = np.zeros((0, 0, 3))
    if published.boxes is not None:
        boxes = box_array(published.boxes, int(classes.max()) + 1, len(columns))[:, classes]
    return ReleasedForm(
        published.form,
        published.of_trees,
        [
            caseless(column.name) for column, sql_type in zip(columns, published.types, strict=True)
            if not sql_type.startswith(TEXT)
        ],
        levels,
        {caseless(name): tree for name, tree in trees.items()},
        boxes,
        published.by_column,
    )
