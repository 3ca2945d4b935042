"""Rows that come in pieces, from any thread: what is kept of them, and when they are too many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode import row_buffer
from kanon_sql.encode.row_buffer import CELL, RowBuffer
from kanon_sql.errors import DataError

CELLS = pa.list_(pa.struct([("number", pa.float64()), ("category", pa.string())]))
NUMBERS = st.sampled_from((None, 0.0, -0.0, 2.5, -1e300))
WORDS = st.sampled_from((None, "", "a", "b"))
HASH = st.none() | st.integers(0, 2**64 - 1)
ROW = st.tuples(NUMBERS, WORDS, HASH, HASH, NUMBERS, WORDS)
"""A number, a text, both hashes, and a secret number and its text."""


def cells(rows: Sequence[Sequence[Any]]) -> pa.Array:
    return pa.array([[{"number": n, "category": c} for n, c in row] for row in rows], CELLS)


def hand_over(room: RowBuffer, first: int, rows: Sequence[Any]) -> None:
    """A piece of rows, the first of which has this number."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    a, b, apart, sealed, pay, ill = columns
    room.take(
        pa.array(range(first, first + len(rows)), pa.int64()),
        [pa.array(apart, pa.uint64()), pa.array(sealed, pa.uint64())],
        cells([((n, None), (None, c)) for n, c in zip(a, b, strict=True)]),
        {"secrets": cells([((n, w), (None, w)) for n, w in zip(pay, ill, strict=True)]),
         "label": pa.array(b, pa.string()), "extra": pa.array(a, pa.float64())},
    )


def plain(values: Any) -> list[Any]:
    """Numbers as a list, None where missing."""
    return [None if math.isnan(v) else v for v in values.tolist()]


def zeros(values: Sequence[float | None]) -> list[float | None]:
    """The numbers, 0.0 for -0.0."""
    return [None if v is None else v + 0.0 for v in values]


@given(pieces=st.lists(st.lists(ROW, max_size=5), max_size=5), data=st.data())
def test_rows_come_out_in_the_order_of_their_numbers(
    pieces: list[list[Any]], data: st.DataObject
) -> None:
    room = RowBuffer(2, [0], [1], ["label", "extra"], [True, False])
    starts = np.cumsum([5, *map(len, pieces)])
    for spot in data.draw(st.permutations(range(len(pieces)))):
        hand_over(room, int(starts[spot]), pieces[spot])
    found = room.rows()
    rows = [row for piece in pieces for row in piece]
    a, b, apart, sealed, pay, ill = zip(*rows, strict=True) if rows else [()] * 6
    assert found.count == len(rows)
    assert found.numbers("row").tolist() == list(range(5, 5 + len(rows)))
    kept, secrets = found.fields["cells"], found.fields["secrets"]
    assert list(kept.numbers) == [0] and list(kept.words) == [1]
    assert repr(plain(kept.numbers[0])) == repr(zeros(a))
    assert kept.words[1].to_pylist() == list(b)
    assert repr(plain(secrets.numbers[0])) == repr(zeros(pay)) and list(secrets.numbers) == [0]
    assert [secrets.words[j].to_pylist() for j in (0, 1)] == [list(ill)] * 2
    assert found.fields["label"].to_pylist() == list(b)
    assert found.fields["extra"].to_pylist() == list(a)
    for name, hashes in (("apart", apart), ("hash", sealed)):
        if any(value is not None for value in hashes):
            assert found.numbers(name).tolist() == [value or 0 for value in hashes]
        else:
            assert name not in found
    assert room.rows().count == 0  # nothing is left


def test_what_nobody_asked_for_is_not_kept() -> None:
    room = RowBuffer(2, [], [1], [])
    hand_over(room, 0, [(1.0, "a", 1, 2, 3.0, "x")] * 2)
    found = room.rows()
    assert sorted(found.fields) == ["apart", "cells", "hash", "row"]
    assert list(found.fields["cells"].numbers) == []
    numbers = RowBuffer(2, [0], [], ())
    hand_over(numbers, 0, [(1.0, "a", None, None, 3.0, "x")] * 2)
    assert sorted(numbers.rows().fields) == ["cells", "row"]
    assert list(RowBuffer(1, [0], [], ()).rows().fields["cells"].words) == []


