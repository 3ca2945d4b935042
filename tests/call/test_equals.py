"""Every option may be written name=value: what is read is what name := value gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.arguments import read_arguments
from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.plan.macros import FIRST, PLANNER, SLOTS, parameters
from kanon_sql.udfs.planner import PARAMETERS

Connection = duckdb.DuckDBPyConnection

BY_TYPE = {
    "VARCHAR": ["'a'", "'it''s'", "'x = (y)'", "lower('A')"],
    "VARCHAR[]": ["['a', 'b c', 'it''s']", "'a'", "[]"],
    "INTEGER": ["5", "2 + 3"],
    "BIGINT": ["5", "9223372036854775807"],
    "DOUBLE": ["0.05", "1e-3", "2", "0.1::FLOAT"],
    "VARCHAR, or STRUCT or MAP": ["'median'", "{'age': 'median', '*': 'interval'}"],
    "DOUBLE, or STRUCT or MAP": [
        "0.2", "3", "{'disease': 3, 'pay (net)': 0.25}", "MAP {'disease': 2}",
        "MAP {'it''s HIV': 0.1, 'flu': 0.5}", "{'disease': {'HIV': 0.1, 'flu': 0.5}}",
    ],
    "BOOLEAN": ["true", "false", "(1 = 1)"],
    "STRUCT or MAP": [
        "{'a': 2, 'b c': 0.5}", "MAP {'a': 2}", "{'a': 'bins', 'b': 'flat'}",
        "{'a': {'kind': 'bins', 'width': 2.5}, 'it''s': 'struct_pack'}",
        "MAP {'a': {'kind': 'ordered', 'ranking': ['x', 'y (z)']}}",
        "{'lat': [-90, 90], 'lon': [-180.5, 180]}",
    ],
    "DOUBLE or VARCHAR": ["2.5", "'cost'"],
    "DOUBLE or 'best'": ["0.2", "'best'"],
    "INTEGER or 'auto'": ["2", "'auto'"],
}
KIND_VALUES = [
    "5", "2.5", "-1", "'#'", "'pairs'", "['low', 'mid', 'it''s high']", "[1, 2, 3]",
    "[[-90, 90], [-180.5, 180]]",
]


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    """A connection whose planner only tells what it reads."""
    connection = duckdb.connect()

    def tell(
        call: str, relation: str, path: str, slots: Any, named: Any, database: str, collation: str,
        caller: int, home: str,
    ) -> str:
        texts = zip(parameters(call), named[0::2], named[1::2], strict=True)
        given = json.dumps(read_arguments(slots, texts, FIRST.get(call)), sort_keys=True)
        return "SELECT '" + given.replace("'", "''") + "' AS given"

    connection.create_function(  # type: ignore[call-overload]
        PLANNER, tell, list(PARAMETERS), "VARCHAR", null_handling="special"
    )
    yield kanon_sql.register(connection)
    connection.close()


def read(con: Connection, call: str, arguments: str) -> Any:
    ((given,),) = con.execute(f"FROM {call}('t', {arguments})").fetchall()
    return json.loads(given)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_of_the_registry(con: Connection, name: str) -> None:
    for call in ALL_CALLS:
        if call in OPTIONS[name].calls:
            for value in BY_TYPE[OPTIONS[name].type]:
                named = read(con, call, f"{name} := {value}")
                assert list(named) == [name]
                assert read(con, call, f"{name}={value}") == named
                assert read(con, call, f"{name} = {value}, k=3" if name != "k" else "k=5")


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", sorted({n for kind in KINDS.values() for n in kind.options}))
def test_every_option_of_every_kind(con: Connection, name: str) -> None:
    for value in KIND_VALUES:
        named = read(con, "hierarchy", f"column_name := 'zip', kind := 'bins', {name} := {value}")
        assert set(named) == {"column_name", "kind", name}
        for written in (
            f"'zip', kind='bins', {name}={value}",
            f"zip, {name}={value}, kind='bins'",
            f"{name}={value}, column_name='zip', kind='bins'",
            f"'zip', kind='bins', {name} := {value}",
        ):
            assert read(con, "hierarchy", written) == named, written


def test_all_options_that_go_into_one_call(con: Connection) -> None:
    names = [name for name, option in OPTIONS.items() if "anonymize" in option.calls][:SLOTS]
    values = {name: BY_TYPE[OPTIONS[name].type][0] for name in names}
    written = ", ".join(f"{name}={value}" for name, value in values.items())
    assert set(read(con, "anonymize", written)) == set(names)


@pytest.mark.parametrize("written", ["gamma=NULL", "column_weights := NULL",
                                     "sensitive=NULL::VARCHAR[]"])
def test_null_is_refused(con: Connection, written: str) -> None:
    name = written.partition("=")[0].strip(": ")
    with pytest.raises(duckdb.Error, match=f"The value of {name} is NULL"):
        read(con, "anonymize", f"k=5, {written}")
