"""The list of functions that a macro must not hide is that of the SQL, as DuckDB parses it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import sql
from kanon_sql.call.call import read_call
from kanon_sql.call.relation import Relation
from kanon_sql.plan.bound_relations import resolved_sql
from kanon_sql.plan.evidence import cells_sql, halves, people_sql
from kanon_sql.plan.macro_shadowing import (
    BOUND,
    FUNCTIONS,
    NAMED,
    NUMBERING,
    OURS,
    TABLES,
    WITHIN,
    WRITTEN,
    bound_sql,
    unshadowed_sql,
)
from kanon_sql.plan.macros import MACRO_FILES, macros
from kanon_sql.plan.manifest import (
    class_sizes_sql,
    copy_sql,
    digest_sql,
    file_relation,
    fingerprint_sql,
)
from kanon_sql.plan.proof import facts_sql, numbers_sql
from kanon_sql.plan.query import plan, written
from kanon_sql.udfs import FUNCTIONS as SIGNATURES
from tests.plan.test_golden import CASES, COLUMNS, planned
from tests.support.catalogs import MadeUp
from tests.support.connections import registered

Names = set[str]
BY_OPERATOR = {
    "ARRAY_EXTRACT": "array_extract", "ARRAY_SLICE": "array_slice",
    "STRUCT_EXTRACT": "struct_extract",
}
"""What DuckDB calls for what it parses as an operator; the others are no functions."""

NO_FUNCTION = {
    "OPERATOR_UNPACK", "OPERATOR_COALESCE", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL",
    "OPERATOR_NOT", "OPERATOR_TRY", "COMPARE_IN",
}
PERSONS: dict[str, object] = {
    "k": 4, "entity": "name", "quasi_identifiers": ["zip", "age"], "others": "drop"
}
ONE = {"k": 4, "quasi_identifiers": ["zip"], "identifiers": ["name", "age", "job", "disease"]}
TWO = {"k": 4, "quasi_identifiers": ["lat", "lon"], "method": "gps_rectangles"}
SECRET: dict[str, object] = {"k": 4, "sensitive": ["disease", "job"], "seed": 1}
MORE: tuple[tuple[str, dict[str, object]], ...] = (
    ("anonymize_sql", {"k": 5}),
    ("anonymize", {"k": 4, "method": "r_gather", "centers": "rows"}),
    ("anonymize", {"k": 4, "hierarchies": {"zip": "levels"}}),
    ("anonymize_clusters", {"method": "cellular", "facility_cost": "age"}),
    ("anonymize_metrics", ONE | {"method": "ordered", "objective": "quadratic"}),
    ("anonymize_metrics", {"k": 4, "sensitive": ["disease"], "class_label": "job",
                           "sensitive_values": ["Flu"], "effort": "balanced"}),
    ("anonymize_metrics", {"k": 4, "method": "v_mdav"}),
    ("anonymize", ONE | {"method": "fold", "representation": "number"}),
    ("anonymize", ONE | {"method": "zip_regions", "adjacency": "pairs"}),
    ("anonymize", TWO),
    ("anonymize", TWO | {"representation": "interval", "wkt": True}),
    ("anonymize", TWO | {"representation": "bounds", "tight": True}),
    ("hierarchy", {"column_name": "age", "kind": "bins"}),
    ("anonymize_roles", {}),
    ("anonymize_manifest", {"k": 4}),
    ("anonymize_metrics", {"k": 4, "quasi_identifiers": ["age"], "others": "release"}),
    ("anonymize_metrics", {"k": 4, "method": "r_gather"}),
    ("anonymize", {"k": 4, "quasi_identifiers": ["age"], "others": "release", "entity": "name"}),
    ("anonymize_roles", {"entity": "name"}),
    ("anonymize_metrics", {"k": 4, "nulls": "suppress", "categorical": ["age"],
                           "representation": {"zip": "interval"}}),
    ("anonymize", {"k": 4, "method": "r_gather", "centers": "means"}),
    ("anonymize", {"k": 4, "roles": "my_roles"}),
    ("anonymize_audit", {"release": "released", "identifiers": ["name"]}),
    ("anonymize", SECRET | {"l": {"disease": 2, "job": 2}, "c": 3, "diversity_kind": {
        "disease": "entropy", "job": "recursive"}, "t": {"job": 0.2, "disease": 0.3},
        "closeness": {"job": "numeric"}, "sensitive_nulls": "value"}),
    ("anonymize_metrics", SECRET | {"alpha": {"job": 0.5, "disease": {"Flu": 0.5}},
                                    "delta": {"job": 2}, "beta": {"job": 2, "disease": 3},
                                    "beta_kind": {"job": "basic"}}),
    ("anonymize", SECRET | {"l": {"job": 2}, "t": {"disease": 0.3},
                            "hierarchies": {"job": "bins", "disease": "prefix"}}),
    ("k_anonymity", {"sensitive": ["job", "disease"], "closeness": {"job": "ordered"}}),
    ("k_anonymity", {"sensitive": ["job"], "l": 2}),
    ("anonymize", SECRET | {"l": {"job": 2}, "t": {"disease": 0.2}, "hierarchies": {
        "job": "prefix", "disease": "flat", "zip": "prefix"}}),
    ("anonymize_risk", {"sampling_weight": "age", "k": 3}),
    ("anonymize_risk", {"population_size": 1000}),
    ("anonymize_metrics", {"k": 3, "sampling_weight": "age"}),
    ("anonymize_ledger", PERSONS),
    ("anonymize_metrics", {"k": 4, "within": ["job"], "by_part": True, "method": "r_gather"}),
    ("suppressed_rows", PERSONS | {"ledger": "releases"}),
    ("anonymize_metrics", PERSONS | {"ledger": "releases"}),
    ("anonymize_metrics", PERSONS | {"nulls": "suppress"}),
)


con = registered()


def called(con: duckdb.DuckDBPyConnection, text: str) -> Names:
    """The functions that a SELECT calls unqualified, however they are written."""
    found: Names = set()

    def read(node: Any) -> None:
        if isinstance(node, list):
            for part in node:
                read(part)
        if not isinstance(node, dict):
            return
        if node.get("function_name") and node.get("catalog") != "system":
            found.add(node["function_name"])
        if node.get("class") == "OPERATOR" and node["type"] not in NO_FUNCTION:
            found.add(BY_OPERATOR[node["type"]])
        if node.get("class") == "LAMBDA" and node.get("syntax_type") != "LAMBDA_KEYWORD":
            found.add("json_extract")
        for part in node.values():
            read(part)

    ((serialized,),) = con.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    parsed = json.loads(serialized)
    assert not parsed["error"], parsed
    read(parsed["statements"])
    return found


def bodies(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The bodies of all our macros, by name."""
    rows = con.execute(
        "SELECT function_name, macro_definition FROM duckdb_functions() "
        "WHERE database_name = 'temp'"
    ).fetchall()
    known: dict[str, list[str]] = {}
    for name, body in rows:
        whole = body.lstrip().upper().startswith(("SELECT", "FROM", "WITH"))
        known.setdefault(name, []).append(body if whole else f"SELECT {body}")
    return known


