"""What no release of a table keeps is refused before anything is grouped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.methods import task_for
from kanon_sql.points.points import Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from kanon_sql.privacy.entity import EntityShare
from kanon_sql.privacy.feasible import counts_of, refuse_infeasible
from kanon_sql.privacy.l_diversity import MANY_VALUES
from kanon_sql.stages.prepare import prepare


def table(values: Sequence[Any], **more: Any) -> Points:
    """Records with one sensitive column 'Illness' of texts or numbers; None is missing."""
    known = sorted({value for value in values if value is not None})
    codes = [len(known) if value is None else known.index(value) for value in values]
    numbers = not isinstance(known[0], str) if known else False
    column = SensitiveColumn(
        "Illness", tuple(map(str, known)), numbers,
        np.array(known, np.float64) if numbers else np.zeros(0), **more,
    )
    points = Points.of(np.arange(len(values))[:, None], sensitive=np.array(codes)[:, None])
    return replace(points, sensitive_columns=(column,))


SICK = ["flu"] * 6 + ["hiv"] * 3 + ["cold"]
REFUSED: dict[str, tuple[PrivacyModel, Sequence[Any], tuple[str, ...]]] = {
    "too few values": (
        DistinctDiversity(column="illness", l=4), SICK,
        ("'illness' has 3 different values, so l = 4 can't be kept. Ask for l of 3 or less.",),
    ),
    "a missing value is none": (
        DistinctDiversity(column="illness", l=4), [*SICK, None], ("has 3 different values,",),
    ),
    "nothing is known": (
        DistinctDiversity(column="illness", l=1), [None, None],
        ("'illness' has 0 different values, so l = 1 can't be kept. Ask for no l",),
    ),
    # 6, 3 and 1 of 10: exp(0.89795...)
    "too little entropy": (
        EntropyDiversity(column="illness", l=2.5), SICK,
        ("One class of all 10 rows has l = 2.45", "so l = 2.5 can't", "Ask for l of 2.45"),
    ),
    # 6 < c (3 + 1) from 1.5 on
    "c is too low": (
        RecursiveDiversity(column="illness", l=2, c=1.5), SICK,
        ("needs c above 1.5 for", "so l = 2, c = 1.5 can't", "Ask for c above 1.5, or"),
    ),
    "no c would do": (
        RecursiveDiversity(column="illness", l=4, c=100.0), SICK,
        ("'illness' has 3 different values, so l = 4 can't be kept. Ask for l of 3 or less.",),
    ),
    "too frequent": (
        AlphaFrequency(column="illness", alpha=0.5), SICK,
        ("has alpha = 0.6 for", "so alpha = 0.5 can't", "Ask for alpha of 0.6 or more."),
    ),
    "all rows have one value": (
        AlphaFrequency(column="illness", alpha=0.5), ["flu", "flu"],
        ("has alpha = 1 for", "so alpha = 0.5 can't", "Ask for no alpha of this column."),
    ),
    "all rows may have one value": (
        AlphaFrequency(column="illness", alpha=0.5), ["flu", "flu", None],
        ("all 3 rows has alpha = 1 for", "Ask for no alpha of this column."),
    ),
    "one value is too frequent": (
        AlphaFrequency(column="illness", by_value=(("hiv", 0.2),)), SICK,
        ("has alpha = 0.3 for", "so alpha by value can't", "Ask for a higher alpha by value."),
    ),
    "a person of too many rows": (
        EntityShare(column="illness", k=2), ["ann", "ann", "ann", "bob", "cem"],
        ("one person of the column 'illness' has 3 of all 5 rows. Lower k",),
    ),
    "missing ones count against it": (
        AlphaFrequency(column="illness", alpha=0.6), [*SICK, None, None, None, None, None],
        ("all 15 rows has alpha = 0.733333333 for", "Ask for alpha of 0.733334 or more."),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_all_rows_as_one_class_break_is_refused_and_told(case: str) -> None:
    model, values, parts = REFUSED[case]
    with pytest.raises(DataError) as caught:
        refuse_infeasible(table(values), (model,))
    said = str(caught.value)
    assert all(part in said for part in parts) and len(said.split()) <= 40, said
    assert not any(f"{value}" in said for value in values if isinstance(value, str))


KEPT: tuple[tuple[PrivacyModel, Sequence[Any]], ...] = (
    (EntityShare(column="illness", k=2), ["a", "a", "b", "c"]),
    (EntityShare(column="illness", k=1), ["a"]),
    (DistinctDiversity(column="ILLNESS", l=3), SICK),
    (DistinctDiversity(column="illness", l=4, nulls="value"), [*SICK, None]),
    (EntropyDiversity(column="illness", l=2.4), SICK),
    (EntropyDiversity(column="illness", l=3), ["a", "b", "c"] * 7),
    (RecursiveDiversity(column="illness", l=2, c=1.500001), SICK),
    (AlphaFrequency(column="illness", alpha=0.6), SICK),
    (AlphaFrequency(column="illness", by_value=(("hiv", 0.3),)), SICK),
    (Closeness(column="illness", t=0.0), SICK),
    (Closeness(column="illness", t=0.000001), [1.0, 5.0, None]),
    (DeltaDisclosure(column="illness", delta=0.001), SICK),
    (BetaLikeness(column="illness", beta=0.001), SICK),
)


@pytest.mark.parametrize(("model", "values"), KEPT)
def test_what_they_keep_is_not_refused(model: PrivacyModel, values: Sequence[Any]) -> None:
    points = table(values)
    refuse_infeasible(points, (model,))
    ((_, counts),) = counts_of(points, (model,))
    assert counts.rows == len(values) >= model.least_class(counts)


@pytest.mark.parametrize(("values", "share"), [
    (["a"], 1.0), (["a", "b"], 0.5), (["a", "a", "b"], 2 / 3), (["a"] * 3 + ["b"] * 9, 0.75),
])
def test_the_largest_share_of_a_person(values: list[str], share: float) -> None:
    model = EntityShare(column="illness", k=1)
    ((_, counts),) = counts_of(table(values), (model,))
    assert model.best(counts) == share
    nobody = replace(counts, values=counts.values[:0], missing=0)
    assert (model.most(nobody), model.best(nobody)) == (0, 0.0)


def test_l_says_nothing_about_many_numbers() -> None:
    many = [float(i % (MANY_VALUES + 1)) for i in range(200)]
    with pytest.raises(DataError, match=f"has {MANY_VALUES + 1} distinct .*Ask for t .*'bins'"):
        refuse_infeasible(table(many), (DistinctDiversity(column="illness", l=2),))
    refuse_infeasible(table(many[:MANY_VALUES]), (DistinctDiversity(column="illness", l=2),))
    refuse_infeasible(table(many), (Closeness(column="illness", t=0.1),))
    refuse_infeasible(
        table([f"v{x}" for x in many]), (DistinctDiversity(column="illness", l=2),)
    )
    bins = np.array([np.arange(51), np.arange(51) // 10], np.int32)
    refuse_infeasible(table(many, levels=bins), (DistinctDiversity(column="illness", l=2),))
    # six bins, and a hierarchy that has no more than its leaves
    with pytest.raises(DataError, match="has 6 different values one level up its hierarchy, "):
        refuse_infeasible(table(many, levels=bins), (DistinctDiversity(column="illness", l=7),))
    with pytest.raises(DataError, match="l says nothing"):
        refuse_infeasible(table(many, levels=bins[:1]), (DistinctDiversity(column="illness", l=2),))


@pytest.mark.parametrize(("distance", "values", "said"), [
    ("ordered", SICK, "has none: it holds no numbers"),
    ("numeric", SICK, "has none: it holds no numbers"),
    ("hierarchy", SICK, "needs a hierarchy"),
    ("numeric", [1.0, 2.0, np.inf], "infinite"),
])
def test_a_distance_that_the_column_does_not_have_is_refused(
    distance: str, values: Sequence[Any], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        refuse_infeasible(table(values), (Closeness(column="illness", t=0.5, distance=distance),))


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=14), st.integers(2, 4))
def test_no_release_keeps_what_one_class_of_all_rows_breaks(values: list[str], least: int) -> None:
    """Of no cut of the rows in two do both parts keep what the whole breaks."""
    model = DistinctDiversity(column="illness", l=least)
    refused = False
    try:
        refuse_infeasible(table(values), (model,))
    except DataError:
        refused = True
    assert refused == (len(set(values)) < least)
    for cut in range(1, len(values)):
        parts = [np.arange(cut), np.arange(cut, len(values))]
        kept = []
        for part in parts:
            ((_, counts),) = counts_of(table(values), (model,), part)
            kept.append(model.feasible(counts))
        assert not (all(kept) and refused)


def test_the_rows_are_refused_before_they_are_grouped() -> None:
    values = ["flu"] * 9 + ["hiv"]
    rows = Rows({
        "row": np.arange(10),
        "cells": CellColumns({0: np.arange(10.0)}, {}),
        "secrets": CellColumns({}, {0: pa.array(values)}),
    }, 10)
    task = replace(task_for("mdav", 2), beside_k=(DistinctDiversity(column="x", l=3),))
    with pytest.raises(DataError, match=r"'x' has 2 different values, so l = 3"):
        prepare(rows, [Column("a", "DOUBLE")], task, sensitive=[Column("x", "VARCHAR")])


def test_what_the_rows_that_are_kept_can_not_keep_is_refused_after_suppression() -> None:
    # the only one of its kind lies far away, and is left out
    points = table(["a", "b"] * 20 + ["c"])
    points.numeric[-1] = 1e6
    task = replace(
        task_for("mdav", 2), suppress=0.05, beside_k=(DistinctDiversity(column="illness", l=3),)
    )
    refuse_infeasible(points, task.models)
    with pytest.raises(DataError, match=r"'illness' has 2 different values, so"):
        group_points(points, task)
