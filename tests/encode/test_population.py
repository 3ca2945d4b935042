"""A population and the records held against it, by their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows, SideTable
from kanon_sql.encode.population import read_people
from kanon_sql.errors import DataError

NUMBERS = st.sampled_from((None, 0.0, -0.0, 1.5, -2.0, 30.0))
WORDS = st.sampled_from((None, "", "a", "b", "\u00e4"))
RECORDS = st.lists(st.tuples(NUMBERS, WORDS), min_size=1, max_size=8)
PEOPLE = st.lists(st.tuples(NUMBERS, WORDS, st.integers(1, 9)), min_size=1, max_size=8)
COLUMNS = [Column("Age", "DOUBLE"), Column("Job", "VARCHAR")]


def table(people: list[Any], types: tuple[str, str] = ("DOUBLE", "VARCHAR")) -> SideTable:
    """The people as DuckDB hands them over, the columns in another order."""
    numbers, words, many = zip(*people, strict=True)
    texts = [None if number is None else repr(number) for number in numbers]
    return SideTable(
        ("count", "job", types[1], "age", types[0]),
        (pa.array(map(str, many)), pa.nulls(len(people), pa.string()), pa.array(words, pa.string()),
         pa.array(texts, pa.string()), pa.array(texts, pa.string())),
    )


def rows_of(records: list[Any], coded: bool = False) -> Rows:
    numbers, words = zip(*records, strict=True)
    jobs = pa.array(words, pa.string())
    ages = np.array([np.nan if number is None else number for number in numbers])
    cells = CellColumns({0: ages}, {1: jobs.dictionary_encode() if coded else jobs})
    return Rows({"cells": cells}, len(records))


@given(records=RECORDS, people=PEOPLE, coded=st.booleans(), data=st.data())
def test_values_are_numbered_alike_in_both(
    records: list[Any], people: list[Any], coded: bool, data: st.DataObject
) -> None:
    """Equal ones the same, numbers in their order, and a missing one as -1."""
    order = data.draw(st.permutations(range(len(records))))
    found = read_people(table(people), rows_of(records, coded), COLUMNS, np.array(order))
    assert found.many.tolist() == [person[2] for person in people]
    assert found.ordered == (True, False)
    for j in range(2):
        values = [records[i][j] for i in order] + [person[j] for person in people]
        codes = found.own[:, j].tolist() + found.cells[:, j].tolist()
        for a, one in zip(codes, values, strict=True):
            assert (a == -1) == (one is None) and a >= -1
            for b, other in zip(codes, values, strict=True):
                assert (a == b) == (one == other)
                if j == 0 and one is not None and other is not None:
                    assert (a < b) == (one < other)


def test_a_class_covers_the_people_between_its_ages_with_one_of_its_jobs() -> None:
    people = [(30.0, "nurse", 5), (40.0, "nurse", 7), (35.0, "cook", 11), (35.0, "judge", 13),
              (None, "cook", 17)]
    records = [(40.0, "cook"), (50.0, "cook"), (30.0, "nurse"), (None, "cook")]
    found = read_people(table(people), rows_of(records), COLUMNS, np.arange(4))
    assert found.covered(np.array([0, 2])) == 5 + 7 + 11
    assert found.covered(np.array([0, 2, 3])) == 5 + 7 + 11 + 17
    assert found.covered(np.array([1])) == 0


def test_without_people_nobody_is_covered() -> None:
    found = read_people(SideTable((), ()), rows_of([(1.0, "a")] * 3), COLUMNS, np.arange(3))
    assert found.own.shape == (3, 2) and found.cells.shape == (0, 2) and found.many.shape == (0,)
    assert found.ordered == (True, False)
    assert found.covered(np.array([0, 1])) == 0


@pytest.mark.parametrize(("own", "theirs", "fits"), [
    ("INTEGER", "DOUBLE", True), ("VARCHAR", "UUID", True), ("DATE", "DATE", True),
    ("TIMESTAMP", "TIMESTAMP", True), ("VARCHAR", "", True),
    ("VARCHAR", "INTEGER", False), ("INTEGER", "VARCHAR", False), ("DATE", "TIMESTAMP", False),
    ("DATE", "INTEGER", False), ("INTEGER", "DATE", False), ("TIME", "TIMESTAMP", False),
    ("INTEGER", "", False), ("DATE", "", False), ("VARCHAR", "TIME", False),
])
def test_only_types_that_can_be_compared_are(own: str, theirs: str, fits: bool) -> None:
    number, text = pa.array(["1"]), pa.array(["1"])
    people = SideTable(("count", "a", theirs), (pa.array(["4"]), number, text))
    numeric = own not in ("VARCHAR", "UUID")
    cells = CellColumns({0: np.ones(1)} if numeric else {}, {} if numeric else {0: text})

    def read() -> Any:
        return read_people(people, Rows({"cells": cells}, 1), [Column("a", own)], np.arange(1))

    if fits:
        assert read().covered(np.arange(1)) == 4
    else:
        said = f"The column 'a' is {own} in the relation and {theirs} in the population"
        with pytest.raises(DataError, match=said):
            read()
