"""What a release loses, measured in the embedding of its quasi-identifiers."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from kanon_sql.encode.attributes import Categorical, Numeric
from kanon_sql.encode.cells import AnyCells, Mask
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.metric_space import center_distances, squared_error
from kanon_sql.measure.diameter import intra_cluster_distance
from kanon_sql.measure.entropy import entropy_loss
from kanon_sql.measure.in_words import points_apart
from kanon_sql.measure.loss_bound import loss_bound
from kanon_sql.measure.metrics import MeasuredFact
from kanon_sql.measure.ncp import attribute_ncp
from kanon_sql.measure.verbatim import original_values
from kanon_sql.methods import GroupTask
from kanon_sql.methods.geometry import Classes
from kanon_sql.points.by_class import ByClass
from kanon_sql.points.by_label import renumbered
from kanon_sql.points.losses import information_loss, sse, sst, total_il
from kanon_sql.points.points import Floats, Labels, LossPoints, Points

SomePoints = TypeVar("SomePoints", Points, LossPoints)


def _mixes(missing: Mask, labels: Labels, groups: int) -> Mask:
    """Whether each record's class holds both NULL and values."""
    count = np.bincount(labels, weights=missing.astype(np.float64), minlength=groups)
    sizes = np.bincount(labels, minlength=groups)
    mixed = (count > 0) & (count < sizes)
    return np.asarray(mixed[labels], dtype=np.bool_)


def class_radii(
    encoded: Encoded, labels: Labels, source: AnyCells, centers: AnyCells, task: GroupTask,
) -> Floats:
    """The radius of each class: float64, shape (groups,). Arguments as in ``measure``."""
    apart = [squared_error(encoded, source, centers, j) for j in range(len(encoded.attributes))]
    return _radii(encoded, labels, source, centers, apart, task)


def _radii(
    encoded: Encoded, labels: Labels, source: AnyCells, centers: AnyCells, apart: list[Floats],
    task: GroupTask,
) -> Floats:
    """The same from the squared error of each attribute and row, input order."""
    distances = center_distances(encoded, task.own.in_metric, source, centers, apart)
    released, radii = np.flatnonzero(labels >= 0), np.zeros(int(labels.max()) + 1)
    np.maximum.at(radii, labels[released], distances[released])
    return radii


def measure(
    encoded: Encoded, labels: Labels, source: AnyCells, centers: AnyCells,
    task: GroupTask, bounded: bool = False, alike: Labels | None = None,
) -> tuple[dict[str, Any], Floats]:
    """The losses of a grouping and the radius of each class.

    Args:
        encoded: the relation.
        labels: int64, shape (n,), canonical order, 0 .. groups-1; -1 where a row is suppressed.
        source, centers: the cells of each row and of its class's released point, input order.
        task: how the rows were grouped; its geometry says what ``cost`` is, and its metric what
            radii are measured in.
        bounded: whether to tell what no grouping loses less than.
        alike: int64, shape (groups,), 0 ..; groups of the same number release the same values, and
            are one class to a reader: so sse and information_loss are of these. None: each is one.

    Returns:
        sse, sse_released, sst (squared standard deviations), information_loss and its bound
        (percent), max_radius, cellular_cost (in the metric), cost (None without one), what byun2006
        measures, and of each attribute its ncp and its verbatim values; and the radii, float64,
        shape (groups,).
    """
    rows, groups, released = len(labels), int(labels.max()) + 1, np.flatnonzero(labels >= 0)
    all_labels, labels = labels, labels[released]
    charged = 0.0
    apart = [squared_error(encoded, source, centers, j) for j in range(len(encoded.attributes))]
    for j, attribute in enumerate(encoded.attributes):
        errors = apart[j][encoded.order][released]
        mixed = _mixes(encoded.missing[released, j], labels, groups)
        charged += float(np.sum(np.where(mixed, attribute.weight, errors)))
    radii = _radii(encoded, all_labels, source, centers, apart, task)
    del apart
    points = _part(encoded.squared(), released)
    seen = labels if alike is None else alike[labels]
    lost, total = sse(points, seen), sst(points)
    bound = _bound(points, seen, lost, total, task.k if bounded and len(released) == rows else 0)
    del points
    classes = Classes(encoded, all_labels, np.bincount(labels, minlength=groups), radii)
    facts: dict[MeasuredFact, Any] = {
        "sse": lost,
        "sse_released": charged,
        "sst": total,
        "information_loss": information_loss(lost, total),
        "max_radius": float(radii.max()),
        "cellular_cost": classes.cellular,
        "cost": task.geometry.cost(classes, task),
        **_information(encoded, released, labels),
        **bound,
    }
    in_order = np.empty(len(all_labels), np.int64)
    in_order[encoded.order] = all_labels
    verbatim = original_values(source, centers, len(encoded.attributes), in_order)
    for j, (entry, count) in enumerate(zip(facts["attributes"], verbatim, strict=True)):
        entry["verbatim"] = count
        entry["apart"] = points_apart(encoded, source, centers, released, j)
    return dict(facts.items()), radii  # as text: to mypy no dict of literals is one of str


