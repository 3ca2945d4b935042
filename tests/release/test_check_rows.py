"""What the verification says of labels that are given by hand, right ones and wrong ones."""

from __future__ import annotations

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.labelled import Asked, Given, labelled_sql, refusal, released

Connection = duckdb.DuckDBPyConnection

con = registered(
    "SET threads = 1",
    """CREATE TABLE t AS
       SELECT i AS id, [10, 11, 12, 20, 21, 22, 30, 31, 32, 30][i + 1] AS a,
              'disease ' || i % 3 AS disease
       FROM range(10) AS r(i)""",
)

CALL = Asked("anonymize", "t", {
    "k": 3, "suppress": 0.2, "identifiers": ["id"], "sensitive": ["disease"],
    "representation": "interval", "seed": 3,
})
ALL = CALL.also(suppress=1)
SOUND = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_right_labels_are_released(con: Connection) -> None:
    rows = released(con, CALL, Given(SOUND))
    assert len(rows) == 10
    assert refusal(con, CALL, Given(SOUND)) == ""


def test_what_is_left_out_does_not_come_out(con: Connection) -> None:
    labels = [-1, 0, 0, 0, 1, 1, 1, 1, 1, -1]
    rows = released(con, CALL, Given(labels))
    assert len(rows) == 8
    assert all(0 not in row for row in rows)
    every = released(con, ALL, Given([-1] * 10))
    assert every == []


def test_a_row_more_than_allowed_is_refused(con: Connection) -> None:
    assert refusal(con, CALL, Given([-1, -1, 0, 0, 0, 0, 1, 1, 1, 1])) == ""
    said = refusal(con, CALL, Given([-1, -1, -1, 0, 0, 0, 0, 1, 1, 1]))
    assert "leaves out 3 rows, more than suppress = 0.2" in said


def test_a_class_of_k_passes_and_a_smaller_one_does_not(con: Connection) -> None:
    assert refusal(con, CALL, Given([0] * 7 + [1] * 3)) == ""
    assert "has 2 rows, fewer than k = 3" in refusal(con, CALL, Given([0] * 8 + [1] * 2))


def test_classes_that_release_the_same_are_one(con: Connection) -> None:
    same = "SELECT __kanon_class, 1 AS a FROM ({})"
    assert refusal(con, CALL, Given([0] * 8 + [1] * 2, classes=same)) == ""


@pytest.mark.parametrize(("given", "said"), [
    (Given(SOUND, classes="FROM ({}) WHERE __kanon_class > 0"), "has 7 rows of 10"),
    (Given(SOUND, classes="FROM ({0}) UNION ALL (FROM ({0}) WHERE __kanon_class = 2)"),
     "has 14 rows of 10"),
    (Given(SOUND, classes="FROM ({}) WHERE false"), "has 0 rows of 10 to be released, 10 of"),
    (Given(SOUND, counted=9), "has 9 rows of 10"),
    (Given(SOUND, counted=12), "has 12 rows of 10"),
    (Given([*SOUND[:9], None]), "9 of them once"),
    (Given([-1, 0, 0, 0, 1, 1, 1, 1, 1, None]), "of 9 to be released, 8 of them once"),
    (Given([None] * 10), "has 0 rows of 10 to be released, 0 of them once"),
])
def test_rows_that_are_lost_or_doubled_are_refused(
    con: Connection, given: Given, said: str
) -> None:
    assert said in refusal(con, CALL, given)


def test_every_row_may_be_left_out_where_that_is_allowed(con: Connection) -> None:
    assert refusal(con, ALL, Given([-1] * 10)) == ""
    assert "has 10 rows of 0" in refusal(con, ALL, Given([-1] * 10, counted=20))


@pytest.mark.parametrize("stage", ["unshadowed", "accounted"])
def test_nothing_comes_out_where_an_earlier_check_did_not_pass(
    con: Connection, stage: str
) -> None:
    query = labelled_sql(con, CALL, Given(SOUND))
    before = f"FROM __kanon_{stage})"
    assert before in query
    # the check alone is told that it did not pass
    head, check = query.split("__kanon_check AS MATERIALIZED (")
    check = check.replace(f"(SELECT passed FROM __kanon_{stage})", "false", 1)
    assert con.execute(f"{head}__kanon_check AS MATERIALIZED ({check}").fetchall() == []
