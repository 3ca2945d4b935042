"""Chooses which classes publish the center that the method chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.metric_space import center_distances
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Labels


def choose_centers(
    rows: Rows, columns: Sequence[Column], task: GroupTask, trees: Mapping[str, Tree] | None = None
) -> Labels:
    """The classes that publish the center that the method chose, since their centroid has a larger
    radius; all other classes publish their centroid. int64, ascending.

    Published are so the radii that the guarantee is about, or smaller ones.
    """
    encoded = encode(rows, columns, task, trees or {})
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    labels = labels.reshape(-1)[encoded.order]
    radii = np.zeros((2, len(classes)))
    for radius, points in zip(radii, ("center", "own"), strict=True):
        distances = center_distances(
            encoded, task.own.in_metric, rows.fields["cells"], rows.fields[points]
        )
        np.maximum.at(radius, labels, distances)
    return np.asarray(classes[radii[0] > radii[1]], dtype=np.int64)
