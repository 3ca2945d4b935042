"""Roles: which one a column has, given in the call, by a relation or by comments."""

from __future__ import annotations

import re

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.catalog import Base, CatalogEntry
from kanon_sql.call.declarations import ROLES, declared_role, may_declare, read_role
from kanon_sql.call.options import read_options
from kanon_sql.call.relation import Relation
from kanon_sql.call.roles import Roles, resolve_roles
from kanon_sql.errors import OptionError

Connection = duckdb.DuckDBPyConnection
QUASI = "kanon: quasi_identifier"


def columns_of(con: Connection, call: str) -> dict[str, int]:
    """The released columns and how many distinct values each has."""
    result = con.execute(f"SELECT * FROM {call}")
    names = [column[0] for column in result.description or ()]
    rows = result.fetchall()
    return {name: len({row[i] for row in rows}) for i, name in enumerate(names)}


def test_every_column_is_a_quasi_identifier_unless_something_says_otherwise(
    con: Connection,
) -> None:
    released = columns_of(con, "anonymize('patients', k=5)")
    assert list(released) == ["name", "age", "zip", "job", "disease"]
    assert max(released.values()) <= 12


def test_roles_given_in_the_call(con: Connection) -> None:
    released = columns_of(
        con, "anonymize('patients', k=5, sensitive=['DISEASE'], identifiers=['name'])"
    )
    assert list(released) == ["age", "zip", "job", "disease"]
    released = columns_of(
        con, "anonymize('patients', k=5, quasi_identifiers=['zip', 'Age'], "
        "sensitive=['name', 'job', 'disease'])"
    )
    assert released["name"] == 60
    assert list(released) == ["name", "age", "zip", "job", "disease"]


