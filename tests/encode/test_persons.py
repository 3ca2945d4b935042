"""Rows to persons, held against the same written out: one person at a time, in exact fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Rows
from kanon_sql.encode.persons import Persons, numbered_anew, of_persons, persons_of
from kanon_sql.errors import DataError
from kanon_sql.points.points import Points
from kanon_sql.points.sensitive import SensitiveColumn
from tests.support.thoroughness import examples

NUMBERS = st.sampled_from((0.0, 1.0, -3.5, 0.1, 0.2, 1e300, -1e300, 5e-324, math.nan, math.nan))
WORDS = st.sampled_from(("", "a", "A", "b", "\u00e4", None, None))
ROWS = st.lists(
    st.tuples(st.sampled_from("pqrst"), NUMBERS, WORDS, WORDS, NUMBERS, st.integers(1, 9)),
    min_size=1, max_size=30,
)
Row = tuple[str, float, str | None, str | None, float, int]
"""Whose it is, a number, two categories, a sensitive number, and a hash."""


def rows_of(rows: Sequence[Row]) -> Rows:
    """The rows as DuckDB hands them over: a number and two categories, and two secrets."""
    who, numbers, first, second, pay, hashes = zip(*rows, strict=True)
    paid = [None if math.isnan(value) else repr(value) for value in pay]
    return Rows(
        {
            "row": np.arange(100, 100 + len(rows)),
            "hash": np.array(hashes, np.uint64),
            "cells": CellColumns(
                {0: np.array(numbers)},
                {1: pa.array(first, pa.string()),
                 2: pa.array(second, pa.string()).dictionary_encode()},
            ),
            "secrets": CellColumns(
                {0: np.array(pay)}, {0: pa.array(paid, pa.string()), 1: pa.array(who, pa.string())}
            ),
            "label": pa.array(second, pa.string()),
        },
        len(rows),
    )


def most_frequent(values: Sequence[Any]) -> Any:
    """The first of the most frequent values in the order of texts, a missing one as the last."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value is None, value or ""))


def check_mean(found: float, values: Sequence[float]) -> None:
    """The mean of the values that are there; missing if most are not."""
    known = [value for value in values if not math.isnan(value)]
    if 2 * len(known) < len(values):
        assert math.isnan(found)
        return
    mean = sum(map(Fraction, known)) / len(known)
    if len(set(known)) == 1:
        assert Fraction(found) == mean
    else:
        slack = Fraction(max(map(abs, known))) / 10**14 + Fraction(5e-324)
        assert abs(Fraction(found) - mean) <= slack


@pytest.mark.slow
@settings(max_examples=examples(600))
@given(rows=ROWS, data=st.data())
def test_a_person_is_what_its_rows_have(rows: Sequence[Row], data: st.DataObject) -> None:
    found = persons_of(rows_of(rows), "who", whole_rows=False)
    names = sorted({row[0] for row in rows})
    assert found.rows.count == len(names)
    assert [names[p] for p in found.of_row] == [row[0] for row in rows]
    assert found.numbers.tolist() == list(range(100, 100 + len(rows)))
    cells, secrets = found.rows.fields["cells"], found.rows.fields["secrets"]
    assert sorted(secrets.words) == [0]
    for p, name in enumerate(names):
        own = [row for row in rows if row[0] == name]
        check_mean(cells.numbers[0][p], [row[1] for row in own])
        assert cells.words[1][p].as_py() == most_frequent([row[2] for row in own])
        assert cells.words[2][p].as_py() == most_frequent([row[3] for row in own])
        assert found.rows.fields["label"][p].as_py() == most_frequent([row[3] for row in own])
        paid = {None if math.isnan(row[4]) else repr(row[4]) for row in own}
        word = paid.pop() if len(paid) == 1 else None
        assert secrets.words[0][p].as_py() == word
        number = secrets.numbers[0][p]
        assert math.isnan(number) if word is None else repr(float(number)) == repr(float(word))
        shown = rows[found.shown[p] - 100]
        assert shown[0] == name and shown[5] == min(row[5] for row in own)
    assert found.alone == (len(names) == len(rows))
    # the rows in another order: the same persons
    order = data.draw(st.permutations(range(len(rows))))
    again = persons_of(rows_of([rows[i] for i in order]), "who", whole_rows=False)
    assert told(again) == told(found)


def told(persons: Persons) -> list[Any]:
    """What is known of persons, to the bit."""
    fields = persons.rows.fields
    cells, secrets = fields["cells"], fields["secrets"]
    return [
        fields["hash"].tolist(), cells.numbers[0].view(np.uint64).tolist(),
        [cells.words[j].to_pylist() for j in (1, 2)], secrets.words[0].to_pylist(),
    ]


@settings(max_examples=examples(300))
@given(rows=ROWS)
def test_of_whole_values_one_row_stands_for_a_person(rows: Sequence[Row]) -> None:
    """The values of all columns together that it has most often, of equally frequent ones the
    first."""
    check_whole_values(rows)


def check_whole_values(rows: Sequence[Row]) -> None:
    found = persons_of(rows_of(rows), "who", whole_rows=True)
    cells = found.rows.fields["cells"]
    for p, name in enumerate(sorted({row[0] for row in rows})):
        own = [(row[2], row[3]) for row in rows if row[0] == name]
        taken = (cells.words[1][p].as_py(), cells.words[2][p].as_py())
        counts = Counter(own)
        assert taken == min(counts, key=lambda texts: (
            -counts[texts], *((text is None, text or "") for text in texts)
        ))


