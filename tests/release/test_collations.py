"""Collations of columns change no answer: values that only look equal stay different in every call,
as on the same rows without a collation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb
import pytest

from kanon_sql.plan.audit_macros import audit_macros
from tests.support.connections import registered
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection
Rows = list[tuple[Any, ...]]

COLLATIONS = ("NOCASE", "NOACCENT", "NOCASE.NOACCENT")
MIXES = [
    (own, theirs) for own in ("", *COLLATIONS[:2]) for theirs in ("", *COLLATIONS[:2])
    if own or theirs
]
"""The collations of a relation and of its population, of which one has one."""

WORDS = ("abc", "ABC", "Abc", "zoe", "zoé", "ZOE", "b", "B", "Z", "a", None)
NAMES = ("id", "q", "w", "age", "s", "day")
QUASI = "k := 3, quasi_identifiers := ['q', 'w', 'age'], sensitive := ['s'], seed := 1"
ROLES = f"{QUASI}, identifiers := ['id', 'day']"
PERSONS = (
    "k := 3, quasi_identifiers := ['q', 'w'], sensitive := ['s'], identifiers := ['age', 'day'], "
    "entity := 'id', seed := 1"
)
PARTS = (
    "k := 3, quasi_identifiers := ['q', 'w'], sensitive := ['s'], identifiers := ['id', 'age'], "
    "within := ['day'], seed := 1"
)
PEOPLE = f"{ROLES}, population := 'pop', k_map := 5"
LEVELS = "hierarchies := {'q': 'levels', 'w': 'prefix'}"
TOLD_OF_RUNS = ("grouping_cache", "seconds")

CALLS = {
    "classes": "k_anonymity('t', quasi_identifiers := ['q', 'w'], k := 3)",
    "classes of persons": "k_anonymity('t', quasi_identifiers := ['q'], entity := 'id', k := 3)",
    "classes of parts": "k_anonymity('t', quasi_identifiers := ['q'], within := ['day'], k := 3)",
    "each part": "k_anonymity('t', quasi_identifiers := ['q'], within := ['day'], by_part := true)",
    "models": "k_anonymity('t', quasi_identifiers := ['q'], sensitive := ['s'], l := 2, t := 0.3)",
    "models of persons": "k_anonymity('t', quasi_identifiers := ['q'], sensitive := ['s'], "
    "l := 2, entity := 'id')",
    "risk": "anonymize_risk('t', quasi_identifiers := ['q', 'w', 'age'], msu_columns := 3, "
    "subset_columns := 2, k := 3)",
    "risk of people": "anonymize_risk('t', quasi_identifiers := ['q', 'w'], population := 'pop')",
    "roles": "anonymize_roles('t')",
    "roles of persons": "anonymize_roles('t', entity := 'id')",
    "release": f"anonymize('t', {ROLES})",
    "best": f"anonymize('t', {ROLES}, method := 'k_member', effort := 'fast')",
    "metrics": f"anonymize_metrics('t', {ROLES}, detail := true)",
    "clusters": f"anonymize_clusters('t', {ROLES})",
    "rows left out": f"suppressed_rows('t', {ROLES}, suppress := 0.1, nulls := 'suppress')",
    "people": f"anonymize_metrics('t', {PEOPLE}, detail := true)",
    "people with levels": f"anonymize('t', {PEOPLE}, {LEVELS})",
    "levels": f"anonymize('t', {ROLES}, {LEVELS})",
    "full domain": f"anonymize_metrics('t', {ROLES}, {LEVELS}, method := 'full_domain')",
    "suggested levels": f"anonymize_metrics('t', {ROLES}, hierarchies := 'suggested')",
    "level table": "hierarchy('t', 'w', kind := 'prefix')",
    "persons": f"anonymize_metrics('t', {PERSONS}, l := 2, detail := true)",
    "ledger": f"anonymize_ledger('singles', {PERSONS})",
    "parts": f"anonymize_metrics('t', {PARTS}, by_part := true)",
    "joined parts": "anonymize('t', k := 3, quasi_identifiers := ['w', 'age'], within := ['q'], "
    "sensitive := ['s'], identifiers := ['id', 'day'], small_parts := 'join', seed := 1)",
    "others": f"anonymize('t', {QUASI}, others := 'release')",
    "others dropped": f"anonymize_metrics('t', {QUASI}, others := 'drop')",
    "audit": "anonymize_audit('t', release := 'released', quasi_identifiers := ['q', 'w', 'age'], "
    "sensitive := ['s'], identifiers := ['id'], k := 3)",
    "inside of others": "k_anonymity('lists', quasi_identifiers := ['w', 's'])",
    "lists": "anonymize_metrics('lists', k := 3, quasi_identifiers := ['q', 'age'], "
    "sensitive := ['w', 's'], identifiers := ['id'], l := {'s': 2}, seed := 1)",
    **{
        f"as {word}": f"anonymize('t', {ROLES}, representation := '{word}')"
        for word in ("centroid", "rounded", "median", "interval", "bounds", "suppress")
    },
    **{
        f"with {name}": f"anonymize('t', {ROLES}, {option})"
        for name, option in {
            "l": "l := 2", "entropy": "l := 2, diversity_kind := 'entropy'", "t": "t := 0.5",
            "beta": "beta := 2", "rows as centers": "method := 'r_gather'",
        }.items()
    },
    "one column": "anonymize('t', k := 3, quasi_identifiers := ['w'], others := 'drop', "
    "method := 'ordered', representation := 'interval', seed := 1)",
}
CHECKED = {
    "k_anonymity": "k_anonymity('t', ['q', 'w'], k := 3)",
    "privacy_models": "privacy_models('t', ['q'], 's')",
    "k_map": "k_map('t', 'pop', ['q', 'w'])",
}
"""Calls of the macros that need no kanon_sql."""

con = registered()


@pytest.fixture(scope="module")
def plain() -> Iterator[Connection]:
    """A connection without kanon_sql, on which the macros of the audit are known."""
    with duckdb.connect() as connection:
        connection.execute(audit_macros())
        yield connection


def records(seed: int, many: int = 60) -> Rows:
    """Rows whose texts differ in case or accent; each person has two."""
    draw = Random(seed)
    return [
        (
            f"{draw.choice('pP')}{i // 2}", draw.choice(WORDS), draw.choice(WORDS[:-1]),
            draw.randrange(5), draw.choice(WORDS), draw.choice("dDe"),
        )
        for i in range(many)
    ]


def create(con: Connection, name: str, rows: Rows, collation: str) -> None:
    """A table of these rows, its texts of that collation."""
    of = f"VARCHAR COLLATE {collation}" if collation else "VARCHAR"
    columns = ", ".join(f"{each} {'INTEGER' if each == 'age' else of}" for each in NAMES)
    con.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
    con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?)", rows)


def prepared(con: Connection, collation: str, seed: int = 1) -> None:
    """All that the calls read, of that collation, save a release, which has none."""
    rows = records(seed)
    create(con, "t", rows, "")
    con.execute(
        "CREATE OR REPLACE TABLE released AS SELECT * EXCLUDE (day) "
        f"FROM anonymize('t', {QUASI}, others := 'release', method := 'k_member')"
    )
    create(con, "t", rows, collation)
    singles = [(f"{'pP'[i % 2]}{i // 2}", *row[1:]) for i, row in enumerate(rows)]
    create(con, "singles", singles, collation)
    create(con, "pop", rows + records(seed + 1, 150), collation)
    of = f"VARCHAR COLLATE {collation}" if collation else "VARCHAR"
    con.execute(f"CREATE OR REPLACE TABLE levels (level0 {of}, level1 {of}, level2 {of})")
    con.executemany(
        "INSERT INTO levels VALUES (?, ?, '*')",
        [(word, "gG"[i % 2]) for i, word in enumerate(WORDS[:-1])],
    )
    con.execute(
        "CREATE OR REPLACE VIEW lists AS SELECT id, [w, q] AS w, {'a': s} AS s, age, q FROM t"
    )


def told(con: Connection, call: str) -> list[str]:
    """The rows of a call, without what is told of the run; or the refusal."""
    try:
        rows = con.execute(f"FROM {call}").fetchall()
    except duckdb.Error as error:
        return [str(error).partition("\n")[0]]
    return [
        repr(tuple(float(f"{each:.9g}") if isinstance(each, float) else each for each in row))
        for row in rows if not any(word in map(str, row) for word in TOLD_OF_RUNS)
    ]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", CALLS)
def test_every_call_says_what_it_says_without(con: Connection, name: str) -> None:
    answers = []
    for collation in ("", *COLLATIONS):
        prepared(con, collation)
        answers.append(told(con, CALLS[name]))
    assert len(answers[0]) > 1 or "Error" not in answers[0][0]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("name", CHECKED)
def test_the_macros_say_what_they_say_without(plain: Connection, name: str) -> None:
    answers = []
    for collation in ("", *COLLATIONS):
        create(plain, "t", records(1), collation)
        create(plain, "pop", records(1) + records(2, 150), collation)
        answers.append(told(plain, CHECKED[name]))
    assert "Error" not in answers[0][0]
    assert all(answer == answers[0] for answer in answers)


def crowd(con: Connection, own: str, theirs: str) -> None:
    """Two words of four rows each, in a population where 20 others write them in other letters."""
    few = [("x", word, word, 1, "s", "d") for word in ("abé", "xyz") for _ in range(4)]
    alike = [("x", word, word, 1, "s", "d") for word in ("ABÉ", "abe", "XYZ") for _ in range(20)]
    create(con, "t", few, own)
    create(con, "pop", few + alike, theirs)


@pytest.mark.sample(4)
@pytest.mark.parametrize("representation", ["bounds", "interval", "centroid", "median"])
@pytest.mark.parametrize(("own", "theirs"), MIXES)
def test_a_class_covers_people_by_their_own_letters(
    con: Connection, own: str, theirs: str, representation: str
) -> None:
    crowd(con, own, theirs)
    call = (
        "'t', k := 2, quasi_identifiers := ['q', 'age'], sensitive := ['s'], others := 'drop', "
        f"population := 'pop', k_map := 8, representation := '{representation}'"
    )
    assert metrics_of(con, f"anonymize_metrics({call}, detail := true)")["k_map"] == 8
    rows = con.execute(f"SELECT q FROM anonymize({call})").fetchall()
    if representation == "bounds":
        assert Counter(tuple(q) for q, in rows) == {("abé", "xyz"): 8}
    refused = told(con, f"anonymize({call.replace('k_map := 8', 'k_map := 9')})")
    assert "k_map" in refused[0] and "Error" in refused[0]


@pytest.mark.parametrize("tree", ["", ", hierarchies := {'q': 'flat'}"])
@pytest.mark.parametrize(("own", "theirs"), MIXES)
def test_a_hierarchy_covers_people_by_their_own_letters(
    con: Connection, own: str, theirs: str, tree: str
) -> None:
    answers = []
    for each in ((own, theirs), ("", "")):
        crowd(con, *each)
        answers.append(told(
            con,
            "anonymize_metrics('t', k := 2, quasi_identifiers := ['q', 'age'], others := 'drop', "
            f"population := 'pop', k_map := 4, detail := true{tree})",
        ))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("own", "theirs"), MIXES)
def test_the_risk_counts_people_by_their_own_letters(
    con: Connection, own: str, theirs: str
) -> None:
    crowd(con, own, theirs)
    found = metrics_of(con, "anonymize_risk('t', quasi_identifiers := ['q'], population := 'pop', "
                            "k := 5)")
    assert (found["k_map"], found["journalist_risk_max"]) == (4, 0.25)
    assert found["journalist_risk_rows_above"] == 8


@pytest.mark.parametrize("collation", COLLATIONS[:2])
def test_two_persons_of_a_ledger_may_look_equal(con: Connection, collation: str) -> None:
    of = f"VARCHAR COLLATE {collation}"
    con.execute(f"CREATE OR REPLACE TABLE l (id {of}, age INTEGER)")
    con.execute("INSERT INTO l VALUES ('abc1', 1), ('ABC1', 1), ('é', 2), ('e', 2)")
    call = "'l', k := 2, entity := 'id', quasi_identifiers := ['age']"
    con.execute(f"CREATE OR REPLACE TABLE releases AS FROM anonymize_ledger({call})")
    assert con.execute("SELECT count(*) FROM releases").fetchall() == [(4,)]
    again = con.execute(f"FROM anonymize({call}, ledger := 'releases')").fetchall()
    assert len(again) == 4
    assert con.execute("SELECT persons FROM ledger_check('releases')").fetchall() == [(4,)]


def test_neighbors_are_those_in_the_order_of_letters(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE o (w VARCHAR COLLATE NOCASE)")
    con.execute("INSERT INTO o SELECT ['a', 'B', 'A', 'b', 'C', 'c'][1 + i] FROM range(6) AS r(i)")
    con.execute("INSERT INTO o FROM o")
    rows = con.execute(
        "SELECT w FROM anonymize('o', k := 4, quasi_identifiers := ['w'], others := 'drop', "
        "method := 'ordered', representation := 'interval')"
    ).fetchall()
    assert Counter(w for w, in rows) == {"{A, B}": 4, "{C, a}": 4, "{b, c}": 4}