def refused(
    expected: int, limit: int | None, free: int | None, memory: float = 1.0, width: int = 2
) -> str:
    """What is said before any row comes; empty where nothing is."""
    room = RowBuffer(width, [0], [], [], (), lambda: free, expected, limit, memory)
    if not room.refuses:
        assert room.rows().count == 0
        return ""
    with pytest.raises(DataError) as caught:
        room.rows()
    return str(caught.value)


NEED = 1000 * 2 * CELL
"""Bytes for 1,000 rows of two columns, about."""


@pytest.mark.parametrize(("limit", "free", "end"), [
    (None, None, ""), (None, NEED, ""), (NEED, None, ""), (NEED, NEED, ""),
    (None, NEED - 1, "free memory."), (NEED - 1, None, "raise memory_limit."),
    (NEED - 1, NEED, "raise memory_limit."), (NEED, NEED - 1, "free memory."),
    (NEED - 2, NEED - 1, "raise memory_limit."), (NEED - 1, NEED - 2, "free memory."),
    (NEED - 1, NEED - 1, "raise memory_limit."), (0, None, "raise memory_limit."),
    (None, 0, "free memory."),
])
def test_rows_that_will_not_fit_are_refused_by_what_is_scarcer(
    limit: int | None, free: int | None, end: str
) -> None:
    said = refused(1000, limit, free)
    assert said.endswith(end) and bool(said) == bool(end)
    if said:
        assert said.startswith("1,000 rows need about 0.1 MB of additional memory, and ")
        assert "anonymize_files" in said


def test_the_need_grows_with_rows_columns_and_what_a_grouping_takes() -> None:
    assert refused(3000, None, 3 * NEED, width=2) == ""
    for rows, width, memory in ((3001, 2, 1.0), (3000, 3, 1.0), (3000, 2, 1.5)):
        assert refused(rows, None, 3 * NEED, memory, width).endswith("free memory.")


@pytest.mark.parametrize(("free", "told"), [
    (49_999_999, "50.0 MB are free"), (50_000_000, "0.1 GB are free"),
    (3_972_844_748, "4.0 GB are free"), (1_260_000, "1.3 MB are free"),
])
def test_sizes_are_told_in_words(free: int, told: str) -> None:
    assert told in refused(10**9, None, free)


def watching(free: Callable[[], int | None]) -> RowBuffer:
    return RowBuffer(2, [0], [1], [], (), free)


ROWS: list[Any] = [(1.0, "a", None, None, None, None)] * 4


def test_rows_that_nobody_counted_are_looked_at_while_they_come(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many as LOOK, and after so many again."""
    monkeypatch.setattr(row_buffer, "LOOK", 8)
    asked: list[int] = []

    def free() -> int:
        asked.append(0)
        return 16 * 2 * CELL - 1

    room = watching(free)
    for piece in range(6):
        hand_over(room, 4 * piece, ROWS)
        assert len(asked) == {1: 1, 2: 1, 3: 2, 4: 2, 5: 2}.get(piece, 0)
        assert room.refuses == (piece >= 3)
    said = "^16 rows and more need about 0.0 MB of additional memory, and 0.0 MB are free. "
    with pytest.raises(DataError, match=said) as caught:
        room.rows()
    assert str(caught.value).endswith("free memory.")
    assert room._pieces == []  # the memory is given back before all rows have come


@pytest.mark.parametrize("free", [None, 8 * 2 * CELL])
def test_rows_that_fit_are_kept(free: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_buffer, "LOOK", 4)
    room = watching(lambda: free)
    hand_over(room, 4, ROWS)
    hand_over(room, 0, ROWS)
    assert not room.refuses and room.rows().numbers("row").tolist() == list(range(8))