def test_roles_declared_in_the_catalog(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("COMMENT ON COLUMN patients.disease IS 'The diagnosis. kanon: sensitive'")
    assert list(columns_of(con, "anonymize('patients', k=5)")) == ["age", "zip", "job", "disease"]
    con.execute(f"COMMENT ON COLUMN patients.age IS '{QUASI}'")
    con.execute("COMMENT ON COLUMN patients.job IS 'kanon: other'")
    with pytest.raises(duckdb.InvalidInputException, match="1 column has no role: 'zip'"):
        con.execute("FROM anonymize('patients', k=5)").fetchall()
    con.execute("COMMENT ON COLUMN patients.zip IS 'kanon: other'")
    released = columns_of(con, "anonymize('patients', k=5)")
    assert list(released) == ["age", "zip", "job", "disease"]
    assert released["zip"] > 12
    assert released["age"] <= 12


@pytest.mark.slow
def test_declared_roles_hold_for_every_spelling_and_other_calls(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("CREATE SCHEMA s; CREATE TABLE s.people AS FROM patients")
    con.execute("COMMENT ON COLUMN s.people.name IS 'kanon: identifier'")
    for name in ("patients", "PATIENTS", "main.patients", "memory.main.patients", "s.people"):
        assert "name" not in columns_of(con, f"anonymize('{name}', k=5)")
        assert "name" not in columns_of(con, f"anonymize_clusters('{name}', k=5)")
    con.execute("USE s")
    assert "name" not in columns_of(con, "anonymize('people', k=5)")


def test_the_call_wins_over_the_catalog(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute(f"COMMENT ON COLUMN patients.age IS '{QUASI}'")
    released = columns_of(con, "anonymize('patients', k=5, sensitive=['name'], others='release')")
    assert released["name"] == 60
    released = columns_of(
        con, "anonymize('patients', k=5, quasi_identifiers=['zip'], others='release')"
    )
    assert "name" not in released
    assert released["zip"] <= 12 < released["age"]


@pytest.mark.slow
def test_roles_of_an_uncommitted_table_are_not_passed_over_in_silence(con: Connection) -> None:
    con.execute("BEGIN; CREATE TABLE fresh AS FROM patients")
    con.execute("COMMENT ON COLUMN fresh.name IS 'kanon: identifier'")
    for call in ("anonymize", "anonymize_metrics", "anonymize_clusters", "k_anonymity"):
        with pytest.raises(duckdb.InvalidInputException, match="not committed yet"):
            con.execute(f"FROM {call}('fresh', k := 5)").fetchall()
        con.execute("ROLLBACK; BEGIN; CREATE TABLE fresh AS FROM patients")
        con.execute("COMMENT ON COLUMN fresh.name IS 'kanon: identifier'")
    con.execute("COMMIT")
    assert "name" not in columns_of(con, "anonymize('fresh', k=5)")


@pytest.mark.sample(2)
@pytest.mark.parametrize(("view", "called"), [
    ("FROM patients", "k=5, quasi_identifiers=['age'], others='release'"),
    ("SELECT name AS label, age FROM patients", "k=5"),
    ("SELECT * FROM shown", "k=5"), ("FROM inner_view", "k=5"),
])
def test_a_temporary_view_inherits_no_roles_and_so_is_refused(
    con: Connection, view: str, called: str
) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("CREATE VIEW shown AS FROM patients")
    con.execute("CREATE TEMP VIEW inner_view AS FROM shown")
    con.execute(f"CREATE TEMP VIEW chosen AS {view}")
    with pytest.raises(duckdb.InvalidInputException, match="a temporary view inherits none"):
        con.execute(f"FROM anonymize('chosen', {called})").fetchall()
    assert columns_of(con, "anonymize('chosen', k=5, quasi_identifiers=['age'], others='drop')")
    if "label" not in view:
        given = "anonymize('chosen', k=5, identifiers=['name'])"
        assert "name" not in columns_of(con, given)


def test_other_temporary_views_are_released(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifier'")
    con.execute("CREATE TABLE other AS FROM patients")
    con.execute("CREATE TEMP VIEW chosen AS SELECT *, 1 AS patients_count FROM other")
    assert "age" in columns_of(con, "anonymize('chosen', k=5)")


def test_a_role_that_does_not_exist(con: Connection) -> None:
    con.execute("COMMENT ON COLUMN patients.name IS 'kanon: identifer'")
    with pytest.raises(duckdb.InvalidInputException, match="Did you mean 'identifier'"):
        con.execute("FROM anonymize('patients', k=5)")


# --- without a database -------------------------------------------------------------------------

DECLARED = {
    "kanon: quasi_identifier": "quasi_identifier", "Kanon : Quasi-Identifier": "quasi_identifier",
    "KANON: qi": "quasi_identifier", "kanon:identifier": "identifier",
    "kanon: quasi identifiers.": "quasi_identifier", "The name. kanon: identifiers": "identifier",
    "kanon: sensitive, since 2020": "sensitive", "a\nkanon: other\nb": "other",
    "kanon: sensitive. Again kanon: sensitive": "sensitive", "kanon: OTHERS (no use)": "other",
}
SILENT = (None, "", "An anonymous note", "the canon of 1566", "kanone", "channon", "an on: x",
          "kano", "a kanonical form", "sensitive", "identifier: yes", "kannon of Nara",
          "read by kanon, too", "Released by kanon_sql since 2020.", "see the pages of kanon-sql",
          "kanon drops what looks like a key", "the kanon sql macros read it",
          "An anon identifier of the clinic", "made for kanon, the identifier is another column",
          "kanonization", "Kanon's docs say more", "nikanon: x", "k-anon by zip", "anonymous id",
          "Kanonstrasse", "the identifier of the canon", "Kanton: zwei Buchstaben",
          "who the sensitive canon is of", "konan", "person: identifier",
          "Bacon: sensitive to heat", "\u043a\u0430\u043d\u043e\u043d: 1566",
          "\u043a\u0430\u043f\u043e\u0442: identifier", "\u043a\u043e\u0434, identifier")
REFUSED = {
    **dict.fromkeys((
        "kanon_sql: identifier", "kanon identifier", "kanon-sql:identifier", "KANON_SQL:Identifier",
        "kanon.role = identifier", "The name. kanon_sql identifier", "kanon - identifer",
        "the key; kanon identfier of x", "kanon_identifier", "{\"kanon\": \"identifier\"}",
        "dbt_kanon: identifier", "@kanon(identifier)", "kanon: 'identifier'", "[kanon] identifier",
        "2kanon: identifier", "kanon, identifier", "kannon: identifier",
    ), "can't be read as a role. Write 'kanon: identifier', then a full stop or nothing."),
    **dict.fromkeys((
        "kanon", "Kanon secret", "kanonsql:qi", "kanon sql: entity", "kanon_role: other",
        "kanon.sensitve", "kanonsensitive", "kanon qi", "kanon -> qi", "kannon_sql: qi",
        "kanon\nqi", "kanon: identifier kanon_sql: sensitive", "kanon other.", "kanon_sql",
    ), "can't be read as a role. Write 'kanon: "),
    "kanon: identifer": "Did you mean 'identifier'", "kanon: very sensitive": "which doesn't exist",
    "kannon: identifier": "can't be read", "anon: x": "can't be read", "kanno: sensitive":
    "can't be read", "kamon: qi": "can't be read", "knon :qi": "can't be read",
    "the canon: of 1566": "can't be read", "kanon sensitive": "can't be read",
    "kanon: sensitive identifier": "which doesn't exist",
    "kanon: sensitive kanon: other": "can't be read", "kanon:": "can't be read",
    **dict.fromkeys((
        "konan: identifier", "knaon: sensitive", "kanton: identifier", "kannan: quasi-identifier",
        "kan0n: qi", "identifier: kanon", "identifier (kanon)", "sensitive -> kanon_sql",
        "The key. identifier: kanon, of course", "quasi identifier [kanon]", "identifier kanon",
        "kanon role identifier", "kanon type: sensitive", "kanon_sql role: identifier",
        "ka\u00adnon_sql: identifier", "k\u0430non role identifier",
    ), "can't be read as a role. Write 'kanon: "),
    **dict.fromkeys((
        "k\u0430non: identifier", "kan\u03bfn: identifier", "\u03baanon: identifier",
        "\u043a\u0430n\u043en: identifier", "ka\u00adnon: identifier", "kan\u200bon: identifier",
        "\uff4b\uff41\uff4e\uff4f\uff4e: identifier", "\U0001d424anon: identifier",
        "kanon: ident\u0456fier", "kanon: iden\u00adtifier", "kanon\uff1aidentifier",
        "kanon:\u200b identifier",
    ), "has letters that only look like 'kanon' or a role, or invisible characters. Type 'k"),
    "kanon: qi. kanon: sensitive": "declares 2 roles: quasi_identifier, sensitive",
    "kanon: identifier; kanon: other": "declares 2 roles: identifier, other",
}


@pytest.mark.parametrize("comment", DECLARED)
def test_a_role_is_read_however_it_is_written(comment: str) -> None:
    assert declared_role("a", comment) == DECLARED[comment]
    assert may_declare(comment)


@pytest.mark.parametrize("comment", SILENT)
def test_a_comment_that_speaks_of_something_else_declares_nothing(comment: str | None) -> None:
    assert not may_declare(comment)
    assert declared_role("a", comment) is None


@pytest.mark.parametrize("comment", REFUSED)
def test_a_comment_that_means_a_role_and_can_not_be_read_is_refused(comment: str) -> None:
    assert may_declare(comment)
    with pytest.raises(OptionError, match=re.escape(REFUSED[comment])):
        declared_role("the column", comment)


def slips(word: str) -> set[str]:
    """The word with one letter left out, put in or exchanged, or two that changed places."""
    n = len(word)
    return {
        *(word[:i] + word[i + 1:] for i in range(n)),
        *(word[:i] + "x" + word[i:] for i in range(n + 1)),
        *(word[:i] + "x" + word[i + 1:] for i in range(n)),
        *(word[:i] + word[i + 1] + word[i] + word[i + 2:] for i in range(n - 1)),
    } - {word}


@pytest.mark.parametrize("word", sorted(slips("kanon")))
def test_one_slip_in_the_word_does_not_undo_a_declaration(word: str) -> None:
    for comment in (f"{word}: identifier", f"The name. {word.upper()}-SQL: identifier"):
        assert may_declare(comment)
        with pytest.raises(OptionError, match="can't be read as a role"):
            declared_role("name", comment)


@pytest.mark.parametrize("role", ["sensitive", "identifier", "entity"])
def test_nor_does_one_in_the_role(role: str) -> None:
    for slip in sorted(slips(role)):
        if slip[0] == role[0]:
            assert may_declare(f"kanon {slip}"), slip


def test_python_and_duckdb_agree_on_what_may_declare_a_role() -> None:
    comments = [comment for comment in (*DECLARED, *SILENT, *REFUSED) if comment is not None]
    comments += [f"{a}{word}{b}" for word in (
        "kanon", "kanon :", "canon:", "kann:", "Kanon\t:", "kanon_sql:", "kanon qi", "kanon-id"
    )
                 for a in ("", "x", "ä", "_", " ", "1") for b in ("", "x", "ß", "_", "é:", ":")]
    found = kanon_sql.register(duckdb.connect()).execute(
        "SELECT list_transform($1::VARCHAR[], lambda c: __kanon_declares(c))", [comments]
    ).fetchone()
    assert found is not None
    assert dict(zip(comments, found[0], strict=True)) == {c: may_declare(c) for c in comments}
    assert len(set(found[0])) == 2


def test_a_role_by_any_spelling_is_one_of_four() -> None:
    for text in ("Quasi-Identifier", "quasi identifiers", "QI", " sensitive ", "IDENTIFIER",
                 "identifiers", "Other", "others", "quasi_identifier"):
        assert read_role(text) in ROLES
    for text in ("", "id", "secret", "quasi", "sensitives", "kanon: sensitive", "other one"):
        assert read_role(text) is None


def resolved(
    given: dict[str, object], comments: dict[str, str | None] | None, bases: tuple[Base, ...] = (),
    table: dict[str, str] | None = None, cost: str | None = None, releases: bool = True,
    audits: bool = False,
) -> Roles:
    """The roles of a table t with these comments; None where the catalog knows nothing of it."""
    entry = None if comments is None else CatalogEntry(comments, ("memory", "main", "t"), bases)
    options = read_options("anonymize", {"k": 2, **given})
    relation = Relation('"t"', ("t",), entry)
    return resolve_roles(options.roles, relation, table, cost, releases, audits)


def test_each_column_has_its_first_role_by_call_relation_comment_and_view() -> None:
    below = Base(("memory", "main", "b"), {"D": "kanon: identifier", "e": "kanon: sensitive"})
    comments = {"a": "kanon: sensitive", "b": "kanon: sensitive", "c": "kanon: identifier",
                "D": None, "e": None, "f": QUASI}
    roles = resolved(
        {"identifiers": ["A"], "others": "drop"}, comments, (below,), table={"b": "other"}
    )
    assert (roles.quasi_identifiers, roles.sensitive) == (("f",), ("e",))
    assert (roles.identifiers, roles.other) == (("A", "c", "D"), ("b",))
    assert roles.origins == {
        "a": "call", "b": "relation", "c": "comment", "f": "comment", "d": "view", "e": "view"
    }
    assert (roles.rest, roles.open) == ("drop", False)


def test_a_list_of_quasi_identifiers_in_the_call_replaces_those_declared() -> None:
    comments = {"a": QUASI, "b": "kanon: sensitive", "c": None}
    assert resolved({}, comments).quasi_identifiers == ("a",)
    roles = resolved({"quasi_identifiers": ["c"]}, comments, table={"B": "quasi_identifier"})
    assert roles.quasi_identifiers == ("c",)
    assert roles.sensitive == ("b",)  # the relation's row is replaced, and the comment stands


@pytest.mark.parametrize(("given", "comments", "rest"), [
    ({}, {"a": None}, "quasi_identifier"),
    ({"sensitive": ["a"]}, {"a": None, "b": None}, "quasi_identifier"),
    ({"quasi_identifiers": ["a"]}, {"a": None}, "error"),
    ({}, {"a": QUASI, "b": None}, "error"),
    ({}, None, "quasi_identifier"),
    ({"quasi_identifiers": ["a"], "others": "quasi_identifier"}, {"a": None}, "quasi_identifier"),
    ({"quasi_identifiers": ["a"], "others": "release"}, {"a": None}, "release"),
    ({"others": "error", "quasi_identifiers": ["a"]}, None, "error"),
])
def test_what_columns_without_a_role_are(
    given: dict[str, object], comments: dict[str, str | None] | None, rest: str
) -> None:
    assert resolved(given, comments).rest == rest
    if "others" not in given:  # an audit asks for nothing
        audited = resolved(given, comments, audits=True)
        assert audited.rest == ("release" if audited.quasi_identifiers else "quasi_identifier")


@pytest.mark.parametrize(("given", "comments", "sentence"), [
    ({"sensitive": ["a", "b"], "identifiers": ["c"]}, {"a": None, "b": None, "C": None},
     "No column is left"),
    ({"others": "drop"}, {"a": None}, "others is 'drop', and no column is a quasi-identifier"),
    ({"others": "release", "sensitive": ["a"]}, None, "others is 'release', and no column"),
    ({"others": "error"}, {"a": "kanon: sensitive"}, "others is 'error', and no column"),
    ({"sensitive": ["a"], "identifiers": ["A"]}, None, "as sensitive and as identifier"),
    ({"identifiers": ["a"], "class_label": "A"}, None, "as identifier and as class_label"),
    ({}, {"a": "kanon: sensitive. kanon: qi"}, "declares 2 roles"),
])
def test_roles_that_can_not_be(
    given: dict[str, object], comments: dict[str, str | None] | None, sentence: str
) -> None:
    with pytest.raises(OptionError, match=re.escape(sentence)):
        resolved(given, comments)


def test_columns_that_an_option_needs_have_a_role() -> None:
    given: dict[str, object] = {"quasi_identifiers": ["a"], "class_label": "b"}
    roles = resolved(given, {"a": None, "b": None, "c": None}, cost="c")
    assert roles.other == ("b", "c")
    assert set(roles.named) == {"a", "b", "c"}
    assert set(roles.passing) == {"b", "c"}


def test_the_known_columns_are_those_without_another_role() -> None:
    source = Relation('"t"', ("t",), CatalogEntry({"a": None, "b": None, "c": None}))
    assert Roles((), ("B",)).known_columns(source) == ("a", "c")
    assert Roles(("c",), ("B",), rest="drop").known_columns(source) == ("c",)
    assert Roles(("c",)).known_columns(Relation('"t"', ("t",))) == ("c",)
