"""The SQL that is run, as a person would review it.

Each file NAME.sql in golden/ is a call and the text it plans; NAME.diff is that text by its
differences from another (AS_IN), to the last byte (tests/support/differences.py). After an intended
change, run ``GOLDEN=write pytest tests/plan/test_golden.py`` and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import duckdb
import pytest

import kanon_sql.sql
from kanon_sql.errors import KanonError
from kanon_sql.plan.query import plan
from tests.support.catalogs import MadeUp
from tests.support.differences import applied, differences

GOLDEN = Path(__file__).parent / "golden"
COLUMNS = dict.fromkeys(["name", "age", "zip", "job", "disease"])
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "every_column": ("anonymize", {"k": 5}),
    "roles_by_name": (
        "anonymize",
        {"k": 5, "quasi_identifiers": ["age", "zip"], "identifiers": ["name"],
         "sensitive": ["job", "disease"]},
    ),
    "others_released": (
        "anonymize",
        {"k": 5, "quasi_identifiers": ["age", "zip"], "sensitive": ["disease"],
         "others": "release"},
    ),
    "others_dropped": (
        "anonymize", {"k": 5, "quasi_identifiers": ["age", "zip"], "others": "drop"}
    ),
    "all_but_sensitive": (
        "anonymize",
        {"k": 3, "method": "v_mdav", "gamma": 0.5, "sensitive": ["disease"],
         "identifiers": ["name"], "representation": "interval", "nulls": "suppress", "seed": 7,
         "class_id": True, "keep_order": True, "column_weights": {"age": 2}},
    ),
    "clusters": ("anonymize_clusters", {"k": 5, "sensitive": ["disease"]}),
    "metrics": ("anonymize_metrics", {"k": 5, "method": "mdav", "representation": "bounds"}),
    "manifest": (
        "anonymize_manifest",
        {"k": 4, "identifiers": ["name"], "sensitive": ["disease"], "alpha": {"Flu": 0.9},
         "hierarchies": {"zip": "levels", "age": {"kind": "bins", "width": 10}}, "seed": 7},
    ),
    "hierarchies": (
        "anonymize",
        {"k": 4, "method": "mondrian", "identifiers": ["name"], "sensitive": ["disease"],
         "hierarchies": {"zip": "prefix", "age": {"kind": "bins", "width": 10}}},
    ),
    "centers": (
        "anonymize",
        {"k": 4, "method": "r_gather", "epsilon": 0.02, "identifiers": ["name"],
         "sensitive": ["disease"], "hierarchies": {"zip": "prefix"}},
    ),
    "same_levels": (
        "anonymize",
        {"k": 4, "method": "full_domain", "suppress": 0.1, "quasi_identifiers": ["age", "job"],
         "identifiers": ["name"], "sensitive": ["zip", "disease"]},
    ),
    "suppressed": (
        "suppressed_rows",
        {"k": 4, "method": "full_domain", "suppress": 0.1, "quasi_identifiers": ["age", "job"],
         "others": "release", "show_values": True},
    ),
    "pair": (
        "anonymize_audit",
        {"release": "patients", "k": 4, "sensitive": ["disease"], "class_label": "job",
         "sensitive_values": ["Flu"], "hierarchies": {"zip": "prefix"}},
    ),
    "risk": (
        "anonymize_risk",
        {"k": 5, "quasi_identifiers": ["age", "zip"], "population": "patients"},
    ),
    "audit": ("k_anonymity", {"k": 5, "quasi_identifiers": ["age", "zip"]}),
    "models": (
        "anonymize",
        {"k": 4, "identifiers": ["name"], "sensitive": ["disease", "job"], "seed": 7,
         "l": {"disease": 2}, "t": {"job": 0.5}, "beta": {"job": 2}},
    ),
    "all_classes": (
        "anonymize",
        {"k": 5, "quasi_identifiers": ["age", "zip"], "identifiers": ["name"],
         "sensitive": ["job", "disease"], "max_average_risk": 0.1},
    ),
    "people": (
        "anonymize_metrics",
        {"k": 5, "quasi_identifiers": ["age", "zip"], "identifiers": ["name"],
         "sensitive": ["job", "disease"], "k_map": 8, "population": "patients",
         "hierarchies": {"zip": "prefix"}},
    ),
    "persons": (
        "anonymize_metrics",
        {"k": 4, "entity": "name", "sensitive": ["disease"], "l": 2, "suppress": 0.1, "seed": 7},
    ),
    "persons_apart": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "entity_rows": "apart", "max_average_risk": 0.1},
    ),
    "ledger_begun": (
        "anonymize_ledger",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "headroom": 1},
    ),
    "ledger": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "ledger": "releases", "attacker": "knows_absence"},
    ),
    "ledger_models": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "sensitive": ["disease"], "others": "drop",
         "entity": "name", "ledger": "releases", "l": 2, "t": 0.5, "seed": 7},
    ),
    "parts": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "sensitive": ["disease"], "others": "drop",
         "within": ["job"], "l": 2, "t": 0.5, "suppress": 0.1, "seed": 7},
    ),
    "parts_of_persons": (
        "anonymize_metrics",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "entity": "name", "others": "drop",
         "within": ["job", "disease"], "small_parts": "join"},
    ),
    "metrics_by_part": (
        "anonymize_metrics",
        {"k": 4, "quasi_identifiers": ["age"], "sensitive": ["disease"], "entity": "name",
         "others": "drop", "within": ["job"], "by_part": True, "l": 2, "seed": 7},
    ),
    "parts_with_centers": (
        "anonymize",
        {"k": 4, "identifiers": ["name"], "within": ["job"], "small_parts": "suppress",
         "method": "r_gather"},
    ),
    "audit_parts": ("k_anonymity", {"quasi_identifiers": ["age"], "within": ["job"], "k": 4}),
    "audit_by_part": (
        "k_anonymity",
        {"quasi_identifiers": ["age"], "within": ["job", "zip"], "by_part": True, "k": 4},
    ),
    "audit_persons": (
        "k_anonymity", {"quasi_identifiers": ["age"], "entity": "name", "k": 4}
    ),
    "audit_both": (
        "k_anonymity",
        {"quasi_identifiers": ["age"], "sensitive": ["disease"], "entity": "name", "l": 2},
    ),
    "audit_sensitive": (
        "k_anonymity", {"quasi_identifiers": ["age"], "sensitive": ["disease"], "l": 2}
    ),
}


AS_IN = {
    **dict.fromkeys(["every_column", "others_released", "others_dropped", "all_classes"],
                    "roles_by_name"),
    **dict.fromkeys(["all_but_sensitive", "centers", "same_levels", "suppressed"], "hierarchies"),
    **dict.fromkeys(["ledger", "ledger_begun", "models", "persons_apart"], "ledger_models"),
    **dict.fromkeys(["clusters", "metrics", "people", "metrics_by_part", "parts_of_persons"],
                    "persons"),
    **dict.fromkeys(["parts_with_centers"], "parts"),
    **dict.fromkeys(["audit", "audit_by_part", "audit_parts", "audit_persons", "audit_sensitive"],
                    "audit_both"),
    **dict.fromkeys(["pair"], "risk"),
}
"""The texts that are recorded by their differences from another, which is recorded whole."""


def planned(case: str) -> str:
    call, options = CASES[case]
    return plan(call, "patients", options, MadeUp({"patients": COLUMNS})).text


def called(case: str) -> str:
    call, options = CASES[case]
    given = ", ".join(f"{name} := {value!r}" for name, value in options.items())
    return f"{call}('patients', {given})"


def text_of(case: str) -> str:
    return f"-- {called(case)}\n{planned(case)}\n"


def place_of(case: str) -> Path:
    return GOLDEN / f"{case}.{'diff' if case in AS_IN else 'sql'}"


def write(case: str) -> None:
    text = text_of(case)
    if case in AS_IN:
        write(AS_IN[case])
        text = differences(text, text_of(AS_IN[case]))
    place_of(case).write_text(text, encoding="utf-8")


def reviewed(case: str) -> str:
    recorded = place_of(case).read_text(encoding="utf-8")
    return applied(recorded, reviewed(AS_IN[case])) if case in AS_IN else recorded


@pytest.mark.parametrize("case", CASES)
def test_the_planned_text_is_the_reviewed_one(case: str) -> None:
    if os.environ.get("GOLDEN") == "write":
        write(case)
    assert reviewed(case) == text_of(case)


def test_every_record_is_of_a_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {place_of(case).name for case in CASES}


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ("", "a\nb\nc\n"),
        ("@@ 1 as there, 1 not @@\n", "a\nc\n"),
        ("@@ 1 as there, 1 not @@\nd\ne\n@@ 1 as there, 0 not @@\nf\n", "a\nd\ne\nc\nf\n"),
    ],
)
def test_a_record_of_differences_is_exact(record: str, text: str) -> None:
    assert differences(text, "a\nb\nc\n") == record
    assert applied(record, "a\nb\nc\n") == text


@pytest.mark.parametrize("record", ["a\n", "@@ 3 as there, 1 not @@\n"])
def test_what_is_no_record_is_refused(record: str) -> None:
    with pytest.raises(ValueError, match="The record"):
        applied(record, "a\nb\nc\n")


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", ["every_column", "roles_by_name", "others_released",
                                  "others_dropped", "all_but_sensitive", "clusters", "audit",
                                  "hierarchies", "centers", "same_levels", "suppressed", "pair",
                                  "risk"])
def test_the_reviewed_text_gives_what_the_call_gives(
    con: duckdb.DuckDBPyConnection, case: str
) -> None:
    expected = con.execute(f"FROM {called(case)}").fetchall()
    assert con.execute(reviewed(case)).fetchall() == expected
    assert expected


SQL = sorted(Path(kanon_sql.sql.__path__[0]).glob("*/*.sql"))


@pytest.mark.parametrize("path", SQL, ids=lambda path: path.stem)
def test_no_reader_of_a_stage_stops_early(path: Path) -> None:
    """In DuckDB 2.0 such a reader, and one that waits for the whole stage, may wait for each other
    forever (one_empty_row of sql/fragments.sql); the stage of the tickets has one row."""
    text = re.sub("--.*", "", path.read_text(encoding="utf-8"))
    limits = [line for line in text.splitlines() if re.search(r"\bLIMIT\s+[1-9$]", line)]
    # one that sorts first reads the whole stage
    limits = [line for line in limits if "ORDER BY" not in line]
    assert all(line == "    WHERE __kanon_wait(ticket, turn) LIMIT 1" for line in limits)
    exists = re.findall(r"\bEXISTS\s*\(\s*(?:SELECT\s+1\s+)?FROM\s+(\w+)", text)
    assert set(exists) <= {"duckdb_columns"}


def test_planning_needs_neither_connection_nor_data() -> None:
    text = plan("anonymize", "nowhere.at.all", {"k": 2}, MadeUp()).text
    assert 'FROM "nowhere"."at"."all" AS __kanon' in text
    with pytest.raises(KanonError):
        plan("anonymize", None, {"k": 2}, MadeUp())
