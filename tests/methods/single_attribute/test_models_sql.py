"""Regions, intervals and rectangles under privacy models, as SQL releases them."""

from __future__ import annotations

from collections import defaultdict

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of

Connection = duckdb.DuckDBPyConnection
GPS = "'t', k := 4, method := 'gps_rectangles', quasi_identifiers := ['lat', 'lon']"
ZIP = "'z', k := 3, method := 'zip_regions', adjacency := 'pairs', quasi_identifiers := ['zip']"
ILL = "sensitive := ['ill'], seed := 1"

con = registered(
    "SET threads = 1",
    # the illness leans to the south, so that rectangles alone break most models
    "CREATE TABLE t AS SELECT i % 13 / 4.0 AS lat, i * 7 % 17 / 4.0 AS lon, "
    "CASE WHEN i % 13 < 9 AND i % 7 > 0 THEN 'flu' WHEN i % 3 = 0 THEN 'cold' ELSE 'hiv' END "
    "AS ill FROM range(160) AS r(i)",
)


def rectangles(con: Connection, more: str) -> dict[tuple[float, ...], list[str]]:
    """The values of each rectangle."""
    found: dict[tuple[float, ...], list[str]] = defaultdict(list)
    for lat, lon, ill in con.execute(
        f"SELECT lat, lon, ill FROM anonymize({GPS}, {ILL}{more})"
    ).fetchall():
        found[(lat["min"], lat["max"], lon["min"], lon["max"])].append(ill)
    return found


def test_merged_rectangles_are_disjoint_and_cover_the_box(con: Connection) -> None:
    before, after = rectangles(con, ""), rectangles(con, ", l := 3")
    assert min(len(set(ill)) for ill in before.values()) < 3
    assert min(len(set(ill)) for ill in after.values()) == 3
    assert 3 < len(after) < len(before)
    boxes = sorted(after)
    assert sum((b - a) * (d - c) for a, b, c, d in boxes) == pytest.approx(3.0 * 4.0)
    for i, (a, b, c, d) in enumerate(boxes):
        for low, high, left, right in boxes[i + 1 :]:
            assert min(b, high) <= max(a, low) or min(d, right) <= max(c, left)
    # every merged one is made of whole ones
    for box in before:
        inside = [o for o in boxes if o[0] <= box[0] and box[1] <= o[1]
                  and o[2] <= box[2] and box[3] <= o[3]]
        assert len(inside) == 1
        assert len(after[inside[0]]) >= len(before[box])


@pytest.mark.parametrize("tight", ["false", "true"])
def test_texts_polygons_and_bounds_agree(con: Connection, tight: str) -> None:
    more = f", l := 3, tight := {tight}"
    sides = rectangles(con, more)
    texts = con.execute(
        f"SELECT DISTINCT lat, lon, wkt FROM anonymize({GPS}, {ILL}{more}, wkt := true, "
        "representation := 'interval')"
    ).fetchall()
    assert len(texts) == len(sides)
    found = {
        tuple(float(x) for text in (lat, lon) for x in text[1:-1].split(", "))
        for lat, lon, _ in texts
    }
    assert found == set(sides)
    for lat, lon, wkt in texts:
        south, north = lat[1:-1].split(", ")
        west, east = lon[1:-1].split(", ")
        assert wkt.startswith(f"POLYGON(({west} {south}, {east} {south}, {east} {north},")


def test_rows_without_a_place_are_left_out_or_refused(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE gone AS FROM t UNION ALL "
                "SELECT NULL, 1.0, 'hiv' FROM range(5)")
    call = GPS.replace("'t'", "'gone'") + f", {ILL}, l := 2"
    assert "5 rows have no place" in refusal_of(con, f"FROM anonymize({call})")
    rows = con.execute(f"FROM anonymize({call}, nulls := 'suppress')").fetchall()
    assert len(rows) == 160


