"""Which columns are a latitude and a longitude, by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

LATITUDE = r"(?i:(?<![a-z])(intpt)?lat(itude)?(?![a-z]))|[a-z]Lat(itude)?(?![a-z])"
LONGITUDE = (
    r"(?i:(?<![a-z])(intpt)?(lon(g|gitude)?|lng)(?![a-z]))|[a-z](Lon(g|gitude)?|Lng)(?![a-z])"
)
"""Names such as lat, home_lat, pickupLatitude, INTPTLAT, but not plate."""


def geographic(names: Sequence[str]) -> tuple[int, int] | None:
    """Where the latitude and the longitude stand among these columns, by their names; None where
    there is not one of each."""
    found = [
        [j for j, name in enumerate(names) if re.search(pattern, name)]
        for pattern in (LATITUDE, LONGITUDE)
    ]
    if any(len(spots) != 1 for spots in found) or found[0] == found[1]:
        return None
    return found[0][0], found[1][0]
