"""Groups numbered by their first record."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.points.numbering import number_by_first


@given(st.lists(st.integers(-1, 9), max_size=30))
def test_groups_stay_and_are_numbered_as_they_begin(labels: list[int]) -> None:
    met: list[int] = []
    for label in labels:
        if label >= 0 and label not in met:
            met.append(label)
    expected = [met.index(label) if label >= 0 else -1 for label in labels]
    for dtype in (np.int32, np.int64):
        found = number_by_first(np.array(labels, dtype))
        assert found.tolist() == expected
        assert found.dtype == np.int64
        assert found.flags.c_contiguous


def test_labels_may_be_larger_than_there_are_records() -> None:
    assert number_by_first([40, 7, 40]).tolist() == [0, 1, 0]
