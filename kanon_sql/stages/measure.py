"""Measures a grouping: labelled rows in, losses and radii out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.encoding import encode
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.measure.facts import measure
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Floats, Labels


def measure_rows(
    rows: Rows, columns: Sequence[Column], task: GroupTask, trees: Mapping[str, Tree] | None = None
) -> tuple[dict[str, Any], Labels, Floats]:
    """The losses of labelled rows, the classes, and the radius of each; class -1 is suppressed."""
    encoded = encode(rows, columns, replace(task, distance="sse"), trees or {})
    classes, labels = np.unique(rows.numbers("class"), return_inverse=True)
    labels = labels.reshape(-1) - int(np.sum(classes < 0))
    facts, radii = measure(
        encoded, labels[encoded.order], rows.fields["cells"], rows.fields["center"], task
    )
    return facts, classes[classes >= 0], radii
