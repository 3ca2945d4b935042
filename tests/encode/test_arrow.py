"""Rows, hierarchies and tables as DuckDB hands them over, read back as what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import (
    CellColumns,
    Column,
    Rows,
    SideTable,
    flat_cells,
    read_columns,
    read_keys,
    read_levels,
    read_tables,
)

CELL = pa.struct([("number", pa.float64()), ("category", pa.string())])
ROW = pa.struct([("row", pa.int64()), ("hash", pa.uint64()), ("cells", pa.list_(CELL)),
                 ("label", pa.string())])
TABLE = pa.struct([("name", pa.string()), ("names", pa.list_(pa.string())),
                   ("rows", pa.list_(pa.list_(pa.string())))])
LEVELS = pa.struct([("name", pa.string()), ("paths", pa.list_(pa.list_(pa.string())))])
KEYS = pa.struct([("name", pa.string()), ("found", pa.list_(
    pa.struct([("row", pa.int64()), ("hash", pa.uint64())])))])


@pytest.fixture(params=[False, True])
def given(request: pytest.FixtureRequest) -> Any:
    """Makes an argument, in one array or in chunks."""
    def made(value: Any, kind: Any) -> Any:
        array = pa.array([value], kind)
        return pa.chunked_array([array]) if request.param else array

    return made


def test_rows_come_field_by_field_and_cells_row_by_row(given: Any) -> None:
    rows = Rows.of(given([
        {"row": 4, "hash": 9, "label": "x", "cells": [
            {"number": 1.5, "category": None}, {"number": None, "category": "a"}]},
        {"row": 7, "hash": None, "label": None, "cells": [
            {"number": None, "category": None}, {"number": None, "category": "b"}]},
    ], pa.list_(ROW)))
    assert rows.count == 2
    assert "label" in rows and "secrets" not in rows
    assert rows.numbers("row").tolist() == [4, 7]
    assert rows.fields["label"].to_pylist() == ["x", None]
    assert rows.fields["cells"].field("number").to_pylist() == [1.5, None, None, None]
    assert rows.fields["cells"].field("category").to_pylist() == [None, "a", None, "b"]
    assert [hashed.tolist() for hashed in rows.hashes] == [[9, 0]]
    assert Rows.of(given(None, pa.list_(ROW))).count == 0


def test_only_hashes_that_some_row_needs_are_there_the_one_of_few_columns_first() -> None:
    one, other = np.array([1, 0], np.uint64), pa.array([None, 5], pa.uint64())
    nothing = np.zeros(2, np.uint64)
    found = Rows({"hash": one, "apart": other}, 2).hashes
    assert [hashed.tolist() for hashed in found] == [[0, 5], [1, 0]]
    assert Rows({"hash": nothing, "apart": pa.nulls(2, pa.uint64())}, 2).hashes == ()
    assert [h.tolist() for h in Rows({"hash": one, "apart": nothing}, 2).hashes] == [[1, 0]]
    assert Rows({}, 2).hashes == ()


def test_numbers_with_missing_ones_are_an_array_too() -> None:
    rows = Rows({"extra": pa.array([1.5, None]), "row": np.array([3])}, 2)
    assert rows.numbers("extra")[0] == 1.5 and np.isnan(rows.numbers("extra")[1])
    assert rows.numbers("row").tolist() == [3]


def test_what_rows_hold_is_counted_in_bytes() -> None:
    cells = CellColumns({0: np.zeros(3)}, {1: pa.array(["a", "b", "c"])})
    assert cells.nbytes == 24 + cells.words[1].nbytes > 24
    assert Rows({"cells": cells, "row": np.zeros(2), "label": None}, 3).nbytes == cells.nbytes + 16


def test_some_of_the_columns_are_numbered_anew() -> None:
    numbers = {0: np.array([0.0]), 2: np.array([2.0]), 4: np.array([4.0])}
    words = {1: pa.array(["one"]), 4: pa.array(["four"])}
    found = CellColumns(numbers, words).only([1, 2, 4])
    assert {j: values.tolist() for j, values in found.numbers.items()} == {1: [2.0], 2: [4.0]}
    assert {j: texts.to_pylist() for j, texts in found.words.items()} == {0: ["one"], 2: ["four"]}


def test_columns_have_a_name_a_type_and_those_that_are_alike(given: Any) -> None:
    kind = pa.list_(pa.list_(pa.string()))
    found = read_columns(given([["a", "DOUBLE"], ["b", "VARCHAR", "c", "d"]], kind))
    assert found == [Column("a", "DOUBLE"), Column("b", "VARCHAR", ("c", "d"))]
    assert read_columns(given(None, kind)) == []


def test_cells_are_read_row_by_row(given: Any) -> None:
    kind = pa.list_(pa.list_(pa.string()))
    assert flat_cells(given([["a", None], ["b", "c"]], kind)).to_pylist() == ["a", None, "b", "c"]
    assert flat_cells(given(None, kind)).to_pylist() == []


def test_hierarchies_are_read_level_by_level(given: Any) -> None:
    paths = [["Rome", "Italy", "*"], ["Bonn", "Germany", "*"]]
    found = read_levels(given([
        {"name": "city", "paths": paths}, {"name": "job", "paths": [["cook", "any"]]},
    ], pa.list_(LEVELS)))
    assert {name: [level.to_pylist() for level in levels] for name, levels in found.items()} == {
        "city": [["Rome", "Bonn"], ["Italy", "Germany"], ["*", "*"]], "job": [["cook"], ["any"]],
    }
    assert read_levels(given(None, pa.list_(LEVELS))) == {}


def test_tables_are_read_column_by_column(given: Any) -> None:
    found = read_tables(given([
        {"name": "adjacency", "names": ["a", "b"], "rows": [["x", "y"], [None, "z"], ["u", "v"]]},
        {"name": "places", "names": ["code"], "rows": None},
        {"name": "other", "names": None, "rows": [["x"]]},
        {"name": "nobody", "names": [], "rows": [[]]},
    ], pa.list_(TABLE)))
    table = found["adjacency"]
    assert table.names == ("a", "b")
    assert [c.to_pylist() for c in table.columns] == [["x", None, "u"], ["y", "z", "v"]]
    assert found.keys() == {"adjacency", "places", "other", "nobody"}
    assert all(found[name] == SideTable((), ()) for name in ("places", "other", "nobody"))
    assert read_tables(given(None, pa.list_(TABLE))) == {}


def test_keys_of_columns_without_any_are_left_out(given: Any) -> None:
    (keys,) = read_keys(given([
        {"name": "a", "found": [{"row": 3, "hash": 7}, {"row": 1, "hash": 8}]},
        {"name": "b", "found": None},
    ], pa.list_(KEYS)))
    assert (keys.name, keys.rows.tolist(), keys.hashes.tolist()) == ("a", [3, 1], [7, 8])
    assert read_keys(given(None, pa.list_(KEYS))) == []
