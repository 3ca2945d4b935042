"""The metrics in which methods with a guarantee work: distances between rows, and from rows to
published centers (aggarwal2006, section 1).

All but the last step is the same for every metric: each quasi-identifier adds to the key of two
rows, and the distance follows from the key (see MetricPoints).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.area_graph import check_degrees
from kanon_sql.encode.attributes import Nominal, Ordered
from kanon_sql.encode.coordinates import geographic
from kanon_sql.encode.encoded import Encoded, category_column, number_column
from kanon_sql.errors import DataError
from kanon_sql.points.points import Codes, Floats, LossPoints, MetricPoints

FIFTH = 5
"""Which nearest row tells the default facility_cost."""

BESIDE = np.sqrt(3.0)
"""Where a missing place lies, on an axis of its own: 2 from all of the unit sphere, as are two
places half way around the earth."""

def cell_points(encoded: Encoded, flat: bool = False) -> LossPoints:
    """Points for generalized cells: each attribute is one column of codes for each level of its
    hierarchy, or one (also where ``flat``); every value of a number or date is a category.

    Source: aggarwal2005, section 2: a generalization to level h of l costs h / l.
    """
    codes: list[Codes] = []
    scale: list[float] = []
    first: list[int] = []
    for attribute, column in zip(encoded.attributes, encoded.columns, strict=True):
        levels = _codes(attribute, column)[:, : 1 if flat else None]
        height = levels.shape[1]
        first += [len(scale)] * height
        scale += [attribute.weight / height] * height
        codes.append(levels)
    return LossPoints.of(
        np.zeros((len(encoded.order), 0)), np.column_stack(codes), scale, first=first
    )


def metric_points(encoded: Encoded, metric: str, facility: Any = None) -> MetricPoints:
    """Points in a metric.

    Args:
        encoded: the relation, encoded with distance 'sse'.
        metric: one of METRICS in options.py.
        facility: float64, shape (n,), in canonical order; None where it costs nothing to open a
            cluster, or what ``facility_costs`` says.

    Raises:
        DataError: metric 'haversine' over anything but a latitude and a longitude.
    """
    if metric == "euclidean":
        plain = encoded.squared()
        return MetricPoints.of(plain.numeric, plain.codes, plain.scale, "root", facility)
    if metric == "haversine":
        places = _on_sphere(*_place_columns(encoded, encoded.columns))
        return MetricPoints.of(places, form="arc", facility=facility)
    cells = cell_points(encoded, flat=metric == "hamming")
    return MetricPoints.of(cells.numeric, cells.codes, cells.scale / 2.0, "plain", facility)


def facility_costs(points: MetricPoints, given: Any) -> MetricPoints:
    """The points with what it costs to open a cluster at each of them.

    Args:
        points: n records.
        given: float64, shape (n,), in canonical order; a number; or None for the mean distance to
            the fifth nearest row.

    Raises:
        DataError: costs that are missing, negative or infinite.
    """
    from kanon_sql.methods.centers.lower_bounds import (
        half_distances,  # here, since it loads the compiler
    )

    n = len(points)
    if given is None:
        given = 2.0 * float(np.mean(half_distances(points, min(FIFTH + 1, n))))
    costs = np.broadcast_to(np.asarray(given, dtype=np.float64), (n,))
    wrong = int(np.sum(~(np.isfinite(costs) & (costs >= 0.0))))
    if wrong:
        raise DataError(
            f"The column of facility_cost has {wrong} rows that are NULL, negative or infinite. "
            "Fill them with numbers of 0 or more."
        )
    return replace(points, facility=np.ascontiguousarray(costs))


def center_distances(
    encoded: Encoded, metric: str, source: pa.StructArray, centers: pa.StructArray
) -> Floats:
    """The distance of each record to a point: float64, shape (n,), in canonical order.

    Args:
        encoded: the relation.
        metric: one of METRICS in options.py.
        source, centers: the cells of each row and of the point beside it, input order.
    """
    width = len(encoded.attributes)
    if metric == "haversine":
        here, there = (
            _on_sphere(*_place_columns(encoded, [
                number_column(cells, j, width) for j in range(width)
            ]))
            for cells in (source, centers)
        )
        size = max(here.shape[1], there.shape[1])
        here, there = (np.pad(p, ((0, 0), (0, size - p.shape[1]))) for p in (here, there))
        keys = np.sum((here - there) ** 2, axis=1)
    else:
        keys = np.zeros(len(encoded.order))
        for j in range(width):
            keys += (
                squared_error(encoded, source, centers, j) if metric == "euclidean"
                else _cells_apart(encoded, source, centers, j, flat=metric == "hamming")
            )
    form = {"euclidean": "root", "haversine": "arc"}.get(metric, "plain")
    ruler = MetricPoints.of(np.zeros((0, 0)), form=form)  # type: ignore[arg-type]
    return ruler.distances(keys[encoded.order])


def squared_error(
    encoded: Encoded, source: pa.StructArray, centers: pa.StructArray, j: int
) -> Floats:
    """Squared distance of each row to the point beside it along attribute j; shape (n,)."""
    attribute, width = encoded.attributes[j], len(encoded.attributes)
    if isinstance(attribute, Ordered):
        here = attribute.coordinates(number_column(source, j, width))
        there = attribute.coordinates(number_column(centers, j, width))
        return np.asarray(np.sum((here - there) ** 2, axis=1), dtype=np.float64)
    differs = attribute.codes(category_column(source, j, width)) != attribute.codes(
        category_column(centers, j, width)
    )
    return np.asarray(np.sum(np.where(differs, 2.0 * attribute.squared, 0.0), axis=1))


def _cells_apart(
    encoded: Encoded, source: pa.StructArray, centers: pa.StructArray, j: int, flat: bool
) -> Floats:
    """The height of the lowest common ancestor of each row and the point beside it along
    attribute j, over that of the hierarchy (``flat``: 1 where they differ); shape (n,)."""
    attribute, width = encoded.attributes[j], len(encoded.attributes)
    if isinstance(attribute, Ordered):
        here, there = number_column(source, j, width), number_column(centers, j, width)
        differs = (here != there) & ~(np.isnan(here) & np.isnan(there))
        return np.where(differs, attribute.weight, 0.0)
    levels = attribute.codes(category_column(source, j, width)) != attribute.codes(
        category_column(centers, j, width)
    )
    levels = levels[:, : 1 if flat else None]
    share = attribute.weight / levels.shape[1]
    return np.asarray(np.sum(np.where(levels, share, 0.0), axis=1))


def _codes(attribute: Ordered | Nominal, column: Any) -> Codes:
    """The codes of a column at each level: int32, shape (n, height)."""
    if isinstance(attribute, Nominal):
        return np.asarray(column, dtype=np.int32)
    return np.unique(column, return_inverse=True)[1].reshape(-1, 1).astype(np.int32)


def _place_columns(encoded: Encoded, columns: Any) -> tuple[Floats, Floats]:
    """The latitudes and longitudes in degrees, of two columns that are known by their names.

    Raises:
        DataError: other columns, or values that are no places.
    """
    names = [attribute.name for attribute in encoded.attributes]
    spots = geographic(names)
    numbers = all(isinstance(attribute, Ordered) for attribute in encoded.attributes)
    if len(names) != 2 or spots is None or not numbers:
        raise DataError(
            "The metric 'haversine' needs two quasi-identifiers, the latitude and the longitude in "
            f"degrees, with names such as lat and lon, and there are: {', '.join(names)}. Choose "
            "them in quasi_identifiers, or take another metric."
        )
    places = [np.asarray(columns[spot], dtype=np.float64) for spot in spots]
    check_degrees(places[0], places[1], [names[spot] for spot in spots])
    return places[0], places[1]


def _on_sphere(latitudes: Floats, longitudes: Floats) -> Floats:
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
