"""Choices as options, and where a refusal belongs: without a page and without data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.call.declarations import ROLES
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.explore.choices import (
    UNDECIDED,
    Choices,
    ChosenHierarchy,
    control_of,
    first_choices,
    options_of,
    read_hierarchy,
)
from kanon_sql.hierarchies.kinds import KINDS

COLUMNS = ("age", "zip", "job", "disease", "it's \"one\"")

roles = st.fixed_dictionaries({
    column: st.sampled_from([UNDECIDED, *ROLES]) for column in COLUMNS
})
hierarchies = st.dictionaries(
    st.sampled_from(COLUMNS), st.sampled_from(list(KINDS)).map(ChosenHierarchy)
)
choices = st.builds(
    Choices, roles=roles, hierarchies=hierarchies, k=st.integers(2, 9),
    l=st.none() | st.integers(2, 3), t=st.none() | st.sampled_from([0.1, 0.5]),
    method=st.sampled_from(["mdav_star", "k_member"]), effort=st.none() | st.just("fast"),
)


@given(choices)
def test_every_column_has_exactly_its_role_or_there_are_no_options(chosen: Choices) -> None:
    given_roles = list(chosen.roles.values())
    try:
        options = options_of(chosen)
    except OptionError as refusal:
        assert (
            UNDECIDED in given_roles or "quasi_identifier" not in given_roles
            or given_roles.count("entity") > 1 or "needs" in str(refusal)
        )
        return
    told = {
        "quasi_identifier": options["quasi_identifiers"],
        "sensitive": options.get("sensitive", []),
        "identifier": options.get("identifiers", []),
        "within": options.get("within", []),
        "entity": [options["entity"]] if "entity" in options else [],
    }
    for column, role in chosen.roles.items():
        assert [name for name, columns in told.items() if column in columns] == (
            [role] if role != "other" else []
        )
    # what isn't listed is released unchanged only if a column was given that role
    assert (options.get("others") == "release") == ("other" in given_roles)
    for model, wanted in (("l", chosen.l), ("t", chosen.t)):
        of = set(told["sensitive"]) if wanted is not None else set()
        assert set(options.get(model, {})) == of
    assert set(options.get("hierarchies", {})) == (
        set(chosen.hierarchies) & set(told["quasi_identifier"])
    )


@given(choices, choices)
def test_the_key_is_the_same_for_the_same_choices_only(one: Choices, other: Choices) -> None:
    assert one.key() == Choices(**vars(one)).key()
    assert (one.key() == other.key()) == (one == other)


def found(suggested: str | None, role_from: str = "default", role: str = "x") -> dict[str, Any]:
    return {
        "column_name": "age", "suggested_role": suggested, "role_from": role_from, "role": role,
    }


def test_the_first_roles_are_declared_or_suggested() -> None:
    assert first_choices([found("identifier")]).roles == {"age": "identifier"}
    assert first_choices([found("entity")]).roles == {"age": "entity"}
    assert first_choices([found(None)]).roles == {"age": "quasi_identifier"}
    declared = found("identifier", "comment", "sensitive")
    assert first_choices([declared]).roles == {"age": "sensitive"}
    two = [found("entity"), {**found("entity"), "column_name": "zip"}]
    assert first_choices(two).roles == {"age": "identifier", "zip": "identifier"}


@pytest.mark.parametrize(("kind", "typed", "read"), [
    ("bins", {}, "bins"),
    ("bins", {"width": " "}, "bins"),
    ("bins", {"width": "10"}, {"kind": "bins", "width": 10}),
    ("bins", {"width": "2.5", "levels": "3"}, {"kind": "bins", "width": 2.5, "levels": 3}),
    ("prefix", {"mask": "#"}, {"kind": "prefix", "mask": "#"}),
    ("ordered", {"ranking": "low, mid,high"},
     {"kind": "ordered", "ranking": ["low", "mid", "high"]}),
    ("ordered", {"ranking": '["a, b", "c"]'}, {"kind": "ordered", "ranking": ["a, b", "c"]}),
    ("cover", {"packing": "fold"}, {"kind": "cover", "packing": "fold"}),
])
def test_what_is_typed_becomes_an_option(kind: str, typed: dict[str, str], read: Any) -> None:
    assert read_hierarchy("age", ChosenHierarchy(kind, typed)) == read


@pytest.mark.parametrize(("kind", "typed"), [
    ("bins", {"width": "-1"}), ("bins", {"width": "wide"}), ("bins", {"width": "NaN"}),
    ("bins", {"width": "Infinity"}), ("bins", {"levels": "true"}), ("ordered", {}),
    ("adjacency", {}), ("bins", {"mask": "#"}), ("bin", {}), ("prefix", {"mask": '{"a": 1}'}),
])
def test_what_can_not_be_is_refused_in_one_sentence(kind: str, typed: dict[str, str]) -> None:
    with pytest.raises(KanonError, match="age") as refusal:
        read_hierarchy("age", ChosenHierarchy(kind, typed))
    assert control_of(str(refusal.value), Choices(dict.fromkeys(COLUMNS, "sensitive"))) in (
        "column:age", ""
    )


@pytest.mark.parametrize(("sentence", "place"), [
    ("k is not given. Say how many.", "k"),
    ("l is 9, and the column 'disease' has 3 values.", "l"),
    ("'disease' has 3 different values, so l = 10 can't be kept. Ask for l of 3 or less.", "l"),
    ("There are 3 rows to anonymize, fewer than k = 5. Lower k, or release nothing.", "k"),
    ("The method 'x' needs one column.", "method"),
    ("The column 'zip' has no values. See 'age'.", "column:zip"),
    ("The table has 3 rows. Give more.", ""),
    ("Keep it.", ""),
])
def test_a_refusal_is_shown_where_it_belongs(sentence: str, place: str) -> None:
    assert control_of(sentence, Choices(dict.fromkeys(COLUMNS, "quasi_identifier"))) == place


def test_a_role_that_is_misspelt_is_refused() -> None:
    with pytest.raises(OptionError, match="Did you mean 'sensitive'"):
        Choices({"age": "other"}).with_role("age", "sensitiv")
