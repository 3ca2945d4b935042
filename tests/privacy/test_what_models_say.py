"""What a model says of a table and of its options: by hand, at the edge of each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError, OptionError
from kanon_sql.option import options_of
from kanon_sql.points.sensitive import Counts, SensitiveColumn
from kanon_sql.privacy import (
    MODELS,
    AlphaFrequency,
    AverageRisk,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    PopulationOptions,
    PrivacyModel,
    RecursiveDiversity,
    WholeOptions,
)
from kanon_sql.privacy.demand import NUMERIC, ORDERED, Demand, Tables
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.entity import EntityShare
from kanon_sql.privacy.feasible import persons_among, refuse_infeasible
from kanon_sql.privacy.kernels import violations
from tests.privacy.histograms import NUMBERS, Table, model_of
from tests.privacy.test_feasible import table
from tests.privacy.test_least_class import classes
from tests.privacy.test_violation import points_of


def counts(
    values: Sequence[int], missing: int = 0, numbers: bool = True, **more: Any
) -> Counts:
    """So many rows of each of the values 0, 1, 2 ..."""
    many = len(values)
    column = SensitiveColumn(
        "x", tuple(f"{i:02}" for i in range(many)), numbers,
        np.arange(float(many)) if numbers else np.zeros(0),
        **{"levels": np.zeros((0, many), np.int32), **more},
    )
    return Counts(column, np.array(values, np.int64), missing)


def refusal(model: PrivacyModel, values: Sequence[Any], **more: Any) -> str:
    """What is said of a table that has no release."""
    with pytest.raises(DataError) as caught:
        refuse_infeasible(table(values, **more), (model,))
    return str(caught.value)


# --- the registry -------------------------------------------------------------------------------


def test_the_registry() -> None:
    """What others go by: metrics and the documentation, the encoding, blocks and k_anonymity."""
    said = {
        kind.name: (kind.nothing, kind.whole, kind.of_all_rows, kind.by_hierarchy, kind.of_entity)
        for kind in MODELS
    }
    assert said == {
        "distinct_l_diversity": (2.0, True, False, True, False),
        "entropy_l_diversity": (2.0, False, False, True, False),
        "recursive_l_diversity": (1.0, False, False, True, False),
        "t_closeness": (1.0, False, True, True, False),
        "alpha_k_anonymity": (1.0, False, False, False, False),
        "delta_disclosure": (1.0, False, True, False, False),
        "beta_likeness": (1.0, False, True, False, False),
    }
    options = {
        name: (each.common, each.proven)
        for kind in MODELS for name, each in options_of(kind.options).items()
    }
    assert options == {
        "l": (True, True), "diversity_kind": (False, False), "c": (False, False),
        "t": (True, True), "closeness": (False, False), "alpha": (False, True),
        "delta": (False, True), "beta": (False, True), "beta_kind": (False, False),
    }
    for holder in (WholeOptions, PopulationOptions):
        assert all(each.common and each.proven for each in options_of(holder).values())
    assert EntityShare.of_entity and not EntityShare.of_all_rows


@pytest.mark.parametrize(("model", "least"), [
    (Closeness(column="x", t=0.1), 1), (AlphaFrequency(column="x", alpha=0.1), 1),
    (DistinctDiversity(column="x", l=3), 3), (EntropyDiversity(column="x", l=2.1), 3),
    (EntityShare(column="x", k=4), 4), (BetaLikeness(column="x", beta=1.0), 1),
])
def test_the_least_size_whatever_the_table(model: PrivacyModel, least: int) -> None:
    assert model.least_size == least


def test_what_is_measured_where_nobody_asked() -> None:
    assert AlphaFrequency(column="x", alpha=0.5).measures_all
    assert not AlphaFrequency(column="x", by_value=(("hiv", 0.5),)).measures_all
    assert Closeness(column="x", t=0.5).measures_all
    same = (
        AlphaFrequency(column="x", alpha=0.5), DistinctDiversity(column="y", l=5),
        EntropyDiversity(column="X", l=3.9),
    )
    measured = RecursiveDiversity.measuring(None, same, "x", "worst")
    assert measured == RecursiveDiversity(column="x", l=3, c=1.0)
    assert RecursiveDiversity.measuring(None, same[:2], "x", "value") == RecursiveDiversity(
        column="x", nulls="value", l=2, c=1.0
    )


@pytest.mark.parametrize(("said", "models", "distance"), [
    ("numeric", (), "numeric"), ("numeric", (AlphaFrequency(column="x", alpha=0.5),), "numeric"),
    ("numeric", (Closeness(column="y", t=0.5), DistinctDiversity(column="x", l=2)), None),
    (None, (), None), ({"X": "equal", "y": "numeric"}, (), "equal"), ({"y": "equal"}, (), None),
])
def test_the_distance_by_which_t_is_measured(
    said: Any, models: Sequence[PrivacyModel], distance: str | None
) -> None:
    asked = SimpleNamespace(closeness=said)
    measured = Closeness.measuring(asked, models, "x", "worst")
    assert measured == Closeness(column="x", t=1.0, distance=distance)


def test_what_a_manifest_states_says_what_is_measured() -> None:
    said = {kind.name: kind.by_manifest("x") for kind in MODELS}
    assert {name: [*each.values()] for name, each in said.items()} == {
        "distinct_l_diversity": [DistinctDiversity(column="x", l=2)],
        "entropy_l_diversity": [EntropyDiversity(column="x", l=2.0)],
        "recursive_l_diversity": [],
        "t_closeness": [Closeness(column="x", t=1.0, distance=word)
                        for word in ("ordered", "equal", "numeric")],
        "alpha_k_anonymity": [AlphaFrequency(column="x", alpha=1.0)],
        "delta_disclosure": [DeltaDisclosure(column="x", delta=1.0)],
        "beta_likeness": [BetaLikeness(column="x", beta=1.0, kind="basic")],
    }
    assert [*said["distinct_l_diversity"]] == ["${diversity_kind} = 'distinct'"]
    assert [*said["t_closeness"]] == [
        f"CASE ${{closeness}} WHEN '' THEN {otherwise} ELSE ${{closeness}} = '{word}' END"
        for word, otherwise in (
            ("ordered", "ordered"), ("equal", "NOT ordered"), ("numeric", "false"),
        )
    ]
    assert [*said["beta_likeness"]] == ["true"]


def test_options_that_k_anonymity_can_not_measure() -> None:
    kind = Closeness.options
    for said in ("hierarchy", {"x": "equal", "y": "hierarchy"}):
        with pytest.raises(OptionError, match="k_anonymity takes none"):
            kind.refuse_audit(SimpleNamespace(closeness=said))
    for said in (None, "equal", {"x": "equal"}):
        kind.refuse_audit(SimpleNamespace(closeness=said))


def test_values_within_some_of_the_values() -> None:
    with pytest.raises(OptionError, match="alpha has values within values"):
        AlphaFrequency.options.limit_of({"hiv": {"x": 0.1}, "flu": 0.5}, (), 1)


# --- l ------------------------------------------------------------------------------------------


def test_how_many_values_to_ask_for() -> None:
    model = DistinctDiversity(column="illness", l=3)
    assert refusal(model, ["flu"] * 3) == (
        "'illness' has 1 different value, so l = 3 can't be kept. Ask for no l of this column."
    )
    assert refusal(model, ["flu", "hiv"]).endswith("Ask for l of 2 or less.")
    entropy = EntropyDiversity(column="illness", l=2.5)
    assert refusal(entropy, ["flu", "hiv"]).endswith("Ask for l of 2 or less.")
    assert refusal(entropy, ["flu", "flu", "hiv"]).endswith("Ask for no l of this column.")


def test_a_hierarchy_counts_from_its_second_level_on() -> None:
    leaves, pairs = np.arange(4), np.array([0, 0, 1, 1])
    model = DistinctDiversity(column="x", l=3)
    assert model.feasible(counts([1] * 4, levels=np.array([leaves], np.int32)))
    assert not model.feasible(counts([1] * 4, levels=np.array([leaves, pairs], np.int32)))
    column = counts([1] * 4, levels=np.array([leaves, pairs], np.int32)).column
    points = points_of([column], [np.array([0, 1, 0, 2], np.int32)])
    demands = demands_of(points, [replace(model, l=2)], np.arange(4))
    assert (violations(demands, np.array([0, 0, 1, 1])) > 0.0).tolist() == [True, False]


def test_entropy_is_not_kept_at_the_bound_unless_all_are_equally_frequent() -> None:
    rows = counts([6, 3, 1])
    at = EntropyDiversity(column="x", l=2.0).best(rows)
    assert not EntropyDiversity(column="x", l=at).feasible(rows)
    assert EntropyDiversity(column="x", l=at - 1e-9).feasible(rows)
    assert EntropyDiversity(column="x", l=3.0).feasible(counts([4, 4, 4]))


# --- t ------------------------------------------------------------------------------------------


def test_t_of_nothing_is_asked_of_whole_numbers_alone() -> None:
    model = Closeness(column="x", t=0.0, distance="numeric")
    assert model.feasible(counts([5])) and model.feasible(counts([0, 5]))
    assert not model.feasible(counts([5, 1])) and not model.feasible(counts([5], 1))
    assert replace(model, distance="ordered").feasible(counts([5, 1]))
    assert not replace(model, distance="ordered").feasible(counts([5, 1], 1))
    assert replace(model, distance="ordered", nulls="value").feasible(counts([5, 1], 1))
    said = refusal(replace(model, column="illness"), [1.0, 2.0])
    assert "has t = 0 up to rounding for the column 'illness', so t = 0.0, " in said
    assert said.endswith("Ask for t of 0.000001 or more.")


@pytest.mark.parametrize(("values", "missing", "least"), [
    ([4, 2], 0, 3), ([2, 1], 0, 3), ([4, 2], 2, 4), ([6], 0, 1), ([3, 3], 6, 4),
])
def test_the_least_class_of_the_same_shares(
    values: list[int], missing: int, least: int
) -> None:
    model = Closeness(column="x", t=0.0, distance="equal")
    assert model.least_class(counts(values, missing)) == least


@pytest.mark.parametrize(("often", "missing", "t"), [
    ((1, 3, 3), 4, 0.1), ((2, 3, 1, 1), 1, 0.2), ((1, 0, 1), 3, 0.333333), ((0, 2, 1, 0), 4, 0.5),
    ((1, 1), 18, 0.2), ((2, 2), 1, 0.5), ((2, 1), 3, 0.25), ((1, 2, 1), 2, 0.1), ((4, 4), 1, 0.05),
])
def test_the_least_class_beside_missing_values(
    often: tuple[int, ...], missing: int, t: float
) -> None:
    values = [v for v, n in zip(NUMBERS, often, strict=False) for _ in range(n)]
    rows = Table(len(often), (*values, *[None] * missing))
    for kind in ("ordered", "numeric"):
        model = model_of(kind, t, "worst")
        found = next(len(own) for own in classes(rows) if rows.passes(kind, model, own))
        assert model.least_class(rows.counts(kind)) == found, kind


def test_what_a_distance_needs_of_the_column() -> None:
    numeric = Closeness(column="illness", t=0.5, distance="numeric")
    refuse_infeasible(table([1.0, 2.0]), (numeric,))
    refuse_infeasible(table([1.0, np.inf]), (replace(numeric, distance="ordered"),))
    assert "needs finite numbers" in refusal(numeric, [1.0, np.inf])


@pytest.mark.parametrize(("distance", "cheap", "slices"), [
    ("equal", False, True), ("hierarchy", False, True), ("ordered", False, False),
    ("numeric", False, False), ("ordered", True, True), ("numeric", True, True),
    ("equal", True, True),
])
def test_a_search_begins_by_slices_where_values_are_far_from_each_other(
    distance: str, cheap: bool, slices: bool
) -> None:
    model = Closeness(column="x", t=0.1, distance=distance)
    assert model.by_slices(counts([1, 1]).column, cheap) is slices
    assert not DistinctDiversity(column="x", l=2).by_slices(counts([1, 1]).column, cheap)


def demanded(model: PrivacyModel, rows: Counts) -> tuple[Demand, Tables]:
    """What kernels are told."""
    tables = Tables()
    return model.demand(np.zeros(1, np.int32), rows, tables), tables


@pytest.mark.parametrize(("values", "kind"), [
    ([1_999_999_999], ORDERED), ([2_000_000_000], NUMERIC),  # 1 times 2e9 squared is 4e18
    ([500_000_000] * 3, NUMERIC),  # 3 times 1.5e9 squared is more
    ([100_000_000] * 3, ORDERED), ([2_000_000_000] * 2, NUMERIC),
])
def test_sums_of_whole_numbers_that_are_too_large_are_taken_as_doubles(
    values: list[int], kind: int
) -> None:
    model = Closeness(column="x", t=0.1, distance="ordered")
    assert demanded(model, counts(values))[0].kind == kind


def test_where_the_values_lie() -> None:
    model = Closeness(column="x", t=0.1, distance="ordered")
    (places,) = demanded(model, counts([2, 3], 1))[1].place
    assert places.tolist() == [0.0, 1.0, 1.0]
    (places,) = demanded(model, counts([2, 0, 3, 4], 1))[1].place
    assert places.tolist() == [0.0, 0.5, 1.0, 1.0]
    (places,) = demanded(replace(model, distance="numeric"), counts([2, 0, 3, 0, 4], 1))[1].place
    assert places.tolist() == [0.0, 0.5, 1.0, 1.0]


# --- alpha, delta, beta -------------------------------------------------------------------------


def test_bounds_of_values() -> None:
    some = AlphaFrequency(column="x", by_value=(("01", 0.2),))
    assert some.bounds(counts([1, 1, 1])).tolist() == [1.0, 0.2, 1.0]
    assert replace(some, alpha=0.5).bounds(counts([1, 1])).tolist() == [0.5, 0.2]
    with pytest.raises(DataError, match=r"^1 of the 2 values that alpha names are not values of"):
        replace(some, by_value=(("01", 0.2), ("x", 0.3))).bounds(counts([1, 1]))


def test_missing_values_under_a_bound() -> None:
    all_of_them = AlphaFrequency(column="x", alpha=1.0, nulls="value")
    assert all_of_them.best(counts([1, 2], 7)) == 0.0
    assert replace(all_of_them, alpha=0.9).best(counts([1, 2], 7)) == 0.7
    assert AlphaFrequency(column="x", alpha=0.9).best(counts([1, 2], 7)) == 0.9
    # nothing is known: they may all have the same value
    half = AlphaFrequency(column="x", alpha=0.5)
    assert not half.feasible(counts([], 4)) and not half.feasible(counts([0, 0], 4))
    assert replace(half, alpha=1.0).feasible(counts([], 4))


def test_the_bound_of_a_missing_value_that_is_a_value() -> None:
    for alpha, nulls, upper in ((0.5, "value", 0.5), (0.5, "worst", 1.0), (None, "value", 1.0)):
        model = AlphaFrequency(
            column="x", alpha=alpha, nulls=nulls, by_value=() if alpha else (("00", 0.3),)
        )
        assert demanded(model, counts([1, 1]))[1].upper[0].tolist()[-1] == upper


def test_what_is_at_a_bound_that_is_rounded_is_beyond_it() -> None:
    rows = counts([1, 3])
    share = np.array([0.25, 0.75, 0.0])
    (upper,) = demanded(BetaLikeness(column="x", beta=5.0), rows)[1].upper
    most = share[:2] * (1.0 - np.log(share[:2]))
    assert (upper[:2] < most).all() and upper[:2] == pytest.approx(most, rel=1e-11)
    assert upper[2] == 0.0
    model = DeltaDisclosure(column="x", delta=0.5)
    demand, tables = demanded(model, rows)
    (lower,), (upper,) = tables.lower, tables.upper
    assert (upper[:2] < np.exp(0.5) * share[:2]).all()
    assert (lower[:2] > np.exp(-0.5) * share[:2]).all()
    assert upper == pytest.approx(np.exp(0.5) * share, rel=1e-11)
    assert lower == pytest.approx(np.exp(-0.5) * share, rel=1e-11)
    assert demand.number == (1.0, lower.sum()) and demand.fraction == 2
    assert not replace(model, delta=0.0).feasible(rows)


def test_a_risk_is_told_as_it_was_asked_for() -> None:
    assert AverageRisk(0.05).in_words == "max_average_risk = 0.05"
    assert AverageRisk(0.05).keeps(0.05) and not AverageRisk(0.05).keeps(0.0500001)


def test_a_population_has_as_many_people_as_are_asked_for() -> None:
    asked = options_of(PopulationOptions)["k_map"]
    assert KMap(asked.read(1)) == KMap(1)
    KMap(3).refuse(3)
    with pytest.raises(DataError, match="cover only 2 people of the population, fewer than k_map"):
        KMap(3).refuse(2)


def test_persons_are_counted_by_their_column() -> None:
    points = table(["ann", "ann", "bob", "cem"])
    for apart, persons in ((None, 3), ("illness", 2)):
        assert persons_among(points, apart, np.array([0, 1, 2])) == persons


# --- blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "of_all"), [
    (Closeness(column="x", t=0.1), True), (DeltaDisclosure(column="x", delta=1.0), True),
    (BetaLikeness(column="x", beta=1.0), True), (DistinctDiversity(column="x", l=2), False),
    (AlphaFrequency(column="x", alpha=0.5), False),
])
def test_what_a_block_is_held_against(model: PrivacyModel, of_all: bool) -> None:
    column = replace(counts([0, 0]).column, table=np.array([7, 8, 9]))
    found = model.counts(column, np.array([0, 0, 1, 2], np.int32))
    assert found.values.tolist() == ([7, 8] if of_all else [2, 1])
    assert found.missing == (9 if of_all else 1)


def test_a_model_asks_for_the_shares_of_all_rows_at_0_alone() -> None:
    rows = counts([1, 1], numbers=False)
    assert Closeness(column="x", t=0.0).in_shares(rows)
    assert not Closeness(column="x", t=0.1).in_shares(rows)
    assert not DeltaDisclosure(column="x", delta=1.0).in_shares(rows)


def test_missing_values_have_no_counts_where_the_column_has_none() -> None:
    levels = np.zeros((2, 0), np.int32)
    column = counts([], levels=levels).column
    points = points_of([column], [np.zeros(3, np.int32)])
    demands = demands_of(points, [Closeness(column="x", t=0.1)], np.arange(3))
    assert demands.counts.tolist() == [3, 3]
    assert violations(demands, np.array([0, 0, 0])).tolist() == [0.0]
