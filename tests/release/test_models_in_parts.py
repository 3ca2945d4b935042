"""The SQL of privacy models where there are parts, persons or blocks: each part is held against its
own rows, each person counts once, and a block is held against the rows of all blocks. It says of
each class what the reference says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
import pytest

from kanon_sql.call.relation import Relation
from kanon_sql.plan.models import domain_sql, of_part
from kanon_sql.privacy import Closeness, EntityShare, PrivacyModel
from kanon_sql.sql import statement
from tests.privacy.histograms import KINDS, NUMBERS, THRESHOLDS, levels_of, model_of
from tests.privacy.reference import Levels
from tests.release.test_models_sql import hold, passing, paths_of
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection

con = registered("SET threads = 1")

CELLS = "__kanon_key(x) AS label, __kanon_value(x) AS sorted, (__kanon_cell(x)).number AS number"


class Row(NamedTuple):
    """A row of a table: its part, its class, whose it is, and its sensitive value."""

    part: int
    group: int
    who: str
    x: Any


def of_rows(rows: Sequence[Row]) -> dict[int, list[tuple[int, Any]]]:
    """Of each part the class and the value of each row."""
    found: dict[int, list[tuple[int, Any]]] = {}
    for row in rows:
        found.setdefault(row.part, []).append((row.group, row.x))
    return found


def of_persons(rows: Sequence[Row]) -> dict[int, list[tuple[int, Any]]]:
    """The same of each person in a class: the value that all their rows have, or none."""
    values: dict[tuple[int, int, str], set[Any]] = {}
    for row in rows:
        values.setdefault((row.part, row.group, row.who), set()).add(row.x)
    found: dict[int, list[tuple[int, Any]]] = {}
    for (part, group, _), own in values.items():
        found.setdefault(part, []).append((group, own.pop() if len(own) == 1 else None))
    return found


def histogram(persons: bool, in_parts: bool) -> str:
    """SQL of how often each value is in each class of the table ``rows``."""
    part = of_part(in_parts)["part"]
    cells = f"SELECT {part}class AS combination, who AS entity, {CELLS} FROM rows"
    if persons:
        return statement("models.histogram_of_persons", rows=cells, part=part)
    return (
        f"SELECT {part}combination, label, min(sorted) AS sorted, min(number) AS number,"
        f" count(*) AS size FROM ({cells}) GROUP BY {part}combination, label"
    )


def write(con: Connection, rows: Sequence[Row]) -> None:
    con.execute("CREATE OR REPLACE TEMP TABLE rows (part INT, class INT, who VARCHAR, x DOUBLE)")
    con.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", [list(row) for row in rows])


def compare(
    con: Connection, model: PrivacyModel, rows: Sequence[Row], persons: bool, in_parts: bool,
    levels: Levels = (),
) -> None:
    found = passing(con, model, histogram(persons, in_parts), paths_of(levels), in_parts)
    parts = rows if in_parts else [row._replace(part=0) for row in rows]
    for pairs in (of_persons(parts) if persons else of_rows(parts)).values():
        labels, values = zip(*pairs, strict=True)
        own = {group: found.pop(group) for group in set(labels)}
        hold(own, model, list(values), list(labels), levels)
    assert not found


def rows_of(text: str) -> list[Row]:
    """Rows, each a word of part, class, person, and the place of a number or - where it is
    missing."""
    return [
        Row(int(part), int(group), who, None if x == "-" else NUMBERS[int(x)])
        for part, group, who, x in text.split()
    ]


# some persons have two rows in a class: of one value, of two, of a value and a missing one
TABLE = rows_of(
    "00a1 00a2 00d4 00d4 00e1 00f6 00g1 01b4 01b6 01h4 01i4 01j- 01k7 02c6 02c- 02l6 02m7 02n1"
    " 13a3 13b3 13b3 13o5 13p0 14c3 14q5 14q5 14r7 14s7 14t0 25u2 25v2 25w6 25w6"
)
LIMITS = {**THRESHOLDS, **dict.fromkeys(("equal", "ordered", "numeric", "hierarchy"), (0.4, 0.15))}
KNOWN = [row for row in TABLE if row.x is not None and row.who not in "abc"]


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
def test_each_part_is_held_against_its_own_rows(
    con: Connection, kind: str, persons: bool
) -> None:
    levels = levels_of(len(NUMBERS)) if kind == "hierarchy" else ()
    for rows in (TABLE, KNOWN):
        write(con, rows)
        for nulls in ("worst", "value"):
            for threshold in LIMITS[kind][:2]:
                compare(con, model_of(kind, threshold, nulls), rows, persons, True, levels)


@pytest.mark.parametrize("kind", ["entropy", "ordered", "numeric", "by_value"])
def test_each_person_has_one_value_or_none(con: Connection, kind: str) -> None:
    write(con, TABLE)
    for nulls in ("worst", "value"):
        compare(con, model_of(kind, LIMITS[kind][0], nulls), TABLE, True, False)


@pytest.mark.parametrize(("k", "kept"), [(2, True), (3, False)])
def test_the_share_of_a_person_is_that_of_the_one_with_the_most_rows(
    con: Connection, k: int, kept: bool
) -> None:
    con.execute("CREATE OR REPLACE TEMP TABLE rows AS SELECT 0 AS class, "
                "['a', 'a', 'a', 'b', 'b', 'c'][i + 1] AS x FROM range(6) AS r(i)")
    histogram = ("SELECT class AS combination, x AS label, x AS sorted, NULL::DOUBLE AS number,"
                 " count(*) AS size FROM rows GROUP BY class, x")
    assert passing(con, EntityShare(column="x", k=k), histogram) == {0: (kept, 0.5)}


@pytest.mark.parametrize("nulls", ["worst", "value"])
def test_a_part_without_a_number_leaves_the_others_their_order(
    con: Connection, nulls: str
) -> None:
    rows = [*rows_of("00a- 00b- 01c- 01d-"), *(row for row in TABLE if row.part)]
    write(con, rows)
    for t in (0.15, 0.4):
        unsaid = Closeness(column="x", nulls=nulls, t=t)
        said = Closeness(column="x", nulls=nulls, t=t, distance="ordered")
        found = passing(con, unsaid, histogram(False, True), None, True)
        for pairs in of_rows(rows).values():
            labels, values = zip(*pairs, strict=True)
            hold({group: found[group] for group in labels}, said, list(values), list(labels))


def test_where_each_person_has_two_numbers_none_is_known(con: Connection) -> None:
    rows = rows_of("00a1 00a2 00b1 00b3 01c5 01c6 01d1 01d2")
    write(con, rows)
    unsaid = Closeness(column="x", nulls="worst", t=0.0)
    found = passing(con, unsaid, histogram(True, False))
    assert found == {0: (True, 0.0), 1: (True, 0.0)}


@pytest.mark.parametrize("kind", ["equal", "ordered", "numeric", "hierarchy", "delta", "enhanced"])
def test_a_block_is_held_against_the_rows_of_all(con: Connection, kind: str) -> None:
    """Two classes are looked at without the others."""
    levels = levels_of(len(NUMBERS)) if kind == "hierarchy" else ()
    write(con, TABLE)
    every = domain_sql(f"({histogram(False, False)})")
    con.execute(f"CREATE OR REPLACE TEMP TABLE domain AS {every}")
    domain = Relation("domain", ("domain",))
    values, labels = [row.x for row in TABLE], [row.group for row in TABLE]
    for nulls in ("worst", "value"):
        for threshold in LIMITS[kind][:2]:
            model = model_of(kind, threshold, nulls)
            found: dict[int, tuple[bool, float]] = {}
            for block in ("(0, 3)", "(1, 4)", "(2, 5)"):
                of_block = f"SELECT * FROM ({histogram(False, False)}) WHERE combination IN {block}"
                found |= passing(con, model, of_block, paths_of(levels), False, domain)
            hold(found, model, values, labels, levels)
