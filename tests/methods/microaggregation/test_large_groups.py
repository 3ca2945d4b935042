"""Groups of many records: nearest ones that are kept as a heap, counts of categories that are kept
for each group, and pairs that are counted in a hash table give what the plain ways give."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kanon_sql.methods import Points
from kanon_sql.methods.microaggregation import centroids
from kanon_sql.methods.microaggregation.centroids import PAIRS, empty_groups
from kanon_sql.search.axes import make_space
from kanon_sql.search.queries import HEAPED
from tests.methods.microaggregation import reference_fast
from tests.methods.microaggregation.test_mdav_family import (
    labels_by,
    points_of,
    random_records,
)
from tests.support.kernels import from_python

K = HEAPED + 12
REFERENCES = {
    "mdav": lambda points, k: reference_fast.mdav(points, k),
    "mdav_plus": lambda points, k: reference_fast.mdav_plus(points, k),
    "v_mdav": lambda points, k: reference_fast.v_mdav(points, k, 0.2),
    "mdav_star": lambda points, k: reference_fast.mdav_star(points, k),
}

sse_of = from_python(centroids.sse_of)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["floats", "grid", "one"])
@pytest.mark.parametrize("name", REFERENCES)
def test_large_groups_are_those_of_the_reference(name: str, kind: str) -> None:
    for n, d, c, distinct in ((K * 2 + 1, 1, 0, 90), (431, 2, 2, 431), (431, 0, 3, 20)):
        points = points_of(random_records(n, d, c, kind, distinct, n + d))
        assert max(PAIRS, HEAPED) < K
        assert labels_by(name, points, K) == REFERENCES[name](points, K)


@pytest.mark.parametrize("name", ["mdav_plus", "v_mdav", "mdav_star"])
def test_members_are_counted_one_by_one_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Where all groups have more categories than there is room for."""
    points = points_of(random_records(431, 2, 3, "grid", 300, 7))
    assert empty_groups(make_space(points), 431 // K).tally.shape[1] > 0
    tallied = labels_by(name, points, K)
    monkeypatch.setattr(centroids, "TALLIES", 0)
    assert empty_groups(make_space(points), 431 // K).tally.shape[1] == 0
    assert labels_by(name, points, K) == tallied


@pytest.mark.parametrize("step", [1, 64, 8_191])
@pytest.mark.parametrize("values", [1, 5, 400])
def test_squared_errors_of_many_records(values: int, step: int) -> None:
    """Of few and of many categories, also where their codes lie far apart: then many of them are
    asked for at the same place of the table."""
    draw = np.random.default_rng(values)
    codes = (draw.integers(values, size=(900, 2)) * step).astype(np.int32)
    points = Points.of(draw.normal(size=(900, 1)), codes, [0.5, 1.25])
    space = make_space(points)
    for m in (1, PAIRS, PAIRS + 1, 500):
        members = draw.permutation(900)[:m]
        center = float(np.cumsum(points.numeric[members, 0])[-1]) / m
        expected = 0.0
        for value in points.numeric[members, 0].tolist():
            expected += (value - center) * (value - center)
        for a, scale in enumerate((0.5, 1.25)):
            same = sum(often * often for often in Counter(codes[members, a].tolist()).values())
            expected += scale * ((m * m - same) / m)
        assert sse_of(space, members, m) == expected
