"""A repeated call on the same content and options does not group again."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import Any

import duckdb
import numpy as np
import pytest

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS, Grouping, GroupTask, Method, Points, task_for
from kanon_sql.option import options_of
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import KAnonymity
from kanon_sql.stages import remembered


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often a method runs on other records than those that warm it up."""
    calls: list[int] = []
    load = Method.load

    def counting(method: Method) -> Any:
        function = load(method)

        def group(points: Points, task: GroupTask, watch: Watch) -> Grouping:
            if len(points) < 1000:
                calls.append(len(points))
            return function(points, task, watch)

        return group

    monkeypatch.setattr(Method, "load", counting)
    remembered.forget()
    return calls


@pytest.mark.slow
def test_rows_metrics_and_clusters_share_one_grouping(
    con: duckdb.DuckDBPyConnection, count: list[int]
) -> None:
    options = "'patients', k=5, sensitive=['disease']"
    first = con.execute(f"FROM anonymize({options})").fetchall()
    assert con.execute(f"FROM anonymize({options})").fetchall() == first
    con.execute(f"FROM anonymize_clusters({options})").fetchall()
    labels = (
        "SELECT text FROM anonymize_metrics({}, detail := true) WHERE metric = "
        "'grouping_cache'"
    )
    assert con.execute(labels.format(options)).fetchone() == ("hit",)
    assert count == [60]


def test_the_same_content_elsewhere_in_another_order(
    con: duckdb.DuckDBPyConnection, count: list[int]
) -> None:
    con.execute("CREATE TABLE again AS FROM patients ORDER BY hash(name)")
    first = con.execute("FROM anonymize('patients', k=5)").fetchall()
    assert con.execute("FROM anonymize('again', k=5)").fetchall() == first
    assert count == [60]


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", ["k=6", "k=5, method='mdav'", "k=5, column_weights={'age': 2}"])
def test_other_options_group_again(
    con: duckdb.DuckDBPyConnection, count: list[int], change: str
) -> None:
    for options in ("k=5", change):
        con.execute(f"FROM anonymize('patients', {options}, identifiers := ['name'])").fetchall()
    assert len(count) == 2


@pytest.mark.slow
def test_a_changed_value_groups_again(con: duckdb.DuckDBPyConnection, count: list[int]) -> None:
    con.execute("FROM anonymize('patients', k=5)").fetchall()
    con.execute("UPDATE patients SET age = age + 1 WHERE age = 20")
    con.execute("FROM anonymize('patients', k=5)").fetchall()
    assert len(count) == 2


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_for("mdav_plus", 2)
    for room, kept in (
        (10, 1),  # the last one stays, however large it is
        (3 * remembered.LEAST, 3),  # many small tables are as much as a few large ones
    ):
        monkeypatch.setattr(remembered, "ROOM", room)
        remembered.forget()
        for start in range(5):
            points = Points.of([[float(start + i)] for i in range(6)])
            remembered.recall(remembered.digest(points, task), lambda p=points: task.group(p))
        assert len(remembered._kept) == kept


@pytest.mark.slow
def test_the_seconds_of_labels_are_those_of_when_they_were_made(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where DuckDB plans or runs a query twice, and the second time nothing is grouped."""
    load = Method.load

    def slowly(method: Method) -> Any:
        function = load(method)

        def group(points: Points, task: GroupTask, watch: Watch) -> Grouping:
            if len(points) == 60:
                time.sleep(0.25)
            return function(points, task, watch)

        return group

    monkeypatch.setattr(Method, "load", slowly)
    remembered.forget()
    query = "SELECT metric, value, text FROM anonymize_metrics('patients', detail=true, k=5)"
    runs = [con.execute(query).fetchall() for _ in range(2)]
    told = [{name: value for name, value, _ in run} for run in runs]
    labels = [text for run in runs for name, _, text in run if name == "grouping_cache"]
    assert labels == ["miss", "hit"]
    assert told[0]["seconds_group"] == told[1]["seconds_group"] >= 0.25
    for seconds in told:
        parts = ("read", "encode", "group", "generalize", "verify")
        each = [seconds[f"seconds_{part}"] for part in parts]
        assert min(each) >= 0.0 and sum(each) <= seconds["seconds_total"]


OTHER = {
    "k": 6, "distance": "loss", "loss": "range_distinct", "weights": {"a": 2.0},
    "nulls": "error",
    "seed": 1, "refine": "local", "refine_steps": 7, "refine_seconds": 1.0, "block_rows": 500,
    "refine_times": 8, "suppress": 0.1, "class_label": "a", "sensitive_values": ("x",),
    "beside_k": (KAnonymity(9),),
    # options of methods
    "gamma": 0.3, "start": "seed", "class_penalty": 2.0, "diversity_preference": "equal",
    "diversity_penalty": 2.0, "partitioning": "relaxed", "metric": "hamming", "epsilon": 0.25,
    "max_clusters": 3, "centers": "rows", "facility_cost": 2.0, "allow_small": True,
    "max_diameter": 2.0, "adjacency": "pairs", "places": "spots",
    "islands": "nearest", "extent": {"a": (0.0, 1.0), "b": (0.0, 1.0)}, "tight": True,
    "wkt": True, "persons": True, "sequence": "random", "objective": "quadratic",
    "scales": {},
}


def test_sensitive_codes_and_what_they_mean_are_part_of_the_key() -> None:
    plain, task = Points.of([[1.0], [2.0]]), task_for("mdav", 2)
    column = SensitiveColumn("pay", ("1", "2"), True, np.array([1.0, 2.0]))
    points = replace(
        plain, sensitive=np.array([[0], [1]], np.int32), sensitive_columns=(column,)
    )
    others = [
        replace(points, sensitive=np.array([[1], [0]], np.int32)),
        *(replace(points, sensitive_columns=(other,)) for other in (
            replace(column, name="wage"), replace(column, words=("1", "3")),
            replace(column, numbers=np.array([1.0, 3.0])), replace(column, ordered=False),
            replace(column, levels=np.array([[0, 1]], np.int32)),
        )),
    ]
    keys = {remembered.digest(each, task) for each in (plain, points, *others)}
    assert len(keys) == 2 + len(others)
    assert remembered.digest(points, task) == remembered.digest(replace(points), task)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_that_a_task_holds_is_left_out_of_the_key(method: str) -> None:
    """Labels of another task are never remembered, whatever a later option is called."""
    points, task = Points.of([[1.0], [2.0]]), task_for(method, 5)
    keys = {remembered.digest(points, task)}
    plain = [f.name for f in fields(task) if f.name not in ("method", "own")]
    for name in plain:
        value = "sse" if name == "distance" and task.distance == "loss" else OTHER[name]
        keys.add(remembered.digest(points, replace(task, **{name: value})))
    own = list(options_of(task.own))
    for name in own:
        other = replace(task, own=replace(task.own, **{name: OTHER[name]}))
        keys.add(remembered.digest(points, other))
    assert len(keys) == 1 + len(plain) + len(own)
    others = {remembered.digest(points, task_for(other, 5)) for other in METHODS}
    assert len(others) == len(METHODS)
