"""What the verification says of persons with several rows, of labels given by hand."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.labelled import Asked, Given, labelled_sql, refusal, released

Connection = duckdb.DuckDBPyConnection

# six persons: of a four rows, of b and c two, of the others one
con = registered(
    "SET threads = 1",
    """CREATE TABLE visits AS
       SELECT ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'e', 'f'][i + 1] AS who, i AS age,
              ['Flu', 'Cold'][1 + (i + 1) // 2 % 2] AS disease
       FROM range(11) AS r(i)""",
)

TOGETHER = Asked("anonymize", "visits", {
    "k": 2, "quasi_identifiers": ["age"], "entity": "who", "sensitive": ["disease"], "seed": 1,
    "suppress": 0.34, "representation": "median",
})
APART = TOGETHER.also(entity_rows="apart")
SOUND = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_classes_of_k_persons_pass(con: Connection) -> None:
    assert len(released(con, TOGETHER, Given(SOUND))) == 11
    assert refusal(con, TOGETHER.also(k=3), Given([0] * 8 + [1] * 3)) == ""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("call", "labels", "said"), [
    (TOGETHER, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1], "has 1 persons, fewer than k = 2"),
    (APART, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1], "has 1 persons, fewer than k = 2"),
    (TOGETHER.also(k=3), SOUND, "has 2 persons, fewer than k = 3"),
    (TOGETHER, [0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1], "1 times rows of a person are in another"),
    (TOGETHER, [0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1], "2 times rows of a person are in another"),
    (APART, [0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1], ""),
    (APART, [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1], ""),
    (APART, [0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1], "1 of its classes don't keep entity_share"),
    (TOGETHER, [0, 0, 0, 0, 0, -1, 1, 1, 1, 1, 1], "1 times rows of a person are in another"),
    (APART, [0, 0, 1, 1, 0, 0, -1, 1, 1, 1, 1], ""),
    # two persons of six, with six rows, are a third of the persons
    (TOGETHER, [-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1], ""),
    (TOGETHER, [0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1], "leaves out more persons than"),
    (TOGETHER.also(suppress=0.33), [-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1], "with 6 rows"),
    # of rows, three of eleven are enough
    (APART, [0, 0, 1, 1, 0, 0, -1, 1, 1, -1, -1], ""),
    (APART, [-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1], "leaves out 4 rows"),
])
def test_persons_are_counted_and_not_rows(
    con: Connection, call: Asked, labels: list[int], said: str
) -> None:
    found = refusal(con, call, Given(labels))
    assert said in found
    assert bool(found) is bool(said)


def test_where_nothing_is_released_no_class_has_enough_persons(con: Connection) -> None:
    # a refusal whose figure is NULL is one
    found = refusal(con, TOGETHER.also(suppress=1), Given([-1] * 11))
    assert "a check failed. Nothing was released" in found


@pytest.mark.parametrize("call", [TOGETHER, APART])
def test_a_row_of_nobody_is_refused_unless_it_is_left_out(con: Connection, call: Asked) -> None:
    con.execute("CREATE OR REPLACE TABLE several AS SELECT * REPLACE "
                "(nullif(who, 'f') AS who) FROM visits")
    of_some = Asked(call.name, "several", call.options)
    assert "is NULL in rows that would be released" in refusal(con, of_some, Given(SOUND))


def test_a_row_without_a_label_is_lost_and_not_in_another_class(con: Connection) -> None:
    found = refusal(con, TOGETHER, Given([0, 0, 0, None, 0, 0, 1, 1, 1, 1, 1]))
    assert "it has 10 rows of 11 to be released" in found


def test_classes_that_release_the_same_are_one_crowd(con: Connection) -> None:
    same = "SELECT __kanon_class, 1 AS age FROM ({})"
    labels: list[Any] = [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2]
    assert refusal(con, TOGETHER, Given(labels)) != ""
    assert refusal(con, TOGETHER, Given(labels, classes=same)) == ""


def test_a_model_counts_a_person_once_and_not_at_all_where_its_rows_differ(
    con: Connection,
) -> None:
    """a, b and c have both diseases, and so none; of d, e and f one has Flu, two have Cold."""
    diverse = TOGETHER.also(l=2)
    diseases = con.execute("SELECT who, list(DISTINCT disease) FROM visits GROUP BY who").fetchall()
    assert {who for who, found in diseases if len(found) == 2} >= {"a", "b", "c"}
    assert "don't keep distinct_l_diversity" in refusal(con, diverse, Given(SOUND))
    all_of_them = Given([0] * 11)
    assert refusal(con, diverse, all_of_them) == ""


def counts(con: Connection, call: Asked, labels: list[int]) -> tuple[Any, ...]:
    """What the stage __kanon_persons counts."""
    sql = labelled_sql(con, call, Given(labels))
    head = sql[: sql.rindex("\nSELECT ")]
    row = con.execute(
        f"{head}\nSELECT everybody, came, left_out, places, fewest, most_rows, mean_rows, strangers"
        " FROM __kanon_persons"
    ).fetchone()
    assert row is not None
    return row


def test_every_figure_of_persons(con: Connection) -> None:
    assert counts(con, APART, SOUND) == (6, 6, 0, 6, 2, 4, 11 / 6, 0)
    some = [0, 0, 0, -1, 0, -1, 1, 1, 1, 1, -1]
    assert counts(con, APART, some) == (6, 5, 3, 8, 2, 3, 8 / 5, 0)


@pytest.fixture
def in_parts(con: Connection) -> Asked:
    """Of a, b and c some rows are in one part, and some in the other."""
    con.execute("CREATE OR REPLACE TABLE sites AS SELECT *, age % 2 AS site FROM visits")
    return Asked("anonymize", "sites", TOGETHER.options).also(within=["site"])


def test_whoever_is_in_several_parts_is_in_one_class_of_each(
    con: Connection, in_parts: Asked
) -> None:
    assert refusal(con, in_parts, Given([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])) == ""
    found = refusal(con, in_parts, Given([0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]))
    assert "1 times rows of a person are in another class" in found


def test_every_figure_of_persons_in_several_parts(con: Connection, in_parts: Asked) -> None:
    # a is left out in both parts, b in one
    labels = [-1, -1, -1, -1, 0, -1, 0, 1, 0, 1, 0]
    assert counts(con, in_parts, labels) == (6, 5, 2, 9, 2, 2, 6 / 5, 0)


LIMITED = TOGETHER.also(max_average_risk=0.25)


@pytest.mark.parametrize(("call", "labels", "said"), [
    # two classes of six persons, and of eleven rows
    (LIMITED, SOUND, "average"),
    (LIMITED.also(max_average_risk=0.34), SOUND, ""),
    (LIMITED, [0] * 11, ""),
    # a is in both classes, and one of six persons
    (LIMITED.also(max_average_risk=0.3, entity_rows="apart"),
     [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1], "average"),
    (LIMITED.also(max_average_risk=0.34, entity_rows="apart"),
     [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1], ""),
])
def test_the_mean_risk_counts_persons(
    con: Connection, call: Asked, labels: list[int], said: str
) -> None:
    assert bool(refusal(con, call, Given(labels))) is bool(said)


def test_whoever_is_in_two_classes_of_one_release_counts_once(con: Connection) -> None:
    same = "SELECT __kanon_class, CASE WHEN __kanon_class < 2 THEN 1 ELSE 2 END AS age FROM ({})"
    found = refusal(con, APART, Given([0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2], classes=same))
    assert "has 1 persons, fewer than k = 2" in found


def test_the_mean_risk_counts_the_persons_that_come_out(con: Connection) -> None:
    """Two classes of five persons, of six that there are."""
    labels = [-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1]
    assert refusal(con, TOGETHER.also(max_average_risk=0.4), Given(labels)) == ""
    assert "average" in refusal(con, TOGETHER.also(max_average_risk=0.35), Given(labels))


def test_every_figure_that_the_audit_tells_of_persons(con: Connection) -> None:
    con.execute("""CREATE OR REPLACE TABLE out AS
        SELECT who, [0, 0, 0, 1, 0, 0, 1, 1, 1, 2, 2][age + 1] AS age FROM visits""")
    names = (
        "persons, rows_per_person_max, k_persons, k_apart, persons_in_several_classes, "
        "classes_of_one_person, classes_below_k_persons, prosecutor_risk_max_persons"
    )
    audit = "k_anonymity('{}', quasi_identifiers := ['age'], entity := 'who', k := 3)"
    row = con.execute(f"SELECT {names} FROM {audit.format('out')}").fetchone()
    # the classes are a a a b b, a c c d, and e f
    assert row == (6, 4, 2, 1, 1, 0, 2, 0.5)
    con.execute("UPDATE out SET who = nullif(who, 'f')")
    with pytest.raises(duckdb.Error, match="is NULL in some rows"):
        con.execute(f"FROM {audit.format('out')}").fetchall()
    con.execute("DELETE FROM out WHERE age = 2 OR who = 'b'")
    row = con.execute(f"SELECT {names} FROM {audit.format('out')}").fetchone()
    assert row == (3, 4, 1, 1, 1, 1, 1, 1.0)
    con.execute("CREATE OR REPLACE TABLE nobody AS FROM out LIMIT 0")
    row = con.execute(f"SELECT {names} FROM {audit.format('nobody')}").fetchone()
    assert row == (0, 0, None, None, 0, 0, 0, None)
