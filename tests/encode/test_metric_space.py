"""Distances to centers, against the definitions of the metrics written out cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.metric_space import center_distances, squared_error
from kanon_sql.errors import DataError
from kanon_sql.methods import task_for
from kanon_sql.points.points import EARTH
from tests.encode.cities import COLUMNS, SOURCE, WEIGHTS, Row, Tree, by_rows, cells_of, height

CENTERS: list[Row] = [
    (30.0, "Milan", "nurse"), (45.0, "Milan", "nurse"), (None, "Cusco", "cook"),
    (40.0, "Lima", None), (None, "Cusco", None), (30.0, None, "cook"), (31.0, "Rome", None),
]


def encoded(rows: Sequence[Row] = SOURCE) -> Any:
    task = task_for("r_gather", 2, weights=WEIGHTS, distance=None)
    return encode(Rows({"cells": cells_of(rows)}, len(rows)), COLUMNS, task, {"city": Tree()})


def apart(metric: str, one: Row, other: Row) -> float:
    """What two rows are apart in a metric of categories."""
    up = height(one[1], other[1])
    city = (up / 3 if metric != "hamming" else float(up > 0)) * WEIGHTS["city"]
    return 3.0 * (one[0] != other[0]) + city + (one[2] != other[2])


@pytest.mark.parametrize("shape", [cells_of, by_rows])
@pytest.mark.parametrize("metric", ["hamming", "taxonomy"])
def test_cells_that_differ_are_counted(metric: str, shape: Any) -> None:
    """By the height of what they have in common, or each as one; a NULL is the same as another."""
    points = encoded()
    found = center_distances(points, metric, shape(SOURCE), shape(CENTERS))
    expected = [apart(metric, SOURCE[i], CENTERS[i]) for i in points.order]
    assert found == pytest.approx(np.array(expected))


@pytest.mark.parametrize("metric", ["hamming", "taxonomy"])
def test_points_are_as_far_apart_as_their_cells(metric: str) -> None:
    points = encoded()
    codes, scale = points.in_metric(metric).codes, points.in_metric(metric).scale
    for i, one in enumerate(points.order):
        for j, other in enumerate(points.order):
            key = float(np.sum(2 * scale * (codes[i] != codes[j])))
            assert key == pytest.approx(apart(metric, SOURCE[one], SOURCE[other]))


@pytest.mark.parametrize("shape", [cells_of, by_rows])
def test_euclidean_distances_are_those_of_the_points(shape: Any) -> None:
    """Of each row to the next one: as far as both are as records."""
    points = encoded()
    place = np.empty(len(SOURCE), np.int64)
    place[points.order] = np.arange(len(SOURCE))
    plain = points.squared()
    turned = SOURCE[1:] + SOURCE[:1]
    expected = []
    for i in points.order:
        one, other = place[i], place[(i + 1) % len(SOURCE)]
        step = plain.numeric[one] - plain.numeric[other]
        differs = plain.codes[one] != plain.codes[other]
        expected.append(math.sqrt(np.sum(step**2) + np.sum(2 * plain.scale * differs)))
    found = center_distances(points, "euclidean", shape(SOURCE), shape(turned))
    assert found == pytest.approx(np.array(expected))
    errors = [squared_error(points, shape(SOURCE), shape(turned), j) for j in range(3)]
    known = center_distances(points, "euclidean", shape(SOURCE), shape(turned), errors)
    assert known.tolist() == found.tolist()
    doubled = center_distances(
        points, "euclidean", shape(SOURCE), shape(turned), [4 * error for error in errors]
    )
    assert doubled == pytest.approx(2 * found)


def places(rows: Sequence[tuple[float, float]]) -> CellColumns:
    return CellColumns(dict(enumerate(np.array(rows, np.float64).T)), {})


def test_along_the_earth_places_are_kilometres_apart() -> None:
    nan = math.nan
    rows = [(0.0, 0.0), (0.0, 10.0), (180.0, 0.0), (7.0, nan), (nan, nan), (5.0, 5.0)]
    others = [(90.0, 0.0), (0.0, 11.0), (0.0, 0.0), (7.0, 20.0), (nan, 3.0), (5.0, 5.0)]
    angles = np.radians([90.0, 1.0, 180.0, 180.0, 0.0, 0.0])
    columns = [Column("lon", "DOUBLE"), Column("lat", "DOUBLE")]
    points = encode(Rows({"cells": places(rows)}, 6), columns, task_for("r_gather", 2), {})
    found = center_distances(points, "haversine", places(rows), places(others))
    assert found == pytest.approx(angles[points.order] * EARTH, abs=1e-3)
    some = encode(Rows({"cells": places(rows[:2])}, 2), columns, task_for("r_gather", 2), {})
    for source, center in ((rows, others), (others, rows)):  # only one of both lacks a place
        found = center_distances(some, "haversine", places(source[:2]), places(
            [center[0], (nan, 1.0)]))
        assert found == pytest.approx(np.pi * EARTH * np.array([0.5, 1.0])[some.order])
    unit = points.in_metric("haversine")
    assert unit.form == "arc" and unit.numeric.shape == (6, 4)


@pytest.mark.parametrize("columns", [
    [Column("lat", "DOUBLE"), Column("x", "DOUBLE")],
    [Column("lat", "DOUBLE"), Column("lon", "VARCHAR")],
    [Column("lat", "DOUBLE")],
    [Column("lat", "DOUBLE"), Column("lon", "DOUBLE"), Column("x", "DOUBLE")],
])
def test_other_columns_are_no_places(columns: list[Column]) -> None:
    numbers = {j: np.array([1.0, 2.0]) for j, c in enumerate(columns) if c.sql_type == "DOUBLE"}
    words = {j: pa.array(["a", "b"]) for j, c in enumerate(columns) if c.sql_type == "VARCHAR"}
    rows = Rows({"cells": CellColumns(numbers, words)}, 2)
    points = encode(rows, columns, task_for("r_gather", 2), {})
    names = ", ".join(column.name for column in columns)
    with pytest.raises(DataError, match=f"'haversine' needs two .*, and there are: {names}\\."):
        points.in_metric("haversine")


def test_what_is_beyond_the_earth_is_refused() -> None:
    columns = [Column("lon", "DOUBLE"), Column("lat", "DOUBLE")]
    for place, said in (((100.0, 91.0), "latitude 'lat'"), ((181.0, 10.0), "longitude 'lon'")):
        rows = Rows({"cells": places([place, (0.0, 0.0)])}, 2)
        points = encode(rows, columns, task_for("r_gather", 2), {})
        with pytest.raises(DataError, match=f"The {said} has 1 rows beyond"):
            points.in_metric("haversine")
