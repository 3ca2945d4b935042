"""The levels of a hierarchy show no value, and no label of few rows."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.duckdb.register import register
from kanon_sql.explore.preview import COARSE, EXAMPLES, LEAST, levels_of, preview_of
from kanon_sql.explore.source import explored
from kanon_sql.explore.written import NamedSource

labels = st.sampled_from(["a", "b", "c", "d", "ab", "cd"])
paths = st.lists(st.tuples(st.integers(0, 9).map(str), labels, labels), max_size=8).map(
    lambda found: [(*path, "*") for path in {path[0]: path for path in found}.values()]
)
rows = st.dictionaries(st.integers(0, 9).map(str), st.integers(0, 9))


@given(paths, rows, st.integers(1, 12), st.booleans())
def test_a_label_is_shown_only_if_enough_rows_have_it(
    paths: list[tuple[str, ...]], rows: dict[str, int], least: int, coarse: bool
) -> None:
    levels = levels_of(paths, rows, least, False, coarse)
    values = {path[0] for path in paths}
    for level in levels:
        assert level.labels == len({path[level.number] for path in paths})
        for label in level.examples:
            if label in (None, "*"):
                continue
            below = sum(rows.get(path[0], 0) for path in paths if path[level.number] == label)
            assert coarse and below >= least and label not in values and level.number > 0


@given(paths, rows)
def test_examples_are_paths_if_values_are_shown(
    paths: list[tuple[str, ...]], rows: dict[str, int]
) -> None:
    levels = levels_of(paths, rows, 1, True, False)
    shown = list(zip(*(level.examples for level in levels), strict=True)) if levels else []
    assert set(shown) <= set(paths) and len(shown) == min(len(paths), EXAMPLES)
    most = sorted((rows.get(path[0], 0) for path in paths), reverse=True)
    assert [rows.get(path[0], 0) for path in shown] == most[:len(shown)]


KINDS = {
    "age": {"kind": "bins"}, "born": {"kind": "date"}, "zip": {"kind": "prefix"},
    "job": {"kind": "cover"}, "size": {"kind": "ordered", "ranking": ["S", "M", "L"]},
    "sex": {"kind": "flat"},
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("column", KINDS)
def test_the_levels_of_each_kind(column: str) -> None:
    with register(duckdb.connect()) as con:
        con.execute("""
            CREATE TABLE people AS SELECT 17 + i * i % 61 AS age,
                DATE '1950-01-01' + (i * 97 % 20000)::INTEGER AS born,
                (10000 + i * 37 % 900)::VARCHAR AS zip, 'job ' || i % 11 AS job,
                ['S', 'M', 'L'][1 + i % 3] AS size, ['f', 'm'][1 + i % 2] AS sex
            FROM range(400) AS r(i)
        """)
        explored(con, NamedSource(("people",), "people"))
        found = preview_of(con, column, KINDS[column], 5, False)
        values = {str(value) for (value,) in con.execute(
            f"SELECT DISTINCT {column} FROM people").fetchall()}
        exact = preview_of(con, column, KINDS[column], 5, True)
        sizes = Counter(str(value) for (value,) in con.execute(
            f"SELECT {column} FROM people").fetchall())
    told = {label for level in found.levels for label in level.examples} - {None, "*"}
    assert not told & values
    assert bool(told) == (KINDS[column]["kind"] in COARSE)
    assert found.levels[-1].examples[0] == "*" and found.levels[-1].labels == 1
    assert set(exact.levels[0].examples) <= values
    assert LEAST == 5 and len(sizes) == exact.levels[0].labels
