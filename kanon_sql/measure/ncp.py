"""The normalized certainty penalty: Total-IL (points/losses.py) as a share of what could be lost.

Records are in canonical order, labels int64, shape (n,), 0 .. groups-1. 0 is where nothing was
lost; lower is better. Records that are not released are no part of the points: their number is
``suppressed``.
"""

from __future__ import annotations

import numpy as np

from kanon_sql.points.by_class import ByClass, rows_times
from kanon_sql.points.points import Labels, LossPoints


def attribute_weights(points: LossPoints) -> list[float]:
    """The most that a cell of each attribute loses: numeric columns first, then the attributes
    of codes, whose columns (the levels of a hierarchy) add up."""
    shares = points.scale * points.limit
    owners = np.unique(points.first)
    return [*points.cap.tolist(), *(float(np.sum(shares[points.first == a])) for a in owners)]


def attribute_ncp(
    points: LossPoints, labels: Labels | ByClass, suppressed: int = 0
) -> list[float]:
    """The normalized certainty penalty of each attribute: its share of Total-IL per row, over the
    attribute's weight, so 0 (all values kept) .. 1 (all lost).

    Attributes stand as in attribute_weights; one without weight has 0. A suppressed row counts 1.

    Source: Xu et al. 2006 (NCP); byun2006, definition 7, attribute by attribute.
    """
    view = ByClass.of(labels)
    rows = len(view.labels) + suppressed
    if view.groups == 0:
        return [float(rows > 0 and weight > 0.0) for weight in attribute_weights(points)]
    losses = [
        rows_times(view.sizes, np.minimum(high - low, cap))
        for (low, high), cap in zip(map(view.span, points.numeric.T), points.cap, strict=True)
    ]
    of_codes = dict.fromkeys(np.unique(points.first).tolist(), 0.0)
    for a, codes in enumerate(points.codes.T):
        owner, _ = view.distinct(codes)
        more = np.minimum(np.bincount(owner, minlength=view.groups) - 1, points.limit[a])
        of_codes[int(points.first[a])] += float(points.scale[a]) * rows_times(view.sizes, more)
    return [
        (lost / weight + suppressed) / rows if weight > 0.0 else 0.0
        for lost, weight in zip(
            [*losses, *of_codes.values()], attribute_weights(points), strict=True
        )
    ]
