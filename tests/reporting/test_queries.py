"""The user's own queries, and how far the release is off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError
from kanon_sql.reporting.facts import UserQuery
from kanon_sql.reporting.queries import BANDS, answered, read_queries

pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")

Lines = list[tuple[Any, ...]]


def asked(
    columns: list[str], before: Lines, after: Lines, exact: bool = True, sql: str = "{table}"
) -> UserQuery:
    answers = {"source": (columns, before), "release": (columns, after)}
    return answered(
        "q", sql, lambda text: answers[text.split()[0]], "source", "release", exact
    )


def test_lines_are_matched_by_their_texts() -> None:
    found = asked(["sex", "age"], [("f", 40.0), ("m", 30.0)], [("m", 33.0), ("f", 40.0)])
    assert [(each.key, each.before, each.after) for each in found.answers] == [
        ("f", {"age": 40.0}, {"age": 40.0}), ("m", {"age": 30.0}, {"age": 33.0})
    ]
    assert [each.error["age"] for each in found.answers] == pytest.approx([0, 0.1])
    assert found.worst == pytest.approx(0.1)
    assert found.middle == pytest.approx(0.05)


def test_else_by_the_first_column() -> None:
    found = asked(["year", "n"], [(1, 10), (2, 20)], [(2, 10), (3, 1)])
    assert [(each.key, each.error) for each in found.answers] == [("2", {"n": 0.5})]
    assert (found.only_before, found.only_after) == (1, 1)


def test_an_order_that_was_asked_for_is_kept() -> None:
    lines = [("b", 2), ("a", 1)]
    kept = asked(["x", "n"], lines, lines, sql="{table} Order By n DESC")
    assert [each.key for each in kept.answers] == ["b", "a"]


def test_one_number_needs_no_key() -> None:
    found = asked(["mean"], [(4,)], [(5,)])
    assert [(each.key, each.error) for each in found.answers] == [("", {"mean": 0.25})]


@pytest.mark.parametrize("before, after, error", [
    (100.0, 100.0, 0.0), (100.0, 100.05, 0.001), (100.0, 101.0, 0.01), (100.0, 95.0, 0.05),
    (100.0, 40.0, 1.0), (100.0, 400.0, float("inf")), (0.0, 4.0, None), (None, 4.0, None),
])
def test_an_error_is_told_as_a_bound(
    before: float | None, after: float, error: float | None
) -> None:
    found = asked(["n"], [(before,)], [(after,)], exact=False)
    assert found.answers[0].error == {"n": error}
    assert found.answers[0].before == {}
    assert found.worst == error and (error is None or error in (*BANDS, float("inf")))


@pytest.mark.parametrize("columns, before, after, said", [
    (["a"], [("x",)], [("x",)], "no numbers"),
    (["a", "n"], [("x", 1), ("x", 2)], [("x", 1)], "the same key"),
])
def test_what_has_no_answer_says_why(
    columns: list[str], before: Lines, after: Lines, said: str
) -> None:
    assert said in asked(columns, before, after).refused


def test_a_refusal_of_the_database_is_told() -> None:
    def ask(text: str) -> Any:
        raise DataError("DuckDB can't read the data.")

    assert "can't read" in answered("q", "{table}", ask, "a", "b", True).refused
    assert read_queries({"q": "FROM {table}; "}) == {"q": "FROM {table}"}
    assert read_queries(["FROM {table}"]) == {"Query 1": "FROM {table}"}


@pytest.mark.slow
def test_a_query_is_asked_of_source_and_release(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    text = "SELECT disease, avg(age) AS age, count(*) AS n FROM {table} GROUP BY disease"
    report = kanon_sql.report(
        "patients", tmp_path / "r.html", con=con, k=5, sensitive=["disease"],
        identifiers=["name"], show_values=True,
        queries={
            "q": text, "text": "SELECT job::INTEGER AS n FROM {table}",
            "none": "DROP TABLE {table}", "two": "SELECT 1) t; DROP TABLE {table}; FROM (SELECT 1",
        },
    )
    con.execute("CREATE TABLE released AS FROM anonymize('patients', k=5, sensitive=['disease'], "
                "identifiers=['name'])")
    expected = {
        table: {key: {"age": age, "n": n} for key, age, n in
                con.execute(text.replace("{table}", table)).fetchall()}
        for table in ("patients", "released")
    }
    answers, broken, dropped, two = report.facts.queries
    assert {each.key: each.before for each in answers.answers} == expected["patients"]
    assert {each.key: each.after for each in answers.answers} == expected["released"]
    assert all(each.error["n"] == 0 for each in answers.answers)
    # neither a value nor a change
    assert broken.refused and "Private" not in broken.refused
    assert dropped.refused == "It is not a query. Write one SELECT." and two.refused
    assert con.execute("FROM patients").fetchall()
