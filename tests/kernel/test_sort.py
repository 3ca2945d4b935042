"""Sorting inside kernels against numpy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from kanon_sql.kernel import sort
from tests.support.kernels import from_python

sort_stably = from_python(sort.sort_stably)


@pytest.mark.parametrize("m", [*range(10), 63, 64, 65, 1000])
@pytest.mark.parametrize("values", [1, 3, 10**6])
def test_it_is_the_stable_order(m: int, values: int) -> None:
    keys = np.random.default_rng(m * values).integers(0, values, m) / 7.0
    order = np.full(m, -7)
    sort_stably(keys, order, np.full(m, -7))
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