def _part(points: SomePoints, released: Labels) -> SomePoints:
    """The records that are released."""
    return points if len(released) == len(points) else points.part(released)


def _bound(
    points: Points, labels: Labels, lost: float, total: float, k: int
) -> dict[MeasuredFact, Any]:
    """What no grouping of these records into classes of k loses less than, in percent; None where
    that isn't told, such as with k = 0, or where a class has fewer."""
    sound = k > 0 and int(np.bincount(labels).min()) >= k
    bound = loss_bound(points, k) if sound else None
    if bound is None:
        return {"loss_bound": None, "loss_bound_exact": None}
    # this grouping is one of them, so above its loss there is only rounding
    least = lost if lost < bound.sse <= lost * (1.0 + 1e-9) else bound.sse
    return {
        "loss_bound": information_loss(least, total), "loss_bound_exact": float(bound.exact),
    }


def _information(
    encoded: Encoded, released: Labels, labels: Labels
) -> dict[MeasuredFact, Any]:
    """What byun2006 and others measure, of the rows that were encoded: of those that are not
    released every cell is lost, but entropy and distances are those of the released rows."""
    rows, weights = len(encoded.order), sum(a.weight for a in encoded.attributes)
    out = rows - len(released)
    view = ByClass(labels)
    part = _part(encoded.losses("range_flat"), released)
    facts: dict[MeasuredFact, Any] = {
        "rows": rows,
        "weights": weights,
        "total_il": total_il(part, view) + out * weights,
        "intra_cluster_distance": intra_cluster_distance(part, view),
    }
    del part
    part = _part(encoded.losses("range_distinct"), released)
    facts["total_distinct"] = total_il(part, view) + out * weights
    del part
    plain = encoded.losses(weighted=False)
    # rows that are not released stand alone, where they lose nothing, but count as values
    whole = view
    if out:
        alone = np.arange(rows) + len(labels)
        alone[released] = labels
        whole = ByClass(renumbered(alone)[1])
    nominal = [a for a in encoded.attributes if isinstance(a, Categorical)]
    starts = np.cumsum([0, *(a.nodes.shape[1] for a in nominal)]).tolist()
    trees = [start for start, a in zip(starts, nominal, strict=False) if a.in_tree]
    facts["entropy_loss"] = entropy_loss(plain, whole, trees=trees) * rows / len(released)
    names = [a.name for a in encoded.attributes if isinstance(a, Numeric)]
    names += [a.name for a in nominal]
    ncps = dict(zip(names, attribute_ncp(_part(plain, released), view, out), strict=True))
    facts["attributes"] = [{"name": a.name, "ncp": ncps[a.name]} for a in encoded.attributes]
    return facts
