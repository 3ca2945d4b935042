"""What a grouping loses: squared errors (thaeter2021, section 1), and information loss (byun2006,
definitions 7 and 8)."""

from __future__ import annotations

import numpy as np

from kanon_sql.points.by_class import ByClass
from kanon_sql.points.by_label import counted
from kanon_sql.points.points import Floats, Labels, LossPoints, Points


def sse(points: Points, labels: Labels) -> float:
    """Sum of squared distances of the records to the mean of their group.

    Sums run in canonical order, so the result has the same bits on every run. Labels: int64,
    shape (n,), 0 .. groups-1.
    """
    groups = int(labels.max()) + 1 if len(labels) else 0
    sizes = np.bincount(labels, minlength=groups).astype(np.float64)
    total = 0.0
    for column in points.numeric.T:
        means = np.bincount(labels, weights=column, minlength=groups) / sizes
        total += float(np.sum((column - means[labels]) ** 2))
    for codes, scale in zip(points.codes.T, points.scale, strict=True):
        width = int(codes.max()) + 1 if len(codes) else 1
        pairs, counts = counted(labels * width + codes)
        owner = pairs // width
        squares = np.bincount(owner, weights=counts.astype(np.float64) ** 2, minlength=groups)
        total += float(scale * np.sum(sizes - squares / sizes))
    return total


def sst(points: Points) -> float:
    """Total sum of squares: the sse of the one group of all records (Delta in definition 1.5)."""
    return sse(points, np.zeros(len(points), np.int64))


def information_loss(sse_value: float, sst_value: float) -> float:
    """Percent of the total sum of squares that grouping loses (definition 1.5); 0 where all
    records are equal."""
    return 100.0 * sse_value / sst_value if sst_value > 0.0 else 0.0


def class_losses(points: LossPoints, labels: Labels | ByClass) -> Floats:
    """D(e) of each class (byun2006, definition 7): float64, shape (groups,).

    Labels: int64, shape (n,), 0 .. groups-1. Summed over the columns in their order, as every
    kernel does.
    """
    view = ByClass.of(labels)
    total = np.zeros(view.groups)
    if view.groups == 0:
        return total
    for column, cap in zip(points.numeric.T, points.cap, strict=True):
        low, high = view.span(column)
        total += np.minimum(high - low, cap)
    for codes, scale, limit in zip(points.codes.T, points.scale, points.limit, strict=True):
        values = np.bincount(view.distinct(codes)[0], minlength=view.groups)
        total += scale * np.minimum(values - 1, limit)
    return total


def total_il(points: LossPoints, labels: Labels | ByClass) -> float:
    """Total-IL, the sum of |e| D(e) over the classes (byun2006, definition 8), in cells."""
    view = ByClass.of(labels)
    return float(np.sum(np.sort(view.sizes * class_losses(points, view))))


def generalized_cells(points: LossPoints, labels: Labels) -> float:
    """The generalization cost of classes: the sum of |e| D(e), in cells (aggarwal2005, section 2).

    It is Total-IL in the geometry of cells. A deleted record, of label -1, is charged all its cells
    (section 4.2, at the end). Labels: int64, shape (n,).
    """
    kept = np.flatnonzero(labels >= 0)
    whole = sum(points.scale.tolist())
    deleted = float((len(points) - len(kept)) * whole)
    return deleted + (total_il(points.part(kept), labels[kept]) if len(kept) else 0.0)
