"""Distances from rows to published centers (aggarwal2006, section 1).

All but the last step is the same for every metric: each quasi-identifier adds to the key of a row
and a center, and the distance follows from the key (see MetricPoints).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_sql.encode.attributes import Numeric
from kanon_sql.encode.cells import AnyCells, category_column, number_column
from kanon_sql.encode.coordinates import on_sphere
from kanon_sql.encode.encoded import Encoded
from kanon_sql.points.points import Floats, MetricPoints


def center_distances(
    encoded: Encoded, metric: str, source: AnyCells, centers: AnyCells,
    errors: Sequence[Floats] = (),
) -> Floats:
    """The distance of each record to a point: float64, shape (n,), in canonical order.

    Args:
        encoded: the relation.
        metric: one of DISTANCES_OF_CENTERS.
        source, centers: the cells of each row and of the point beside it, input order.
        errors: what ``squared_error`` gives of each attribute, where that is known.
    """
    width = len(encoded.attributes)
    if metric == "haversine":
        original, center = (
            on_sphere(*encoded.places_in([
                number_column(cells, j, width) for j in range(width)
            ]))
            for cells in (source, centers)
        )
        size = max(original.shape[1], center.shape[1])
        original, center = (np.pad(p, ((0, 0), (0, size - p.shape[1]))) for p in (original, center))
        keys = np.sum((original - center) ** 2, axis=1)
    else:
        keys = np.zeros(len(encoded.order))
        for j in range(width):
            keys += (
                (errors[j] if errors else squared_error(encoded, source, centers, j))
                if metric == "euclidean"
                else _cells_apart(encoded, source, centers, j, flat=metric == "hamming")
            )
    form = {"euclidean": "root", "haversine": "arc"}.get(metric, "plain")
    ruler = MetricPoints.of(np.zeros((0, 0)), form=form)  # type: ignore[arg-type]
    return ruler.distances(keys[encoded.order])


def squared_error(
    encoded: Encoded, source: AnyCells, centers: AnyCells, j: int
) -> Floats:
    """Squared distance of each row to the point beside it along attribute j; shape (n,)."""
    attribute, width = encoded.attributes[j], len(encoded.attributes)
    if isinstance(attribute, Numeric):
        original = attribute.coordinates(number_column(source, j, width))
        center = attribute.coordinates(number_column(centers, j, width))
        return np.asarray(np.sum((original - center) ** 2, axis=1), dtype=np.float64)
    differs = attribute.codes(category_column(source, j, width)) != attribute.codes(
        category_column(centers, j, width)
    )
    return np.asarray(np.sum(np.where(differs, 2.0 * attribute.squared, 0.0), axis=1))


def _cells_apart(
    encoded: Encoded, source: AnyCells, centers: AnyCells, j: int, flat: bool
) -> Floats:
    """The height of the lowest common ancestor of each row and the point beside it along
    attribute j, over that of the hierarchy (``flat``: 1 where they differ); shape (n,)."""
    attribute, width = encoded.attributes[j], len(encoded.attributes)
    if isinstance(attribute, Numeric):
        original, center = number_column(source, j, width), number_column(centers, j, width)
        differs = (original != center) & ~(np.isnan(original) & np.isnan(center))
        return np.where(differs, attribute.weight, 0.0)
    levels = attribute.codes(category_column(source, j, width)) != attribute.codes(
        category_column(centers, j, width)
    )
    levels = levels[:, : 1 if flat else None]
    share = attribute.weight / levels.shape[1]
    return np.asarray(np.sum(np.where(levels, share, 0.0), axis=1))
