"""Every fact that a metric may stand on is reported by a run, and every one reported is known."""

from __future__ import annotations

import json
from typing import Any, get_args

import duckdb
import pytest

import kanon_sql
from kanon_sql.measure import metrics
from kanon_sql.measure.metrics import AuditedFact, MeasuredFact
from kanon_sql.plan.query import plan
from kanon_sql.points.points import Fact
from tests.support.catalogs import MadeUp
from tests.support.connections import registered

TABLES = """
    CREATE TABLE people AS
    SELECT 20 + i * 7 % 31 AS age, 47000 + i % 12 AS zip,
           CASE WHEN i % 15 = 5 THEN NULL ELSE 40 + i % 10 / 10 END AS lat, -74 + i % 7 / 10 AS lon
    FROM range(60) AS r(i);
    CREATE TABLE pairs AS SELECT 47000 + i AS a, 47000 + (i + 1) % 11 AS b FROM range(11) AS r(i);
    CREATE TABLE released AS FROM anonymize('people', k = 5);
"""
RUNS: tuple[dict[str, Any], ...] = (
    {"k": 3, "method": "v_mdav"},
    {"k": 3, "method": "r_gather"},
    {"method": "cellular", "allow_small": True},
    {"k": 3, "method": "mdav", "effort": "balanced", "refine_steps": 100},
    {"k": 3, "method": "full_domain", "hierarchies": {"zip": "prefix", "age": "bins"}},
    {"k": 5, "method": "zip_regions", "adjacency": "pairs", "identifiers": ["age", "lat", "lon"]},
    {"k": 3, "sensitive": ["zip"], "l": 2},
    {"k": 3, "method": "gps_rectangles", "identifiers": ["age", "zip"]},
    {"k": 3, "method": "auto"},
)
"""Between them these report whatever there is."""


con = registered(TABLES)


def reported(
    con: duckdb.DuckDBPyConnection, call: str, options: dict[str, Any], column: str
) -> set[str]:
    """The names of the facts in a column of __kanon_facts: the call, but for what it selects."""
    columns = dict.fromkeys(["age", "zip", "lat", "lon"])
    text = plan(call, "people", options, MadeUp({"people": columns})).text
    stages = text[: text.rindex("SELECT unnest(")]
    ((found,),) = con.execute(f"{stages} SELECT {column} FROM __kanon_facts").fetchall()
    return set(json.loads(found))


@pytest.mark.slow
def test_facts_of_a_run(con: duckdb.DuckDBPyConnection) -> None:
    found = set().union(*(reported(con, "anonymize_metrics", run, "grouped") for run in RUNS))
    levels = {name for name in found if name.startswith("level ")}
    assert levels == {f"level {column}" for column in ("age", "zip", "lat", "lon")}
    of_models = {"least_size 0", "violating 0"}
    assert of_models <= found and found - levels - of_models == set(get_args(Fact))


@pytest.mark.sample(4)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.get("method", "full_domain"))
def test_facts_that_are_measured(con: duckdb.DuckDBPyConnection, run: dict[str, Any]) -> None:
    assert reported(con, "anonymize_metrics", run, "measured") == set(get_args(MeasuredFact))


def test_facts_that_are_audited(con: duckdb.DuckDBPyConnection) -> None:
    found = reported(con, "anonymize_audit", {"release": "released"}, "measured")
    assert found == set(get_args(AuditedFact))


def test_a_fact_that_nothing_reports_is_refused() -> None:
    with pytest.raises(LookupError, match="No run reports the fact 'lower_bond' in grouped"):
        metrics._grouped("lower_bond")  # type: ignore[arg-type]
    with pytest.raises(LookupError, match="'ssse' in measured"):
        metrics._measured("ssse")  # type: ignore[arg-type]


def test_no_hole_stays_without_a_value() -> None:
    metric = metrics.Metric("m", "${k} + ${kk}", "", "")
    with pytest.raises(KeyError):
        metric.of_call({"k": "5"})


@pytest.mark.sample(2)
@pytest.mark.parametrize(("method", "option", "value"), [
    ("mondrian", "partitioning", "strict"), ("v_mdav", "gamma", "best"),
    ("k_member", "start", "last"), ("r_gather", "metric", "euclidean"),
])
def test_the_metric_options_shows_what_was_used(method: str, option: str, value: str) -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i AS a, i % 4 AS b FROM range(20) AS r(i)")
    ((text,),) = con.execute(
        f"SELECT text FROM anonymize_metrics('t', detail=true, k=5, method='{method}') WHERE "
        f"metric = 'options'"
    ).fetchall()
    assert json.loads(text)[option] == value


@pytest.mark.parametrize("call", [
    "representation := 'suppress', method := 'mdav_star'",
    "representation := 'interval', method := 'k_member'",
    "representation := 'bounds', method := 'mdav_star'",
    "method := 'forest'", "method := 'mondrian'", "representation := 'median', method := 'mdav'",
])
def test_what_lies_within_the_released_classes_is_lost(call: str) -> None:
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(
            "CREATE TABLE p AS SELECT i AS rid, 20 + (i * 7919) % 61 AS age, 's' || i % 4 AS s "
            "FROM range(300) AS r(i)"
        )
        given = f"'p', k := 5, quasi_identifiers := ['age'], sensitive := ['s', 'rid'], {call}"
        told = dict(con.execute(
            f"SELECT metric, value FROM anonymize_metrics({given}, detail := true)"
        ).fetchall())
        ((classes, lost),) = con.execute(f"""
            WITH shown AS (
                SELECT coalesce(r.age::VARCHAR, '') AS shown, p.age
                FROM anonymize({given}) AS r JOIN p USING (rid)
            ), means AS (
                SELECT *, avg(age) OVER (PARTITION BY shown) AS own, avg(age) OVER () AS of_all
                FROM shown
            )
            SELECT count(DISTINCT shown), 100 * sum((age - own) ** 2) / sum((age - of_all) ** 2)
            FROM means
        """).fetchall()
    assert told["classes"] == classes
    assert told["information_loss"] == pytest.approx(lost, rel=1e-9)
