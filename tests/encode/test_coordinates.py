"""Latitudes and longitudes: found by their names, checked, and laid on a sphere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.coordinates import geographic, on_sphere, refuse_beyond_degrees
from kanon_sql.errors import DataError

DEGREES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@pytest.mark.parametrize(("names", "spots"), [
    (("lat", "lon"), (0, 1)),
    (("lng", "latitude"), (1, 0)),
    (("age", "homeLat", "homeLong"), (1, 2)),
    (("INTPTLONG", "zip", "INTPTLAT"), (2, 0)),
    (("plate", "lon"), None),
    (("lat", "color"), None),
    (("lat", "lat_2", "lon"), None),
    (("lat", "lon", "long"), None),
    (("lat_lon",), None),
    (("lat_lon", "age"), None),
    (("a", "b"), None),
    ((), None),
])
def test_names_tell_which_column_is_which(
    names: tuple[str, ...], spots: tuple[int, int] | None
) -> None:
    assert geographic(names) == spots


def test_the_last_degrees_are_places_and_missing_ones_pass() -> None:
    refuse_beyond_degrees(
        np.array([-90.0, 90.0, np.nan]), np.array([180.0, np.nan, -180.0]), ["lat", "lon"]
    )


def test_what_is_no_degree_is_refused_by_its_column_and_number() -> None:
    with pytest.raises(DataError, match=r"^The latitude 'y' has 2 rows beyond 90 degrees"):
        refuse_beyond_degrees(np.array([90.1, 0.0, -91.0]), np.array([0.0, 0.0, 200.0]), ["y", "x"])
    with pytest.raises(DataError, match=r"^The longitude 'x' has 1 rows beyond 180 degrees"):
        refuse_beyond_degrees(np.array([9.0, 0.0]), np.array([-180.5, 180.0]), ["y", "x"])


def haversine(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The angle between two places, by the formula of navigators."""
    (up, east), (top, right) = (map(math.radians, place) for place in (one, other))
    half = (math.sin((top - up) / 2) ** 2
            + math.cos(up) * math.cos(top) * math.sin((right - east) / 2) ** 2)
    return 2 * math.asin(min(1.0, math.sqrt(half)))


@given(one=DEGREES, other=DEGREES)
def test_chords_of_the_sphere_tell_the_way_between_places(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    places = on_sphere(*np.array([one, other]).T)
    assert places.shape == (2, 3)
    chord = float(np.linalg.norm(places[0] - places[1]))
    assert chord == pytest.approx(2 * math.sin(haversine(one, other) / 2), abs=1e-7)


def test_the_axes_of_the_sphere() -> None:
    found = on_sphere(np.array([0.0, 0.0, 90.0]), np.array([0.0, 90.0, 17.0]))
    assert found == pytest.approx(np.eye(3), abs=1e-12)


def test_a_missing_place_is_as_far_from_all_as_the_other_side_of_the_earth() -> None:
    """Also one of which only one number is known; two missing ones are at one place."""
    latitudes = np.array([10.0, -50.0, np.nan, 3.0, np.nan])
    found = on_sphere(latitudes, np.array([20.0, 100.0, 30.0, np.nan, np.nan]))
    apart = np.linalg.norm(found[:, None] - found[None], axis=2)
    assert apart[:2, 2:] == pytest.approx(np.full((2, 3), 2.0))
    assert apart[2:, 2:] == pytest.approx(np.zeros((3, 3)))
    known = on_sphere(latitudes[:2], np.array([20.0, 100.0]))
    assert apart[0, 1] == pytest.approx(float(np.linalg.norm(known[0] - known[1])))