def everything(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Every kind of SQL that we run, as SELECTs."""
    yield from (body for texts in bodies(con).values() for body in texts)
    yield from (planned(case) for case in CASES)
    columns = dict.fromkeys([*COLUMNS, "lat", "lon"])
    for call, options in MORE:
        yield plan(call, "patients", options, MadeUp({"patients": columns})).text
    yield plan("ledger_check", "releases", {"k": 3}, MadeUp()).text
    declared = columns | {"name": "kanon: identifier"}
    yield plan("anonymize", "patients", {"k": 5}, MadeUp({"patients": declared})).text
    yield plan("k_anonymity", "a_cte", {"identifiers": ["name"]}, MadeUp()).text
    missing = plan("anonymize", "s.nobody", {"k": 5}, MadeUp())
    yield resolved_sql(missing.text, missing.relations)
    asked = {"k": 5, "sensitive": ["disese"]}
    yield plan("anonymize", "patients", asked, MadeUp({"patients": columns})).text
    unsure = plan("anonymize", "s.nobody", asked, MadeUp())
    yield resolved_sql(unsure.text, (), unsure.columns)
    yield written("patients", {"k": 5}, MadeUp({"patients": columns})).text
    file = file_relation("out.parquet")
    yield from (digest_sql(file), fingerprint_sql(file), class_sizes_sql(file, ["age"]))
    assert copy_sql(f"({digest_sql(file)})", "out.parquet", "{}").startswith("COPY (WITH")
    asked = {"quasi_identifiers": ["age"], "sensitive": ["job"]}
    parted = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "within": ["job"], "k": 4}
    yield plan("k_anonymity", "patients", parted, MadeUp({"patients": columns})).text
    yield numbers_sql(file, ["age"])
    yield facts_sql(read_call("k_anonymity", file, asked, MadeUp()), ["job"], {
        "rows": 60, "rows_suppressed": 0
    })
    yield numbers_sql(file, ["age"])
    patients = Relation('"patients"', ("patients",))
    for entity in (None, "name"):
        yield from (f"FROM {half.sql}" for half in halves(patients, ["age", "job"], entity, 1))
        yield people_sql(patients, ["age", "job"], entity, 1)
    yield cells_sql(patients, ["age", "job"])


def test_every_template_is_among_what_is_parsed_here(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Names = set()
    lines = sql._lines

    def recording(name: str) -> list[str]:
        read.add(name)
        return lines(name)

    monkeypatch.setattr(sql, "_lines", recording)
    assert list(everything(con)) and macros()
    folder = Path(sql.__file__).parent
    blocks = {
        f"{path.stem}.{block}" for path in folder.glob("*.sql") for block in sql._blocks(path.stem)
    }
    assert {path.stem for path in (folder / "macros").iterdir()} == {*MACRO_FILES, "report"}
    # files are released, and reports worked out, by a connection of our own, which has no macros
    # of anybody; the macros of the audit run where nothing of ours is
    apart = (
        "audit_macros.", "blocks.", "ledger_files.", "ledger.going_on", "report.", "spark.",
        "roles.facts",  # before a query that refuses macros which hide functions
    )
    assert {name for name in blocks if not name.startswith(apart)} == read


def test_the_list_is_what_the_sql_calls(con: duckdb.DuckDBPyConnection) -> None:
    ours = set(bodies(con))
    names = {name for text in everything(con) for name in called(con, text)}
    assert names - ours <= set(FUNCTIONS)
    # and it has nothing that is never called
    assert set(FUNCTIONS) - set(WITHIN) <= names


def test_a_function_that_is_not_in_the_list_is_found(con: duckdb.DuckDBPyConnection) -> None:
    text = planned("every_column").replace(
        "SELECT * EXCLUDE (__kanon_each)\n", "SELECT upper('a')\n"
    )
    assert called(con, text) - called(con, planned("every_column")) == {"upper"}


def test_what_runs_before_the_check_and_in_it_is_qualified(con: duckdb.DuckDBPyConnection) -> None:
    assert called(con, f"WITH {unshadowed_sql()} FROM __kanon_unshadowed") == set()
    for call in ("anonymize", "k_anonymity", "anonymize_audit", "anonymize_risk", "hierarchy",
                 "anonymize_methods"):
        (body,) = bodies(con)[call]
        assert called(con, body) == set()
    (refuse,) = bodies(con)["__kanon_refuse"]
    assert called(con, refuse) == set()
    (tell,) = bodies(con)["__kanon_tell"]
    assert called(con, tell) == set()


def test_our_functions_are_all_in_the_list() -> None:
    assert sorted(OURS) == sorted(signature.name for signature in SIGNATURES)


def test_nothing_is_in_the_list_twice() -> None:
    assert len(FUNCTIONS) == len(set(FUNCTIONS)) == len(NAMED) + len(WRITTEN) + len(WITHIN) + len(
        OURS
    )


def test_every_function_is_bound_where_a_known_state_is_recognized(
    con: duckdb.DuckDBPyConnection
) -> None:
    calls = [name for names in BOUND.values() for name in names]
    assert sorted({*calls, *NUMBERING, *TABLES}) == list(FUNCTIONS)
    assert len(calls) == len(set(calls))
    ((told,),) = con.execute("SELECT json_serialize_plan(?)", [bound_sql()]).fetchall()
    assert not json.loads(told)["error"], told[:500]


def test_our_macros_have_names_that_no_function_has(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = 'system'"
    ).fetchall()
    assert not {name for (name,) in rows} & set(bodies(con))


def test_no_type_that_the_sql_writes_can_be_made_anew(con: duckdb.DuckDBPyConnection) -> None:
    texts = [*everything(con), *macros()]
    types = {found.upper() for text in texts for found in re.findall(r"::\s*([A-Za-z]+)", text)}
    types |= {
        found.upper() for text in macros()
        for found in re.findall(r"\(x ([A-Z]+)\) AS|\b(DATE|TIME) '", text) for found in found
    } - {""}
    assert {"VARCHAR", "DOUBLE", "TIMESTAMPTZ", "DATE"} <= types and "JSON" not in types
    for name in sorted(types):
        with pytest.raises(duckdb.CatalogException, match="already exists"):
            con.execute(f"CREATE TYPE {name} AS ENUM ('q')")
