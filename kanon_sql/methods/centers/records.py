"""Records in a metric space as kernels take them.

A kernel unpacks them once, before its loops, and hands the arrays on: to unpack a tuple counts the
references to each of its arrays, which takes longer than a distance of two records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kanon_sql.points.distances import FORMS
from kanon_sql.points.points import MetricPoints


class MetricRecords(NamedTuple):
    """What the distance of two records follows from; see MetricPoints.

    Attributes:
        numeric: float64, shape (n, d).
        codes: int32, shape (n, c).
        scale: float64, shape (c,).
        form: of the keys, see FORMS.
    """

    numeric: Any
    codes: Any
    scale: Any
    form: int


def records_of(points: MetricPoints) -> MetricRecords:
    """The points as kernels take them."""
    return MetricRecords(points.numeric, points.codes, points.scale, FORMS[points.form])