def graph(con: Connection) -> None:
    """Two parts: a chain of four codes, and one of two in which all have flu."""
    con.execute(
        "CREATE OR REPLACE TABLE z AS SELECT zip, ill FROM (VALUES "
        "('a', 'flu', 3), ('b', 'cold', 3), ('c', 'cold', 2), ('c', 'flu', 2), ('d', 'hiv', 3), "
        "('x', 'flu', 3), ('y', 'flu', 4)) AS s(zip, ill, n), range(n)"
    )
    con.execute("CREATE OR REPLACE TABLE pairs AS FROM (VALUES ('a', 'b'), ('b', 'c'), "
                "('c', 'd'), ('x', 'y')) AS p(a, b)")
    con.execute("CREATE OR REPLACE TABLE spots AS FROM (VALUES ('a', 1.0, 1.0), ('b', 2.0, 1.0), "
                "('c', 3.0, 1.0), ('d', 4.0, 1.0), ('x', 4.0, 2.0), ('y', 9.0, 9.0)) AS "
                "s(code, lat, lon)")


def regions(con: Connection, more: str) -> list[tuple[str, int]]:
    return con.execute(
        f"SELECT zip, count(*) FROM anonymize({ZIP}, {ILL}{more}) GROUP BY zip ORDER BY zip"
    ).fetchall()


@pytest.mark.slow
def test_a_part_of_the_graph_that_breaks_a_model_is_an_island(con: Connection) -> None:
    graph(con)
    assert [zips for zips, _ in regions(con, "")] == ["a", "b", "c", "d", "x", "y"]
    said = refusal_of(con, f"FROM anonymize({ZIP}, {ILL}, l := 2)")
    assert "A connected part of the graph breaks a privacy model" in said
    left = ", l := 2, islands := 'suppress'"
    assert regions(con, left) == [("{a, b}", 6), ("{c, d}", 7)]
    told = metrics_of(con, f"anonymize_metrics({ZIP}, {ILL}{left})")
    assert (told["rows_suppressed"], told["islands"], told["island_rows"]) == (7, 1, 7)
    assert told["guaranteed_ratio"] is None and told["ratio"] >= 1.0
    # of the part that is joined x is nearest to d
    joined = ", l := 2, islands := 'nearest', places := 'spots'"
    assert regions(con, joined) == [("{a, b}", 6), ("{c, d, x, y}", 14)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["fold", "spread", "five_halves", "bin_cover", "ordered"])
def test_metrics_tell_no_guarantee_of_merged_classes(con: Connection, method: str) -> None:
    con.execute("CREATE OR REPLACE TABLE s AS SELECT i % 9 AS code, "
                "CASE WHEN i % 9 < 6 THEN 'flu' ELSE 'cold' END AS ill FROM range(60) AS r(i)")
    call = f"'s', k := 6, method := '{method}', quasi_identifiers := ['code'], {ILL}"
    plain, told = (
        metrics_of(con, f"anonymize_metrics({call}{more}, detail := true)") for more in ("",
                                                                                         ", l := 2")
    )
    assert plain["guaranteed_ratio"] is not None and told["guaranteed_ratio"] is None
    assert told["classes"] < plain["classes"] and told["ratio"] >= 1.0


@pytest.mark.sample(1)
@pytest.mark.parametrize("call", [
    f"{GPS}, l := 3", f"{ZIP}, l := 2, islands := 'suppress'",
    f"{ZIP}, t := 0.4, islands := 'nearest', places := 'spots'",
])
def test_the_order_of_the_rows_changes_nothing(con: Connection, call: str) -> None:
    graph(con)
    for name in ("t", "z"):
        con.execute(f"CREATE OR REPLACE TABLE {name}_2 AS SELECT * FROM {name} "
                    "ORDER BY hash(rowid)")
    other = call.replace("'t'", "'t_2'").replace("'z'", "'z_2'")
    found = [
        sorted(map(repr, con.execute(f"FROM anonymize({each}, {ILL})").fetchall()))
        for each in (call, other)
    ]
    assert found[0] == found[1]
