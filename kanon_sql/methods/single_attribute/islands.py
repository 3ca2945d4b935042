"""Islands: components of the graph that hold too few records to be a region."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from kanon_sql.errors import DataError
from kanon_sql.points.points import Floats, Labels

NEAR = 1.0 + 1e-9
"""By what factor of the least distance others may be as near, for all that rounding hides."""


def refuse_islands(size: Any, light: Any, k: int, islands: str) -> None:
    """Refuses a graph without any region, and islands unless there is a way to deal with them.

    Args:
        size: int64, shape (m,).
        light: bool, shape (m,); whether the item's component has fewer than k records.
        k: the least size of a region.
        islands: 'error', 'suppress' or 'nearest'.

    Raises:
        DataError: no component has k records, or some have fewer and islands is 'error'.
    """
    alone = light & (size > 0)
    if light.all():
        raise DataError(
            f"No connected part of the graph has k = {k} rows, so that there is no region at all. "
            "Add links, or choose a smaller k."
        )
    if islands == "error" and alone.any():
        codes, rows = int(alone.sum()), int(size[alone].sum())
        raise DataError(
            f"Parts of the graph with fewer than k = {k} rows hold {codes} code{'s'[: codes > 1]} "
            f"with {rows} row{'s'[: rows > 1]}. Add links, or choose islands='suppress' to "
            "leave these rows out, or islands='nearest', which needs places, to join each part "
            "to the nearest region."
        )


def _nearest(spots: Floats, places: Floats) -> tuple[Floats, Labels]:
    """The squared distance to, and index of, the nearest place of each spot, the first of several.

    Args:
        spots: float64, shape (s, d).
        places: float64, shape (p, d).
    """
    tree = cKDTree(places)
    # the tree's own distances are rounded: all that may be as near are measured anew below
    reach = tree.query(spots)[0] * NEAR
    candidates = tree.query_ball_point(spots, reach)
    counts = [len(some) for some in candidates]
    spot = np.repeat(np.arange(len(spots)), counts)
    index = np.concatenate([np.asarray(some, dtype=np.int64) for some in candidates])
    gap = ((spots[spot] - places[index]) ** 2).sum(axis=1)
    order = np.lexsort([index, gap, spot])
    first = order[np.append(0, np.cumsum(counts)[:-1])]
    return gap[first], index[first]


def join_islands(labels: Any, part: Any, alone: Any, place: Any) -> Labels:
    """The regions with each island in the one that holds the place nearest to any of its places.

    Args:
        labels: the region of each item, -1 for items of islands, int64, shape (m,).
        part: the component of each item, int64, shape (m,).
        alone: bool, shape (m,); the items of islands.
        place: float64, shape (m, d), NaN where unknown.

    Returns:
        int64, shape (m,). Of several nearest places, exactly as far, the lowest item counts.

    Raises:
        DataError: an island has no known place, or no region has.
    """
    if place.shape[1] == 0:
        raise DataError(
            "islands 'nearest' needs to know where codes lie. Add places=..., or choose "
            "islands='suppress'."
        )
    known = np.isfinite(place).all(axis=1)
    targets, spots = np.flatnonzero(known & (labels >= 0)), np.flatnonzero(known & alone)
    lost = np.setdiff1d(part[alone], part[spots])
    if len(lost) or not len(targets):
        whose = f"of {len(lost)} island{'s'[: len(lost) > 1]}" if len(lost) else "in any region"
        raise DataError(
            f"islands 'nearest' needs to know where codes lie, and no place of a code {whose} is "
            "known. Add places for them, or choose islands='suppress'."
        )
    # of items at one place, only the first: the others are never chosen
    first = np.unique(place[targets] + 0.0, axis=0, return_index=True)[1]
    targets = targets[np.sort(first)]
    gap, index = _nearest(place[spots], place[targets])
    order = np.lexsort([index, gap, part[spots]])
    island, first = np.unique(part[spots][order], return_index=True)
    region = labels[targets[index[order[first]]]]
    regions: Labels = np.array(labels, np.int64)
    regions[alone] = region[np.searchsorted(island, part[alone])]
    return regions
