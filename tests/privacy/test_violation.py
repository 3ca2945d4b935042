"""The violation of a class is 0 exactly where the reference says that the class passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.points.points import Codes, Labels, Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import PrivacyModel
from kanon_sql.privacy import kernels as violation
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import NOBODY, SOME, violations
from tests.privacy.histograms import (
    KINDS,
    NUMBERS,
    THRESHOLDS,
    T,
    Table,
    model_of,
    models,
    tables,
)
from tests.support.kernels import from_python
from tests.support.thoroughness import examples

changed = from_python(violation.violation_of)
counted = from_python(violation.count_codes)


def points_of(columns: Sequence[SensitiveColumn], codes: Sequence[Codes]) -> Points:
    """Records that have sensitive columns, and are else alike."""
    points = Points.of(np.zeros((len(codes[0]), 1)))
    return replace(
        points, sensitive=np.ascontiguousarray(np.column_stack(codes), np.int32),
        sensitive_columns=tuple(columns),
    )


def found_by_kernel(table: Table, kind: str, model: PrivacyModel, labels: Labels) -> Any:
    """The violation of each class; the rows without one are not in the table."""
    kept = np.flatnonzero(labels >= 0)
    points = points_of([table.column(kind)], [table.codes()])
    return violations(demands_of(points, [model], kept), labels)


def labels_of(rows: int, classes: int, seed: int, share_left_out: float) -> Labels:
    """Random classes, numbered from 0, none of them empty; -1 for rows that are left out."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    labels[rng.random(rows) < share_left_out] = -1
    found, numbers = np.unique(labels, return_inverse=True)
    return np.asarray(numbers - (found[0] < 0), dtype=np.int64)


def compare(table: Table, kind: str, model: PrivacyModel, labels: Labels) -> None:
    kept = Table(table.many, tuple(v for v, g in zip(table.values, labels, strict=True) if g >= 0))
    if not kept.values:
        return
    found = found_by_kernel(table, kind, model, labels)
    for group, far in enumerate(found.tolist()):
        own = [v for v, g in zip(table.values, labels, strict=True) if g == group]
        assert math.isfinite(far) and far >= 0.0
        assert (far == 0.0) is kept.passes(kind, model, own), (own, far)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(300))
@given(
    st.data(), tables(40), st.integers(1, 8), st.integers(0, 10**6), st.sampled_from((0.0, 0.2))
)
def test_zero_exactly_if_the_class_passes(
    kind: str, data: st.DataObject, table: Table, classes: int, seed: int, left_out: float
) -> None:
    _, model = data.draw(models([kind]))
    compare(table, kind, model, labels_of(len(table.values), classes, seed, left_out))


@pytest.mark.sample(42)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nulls", ["worst", "value"])
@pytest.mark.parametrize(
    "table",
    [
        Table(1, (NUMBERS[0],) * 5), Table(1, (None,) * 5), Table(2, (NUMBERS[1],) * 5),
        Table(1, (NUMBERS[0], NUMBERS[0], None, None, None)), Table(8, NUMBERS),
        Table(8, NUMBERS[::-1] * 3), Table(8, (NUMBERS[0], NUMBERS[7], None) * 4),
    ],
    ids=["one_value", "all_missing", "a_value_that_no_row_has", "one_and_missing", "all_different",
         "equally_many", "two_and_missing"],
)
def test_tables_at_the_edge(kind: str, nulls: str, table: Table) -> None:
    rows = len(table.values)
    for threshold in THRESHOLDS.get(kind, T):
        model = model_of(kind, threshold, nulls)
        for classes in (1, 2, rows):
            compare(table, kind, model, (np.arange(rows) % classes).astype(np.int64))


@settings(max_examples=examples(100))
@given(
    tables(40, 4), st.lists(models(), min_size=2, max_size=4), st.integers(1, 5),
    st.integers(0, 10**6),
)
def test_demands_add_up(
    table: Table, asked: list[tuple[str, PrivacyModel]], classes: int, seed: int
) -> None:
    """Several models, on several columns: together what each of them has alone."""
    labels = labels_of(len(table.values), classes, seed, 0.0)
    kept = np.arange(len(labels))
    rng = np.random.default_rng(seed)
    columns, codes, named = [], [], []
    for place, (kind, model) in enumerate(asked):
        columns.append(replace(table.column(kind), name=f"column_{place}"))
        codes.append(rng.permutation(table.codes()))
        named.append(replace(model, column=f"COLUMN_{place}"))
    points = points_of(columns, codes)
    together = violations(demands_of(points, named, kept), labels)
    alone = [violations(demands_of(points, [model], kept), labels) for model in named]
    assert together == pytest.approx(np.sum(alone, axis=0))


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(tables(30, 6), models(), st.integers(2, 5), st.integers(0, 10**6))
def test_a_class_after_a_change_is_judged_as_if_it_were_made(
    table: Table, asked: tuple[str, PrivacyModel], classes: int, seed: int
) -> None:
    """One member goes, another record comes, or both; with the counts of a class and without."""
    kind, model = asked
    labels = labels_of(len(table.values), classes, seed, 0.0)
    points = points_of([table.column(kind)], [table.codes()])
    demands = demands_of(points, [model], np.arange(len(labels)))
    assert demands.width > 0
    members, others = np.flatnonzero(labels == 0), np.flatnonzero(labels != 0)
    kept = np.zeros(demands.width, np.int32)
    counted(demands.codes, demands.kept_at, members, len(members), kept)
    for out in (NOBODY, members[-1]) if len(members) > 1 else (NOBODY,):
        for into in (NOBODY, others[0]) if len(others) else (NOBODY,):
            after = labels.copy()
            after[[i for i in (out,) if i >= 0]] = classes
            after[[i for i in (into,) if i >= 0]] = 0
            expected = violations(demands, after)[0]
            for counts in (kept, np.zeros(0, np.int32)):
                found = changed(demands, counts, members, len(members), int(out), int(into))
                assert found == pytest.approx(expected)
                assert (found == 0.0) == (expected == 0.0)


@pytest.mark.parametrize(("kind", "t"), [("ordered", 0.15), ("numeric", 0.026)])
def test_a_column_of_many_numbers(kind: str, t: float) -> None:
    """The sums over the values between two of a class, by the plain sum over all values."""
    rng = np.random.default_rng(5)
    values = np.sort(rng.lognormal(10.0, 1.0, 3_000))
    codes = rng.integers(0, 3_000, 6_000).astype(np.int32)
    codes[:3_000] = np.arange(3_000)
    column = SensitiveColumn("x", tuple(map(str, values)), True, values)
    points = points_of([column], [codes])
    labels = rng.integers(0, 40, 6_000)
    labels[codes > 2_500] = 40  # a class of the largest values
    found = violations(
        demands_of(points, [model_of(kind, t, "worst")], np.arange(6_000)), labels
    )
    gaps = np.ones(2_999) / 2_999 if kind == "ordered" else np.diff(values) / np.ptp(values)
    below = np.cumsum(np.bincount(codes, minlength=3_000)) / 6_000
    for group in range(41):
        own = codes[labels == group]
        q = np.cumsum(np.bincount(own, minlength=3_000)) / len(own)
        distance = (np.abs(q - below)[:-1] * gaps).sum()
        expected = (distance - t) * len(own) + SOME if distance > t else 0.0
        assert found[group] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert found[40] > 0.0 and (found == 0.0).any()
