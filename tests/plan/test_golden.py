"""The SQL that is run, as a person would review it.

Each file in golden/ is a call and the text it plans. After an intended change, run
``GOLDEN=write pytest tests/plan/test_golden.py`` and read the difference.
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
         "class_id": True, "keep_order": True, "weights": {"age": 2}},
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
        {"k": 4, "recoding": "global", "suppress": 0.1, "quasi_identifiers": ["age", "job"],
         "identifiers": ["name"], "sensitive": ["zip", "disease"]},
    ),
    "suppressed": (
        "anonymize_suppressed",
        {"k": 4, "recoding": "global", "suppress": 0.1, "quasi_identifiers": ["age", "job"],
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
    "persons": (
        "anonymize_metrics",
        {"k": 4, "entity": "name", "sensitive": ["disease"], "l": 2, "suppress": 0.1, "seed": 7},
    ),
    "persons_apart": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "entity_rows": "apart"},
    ),
    "ledger_begun": (
        "anonymize_ledger",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "headroom": 1},
    ),
    "ledger": (
        "anonymize",
        {"k": 4, "quasi_identifiers": ["age", "zip"], "others": "drop", "entity": "name",
         "ledger": "releases", "against": "absence"},
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


def planned(case: str) -> str:
    call, options = CASES[case]
    return plan(call, "patients", options, MadeUp({"patients": COLUMNS})).text


@pytest.mark.parametrize("case", CASES)
def test_the_planned_text_is_the_reviewed_one(case: str) -> None:
    call, options = CASES[case]
    given = ", ".join(f"{name} := {value!r}" for name, value in options.items())
    text = f"-- {call}('patients', {given})\n{planned(case)}\n"
    path = GOLDEN / f"{case}.sql"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", ["every_column", "roles_by_name", "others_released",
                                  "others_dropped", "all_but_sensitive", "clusters", "audit",
                                  "hierarchies", "centers", "same_levels", "suppressed", "pair",
                                  "risk"])
def test_the_reviewed_text_gives_what_the_call_gives(
    con: duckdb.DuckDBPyConnection, case: str
) -> None:
    call, options = CASES[case]
    given = ", ".join(f"{name} := {value!r}" for name, value in options.items())
    reviewed = (GOLDEN / f"{case}.sql").read_text(encoding="utf-8")
    expected = con.execute(f"FROM {call}('patients', {given})").fetchall()
    assert con.execute(reviewed).fetchall() == expected
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
