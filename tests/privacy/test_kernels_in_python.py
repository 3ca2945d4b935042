"""The kernels as plain Python give what they give compiled, to the last bit, and 0 where the
reference lets a class pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.points.points import Labels
from kanon_sql.privacy import PrivacyModel, kernels
from kanon_sql.privacy.demands import FEW, Demands, demands_of
from kanon_sql.privacy.kernels import NOBODY, violations, violations_of_sets
from tests.privacy.histograms import KINDS, NUMBERS, THRESHOLDS, T, Table, model_of
from tests.privacy.test_violation import points_of
from tests.support.kernels import from_python, in_python

plain = in_python(kernels)
compiled = from_python(kernels.violation_of)
counted = from_python(kernels.count_codes)

ROUNDS = 150


def table_of(rng: np.random.Generator) -> Table:
    """A table of few rows: some values are rare, some no row has, some are missing."""
    many, rows = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    found = rng.choice(many, rows, p=rng.dirichlet(np.full(many, rng.choice([0.5, 3.0]))))
    missing = rng.random(rows) < rng.choice([0.0, 0.0, 0.1, 0.5])
    return Table(many, tuple(
        None if gone else NUMBERS[i] for i, gone in zip(found, missing, strict=True)
    ))


def asked_of(kind: str, rng: np.random.Generator) -> PrivacyModel:
    """A model of a kind."""
    threshold = float(rng.choice(THRESHOLDS.get(kind, T)))
    return model_of(kind, threshold, str(rng.choice(["worst", "value"])), int(rng.integers(2, 6)))


def the_same(
    demands: Demands, kept: Any, members: Labels, out: int, into: int
) -> float:
    """The violation of a class after a change, of which both ways know the same."""
    with np.errstate(all="ignore"):  # a division by 0 raises nothing in kernels
        found = plain.violation_of(demands, kept, members, len(members), out, into)
    expected = compiled(demands, kept, members, len(members), out, into)
    assert found == expected
    return float(found)


def changes(
    demands: Demands, labels: Labels, group: int
) -> list[tuple[Labels, bool]]:
    """The members of one class as it is, without a record, with another, and with both; and whether
    they pass, by codes that are gathered, and by counts."""
    members, others = np.flatnonzero(labels == group), np.flatnonzero(labels != group)
    kept = np.zeros(demands.width, np.int32)
    plain.count_codes(demands.codes, demands.kept_at, members, len(members), kept)
    same = np.zeros(demands.width, np.int32)
    counted(demands.codes, demands.kept_at, members, len(members), same)
    assert kept.tolist() == same.tolist()
    asked = []
    for out in (NOBODY, members[0], members[-1]) if len(members) > 1 else (NOBODY,):
        for into in (NOBODY, *others[:1]):
            far = {the_same(demands, counts, members, out, into)
                   for counts in (kept, np.zeros(0, np.int32))}
            assert max(far) - min(far) <= 1e-9 and (max(far) == 0.0) == (min(far) == 0.0)
            left = members[members != out]
            asked.append((np.append(left, into) if into >= 0 else left, min(far) == 0.0))
    return asked


@pytest.mark.parametrize("kind", KINDS)
def test_of_one_model(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(ROUNDS):
        table, model = table_of(rng), asked_of(kind, rng)
        labels = rng.integers(0, int(rng.integers(1, 5)), len(table.values))
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
        points = points_of([table.column(kind)], [table.codes()])
        demands = demands_of(points, [model], np.arange(len(labels)))
        for own, passes in changes(demands, labels, 0):
            values = [table.values[i] for i in own]
            assert table.passes(kind, model, values) is passes, (values, model)


def test_of_several_models() -> None:
    rng = np.random.default_rng(12)
    for _ in range(3 * ROUNDS):
        table = table_of(rng)
        kinds = rng.choice([*KINDS, "equal", "hierarchy"], int(rng.integers(2, 4)))
        asked = [replace(asked_of(kind, rng), column=f"x{j}") for j, kind in enumerate(kinds)]
        columns = [replace(table.column(kind), name=f"x{j}") for j, kind in enumerate(kinds)]
        codes = [rng.permutation(table.codes()) for _ in kinds]
        points = points_of(columns, codes)
        everybody = np.arange(len(table.values))
        demands = demands_of(points, asked, everybody)
        changes(demands, everybody % 3, 0)
        # together what each of them has alone
        alone = [violations(demands_of(points, [model], everybody), everybody % 3)
                 for model in asked]
        assert violations(demands, everybody % 3) == pytest.approx(np.sum(alone, axis=0))


@pytest.mark.parametrize("kind", ["equal", "ordered", "numeric", "distinct", "entropy", "delta"])
def test_of_many_values(kind: str) -> None:
    """Of more values than are counted one by one, a class is sorted."""
    rng = np.random.default_rng(7)
    values = np.cumsum(rng.lognormal(1.0, 1.0, 90))
    for rows in (200, 400):
        codes = rng.integers(0, 91, rows).astype(np.int32)
        column = replace(
            Table(1, ()).column("x"), words=tuple(map(str, values)), ordered=kind != "distinct",
            numbers=values, levels=np.zeros((0, 90), np.int32),
        )
        few = replace(column, name="y", words=("a", "b"), numbers=values[:2])
        points = points_of([column, few], [codes, (codes % 2).astype(np.int32)])
        models = [asked_of(kind, rng), replace(model_of("equal", 0.2, "value"), column="y")]
        demands = demands_of(points, models, np.arange(rows))
        assert demands.kept_at.tolist() == [-1, 0] and demands.width == 3
        changes(demands, np.arange(rows) % 17, 0)


@pytest.mark.parametrize(("values", "kept_at", "width"), [
    (0, [0], 1), (1, [0], 2), (FEW, [0], FEW + 1), (FEW + 1, [-1], 0),
])
def test_counts_are_kept_of_few_values(values: int, kept_at: list[int], width: int) -> None:
    words = tuple(f"{i:03}" for i in range(values))
    column = replace(Table(1, ()).column("x"), words=words, ordered=False, numbers=np.zeros(0),
                     levels=np.zeros((0, values), np.int32))
    codes = np.append(np.arange(values), values).astype(np.int32)
    for kind, light in (("equal", True), ("distinct", False)):
        points = points_of([column], [codes])
        demands = demands_of(points, [model_of(kind, 0.5, "value")], np.arange(len(codes)))
        assert (demands.kept_at.tolist(), demands.width) == (kept_at, width)
        assert demands.light is (light and width > 0)
        labels = np.arange(len(codes)) % 2
        changes(demands, labels.astype(np.int64), 0)


def test_several_ground_distances_are_light_together() -> None:
    table, other = Table(4, NUMBERS[:4] * 2), model_of("distinct", 2.0, "worst")
    equal = model_of("equal", 0.3, "worst")
    columns = [table.column("equal"), replace(table.column("equal"), name="y")]
    points = points_of(columns, [table.codes()] * 2)
    for second, light in ((equal, True), (other, False)):
        demands = demands_of(points, [equal, replace(second, column="y")], np.arange(8))
        assert demands.light is light and demands.width == 10 and demands.most == 5


def test_classes_and_sets() -> None:
    rng = np.random.default_rng(3)
    for kind in KINDS:
        table, model = table_of(rng), asked_of(kind, rng)
        labels = rng.integers(-1, 3, len(table.values))
        points = points_of([table.column(kind)], [table.codes()])
        kept = np.flatnonzero(labels >= 0)
        if len(kept) == 0:
            continue
        demands = demands_of(points, [model], kept)
        with np.errstate(all="ignore"):
            found = plain.violations(demands, labels)
        assert found.tolist() == violations(demands, labels).tolist()
        sets = [np.flatnonzero(labels == g) for g in range(3)] + [kept, kept[:1]]
        sets = [some for some in sets if len(some)]
        found = plain.violations_of_sets(demands, sets)
        assert found.tolist() == violations_of_sets(demands, sets).tolist()
        nothing = np.zeros(0, np.int32)
        assert found.tolist() == [
            the_same(demands, nothing, some, NOBODY, NOBODY) for some in sets
        ]
    assert plain.violations(demands, np.full(len(table.values), -1)).tolist() == []
    assert plain.violations(demands, np.zeros(0, np.int64)).tolist() == []


def test_sorting() -> None:
    rng = np.random.default_rng(5)
    for size in range(40):
        values = rng.integers(0, 12, size)
        found, often = values.copy(), np.zeros(size, np.int64)
        plain._sort(found, size)
        assert found.tolist() == sorted(values.tolist())
        runs = plain._runs(found, size, often)
        distinct, counts = np.unique(values, return_counts=True)
        assert found[:runs].tolist() == distinct.tolist()
        assert often[:runs].tolist() == counts.tolist()
