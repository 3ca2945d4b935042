"""Distances, nearest classes and predicates, held against the slow reference."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.attacks.cells import AttackedColumn, Profiles, profiles_of, read_column
from kanon_sql.attacks.kernels import EQUAL, alone, nearest, once
from tests.evidence import reference

NUMBERS = [None, 0, 1, 2, 3, 5, 8]
TEXTS = [None, "a", "b", "c"]


def number_cell(cell: Any) -> str | None:
    if cell is None:
        return None
    return f"[{cell[0]}, {cell[1]}]" if isinstance(cell, tuple) else str(cell)


def text_cell(cell: Any) -> str | None:
    if cell is None:
        return None
    return "{" + ", ".join(sorted(cell)) + "}" if len(cell) > 1 else next(iter(cell))


def as_text(value: Any) -> str | None:
    return None if value is None else str(value)


ranges = st.tuples(st.integers(0, 4), st.integers(1, 4)).map(lambda pair: (pair[0], sum(pair)))
number_cells = st.one_of(st.none(), st.integers(0, 8), st.just(2.5), ranges)
text_cells = st.one_of(
    st.none(), st.sets(st.sampled_from(TEXTS[1:]), min_size=1, max_size=3).map(frozenset)
)


@st.composite
def tables(draw: Any) -> tuple[list[Any], list[Any]]:
    """Released rows, and people; both with a number and two texts. Every value is somebody's, so
    that a range may stand for all of its values."""
    row = st.tuples(number_cells, text_cells, text_cells)
    person = st.tuples(
        st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from(TEXTS)
    )
    shown = draw(st.lists(row, min_size=1, max_size=12))
    people = draw(st.lists(person, min_size=1, max_size=10))
    everybody = [*people, *((value, text, text) for value in range(9) for text in TEXTS),
                 (None, None, None)]
    return shown, everybody


def columns_of(shown: list[Any], people: list[Any]) -> list[AttackedColumn]:
    found = []
    for a, kind in enumerate(("INTEGER", "VARCHAR", "VARCHAR")):
        text = number_cell if a == 0 else text_cell
        found.append(read_column(
            "abc"[a], kind, "VARCHAR", pa.array([text(row[a]) for row in shown], pa.string()),
            {"inside": pa.array([as_text(row[a]) for row in people], pa.string())}, None,
        ))
    return found


def classes_of(profiles: Profiles, shown: list[Any]) -> list[Any]:
    """The cells of each profile, as they were drawn."""
    first = np.unique(profiles.of_row, return_index=True)[1]
    return [shown[i] for i in first]


@pytest.mark.slow
@given(tables())
def test_the_nearest_are_those_of_the_reference(table: tuple[list[Any], list[Any]]) -> None:
    shown, people = table
    profiles = profiles_of(columns_of(shown, people))
    classes = classes_of(profiles, shown)
    spreads = [Fraction(8), Fraction(1), Fraction(1)]
    for columns in ([0], [1, 2], [0, 1, 2]):
        found = nearest(profiles, profiles.known("inside"), np.array(columns))
        for i, person in enumerate(people):
            distance, best = reference.nearest(classes, person, columns, spreads)
            assert abs(found.distance[i] - float(distance)) < 1e-9
            assert found.profiles[found.start[i]:found.start[i + 1]].tolist() == best


@pytest.mark.slow
@given(tables(), st.data())
def test_predicates_are_true_of_whom_the_reference_says(
    table: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    shown, people = table
    profiles = profiles_of(columns_of(shown, people))
    classes = classes_of(profiles, shown)
    many = len(classes)
    chosen = np.array(data.draw(st.lists(
        st.lists(st.integers(0, many - 1), min_size=3, max_size=3), min_size=1, max_size=20
    )))
    sides = np.array(data.draw(st.lists(
        st.lists(st.sampled_from([-1, 0, 1, EQUAL]), min_size=3, max_size=3),
        min_size=len(chosen), max_size=len(chosen),
    )))
    persons = np.array(data.draw(st.lists(
        st.integers(0, 8), min_size=len(people), max_size=len(people)
    )))
    found = alone(profiles, chosen, sides, profiles.known("inside"), persons)
    for j in range(len(chosen)):
        cells = [classes[chosen[j, a]][a] for a in range(3)]
        assert found[j] == reference.alone(cells, sides[j].tolist(), people, persons.tolist())


@given(tables())
def test_a_predicate_of_all_columns_describes_its_own_class(
    table: tuple[list[Any], list[Any]]
) -> None:
    shown, people = table
    profiles = profiles_of(columns_of(shown, people))
    chosen = np.repeat(np.arange(len(profiles.cells))[:, None], 3, axis=1)
    for side in (-1, 1, EQUAL):
        sides = np.full(chosen.shape, side)
        found = once(profiles, chosen, sides)
        for j, cells in enumerate(classes_of(profiles, shown)):
            like = [
                c for c in classes_of(profiles, shown)
                if c[1:] == cells[1:] and _beyond(c[0], cells[0], side)
            ]
            assert found[j] == (len(like) == 1)


def _beyond(number: Any, than: Any, side: int) -> bool:
    """Whether a published number is on the side of a predicate; a range is only itself."""
    if number is None or than is None:
        return number is than
    if isinstance(than, tuple):
        return bool(number == than)
    low, high = number if isinstance(number, tuple) else (number, number)
    if side == EQUAL:
        return bool(low == high == than)
    return bool(low >= than) if side > 0 else bool(high <= than)


def test_what_is_suppressed_may_be_anything() -> None:
    people = {"inside": pa.array(["1", "3", "5"])}
    column = read_column("n", "INTEGER", "VARCHAR", pa.array(["*", "3"]), people, None)
    assert column.cells.low[:2].tolist() == [0.25, 0.75]
    assert column.cells.high[:2].tolist() == [1.25, 0.75]
    texts = read_column("t", "VARCHAR", "VARCHAR", pa.array(["*", "3"]), people, None)
    assert texts.cells.members[texts.cells.start[0]:texts.cells.start[1]].tolist() == [0, 1, 2]
