"""What columns look like, by the rule that the documentation tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.identifier_detection import (
    Looks,
    OfPersons,
    Profile,
    cells_without,
    find_suspects,
    hidden_notice,
    judge,
    look,
    notices_of,
    without,
)
from tests.encode.cities import by_rows
from tests.support.thoroughness import examples

TEXT, WHOLE = Column("t", "VARCHAR"), Column("i", "INTEGER")


def texts(*counts: int) -> list[str]:
    """A text for each count, which so many rows have."""
    return [f"text {n}" for n, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize(("values", "least", "identifier"), [
    (texts(*[1] * 50), 2, True), (texts(*[1] * 49), 2, False),
    (texts(*[1] * 26, 25), 2, True), (texts(*[1] * 25, 25), 2, False),
    (texts(*[1] * 24, 26), 2, False), (texts(*[2] * 25), 2, False),
    (texts(*[2] * 25), 3, True), (texts(*[3] * 17), 3, False), (texts(50), 2, False),
])
def test_texts_of_single_rows_are_an_identifier(
    values: list[str], least: int, identifier: bool, coded: bool
) -> None:
    """Of 50 values, where more than half of the rows have one that too few rows have."""
    array = pa.array([*values, None, None], pa.string())
    found = look(TEXT, None, array.dictionary_encode() if coded else array, least)
    assert found.identifier == identifier and not found.coded
    if len(values) >= 50:
        assert (found.values, found.distinct) == (len(values), len(set(values)))
    else:
        assert found == Looks()
    assert look(Column("t", "BOOLEAN"), None, array, least) == Looks()
    assert look(TEXT, None, pa.nulls(60, pa.string())) == Looks()


def seen(column: Column, values: Sequence[float]) -> Looks:
    """What numbers beside a missing one look like."""
    return look(column, np.array([*values, np.nan], np.float64), None)


@pytest.mark.parametrize("start", [-20, 0, 1, 10**9])
def test_integers_that_number_the_rows_are_an_identifier(start: int) -> None:
    """With no more than a gap for four numbers."""
    plain = [start + i for i in range(60)]
    assert seen(WHOLE, plain).identifier
    assert seen(WHOLE, plain) == Looks(True, False, 60, 60)
    assert not seen(WHOLE, [*plain[:-1], plain[0]]).identifier
    assert not seen(Column("x", "DOUBLE"), plain).identifier
    assert seen(WHOLE, [*plain[:-1], start + 74]).identifier
    assert not seen(WHOLE, [*plain[:-1], start + 75]).identifier
    assert seen(WHOLE, plain[:49]) == Looks()
    assert seen(WHOLE, plain[:50]).identifier


def test_integers_of_few_values_may_be_codes() -> None:
    for distinct in (1, 2, 20, 21):
        for step in (1, 1000):
            found = seen(WHOLE, [i % distinct * step for i in range(84)])
            assert found.coded == (1 < distinct <= 20) and not found.identifier
            if found.coded:
                assert (found.values, found.distinct) == (84, distinct)
    late = [0] * 1000 + [i * 1000 for i in range(30)]
    assert not seen(WHOLE, late).coded


@pytest.mark.parametrize("sign", [1, -1])
def test_integers_that_doubles_round_are_told_by_their_range(sign: int) -> None:
    """Beyond 2**53 two of them may be one double, and the range is known but for rounding."""
    column = Column("i", "BIGINT")
    for begin in (2**53 - 3, 2**53, 2**60 // 64 * 64, 2**55):
        rows = 200 if begin < 2**56 else 4000
        plain = [float(sign * (begin + i)) for i in range(rows)]
        assert seen(column, plain).identifier, begin
        assert seen(column, plain).distinct == rows
        for stretch in (3, 0.5):
            wide = [float(sign * (begin + int(i * stretch))) for i in range(rows)]
            assert not seen(column, wide).identifier, begin
    near = [float(sign * (2**62 + i * 512)) for i in range(60)]
    assert not seen(column, near).identifier
    assert seen(column, [float(sign * (2**53 + 1 - i)) for i in range(60)]).identifier
    # a range that isn't known to more than half of the rows says nothing
    assert not seen(column, [float(sign * (2**60 + i)) for i in range(60)]).identifier


@pytest.mark.parametrize(("rows", "span", "identifier"), [
    (4097, 4096 - 768, False), (4097, 4096 - 512, True), (4097, 4096, True),
    (4097, 4096 + 512, True), (4097, 4096 + 768, False),
    (1024, 1024, False), (1025, 1024, True),
])
def test_a_range_is_known_but_for_two_steps_of_a_double(
    rows: int, span: int, identifier: bool
) -> None:
    """Which are 256 each above 2**60, and less below. They must be less than half of the rows."""
    low = 2**60 - 1024
    values = np.linspace(0, span, rows)
    found = seen(Column("i", "BIGINT"), [float(low + int(value)) for value in values])
    assert found.identifier == identifier


@settings(max_examples=examples(300))
@given(
    kind=st.sampled_from(("VARCHAR", "INTEGER", "DOUBLE", "BOOLEAN", "ENUM('a')")),
    values=st.integers(0, 120), distinct=st.integers(0, 120), common=st.integers(0, 120),
    span=st.none() | st.integers(0, 150),
)
def test_a_profile_is_judged_by_the_rule(
    kind: str, values: int, distinct: int, common: int, span: int | None
) -> None:
    profile = Profile("a", kind, values + 3, values, distinct, common,
                      None if span is None else 7, None if span is None else 7 + span)
    found = judge(profile)
    text = kind in ("VARCHAR", "ENUM('a')") and values >= 50
    whole = kind == "INTEGER" and values >= 50 and span is not None
    assert found.identifier == (
        (text and common < values / 2)
        or (whole and distinct == values and span is not None and span / values < 1.25)
    )
    assert found.coded == (whole and 2 <= distinct <= 20)
    counted = (values, distinct) if text or whole else (0, 0)
    assert (found.values, found.distinct) == counted


@pytest.mark.parametrize(("span", "identifier"), [(59, True), (74, True), (75, False)])
def test_a_gap_for_more_than_four_numbers_is_too_many(span: int, identifier: bool) -> None:
    assert judge(Profile("a", "INTEGER", 60, 60, 60, 0, 0, span)).identifier == identifier


def test_a_profile_is_read_from_what_sql_counts() -> None:
    struct = {"rows": 9, "values": 8, "distinct": 7, "common": 6, "low": "-5", "high": "4"}
    assert Profile.of(WHOLE, struct) == Profile("i", "INTEGER", 9, 8, 7, 6, -5, 4)
    struct |= {"low": None, "high": None}
    assert Profile.of(TEXT, struct) == Profile("t", "VARCHAR", 9, 8, 7, 6)


def test_what_tells_persons_apart() -> None:
    def persons(
        many: int = 50, distinct: int = 50, common: int = 0, agree: bool = True, several: int = 50
    ) -> OfPersons:
        return OfPersons(many, distinct, common, agree, several)

    assert persons().like_entity(1.0) and persons(distinct=45).like_entity(0.9)
    assert not persons(distinct=44).like_entity(0.9)
    assert not persons(49, 49).like_entity(0.0)
    assert not persons(agree=False).like_entity(0.0)
    assert persons(common=24).is_entity("VARCHAR") and persons(several=0).is_entity("VARCHAR")
    assert not persons(common=25).is_entity("VARCHAR")
    assert not persons(agree=False).is_entity("VARCHAR")
    assert not persons().is_entity("BOOLEAN")
    assert persons(common=50).is_entity("BIGINT")
    assert not persons(distinct=49).is_entity("BIGINT")
    assert not persons(several=49).is_entity("BIGINT")
    assert not persons().is_entity("DOUBLE")
    plain = Profile("a", "VARCHAR", 200, 150, 120, 10, 3, 4)
    assert persons(60, 55, 5).of(plain) == Profile("a", "VARCHAR", 60, 60, 55, 5, 3, 4)
    assert persons(agree=False).of(plain) == plain


def test_what_is_said_of_a_column() -> None:
    hidden, coded = Looks(True, False, 60, 60), Looks(False, True, 60, 3)
    assert notices_of("a", hidden, named=False) == (hidden_notice("a"),)
    assert "identifiers=['a'], or" in hidden_notice("a")
    assert hidden_notice("a").endswith("quasi_identifiers=['a', ...].")
    assert notices_of("a", hidden, named=True) == ()
    for named in (True, False):
        (said,) = notices_of("a", coded, named)
        assert "only 3 different" in said and "categorical=['a']" in said
        assert notices_of("a", coded, named, generalized=False) == ()
    assert notices_of("a", Looks(), named=False) == ()


ROWS = [(f"name {i}", float(i), float(i % 3), f"city {i % 2}") for i in range(60)]
COLUMNS = [Column("Name", "VARCHAR"), Column("Number", "INTEGER"), Column("Code", "INTEGER"),
           Column("City", "VARCHAR")]


def cells_of(rows: Sequence[Any]) -> CellColumns:
    name, number, code, city = zip(*rows, strict=True)
    return CellColumns({1: np.array(number), 2: np.array(code)},
                       {0: pa.array(name, pa.string()), 3: pa.array(city, pa.string())})


@pytest.mark.parametrize("shape", [cells_of, by_rows])
def test_columns_that_nobody_named_are_looked_at(shape: Any) -> None:
    """Of named ones only whether they may be codes."""
    rows = Rows({"cells": shape(ROWS)}, 60)
    found = find_suspects(rows, COLUMNS, {"city"})
    assert found.hidden == ("Name", "Number")
    assert [said.split("'")[1] for said in found.notices] == ["Name", "Number", "Code"]
    found = find_suspects(rows, COLUMNS, {"name", "code", "city"})
    assert found.hidden == ("Number",) and len(found.notices) == 2
    assert find_suspects(rows, COLUMNS, None).hidden == ()
    assert ["'Code' holds integers" in said for said in find_suspects(
        rows, COLUMNS, None).notices] == [True]
    assert find_suspects(rows, COLUMNS, None, told=["Code"]).notices == ()
    assert find_suspects(rows, COLUMNS, {"city"}, told=["Code"]).hidden == ("Name", "Number")


def test_texts_that_too_few_rows_have_are_found_by_the_number_asked_for() -> None:
    rows = Rows({"cells": CellColumns({}, {0: pa.array(texts(*[3] * 20))})}, 60)
    assert find_suspects(rows, [TEXT], (), least=4).hidden == ("t",)
    assert find_suspects(rows, [TEXT], (), least=3).hidden == ()
    rows = Rows({"cells": CellColumns({}, {0: pa.array(texts(*[2] * 30))})}, 60)
    assert find_suspects(rows, [TEXT], ()).hidden == ()


@pytest.mark.parametrize("column", [TEXT, WHOLE])
@pytest.mark.parametrize(("rows_each", "differ", "nobody", "hidden"), [
    (1, False, False, True), (3, False, False, True), (3, True, False, False),
    (3, False, True, False),
])
def test_of_persons_one_value_of_each_is_looked_at(
    column: Column, rows_each: int, differ: bool, nobody: bool, hidden: bool
) -> None:
    """Where all rows of a person have it or none; a missing one contradicts nothing."""
    whose = np.array([p for _ in range(rows_each) for p in range(60)])
    values: list[int | None] = [int(p) for p in whose]
    if rows_each > 1:
        values[60] = values[1] = None
    if differ:
        values[119] = 7
    if nobody:
        whose[5] = -1
    if column is TEXT:
        words = pa.array([None if v is None else f"x{v}" for v in values], pa.string())
        cells = CellColumns({}, {0: words})
    else:
        cells = CellColumns({0: np.array([np.nan if v is None else v for v in values])}, {})
    rows = Rows({"cells": cells}, len(values))
    assert bool(find_suspects(rows, [column], (), whose).hidden) == hidden
    nothing = Rows({"cells": CellColumns({0: np.zeros(0)}, {0: pa.array([], pa.string())})}, 0)
    assert find_suspects(nothing, [column], (), np.zeros(0, np.int64)).hidden == ()


@pytest.mark.parametrize("shape", [cells_of, by_rows])
def test_hidden_columns_are_taken_out_of_the_cells_alone(shape: Any) -> None:
    secrets = CellColumns({}, {0: pa.array(["a"] * 60)})
    whole = Rows({"cells": shape(ROWS), "center": shape(ROWS), "secrets": secrets,
                  "row": np.arange(60)}, 60)
    rows, columns = without(whole, COLUMNS, ["Name", "Code"])
    assert [column.name for column in columns] == ["Number", "City"]
    assert rows.count == 60
    for name in ("cells", "center"):
        kept = find_suspects(Rows({"cells": rows.fields[name]}, 60), columns, ())
        assert kept.hidden == ("Number",)
    assert rows.fields["secrets"] is secrets and rows.fields["row"] is whole.fields["row"]
    assert cells_without(whole.fields["cells"], COLUMNS, ["x"]) is whole.fields["cells"]
    assert Counter(type(v) for v in rows.fields.values()) == Counter(
        type(v) for v in whole.fields.values())
