"""Distances of records, read slowly."""

from __future__ import annotations

from kanon_sql.points.points import Points


def gap(points: Points, i: int, j: int) -> float:
    """The squared distance, summed over the attributes in their order."""
    total = 0.0
    for a in range(points.numeric.shape[1]):
        total += float((points.numeric[j, a] - points.numeric[i, a]) ** 2)
    for a, scale in enumerate(points.scale.tolist()):
        total += 2.0 * scale * float(points.codes[i, a] != points.codes[j, a])
    return total
