"""Latitudes and longitudes: which columns they are, by their names, and where they lie."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.points.points import Floats

BESIDE = np.sqrt(3.0)
"""Where a missing place lies, on an axis of its own: 2 from all of the unit sphere, as are two
places half way around the earth."""

LATITUDE = r"(?i:(?<![a-z])(intpt)?lat(itude)?(?![a-z]))|[a-z]Lat(itude)?(?![a-z])"
LONGITUDE = (
    r"(?i:(?<![a-z])(intpt)?(lon(g|gitude)?|lng)(?![a-z]))|[a-z](Lon(g|gitude)?|Lng)(?![a-z])"
)
"""Names such as lat, home_lat, pickupLatitude, INTPTLAT, but not plate."""


def geographic(names: Sequence[str]) -> tuple[int, int] | None:
    """Where the latitude and the longitude stand among these columns, by their names; None where
    there is not one of each."""
    matches = [
        [j for j, name in enumerate(names) if re.search(pattern, name)]
        for pattern in (LATITUDE, LONGITUDE)
    ]
    if any(len(spots) != 1 for spots in matches) or matches[0] == matches[1]:
        return None
    return matches[0][0], matches[1][0]


def refuse_beyond_degrees(latitude: Floats, longitude: Floats, names: Sequence[str]) -> None:
    """Raises DataError, with their number, where values are no degrees; NaN is passed over."""
    for values, most, kind, name in zip(
        (latitude, longitude), (90.0, 180.0), ("latitude", "longitude"), names, strict=True
    ):
        wrong = int(np.sum(np.abs(values) > most))
        if wrong:
            raise DataError(
                f"The {kind} {name!r} has {wrong} rows beyond {most:g} degrees. Correct them, or "
                "set them to NULL."
            )


def on_sphere(latitudes: Floats, longitudes: Floats) -> Floats:
    """Places as points on the unit sphere; with a fourth coordinate where some are missing, as a
    place is of which only one number is known."""
    missing = np.isnan(latitudes) | np.isnan(longitudes)
    up, east = np.radians(np.where(missing, 0.0, latitudes)), np.radians(
        np.where(missing, 0.0, longitudes)
    )
    known = np.where(missing, 0.0, 1.0)
    sphere = [np.cos(up) * np.cos(east), np.cos(up) * np.sin(east), np.sin(up)]
    places = [known * axis for axis in sphere]
    if missing.any():
        places.append(np.where(missing, BESIDE, 0.0))
    return np.column_stack(places)
