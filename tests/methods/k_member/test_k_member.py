"""The k-member and nearest kernels against the readable reference and what byun2006 states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kanon_sql import data
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.k_member import greedy
from kanon_sql.methods.k_member.k_member import k_member
from kanon_sql.methods.k_member.nearest import nearest
from kanon_sql.points.content_order import content_order
from kanon_sql.points.losses import class_losses, total_il
from kanon_sql.points.points import Labels, LossPoints
from tests.methods.k_member import reference_loss as reference
from tests.methods.k_member.reference_loss import LossRecords, Variant
from tests.support.records import loss_points_of
from tests.support.thoroughness import often

VARIANTS: tuple[Mapping[str, Any], ...] = (
    {},
    {"start": "seed", "seed": 3},
    {"class_label": "label", "class_penalty": 0.25},
    {"class_label": "label"},
    {"diversity_preference": "equal", "diversity_penalty": 2.0},
    {"diversity_preference": "sensitive", "diversity_penalty": 0.5},
    {"diversity_preference": "equal", "diversity_penalty": 0.3, "class_label": True,
     "start": "seed"},
    {"diversity_preference": "sensitive", "class_label": True, "class_penalty": 7.0},
)


def records_of(points: LossPoints) -> LossRecords:
    return LossRecords(
        points.numeric.tolist(), points.codes.tolist(), points.cap.tolist(),
        points.scale.tolist(), points.limit.tolist(), points.label.tolist(),
        points.sensitive_value.tolist(), points.protected.tolist(),
    )


def variant_of(points: LossPoints, options: Mapping[str, Any]) -> Variant:
    return Variant(
        options.get("start", "last"),
        options.get("class_penalty", 1.0) if options.get("class_label") else None,
        options.get("diversity_preference"),
        options.get("diversity_penalty", 1.0),
        content_order(points, options.get("seed", 0)).tolist(),
    )


def labels_of(n: int, clusters: list[list[int]]) -> list[int]:
    labels = [-1] * n
    for g, members in enumerate(clusters):
        for i in members:
            assert labels[i] == -1
            labels[i] = g
    return labels


def assert_equals_reference(points: LossPoints, k: int, options: Mapping[str, Any]) -> None:
    """Both kernels give the groups of the reference, in the same order."""
    records, n = records_of(points), len(points)
    variant = variant_of(points, options)
    found = task_for("k_member", k, **options).group(points).labels
    assert found.dtype == np.int64 and found.shape == (n,)
    assert found.tolist() == labels_of(n, reference.k_member(records, k, variant))
    found = task_for("nearest", k, seed=options.get("seed", 0)).group(points).labels
    assert found.tolist() == labels_of(n, reference.nearest(records, k, variant.order))


def random_points(
    n: int, d: int, c: int, kind: str, most: int, missing: float, seed: int
) -> LossPoints:
    """Records in canonical order: numbers on a grid or not, missing ones at 3 weights above, codes
    of ``most`` categories, every kind of limit, many equal records for kind 'few'."""
    rng = np.random.default_rng(seed)
    distinct = n if kind != "few" else max(1, n // 5)
    cap = rng.choice([1.0, 0.3, 2.0], d)
    grid = rng.integers(0, 4, (distinct, d)) / 3.0
    numeric = cap * (rng.random((distinct, d)) if kind == "floats" else grid)
    numeric = np.where(rng.random((distinct, d)) < missing, 4.0 * cap, numeric)
    codes = rng.integers(0, most, (distinct, c))
    codes[:, : c // 2] = codes[:, : c // 2] % 3
    pick = rng.permutation(np.append(np.arange(distinct), rng.integers(0, distinct, n - distinct)))
    numeric, codes = numeric[pick], codes[pick]
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1], np.zeros(n)])
    return LossPoints.of(
        numeric[order], codes[order], rng.choice([0.0, 1.0, 1 / 3, 0.1], c), cap,
        rng.choice([1, 1, 2, 5, 1000], c), label=rng.integers(0, 3, n),
        sensitive=rng.integers(0, 4, n), protected=[True, False, True, False],
    )


@st.composite
def tables(draw: Any, most: int = 30) -> LossPoints:
    d, c = draw(st.sampled_from([(1, 2), (0, 1), (1, 0), (2, 4), (0, 3), (3, 0)]))
    return random_points(
        draw(st.integers(1, most)), d, c, draw(st.sampled_from(["floats", "grid", "few"])),
        draw(st.sampled_from([1, 3, 70, 5000])), draw(st.sampled_from([0.0, 0.0, 0.2])),
        draw(st.integers(0, 2**32)),
    )


@often(200)
@given(tables(), st.integers(1, 7), st.sampled_from(VARIANTS))
def test_equals_reference(
    points: LossPoints, k: int, options: Mapping[str, Any]
) -> None:
    assert_equals_reference(points, k, options)


@pytest.mark.sample(3)
@pytest.mark.parametrize("options", VARIANTS)
def test_equals_reference_in_several_leaves(options: Mapping[str, Any]) -> None:
    for seed, (k, kind, most) in enumerate([(12, "grid", 40), (3, "few", 6), (4, "floats", 200)]):
        points = random_points(150, 1, 3, kind, most, 0.05, seed)
        assert_equals_reference(points, k, options)


@pytest.mark.parametrize("seed", range(4))
def test_equals_reference_where_many_codes_are_close(seed: int) -> None:
    """Codes so many that those near each other share a bit of the sets in a tree."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (200, 2))
    codes[-1] = 6399
    points = LossPoints.of(rng.integers(0, 3, (200, 1)) / 2.0, np.sort(codes, axis=0), [1.0, 0.5])
    assert_equals_reference(points, 3, {})


