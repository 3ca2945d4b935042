"""gps_rectangles through SQL: rectangles that are disjoint, cover the box, and hold their rows."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.stages import remembered
from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import examples

Connection = duckdb.DuckDBPyConnection
Box = tuple[float, float, float, float]
METHOD = "method := 'gps_rectangles', quasi_identifiers := ['lat', 'lon'], others := 'release'"
ID = "sensitive := ['id']"

con = registered("SET threads = 2")


def fill(con: Connection, places: list[tuple[Any, Any]]) -> None:
    con.execute("CREATE OR REPLACE TABLE t (id BIGINT, lat DOUBLE, lon DOUBLE)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?)", [[i, *p] for i, p in enumerate(places)])


def boxes(con: Connection, k: int, more: str = "") -> list[tuple[Box, float, float]]:
    """The rectangle (low and high latitude, low and high longitude) and the place of each row."""
    rows = con.execute(
        f"SELECT r.lat.min, r.lat.max, r.lon.min, r.lon.max, t.lat, t.lon FROM "
        f"anonymize('t', k := {k}, {METHOD}, {ID}{more}) AS r JOIN t USING (id) "
        "WHERE t.lat IS NOT NULL"
    ).fetchall()
    return [((a, b, c, d), x, y) for a, b, c, d, x, y in rows]


def overlap(one: Box, other: Box) -> float:
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0])) * max(
        0.0, min(one[3], other[3]) - max(one[2], other[2])
    )


coordinates = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-80, 80, allow_nan=False, width=32)
)
places = st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=40)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(places, st.integers(1, 5))
def test_rectangles_are_disjoint_and_cover_the_box(
    con: Connection, found: list[tuple[float, float]], k: int
) -> None:
    k = min(k, len(found))
    fill(con, found)
    rows = boxes(con, k)
    assert len(rows) == len(found)
    sizes = Counter(box for box, _, _ in rows)
    assert min(sizes.values()) >= k
    north, east = max(lat for lat, _ in found), max(lon for _, lon in found)
    for (low, high, left, right), lat, lon in rows:
        assert low <= lat < high or lat == high == north
        assert left <= lon < right or lon == right == east
    distinct = sorted(sizes)
    for i, one in enumerate(distinct):
        for other in distinct[i + 1 :]:
            assert overlap(one, other) == 0.0
    area = sum((b - a) * (d - c) for a, b, c, d in distinct)
    south, west = min(lat for lat, _ in found), min(lon for _, lon in found)
    assert area == pytest.approx((north - south) * (east - west))
    kappa = max(k, *Counter(found).values())
    assert max(sizes.values()) <= kappa + 4 * (k - 1)


def test_an_extent_is_covered_instead_of_the_box_of_the_data(con: Connection) -> None:
    fill(con, [(i % 7, i % 11) for i in range(200)])
    extent = ", extent := {'LON': [-5, 20], 'lat': [-1.5, 9]}"
    rows = boxes(con, 20, extent)
    distinct = {box for box, _, _ in rows}
    assert sum((b - a) * (d - c) for a, b, c, d in distinct) == pytest.approx(25 * 10.5)
    assert min(box[0] for box in distinct) == -1.5
    assert max(box[3] for box in distinct) == 20
    own = [{low for low, *_ in distinct}, {box[2] for box in distinct}]
    assert all(any(value != int(value) for value in values) for values in own)
    small = "extent := {'lat': [0, 3], 'lon': [0, 9]}"
    said = refusal_of(con, f"FROM anonymize('t', k := 5, {METHOD}, {small})")
    assert "outside the extent" in said


def test_tight_boxes_are_those_of_the_rows(
    con: Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(con, [((i * 37) % 101 / 10, (i * 61) % 97 / 10) for i in range(150)])
    boxes(con, 10, ", tight := true, progress := false")
    assert "real coordinates" not in capfd.readouterr().err
    boxes(con, 10, ", tight := true")
    assert "real coordinates" in capfd.readouterr().err
    for box, group in _by_box(boxes(con, 10, ", tight := true")).items():
        lats, lons = [x for x, _ in group], [y for _, y in group]
        assert box == (min(lats), max(lats), min(lons), max(lons))


def _by_box(rows: list[tuple[Box, float, float]]) -> dict[Box, list[tuple[float, float]]]:
    found: dict[Box, list[tuple[float, float]]] = {}
    for box, lat, lon in rows:
        found.setdefault(box, []).append((lat, lon))
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("tight", ["false", "true"])
@pytest.mark.parametrize("swapped", [False, True])
def test_wkt_and_text_say_the_same_as_bounds(con: Connection, tight: str, swapped: bool) -> None:
    fill(con, [((i * 37) % 101 / 7, (i * 61) % 97 / 7) for i in range(90)])
    if swapped:
        con.execute("CREATE OR REPLACE TABLE t AS SELECT id, lon, lat FROM t")
    call = f"('t', k := 12, {METHOD}, {ID}, tight := {tight}, wkt := true"
    rows = con.execute(
        f"SELECT DISTINCT a.lat, a.lon, a.wkt, b.lat, b.lon FROM anonymize{call}) AS a "
        f"JOIN anonymize{call}, representation := 'interval') AS b USING (id)"
    ).fetchall()
    assert len(rows) >= 5
    for lat, lon, wkt, lat_text, lon_text in rows:
        south, north, west, east = lat["min"], lat["max"], lon["min"], lon["max"]
        corners = ", ".join(
            f"{x} {y}" for x, y in ((west, south), (east, south), (east, north), (west, north),
                                    (west, south))
        )
        assert wkt == f"POLYGON(({corners}))"
        assert lat_text[:-1] == f"[{south}, {north}"
        assert lon_text[:-1] == f"[{west}, {east}"
    ends = Counter(text[-1] for row in rows for text in row[3:])
    assert ends["]"] > 0
    assert (ends[")"] > 0) == (tight == "false")


def test_rows_without_a_place_are_a_class_of_their_own(con: Connection) -> None:
    fill(con, [(i, -i) for i in range(20)] + [(None, 1.0), (2.0, None), (math.nan, 0.0)])
    rows = con.execute(
        f"SELECT lat, lon, wkt, count(*) FROM anonymize('t', k := 3, {METHOD}, wkt := true) "
        "WHERE lat IS NULL GROUP BY ALL"
    ).fetchall()
    assert rows == [(None, None, None, 3)]
    told = metrics_of(con, f"anonymize_metrics('t', detail=true, k := 3, {METHOD})")
    assert (told["rows"], told["rows_released"], told["k"]) == (23, 23, 3)
    said = refusal_of(con, f"FROM anonymize('t', k := 4, {METHOD})")
    assert "20 rows with a place and 3 without" in said
    left = f"FROM anonymize('t', k := 4, {METHOD}, nulls := 'suppress')"
    assert con.execute(f"SELECT count(*) {left}").fetchall() == [(20,)]


def test_the_worst_case_of_the_paper(con: Connection) -> None:
    k = 6
    corners = [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
    fill(con, [place for place in corners for _ in range(k - 1)] + [(0.0, 0.0)] * k)
    assert len({box for box, _, _ in boxes(con, k)}) == 1
    told = metrics_of(con, f"anonymize_metrics('t', detail=true, k := {k}, {METHOD})")
    assert told["class_size_max"] == told["cost"] == 5 * k - 4
    assert told["ratio"] <= told["guaranteed_ratio"] <= 5


@pytest.mark.slow
def test_order_and_threads_change_nothing(con: Connection) -> None:
    draw = random.Random(3)
    found = [(draw.randrange(30) / 4, draw.gauss(0, 5)) for _ in range(500)]
    released = set()
    for threads in (1, 2, 4):
        draw.shuffle(found)
        fill(con, found)
        con.execute(f"SET threads = {threads}")
        remembered.forget()
        rows = con.execute(
            f"SELECT lat, lon FROM anonymize('t', k := 9, {METHOD}, identifiers := ['id'])"
        ).fetchall()
        released.add(str(rows))
    con.execute("SET threads = 2")
    assert len(released) == 1


@pytest.mark.parametrize(("columns", "more", "expected"), [
    ("i::VARCHAR AS lat, i AS lon", "", "two columns of numbers"),
    ("100 + i AS lat, i AS lon", "", "beyond 90 degrees"),
    ("i AS lat, 'inf'::DOUBLE AS lon", "", "infinite"),
    ("i AS lat, i AS lon", "extent := {'lat': [0, 1], 'x': [0, 1]}", "column 'x'"),
    ("i AS lat, i AS lon", "extent := {'lat': [1, 0], 'lon': [0, 1]}", "extent must give"),
    ("i AS lat, i AS lon", "extent := {'lat': [0, 90], 'lon': [0, 90]}, tight := true", "tight"),
    ("i AS lat, i AS lon, 1 AS wkt", "wkt := true", "column 'wkt'"),
])
def test_what_can_not_be_is_refused(
    con: Connection, columns: str, more: str, expected: str
) -> None:
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM range(20) AS r(i)")
    given = f", {more}" if more else ""
    assert expected in refusal_of(con, f"FROM anonymize('t', k := 3, {METHOD}{given})")


def test_rows_with_and_without_a_place_are_remembered_apart(con: Connection) -> None:
    for first in (0, 99):
        con.execute(
            f"CREATE OR REPLACE TABLE t AS SELECT * FROM (SELECT {first} AS id, NULL::BIGINT AS "
            "lat, i AS lon FROM range(5) AS r(i) UNION ALL SELECT 1 + i, i, (i * 7) % 20 FROM "
            "range(20) AS r(i)) ORDER BY id"
        )
        rows = con.execute(
            f"SELECT a.lat, a.lon, t.lat, t.lon FROM anonymize('t', k := 5, {METHOD}, {ID}) AS a "
            "JOIN t USING (id) WHERE id BETWEEN 1 AND 20"
        ).fetchall()
        assert len(rows) == 20
        for lat, lon, y, x in rows:
            assert lat["min"] <= y <= lat["max"]
            assert lon["min"] <= x <= lon["max"]
    for nulls, count in (("value", 25), ("suppress", 20), ("value", 25)):
        call = f"anonymize('t', k := 5, {METHOD}, nulls := '{nulls}')"
        assert len(con.execute(f"FROM {call}").fetchall()) == count


def test_a_class_without_a_place_counts_in_the_bounds(con: Connection) -> None:
    fill(con, [(None, 0.0)] * 60 + [(40 + i / 100, -75 + i * 7 % 40 / 50) for i in range(40)])
    told = metrics_of(con, f"anonymize_metrics('t', detail=true, k := 10, {METHOD})")
    assert told["rows_without_place"] == told["cost"] == told["lower_bound"] == 60
    assert told["ratio"] == told["guaranteed_ratio"] == 1
    fill(con, [(None, 0.0)] * 60)
    told = metrics_of(con, f"anonymize_metrics('t', detail=true, k := 10, {METHOD})")
    assert (told["classes"], told["cost"], told["ratio"]) == (1, 60, 1)


def test_columns_may_have_the_names_of_the_sides(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT i AS low_1, i * 2.0 AS high_2 "
                "FROM range(40) AS r(i)")
    rows = con.execute("FROM anonymize('t', k := 5, method := 'gps_rectangles')").fetchall()
    assert len(rows) == 40


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIME", "BOOLEAN"])
def test_only_numbers_are_places(con: Connection, kind: str) -> None:
    value = {"DATE": "DATE '2024-01-01' + i::INT", "BOOLEAN": "i % 2 = 0"}.get(
        kind, "TIMESTAMP '2024-01-01' + INTERVAL (i) SECOND")
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT ({value})::{kind} AS lat, i AS lon "
                "FROM range(40) AS r(i)")
    assert "two columns of numbers" in refusal_of(con, f"FROM anonymize('t', k := 5, {METHOD})")


@pytest.mark.parametrize(("extent", "expected"), [
    ("MAP {'lat': [40, 42], 'LAT': [-75, -73]}", "extent must give"),
    ("{'lat': [-100, 100], 'lon': [-180, 180]}", "beyond 90 degrees"),
    ("{'lat': ['0', '9'], 'lon': [-180, 180]}", "extent must give"),
])
def test_an_extent_that_can_not_be(con: Connection, extent: str, expected: str) -> None:
    fill(con, [(i, i) for i in range(40)])
    said = refusal_of(con, f"FROM anonymize('t', k := 5, {METHOD}, extent := {extent})")
    assert expected in said
