"""What the verification says of labels given by hand that go on from a ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.labelled import Asked, Given, labelled_sql, refusal, released

Connection = duckdb.DuckDBPyConnection

shared = registered("SET threads = 1")

FIRST = [1, 1, 1, 1, 2, 2, 2, 2]
ENTRY = Asked("anonymize_ledger", "people", {
    "k": 2, "quasi_identifiers": ["a"], "entity": "id", "seed": 3,
    "representation": "median", "sensitive": ["disease"],
})
ON = replace(ENTRY, name="anonymize").also(ledger="releases")


@pytest.fixture
def con(shared: Connection) -> Iterator[Connection]:
    """Eight persons in two classes of a first release; of each class one half is ill."""
    shared.execute("""
        CREATE OR REPLACE TABLE people AS
        SELECT i AS id, 10 * (i // 4) + i % 4 AS a, ['Flu', 'Cold'][1 + i // 2 % 2] AS disease
        FROM range(8) AS r(i)
    """)
    yield shared


def fill(con: Connection, **more: Any) -> None:
    query = labelled_sql(con, ENTRY.also(**more), Given(FIRST))
    con.execute(f"CREATE OR REPLACE TABLE releases AS {query}")


def test_an_entry_of_a_ledger_tells_one_row_per_person(con: Connection) -> None:
    fill(con)
    rows = con.execute("SELECT release, entity, class FROM releases ORDER BY entity").fetchall()
    assert rows == [(1, i, FIRST[i]) for i in range(8)]
    published = con.execute("SELECT DISTINCT class, published FROM releases ORDER BY 1").fetchall()
    assert published == [(1, {"a": 1}), (2, {"a": 11})]
    (options,) = con.execute("SELECT DISTINCT options FROM releases").fetchall()
    told = json.loads(options[0])
    assert (told["k"], told["attacker"]) == (2, "knows_presence")
    assert told["columns"] == [["a", "BIGINT"]]


def test_what_is_left_out_is_no_entry(con: Connection) -> None:
    query = labelled_sql(
        con, ENTRY.also(suppress=0.3), Given([-1, -1, 1, 1, 2, 2, 2, 2])
    )
    entries = con.execute(query).fetchall()
    assert sorted(entry[1] for entry in entries) == list(range(2, 8))
    assert {entry[0] for entry in entries} == {1}


@pytest.mark.parametrize("attacker", ["knows_presence", "knows_absence"])
def test_a_class_of_few_is_no_entry_though_another_publishes_the_same(
    con: Connection, attacker: str
) -> None:
    """What is released has k rows of each combination, and the ledger tells the classes apart."""
    con.execute("UPDATE people SET a = 1 WHERE id < 4")
    found = refusal(con, ENTRY.also(attacker=attacker), Given([1, 1, 1, 3, 2, 2, 2, 2]))
    assert "an anonymity set of 1, below k = 2" in found
    assert refusal(con, ENTRY.also(attacker=attacker), Given([1, 1, 3, 3, 2, 2, 2, 2])) == ""


def test_the_class_0_is_one_as_any_other(con: Connection) -> None:
    entries = con.execute(labelled_sql(con, ENTRY, Given([0, 0, 0, 0, 1, 1, 1, 1]))).fetchall()
    assert sorted((entry[1], entry[2]) for entry in entries) == [(i, i // 4) for i in range(8)]


STAY: list[tuple[str, list[int | None], str]] = [
    ("knows_presence", [*FIRST], ""),
    ("knows_presence", [1, 1, -1, -1, 2, 2, 2, 2], ""),
    ("knows_presence", [1, 1, 1, -1, 2, 2, 2, 2], ""),
    ("knows_presence", [1, -1, -1, -1, 1, 2, 2, 2], "an anonymity set of 1, below k = 2"),
    ("knows_presence", [1, 1, 1, 2, 2, 2, 2, 2], "an anonymity set of 1, below k = 2"),
    ("knows_presence", [1, 1, 2, 2, 2, 2, 2, 2], ""),
    ("knows_presence", [3, 3, 1, 1, 2, 2, 2, 2], ""),
    ("knows_absence", [*FIRST], ""),
    ("knows_absence", [1, 1, -1, -1, 2, 2, 2, 2], ""),
    ("knows_absence", [1, 1, 1, -1, 2, 2, 2, 2], "an anonymity set of 1, below the ledger's k = 2"),
    ("knows_absence", [1, -1, -1, -1, 1, 2, 2, 2], "an anonymity set of 1, below k = 2"),
    ("knows_absence", [1, 1, 2, 2, 2, 2, 2, 2], ""),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("attacker", "labels", "expected"), STAY)
def test_everybody_has_k_alike_over_both_releases(
    con: Connection, attacker: str, labels: list[int | None], expected: str
) -> None:
    fill(con, attacker=attacker)
    found = refusal(con, ON.also(attacker=attacker), Given(labels))
    assert expected in found
    assert bool(found) is bool(expected)


def test_the_k_of_the_ledger_holds_for_whoever_is_not_shown(con: Connection) -> None:
    """Those who go had more alike by the smaller k of the ledger, which stays as it is."""
    fill(con, attacker="knows_absence")
    bigger = ON.also(attacker="knows_absence", k=3)
    assert refusal(con, bigger, Given(FIRST)) == ""
    two_go: list[int | None] = [-1, -1, -1, -1, 2, 2, 2, -1]
    assert "below the ledger's k = 2" in refusal(con, bigger, Given(two_go))
    assert "set of 2, below k = 3" in refusal(con, bigger, Given([2, 2, -1, -1, 2, 2, -1, -1]))


def test_a_class_that_goes_on_publishes_what_it_published(con: Connection) -> None:
    fill(con)
    con.execute("UPDATE people SET a = a + 2")
    rows = released(con, ON, Given([1, 1, 3, 3, 2, 2, 2, 2]))
    # the classes 1 and 2 as before, 3 by its own rows
    assert sorted(row[0] for row in rows) == [1, 1, 4, 4, 11, 11, 11, 11]


@pytest.mark.parametrize("stays", [1, 2])
def test_a_class_that_nobody_is_in_any_more_has_no_number(con: Connection, stays: int) -> None:
    fill(con)
    rows = released(con, ON.also(class_id=True), Given([stays] * 8))
    assert {row[-1] for row in rows} == {1}
    assert {row[0] for row in rows} == {10 * stays - 9}


def test_values_of_another_type_are_not_mixed_with_published_ones(con: Connection) -> None:
    fill(con)
    con.execute("""CREATE OR REPLACE TABLE releases AS
        SELECT * REPLACE ({'a': published.a::INTEGER} AS published)
        FROM releases""")
    assert "would publish values of other types" in refusal(con, ON, Given(FIRST))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("attacker", "labels", "kept"), [
    ("knows_presence", FIRST, True),
    # who stays in class 1 has one disease, those who come to it have another
    ("knows_presence", [1, 1, 2, 2, 2, 2, 1, 1], False),
    ("knows_presence", [1, 2, 1, 2, 1, 2, 1, 2], True),
    ("knows_presence", [1, 1, 3, 3, 3, 3, 1, 1], False),
    ("knows_presence", [-1, 1, 1, -1, 2, 2, 2, 2], True),
    ("knows_absence", FIRST, True),
    ("knows_absence", [-1, 1, 1, -1, 2, 2, 2, 2], True),
    ("knows_absence", [1, 1, 2, 2, 2, 2, 1, 1], False),
])
def test_who_is_alike_over_both_releases_keeps_the_models(
    con: Connection, attacker: str, labels: list[int | None], kept: bool
) -> None:
    fill(con, l=2, attacker=attacker)
    found = refusal(con, ON.also(l=2, attacker=attacker), Given(labels))
    assert ("doesn't keep the privacy models" in found) is not kept
    assert bool(found) is not kept


@pytest.mark.parametrize(("attacker", "kept"), [("knows_presence", True), ("knows_absence", False)])
def test_who_came_later_is_no_cover_from_an_attacker_who_knows_absence(
    con: Connection, attacker: str, kept: bool
) -> None:
    """The newcomers have one disease: in a crowd with those before them by presence, and alone by
    absence."""
    fill(con, l=2, attacker=attacker)
    con.execute("INSERT INTO people SELECT 10 + i, 2 + i, 'Gout' FROM range(2) AS r(i)")
    found = refusal(con, ON.also(l=2, attacker=attacker), Given([*FIRST, 1, 1]))
    assert ("privacy models" not in found) is kept


def after(
    con: Connection, sick: str, first: list[int], second: list[int], **asked: Any
) -> str:
    """What refuses a second release of persons, each with a letter that says the disease, a dash
    where none is known."""
    con.execute(f"""
        CREATE OR REPLACE TABLE people AS
        SELECT i AS id, 10 * (i // 4) + i % 4 AS a, nullif('{sick}'[i + 1], '-') AS disease
        FROM range({len(sick)}) AS r(i)
    """)
    query = labelled_sql(con, ENTRY.also(**asked), Given(first))
    con.execute(f"CREATE OR REPLACE TABLE releases AS {query}")
    return refusal(con, ON.also(**asked), Given(second))


def test_a_crowd_has_no_more_of_what_is_not_known_than_all_have(con: Connection) -> None:
    """Three of whom two lack a disease go from one class to the other: a crowd of their own. Of all
    one third lack it."""
    sick, first = 2 * "--F--FFFFFFF", [1] * 12 + [2] * 12
    asked: dict[str, Any] = {"t": 0.3, "closeness": "equal"}
    assert after(con, sick, first, first, **asked) == ""
    found = after(con, sick, first, [2, 2, 2, *first[3:]], **asked)
    assert "doesn't keep the privacy models" in found
    assert after(con, sick, first, [2, 2, 2, *first[3:]], t=0.34, closeness="equal") == ""


@pytest.mark.parametrize(("asked", "kept"), [
    ({"l": 2}, True), ({"t": 0.2}, False), ({"l": 2, "t": 0.2}, False),
    ({"alpha": 0.75}, True), ({"alpha": 0.74}, False),
])
def test_a_crowd_keeps_every_model(
    con: Connection, asked: dict[str, Any], kept: bool
) -> None:
    """Both classes are half and half, and of four who were together before, three are alike."""
    second = [1, 1, 1, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 2]
    found = after(con, 2 * "FFFFCCCC", [1] * 8 + [2] * 8, second, **asked)
    assert ("doesn't keep the privacy models" in found) is not kept
    assert bool(found) is not kept


def test_whoever_is_not_shown_has_no_crowd_in_this_release(con: Connection) -> None:
    """Ten persons are in the first release, five of them in the second, and five in the third, two
    in both; the fourth shows these eight, and two more. All crowds of theirs keep alpha. The eight
    together don't, who are alike only to the two that were in the first release alone."""
    sick, asked = "ABAABAABABBB", {"alpha": 0.6}
    con.execute(f"""
        CREATE OR REPLACE TABLE everybody AS
        SELECT i AS id, i AS a, '{sick}'[i + 1] AS disease FROM range(12) AS r(i)
    """)
    con.execute("CREATE OR REPLACE TABLE people AS FROM everybody WHERE id < 10")
    query = labelled_sql(con, ENTRY.also(**asked), Given([1] * 10))
    con.execute(f"CREATE OR REPLACE TABLE releases AS {query}")
    con.execute("""CREATE OR REPLACE TABLE longer AS FROM releases UNION ALL
        SELECT * REPLACE (2 AS release) FROM releases WHERE entity < 5 UNION ALL
        SELECT * REPLACE (3 AS release) FROM releases WHERE entity < 2 OR entity IN (5, 6, 7)""")
    con.execute("CREATE OR REPLACE TABLE people AS FROM everybody")
    on = ON.also(ledger="longer", **asked)
    assert refusal(con, on, Given([*[1] * 8, -1, -1, 1, 1])) == ""
    # who is shown again has them all for a crowd
    found = refusal(con, on, Given([*[1] * 9, -1, 1, 1]))
    assert "doesn't keep the privacy models" in found


def changed(column: str, to: str) -> str:
    """A ledger in which one person has another value in a column."""
    return f"SELECT * REPLACE (CASE WHEN entity = 1 THEN {to} ELSE {column} END AS {column}) " \
        "FROM releases"


def told(old: str, new: str) -> str:
    """A ledger whose options tell something else."""
    return f"SELECT * REPLACE (replace(options, '{old}', '{new}') AS options) FROM releases"


NUMBERED, EMPTY = "are not numbered 1, 2, and so on", "has rows with a NULL"
FAULTY: list[tuple[str, str]] = [
    *((changed(column, "NULL"), EMPTY)
      for column in ("release", "entity", "class", "published", "source", "options")),
    (changed("options", "'?'"), EMPTY),
    ("SELECT * REPLACE (release || '?' AS release) FROM releases", EMPTY),
    ("SELECT * REPLACE (class || '?' AS class) FROM releases", EMPTY),
    ("FROM releases WHERE false", "is empty"),
    ("SELECT * REPLACE (0 AS release) FROM releases", NUMBERED),
    ("SELECT * REPLACE (2 AS release) FROM releases", NUMBERED),
    ("FROM releases UNION ALL SELECT * REPLACE (3 AS release) FROM releases", NUMBERED),
    # as many as the last number
    ("SELECT * REPLACE (0 AS release) FROM releases UNION ALL "
     "SELECT * REPLACE (2 AS release) FROM releases", NUMBERED),
    ("FROM releases UNION ALL (FROM releases LIMIT 1)", "has a person twice in one release"),
    ("SELECT * REPLACE (entity::VARCHAR AS entity) FROM releases",
     "knows persons by another type than that of 'id'"),
    (changed("published", "{'a': 7}"), "has a class that published two things"),
    (changed("options", "replace(options, '\"headroom\":0', '\"headroom\":3')"),
     "has a release with two sets of options"),
    ("FROM releases WHERE entity = 0 OR class = 2", "fails its own check"),
    (told('"k":2', '"k":3'), "was made with a larger k than 2"),
    (told("knows_presence", "knows_absence"), "is kept against another attacker than"),
    (told('"columns":[', '"columns":[["b","BIGINT"],'), "quasi-identifiers that are none in this"),
    (told('["a","BIGINT"]', ""), "quasi-identifiers that the ledger"),
    (told("BIGINT", "INTEGER"), "A quasi-identifier has another type than in the ledger"),
    (told("median", "centroid"), "publish in another form"),
    (told('"models":"[', '"models":"[ '), "was made with other privacy models"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("faulty", "expected"), FAULTY)
def test_a_ledger_with_a_fault_is_refused(con: Connection, faulty: str, expected: str) -> None:
    fill(con)
    con.execute(f"CREATE OR REPLACE TABLE faulty AS {faulty}")
    found = refusal(con, ON.also(ledger="faulty"), Given(FIRST))
    assert expected in found


def test_a_ledger_of_two_releases_tells_what_was_asked_last(con: Connection) -> None:
    fill(con)
    first = told('"k":2', '"k":1')
    con.execute(f"CREATE OR REPLACE TABLE longer AS {first} UNION ALL "
                "SELECT * REPLACE (2 AS release) FROM releases")
    assert refusal(con, ON.also(ledger="longer"), Given(FIRST)) == ""
    con.execute(f"CREATE OR REPLACE TABLE longer AS {told('median', 'centroid')} UNION ALL "
                "SELECT * REPLACE (2 AS release) FROM releases")
    assert refusal(con, ON.also(ledger="longer"), Given(FIRST)) == ""
    con.execute("CREATE OR REPLACE TABLE longer AS FROM releases UNION ALL "
                "SELECT * REPLACE (2 AS release, replace(options, 'median', 'centroid') AS options)"
                " FROM releases")
    assert "another form" in refusal(con, ON.also(ledger="longer"), Given(FIRST))


def test_the_least_k_of_all_releases_is_that_of_the_ledger(con: Connection) -> None:
    """The two of class 1 have each other, as the first release asks, and the second, which asks for
    more, doesn't show them."""
    query = labelled_sql(con, ENTRY, Given([1, 1, 2, 2, 2, 2, 2, 2]))
    con.execute(f"CREATE OR REPLACE TABLE releases AS {query}")
    second = told('"k":2', '"k":3')
    con.execute("CREATE OR REPLACE TABLE longer AS FROM releases UNION ALL "
                f"SELECT * REPLACE (2 AS release) FROM ({second}) WHERE class = 2")
    longer = ON.also(ledger="longer", k=3)
    assert refusal(con, longer, Given([-1, -1, 2, 2, 2, 2, 2, 2])) == ""
    assert "was made with a larger k than 2" in refusal(con, longer.also(k=2), Given(FIRST))


def test_the_order_in_which_options_are_written_is_no_other_form(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE wide AS SELECT *, a AS b FROM people")
    wide = ENTRY.also(quasi_identifiers=["a", "b"], representation={"a": "median", "b": "bounds"})
    query = labelled_sql(con, replace(wide, relation="wide"), Given(FIRST))
    con.execute(f"CREATE OR REPLACE TABLE releases AS {query}")
    on = replace(ON, relation="wide").also(quasi_identifiers=["a", "b"])
    turned = on.also(representation={"b": "bounds", "a": "median"})
    assert refusal(con, turned, Given(FIRST)) == ""
    other = on.also(representation={"b": "median", "a": "bounds"})
    assert "publish in another form" in refusal(con, other, Given(FIRST))


def test_why_each_row_is_not_shown(con: Connection) -> None:
    fill(con, nulls="suppress")
    con.execute("UPDATE people SET a = CASE WHEN id > 0 THEN a + 20 END WHERE id < 2")
    con.execute("INSERT INTO people VALUES (20, NULL, 'Flu'), (21, 3, 'Flu'), (22, 3, 'Flu')")
    call = replace(ON, name="suppressed_rows").also(nulls="suppress")
    labels = [None, -1, 1, 1, 2, 2, 2, -1, None, 1, -1]
    assert released(con, call, Given(labels, counted=9)) == [
        (1, "suppressed"), (11, "waiting"), (2, "stale"), (8, "withheld"), (9, "suppressed"),
    ]


def test_a_release_follows_the_last_one(con: Connection) -> None:
    fill(con)
    con.execute("CREATE OR REPLACE TABLE longer AS FROM releases UNION ALL "
                "SELECT * REPLACE (2 AS release) FROM releases")
    entries = con.execute(labelled_sql(con, ENTRY.also(ledger="longer"), Given(FIRST))).fetchall()
    assert {entry[0] for entry in entries} == {3}


def test_one_release_of_two_sets_of_options_is_enough(con: Connection) -> None:
    fill(con)
    second = changed("options", "replace(options, '\"headroom\":0', '\"headroom\":3')")
    con.execute("CREATE OR REPLACE TABLE longer AS FROM releases UNION ALL "
                f"SELECT * REPLACE (2 AS release) FROM ({second})")
    found = refusal(con, ON.also(ledger="longer"), Given(FIRST))
    assert "has a release with two sets of options" in found


def test_without_a_ledger_nobody_is_followed(con: Connection) -> None:
    """A class of one person may be among others that release the same values."""
    con.execute("UPDATE people SET a = 1 WHERE id < 4")
    plain = {name: value for name, value in ENTRY.options.items() if name != "entity"}
    call = Asked("anonymize", "people", {**plain, "others": "drop"})
    assert len(released(con, call, Given([1, 1, 1, 3, 2, 2, 2, 2]))) == 8


def test_a_person_with_two_rows_is_refused(con: Connection) -> None:
    fill(con)
    con.execute("INSERT INTO people FROM people WHERE id = 3")
    assert "several rows for one person" in refusal(con, ON, Given([*FIRST, 1]))
    con.execute("UPDATE people SET id = NULL WHERE id = 3")
    assert refusal(con, ON, Given([*FIRST, 1])) != ""


def test_a_class_that_goes_on_has_k_rows_too(con: Connection) -> None:
    fill(con)
    assert "has 1 rows, fewer than k = 2" in refusal(con, ON, Given([3, 1, 1, 1, 2, 2, 2, 2]))
