"""Methods that publish centers, through SQL: the paper's figures, metrics, what is published."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import duckdb
import numpy as np
import pytest

from tests.support.queries import metrics_of
from tests.support.tables import CENTERED, fetch

Connection = duckdb.DuckDBPyConnection


def facts(con: Connection, relation: str, options: str) -> dict[str, float | None]:
    """anonymize_metrics as name to value."""
    told = metrics_of(con, f"anonymize_metrics('{relation}', detail=true, {options})")
    return {name: value for name, value in told.items() if not name.startswith("ncp (")}


@pytest.fixture
def figure_1(con: Connection) -> str:
    """The table of figure 1 (a), and options that measure in its own units."""
    con.execute(
        "CREATE TABLE figure_1 AS SELECT * FROM (VALUES (10.0, 20.0, 'Flu'), (12.0, 20.0, 'Flu'), "
        "(100.0, 203.0, 'Hypertension'), (100.0, 200.0, 'Flu'), (100.0, 197.0, 'Cold')) "
        "AS rows(age, location, disease)"
    )
    weights = con.execute("SELECT var_pop(age), var_pop(location) FROM figure_1").fetchone()
    assert weights is not None
    return (
        "k := 2, sensitive := ['disease'], "
        f"column_weights := {{'age': {weights[0]}, 'location': {weights[1]}}}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", CENTERED)
def test_the_clusters_of_figure_1(con: Connection, figure_1: str, method: str) -> None:
    clusters = con.execute(
        f"SELECT age, location, num_points, radius, disease FROM anonymize_clusters('figure_1', "
        f"{figure_1}, method := '{method}') ORDER BY num_points"
    ).fetchall()
    one = {"value": "Flu", "count": 2}
    assert clusters[0] == (11.0, 20.0, 2, pytest.approx(1.0), [one])
    assert clusters[1][:4] == (100.0, 200.0, 3, pytest.approx(3.0))
    assert [entry["value"] for entry in clusters[1][4]] == ["Cold", "Flu", "Hypertension"]
    found = facts(con, "figure_1", f"{figure_1}, method := '{method}'")
    assert found["max_radius"] == pytest.approx(3.0)
    assert found["cellular_cost"] == pytest.approx(11.0)


@pytest.mark.slow
def test_figure_3_costs_5_by_cellular_clustering_and_20_by_suppression(con: Connection) -> None:
    con.execute(
        "CREATE TABLE figure_3 AS SELECT * FROM (VALUES (1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), "
        "(1, 1, 0, 1), (1, 1, 1, 0)) AS rows(attr1, attr2, attr3, attr4)"
    )
    options = "k := 5, method := 'r_cellular', metric := 'hamming'"
    cluster = con.execute(f"FROM anonymize_clusters('figure_3', {options})").fetchall()
    assert cluster == [(1.0, 1.0, 1.0, 1.0, 5, 1.0)]
    assert facts(con, "figure_3", options)["cost"] == 5.0
    for method in ("forest", "k_member"):
        found = facts(con, "figure_3", f"k := 5, method := '{method}'")
        assert found["total_il"] == 20.0
    assert facts(con, "figure_3", "k := 5, method := 'forest'")["cost"] == 20.0
    released = con.execute("FROM anonymize('figure_3', k := 5, method := 'forest')").fetchall()
    assert released == [(None, None, None, None)] * 5


@pytest.fixture
def places(con: Connection) -> Connection:
    con.execute(
        "CREATE TABLE places AS SELECT 'p' || i AS name, 30 + (i * 37 % 100) / 10 AS lat, "
        "-100 + (i * 61 % 170) / 10 AS lon, i % 7 AS age, "
        "['Bachelors', 'HS', 'Masters', 'Doc'][1 + i % 4] AS edu, 0.5 + i % 3 AS price "
        "FROM range(150) AS r(i)"
    )
    return con


def classes_of(con: Connection, names: list[str], options: str) -> dict[Any, list[Any]]:
    """The places' rows of each released center; both as the values of some columns."""
    released = fetch(
        con, f"FROM anonymize('places', {options}, quasi_identifiers := {names}, "
        "others := 'release', class_id := true, keep_order := true)"
    ).select([*names, "class_id"])
    classes = defaultdict(list)
    for row, source in zip(
        released.to_pylist(), fetch(con, "FROM places").select(names).to_pylist(), strict=True
    ):
        classes[tuple(row.values())].append(tuple(source.values()))
    return {center[:-1]: rows for center, rows in classes.items()}


