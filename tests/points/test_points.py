"""Points from anything array-like."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_sql.points.points import LossPoints, MetricPoints, Points


@pytest.mark.parametrize("kind", [Points, LossPoints, MetricPoints])
def test_without_a_scale_categories_are_1_apart(kind: type[Points]) -> None:
    points = kind.of(np.zeros((3, 1)), [[0, 1], [1, 1], [0, 2]])
    assert points.scale.tolist() == [0.5, 0.5]
    assert points.scale.shape == (points.codes.shape[1],)
