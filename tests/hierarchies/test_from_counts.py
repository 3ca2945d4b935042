"""The kinds adjacency, rectangles and cover: hierarchies that follow from the rows (du2009)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.methods.single_attribute.test_regions_sql import connected
from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import examples

Connection = duckdb.DuckDBPyConnection
Rows = list[tuple[str, ...]]

con = registered("SET threads = 2")


def tree(con: Connection, column: str, more: str) -> Rows:
    return con.execute(f"FROM hierarchy('t', '{column}', {more})").fetchall()


def below(rows: Rows, level: int) -> dict[str, set[str]]:
    """The values below each node of a level."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row[level], set()).add(row[0])
    return found


def nests(rows: Rows) -> bool:
    """Whether each node has one node above it."""
    pairs = [{(row[i], row[i + 1]) for row in rows} for i in range(len(rows[0]) - 1)]
    return all(len({low for low, _ in found}) == len(found) for found in pairs)


def grid(con: Connection, sizes: list[int], side: int) -> set[tuple[str, str]]:
    """A table t of codes and their neighbours in a grid; both ways round."""
    codes = [f"{i:03}" for i in range(side * side)]
    con.execute("CREATE OR REPLACE TABLE t (zip VARCHAR, age INTEGER)")
    con.executemany(
        "INSERT INTO t VALUES (?, ?)",
        [[code, (i * 7 + j) % 50]
         for i, (code, n) in enumerate(zip(codes, sizes, strict=True)) for j in range(n)],
    )
    links = [(i, i + 1) for i in range(side * side) if (i + 1) % side]
    links += [(i, i + side) for i in range(side * side - side)]
    con.execute("CREATE OR REPLACE TABLE pairs (a VARCHAR, b VARCHAR)")
    con.executemany("INSERT INTO pairs VALUES (?, ?)", [[codes[a], codes[b]] for a, b in links])
    return {(codes[a], codes[b]) for one in links for a, b in (one, one[::-1])}


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(0, 9), min_size=25, max_size=25), st.integers(2, 6))
def test_regions_of_each_level_are_connected_and_large_enough(
    con: Connection, sizes: list[int], levels: int
) -> None:
    sizes[12] += 3
    links = grid(con, sizes, 5)
    rows = tree(con, "zip", f"kind := 'adjacency', adjacency := 'pairs', levels := {levels}")
    assert len(rows) == 25
    assert len(rows[0]) == levels + 1
    assert nests(rows)
    total = sum(sizes)
    size = dict(zip((f"{i:03}" for i in range(25)), sizes, strict=True))
    for level in range(1, levels):
        least = math.ceil(total ** (level / levels))
        for label, codes in below(rows, level).items():
            assert connected(codes, links)
            assert sum(size[code] for code in codes) >= least
            assert label == (min(codes) + f" +{len(codes) - 1}" if len(codes) > 1 else min(codes))
    assert {row[-1] for row in rows} == {"*"}


@pytest.mark.slow
def test_a_table_with_a_zip_column_and_others(con: Connection) -> None:
    links = grid(con, [3] * 36, 6)
    call = (
        "'t', k := 6, quasi_identifiers := ['zip', 'age'], method := 'k_member', "
        "hierarchies := {'zip': {'kind': 'adjacency', 'adjacency': 'pairs'}}"
    )
    rows = con.execute(f"SELECT zip, age, count(*) FROM anonymize({call}) GROUP BY ALL").fetchall()
    assert sum(row[2] for row in rows) == 108
    assert min(row[2] for row in rows) >= 6
    levels = tree(con, "zip", "kind := 'adjacency', adjacency := 'pairs'")
    labels = {label for row in levels for label in row}
    assert {row[0] for row in rows} <= labels
    assert any("+" in row[0] for row in rows)
    for level in range(len(levels[0])):
        assert all(connected(codes, links) for codes in below(levels, level).values())
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize({call})")
    shown, audited = (
        metrics_of(con, name)
        for name in (f"anonymize_metrics({call}, detail := true)", "anonymize_audit('t', release "
                                                                   ":= 'released', "
                     "quasi_identifiers := ['zip', 'age'], hierarchies := {'zip': {'kind': "
                     "'adjacency', 'adjacency': 'pairs'}})")
    )
    assert audited["total_il"] == pytest.approx(shown["total_il"])
    assert audited["cells_unread"] == 0


