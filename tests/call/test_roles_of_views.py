"""Roles that comments declare on the tables below a view, and what such a view may not show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kanon_sql.call.catalog import Base, CatalogEntry, ViewColumn
from kanon_sql.call.options import read_options
from kanon_sql.call.relation import Relation
from kanon_sql.call.roles import Roles, resolve_roles
from kanon_sql.errors import OptionError

PLACE = ("memory", "main", "people")


def base(read: frozenset[str] | None = None, **comments: str | None) -> Base:
    """The table people, with the roles that comments declare."""
    return Base(PLACE, {
        name: None if role is None else f"kanon: {role}" for name, role in comments.items()
    }, read)


def view(
    columns: str, *bases: Base, shown: Mapping[str, ViewColumn] | None = None, **comments: str
) -> Relation:
    entry = CatalogEntry(
        {name: f"kanon: {comments[name]}" if name in comments else None
         for name in columns.split()},
        ("memory", "main", "v"), bases, shown or {},
    )
    return Relation('"v"', ("v",), entry)


def resolved(source: Relation, within: Any = None, **given: Any) -> Roles:
    options = read_options("anonymize", {"k": 3, **given})
    return resolve_roles(options.roles, source, within=within)


def refused(source: Relation, **given: Any) -> str:
    with pytest.raises(OptionError) as refusal:
        resolved(source, **given)
    return str(refusal.value)


# --- declared as entity, and as within -----------------------------------------------------------


def test_a_column_that_is_declared_as_entity_is_one_unless_the_call_names_another() -> None:
    source = view("who age ill", who="entity")
    assert resolved(source).entity == "who" and resolved(source).identifiers == ("who",)
    other = resolved(source, entity="ill")
    assert other.entity == "ill" and set(other.identifiers) == {"who", "ill"}
    assert resolved(view("age ill")).entity is None
    # of another role nothing is made
    named = resolved(view("who age ill", who="sensitive"), entity="ill")
    assert (named.sensitive, named.identifiers) == (("who",), ("ill",))


def test_one_column_alone_is_declared_as_entity() -> None:
    source = view("who age ill", who="entity", ill="entity")
    assert refused(source).startswith("2 columns are declared as entity: 'who', 'ill'. Name one")
    assert resolved(source, entity="who").entity == "who"


@pytest.mark.parametrize(("within", "parts"), [((), ("site",)), (None, ()), (("ill",), ("ill",))])
def test_a_column_that_is_declared_as_within_divides_or_is_a_quasi_identifier(
    within: Any, parts: tuple[str, ...]
) -> None:
    found = resolved(view("site age ill", site="within"), within)
    assert found.within == parts
    assert found.quasi_identifiers == (() if "site" in parts else ("site",))


# --- views ---------------------------------------------------------------------------------------


def test_a_column_has_the_role_of_the_column_of_its_name() -> None:
    found = resolved(view("name age ill", base(NAME="identifier", Ill="sensitive", age=None)))
    assert (found.identifiers, found.sensitive) == (("name",), ("ill",))
    assert found.origins == {"name": "view", "ill": "view"}
    # what isn't read has none
    read = base(frozenset({"age"}), name="identifier")
    assert resolved(view("name age", read)).identifiers == ()
    assert resolved(view("name age", base(frozenset({"name"}), name="identifier"))).identifiers


def test_a_column_with_two_roles_below_is_refused_unless_somebody_decides() -> None:
    first, second = base(ill="sensitive", age=None), base(ill="identifier")
    source = view("ill age", first, second)
    assert "declared as sensitive in memory.main.people and as identifier in" in refused(source)
    assert resolved(source, sensitive=["ill"]).sensitive == ("ill",)
    assert resolved(view("ill age", first, first)).sensitive == ("ill",)
    # by its own comment
    assert resolved(view("ill age", first, second, ill="other")).other == ("ill",)


@pytest.mark.parametrize("role", ["identifier", "entity", "sensitive"])
def test_a_view_that_hides_the_name_of_a_secret_is_refused(role: str) -> None:
    source = view("age ill", base(name=role, age=None))
    said = refused(source)
    assert f"reads the column 'name' of memory.main.people, which is declared as {role}" in said
    assert refused(source, quasi_identifiers=["age"], others="release") == said
    # unless every column has a role in the call, or no other comes out
    for more in ({"sensitive": ["ill"]}, {"others": "drop"}):
        assert resolved(source, quasi_identifiers=["age"], **more).quasi_identifiers == ("age",)
    assert resolved(view("age name", base(name=role))).quasi_identifiers == ()


def test_what_is_no_secret_may_have_another_name() -> None:
    for role in ("quasi_identifier", "other", "within"):
        assert resolved(view("age ill", base(name=role, age=None)), others="quasi_identifier")


def computed(*of: str, plain: str | None = None) -> ViewColumn:
    return ViewColumn(plain, frozenset((PLACE, name) for name in of))


UNTOLD = ViewColumn(None, None)
PEOPLE = base(name="identifier", ill="sensitive", zip="quasi_identifier", age=None)
ALL = "name ill zip age code"


@pytest.mark.parametrize(("shown", "options", "said"), [
    (computed("name"), {}, "'code' shows the column 'name', which is declared as identifier"),
    (computed("ill"), {}, "'code' shows the column 'ill', which is declared as sensitive"),
    (computed("age"), {}, ""),
    (computed(), {}, ""),
    # the gravest of several is told
    (computed("ill", "name", "age"), {}, "shows the column 'name'"),
    # a quasi-identifier is generalized, and would pass under another name
    (computed("zip"), {}, ""),
    (computed("zip"), {"others": "release"}, "'code' shows the column 'zip'"),
    (computed("zip"), {"others": "drop"}, ""),
    (UNTOLD, {}, "The source of the column 'code' can't be determined, and the column 'name' is"),
    (UNTOLD, {"others": "release"}, "can't be determined"),
    # whoever gives it a role has decided
    (computed("name"), {"identifiers": ["code"]}, ""),
    (computed("name"), {"sensitive": ["code"]}, ""),
    (computed("name"), {"quasi_identifiers": ["code"], "others": "drop"}, ""),
    (computed("name"), {"others": "drop"}, ""),
    (UNTOLD, {"others": "drop"}, ""),
])
def test_a_secret_does_not_come_out_under_another_name(
    shown: ViewColumn, options: dict[str, Any], said: str
) -> None:
    source = view(ALL, PEOPLE, shown={"code": shown})
    given: dict[str, Any] = {
        "others": "quasi_identifier", "quasi_identifiers": ["age"], **options
    }
    if said:
        assert said in refused(source, **given)
        assert "Give 'code' a role in the call, or say others='drop'." in refused(source, **given)
    else:
        assert resolved(source, **given)


def test_of_several_secrets_of_a_role_the_first_name_is_told() -> None:
    """Not the one that a set happens to have first."""
    below = base(person="identifier", mail="identifier", age=None)
    columns = "person mail age code"
    for shown in (computed("person", "mail"), UNTOLD):
        assert "the column 'mail'" in refused(view(columns, below, shown={"code": shown}))


def test_a_comment_of_its_own_decides_too() -> None:
    source = view(ALL, PEOPLE, shown={"code": computed("name")}, code="sensitive")
    assert set(resolved(source).sensitive) == {"code", "ill"}


def test_what_is_named_by_the_call_is_a_secret_as_well() -> None:
    """A generated column of a table shows one that the call alone knows as an identifier."""
    source = view(
        "name age code", base(name=None, age=None),
        shown={"code": computed("name"), "name": computed("name", plain="name")},
    )
    assert resolved(source)
    assert "'code' shows the column 'name'" in refused(source, identifiers=["name"])


def test_a_secret_is_found_by_way_of_the_column_that_shows_it() -> None:
    """The view calls the column of the table otherwise, and the call says that it is a secret."""
    source = view(
        "person age code", base(name=None, age=None),
        shown={"person": computed("name"), "code": computed("name")},
    )
    said = refused(source, identifiers=["person"])
    assert "'code' shows the column 'name', which is declared as identifier" in said


def test_what_releases_nothing_asks_for_no_decision() -> None:
    source = view(ALL, PEOPLE, shown={"code": computed("name")})
    options = read_options("anonymize", {"k": 3}).roles
    assert resolve_roles(options, source, releases=False).identifiers == ("name",)
    assert resolve_roles(options, source, audits=True).rest in ("release", "quasi_identifier")
