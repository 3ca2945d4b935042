"""What a server answers, statement by statement; the parser is that of the DuckDB that runs."""

from __future__ import annotations

from typing import Any

import pytest

from kanon_sql.serve.rights import ServedTable, refuse_call
from kanon_sql.serve.statements import (
    MOST_BYTES,
    CallRequest,
    NotAllowedError,
    ReadRequest,
    is_catalog,
    read_statement,
)
from tests.serve.hostile import ANALYST, READER

ROLES = {"age": "quasi_identifier", "sex": "quasi_identifier", "job": "sensitive"}
TABLES = {
    "patients": ServedTable("patients", "t", ROLES, {"k": 5}),
    "strict": ServedTable("strict", "t", ROLES, {
        "k": 5, "l": 3, "t": 0.3, "alpha": {"job": 0.5}, "diversity_kind": "entropy",
    }),
}


def answered(right: str, text: str) -> bool:
    """Whether a server with the table and the release patients answers."""
    try:
        asked = read_statement(text)
        if isinstance(asked, CallRequest) and right == "analyst":
            refuse_call(asked, TABLES)
            return True
        return isinstance(asked, ReadRequest) and right == "reader" and asked.table == "patients"
    except NotAllowedError:
        return False


@pytest.mark.parametrize("text", dict.fromkeys(ANALYST))
def test_an_analyst_gets_no_other_statement(text: str) -> None:
    assert not answered("analyst", text)


OF_THE_RELEASE = {
    "SELECT undeclared FROM patients", "SELECT name FROM patients", "SELECT patients FROM patients",
}
"""What a reader may ask for: columns that the release doesn't have, and its rows as structs."""


@pytest.mark.parametrize("text", dict.fromkeys(READER))
def test_a_reader_gets_no_other_statement(text: str) -> None:
    assert answered("reader", text) == (text in OF_THE_RELEASE)


@pytest.mark.parametrize(("text", "asked"), [
    ("FROM patients", ReadRequest("patients")),
    ("select a, b from main.patients limit 3 offset 2;", ReadRequest("patients")),
    ("SELECT #1, #2 FROM patients", ReadRequest("patients")),
    ("SELECT NULL::BOOLEAN FROM patients", ReadRequest("patients")),
    ("FROM kanon.anonymize('t', k=5)", CallRequest("anonymize", "t", {"k": 5})),
    ("SELECT a FROM kanon.Anonymize('T', K := 5, method = 'mdav') LIMIT 9",
     CallRequest("anonymize", "T", {"k": 5, "method": "mdav"})),
    ("FROM kanon.anonymize('t', l := {'a': 2}, r := ['x', 'y'], s := 0.25, c := true, d := 1e-1)",
     CallRequest("anonymize", "t", {
         "l": {"a": 2}, "r": ["x", "y"], "s": 0.25, "c": True, "d": 0.1,
     })),
])
def test_what_is_answered(text: str, asked: Any) -> None:
    assert read_statement(text) == asked


@pytest.mark.parametrize("text", [
    "FROM patients" + " " * MOST_BYTES, "FROM kanon.anonymize('t', a := " + "[" * 5000,
    "FROM kanon.anonymize('t', a := " + "[" * 2000 + "1" + "]" * 2000 + ")", "(" * 9000,
])
def test_what_is_huge_is_refused(text: str) -> None:
    with pytest.raises(NotAllowedError):
        read_statement(text)


def test_what_attach_asks_for_is_known_to_the_letter() -> None:
    assert is_catalog(
        "\nSELECT schema_name, sql, 'table'\nFROM duckdb_tables()\nUNION ALL\n"
        "SELECT schema_name, view_name, 'view'\nFROM duckdb_views()\n\t"
    )
    assert not is_catalog("SELECT schema_name, sql, 'table' FROM duckdb_tables()")


STRICT = "l := 3, t := 0.3, alpha := {'job': 0.5}, diversity_kind := 'entropy'"


@pytest.mark.parametrize(("call", "fits"), [
    ("anonymize('patients', k=5)", True), ("anonymize('PATIENTS', k=500)", True),
    ("anonymize('patients', k=5, method := 'mdav', representation := 'interval')", True),
    ("anonymize('patients', k=5, l := 2)", True), ("anonymize_metrics('patients', k=5)", True),
    ("anonymize_manifest('patients', k=5, suppress := 0.1)", True),
    ("k_anonymity('patients', k=1)", True), ("anonymize_risk('patients')", True),
    ("anonymize('patients', k=4)", False), ("anonymize('patients')", False),
    ("anonymize('strict', k=5)", False), (f"anonymize('strict', k=5, {STRICT})", True),
    (f"anonymize('strict', k=5, {STRICT.replace('l := 3', 'l := 4')})", True),
    (f"anonymize('strict', k=5, {STRICT.replace('l := 3', 'l := 2')})", False),
    (f"anonymize('strict', k=5, {STRICT.replace('0.3', '0.2')})", True),
    (f"anonymize('strict', k=5, {STRICT.replace('0.3', '0.4')})", False),
    (f"anonymize('strict', k=5, {STRICT.replace('0.5', '0.6')})", False),
    (f"anonymize('strict', k=5, {STRICT.replace('entropy', 'distinct')})", False),
    (f"anonymize('strict', k=5, {STRICT.replace('l := 3', 'l := {{JOB: 3}}'.format())})", True),
    (f"anonymize('strict', k=5, {STRICT.replace('l := 3', 'l := {{job: 2}}'.format())})", False),
    (f"anonymize('strict', k=5, {STRICT.replace('l := 3', 'l := {{job: 3, a: 9}}'.format())})",
     False),
    (f"anonymize('strict', k=5, {STRICT.replace(chr(39) + 'job' + chr(39) + ': 0.5', 'job: 0.4')})",
     True),
    (f"anonymize('strict', k=5, {STRICT.replace('0.5}', '0.5, x: 1}')})", True),
    ("anonymize('patients', k=5, diversity_kind := 'recursive')", False),
    ("anonymize('patients', k=5, sensitive_nulls := 'value')", False),
])
def test_a_call_is_no_weaker_than_declared(call: str, fits: bool) -> None:
    assert answered("analyst", f"FROM kanon.{call}") == fits


@pytest.mark.parametrize(("options", "beyond"), [
    ({"k": 5, "l": 2, "method": "mdav", "others": "drop", "seed": 1}, None),
    ({"hierarchies": {"age": "bins"}}, None), ({"hierarchies": {"JOB": "h"}}, "hierarchies"),
    ({"hierarchies": "h"}, "hierarchies"), ({"max_risk": 0.05}, "max_risk"),
    ({"within": ["day"]}, "within"), ({"nulls": "suppress"}, "nulls"), ({"ledger": "l"}, "ledger"),
    ({"headroom": 1}, "headroom"), ({"sensitive_values": ["x"]}, "sensitive_values"),
    ({"small_parts": "join"}, "small_parts"), ({"roles": "r"}, "roles"),
])
def test_what_a_call_could_pass_by_is_for_readers(options: Any, beyond: str | None) -> None:
    assert ServedTable("t", "t", ROLES, options).beyond == beyond
