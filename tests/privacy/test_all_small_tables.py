"""All tables of two rows of each value at most, by all models: what chance may miss."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from kanon_sql.privacy import BetaLikeness, Closeness, DeltaDisclosure, PrivacyModel
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import violations
from tests.privacy.histograms import (
    KINDS,
    NUMBERS,
    THRESHOLDS,
    T,
    Table,
    column_of,
    levels_of,
    model_of,
)
from tests.privacy.reference import passes
from tests.privacy.test_violation import compare, points_of

VALUES = (*NUMBERS[:3], None)
TABLES = [
    Table(3, tuple(v for v, n in zip(VALUES, often, strict=True) for _ in range(n)))
    for often in product(range(3), repeat=4) if any(often)
]
ZERO_AT_BEST = (Closeness, DeltaDisclosure, BetaLikeness)


def asked(kind: str) -> Iterator[PrivacyModel]:
    for nulls in ("worst", "value"):
        for threshold in (*THRESHOLDS.get(kind, T[:4])[:4], *((1.0,) if kind == "alpha" else ())):
            for rank in (2, 3) if kind == "recursive" else (2,):
                yield model_of(kind, threshold, nulls, rank)


@pytest.mark.parametrize("kind", KINDS)
def test_what_all_rows_have_and_whether_they_pass(kind: str) -> None:
    for model in asked(kind):
        for table in TABLES:
            counts = table.counts(kind)
            assert model.feasible(counts) is table.passes(kind, model, table.values), (model, table)
            best = model.best(counts)
            if getattr(model, "alpha", None) == 1.0:
                continue  # bounds nothing, and is never refused
            if isinstance(model, ZERO_AT_BEST):
                assert best == 0.0
            else:
                assert best == pytest.approx(table.value(kind, model, table.values)), (model, table)


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_class_that_passes(kind: str) -> None:
    for model in asked(kind):
        for table in TABLES[::4]:
            if table.passes(kind, model, table.values):
                found = next(len(own) for own in classes(table)
                             if table.passes(kind, model, own))
                told = model.least_class(table.counts(kind))
                assert told == found or (kind == "hierarchy" and told < found), (model, table)


def classes(table: Table) -> Iterator[list[float | None]]:
    """Every class that rows of the table can make, the smallest first."""
    counts = [table.values.count(value) for value in VALUES]
    for often in sorted(product(*(range(count + 1) for count in counts)), key=sum):
        if any(often):
            yield [v for v, n in zip(VALUES, often, strict=True) for _ in range(n)]


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_classes_the_violation_is_zero_exactly_if_each_passes(kind: str) -> None:
    """The rows that stand at odd places are one, and then those of the last value."""
    for model in asked(kind):
        for table in TABLES[::5]:
            rows = np.arange(len(table.values))
            last = np.array([value == table.values[-1] for value in table.values])
            for part in (rows % 2 == 1, last):
                if part.any() and not part.all():
                    compare(table, kind, model, part.astype(np.int64))


@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive"])
def test_the_violation_of_diversity_by_a_hierarchy_counts_nodes(kind: str) -> None:
    """Of four values two and two have a node above them."""
    column, levels = column_of(4, True), levels_of(4)
    for model in asked(kind):
        for often in product(range(3), (0, 1), (0, 2), (0, 1), (0, 1)):
            values = [v for v, n in zip((*NUMBERS[:4], None), often, strict=True)
                      for _ in range(n)]
            if not values:
                continue
            codes = np.array([4 if v is None else NUMBERS.index(v) for v in values], np.int32)
            points = points_of([column], [codes])
            rows = np.arange(len(values))
            (far,) = violations(demands_of(points, [model], rows), np.zeros(len(values), np.int64))
            assert bool(far == 0.0) is passes(model, values, values, levels), (model, values)
