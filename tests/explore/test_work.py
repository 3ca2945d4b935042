"""What the page is told, and that newer work stops the older."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.duckdb.register import register
from kanon_sql.errors import OptionError
from kanon_sql.explore.answers import (
    ColumnsFound,
    FrontierPoint,
    Preview,
    Refused,
    ReleaseNumbers,
    ShownRows,
    Stage,
)
from kanon_sql.explore.choices import Choices, first_choices
from kanon_sql.explore.lane import Lane
from kanon_sql.explore.source import RELATION, ExploredTable, explored
from kanon_sql.explore.work import KS, Workbench, suggestions
from kanon_sql.explore.written import NamedSource

PEOPLE = """
    CREATE TABLE people AS
    SELECT 'CANARY ' || i AS name, 20 + i * 7 % 50 AS age, 'zip ' || i * 37 % 12 AS zip,
           'town ' || i * 37 % 12 // 4 AS town, ['Flu', 'Cold', 'HIV'][1 + (i // 4) % 3] AS disease,
           'v-' || i // 2 AS visit
    FROM range(200) AS r(i)
"""
ROLES = {
    "name": "identifier", "age": "quasi_identifier", "zip": "quasi_identifier",
    "town": "quasi_identifier", "disease": "sensitive", "visit": "identifier",
}


@pytest.fixture(scope="module")
def table() -> Iterator[ExploredTable]:
    with register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(PEOPLE)
        yield explored(con, NamedSource(("people",), "people"))


def told(table: ExploredTable, choices: Choices, show_values: bool = False) -> list[Stage]:
    return list(Workbench(table).stages(table.con, choices, show_values))


@pytest.mark.slow
def test_the_parts_come_in_order_and_are_those_of_the_release(table: ExploredTable) -> None:
    parts = told(table, Choices(ROLES, k=4, l=2))
    assert [type(part) for part in parts] == [
        ColumnsFound, ReleaseNumbers, ShownRows, *[FrontierPoint] * (len(KS) + 1)
    ]
    options: dict[str, Any] = {
        "quasi_identifiers": ["age", "zip", "town"], "sensitive": ["disease"], "l": 2,
        "identifiers": ["name", "visit"], "progress": False, "method": "mdav_star",
    }
    release = kanon_sql.release(RELATION, con=table.con, k=4, **options)
    numbers = parts[1]
    assert isinstance(numbers, ReleaseNumbers)
    for name in ("k", "classes", "information_loss", "prosecutor_risk_max", "rows_released"):
        assert numbers.values[name] == release.metrics[name]
    shown = parts[2]
    assert isinstance(shown, ShownRows) and set(shown.names) == {"age", "zip", "town", "disease"}
    assert sum(bar.after for bar in shown.sizes) == 200
    rows = {tuple(map(str, row.values())) for row in release.data.to_pylist()}
    assert set(shown.rows) <= rows
    classes = [row[:-1] for row in shown.rows]
    assert len(set(classes)) == len(classes)
    points = [part for part in parts if isinstance(part, FrontierPoint)]
    assert points[0].k == 4 and sorted(point.k for point in points) == [2, 3, 4, 5, 10, 20, 50]
    for point in points:
        if not point.refused:
            own = kanon_sql.release(RELATION, con=table.con, k=point.k, **options).metrics
            assert (point.risk, point.classes) == (own["prosecutor_risk_max"], own["classes"])
            assert point.loss == pytest.approx(own["information_loss"] / 100)


@pytest.mark.slow
@pytest.mark.parametrize("show_values", [False, True])
def test_no_part_holds_a_value_of_an_identifier(table: ExploredTable, show_values: bool) -> None:
    for part in told(table, Choices(ROLES), show_values):
        assert "CANARY" not in repr(part) and "v-1" not in repr(part)


@pytest.mark.slow
def test_warnings_name_what_they_are_about(table: ExploredTable) -> None:
    (columns, *_) = told(table, Choices({**ROLES, "name": "quasi_identifier"}))
    assert isinstance(columns, ColumnsFound)
    by_name = {column.name: " ".join(column.warnings) for column in columns.columns}
    assert "looks like an identifier" in by_name["name"]
    assert "determines 'town'" in by_name["zip"]
    assert first_choices(suggestions(table.con)).roles["name"] == "identifier"


def test_an_identifier_does_not_come_out_unchanged(table: ExploredTable) -> None:
    with pytest.raises(OptionError, match=r"The column 'name' looks like an identifier"):
        told(table, Choices({**ROLES, "name": "other"}))


@pytest.mark.parametrize("wrong", [
    {"disease": ""}, {"age": "sensitive", "zip": "sensitive", "town": "sensitive"},
    {"name": "entity", "visit": "entity"},
])
def test_refused_choices_still_have_columns(table: ExploredTable, wrong: dict[str, str]) -> None:
    stages = Workbench(table).stages(table.con, Choices({**ROLES, **wrong}), False)
    assert isinstance(next(stages), ColumnsFound)
    with pytest.raises(OptionError):
        next(stages)


def test_only_a_column_that_is_generalized_has_levels(table: ExploredTable) -> None:
    choices = Choices(ROLES).with_hierarchy("zip", "flat").with_hierarchy("name", "flat")
    bench = Workbench(table)
    (levels,) = bench.preview(table.con, choices, "zip", False)
    assert isinstance(levels, Preview) and [each.labels for each in levels.levels] == [12, 1]
    for column in ("name", "age", "none"):
        with pytest.raises(OptionError, match="is not generalized"):
            list(bench.preview(table.con, choices, column, True))


@pytest.mark.slow
def test_an_answer_is_remembered(table: ExploredTable) -> None:
    bench, choices = Workbench(table), Choices(ROLES, k=4)
    first = list(bench.stages(table.con, choices, False))
    closed = duckdb.connect()
    closed.close()
    again = list(bench.stages(closed, choices, False))
    assert [one is other for one, other in zip(first[:3], again[:3], strict=True)] == [True] * 3
    with pytest.raises(OptionError, match="con is closed"):
        list(bench.stages(closed, replace(choices, l=2), False))


def test_newer_work_stops_the_older_one_in_the_middle_of_a_query() -> None:
    with register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute("CREATE TABLE people AS FROM read_parquet(?)", [adult()])
        table = explored(con, NamedSource(("people",), "people"))
        lane, heard, over = Lane(con), list[Stage | None](), threading.Event()
        begun, ended = threading.Event(), threading.Event()

        def long(cursor: Any) -> Iterator[Stage]:
            begun.set()
            try:
                kanon_sql.anonymize(RELATION, con=cursor, k=5, method="best", progress=False)
                yield Refused("the older one")
            finally:
                ended.set()

        lane.start(long, heard.append)
        assert begun.wait(60)

        def short(cursor: Any) -> Iterator[Stage]:
            assert ended.is_set()
            yield Refused("the newer one")

        def hear(stage: Stage | None) -> None:
            heard.append(stage)
            if stage is None:
                over.set()

        lane.start(short, hear)
        assert over.wait(60)
        assert heard == [Refused("the newer one"), None]
        assert table.rows == 30_162
        lane.stop()


def test_an_error_of_another_kind_tells_no_value(table: ExploredTable) -> None:
    lane, heard, over = Lane(table.con), list[Stage | None](), threading.Event()

    def broken(cursor: Any) -> Iterator[Stage]:
        cursor.execute("SELECT CAST('CANARY' AS INTEGER)")
        yield Refused("")

    def hear(stage: Stage | None) -> None:
        heard.append(stage)
        over.set()

    lane.start(broken, hear)
    assert over.wait(60)
    assert heard == [Refused(
        "DuckDB can't do this (ConversionException). Choose something else."
    )]
