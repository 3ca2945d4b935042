"""Which places are neighbours, where nobody says: those that share a border of Voronoi cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import Delaunay, QhullError

from kanon_sql.points.points import Floats, Labels


def flat_map(latitude: Any, longitude: Any) -> Floats:
    """Degrees on a plane, for links between neighbours: float64, shape (m, 2), NaN where unknown.

    Longitudes are turned so that the widest gap between them lies at the border of the map, where
    it parts no neighbours, and shrunk by the cosine of the mean latitude.

    Args:
        latitude, longitude: float64, shape (m,); NaN where unknown.
    """
    lat = np.asarray(latitude, dtype=np.float64)
    lon = np.mod(np.asarray(longitude, dtype=np.float64), 360.0)
    known = np.isfinite(lat) & np.isfinite(lon)
    plane: Floats = np.full((len(lat), 2), np.nan)
    if known.any():
        around = np.unique(lon[known])
        gaps = np.diff(around, append=around[0] + 360.0)
        # the map begins behind the widest gap, so that no two neighbours lie on its two sides
        start = around[(np.argmax(gaps) + 1) % len(around)]
        turned = np.where(lon < start, lon + 360.0, lon) - start
        shrink = np.cos(np.radians(lat[known].mean()))
        plane[known] = np.column_stack([turned * shrink, lat])[known]
    return plane


def _triangulated(places: Floats) -> Any:
    """Links between distinct places, given in lexicographic order."""
    if len(places) > 2:
        try:
            # a place at the origin and sides of about 1 leave the most digits for the triangles
            triangulation = Delaunay((places - places[0]) / np.ptp(places, axis=0).max())
        except QhullError:  # all on a line
            pass
        else:
            corners = triangulation.simplices
            sides = [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]
            return np.concatenate([*sides, triangulation.coplanar[:, [0, 2]]])
    wide = np.argmax(np.ptp(places, axis=0)) if len(places) else 0
    line = np.lexsort([places[:, 1 - wide], places[:, wide]])
    return np.column_stack([line[:-1], line[1:]])


def delaunay_links(place: Any) -> Labels:
    """Pairs of neighbouring items, lower first, ascending: int64, shape (e, 2).

    Two places are neighbours where their Voronoi cells touch (edges of the Delaunay triangulation);
    on a line, where no other lies between them. Of the items at one place the first has these
    links. The others there are linked to it, and each to the one before: with links to the first
    alone, any spanning tree would have as large a degree as there are items at a place.

    Args:
        place: float64, shape (m, 2); NaN for an item whose place is unknown, which has no links.
    """
    spots = np.asarray(place, dtype=np.float64).reshape(-1, 2) + 0.0
    known = np.flatnonzero(np.isfinite(spots).all(axis=1))
    if not len(known):
        return np.zeros((0, 2), np.int64)
    places, first, which = np.unique(
        spots[known], axis=0, return_index=True, return_inverse=True
    )
    leader = known[first]
    which = which.reshape(-1)
    to_first = np.column_stack([known, leader[which]])
    order = np.argsort(which, kind="stable")
    last, same = known[order], np.diff(which[order]) == 0
    to_last = np.column_stack([last[:-1], last[1:]])[same]
    links = np.sort(np.concatenate([leader[_triangulated(places)], to_first, to_last]), axis=1)
    links = links[links[:, 0] < links[:, 1]]
    return np.unique(links.astype(np.int64), axis=0)
