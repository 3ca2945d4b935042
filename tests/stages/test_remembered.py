"""A repeated call on the same content and options does not group again."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import Grouping, GroupTask, Method, Points, task_for
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


def test_rows_metrics_and_clusters_share_one_grouping(
    con: duckdb.DuckDBPyConnection, count: list[int]
) -> None:
    options = "'patients', k=5, sensitive=['disease']"
    first = con.execute(f"FROM anonymize({options})").fetchall()
    assert con.execute(f"FROM anonymize({options})").fetchall() == first
    con.execute(f"FROM anonymize_clusters({options})").fetchall()
    labels = "SELECT text FROM anonymize_metrics({}) WHERE metric = 'labels'"
    assert con.execute(labels.format(options)).fetchone() == ("remembered",)
    assert count == [60]


def test_the_same_content_elsewhere_in_another_order(
    con: duckdb.DuckDBPyConnection, count: list[int]
) -> None:
    con.execute("CREATE TABLE again AS FROM patients ORDER BY hash(name)")
    first = con.execute("FROM anonymize('patients', k=5)").fetchall()
    assert con.execute("FROM anonymize('again', k=5)").fetchall() == first
    assert count == [60]


@pytest.mark.parametrize("change", ["k=6", "k=5, method='mdav'", "k=5, weights={'age': 2}"])
def test_other_options_group_again(
    con: duckdb.DuckDBPyConnection, count: list[int], change: str
) -> None:
    for options in ("k=5", change):
        con.execute(f"FROM anonymize('patients', {options}, identifiers := ['name'])").fetchall()
    assert len(count) == 2


def test_a_changed_value_groups_again(con: duckdb.DuckDBPyConnection, count: list[int]) -> None:
    con.execute("FROM anonymize('patients', k=5)").fetchall()
    con.execute("UPDATE patients SET age = age + 1 WHERE age = 20")
    con.execute("FROM anonymize('patients', k=5)").fetchall()
    assert len(count) == 2


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "ROOM", 10)
    remembered.forget()
    task = task_for("mdav_plus", 2)
    for start in range(5):
        points = Points.of([[float(start + i)] for i in range(6)])
        remembered.recall(remembered.digest(points, task), lambda p=points: task.group(p))
    assert len(remembered._kept) == 1
