"""Labels that wait for the query to ask for them, and rows that come in pieces."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import Rows
from kanon_sql.encode.row_buffer import RowBuffer
from kanon_sql.errors import KanonError
from kanon_sql.stages import labels
from kanon_sql.stages.labels import UNKNOWN, by_row, held, hold


def test_a_row_without_a_label_has_none() -> None:
    found = by_row(np.array([3, 1, 5, 5]), np.array([7, -1, 2, 4]))
    hold(-1, found)
    asked = np.array([1, 2, 3, 4, 5, 6, 1000])
    assert held(-1).classes(asked).tolist() == [
        -1, UNKNOWN, 7, UNKNOWN, 4, UNKNOWN, UNKNOWN
    ]


def test_large_labels_are_kept() -> None:
    hold(-1, by_row(np.array([1]), np.array([2**40])))
    assert held(-1).classes(np.array([1])).tolist() == [2**40]


def test_labels_of_which_nobody_asks_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    some = by_row(np.array([1]), np.array([0]))
    monkeypatch.setattr(labels, "_held", {})
    clock = 0.0
    monkeypatch.setattr(labels, "perf_counter", lambda: clock)
    hold(-1, some)
    hold(-2, some)
    clock = 10.0
    held(-1).classes(np.array([1]))
    clock = 3605.0
    hold(-3, some)
    with pytest.raises(KanonError, match="paused for too long"):
        held(-2)
    assert held(-1).classes(np.array([1])).tolist() == [0]
    # more than there is room for: the oldest, where it was idle for long
    monkeypatch.setattr(labels, "ROOM", 2 * some.nbytes)
    hold(-4, some)
    assert sorted(labels._held) == [-4, -3, -1]
    clock = 4200.0
    held(-4).classes(np.array([1]))
    clock = 4206.0
    hold(-5, some)
    assert sorted(labels._held) == [-5, -4]


def piece(numbers: list[int], values: list[tuple[float | None, str | None]], sealed: bool) -> Any:
    """Rows of a number and a text, as DuckDB hands them over."""
    kinds = pa.list_(pa.struct([("number", pa.float64()), ("category", pa.string())]))
    cells = [
        [{"number": x, "category": None}, {"number": None, "category": word}] for x, word in values
    ]
    hashes = pa.array(numbers if sealed else [None] * len(numbers), pa.uint64())
    none = pa.nulls(len(numbers), pa.uint64())
    return pa.array(numbers, pa.int64()), (none, hashes), pa.array(cells, kinds)


@pytest.mark.parametrize("sealed", [True, False])
def test_pieces_in_any_order_are_the_rows_in_theirs(sealed: bool) -> None:
    pieces = [
        piece([4, 5], [(-0.0, "b"), (2.5, None)], sealed), piece([1], [(None, "a")], sealed)
    ]
    for given in (pieces, pieces[::-1]):
        taken = RowBuffer(2, [0], [1], ["label"])
        for numbers, hashes, cells in given:
            words = pa.array([f"l{i}" for i in numbers.to_pylist()])
            taken.take(numbers, hashes, cells, {"label": words, "secrets": cells})
        rows = taken.rows()
        cells = rows.fields["cells"]
        assert rows.count == 3
        assert rows.numbers("row").tolist() == [1, 4, 5]
        assert [str(x) for x in cells.numbers[0]] == ["nan", "0.0", "2.5"]
        assert cells.words[1].to_pylist() == ["a", "b", None]
        assert rows.fields["label"].to_pylist() == ["l1", "l4", "l5"]
        assert "secrets" not in rows
        assert [each.tolist() for each in rows.hashes] == ([[1, 4, 5]] if sealed else [])
        assert taken.rows().count == 0


def test_rows_that_need_no_hash_have_none_beside_others() -> None:
    _, _, cells = piece([2, 3], [(1.0, "a"), (2.0, "b")], False)
    without, zeros = pa.nulls(2, pa.uint64()), pa.array([0, 0], pa.uint64())
    some = pa.array([None, 7], pa.uint64())
    for apart, given, expected in (
        (without, [without, without], []), (zeros, [without, without], []),
        (without, [without, some], [[0, 0, 0, 7]]), (zeros, [without, some], [[0, 0, 0, 7]]),
        (some, [without, some], [[0, 7, 0, 7], [0, 0, 0, 7]]),
    ):
        taken = RowBuffer(2, [0], [1], [])
        for i, hashes in enumerate(given):
            numbers = pa.array([2 * i + 1, 2 * i + 2], pa.int64())
            taken.take(numbers, (apart, hashes), cells, {})
        assert [each.tolist() for each in taken.rows().hashes] == expected
        listed = Rows({
            "apart": pa.concat_arrays([apart, apart]), "hash": pa.concat_arrays(given)
        }, 4).hashes
        assert [each.tolist() for each in listed] == expected


@pytest.mark.slow
def test_the_release_is_the_same_for_any_number_of_threads(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE TABLE many AS SELECT i % 9 AS a, 'w' || i % 5 AS w, i % 3 AS s "
        "FROM range(20000) r(i)"
    )
    found = []
    for threads in (1, 2, 4):
        con.execute(f"SET threads = {threads}")
        call = "anonymize('many', k=5, method='mdav_plus', sensitive=['s'], keep_order=true)"
        found.append(con.execute(f"FROM {call}").fetchall())
    assert found[0] == found[1] == found[2]
