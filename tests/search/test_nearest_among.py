"""The nearest of each of some parts of the records, against a sort of all distances."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.points.points import Points
from kanon_sql.search.nearest_lists import nearest_among
from tests.support.thoroughness import examples


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    n=st.integers(2, 60), count=st.integers(1, 6), slices=st.integers(1, 4),
    steps=st.sampled_from((2, 5, 10**6)), seed=st.integers(0, 10**6),
)
def test_the_nearest_of_each_part(n: int, count: int, slices: int, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # whole numbers, of which many are equally far, or hardly any
    numbers, codes = rng.integers(0, steps, (n, 2)).astype(float), rng.integers(0, 3, (n, 1))
    points = Points.of(numbers, codes, [0.5])
    part_of = rng.integers(0, slices, n)
    parts = [np.flatnonzero(part_of == s) for s in range(slices)]
    parts = [part for part in parts if len(part) > 0]
    found = nearest_among(points, parts, count)
    widths = [min(count, len(part) - 1) for part in parts]
    assert found.shape == (n, sum(widths))
    keys = ((points.numeric[:, None] - points.numeric[None]) ** 2).sum(axis=2)
    keys += (points.codes[:, None, 0] != points.codes[None, :, 0]) * 2.0 * points.scale[0]
    for i in range(n):
        expected = []
        for part, width in zip(parts, widths, strict=True):
            others = part[part != i]
            expected += others[np.argsort(keys[i, others], kind="stable")][:width].tolist()
        assert found[i].tolist() == expected