def test_a_missing_text_is_not_the_first_one() -> None:
    """Rows with either of them aren't counted together."""
    texts = ["", None, None, "b", "b", "b", ""]
    check_whole_values([("p", 1.0, text, "a", 2.0, 7) for text in texts])
    check_whole_values([("p", 1.0, "a", text, 2.0, 7) for text in texts])


def test_of_whole_values_all_numbers_are_those_of_one_row() -> None:
    rows: list[Row] = [
        ("p", 1.0, "b", "b", 2.0, 7), ("p", 5.0, "a", "b", 2.0, 7), ("p", 9.0, "b", "b", 2.0, 7),
        ("q", 3.0, "a", "b", 2.0, 7),
    ]
    plain = rows_of(rows)
    plain = Rows({**plain.fields, "extra": pa.array([10, 50, 90, 30])}, 4)
    whole = persons_of(plain, "who", whole_rows=True).rows
    assert whole.fields["cells"].numbers[0].tolist() == [1.0, 3.0]
    assert whole.fields["extra"].tolist() == [10.0, 30.0]
    means = persons_of(plain, "who", whole_rows=False).rows
    assert means.fields["cells"].numbers[0].tolist() == [5.0, 3.0]
    assert means.fields["extra"].tolist() == [50.0, 30.0]


def test_who_it_is_is_no_secret_of_a_person() -> None:
    """Whether persons have a number or a name."""
    rows = rows_of([("p", 1.0, "a", "b", 2.0, 7), ("q", 1.0, "a", "b", 3.0, 7)])
    numbered = CellColumns(
        {0: np.array([2.0, 3.0]), 1: np.array([8.0, 9.0])},
        {0: pa.array(["2.0", "3.0"]), 1: pa.array(["8", "9"])},
    )
    found = persons_of(Rows({**rows.fields, "secrets": numbered}, 2), "who", whole_rows=False)
    assert list(found.rows.fields["secrets"].numbers) == [0]
    assert list(found.rows.fields["secrets"].words) == [0]
    alone = CellColumns({0: np.array([8.0, 9.0])}, {0: pa.array(["8", "9"])})
    found = persons_of(Rows({**rows.fields, "secrets": alone}, 2), "who", whole_rows=False)
    assert "secrets" not in found.rows


def test_persons_are_told_apart_by_their_rows_alone() -> None:
    """Two persons with equal rows have equal hashes, whatever they are called."""
    rows: list[Row] = [
        ("p", 1.0, "a", "b", 2.0, 7), ("q", 1.0, "a", "b", 2.0, 7), ("p", 0.0, "a", "b", 2.0, 8),
        ("q", 0.0, "a", "b", 2.0, 8), ("r", 1.0, "a", "b", 2.0, 7), ("r", 0.0, "a", "b", 2.0, 9),
    ]
    p, q, r = persons_of(rows_of(rows), "who", whole_rows=False).rows.numbers("hash").tolist()
    assert p == q != r


def test_rows_of_nobody_are_refused() -> None:
    rows = rows_of([("p", 1.0, "a", "b", 2.0, 7)] * 3)
    words = rows.fields["secrets"].words | {1: pa.array(["p", None, None], pa.string())}
    lacking = Rows(
        {**rows.fields, "secrets": CellColumns(rows.fields["secrets"].numbers, words)}, 3
    )
    with pytest.raises(DataError, match="'who' is NULL in 2 rows, which belong to no person"):
        persons_of(lacking, "who", whole_rows=False)


@settings(max_examples=examples(200))
@given(codes=st.lists(st.integers(0, 6), min_size=1, max_size=20), data=st.data())
def test_persons_are_numbered_as_they_come(codes: Sequence[int], data: st.DataObject) -> None:
    """Under other names they have the same numbers; a missing one keeps its own."""
    other = data.draw(st.permutations(range(6)))
    columns = (SensitiveColumn("ill", ("a", "b")), SensitiveColumn("who", tuple("uvwxyz")))

    def numbered(whose: Sequence[int]) -> Any:
        points = Points.of(
            np.zeros((len(codes), 1)), sensitive=np.column_stack([np.zeros(len(codes)), whose])
        )
        points = Points(points.numeric, points.codes, points.scale, sensitive=points.sensitive,
                        sensitive_columns=columns)
        return numbered_anew(points, "who").sensitive[:, 1].tolist()

    first = list(dict.fromkeys(code for code in codes if code < 6))
    found = numbered(codes)
    assert found == [6 if code == 6 else first.index(code) for code in codes]
    assert found == numbered([6 if code == 6 else other[code] for code in codes])


SAID = (
    ("There are 3 rows in all, fewer than k.", "There are 3 persons in all, fewer than k."),
    ("1 row isn't near the 'rows of \\'row\\'' of a row.",
     "1 person isn't near the 'rows of \\'row\\'' of a person."),
    ('It\'s "row\'s rows" of rows, no arrows.', 'It\'s "row\'s rows" of persons, no arrows.'),
)


@pytest.mark.parametrize(("said", "meant"), SAID)
def test_what_is_refused_of_persons_is_said_of_persons(said: str, meant: str) -> None:
    """Not of names of columns, which stand in quotes, and not where records are rows."""
    with pytest.raises(DataError) as caught, of_persons(object()):
        raise DataError(said)
    assert str(caught.value) == meant
    with pytest.raises(DataError) as caught, of_persons(None):
        raise DataError(said)
    assert str(caught.value) == said
