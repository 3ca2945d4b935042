"""Measures a grouping and its release: labelled rows in, losses and radii out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import encode
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.measure.facts import measure
from kanon_sql.measure.in_words import (
    errors_in_unit,
    words_of,
    words_of_changes,
    words_of_errors,
)
from kanon_sql.measure.released import ReleasedForm, box_array, released_losses
from kanon_sql.methods import GroupTask
from kanon_sql.names import caseless
from kanon_sql.points.points import Floats, Labels

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
    """

    form: str
    of_trees: str
    by_column: Mapping[str, str]
    facts: Mapping[str, Any]
    boxes: pa.StructArray | None
    types: Sequence[str]
    outside: pa.StructArray
    bounded: bool = False


def measure_rows(
    rows: Rows, columns: Sequence[Column], task: GroupTask, published: PublishedForm,
    trees: Mapping[str, Tree] | None = None,
) -> tuple[dict[str, Any], Labels, Floats]:
    """The losses of labelled rows, the classes, and the radius of each; class -1 is suppressed."""
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    # rows that look alike stand by class: else the order in which they came in would say in which
    # order the losses of classes are added up
    rows = replace(rows, fields={**rows.fields, "apart": labels.reshape(-1).astype(np.uint64)})
    encoded = encode(rows, columns, replace(task, distance="sse"), trees or {})
    labels = labels.reshape(-1) - int(np.sum(classes < 0))
    classes = classes[classes >= 0]
    facts, radii = measure(
        encoded, labels[encoded.order], rows.fields["cells"], rows.fields["center"], task,
        published.bounded,
    )
    everything, labels = _with_outside(rows, columns, task, published, trees or {}, encoded, labels)
    shown = _shown(columns, published, classes, trees or {})
    first = dict(zip(rows.numbers("class").tolist(), rows.numbers("alike").tolist(), strict=True))
    alike = np.unique([first[each] for each in classes.tolist()], return_inverse=True)[1]
    losses = released_losses(everything, labels[everything.order], shown, alike.reshape(-1))
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
    number = published.outside.field("number").to_numpy(zero_copy_only=False)
    numbers = np.where(np.isfinite(number), number, np.nan)
    words = published.outside.field("category")
    for name, tree in trees.items():
        # a hierarchy is made of the rows that took part; what it lacks lies below the root, as NULL
        j = [caseless(c.name) for c in columns].index(caseless(name))
        in_column = pa.array(np.arange(len(words)) % len(columns) == j)
        lacking = pc.and_(in_column, pc.invert(pc.is_in(words, tree.levels[0])))
        words = pc.if_else(lacking, pa.scalar(None, words.type), words)
    outside = pa.StructArray.from_arrays(
        [pa.array(numbers, from_pandas=True), words], ["number", "category"]
    )
    every = Rows({
        "cells": pa.concat_arrays([rows.fields["cells"], outside]),
        "hash": pa.concat_arrays([rows.fields["hash"], pa.array(np.zeros(more, np.uint64))]),
        "apart": np.append(rows.fields["apart"], np.zeros(more, np.uint64)),
    }, rows.count + more)
    plain = GroupTask(task.method, task.k, task.own, weights=task.weights, distance="sse")
    return encode(every, columns, plain, trees), np.append(labels, np.full(more, -1))


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
