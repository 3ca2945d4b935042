"""What comes out of every call stays what it was: models, persons, ledgers, parts, searches, files.

test_unchanged.py has each method; here is what stands around a method, over one table of visits. A
case is the calls that it makes and the options of all of them; columns and their types count as
rows do, metrics by their names and values, a manifest without what another version would change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.options import ALL_CALLS
from kanon_sql.option import LEDGER_CHECK
from kanon_sql.stages import remembered
from tests.support.digests import MEASURED_ANEW, digest, held, recorded, told

Connection = duckdb.DuckDBPyConnection

VISITS = """
    SELECT i * 37 % 97 // 3 AS patient,
           CASE WHEN i % 19 = 3 THEN NULL ELSE 20 + i * 37 % 97 // 3 * 11 % 61 END AS age,
           (470 + i * 37 % 97 % 7)::VARCHAR || (i % 13 % 10) AS zip,
           ['clerk', 'cook', NULL, 'nurse'][1 + (i + i // 9) % 4] AS job,
           TIMESTAMP '2024-02-28 12:00:00' + to_hours(i * i % 4001) AS seen,
           ((i * i * 31) % 1009 / 8)::DECIMAL(9, 3) AS cost,
           1 + i % 4 + (i % 3) / 2 AS people,
           ['north', 'south', 'east'][1 + i * 37 % 97 % 3] AS site,
           ['Flu', 'Cold', 'HIV', 'Gout', 'Asthma']
               [1 + (i * 37 % 97 // 3 * 7 + CASE WHEN i % 23 = 5 THEN 1 ELSE 0 END) % 5] AS disease,
           (i * i * 13) % 17 AS score
    FROM range(240) AS r(i)
"""
TABLES = f"""
    CREATE TABLE visits AS {VISITS};
    CREATE TABLE persons AS  -- one row for each, as a ledger needs it
    SELECT row_number() OVER () AS patient, * EXCLUDE (patient) FROM visits LIMIT 150;
    CREATE TABLE earlier AS FROM persons WHERE patient % 8 > 0;
    CREATE TABLE census AS FROM visits UNION ALL FROM visits;
    CREATE TABLE illness AS FROM (VALUES ('Flu', 'lungs', '*'), ('Cold', 'lungs', '*'),
        ('Asthma', 'lungs', '*'), ('HIV', 'rest', '*'), ('Gout', 'rest', '*'))
        AS r(level0, level1, level2);
    CREATE TABLE given AS FROM (VALUES ('patient', 'identifier', NULL, NULL, NULL),
        ('age', 'quasi_identifier', 'bins', NULL, 3),
        ('zip', 'quasi_identifier', 'prefix', NULL, 1),
        ('cost', 'quasi_identifier', NULL, 'bounds', 2), ('disease', 'sensitive', NULL, NULL, NULL))
        AS r(column_name, role, hierarchy, representation, column_weight);
"""

QUASI = "quasi_identifiers := ['age', 'zip', 'job', 'seen', 'cost'], others := 'drop', seed := 1, "
ILL = QUASI + "sensitive := ['disease'], k := 4, "
BOTH = QUASI + "sensitive := ['disease', 'score'], k := 4, "
PERSONS = ILL + "entity := 'patient', "
FEW = (
    "quasi_identifiers := ['age', 'zip'], sensitive := ['disease'], others := 'drop', seed := 1, "
    "k := 3, entity := 'patient', "
)
PARTS = ILL + "within := ['site'], "

LEDGERS = {"presences": "", "absences": ", attacker := 'knows_absence'", "diverse": ", l := 2"}
"""By name, what they were made with beside FEW."""

OUT = ("anonymize", "anonymize_metrics")
LEFT = (*OUT, "suppressed_rows")
ALL = (*LEFT, "anonymize_clusters", "anonymize_manifest")
ON = (*LEFT, "anonymize_ledger")

CASES: dict[str, tuple[tuple[str, ...], str]] = {
    # every privacy model
    "l": (LEFT, ILL + "l := 3"),
    "l of entropy": (OUT, ILL + "l := 2.5, diversity_kind := 'entropy'"),
    "l of nodes": (OUT, ILL + "l := 2, hierarchies := {'disease': 'illness'}"),
    "alpha": (OUT, ILL + "alpha := 0.5"),
    "alpha by value": (OUT, ILL + "alpha := MAP {'HIV': 0.25, 'Flu': 0.5}"),
    "t equal": (LEFT, ILL + "t := 0.35"),
    "delta": (OUT, QUASI + "sensitive := ['disease'], k := 20, delta := 1.2"),
    "beta": (OUT, ILL + "beta := 1.5"),
    "models of two columns": (
        ALL, BOTH + "l := {'disease': 2}, t := {'score': 0.3}, closeness := 'numeric'"
    ),
    # persons
    "together": (ALL, PERSONS + "nulls := 'suppress'"),
    "together, a model": (LEFT, PERSONS + "l := 2, suppress := 0.1, method := 'k_member'"),
    "apart": (ALL, PERSONS + "entity_rows := 'apart'"),
    # ledgers
    "ledger begun": (ON, FEW + "headroom := 1"),
    "ledger gone on with": (ON, FEW + "ledger := 'presences'"),
    "ledger against absence": (ON, FEW + "ledger := 'absences', attacker := 'knows_absence'"),
    "ledger with a model": (ON, FEW + "ledger := 'diverse', l := 2"),
    # parts
    "within": ((*LEFT, "anonymize_manifest"), PARTS),
    "within, a model": (LEFT, PARTS + "l := 2, suppress := 0.1"),
    "small parts joined": (LEFT, PARTS.replace("k := 4", "k := 90") + "small_parts := 'join'"),
    "small parts left out": (
        LEFT, QUASI + "within := ['score'], sensitive := ['disease'], k := 14, "
        "small_parts := 'suppress'"
    ),
    # how it is searched, and what is shown
    "auto": (OUT, ILL + "method := 'auto'"),
    "auto for labels": (OUT, ILL + "method := 'auto', representation := 'interval'"),
    "balanced": (OUT, ILL + "effort := 'balanced'"),
    "rounded": (OUT, ILL + "representation := 'rounded'"),
    "rounded by column": (
        OUT, ILL + "representation := {'age': 'rounded', 'cost': 'bounds', '*': 'median'}"
    ),
    "sampling_weight": (OUT, ILL + "sampling_weight := 'people'"),
    "roles of a table": (
        (*ALL, "anonymize_roles"), "roles := 'given', others := 'drop', k := 4, seed := 1"
    ),
    "preset": (OUT, ILL.replace("k := 4", "max_risk := 0.11")),
}
"""By name: the calls, and their options. With a model the seed is a secret, unless it is given."""

SLOW_CASES: dict[str, tuple[tuple[str, ...], str]] = {
    "l of recursive": (OUT, ILL + "l := 2, c := 2, diversity_kind := 'recursive'"),
    "beta basic": (OUT, ILL + "beta := 1.5, beta_kind := 'basic'"),
    "fast": (OUT, ILL + "method := 'auto', effort := 'fast'"),
    "t of nodes": (OUT, ILL + "t := 0.3, hierarchies := {'disease': 'illness'}"),
    "categorical": (OUT, ILL + "categorical := ['age'], representation := 'interval'"),
    "weight, rounded": (OUT, ILL + "sampling_weight := 'people', representation := 'rounded'"),
    "within, of persons": (OUT, PERSONS + "within := ['site']"),
    "recursive of persons": (
        OUT, PERSONS + "l := 2, c := 2, diversity_kind := 'recursive', method := 'mondrian'"
    ),
    "beta of two": (OUT, BOTH + "beta := {'disease': 1.5, 'score': 3}, method := 'forest'"),
    "t ordered": (OUT, QUASI + "sensitive := ['score'], k := 4, t := 0.25, method := 'r_gather'"),
    "within, all methods' rows": (LEFT, PARTS + "method := 'mondrian', alpha := 0.6"),
    "ledger of k_member": (ON, FEW + "ledger := 'absences', attacker := 'knows_absence', "
                           "method := 'k_member', representation := 'rounded'"),
}

AUDITS = {
    "k_anonymity": "k_anonymity('visits', quasi_identifiers := ['age', 'zip'], k := 3)",
    "k_anonymity with models": "k_anonymity('visits', quasi_identifiers := ['zip'], k := 3, "
    "sensitive := ['disease'], l := 2, t := 0.4, beta := 2)",
    "k_anonymity of persons": "k_anonymity('visits', quasi_identifiers := ['zip'], k := 3, "
    "entity := 'patient', sensitive := ['disease'], l := 2)",
    "k_anonymity by part": "k_anonymity('visits', quasi_identifiers := ['zip'], k := 3, "
    "within := ['site'], by_part := true)",
    "audit": "anonymize_audit('visits', release := 'shown', k := 4, sensitive := ['disease'], "
    "quasi_identifiers := ['age', 'zip', 'job', 'seen', 'cost'], hierarchies := {'zip': 'prefix'})",
    "risk": "anonymize_risk('visits', quasi_identifiers := ['age', 'zip', 'job'], k := 4, "
    "sensitive := ['disease'])",
    "risk among a population": "anonymize_risk('visits', quasi_identifiers := ['age', 'zip'], "
    "population := 'census', k := 4)",
    "risk by weight": "anonymize_risk('visits', quasi_identifiers := ['age', 'zip'], k := 4, "
    "sampling_weight := 'people')",
    "roles": "anonymize_roles('visits', entity := 'patient', sensitive := ['disease'])",
    "ledger_check": "ledger_check('presences', k := 3)",
    "metrics by part": f"anonymize_metrics('visits', detail=true, {PARTS} by_part := true, "
    "l := 2) WHERE NOT (starts_with(metric, 'seconds') OR metric IN ('options', "
    "'grouping_cache', 'version'))",
    "methods": "(SELECT method FROM anonymize_methods())",
}


IN_FILES: dict[str, dict[str, Any]] = {
    "one block": {},
    "blocks": {"block_rows": 250},
    "blocks with a model": {"block_rows": 250, "l": 2, "suppress": 0.02},
    "blocks of persons": {"block_rows": 250, "entity": "patient"},
}
"""Calls of anonymize_files, by name."""


def prepared() -> Connection:
    """A connection with the tables, two ledgers and a release."""
    connection = kanon_sql.register(duckdb.connect())
    connection.execute(f"SET enable_progress_bar = false; SET TimeZone = 'UTC'; {TABLES}")
    for ledger, more in LEDGERS.items():
        connection.execute(
            f"CREATE TABLE {ledger} AS FROM anonymize_ledger('earlier', {FEW} headroom := 1{more})"
        )
    connection.execute(
        f"CREATE TABLE shown AS FROM anonymize('visits', {ILL} method := 'k_member', "
        "representation := 'interval', hierarchies := {'zip': 'prefix'})"
    )
    return connection


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    connection = prepared()
    yield connection
    connection.close()


def query(call: str, options: str) -> str:
    """What of a call is to stay, as SQL."""
    table = "persons" if options.startswith(FEW) else "visits"
    rows = f"{call}('{table}', {options.rstrip(', ')})"
    if call == "anonymize_metrics":
        away = " OR ".join(f"starts_with(metric, '{name}')" for name in MEASURED_ANEW)
        rows = f"{rows[:-1]}, detail := true)"
        return f"SELECT metric, value, text FROM {rows} WHERE NOT ({away})"
    if call == "anonymize_manifest":
        return (
            f"SELECT section, entry, value FROM {rows} WHERE section <> 'options' AND entry NOT IN "
            "('duckdb', 'kanon_sql', 'sql_sha256')"
        )
    if call == "anonymize_ledger":
        return f"SELECT * EXCLUDE (source, options) FROM {rows} ORDER BY ALL"
    return f"FROM {rows}"


def check(con: Connection, case: str, calls: tuple[str, ...], options: str) -> None:
    held("calls", case, {call: told(con, query(call, options)) for call in calls})


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", CASES)
def test_calls_are_unchanged(con: Connection, case: str) -> None:
    check(con, case, *CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW_CASES)
def test_longer_calls_are_unchanged(con: Connection, case: str) -> None:
    check(con, case, *SLOW_CASES[case])


@pytest.mark.sample(len(AUDITS))
@pytest.mark.parametrize("case", AUDITS)
def test_audits_are_unchanged(con: Connection, case: str) -> None:
    metrics = AUDITS[case].startswith(("anonymize_audit", "anonymize_risk", "anonymize_metrics"))
    rows = "SELECT * EXCLUDE (unit, in_words, description)" if metrics else "SELECT *"
    held("calls", f"audit: {case}", told(con, f"{rows} FROM {AUDITS[case]}"))


@pytest.mark.sample(5)
@pytest.mark.parametrize("changed", [
    "FROM shown OFFSET 1", "FROM shown ORDER BY ALL", "SELECT *, 1 AS one FROM shown",
    "SELECT * REPLACE (zip::BLOB AS zip) FROM shown",
    "SELECT * REPLACE (CASE WHEN row_number() OVER () = 7 THEN '?' ELSE cost END AS cost) "
    "FROM shown",
])
def test_a_digest_tells_small_changes(con: Connection, changed: str) -> None:
    assert told(con, changed) != told(con, "FROM shown")


def test_every_call_is_in_the_matrix() -> None:
    made = {call for calls, _ in CASES.values() for call in calls}
    made |= {text.partition("(")[0] for text in AUDITS.values()}
    assert made >= {*ALL_CALLS, LEDGER_CHECK} - {"anonymize_sql"}  # see the test beside this one


ANY_ORDER = ("l", "together", "ledger against absence", "within, a model", "sampling_weight")


@pytest.mark.slow
@pytest.mark.parametrize("case", ANY_ORDER)
def test_no_order_of_rows_and_no_number_of_threads_changes_it(con: Connection, case: str) -> None:
    """What was recorded comes out of rows in another order, on other numbers of threads, anew."""
    calls, options = CASES[case]
    with con.cursor() as other:
        kanon_sql.register(other)
        other.execute("CREATE SCHEMA turned; SET search_path = 'turned,main'")
        try:
            for number, order in ((1, "hash(i)"), (3, "i DESC")):
                for name in ("visits", "persons"):
                    other.execute(
                        f"CREATE OR REPLACE TABLE turned.{name} AS SELECT * EXCLUDE (i) FROM "
                        f"(SELECT *, row_number() OVER () AS i FROM main.{name}) ORDER BY {order}"
                    )
                other.execute(f"SET threads = {number}")
                remembered.forget()
                for call in calls:
                    found, before = told(other, query(call, options)), recorded("calls")[case][call]
                    if call == "suppressed_rows":  # the numbers of the rows, which are others
                        found, before = found.split()[0], before.split()[0]
                    assert found == before, call
        finally:
            other.execute("DROP SCHEMA turned CASCADE; RESET threads")


SETTINGS = {
    "verified": "PRAGMA enable_verification",
    "parallel": "PRAGMA verify_parallelism",
    "not optimized": "PRAGMA disable_optimizer",
    "not in order": "SET preserve_insertion_order = false",
}
"""Ways in which DuckDB may run any query, by which its own tests look for errors."""
UNDER_SETTINGS = ("l", "rounded by column")


def unchanged_under(con: Connection, setting: str, cases: Iterable[str]) -> None:
    with con.cursor() as other:
        kanon_sql.register(other).execute(SETTINGS[setting])
        try:
            for case in cases:
                calls, options = {**CASES, **SLOW_CASES}[case]
                remembered.forget()
                for call in calls:
                    found = told(other, query(call, options))
                    assert found == recorded("calls")[case][call], (case, call)
        finally:
            con.execute("SET preserve_insertion_order = true")


@pytest.mark.slow
@pytest.mark.sample(len(SETTINGS))
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_way_of_running_a_query_changes_a_release(con: Connection, setting: str) -> None:
    unchanged_under(con, setting, UNDER_SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_way_of_running_a_query_changes_any_case(con: Connection, setting: str) -> None:
    unchanged_under(con, setting, (*CASES, *SLOW_CASES))


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_FILES)
def test_files_are_unchanged(con: Connection, tmp_path: Path, case: str) -> None:
    """Every file, its columns and its rows in their order, and the metrics."""
    for part in (0, 1):
        con.execute(
            f"COPY (FROM (FROM visits UNION ALL BY NAME SELECT * REPLACE (patient + 40 AS patient, "
            f"age + 1 AS age) FROM visits) WHERE patient % 2 = {part}) "
            f"TO '{tmp_path}/{part}.parquet'"
        )
    options = {
        "k": 4, "quasi_identifiers": ["age", "zip", "job", "seen", "cost"], "others": "drop",
        "sensitive": ["disease"], "seed": 1, "progress": False,
    }
    found = kanon_sql.anonymize_files(
        f"{tmp_path}/*.parquet", tmp_path / "out", **options, **IN_FILES[case]
    )
    written = sorted(Path(found.path).glob("*.parquet"))
    files = {path.name: told(con, f"FROM '{path}'") for path in written}
    metrics = {n: v for n, v in found.metrics.items() if not n.startswith("seconds")}
    held("calls", f"files: {case}", {**files, "metrics": digest(sorted(metrics.items()))})


@pytest.mark.slow
def test_python_gives_what_sql_does(con: Connection) -> None:
    """The face over frames, and a release with its metrics, by the digests of the call."""
    calls, options = CASES["within, a model"]
    frame = con.sql("FROM visits").to_arrow_table()
    given: dict[str, Any] = {
        "quasi_identifiers": ["age", "zip", "job", "seen", "cost"], "others": "drop", "seed": 1,
        "sensitive": ["disease"], "k": 4, "within": ["site"], "l": 2, "suppress": 0.1,
    }
    out = kanon_sql.anonymize(frame, **given)
    release = kanon_sql.release(frame, **given)
    expected = recorded("calls")["within, a model"]["anonymize"]
    assert calls[0] == "anonymize"
    con.register("out", out)
    assert told(con, "FROM out") == told(con, query("anonymize", options)) == expected
    assert out.equals(release.data)