KINDS = (
    "grid", "few", "alike", "nominal", "mixed", "same_bit", "six_texts", "zips", "tied"
)
"""Of tests/support/records.py: mixed, all nominal, of many categories, and full of ties."""


@pytest.mark.sample(4)
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_reference_on_all_kinds(kind: str, distinct: bool) -> None:
    points = loss_points_of(kind, 140, distinct=distinct)
    for options in (VARIANTS[0], VARIANTS[2], VARIANTS[4]):
        assert_equals_reference(points, 4, options)


@often(60)
@given(tables(most=60), st.integers(1, 9), st.sampled_from(VARIANTS))
def test_groups_have_k_to_2k_minus_1_records(
    points: LossPoints, k: int, options: Mapping[str, Any]
) -> None:
    """Theorem 2; at most k records are one group."""
    for name, own in (("k_member", options), ("nearest", {})):
        labels = task_for(name, k, **own).group(points).labels
        sizes = np.bincount(labels)
        assert sizes.sum() == len(points)
        assert len(sizes) == max(1, len(points) // k)
        assert sizes.max() < 2 * k
        assert sizes.min() >= min(k, len(points))


def test_small_cases() -> None:
    one = LossPoints.of([[0.5]])
    assert task_for("k_member", 5).group(one).labels.tolist() == [0]
    assert task_for("nearest", 1).group(one).labels.tolist() == [0]
    none = LossPoints.of(np.zeros((0, 1)))
    assert task_for("k_member", 2).group(none).labels.tolist() == []
    pair = LossPoints.of([[0.0], [1.0]])
    assert sorted(task_for("k_member", 1).group(pair).labels.tolist()) == [0, 1]
    bare = LossPoints.of(np.zeros((7, 0)))  # no column: nothing is lost
    assert np.bincount(task_for("k_member", 3).group(bare).labels).tolist() == [4, 3]


def test_stops_when_told() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        k_member(random_points(400, 1, 2, "grid", 5, 0.0, 0), task_for("k_member", 3), watch)


def test_tells_how_far_it_is() -> None:
    watch = Watch()
    k_member(random_points(403, 1, 2, "grid", 5, 0.0, 0), task_for("k_member", 4), watch)
    assert watch.done == 400


@often(25)
@given(tables(most=7), st.integers(2, 3))
def test_loss_is_not_below_the_optimum(points: LossPoints, k: int) -> None:
    if len(points) < k:
        return
    optimum = reference.optimal_loss(records_of(points), k)
    for method in (k_member, nearest):
        loss = total_il(points, task_for(method.__name__, k).group(points).labels)
        assert loss >= optimum * (1 - 1e-12)


def test_separate_clusters_are_found() -> None:
    """Four far-off heaps of three equal records are the groups, and nothing is lost."""
    codes = np.repeat(np.arange(4), 3)[:, None]
    points = LossPoints.of(codes / 3.0, codes, [1.0])
    for method in (k_member, nearest):
        labels = task_for(method.__name__, 3).group(points).labels
        assert total_il(points, labels) == 0.0


# --- Adult ------------------------------------------------------------------------------------


YEARS = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
    "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)
"""The levels of education, as Adult numbers them."""


def adult(rows: int, distinct: bool = False, numbered: bool = False) -> LossPoints:
    """Some rows of the packaged extract; age a number, the other seven categories, or education a
    number too, as in section 6.1."""
    table = pl.read_parquet(data.adult())
    table = table.gather(np.random.default_rng(1).permutation(table.height)[:rows])
    label = table["salary-class"].rank("dense").to_numpy().astype(np.int32) - 1
    numeric = table["age"].cast(pl.Float64).to_numpy()[:, None] / 73.0
    flat = table.drop("age", "salary-class", *["education"] * numbered)
    if numbered:
        years = [YEARS.index(level) / 15.0 for level in table["education"].to_list()]
        numeric = np.column_stack([numeric, years])
    ranks = [flat[name].cast(pl.String).rank("dense").to_numpy() for name in flat.columns]
    codes = np.column_stack(ranks).astype(np.int32) - 1
    limit = codes.max(axis=0) if distinct else np.ones(codes.shape[1])
    order = np.lexsort([*codes.T[::-1], *numeric.T])
    return LossPoints.of(
        numeric[order], codes[order], 1.0 / limit, None, limit, label=label[order],
        sensitive=label[order], protected=[False, True],
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("options", VARIANTS[:6])
@pytest.mark.parametrize("distinct", [False, True])
def test_equals_reference_on_adult(distinct: bool, options: Mapping[str, Any]) -> None:
    assert_equals_reference(adult(120, distinct), 5, options)


@njit(nogil=True)
def _scan(numeric: Any, codes: Any, cap: Any, scale: Any, limit: Any, start: int, k: int) -> Any:
    """Figure 8 without leftovers, all records measured each time."""
    n, d, c = numeric.shape[0], numeric.shape[1], codes.shape[1]
    labels, members = np.full(n, -1, np.int64), np.zeros(k, np.int64)
    last = start
    for made in range(n // k):
        for size in range(k):
            best, best_value = -1, np.inf
            if size == 0:
                members[0] = last
            width = max(size, 1)
            for r in range(n):
                if labels[r] >= 0:
                    continue
                total = 0.0
                for a in range(d):
                    low = high = numeric[r, a]
                    for q in range(width):
                        low = min(low, numeric[members[q], a])
                        high = max(high, numeric[members[q], a])
                    total += min(high - low, cap[a])
                for a in range(c):
                    others = 0
                    for q in range(width):
                        other = codes[members[q], a] != codes[r, a]
                        for earlier in range(q):
                            other = other and codes[members[q], a] != codes[members[earlier], a]
                        others += other
                    total += scale[a] * min(others, limit[a])
                value = (size + 1) * total if size > 0 else -total
                if value < best_value:
                    best, best_value = r, value
            labels[best] = made
            members[size] = last = best
    return labels


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [False, True])
def test_equals_a_plain_scan_on_thousands_of_rows(distinct: bool) -> None:
    points, k = adult(5000, distinct), 5
    start = content_order(points, 0)[0]
    expected = _scan(
        points.numeric, points.codes, points.cap, points.scale, points.limit, start, k
    )
    found = task_for("k_member", k).group(points).labels
    assert (found == expected).all()


def _nearest_scan(points: LossPoints, k: int) -> Labels:
    """The baseline of section 6 without leftovers, all records measured each time."""
    labels, made = np.full(len(points), -1, np.int64), 0
    for start in content_order(points, 0).tolist():
        left = np.flatnonzero(labels < 0)
        if labels[start] >= 0 or len(left) < k:
            continue
        away = np.zeros(len(left))
        for column, cap in zip(points.numeric.T, points.cap, strict=True):
            away += np.minimum(np.abs(column[left] - column[start]), cap)
        for codes, scale in zip(points.codes.T, points.scale, strict=True):
            away += np.where(codes[left] != codes[start], scale, 0.0)
        away[left == start] = -1.0
        # stable: of equal ones the first in canonical order
        labels[left[np.argsort(away, kind="stable")[:k]]] = made
        made += 1
    return labels


@pytest.mark.sample(2)
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_a_plain_scan_on_all_kinds(kind: str, distinct: bool) -> None:
    """Trees of several levels, each renewed several times."""
    points, k = loss_points_of(kind, 3_000, distinct=distinct), 5
    start = content_order(points, 0)[0]
    expected = _scan(
        points.numeric, points.codes, points.cap, points.scale, points.limit, start, k
    )
    assert task_for("k_member", k).group(points).labels.tolist() == expected.tolist()
    found = task_for("nearest", k).group(points).labels
    assert found.tolist() == _nearest_scan(points, k).tolist()


def test_loss_on_5000_rows_of_adult_is_of_the_known_size() -> None:
    """Other implementations, on other rows: about 5,300 to 5,410 and 5,670."""
    points = adult(5000, numbered=True)
    ours = total_il(points, task_for("k_member", 5).group(points).labels)
    baseline = total_il(points, task_for("nearest", 5).group(points).labels)
    assert 5200.0 < ours < 5500.0 < baseline < 6100.0


# --- what the penalties are for -----------------------------------------------------------------


def minority(points: LossPoints, labels: Labels) -> float:
    """The classification metric (section 5.2)."""
    counts = np.zeros((labels.max() + 1, points.label.max() + 1))
    np.add.at(counts, (labels, points.label), 1)
    return float(len(points) - counts.max(axis=1).sum()) / len(points)


def uniform(points: LossPoints, labels: Labels, grave_only: bool) -> int:
    """The diversity metrics (definition 10)."""
    cost = 0
    for g in range(labels.max() + 1):
        secrets = points.sensitive_value[labels == g]
        if (secrets == secrets[0]).all() and (points.protected[secrets[0]] or not grave_only):
            cost += len(secrets)
    return cost


def close_table() -> LossPoints:
    """Places on a line, each with records of either label and both secrets near by."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(400))[:, None]
    return LossPoints.of(
        x, (x * 8).astype(int), [0.2], label=rng.integers(0, 2, 400),
        sensitive=(x[:, 0] * 40).astype(int) % 3, protected=[True, False, False],
    )


def test_class_label_lowers_the_classification_metric() -> None:
    points = close_table()
    plain = task_for("k_member", 4).group(points).labels
    ours = task_for("k_member", 4, class_label=True).group(points).labels
    assert minority(points, plain) > 0.2
    assert minority(points, ours) < 0.1 * minority(points, plain)
    assert total_il(points, ours) > total_il(points, plain)
    same = task_for("k_member", 4, class_label=True, class_penalty=0.0).group(points).labels
    assert (same == plain).all()
    default = {"class_label": True, "class_penalty": 1.0}
    assert (task_for("k_member", 4, **default).group(points).labels == ours).all()


@pytest.mark.parametrize(("kind", "grave_only"), [("equal", False), ("sensitive", True)])
def test_diversity_lowers_its_metric(kind: str, grave_only: bool) -> None:
    points = close_table()
    plain = task_for("k_member", 4).group(points).labels
    ours = task_for("k_member", 4, diversity_preference=kind,
                    diversity_penalty=2.0).group(points).labels
    assert uniform(points, plain, grave_only) > 40
    assert uniform(points, ours, grave_only) < 0.2 * uniform(points, plain, grave_only)
    if kind == "sensitive":  # groups of other secrets may stay uniform
        assert uniform(points, ours, False) > 40


def test_no_truly_sensitive_value_is_no_diversity() -> None:
    points = replace(close_table(), protected=np.zeros(3, np.bool_))
    plain = task_for("k_member", 4).group(points).labels
    ours = task_for("k_member", 4, diversity_preference="sensitive").group(points).labels
    assert (ours == plain).all()


# --- what must not matter -----------------------------------------------------------------------


@pytest.mark.parametrize("renewed", [0.2, 0.99])
def test_trees_do_not_matter(renewed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    points = adult(2000, distinct=True)
    expected = [task_for(method.__name__, 7).group(points).labels for method in (k_member, nearest)]
    monkeypatch.setattr(greedy, "RENEWED", renewed)
    monkeypatch.setattr(greedy, "arrange", lambda points, far: np.arange(len(points)))
    for method, labels in zip((k_member, nearest), expected, strict=True):
        assert (task_for(method.__name__, 7).group(points).labels == labels).all()


def test_leftovers_join_the_group_that_grows_least() -> None:
    points = adult(599, distinct=False)
    labels = task_for("nearest", 20).group(points).labels
    sizes = np.bincount(labels)
    assert sizes.sum() == 599 and sizes.max() > 20
    assert class_losses(points, labels).max() <= 8.0
