"""Parts that are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kanon_sql.kernel.union_find import find_root


@njit
def _find(above: Any, v: int) -> int:
    return int(find_root(above, v))


@settings(max_examples=50, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=15))
def test_two_vertices_have_one_root_where_links_join_them(pairs: list[tuple[int, int]]) -> None:
    above, parts = np.arange(10), [{v} for v in range(10)]
    for a, b in pairs:
        above[_find(above, b)] = _find(above, a)
        joined = parts[a] | parts[b]
        for v in joined:
            parts[v] = joined
    for a in range(10):
        assert {b for b in range(10) if _find(above, b) == _find(above, a)} == parts[a]


def test_the_root_is_the_one_that_the_caller_chose() -> None:
    above = np.array([0, 0, 1, 2, 4])
    assert [_find(above, v) for v in range(5)] == [0, 0, 0, 0, 4]
