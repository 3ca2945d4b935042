"""What the verification says of k_map and max_average_risk where the labels are given by hand."""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import pytest

from kanon_sql.plan.whole import broken_of_all_classes
from tests.release.test_k_map import covers
from tests.support.connections import registered
from tests.support.labelled import Asked, Given, refusal, released

Connection = duckdb.DuckDBPyConnection

ROWS: list[tuple[int | None, str | None]] = [
    (10, "x"), (12, "y"), (20, "y"), (20, "z"), (None, "x"), (30, "x"), (None, None), (None, None),
]
PEOPLE: list[tuple[int | None, str | None]] = [
    *itertools.product([9, 10, 11, 12, 13, 19, 20, 21, 30], ["x", "y", "z"]),
    (10, "Y"), (12, "w"), (10, None), (30, None), (None, "x"), (None, "x"), (None, "z"),
]
con = registered(
    "SET threads = 1",
    "CREATE TABLE t (a INTEGER, b VARCHAR)",
    "CREATE TABLE census (a INTEGER, b VARCHAR)",
    lambda con: con.executemany("INSERT INTO t VALUES (?, ?)", ROWS),
    lambda con: con.executemany("INSERT INTO census VALUES (?, ?)", PEOPLE),
    "CREATE TABLE empty AS FROM census LIMIT 0",
)

CALL = Asked("anonymize", "t", {
    "k": 2, "quasi_identifiers": ["a", "b"], "suppress": 1, "representation": "interval",
})
PAIRS = [0, 0, 1, 1, 2, 2, -1, -1]


def covered(labels: list[int]) -> int:
    """The people that the class covers which covers the fewest, by the definition."""
    classes = [
        [row for row, label in zip(ROWS, labels, strict=True) if label == one]
        for one in set(labels) - {-1}
    ]
    return min(sum(covers_pair(rows, person) for person in PEOPLE) for rows in classes)


def covers_pair(rows: list[Any], person: tuple[Any, Any]) -> bool:
    # the second of four columns is of numbers, too, and the last two are of texts
    wide = [(a, 0, b, "") for a, b in rows]
    return covers(wide, (person[0], 0, person[1], ""))


@pytest.mark.parametrize("labels", [
    PAIRS,
    [0, 0, 0, 0, 0, 0, -1, -1],
    [0, 0, -1, -1, -1, -1, -1, -1],
    # of one value in both columns, or in one
    [-1, -1, 0, 0, -1, -1, -1, -1],
    # with gaps only in one column, in both, and in none
    [-1, -1, -1, -1, 0, 0, -1, -1],
    [0, 0, -1, -1, -1, -1, 0, 0],
    [0, 0, 0, 0, 1, 1, 1, 1],
    # nothing known but the text, and the other way round
    [1, -1, -1, -1, 0, -1, 0, 1],
    [-1, -1, 0, -1, 1, 1, 0, 0],
], ids=str)
def test_the_class_that_covers_the_fewest_decides(con: Connection, labels: list[int]) -> None:
    least = covered(labels)
    assert least > 0
    call = CALL.also(population="census")
    assert len(released(con, call.also(k_map=least), Given(labels))) == 8 - labels.count(-1)
    said = refusal(con, call.also(k_map=least + 1), Given(labels))
    assert f"covers {least} people of the population, fewer than k_map = {least + 1}." in said


def test_a_class_that_covers_nobody_is_refused(con: Connection) -> None:
    """Whatever the others cover."""
    call, labels = CALL.also(population="census", k_map=1), [0, 0, 1, 1, 2, 2, 3, 3]
    assert covered(labels) == 0
    assert "covers 0 people" in refusal(con, call, Given(labels))
    assert "covers 0 people" in refusal(con, call, Given([-1] * 6 + [0, 0]))
    assert "covers 0 people" in refusal(con, call.also(population="empty"), Given(PAIRS))


def test_classes_that_release_the_same_cover_people_together(con: Connection) -> None:
    same = "SELECT __kanon_class, 1 AS a, 'any' AS b FROM ({})"
    labels, together = [0, 0, 1, 1, -1, -1, -1, -1], [0, 0, 0, 0, -1, -1, -1, -1]
    assert covered(labels) < covered(together)
    call = CALL.also(population="census", k_map=covered(together))
    assert refusal(con, call, Given(labels, classes=same)) == ""
    assert refusal(con, call, Given(labels)) != ""


def test_categories_cover_their_own_texts_alone(con: Connection) -> None:
    call = CALL.also(population="census", categorical=["a"])
    of_ten = [person for person in PEOPLE if person[0] in (10, 12) and person[1] in ("x", "y")]
    assert refusal(con, call.also(k_map=len(of_ten)), Given([0, 0] + [-1] * 6)) == ""
    assert refusal(con, call.also(k_map=len(of_ten) + 1), Given([0, 0] + [-1] * 6)) != ""


def test_where_nothing_is_released_nothing_covers_enough(con: Connection) -> None:
    call = CALL.also(population="census", k_map=1)
    # a refusal whose figure is NULL is one
    assert "a check failed. Nothing was released" in refusal(con, call, Given([-1] * 8))


@pytest.mark.parametrize(("labels", "rows", "classes"), [
    (PAIRS, 6, 3), ([0, 0, 0, 0, 1, 1, 1, 1], 8, 2), ([0] * 8, 8, 1),
])
def test_the_mean_risk_is_that_of_the_released_rows(
    con: Connection, labels: list[int], rows: int, classes: int
) -> None:
    risk = classes / rows
    assert len(released(con, CALL.also(max_average_risk=risk), Given(labels))) == rows
    said = refusal(con, CALL.also(max_average_risk=risk * 0.999), Given(labels))
    assert f"{classes} classes" in said and f"{rows} rows" in said
    assert "Nothing was released" in said


def test_no_rows_have_no_risk(con: Connection) -> None:
    assert released(con, CALL.also(max_average_risk=0.1), Given([-1] * 8)) == []


def test_of_persons_the_mean_risk_counts_persons(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE visits AS SELECT i // 2 AS who, i // 2 AS a "
                "FROM range(12) AS r(i)")
    call = Asked("anonymize", "visits", {
        "k": 2, "quasi_identifiers": ["a"], "entity": "who", "suppress": 1,
        "representation": "interval", "max_average_risk": 0.5,
    })
    pairs = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert len(released(con, call, Given(pairs))) == 12
    assert "6 persons" in refusal(con, call.also(max_average_risk=0.49), Given(pairs))


@pytest.mark.parametrize(("options", "measured", "said"), [
    ({}, {"prosecutor_risk_mean": 0.5}, []),
    ({"max_average_risk": None}, {"prosecutor_risk_mean": 0.5}, []),
    ({"max_average_risk": 0.5}, {"prosecutor_risk_mean": 0.5}, [("max_average_risk", "")]),
    ({"max_average_risk": 0.5}, {"prosecutor_risk_mean": None}, [("max_average_risk", "")]),
    ({"max_average_risk": 0.4}, {"prosecutor_risk_mean": 0.5}, [
        ("max_average_risk", "the classes of the file have 0.5."),
    ]),
])
def test_what_a_file_shows_of_what_was_asked(
    options: dict[str, Any], measured: dict[str, float | None], said: list[tuple[str, str]]
) -> None:
    found = list(broken_of_all_classes(options, measured))
    assert [option for option, _ in found] == [option for option, _ in said]
    for (_, is_said), (_, expected) in zip(found, said, strict=True):
        assert is_said.endswith(expected) and bool(is_said) == bool(expected)
