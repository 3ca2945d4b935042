"""What each run reports of its guarantee, through SQL: cost, lower bound, ratio."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from kanon_sql.methods import METHODS
from kanon_sql.methods.centers.geometry import RADIUS
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection
ROLES = "quasi_identifiers := ['age', 'edu', 'lat'], others := 'release'"
CALLS = {
    "r_gather": ("k := 4", 2.0),
    "r_gather, outliers": ("k := 4, epsilon := 0.1", 4.0),
    "r_gather, outliers, rows": ("k := 4, epsilon := 0.1, centers := 'rows'", 3.0),
    "r_gather, few": ("k := 4, max_clusters := 3", 2.0),
    "r_gather, few, outliers": ("k := 4, max_clusters := 3, epsilon := 0.1", 6.0),
    "r_gather, few, outliers, rows": (
        "k := 4, max_clusters := 3, epsilon := 0.1, centers := 'rows'", 3.0
    ),
    "r_gather, means": ("k := 4, centers := 'means'", 4.0),
    "r_gather, outliers, means": ("k := 4, epsilon := 0.1, centers := 'means'", 8.0),
    "r_gather, rows": ("k := 4, centers := 'rows'", 2.0),
    "cellular": ("facility_cost := 2.5", 8.0),
    "cellular, rows": ("facility_cost := 2.5, centers := 'rows'", 4.0),
    "cellular, means": ("facility_cost := 2.5, centers := 'means'", 14.0),
    "cellular, default cost": ("allow_small := true", 8.0),
    "cellular, a column": ("facility_cost := 'price', allow_small := true", None),
    "cellular, a column, rows": (
        "facility_cost := 'price', allow_small := true, centers := 'rows'", 4.0
    ),
    "r_cellular": ("k := 4", 120.0),
    "r_cellular, rows": ("k := 4, centers := 'rows'", 60.0),
    "r_cellular, means": ("k := 4, centers := 'means'", 240.0),
    "r_cellular, outliers": ("k := 4, epsilon := 0.1", 200.0),
    "r_cellular, outliers, rows": ("k := 4, epsilon := 0.1, centers := 'rows'", 100.0),
    "r_cellular, narrow": ("k := 4, max_diameter := 4", None),
    "forest": ("k := 4", 7.0),
    "pairs": ("k := 2", 2.0),
    "triples": ("k := 3", 3.0),
}


@pytest.fixture
def places(con: Connection) -> Connection:
    con.execute(
        "CREATE TABLE places AS SELECT 30 + (i * 37 % 100) / 10 AS lat, i % 7 AS age, "
        "['Bachelors', 'HS', 'Masters', 'Doc'][1 + i % 4] AS edu, 0.5 + i % 3 AS price "
        "FROM range(60) AS r(i)"
    )
    return con


def facts(con: Connection, options: str, relation: str = "places") -> dict[str, Any]:
    rows = con.execute(
        f"SELECT metric, coalesce(value::VARCHAR, text) FROM anonymize_metrics('{relation}', "
        f"detail=true, "
        f"{options})"
    ).fetchall()
    known = {name: value for name, value in rows if not name.endswith(")")}
    for name in ("cost", "lower_bound", "ratio", "guaranteed_ratio", "rows", "rows_released",
                 "rows_suppressed", "max_radius", "total_il", "cellular_cost", "k"):
        known[name] = None if known[name] is None else float(known[name])
    return known


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CALLS)
def test_each_run_reports_its_guarantee(places: Connection, case: str) -> None:
    method, (options, guaranteed) = case.partition(",")[0], CALLS[case]
    found = facts(places, f"{options}, method := '{method}', {ROLES}")
    assert found["guaranteed_ratio"] == guaranteed
    assert 0.0 < found["lower_bound"] <= found["cost"]
    assert found["ratio"] == found["cost"] / found["lower_bound"] >= 1.0
    assert found["ratio"] <= (guaranteed or 100.0)
    assert found["rows"] == found["rows_released"] + found["rows_suppressed"] == 60
    assert found["rows_suppressed"] <= (6 if "epsilon" in options else 0)
    if METHODS[method].geometry() is RADIUS:
        assert found["cost"] == found["max_radius"]
    if METHODS[method].promises_k:
        assert found["k"] >= int(options[5])


def test_methods_without_a_guarantee_report_none(places: Connection) -> None:
    found = facts(places, f"k := 4, method := 'mdav', {ROLES}")
    assert {found[n] for n in ("cost", "lower_bound", "ratio", "guaranteed_ratio")} == {None}


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["r_gather", "r_cellular", "cellular", "forest"])
def test_the_ratio_is_1_where_nothing_is_lost(con: Connection, method: str) -> None:
    con.execute("CREATE TABLE same AS SELECT 7 AS age, 'x' AS job FROM range(9)")
    k = "" if method == "cellular" else "k := 3, "
    found = facts(con, f"{k}method := '{method}'", "same")
    assert (found["cost"], found["lower_bound"], found["ratio"]) == (0.0, 0.0, 1.0)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("k", [20, 19, 10, 7])
def test_no_ratio_is_below_1(con: Connection, k: int) -> None:
    """Also where all rows, all but one or half of them are a class, and the center is half way."""
    con.execute(
        "CREATE TABLE two AS SELECT i % 2 AS x FROM range(20) AS r(i);"
        "CREATE TABLE three AS SELECT i // 7 AS x, i * i % 5 AS y FROM range(20) AS r(i)"
    )
    for table in ("two", "three"):
        for method in ("r_gather", "r_cellular", "cellular"):
            for centers in ("anywhere", "means", "rows"):
                asked = "facility_cost := 0.2" if method == "cellular" else f"k := {k}"
                found = facts(con, f"{asked}, method := '{method}', centers := '{centers}'", table)
                assert 1.0 <= found["ratio"] <= found["guaranteed_ratio"]
                if table == "two" and k == 20 and method == "r_cellular":
                    twice = 2.0 if centers == "rows" else 1.0
                    assert (found["cost"], found["lower_bound"]) == (20.0 * twice, 20.0 * twice)


@pytest.mark.slow
def test_a_guarantee_is_told_of_what_is_published(con: Connection) -> None:
    """Means of numbers are far from all rows by 'hamming', and medians may be farther from them
    than the rows that the method chose."""
    con.execute(
        "CREATE TABLE bits AS SELECT (i = 1)::INT AS a, (i = 2)::INT AS b, (i = 3)::INT AS c, "
        "(i = 4)::INT AS d FROM range(5) AS r(i);"
        "CREATE TABLE spread AS SELECT i % 7 AS a, CASE WHEN i % 5 > 0 THEN i * i % 11 END AS b, "
        "['x', 'y', 'z'][1 + i % 3] AS c FROM range(60) AS r(i)"
    )
    options = "k := 5, method := 'r_cellular', metric := 'hamming'"
    means = facts(con, f"{options}, centers := 'means'", "bits")
    assert (means["cost"], means["guaranteed_ratio"]) == (20.0, None)
    assert facts(con, options, "bits")["guaranteed_ratio"] == 120.0
    options = "k := 4, method := 'r_gather', representation := "
    median, centers = (facts(con, options + f"'{r}'", "spread") for r in ("median", "centroid"))
    assert median["cost"] > centers["cost"] and median["guaranteed_ratio"] is None
    assert centers["guaranteed_ratio"] == 2.0


@pytest.mark.parametrize("representation", ["median", "interval", "hierarchy"])
def test_centers_beside_another_representation_are_refused(
    places: Connection, representation: str
) -> None:
    options = f"k := 4, method := 'r_gather', centers := 'rows', metric := 'taxonomy', {ROLES}"
    with pytest.raises(duckdb.Error, match="both set what a class publishes"):
        facts(places, f"{options}, representation := '{representation}'")


@pytest.mark.slow
def test_left_out_rows_are_told(places: Connection) -> None:
    options = f"k := 4, method := 'r_gather', epsilon := 0.1, {ROLES}"
    released = places.execute(f"FROM anonymize('places', {options})").fetchall()
    out = places.execute(f"FROM suppressed_rows('places', {options})").fetchall()
    assert len(released) + len(out) == 60
    assert len(out) == facts(places, options)["rows_suppressed"] > 0


@pytest.mark.slow
def test_refine_keeps_every_guarantee(places: Connection) -> None:
    for options, guaranteed in (
        ("k := 4, method := 'forest'", 7.0),
        ("k := 4, method := 'r_gather'", 2.0),
        ("k := 4, method := 'r_gather', epsilon := 0.1, centers := 'rows'", 3.0),
        ("k := 4, method := 'r_gather', centers := 'means'", 4.0),
        ("k := 4, method := 'r_cellular'", 120.0),
        ("k := 4, method := 'r_cellular', epsilon := 0.1, metric := 'hamming'", 200.0),
    ):
        plain = facts(places, f"{options}, {ROLES}")
        better = facts(places, f"{options}, {ROLES}, effort := 'balanced'")
        if "means" not in options:  # a centroid of fewer rows may reach farther
            assert better["cost"] <= plain["cost"]
            assert better["cellular_cost"] <= plain["cellular_cost"] or "forest" in options
        assert float(better["sse"]) <= float(plain["sse"]) or "forest" in options
        assert better["lower_bound"] == plain["lower_bound"]
        assert better["rows_suppressed"] == plain["rows_suppressed"]
        assert better["guaranteed_ratio"] == guaranteed
        assert better["k"] >= 4


def test_a_deleted_row_costs_all_its_cells(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT i // 3 AS a, i // 3 AS b FROM range(9) AS r(i) "
        "UNION ALL SELECT 99, 98"
    )
    found = facts(con, "k := 3, method := 'forest'", "t")
    assert (found["cost"], found["lower_bound"]) == (8.0, 2.0)
    found = facts(con, "k := 3, method := 'forest', suppress := 0.1", "t")
    assert (found["rows_suppressed"], found["cost"], found["lower_bound"]) == (1.0, 2.0, 2.0)
    assert found["guaranteed_ratio"] == 5.0


@pytest.mark.slow
def test_hierarchies_and_weights_are_what_cells_cost(con: Connection) -> None:
    con.execute(
        "CREATE TABLE levels AS SELECT * FROM (VALUES ('a', 'x', '*'), ('b', 'x', '*'), "
        "('c', 'y', '*'), ('d', 'y', '*')) AS rows(level0, level1, level2)"
    )
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'b', 'c', 'd']) AS letter")
    options = "k := 2, hierarchies := {'letter': 'levels'}, column_weights := {'letter': 3}"
    for method in ("forest", "pairs"):
        found = facts(con, f"{options}, method := '{method}'", "t")
        assert (found["cost"], found["ratio"]) == (6.0, 1.0)  # 4 rows, 3 times half the levels
        released = con.execute(f"FROM anonymize('t', {options}, method := '{method}')").fetchall()
        assert sorted(released) == [("x",), ("x",), ("y",), ("y",)]


def test_cells_are_suppressed_where_a_class_differs(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a', DATE '2020-01-01', true), "
        "(1, 'b', DATE '2020-01-01', NULL), (2, NULL, DATE '2021-01-01', false), "
        "(3, NULL, DATE '2021-01-01', false)) AS rows(n, word, day, flag)"
    )
    rows = con.execute(
        "FROM anonymize('t', k := 2, method := 'pairs') ORDER BY day, n"
    ).fetchall()
    day = con.execute("SELECT DISTINCT day FROM t ORDER BY day").fetchall()
    assert rows == [(1, "*", *day[0], None)] * 2 + [(None, None, *day[1], False)] * 2
    con.execute("CREATE TABLE released AS FROM anonymize('t', k := 2, method := 'pairs')")
    audit = metrics_of(con, "anonymize_audit('t', k := 2, release := 'released')")
    assert audit["rows_below_k"] == 0 and audit["cells_unread"] == 0


@pytest.mark.slow
def test_cellular_clusters_of_one_row_are_published_on_demand_only(places: Connection) -> None:
    options = f"method := 'cellular', facility_cost := 0.01, {ROLES}"
    with pytest.raises(duckdb.Error, match=r"A cluster has 1 row\. Publish it with allow_small"):
        places.execute(f"FROM anonymize_clusters('places', {options})")
    clusters = places.execute(
        f"SELECT num_points FROM anonymize_clusters('places', {options}, allow_small := true)"
    ).fetchall()
    assert min(size for (size,) in clusters) == 1
    assert sum(size for (size,) in clusters) == 60
    assert facts(places, options)["k_requested"] is None
    for call in ("anonymize", "anonymize_sql", "suppressed_rows"):
        with pytest.raises(duckdb.Error, match="Use r_cellular"):
            places.execute(f"FROM {call}('places', {options})")
    with pytest.raises(duckdb.Error, match="Leave k out"):
        places.execute(f"FROM anonymize_clusters('places', {options}, k := 5)")


@pytest.mark.slow
def test_facility_costs_may_be_a_column(places: Connection) -> None:
    dear = facts(places, f"method := 'cellular', facility_cost := 100, {ROLES}")
    assert (dear["k"], dear["cost"]) == (60.0, 100.0 + dear["cellular_cost"])
    places.execute("UPDATE places SET price = NULL WHERE age = 3")
    with pytest.raises(duckdb.Error, match="facility_cost has 9 rows that are NULL"):
        facts(places, f"method := 'cellular', facility_cost := 'price', {ROLES}")
    with pytest.raises(duckdb.Error, match="'age' is given as quasi_identifier"):
        facts(places, f"method := 'cellular', facility_cost := 'age', {ROLES}")
    for wrong in ("0", "-1", "''", "true"):
        with pytest.raises(duckdb.Error, match="must be a number above 0"):
            facts(places, f"method := 'cellular', facility_cost := {wrong}, {ROLES}")


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["r_gather", "r_cellular", "cellular", "forest"])
def test_blocks_have_a_bound_but_no_guarantee(con: Connection, method: str) -> None:
    con.execute(
        "CREATE TABLE many AS SELECT i * 7919 % 1009 AS a, i * 104729 % 997 AS b "
        "FROM range(420) AS r(i)"
    )
    k = "" if method == "cellular" else "k := 2, "
    found = facts(con, f"{k}method := '{method}', block_rows := 150", "many")
    assert float(found["blocks"]) == 3.0
    assert found["guaranteed_ratio"] is None
    if method == "cellular":
        assert found["lower_bound"] is None and found["cost"] > found["cellular_cost"]
    else:
        assert 0.0 < found["lower_bound"] <= found["cost"]


def test_max_clusters_needs_all_rows_as_one(con: Connection) -> None:
    con.execute("CREATE TABLE many AS SELECT i * 7919 % 1009 AS a FROM range(420) AS r(i)")
    with pytest.raises(duckdb.Error, match="Set block_rows to 420"):
        facts(con, "k := 2, method := 'r_gather', max_clusters := 4, block_rows := 150", "many")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("method := 'pairs', k := 3", "is for k = 2 only, and k is 3"),
        ("method := 'triples', k := 2", "is for k = 3 only, and k is 2"),
        ("method := 'forest', k := 2, metric := 'hamming'", "takes no metric"),
        ("method := 'forest', k := 2, distance := 'loss'", "measures generalized cells"),
        ("method := 'pairs', k := 2, block_rows := 500", "groups all rows as one"),
        ("method := 'r_cellular', k := 2, max_diameter := 0", "must be a number above 0"),
        ("method := 'r_gather', k := 2, max_clusters := 9, effort := 'balanced'",
         "divides classes"),
        ("method := 'cellular', effort := 'balanced'", "can't be refined"),
        ("method := 'r_cellular', k := 4, max_diameter := 0.01", "Raise max_diameter"),
    ],
)
def test_refusals(places: Connection, options: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as caught:
        facts(places, f"{options}, {ROLES}")
    assert sentence in str(caught.value)
