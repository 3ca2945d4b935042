"""kanon_sql.verify of releases of any kind as they are made: none is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.plan.contradictions import contradictions
from tests.release.test_unchanged import CASES, TABLES
from tests.support.manifests import manifest_of

SOURCES = """
    CREATE TABLE people AS
    SELECT i // 2 AS who, 20 + (i * 7) % 50 AS "Age", (10000 + (i * 37) % 90)::VARCHAR AS zip,
           ['clerk', 'cook', 'nurse', NULL][1 + (i * i) % 4] AS job, 1 + i % 3 AS weight,
           ['Flu', 'Cold', 'HIV'][1 + (i // 4) % 3] AS ill, 100 * (1 + i % 11) AS pay,
           'day ' || i % 3 AS day, 'mail' || i || '@example.org' AS mail
    FROM range(120) AS r(i);
    CREATE TABLE visits AS
    SELECT 40 + ((i * 31) % 101) / 101 AS lat, -74 + ((i * 57) % 89) / 89 AS lon,
           ['Flu', 'Cold'][1 + i % 2] AS disease FROM range(100) AS r(i);
    CREATE VIEW blanks AS SELECT *, job AS " job " FROM people;
    CREATE TABLE named AS SELECT 'ill' AS column_name, 'sensitive' AS role
    UNION ALL SELECT 'mail', 'identifier';
"""
QUASI: dict[str, Any] = {"quasi_identifiers": ["AGE", "zip"], "k": 4}
ILL: dict[str, Any] = {**QUASI, "sensitive": ["ILL"], "others": "drop"}
BOTH: dict[str, Any] = {**QUASI, "sensitive": ["ill", "pay"], "others": "drop"}
HONEST: dict[str, dict[str, Any]] = {
    "distinct": {**ILL, "l": 2}, "entropy": {**ILL, "l": 1.5 + 0.5, "diversity_kind": "entropy"},
    "recursive": {**ILL, "l": 2, "c": 3, "diversity_kind": "recursive"},
    "kinds": {**BOTH, "l": {"ill": 2, "PAY": 2}, "diversity_kind": {"pay": "recursive"},
              "c": {"pay": 4}},
    "equal": {**ILL, "t": 0.5, "closeness": "equal"}, "tree": {**ILL, "t": 0.5, "l": 2,
                                                               "hierarchies": {"ill": "flat"}},
    "numeric": {**BOTH, "t": {"pay": 0.4}, "closeness": "numeric"},
    "alpha": {**ILL, "alpha": 0.9}, "by value": {**ILL, "alpha": {"HIV": 0.9}},
    "of sensitive values": {**ILL, "alpha": 0.9, "sensitive_values": ["HIV"]},
    "delta": {**ILL, "delta": 3}, "beta": {**ILL, "beta": 3, "beta_kind": "basic"},
    "every model": {**BOTH, "l": {"ill": 2}, "t": {"pay": 0.6}, "alpha": {"ill": 0.9, "pay": 0.9},
                    "delta": {"ill": 4}, "beta": {"ill": 4}, "sensitive_nulls": "value",
                    "effort": "fast"},
    "persons": {**ILL, "entity": "who", "l": 2},
    "persons apart": {**ILL, "entity": "WHO", "entity_rows": "apart", "t": 0.6},
    "parts": {**ILL, "within": ["day"], "t": 0.7, "effort": "fast"},
    "weighted": {**ILL, "sampling_weight": "weight"},
    "sensitive values": {**ILL, "sensitive_values": ["HIV"]},
    "label": {**QUASI, "others": "release", "class_label": "job", "method": "k_member"},
    "withheld": {**QUASI, "others": "release"}, "quasi": {"k": 4, "sensitive": ["ill"]},
    "a relation of roles": {"k": 4, "roles": "named", "representation": "bounds"},
    "left out": {**ILL, "suppress": 0.1, "representation": "median", "nulls": "suppress"},
    "by column": {**ILL, "representation": {"zip": "interval", "*": "median"}},
    "column_weights": {**ILL, "column_weights": {"age": 3}, "categorical": ["age"],
                       "keep_order": True},
    "auto": {**ILL, "method": "auto"}, "fast": {**ILL, "effort": "fast"},
    "mondrian": {**ILL, "method": "mondrian", "hierarchies": {"zip": "prefix", "Age": "bins"},
                 "class_id": True},
    "global": {**ILL, "method": "full_domain", "class_id": True, "suppress": 0.1},
    "global, with what is withheld": {"k": 4, "sensitive": ["ill"], "method": "full_domain"},
    "centers": {**ILL, "method": "r_gather", "class_id": True},
    "forest": {**ILL, "method": "forest", "k": 3, "representation": "suppress"},
    "one column": {"quasi_identifiers": ["zip"], "others": "drop", "k": 30, "method": "fold",
                   "class_id": True},
    "nothing left": {**ILL, "k": 4, "suppress": 0.0},
}


QUICK = ("kinds", "every model", "persons", "parts")


def complaints(folder: Path, cases: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, list[str]]:
    """What verify says of honest releases."""
    found = {}
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(SOURCES)
        for name, (source, call) in cases.items():
            file = folder / "out.parquet"
            done = kanon_sql.release(con, source, to=file, **call)
            verified = kanon_sql.verify(file)
            if verified.ok and name in ("every model", "left out"):
                verified = kanon_sql.verify(file, con=con, source=source, private=done.private)
                assert not verified.of("not provable"), name
            if not verified.ok:
                found[name] = [each.sentence for each in verified.of("wrong")]
    return found


@pytest.mark.slow
def test_an_honest_release_is_not_wrong(tmp_path: Path) -> None:
    assert complaints(tmp_path, {name: ("people", HONEST[name]) for name in QUICK}) == {}


@pytest.mark.slow
def test_an_honest_release_of_any_kind_is_not_wrong(tmp_path: Path) -> None:
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        name: ("people", call) for name, call in HONEST.items() if name not in QUICK
    }
    cases["polygons"] = "visits", {
        "method": "gps_rectangles", "quasi_identifiers": ["lat", "lon"], "wkt": True, "k": 9,
        "sensitive": ["disease"],
    }
    cases["a name with blanks"] = "blanks", {
        **QUASI, "others": "release", "class_label": " job ", "method": "k_member",
    }
    assert complaints(tmp_path, cases) == {}


@pytest.mark.slow
def test_no_manifest_of_the_recorded_releases_contradicts_itself() -> None:
    found = {}
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(TABLES)
        for name, (source, options) in CASES.items():
            if "cellular'" in options and "r_cellular" not in options:
                continue  # a method that promises no class size releases no rows
            made = manifest_of(con, f"anonymize_manifest('{source}', {options})")
            found[name] = contradictions(made)
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.slow
def test_the_releases_of_a_ledger_are_never_wrong(tmp_path: Path) -> None:
    call = {**ILL, "entity": "id", "ledger": "shown", "l": 2}
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(SOURCES)
        con.execute("CREATE TABLE all_of_them AS SELECT row_number() OVER () AS id, * FROM people")
        con.execute("CREATE TABLE now AS FROM all_of_them WHERE id <= 80")
        for i, source in enumerate(("now", "all_of_them")):
            file = tmp_path / f"{i}.parquet"
            begun = {} if i else {"headroom": 1}
            kanon_sql.release(con, source, to=file, **call, **begun)
            found = kanon_sql.verify(file)
            assert found.ok, found


@pytest.mark.sample(1)
@pytest.mark.parametrize(("secret", "shown"), [
    ("\u00c9", "\u00e9"), ("\u212a", "k"), ("e\u0301", "\u00e9"), ("\uff4eame", "name"),
])
def test_two_names_that_resemble_each_other_are_told_apart_by_the_source(
    tmp_path: Path, secret: str, shown: str
) -> None:
    file, private = tmp_path / "twins.parquet", tmp_path / "private.json"
    rows = {
        secret: [f"person {i}" for i in range(60)], "age": [i % 9 for i in range(60)],
        shown: [i % 4 for i in range(60)],
    }
    kanon_sql.release(
        rows, to=file, private=private, k=4, identifiers=[secret], sensitive=[shown],
        quasi_identifiers=["age"],
    )
    alone = kanon_sql.verify(file)
    assert alone.ok
    assert "has the role identifier: give the source" in alone.sentence
    assert f"columns.{shown}" in [each.entry for each in alone.of("not provable")]
    found = kanon_sql.verify(file, source=rows, private=private)
    assert found.ok, found.sentence
