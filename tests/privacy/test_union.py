"""The union of two classes that pass passes, whatever the model: merging repairs, and a demand that
all rows together break can't be met by any classes of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.privacy import DeltaDisclosure, PrivacyModel
from tests.privacy.histograms import KINDS, Table, model_of, tables
from tests.privacy.reference import shares, value, with_missing
from tests.support.thoroughness import examples

LEAST = ("distinct", "entropy")
"""Kinds whose threshold is a lower bound."""


def tight(kind: str, found: float, nulls: str, rank: int) -> PrivacyModel | None:
    """The strictest model of a kind, to six decimals, that a class passes which has this; None if
    there is none."""
    if not math.isfinite(found):
        return None
    if kind in LEAST:
        threshold = math.floor(found * 1e6 - 1e-3) / 1e6 if kind == "entropy" else found
        return model_of(kind, threshold, nulls, rank) if threshold >= 1.0 else None
    # a millionth above, so that a model which must be kept by a margin is kept
    return model_of(kind, math.floor(found * 1e6 + 1) / 1e6, nulls, rank)


@pytest.mark.sample(3)
@pytest.mark.parametrize("nulls", ["worst", "value"])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(300))
@given(tables(24, 2), st.integers(0, 10**9), st.sampled_from((2, 3)))
def test_the_union_of_classes_that_pass_passes(
    kind: str, nulls: str, table: Table, seed: int, rank: int
) -> None:
    # each row is in the first class, in the second, or in none
    where = [seed // 3**i % 3 for i in range(len(table.values))]
    one, other = ([v for v, w in zip(table.values, where, strict=True) if w == c] for c in (0, 1))
    if not one or not other:
        return
    asked = model_of(kind, 0.5, nulls, rank)
    values = [table.value(kind, asked, own) for own in (one, other)]
    model = tight(kind, min(values) if kind in LEAST else max(values), nulls, rank)
    if model is None or not all(table.passes(kind, model, own) for own in (one, other)):
        return
    assert table.passes(kind, model, [*one, *other])


@pytest.mark.parametrize("kind", KINDS)
def test_the_tight_thresholds_are_kept(kind: str) -> None:
    # the test above isn't empty: a table in which no class can be without threshold
    table = Table(3, (-3.0, -3.0, -1.5, -1.5, 0.0, 0.0, -3.0, 0.0))
    own = (-3.0, -1.5, 0.0)
    model = tight(kind, table.value(kind, model_of(kind, 0.5, "worst"), own), "worst", 2)
    assert model is not None and table.passes(kind, model, own)


def over_present_values(own: list[str], table: list[str]) -> float:
    """The delta of a class over the values that it has, as some define it."""
    present = with_missing(own)
    pairs = zip(
        shares(present, list(present)), shares(with_missing(table), list(present)), strict=True
    )
    return max(abs(math.log(q / p)) for q, p in pairs)


def test_delta_disclosure_over_present_values_is_not_closed_under_union() -> None:
    one, other, rest = ["a"] * 4, ["a"] * 3 + ["b"], ["a"] + ["b"] * 7
    table = [*one, *other, *rest]
    assert over_present_values(one, table) < 0.7 and over_present_values(other, table) < 0.7
    assert over_present_values([*one, *other], table) > 1.3
    # over the values of the table the first of them fails
    model = DeltaDisclosure(column="x", delta=0.7)
    assert value(model, one, table) == math.inf
    assert value(model, other, table) == pytest.approx(math.log(2.0))