def haversine(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres, by the textbook formula."""
    a, b, c, d = map(math.radians, (*one, *other))
    chord = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(chord))


@pytest.mark.slow
@pytest.mark.parametrize("method", CENTERED)
def test_radius_and_cost_are_those_of_the_published_centers(
    places: Connection, method: str
) -> None:
    options = f"k := 5, method := '{method}', metric := 'haversine'"
    roles = "quasi_identifiers := ['lat', 'lon'], others := 'release'"
    classes = classes_of(places, ["lat", "lon"], options)
    radii = [max(haversine(at, row) for row in rows) for at, rows in classes.items()]
    sizes = [len(rows) for rows in classes.values()]
    found = facts(places, "places", f"{options}, {roles}")
    assert min(sizes) >= 5 and sum(sizes) == 150
    assert found["max_radius"] == pytest.approx(max(radii))
    assert found["cellular_cost"] == pytest.approx(np.dot(radii, sizes))
    clusters = places.execute(
        f"SELECT radius FROM anonymize_clusters('places', {options}, {roles})"
    ).fetchall()
    for (told,), exact in zip(sorted(clusters), sorted(radii), strict=True):
        assert exact * (1.0 - 1e-9) <= told <= exact * 1.1


def test_no_centroid_is_published_that_has_a_larger_radius_than_a_row(places: Connection) -> None:
    options = "k := 4, method := 'r_gather', metric := 'hamming'"
    for at, rows in classes_of(places, ["age", "edu"], options).items():
        reach = {
            center: max((row[0] != center[0]) + (row[1] != center[1]) for row in rows)
            for center in [at, *rows]
        }
        assert reach[at] == min(reach.values())


@pytest.mark.slow
def test_centers_can_be_demanded_to_be_rows(places: Connection) -> None:
    roles = "quasi_identifiers := ['lat', 'lon'], others := 'drop', k := 5, method := 'r_gather'"
    for more in ("", ", epsilon := 0.1", ", epsilon := 0.1, max_clusters := 4"):
        centers = places.execute(
            f"SELECT lat, lon FROM anonymize_clusters('places', {roles}, centers := 'rows'{more})"
        ).fetchall()
        rows = places.execute("SELECT lat, lon FROM places").fetchall()
        assert set(centers) <= set(rows)


def verbatim(con: Connection, call: str) -> dict[str, float | None]:
    """The metrics that count rows and values that are published as they are."""
    rows = con.execute(
        f"SELECT metric, value FROM anonymize_metrics({call}, detail := true) "
        "WHERE metric LIKE 'original_values%' OR metric = 'centers_equal_to_a_row'"
    ).fetchall()
    return dict(rows)


@pytest.mark.sample(1)
@pytest.mark.parametrize("metric", ["euclidean", "hamming", "taxonomy", "haversine"])
@pytest.mark.parametrize("method", CENTERED)
def test_means_are_always_centroids(places: Connection, method: str, metric: str) -> None:
    """Each class publishes what the representation 'centroid' of its rows is, never its row; in
    'taxonomy', where every column has a hierarchy, the most frequent values."""
    names = ["lat", "lon"] if metric == "haversine" else ["lat", "edu"]
    options = f"k := 5, method := '{method}', metric := '{metric}', centers := 'means'"
    classes = classes_of(places, names, options)
    for center, rows in classes.items():
        for value, known in zip(center, zip(*rows, strict=True), strict=True):
            if isinstance(value, str) or metric == "taxonomy":
                assert known.count(value) == max(map(known.count, known))
            else:
                assert value == pytest.approx(sum(map(float, known)) / len(known))
    more = f"quasi_identifiers := {names}, others := 'drop'"
    told = verbatim(places, f"'places', {options}, {more}")
    source = set(fetch(places, "FROM places").select(names).to_pandas().itertuples(index=False))
    assert told["centers_equal_to_a_row"] == len(set(classes) & {tuple(row) for row in source})


@pytest.mark.slow
@pytest.mark.parametrize("method", [*CENTERED, "cellular"])
def test_published_rows_are_counted(places: Connection, method: str) -> None:
    """By default some centers are rows, with 'rows' all, with 'means' hardly any."""
    k = "allow_small := true" if method == "cellular" else "k := 5"
    call = f"{k}, method := '{method}', quasi_identifiers := ['lat', 'lon'], others := 'drop'"
    rows = set(places.execute("SELECT lat::DOUBLE, lon::DOUBLE FROM places").fetchall())
    counted = []
    for centers in ("anywhere", "means", "rows"):
        found = places.execute(
            f"SELECT DISTINCT lat, lon FROM anonymize_clusters('places', {call}, "
            f"centers := '{centers}')"
        ).fetchall()
        told = verbatim(places,
                        f"'places', {call}, centers := '{centers}'")["centers_equal_to_a_row"]
        assert told == len({tuple(map(float, center)) for center in found} & rows)
        counted.append(told)
        assert centers != "rows" or told == len(found)
    assert 0 <= counted[1] < counted[0] < counted[2]


@pytest.mark.slow
def test_null_equals_null_where_rows_are_counted(con: Connection) -> None:
    con.execute(
        "CREATE TABLE gaps AS SELECT * FROM (VALUES (NULL, 'a'), (NULL, 'a'), (NULL, 'b'), "
        "(5, NULL), (6, NULL), (7, NULL)) AS rows(n, word)"
    )
    call = "'gaps', k := 3, method := 'r_gather', centers := 'means'"
    centers = con.execute(f"SELECT n, word FROM anonymize_clusters({call})").fetchall()
    assert sorted(centers, key=str) == [(6.0, None), (None, "a")]
    told = verbatim(con, call)
    assert told == {
        "centers_equal_to_a_row": 2.0, "original_values (n)": 1.0, "original_values (word)": 1.0
    }
    told = verbatim(con, "'gaps', k := 3, method := 'mdav', representation := 'median'")
    assert told == {
        "centers_equal_to_a_row": None, "original_values (n)": 1.0, "original_values (word)": 1.0
    }
    told = verbatim(con, "'gaps', k := 3, method := 'mdav', representation := 'interval'")
    assert set(told.values()) == {None}


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["median", "centroid"])
def test_values_that_rows_of_a_class_have_are_counted(
    places: Connection, representation: str
) -> None:
    """Worked out from the release and the rows, by its classes of released values."""
    options = f"k := 4, method := 'mdav', representation := '{representation}'"
    names = ["age", "edu", "lat"]
    classes = classes_of(places, names, options)
    more = f"quasi_identifiers := {names}, others := 'drop'"
    told = verbatim(places, f"'places', {options}, {more}")
    for j, name in enumerate(names):
        expected = sum(
            center[j] in {row[j] for row in rows} and len({row[j] for row in rows}) > 1
            for center, rows in classes.items()
        )
        assert told[f"original_values ({name})"] == expected
    assert representation == "centroid" or (told["original_values (age)"] or 0.0) > 9.0


@pytest.mark.slow
def test_the_taxonomy_metric_is_the_height_of_the_lowest_common_ancestor(con: Connection) -> None:
    con.execute(
        "CREATE TABLE levels AS SELECT * FROM (VALUES ('a', 'x', '*'), ('b', 'x', '*'), "
        "('c', 'y', '*'), ('d', 'y', '*')) AS rows(level0, level1, level2)"
    )
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'a', 'b', 'c', 'c', 'd']) AS letter")
    options = "k := 3, metric := 'taxonomy', hierarchies := {'letter': 'levels'}"
    for method in CENTERED:
        clusters = con.execute(
            f"FROM anonymize_clusters('t', {options}, method := '{method}', "
            "quasi_identifiers := ['letter']) ORDER BY letter"
        ).fetchall()
        assert clusters == [("a", 3, 0.5), ("c", 3, 0.5)]
    labels = con.execute(
        f"SELECT DISTINCT letter FROM anonymize('t', {options}, method := 'r_gather', "
        "quasi_identifiers := ['letter'], representation := 'hierarchy') ORDER BY letter"
    ).fetchall()
    assert labels == [("x",), ("y",)]


def test_taxonomy_gives_every_column_a_hierarchy(places: Connection) -> None:
    options = "k := 5, metric := 'taxonomy', method := 'r_gather'"
    named = f"{options}, quasi_identifiers := ['age', 'edu', 'lat'], others := 'release'"
    found = facts(places, "places", named)
    assert 0.0 < (found["cost"] or 0.0) <= 3.0
    with pytest.raises(duckdb.Error, match="needs to know the columns before it runs"):
        places.execute(f"WITH w AS (FROM places) FROM anonymize('w', {options})")


def test_a_missing_place_is_half_way_around_the_earth(places: Connection) -> None:
    places.execute("UPDATE places SET lon = NULL WHERE age = 3")
    options = "k := 5, method := 'r_gather', metric := 'haversine', "
    options += "quasi_identifiers := ['lat', 'lon'], others := 'release'"
    assert (facts(places, "places", options)["max_radius"] or 0) < 3000  # they are a class
    places.execute("UPDATE places SET lon = 0 WHERE lon IS NULL AND name <> 'p3'")
    found = facts(places, "places", options)
    assert found["max_radius"] == pytest.approx(math.pi * 6371.0088)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("quasi_identifiers := ['lat', 'age']", "and there are: lat, age"),
        ("quasi_identifiers := ['lat']", "and there are: lat"),
        ("quasi_identifiers := ['lat', 'lon'], column_weights := {'lat': 2}",
         "weights have no meaning"),
        ("quasi_identifiers := ['lat', 'lon'], hierarchies := {'lat': 'bins'}",
         "hierarchies have no meaning"),
        ("quasi_identifiers := ['lat', 'lon'], metric := 'haversin'", "Did you mean 'haversine'"),
        ("quasi_identifiers := ['lat', 'lon'], suppress := 0.1", "Use epsilon"),
        ("quasi_identifiers := ['lat', 'lon'], distance := 'sse'", "measures by metric"),
        ("quasi_identifiers := ['lat', 'lon'], loss := 'range_flat'", "measures by metric"),
        ("quasi_identifiers := ['lat', 'lon'], centers := 'columns'", "centers value 'columns'"),
        ("quasi_identifiers := ['lat', 'lon'], epsilon := 2", "a share of the rows"),
        ("quasi_identifiers := ['lat', 'lon'], max_clusters := 0", "1 or more"),
        ("quasi_identifiers := ['lat', 'lon'], max_diameter := 3", "takes no max_diameter"),
        ("quasi_identifiers := ['lat', 'lon'], allow_small := true", "or use cellular"),
    ],
)
def test_refusals(places: Connection, options: str, sentence: str) -> None:
    metric = "" if "metric" in options else ", metric := 'haversine'"
    roles = f"{options}, others := 'release'"
    call = f"anonymize('places', k := 5, method := 'r_gather', {roles}{metric})"
    with pytest.raises(duckdb.Error) as caught:
        places.execute(f"FROM {call}")
    assert sentence in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_places_beyond_the_earth_are_refused(places: Connection) -> None:
    places.execute("UPDATE places SET lat = 95.5 WHERE age = 3")
    with pytest.raises(duckdb.Error, match="The latitude 'lat' has 21 rows beyond 90 degrees"):
        places.execute(
            "FROM anonymize('places', k := 5, method := 'r_gather', metric := 'haversine', "
            "quasi_identifiers := ['lat', 'lon'], others := 'release')"
        )
