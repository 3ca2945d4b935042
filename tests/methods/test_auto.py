"""method 'auto': the rule, and that the release is the one of the method that it chose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.group.all_kernels import compile_method
from kanon_sql.methods import CHOICES, METHODS, GroupTask
from kanon_sql.methods.auto import AUTO, BY_ESTIMATE, CHOSEN, SEARCHED, TableShape, settle
from kanon_sql.methods.search_steps import default_steps, steps_within
from kanon_sql.privacy.l_diversity import DistinctDiversity

Connection = duckdb.DuckDBPyConnection
ASKED = GroupTask.of(AUTO, 5, distance="sse", refine=BY_ESTIMATE)
SMALL, LARGE = 20_000, 200_000
"""Rows whose search takes less than five seconds, and more."""


RULE: dict[str, tuple[TableShape, dict[str, Any], str]] = {
    # table, what differs from ASKED, method, refine and distance
    "large": (TableShape(LARGE, 3, 5), {}, "mdav_star none sse"),
    "small": (TableShape(SMALL, 3, 5), {}, "mdav_star local sse"),
    "large, sets": (TableShape(LARGE, 3, 5), {"distance": "loss"}, "mdav_star none sse"),
    "small, sets": (TableShape(SMALL, 3, 5), {"distance": "loss"}, "k_member local loss"),
    "asked not to": (TableShape(SMALL, 3, 5), {"refine": "none"}, "mdav_star none sse"),
    "asked to": (
        TableShape(10**7, 0, 5), {"distance": "loss", "refine": "local"}, "k_member local loss",
    ),
    "one number": (TableShape(10**6, 1, 0), {}, "optimal_1d none sse"),
    "one number, sets": (TableShape(50, 1, 0), {"distance": "loss"}, "optimal_1d none sse"),
    "one number with gaps": (TableShape(50, 1, 0, True), {}, "mdav_star local sse"),
    "one text": (TableShape(10**6, 0, 1), {}, "mdav_star none sse"),
    "one number in blocks": (TableShape(10**6, 1, 0), {"block_rows": 500}, "mdav_star none sse"),
    "one number of persons": (TableShape(10**6, 1, 0), {"persons": True}, "mdav_star none sse"),
    "best": (
        TableShape(SEARCHED, 2, 2), {"refine": "local", "refine_times": 8}, "best none sse",
    ),
    "best, sets": (
        TableShape(50, 2, 2), {"refine": "local", "refine_times": 8, "distance": "loss"},
        "best none loss",
    ),
    "best of many": (
        TableShape(SEARCHED + 1, 2, 2), {"refine": "local", "refine_times": 8},
        "mdav_star local sse",
    ),
}


@pytest.mark.parametrize("case", RULE)
def test_the_rule(case: str) -> None:
    table, given, expected = RULE[case]
    asked = replace(ASKED, **given)
    task, told = settle(asked, table, METHODS)
    assert f"{task.method.name} {task.refine} {task.distance}" == expected
    assert task.distance in task.method.geometries and task.method.name in CHOSEN
    assert told is not None and told.startswith(f"The method 'auto' chose {task.method.name}")
    assert (", refined:" in told) == (task.refine == "local")
    assert replace(
        task, method=AUTO, own=asked.own, distance=asked.distance, refine=asked.refine,
        refine_times=asked.refine_times, refine_steps=asked.refine_steps,
    ) == asked


@given(
    n=st.integers(1, 10**6), k=st.integers(1, 500), seconds=st.floats(0.01, 100),
    columns=st.tuples(st.integers(0, 40), st.integers(0, 40)), by_loss=st.booleans(),
)
def test_the_longest_search_that_fits(
    n: int, k: int, seconds: float, columns: tuple[int, int], by_loss: bool
) -> None:
    steps = steps_within(seconds, n, k, columns, by_loss)
    usual = steps_within(float("inf"), n, k, columns, by_loss)
    assert usual == default_steps(n, k, 5_000_000 if by_loss else 15_000_000)
    assert 0 <= steps <= usual
    assert steps <= steps_within(2 * seconds, n, k, columns, by_loss)
    more = (columns[0] + 1, columns[1] + 1)
    assert steps_within(seconds, n, k, more, by_loss) <= steps
    if k <= 50:  # whole cycles
        per_row = steps / max(n, 256)
        assert per_row in (0, 80, 320, 1280, 5120, 20480, 81920, 327680)


def test_a_shorter_search_where_the_usual_one_takes_too_long() -> None:
    table = TableShape(45_000, 0, 8)
    task, told = settle(ASKED, table, METHODS)
    assert (task.refine, task.refine_steps) == ("local", 80 * 45_000)
    assert default_steps(45_000, 5) == 320 * 45_000
    assert told is not None and "5 seconds or less" in told
    of_blocks, told = settle(replace(ASKED, block_rows=10_000), table, METHODS)
    assert (of_blocks.refine, of_blocks.refine_steps) == ("none", None)
    assert told is not None and "more than 5 seconds" in told


@given(blocks=st.integers(2, 200), block=st.integers(250, 5_000), models=st.booleans())
def test_the_searches_of_all_blocks_fit_together(blocks: int, block: int, models: bool) -> None:
    """Each takes what is its own, however many there are."""
    asked = replace(
        ASKED, block_rows=block,
        beside_k=(DistinctDiversity(column="a", l=2),) if models else (),
    )
    table = TableShape(blocks * block, 2, 2)
    task, _ = settle(asked, table, METHODS)
    if task.refine == "none":
        return
    steps = task.refine_steps or default_steps(block, 5)
    seconds = (1.25 if models else 5.0) * block / table.rows
    assert steps <= steps_within(seconds, block, 5, (2, 2), False)


def test_any_other_method_is_left_alone() -> None:
    for method in METHODS.values():
        task = GroupTask.of(method, 5)
        assert settle(task, TableShape(100, 1, 0), METHODS) == (task, None)
    assert {**METHODS, "auto": AUTO} == CHOICES


FRAMES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # what is asked for beside auto, and what gives the same
    "points": ({}, {"method": "mdav_star", "effort": "balanced"}),
    "sets": ({"representation": "interval"}, {"method": "k_member", "effort": "balanced"}),
    "hierarchy": (
        {"hierarchies": {"job": "flat"}}, {"method": "mdav_star", "effort": "balanced"},
    ),
    "hierarchy, points": (
        {"hierarchies": {"job": "flat"}, "representation": "median"},
        {"method": "mdav_star", "effort": "balanced"},
    ),
    "fast": ({"effort": "fast"}, {"method": "mdav_star", "effort": "fast"}),
    "one number": (
        {"quasi_identifiers": ["age"], "others": "drop"}, {"method": "optimal_1d"},
    ),
    "model": ({"l": 2, "seed": 4}, {"method": "mdav_star", "effort": "balanced"}),
    "persons": (
        {"entity": "name", "identifiers": []}, {"method": "mdav_star", "effort": "balanced"},
    ),
    "in blocks": ({"block_rows": 250}, {"method": "mdav_star", "effort": "balanced"}),
    "suppress": ({"suppress": 0.1}, {"method": "mdav_star", "effort": "balanced"}),
    "class label": (
        {"class_label": "disease", "representation": "interval", "sensitive": []},
        {"method": "k_member", "effort": "balanced", "class_penalty": 0},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FRAMES)
def test_the_release_is_that_of_the_method(case: str, con: Connection) -> None:
    asked, same = FRAMES[case]
    call = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"], **asked}
    people = con.sql("FROM patients").pl()
    chosen = kanon_sql.anonymize(people, method="auto", **call)
    assert_frame_equal(chosen, kanon_sql.anonymize(people, **{**call, **same}))
    metrics = kanon_sql.anonymize_metrics(people, detail=True, method="auto", **call)
    told = dict(metrics.select("metric", "text").iter_rows())
    assert told["method"] == same["method"]
    notices = metrics.filter(pl.col("metric") == "notice")["text"].to_list()
    chose = f"The method 'auto' chose {same['method']}"
    assert any(notice.startswith(chose) for notice in notices)


def test_a_column_with_gaps_is_no_line() -> None:
    frame = pl.DataFrame({"age": [1, 2, None, 3, 50, 51, 52, 53, None, 54]})
    chosen = kanon_sql.anonymize(frame, k=2, method="auto")
    assert_frame_equal(chosen, kanon_sql.anonymize(frame, k=2, effort="balanced"))


@pytest.mark.slow
def test_in_sql_with_a_clear_notice(con: Connection) -> None:
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    call = "'adult', k=5, method='Auto', sensitive=['salary-class']"
    rows = con.execute(
        f"SELECT text FROM anonymize_metrics({call}, detail := true) WHERE metric IN ('method', "
        f"'notice')"
    ).fetchall()
    assert rows == [("mdav_star",), (
        "The method 'auto' chose mdav_star, refined: points are released, and a search is "
        "estimated to take 5 seconds or less.",
    )]
    assert con.execute(
        f"SELECT count(*) FROM (FROM anonymize({call}) EXCEPT ALL "
        f"FROM anonymize({call.replace('Auto', 'mdav_star')}, effort='balanced'))"
    ).fetchall() == [(0,)]


@pytest.mark.slow
def test_the_same_for_any_threads_and_order(con: Connection) -> None:
    people = con.sql("FROM patients").pl()
    call: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}
    first = kanon_sql.anonymize(people, method="auto", **call)
    for frame in (people, people.reverse(), people.sample(fraction=1.0, shuffle=True, seed=1)):
        assert_frame_equal(first, kanon_sql.anonymize(frame, method="auto", **call))
    for threads in (1, 2):
        con.execute(f"SET threads = {threads}")
        again = pl.from_arrow(kanon_sql.anonymize("patients", con=con, method="auto", **call))
        assert_frame_equal(first, again)


@pytest.mark.slow
def test_a_file_is_made_again_by_the_same_choice(con: Connection, tmp_path: Any) -> None:
    call: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}
    made = kanon_sql.release("patients", con=con, to=tmp_path / "a.parquet", method="auto", **call)
    assert made.manifest["options"]["method"] == "auto"
    chosen = con.execute(
        "SELECT text FROM anonymize_metrics('patients', detail=true, method := 'auto', k := 4, "
        "identifiers := ['name'], sensitive := ['disease']) WHERE metric = 'method'"
    ).fetchall()
    assert [(made.manifest["release"]["method"],)] == chosen
    found = kanon_sql.verify(made.path, con=con, source="patients", private=made.private)
    assert found.ok, found.sentence


REFUSED = {
    "options of a method": ({"gamma": 0.2}, "takes no gamma"),
    "ledger": ({"headroom": 1, "entity": "name", "identifiers": []}, "can't continue from"),
    "parts": (
        {"within": ["job"], "quasi_identifiers": ["age", "zip"]}, "Name a method, or leave within",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_with_a_choice_is_refused(case: str, con: Connection) -> None:
    given, said = REFUSED[case]
    call: dict[str, Any] = {
        "k": 4, "quasi_identifiers": ["age", "zip", "job"], "identifiers": ["name"],
        "sensitive": ["disease"], **given,
    }
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.anonymize("patients", con=con, method="auto", **call)


def test_its_methods_are_those_that_are_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "kanon_sql.group.all_kernels.compile_for",
        lambda task, in_blocks: asked.append(task.method.name) or [],
    )
    list(compile_method("auto"))
    assert set(asked) == set(CHOSEN)