def test_strange_codes_and_islands_meet_others_in_the_root_only(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS FROM (VALUES (1), (1), (2), (7), (8), (9)) AS s(zip)")
    con.execute("CREATE OR REPLACE TABLE pairs AS FROM (VALUES (1, 2), (2, 3), (8, 7)) AS s(a, b)")
    rows = tree(con, "zip", "kind := 'adjacency', adjacency := 'pairs', levels := 3")
    assert {row[0] for row in rows} == {"1", "2", "3", "7", "8", "9"}
    paths = {row[0]: row[1:] for row in rows}
    assert paths["9"] == ("9", "9", "*")
    for level in (0, 1):
        ends = {paths[code][level] for code in "123"}, {paths[code][level] for code in "78"}
        assert not ends[0] & ends[1]


def test_regions_follow_from_places_too(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 'c' || i AS zip FROM range(30) AS r(i)")
    con.execute("CREATE OR REPLACE TABLE spots AS SELECT 'c' || i AS code, i * 7 % 30 AS x, "
                "i * 11 % 30 AS y FROM range(30) AS r(i)")
    rows = tree(con, "zip", "kind := 'adjacency', places := 'spots', levels := 3")
    assert len(rows) == 30
    assert nests(rows)
    assert all(len(codes) >= 4 for codes in below(rows, 1).values())


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(2, 5),
       st.sampled_from(["fold", "spread", "five_halves"]))
def test_groups_of_labels_nest_and_are_large_enough(
    con: Connection, sizes: list[int], levels: int, packing: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE t (name VARCHAR)")
    con.executemany("INSERT INTO t VALUES (?)",
                    [[f"n{i} +1"] for i, n in enumerate(sizes) for _ in range(n)])
    rows = tree(con, "name", f"kind := 'cover', levels := {levels}, packing := '{packing}'")
    assert sorted(row[0] for row in rows) == sorted(f"n{i} +1" for i in range(len(sizes)))
    assert nests(rows)
    for level in range(1, len(rows[0]) - 1):
        least = math.ceil(sum(sizes) ** (level / levels))
        for label, names in below(rows, level).items():
            assert sum(sizes[int(name[1:-3])] for name in names) >= least
            assert label == (min(names) + f" ++{len(names) - 1}" if len(names) > 1 else min(names))


@pytest.mark.parametrize("written", [
    "(i % 9) || ' ' || (i % 7)", "'POINT(' || (i % 9) || ' ' || (i % 7) || ')'",
    "{'lat': i % 9, 'lon': i % 7}", "(i % 9)::DOUBLE || ',' || (i % 7) || '.0e0'",
])
def test_rectangles_of_each_level_lie_in_one_above(con: Connection, written: str) -> None:
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {written} AS place FROM range(200) AS r(i)")
    rows = tree(con, "place", "kind := 'rectangles', levels := 4, extent := [[-1, 9], [0, 7]]")
    assert len(rows) == 63
    assert nests(rows)
    for level in (1, 2, 3):
        cells = [sides(label) for label in below(rows, level)]
        area = sum((b - a) * (d - c) for (a, b), (c, d) in cells)
        assert area == pytest.approx(10 * 7)
    for row in rows:
        for low, high in pairwise(sides(label) for label in row[1:-1]):
            assert all(c <= a < b <= d for (a, b), (c, d) in zip(low, high, strict=True))


def sides(label: str) -> list[tuple[float, float]]:
    """'[0.0, 1.5) x [2.0, 3.0]' as numbers."""
    ends = [part.strip("[]()").split(", ") for part in label.split(" x ")]
    return [(float(low), float(high)) for low, high in ends]


def test_places_in_a_table_with_others(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT {'lat': i * 37 % 101, 'lon': i * 61 % 97} "
                "AS place, i % 50 AS age FROM range(300) AS r(i)")
    rows = con.execute(
        "SELECT place, age, count(*) FROM anonymize('t', k := 5, method := 'mondrian', "
        "hierarchies := {'place': 'rectangles'}) GROUP BY ALL"
    ).fetchall()
    assert sum(row[2] for row in rows) == 300
    assert min(row[2] for row in rows) >= 5
    assert any(" x " in row[0] for row in rows)


@pytest.mark.parametrize(("more", "expected"), [
    ("kind := 'adjacency'", "needs one of the options adjacency and places"),
    ("kind := 'adjacency', adjacency := 'pairs', places := 'pairs'", "needs one of the options"),
    ("kind := 'adjacency', adjacency := 't'", "has one column (zip)"),
    ("kind := 'rectangles'", "is a pair of numbers such as"),
    ("kind := 'cover', packing := 'glue'", "must be one of fold, spread, five_halves"),
    ("kind := 'rectangles', extent := [1, 2]", "must be the bounds of the first"),
    ("kind := 'cover', levels := 0", "whole number from 1"),
])
def test_what_can_not_be_is_refused(con: Connection, more: str, expected: str) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS FROM (VALUES ('secret'), ('b')) AS s(zip)")
    con.execute("CREATE OR REPLACE TABLE pairs AS FROM (VALUES ('secret', 'b')) AS s(a, b)")
    said = refusal_of(con, f"FROM hierarchy('t', 'zip', {more})")
    assert expected in said
    assert "secret" not in said


def test_nothing_but_null(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT NULL::VARCHAR AS zip, i % 3 AS x "
                "FROM range(20) AS r(i)")
    con.execute("CREATE OR REPLACE TABLE pairs AS FROM (VALUES ('a', 'b')) AS s(a, b)")
    for kind in ("'cover'", "'rectangles'", "{'kind': 'adjacency', 'adjacency': 'pairs'}"):
        rows: list[tuple[Any, ...]] = con.execute(
            f"FROM anonymize('t', k := 5, hierarchies := {{'zip': {kind}}})"
        ).fetchall()
        assert len(rows) == 20
