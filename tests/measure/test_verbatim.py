"""Values that classes release although their rows differ, counted from cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.measure.verbatim import original_values
from tests.support.thoroughness import often

Cell = float | str | None


def cells(rows: Sequence[Sequence[Cell]]) -> pa.StructArray:
    """Rows of cells as the query hands them over, row by row."""
    flat = [cell for row in rows for cell in row]
    numbers = pa.array([c if isinstance(c, (int, float)) else None for c in flat], pa.float64())
    words = pa.array([c if isinstance(c, str) else None for c in flat], pa.string())
    return pa.StructArray.from_arrays([numbers, words], ["number", "category"])


def counted(
    rows: Sequence[Sequence[Cell]], centers: Sequence[Sequence[Cell]], labels: Sequence[int]
) -> list[int]:
    released = [
        centers[label] if label >= 0 else row for row, label in zip(rows, labels, strict=True)
    ]
    return original_values(cells(rows), cells(released), len(rows[0]), np.array(labels))


def test_one_class_differs_in_one_column() -> None:
    rows = [[1, "a"], [2, "a"], [3, "a"], [7, "b"], [7, "c"], [7, "d"]]
    assert counted(rows, [[2, "a"], [7, "c"]], [0, 0, 0, 1, 1, 1]) == [1, 1]
    assert counted(rows, [[2.5, "a"], [7, "z"]], [0, 0, 0, 1, 1, 1]) == [0, 0]


def test_null_is_a_value() -> None:
    rows = [[None, None], [None, "a"], [4, None], [4, "a"]]
    assert counted(rows, [[None, "a"], [4, "a"]], [0, 0, 1, 1]) == [0, 2]
    assert counted(rows, [[4, None]], [0, 0, 0, 0]) == [1, 1]
    assert counted(rows, [[0, "z"]], [0, 0, 0, 0]) == [0, 0]


def test_suppressed_rows_are_no_part_of_a_class() -> None:
    rows = [[1], [1], [2]]
    assert counted(rows, [[1]], [0, 0, 0]) == [1]
    assert counted(rows, [[1]], [0, 0, -1]) == [0]


def test_groups_that_release_the_same_are_one_class() -> None:
    """Both release 2; together their rows differ, and that is one class of what is released."""
    rows = [[1], [2], [3], [2], [2], [2], [1], [2], [5]]
    assert counted(rows, [[2], [2], [2]], [0, 0, 0, 1, 1, 1, 2, 2, 2]) == [1]
    assert counted([[1, 5], [2, 5], [2, 6]] * 2, [[2, 5], [2, 6]], [0, 0, 0, 1, 1, 1]) == [2, 2]


VALUES = [None, 0.0, 1.0, 2.5, "a", "b"]


@often(60)
@given(data=st.data())
def test_columns_of_numbers_and_texts_against_every_class_counted(data: st.DataObject) -> None:
    n, width = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    row = st.lists(st.sampled_from(VALUES), min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    used = sorted({label for label in labels if label >= 0})
    assume(used)
    labels = [used.index(label) if label >= 0 else -1 for label in labels]
    centers = data.draw(st.lists(row, min_size=len(used), max_size=len(used)))
    members: dict[tuple[Cell, ...], list[Sequence[Cell]]] = {}
    for own, label in zip(rows, labels, strict=True):
        if label >= 0:
            members.setdefault(tuple(centers[label]), []).append(own)
    expected = [
        sum(0 < sum(own[j] == shown[j] for own in of_class) < len(of_class)
            for shown, of_class in members.items())
        for j in range(width)
    ]
    assert counted(rows, centers, labels) == expected
