"""Sensitive columns from SQL to codes: ranks of exact values, and what is missing."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import has_order
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.row_buffer import RowBuffer
from kanon_sql.encode.sensitive import fit_sensitive, sensitive_codes
from kanon_sql.encode.single_attribute import read_items
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.methods import task_for
from kanon_sql.privacy import DistinctDiversity
from kanon_sql.stages.hidden import without_hidden

Connection = duckdb.DuckDBPyConnection

ORDERED = {
    "integers": "unnest([3, -1, NULL, 3, 12, 2])",
    "beyond doubles": "unnest([2, 0, 1, 1, NULL, -1])::BIGINT + 9007199254740992",
    "huge": "unnest([2, 0, 1, 1, NULL, -1])::HUGEINT + 170141183460469231731687303715884105000",
    "of any length": "unnest(['7', '9' || repeat('0', 44), NULL, '-3', '10'])::BIGNUM",
    "doubles": "unnest([0.1, 0.30000000000000004, 0.3, NULL, 'nan', 1e300, -1e-300])::DOUBLE",
    "zeros": "unnest(['-0.0', '0.0', '0', 'nan', '-nan', '1', '-inf', 'inf'])::DOUBLE",
    "floats": "unnest(['0.1', '0.2', 'nan', '0.1', '-0.0'])::FLOAT",
    "decimals": "unnest([1.50, 1.05, 10, 9.99, NULL])::DECIMAL(10, 2)",
    "long decimals": "unnest([2, 0, 1, 1, -2]) / 100::DECIMAL(38, 2) * 1 "
    "+ 12345678901234567890123.00::DECIMAL(38, 2)",
    "dates": "unnest(['2020-02-01', '0044-03-15 (BC)', NULL, '1999-12-31', 'infinity'])::DATE",
    "moments": "unnest([0, 1, 0, 1, 2, 0]) * INTERVAL 1 hour "
    "+ '2020-10-25 00:30:00+00'::TIMESTAMPTZ",
    "late microseconds": "make_timestamp(unnest([0, 1, -1, 10, 100, 0]) + 9007199254740992)",
    "times": "unnest(['12:00', '00:00:00.000001', NULL, '23:59'])::TIME",
}
"""Columns with an order: the code of a value is its dense rank, as DuckDB has it."""

TEXTS = {
    "words": "unnest(['b', 'B', NULL, 'a', '', 'é', 'a ', 'b', '10', '9'])",
    "zero bytes": "unnest(['a' || chr(0), 'a', NULL, 'a' || chr(0)])",
    "truth": "unnest([true, NULL, false, true])",
    "levels": "unnest(['low', 'high', NULL, 'low'])::ENUM('high', 'low')",
    "nothing": "unnest([NULL, NULL])::VARCHAR",
    "lists": "unnest([[2, 1], [1, 2], NULL, [2, 1]])",
}


def described(con: Connection, *columns: str) -> list[Column]:
    """The names and types of columns of t."""
    told = {name: kind for name, kind, *_ in con.execute("DESCRIBE t").fetchall()}
    return [Column(name, told[name]) for name in columns]


def taken(con: Connection, *columns: str, pieces: int = 2) -> Rows:
    """The rows of t as the query hands them over, with the column q as the quasi-identifier."""
    cells = ", ".join(
        f"{{'number': (__kanon_cell({name})).number, 'category': __kanon_key({name})}}"
        for name in columns
    )
    table = con.sql(
        f"SELECT row_number() OVER () AS number, NULL::UBIGINT AS sealed, [__kanon_cell(q)] AS "
        f"cells, [{cells}] AS secrets FROM t"
    ).to_arrow_table().combine_chunks()
    kinds = [has_order(column.sql_type) for column in described(con, *columns)]
    room = RowBuffer(1, [0], [], [], kinds)
    size = -(-table.num_rows // pieces)
    for start in reversed(range(0, table.num_rows, size)):
        piece = table.slice(start, size).combine_chunks()
        number, sealed, each, secrets = (column.combine_chunks() for column in piece.columns)
        room.take(number, (sealed, sealed), each, {"secrets": secrets})
    return room.rows()


def codes_of(con: Connection, name: str = "x") -> tuple[Any, list[int]]:
    """What is learned of a column of t, and its codes."""
    rows, columns = taken(con, name), described(con, name)
    known = fit_sensitive(rows, columns, {})
    return known[0], sensitive_codes(rows, known)[:, 0].tolist()


def fill(con: Connection, values: str) -> None:
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT 1 AS q, {values} AS x")


@pytest.mark.sample(3)
@pytest.mark.parametrize("values", ORDERED)
def test_the_code_of_a_number_or_time_is_its_rank(con: Connection, values: str) -> None:
    fill(con, ORDERED[values])
    column, codes = codes_of(con)
    by_sql = con.execute(
        "SELECT CASE WHEN y IS NULL THEN NULL ELSE "
        "dense_rank() OVER (ORDER BY y IS NULL, y) - 1 END "
        "FROM (SELECT __kanon_value(x) AS y, row_number() OVER () AS place FROM t) ORDER BY place"
    ).fetchall()
    m = len({rank for (rank,) in by_sql} - {None})
    assert codes == [m if rank is None else rank for (rank,) in by_sql]
    assert column.ordered and column.values == m == len(column.numbers)
    assert (np.diff(column.numbers) >= 0).all()
    assert not any(math.copysign(1.0, x) < 0 for x in column.numbers if x == 0.0)
    assert column.levels.shape == (0, m)


@pytest.mark.sample(3)
@pytest.mark.parametrize("values", TEXTS)
def test_the_code_of_all_else_is_the_rank_of_its_text(con: Connection, values: str) -> None:
    fill(con, TEXTS[values])
    column, codes = codes_of(con)
    texts = [text for (text,) in con.execute("SELECT x::VARCHAR FROM t").fetchall()]
    known = sorted({text for text in texts if text is not None})
    assert codes == [len(known) if text is None else known.index(text) for text in texts]
    assert column.words == tuple(known) and not column.ordered and len(column.numbers) == 0


def test_twenty_thousand_numbers_in_pieces_of_any_size(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT i % 50 AS q, CASE WHEN i % 97 = 0 THEN NULL "
        "ELSE sin(i) * 10 ** (i % 9) END AS x FROM range(20300) AS r(i)"
    )
    values = con.execute("SELECT x FROM t").fetchnumpy()["x"].filled(np.nan)
    known = np.unique(values[~np.isnan(values)])
    assert len(known) > 20000
    expected = np.where(np.isnan(values), len(known), np.searchsorted(known, values)).tolist()
    for pieces in (1, 7):
        rows = taken(con, "x", pieces=pieces)
        (column,) = fit_sensitive(rows, described(con, "x"), {})
        assert (column.numbers == known).all()
        assert sensitive_codes(rows, [column])[:, 0].tolist() == expected


def test_several_columns_stay_apart(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT i AS q, ['x', NULL, 'y'][1 + i % 3] AS a, "
        "CASE WHEN i % 4 > 0 THEN i % 4 END AS b, i % 2 = 0 AS c FROM range(12) AS r(i)"
    )
    rows, columns = taken(con, "b", "a", "c"), described(con, "b", "a", "c")
    known = fit_sensitive(rows, columns, {})
    assert [column.words for column in known] == [("1", "2", "3"), ("x", "y"), ("false", "true")]
    codes = sensitive_codes(rows, known)
    assert codes.dtype == np.int32 and codes.flags["C_CONTIGUOUS"]
    assert codes.tolist() == [
        [(i % 4 - 1) % 4, [0, 2, 1][i % 3], int(i % 2 == 0)] for i in range(12)
    ]


def test_the_codes_do_not_depend_on_the_order_of_the_rows(con: Connection) -> None:
    values = [2**53 + i * i % 5 for i in range(40)]
    found = []
    for seed in range(3):
        mixed = list(values)
        random.Random(seed).shuffle(mixed)
        con.register("given", pa.table({"x": mixed}))
        con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS q, x FROM given")
        column, codes = codes_of(con)
        assert [int(column.words[code]) for code in codes] == mixed
        found.append(column.words)
    assert found[0] == found[1] == found[2] == tuple(str(2**53 + i) for i in (0, 1, 4))


TREE = Tree(tuple(pa.array(level) for level in (
    ["a", "b", "c", "d"], ["ab", "ab", "c", "d"], ["abc", "abc", "abc", "d"], ["*"] * 4
)))


def test_a_hierarchy_gives_the_node_of_each_value_at_each_level(con: Connection) -> None:
    fill(con, "unnest(['d', 'b', NULL, 'c', 'b', 'a'])")
    rows = taken(con, "x")
    (column,) = fit_sensitive(rows, described(con, "x"), {"x": TREE})
    assert column.words == ("a", "b", "c", "d") and column.levels.dtype == np.int32
    assert [len(set(level)) for level in column.levels.tolist()] == [4, 3, 2]
    _, low, high = column.levels.tolist()
    assert low[0] == low[1] and high[0] == high[1] == high[2] != high[3]
    # leaves that no row has are no values
    fill(con, "unnest(['d', 'b'])")
    (column,) = fit_sensitive(taken(con, "x"), described(con, "x"), {"x": TREE})
    assert column.words == ("b", "d") and column.levels.shape == (3, 2)


def people(con: Connection) -> tuple[Rows, list[Column], list[Column]]:
    con.execute(
        "CREATE TABLE t AS SELECT (i * 7) % 10 AS q, ['Flu', 'HIV', NULL][1 + i % 3] AS x, "
        "i % 5 AS y FROM range(30) AS r(i)"
    )
    return taken(con, "y", "x"), described(con, "q"), described(con, "y", "x")


def test_every_geometry_carries_the_codes_in_canonical_order(con: Connection) -> None:
    rows, columns, secret = people(con)
    by_row = [[i % 5, [0, 1, 2][i % 3]] for i in range(30)]
    result = encode(rows, columns, task_for("mdav", 2), {}, secret)
    expected = [by_row[i] for i in result.order]
    made = [
        result.squared(), result.losses(), result.losses("range_distinct"), result.cells(),
        *(result.in_metric(metric) for metric in ("euclidean", "hamming", "taxonomy")),
    ]
    for points in made:
        assert points.sensitive.tolist() == expected
        assert [column.name for column in points.sensitive_columns] == ["y", "x"]
        part = points.part(np.array([5, 2]))
        assert part.sensitive.tolist() == [expected[5], expected[2]]
        assert part.sensitive_columns == points.sensitive_columns
    # what was learned of all rows places those of a block as it placed these
    known = [
        replace(column, known=each)
        for column, each in zip(secret, made[0].sensitive_columns, strict=True)
    ]
    again = encode(rows, columns, task_for("mdav", 2), {}, known)
    assert again.sensitive.tolist() == expected
    assert len(result.bare().sensitive) == 0 and result.bare().sensitive_columns == ()


def test_a_value_that_was_not_learned_is_refused(con: Connection) -> None:
    rows, columns, secret = people(con)
    learned = encode(rows, columns, task_for("mdav", 2), {}, secret).sensitive_columns
    known = [replace(column, known=each) for column, each in zip(secret, learned, strict=True)]
    con.execute("UPDATE t SET x = 'Angina' WHERE x IS NULL")
    with pytest.raises(DataError, match="'x' has values that the encoding doesn't know"):
        encode(taken(con, "y", "x"), columns, task_for("mdav", 2), {}, known)


def test_without_sensitive_columns_points_carry_none(con: Connection) -> None:
    rows, columns, _ = people(con)
    bare = Rows({name: value for name, value in rows.fields.items() if name != "secrets"}, 30)
    points = encode(bare, columns, task_for("mdav", 2), {}).squared()
    assert points.sensitive.shape == (0, 0) and points.sensitive_columns == ()


def test_columns_that_are_hidden_take_no_sensitive_ones_with_them(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i AS q, i % 3 AS x, i % 5 AS y FROM range(9) AS r(i)")
    rows, columns = taken(con, "x", "y"), described(con, "q")
    twice = CellColumns({0: rows.fields["cells"].numbers[0], 1: np.arange(9.0)}, {})
    rows = Rows({**rows.fields, "cells": twice, "apart": np.zeros(9, np.uint64)}, rows.count)
    kept, left, _ = without_hidden(rows, [*columns, Column("name", "BIGINT")], {}, ["name"])
    assert [column.name for column in left] == ["q"]
    assert kept.fields["secrets"] is rows.fields["secrets"]
    # what tells rows apart without their sensitive values does so still
    assert len(set(kept.fields["apart"].tolist())) == 9


def test_a_column_of_nothing_has_one_code(con: Connection) -> None:
    fill(con, "unnest([NULL, NULL, NULL])::DOUBLE")
    column, codes = codes_of(con)
    assert column.values == 0 and codes == [0, 0, 0]


def test_items_carry_the_codes_in_the_order_of_the_rows(con: Connection) -> None:
    rows, columns, secret = people(con)
    task = replace(
        task_for("gps_rectangles", 2), beside_k=(DistinctDiversity(column="x", l=2),)
    )
    place = Column("q2", "DOUBLE")
    cells = rows.fields["cells"]
    cells.numbers[1] = cells.numbers[0] + 1.0
    known = fit_sensitive(rows, secret, {})
    points = read_items(rows, [*columns, place], task, {}, known).points
    assert points.sensitive.tolist() == sensitive_codes(rows, known).tolist()
    assert points.sensitive_columns == known
    assert points.part(np.array([3, 1])).sensitive.tolist() == points.sensitive[[3, 1]].tolist()
    # rows without a place are a class that the method doesn't see
    cells.numbers[0][:4] = np.nan
    assert (~read_items(rows, [*columns, place], task, {}).placed).sum() == 4
    with pytest.raises(DataError, match="4 rows have no place"):
        read_items(rows, [*columns, place], task, {}, known)


def test_the_protected_values_are_those_of_the_column(con: Connection) -> None:
    rows, columns, _ = people(con)
    rows = taken(con, "x")
    task = task_for("k_member", 2, diversity_preference="sensitive", sensitive_values=("HIV",))
    points = encode(rows, columns, task, {}, described(con, "x")).losses()
    assert points.protected.tolist() == [False, True, False]
    assert points.sensitive_value.tolist() == points.sensitive[:, 0].tolist()
    with pytest.raises(DataError, match="None of the 1 sensitive_values"):
        encode(rows, columns, replace(task, sensitive_values=("Cold",)), {}, described(con, "x"))
