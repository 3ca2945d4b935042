"""Points from anything array-like."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_sql.points.points import LossPoints, MetricPoints, Points, rows_at


@pytest.mark.parametrize("kind", [Points, LossPoints, MetricPoints])
def test_without_a_scale_categories_are_1_apart(kind: type[Points]) -> None:
    points = kind.of(np.zeros((3, 1)), [[0, 1], [1, 1], [0, 2]])
    assert points.scale.tolist() == [0.5, 0.5]
    assert points.scale.shape == (points.codes.shape[1],)


def test_rows_stand_where_their_places_say() -> None:
    table = np.arange(12).reshape(6, 2)
    for places in (np.array([3, 0, 3, -1]), np.zeros(0, np.int64), np.arange(6) % 2 == 0, slice(4)):
        assert rows_at(table, places).tolist() == table[places].tolist()
