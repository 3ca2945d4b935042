"""A refusal is a fact and an advice, and holds no value from the data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from kanon_sql.methods import Grouping, Method, Points
from kanon_sql.stages import remembered
from tests.support.broken import CALL, SECRETS, database, stopped
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection
Labels = Callable[[int, int], Any]

shared, con = registered(), database


SENTENCES = re.compile(r"\S[^\n]*[.] [A-Z][^\n]*[.?]")
REFUSALS = {
    "k = 0": "k := 0",
    "k below 0": "k := -3",
    "half a k": "k := 2.5",
    "a k in words": "k := 'five'",
    "k is true": "k := true",
    "no k": "method := 'mdav'",
    "more than there is": "k := 41",
    "unknown method": "k := 3, method := 'mdavstern'",
    "method of no kind": "k := 3, method := 7",
    "unknown representation": "k := 3, representation := 'mean'",
    "unknown nulls": "k := 3, nulls := 'drop'",
    "unknown option": "k=3, metod='mdav'",
    "weights below 0": "k := 3, column_weights := {'x': -1}",
    "weights without a column": "k := 3, column_weights := {'xx': 1}",
    "weights of a column twice": "k := 3, column_weights := MAP {'x': 1, 'X': 2}, others := 'drop'",
    "two roles": "k := 3, quasi_identifiers := ['x'], sensitive := ['x']",
    "twice in a role": "k := 3, quasi_identifiers := ['x', 'X']",
    "a column without a name": "k := 3, quasi_identifiers := ['x', '']",
    "no quasi-identifier left":
        "k := 3, sensitive := ['name', 'number', 'x', 'day', 'disease']",
    "infinite values": "k := 3, quasi_identifiers := ['endless']",
    "infinite dates": "k := 3, quasi_identifiers := ['eternal']",
    "missing values": "k := 3, quasi_identifiers := ['gone', 'x'], nulls := 'error'",
    "too few left": "k := 30, quasi_identifiers := ['gone', 'x'], nulls := 'suppress'",
    "none left": "k := 3, quasi_identifiers := ['none'], nulls := 'suppress'",
    "a list": "k := 3, quasi_identifiers := ['parts']",
    "seed below 0": "k := 3, seed := -1",
    "gamma for another method": "k := 3, method := 'mdav', gamma := 0.5",
}  # fmt: skip


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("name", ["anonymize", "anonymize_clusters", "anonymize_metrics"])
def test_a_refusal_is_a_fact_and_an_advice_and_holds_no_value(
    con: Connection, name: str, refusal: str
) -> None:
    con.execute(
        """
        CREATE TABLE odd AS SELECT *, CASE WHEN number % 2 > 0 THEN number END AS gone,
            [number] AS parts, CASE WHEN x > 50 THEN 'inf'::DOUBLE ELSE x END AS endless,
            CASE WHEN x > 50 THEN 'infinity'::DATE ELSE day END AS eternal, NULL::VARCHAR AS none
        FROM patients
        """
    )
    options = REFUSALS[refusal]
    roles = "quasi" in options or "sensitive" in options
    columns = "" if roles else ", quasi_identifiers := ['name', 'number', 'x']"
    relation = "patients" if refusal == "no quasi-identifier left" else "odd"
    with pytest.raises(duckdb.Error) as caught:
        con.execute(f"FROM {name}('{relation}', {options}{columns})").fetchall()
    said = str(caught.value).partition(": ")[2].partition("\n\nLINE 1:")[0]
    assert SENTENCES.fullmatch(said), said
    assert not any(secret in said for secret in SECRETS)


def test_no_quasi_identifier_left_is_refused_where_the_catalog_knows_nothing(
    con: Connection,
) -> None:
    con.execute("CREATE OR REPLACE TEMP TABLE here AS SELECT name FROM patients")
    for role in ("identifiers", "sensitive"):
        with pytest.raises((duckdb.BinderException, duckdb.InvalidInputException)):
            con.execute(f"FROM anonymize('here', k := 3, {role} := ['name'])").fetchall()
    con.execute("DROP TABLE temp.here")


def test_points_of_a_broken_method_are_not_shown(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(self: Method) -> Callable[..., Grouping]:
        def method(points: Points, k: int, options: Any) -> Grouping:
            return Grouping(points.numeric[:, :1], {})

        return method

    monkeypatch.setattr(Method, "load", load)
    remembered.forget()
    stopped(con, f"FROM {CALL}", "")
