"""effort: how long to search, in one word."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import kanon_sql
from kanon_sql.call.options import read_options
from kanon_sql.call.rules import LONGER, resolve

CALL: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}


@pytest.fixture
def people(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    return con.sql("FROM patients").pl()


@pytest.mark.parametrize(("effort", "refine", "times"), [
    (None, "by estimate", 1), ("fast", "none", 1), ("balanced", "local", 1),
    ("thorough", "local", LONGER),
])
def test_what_a_word_means(effort: str | None, refine: str, times: int) -> None:
    task, _ = resolve(read_options("anonymize", {"k": 3, "effort": effort}))
    assert (task.refine, task.refine_times) == (refine, times)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", "k_member", "mondrian"])
def test_without_a_word_nothing_is_searched(people: pl.DataFrame, method: str) -> None:
    assert_frame_equal(
        kanon_sql.anonymize(people, **CALL, method=method, effort="fast"),
        kanon_sql.anonymize(people, **CALL, method=method),
    )


def metrics(people: pl.DataFrame, **given: Any) -> dict[str, Any]:
    told = kanon_sql.anonymize_metrics(people, detail=True, **CALL, **given)
    return dict(told.select("metric", "value").iter_rows())


@pytest.mark.slow
def test_the_best_searches_longer_and_loses_no_more(people: pl.DataFrame) -> None:
    balanced, best = (metrics(people, effort=effort) for effort in ("balanced", "thorough"))
    assert best["refine_steps"] >= 4 * balanced["refine_steps"]
    assert best["information_loss"] <= balanced["information_loss"] * (1 + 1e-12)
    again = kanon_sql.anonymize(
        people, **CALL, effort="balanced", refine_steps=int(best["refine_steps"])
    )
    assert_frame_equal(again, kanon_sql.anonymize(people, **CALL, effort="thorough"))


@pytest.mark.slow
def test_the_metrics_tell_what_it_became(people: pl.DataFrame) -> None:
    for given, told in (({"effort": "thorough"}, "thorough"), ({}, "by an estimate")):
        rows = kanon_sql.anonymize_metrics(people, detail=True, **CALL, **given)
        options = rows.filter(pl.col("metric") == "options")["text"].item()
        assert f'"effort": "{told}' in options


def test_it_may_be_ended_by_time() -> None:
    task, _ = resolve(read_options("anonymize", {"k": 3, "effort": "thorough",
                                                 "refine_seconds": 2.0}))
    assert (task.refine, task.refine_times, task.refine_seconds) == ("local", LONGER, 2.0)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "steps without search": ({"effort": "fast", "refine_steps": 100}, "nothing is searched"),
    "a search": ({"method": "best"}, "searches by itself"),
    "levels": ({"method": "full_domain"}, "can't be refined"),
    "time without search": (
        {"effort": "fast", "refine_seconds": 1.0}, "nothing is searched",
    ),
    "another word": ({"effort": "thourough"}, "Did you mean 'thorough'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_what_says_the_same_twice_is_refused(case: str, people: pl.DataFrame) -> None:
    given, said = REFUSED[case]
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.anonymize(people, **{**CALL, "effort": "thorough", **given})
    assert kanon_sql.anonymize(people, **CALL, method="full_domain", effort="fast").height == 60
