"""Persons in the catalog, in the audit, in the metrics, and in the check that nothing passes by;
and columns that tell persons apart by another name."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings

import kanon_sql
from kanon_sql.group import run
from kanon_sql.stages import group as stages
from kanon_sql.stages import remembered
from tests.support import tables
from tests.support.broken import broken, pairs
from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import examples
from tests.support.visits import VISIT, WHO, Crowds, Visits, classes_of, refusal, visits

Connection = duckdb.DuckDBPyConnection


shared = registered("SET threads = 1")


@pytest.fixture
def con(shared: Connection) -> Iterator[Connection]:
    """Sixty patients with up to three visits each, and columns that say who they are."""
    shared.execute("""
        CREATE OR REPLACE TABLE visits AS
        SELECT 'p' || (p * 7) % 60 AS patient, 20 + (p * 11) % 40 + v AS age,
               ['clerk', 'cook', 'nurse'][1 + p % 3] AS job, 'card ' || p * p AS card,
               1000 + 3 * p AS file, p / 7 AS weight, 'ward ' || p % 9 AS ward,
               ['Flu', 'Cold'][1 + (p + v) % 2] AS disease
        FROM range(60) AS r(p), range(3) AS s(v) WHERE v < 2 OR p % 3 = 0
    """)
    remembered.forget()
    yield shared
    remembered.forget()


def refused(con: Connection, query: str, said: str) -> None:
    assert said in refusal_of(con, query)


QUASI = "quasi_identifiers := ['age', 'job']"

# --- the audit -----------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(case=visits())
def test_the_audit_counts_persons(shared: Connection, case: Visits) -> None:
    """Of any table, and of a release of it beside whose rows those are."""
    case.create(shared)
    k, whose = case.options["k"], case.values(WHO)
    audited, classes = "t", classes_of(tables.fetch(shared, "FROM t"), case.quasi)
    if not refusal(case):
        shared.execute(
            f"CREATE OR REPLACE TABLE joined AS SELECT a.* , t.{WHO} "
            f"FROM {case.call()} AS a JOIN t USING ({VISIT})"
        )
        audited, found = "joined", tables.fetch(shared, "FROM joined")
        classes, whose = classes_of(found, case.quasi), tuple(found[WHO].to_pylist())
    call = tables.call(
        "k_anonymity", audited, quasi_identifiers=list(case.quasi), entity=WHO, k=k
    )
    (row,) = tables.fetch(shared, f"FROM {call}").to_pylist()
    crowds = Crowds.of(classes, [tables.exact(each) for each in whose])
    persons = [len(own) for own in crowds.rows_of.values()]
    sizes = [own.total() for own in crowds.rows_of.values()]
    if any("double" in c.kind or "float" in c.kind for c in case.columns if c.name in case.quasi):
        return  # 0.0 and -0.0 look different to a reader, and are one value here
    assert (row["k"], row["rows"], row["classes"]) == (min(sizes), len(whose), len(sizes))
    assert row["persons"] == len(set(map(tables.exact, whose)))
    assert row["k_persons"] == min(persons)
    assert row["prosecutor_risk_max_persons"] == 1 / min(persons)
    assert row["k_apart"] == crowds.apart
    assert row["persons_in_several_classes"] == sum(n > 1 for n in crowds.places.values())
    assert row["classes_of_one_person"] == persons.count(1)
    assert row["classes_below_k_persons"] == sum(n < k for n in persons)
    if audited == "joined":
        assert row["k_persons"] >= k and (case.together or row["k_apart"] >= k)


def test_the_audit_refuses_rows_of_nobody(con: Connection) -> None:
    con.execute("UPDATE visits SET patient = NULL WHERE age = 25")
    refused(con, f"FROM k_anonymity('visits', entity := 'patient', {QUASI})", "'patient' is NULL")


@pytest.mark.slow
@pytest.mark.parametrize("nulls", ["worst", "value"])
def test_the_audit_of_persons_measures_sensitive_columns_too(con: Connection, nulls: str) -> None:
    """Each person with one value for each class, none where its rows there differ or one lacks it:
    so it is what is found of a table of these, beside what is found of the persons."""
    con.execute("UPDATE visits SET disease = NULL WHERE weight % 5 = 1")
    con.execute("UPDATE visits SET age = age // 15, disease = 'Gout' WHERE file % 9 = 0")
    con.execute("UPDATE visits SET age = age // 15 WHERE age > 9")
    con.execute("""
        CREATE OR REPLACE TABLE people AS
        SELECT age, job, patient, CASE WHEN count(DISTINCT disease) = 1
                   AND count(disease) = count(*) THEN min(disease) END AS disease,
               CASE WHEN count(DISTINCT weight) = 1 THEN min(weight) END AS weight
        FROM visits GROUP BY age, job, patient
    """)
    asked = (
        f"{QUASI}, k := 5, sensitive := ['disease', 'weight'], sensitive_nulls := '{nulls}', "
        "l := {'disease': 3}, t := {'weight': 0.01}"
    )

    def rows(call: str) -> list[dict[str, Any]]:
        return tables.fetch(con, f"FROM k_anonymity({call})").to_pylist()

    (of_persons,) = rows(f"'visits', {QUASI}, k := 5, entity := 'patient'")
    found, once = rows(f"'visits', entity := 'patient', {asked}"), rows(f"'people', {asked}")
    assert [row["sensitive"] for row in found] == ["disease", "weight"]
    assert of_persons["k_apart"] > 0 and of_persons["rows"] > once[0]["rows"]
    for row, person in zip(found, once, strict=True):
        assert of_persons.items() <= row.items()
        told = {name: value for name, value in row.items() if name not in of_persons}
        told["rows_violating"] = told.pop("persons_violating")
        assert told == {name: person[name] for name in told}
        assert row["classes_violating"] > 0


def test_the_audit_of_both_refuses_rows_of_nobody(con: Connection) -> None:
    con.execute("UPDATE visits SET patient = NULL WHERE age = 25")
    refused(
        con, f"FROM k_anonymity('visits', entity := 'patient', sensitive := ['disease'], {QUASI})",
        "'patient' is NULL",
    )


ILL = "entity := 'patient', sensitive := ['disease'], others := 'drop'"


@pytest.mark.parametrize(("options", "said"), [
    ("k := 70", "There are 60 persons to anonymize, fewer than k = 70."),
    ("k := 5, alpha := 0.01", "One class of all 60 persons has alpha = "),
    ("k := 5, alpha := 0.01, entity_rows := 'apart'", "One class of all 140 rows has alpha = "),
    ("k := 5, nulls := 'error'", "has 7 rows with NULL or NaN"),
])
def test_refusals_count_persons_where_persons_are_grouped(
    con: Connection, options: str, said: str
) -> None:
    if "nulls" in options:
        con.execute("UPDATE visits SET job = NULL WHERE patient IN ('p7', 'p14', 'p21')")
    # of the wards, each person has one
    asked = ILL.replace("disease", "ward") if "alpha" in options else ILL
    refused(con, f"FROM anonymize('visits', {QUASI}, {asked}, {options})", said)


def test_a_null_in_one_row_of_a_person_is_an_error(con: Connection) -> None:
    con.execute("UPDATE visits SET age = NULL WHERE rowid = (SELECT min(rowid) FROM visits)")
    options = f"{QUASI}, {ILL}, k := 5, nulls := 'error'"
    refused(con, f"FROM anonymize('visits', {options})", "has 1 rows with NULL or NaN")


# --- roles ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_entity_may_be_declared(con: Connection) -> None:
    """By a comment, by a comment below a view, by a relation of roles, and by the call, each the
    same release."""
    named = "sensitive := ['disease'], identifiers := ['card', 'file', 'weight', 'ward'], k := 4"
    by_call = con.execute(
        f"FROM anonymize('visits', {QUASI}, {named}, entity := 'patient')").fetchall()
    con.execute("CREATE OR REPLACE TABLE my_roles AS SELECT 'patient' AS column_name, "
                "'entity' AS role")
    by_table = f"FROM anonymize('visits', {QUASI}, {named}, roles := 'my_roles')"
    assert con.execute(by_table).fetchall() == by_call
    con.execute("COMMENT ON COLUMN visits.patient IS 'Kanon: Entity.'")
    con.execute("CREATE OR REPLACE VIEW seen AS FROM visits")
    for relation in ("visits", "seen"):
        found = con.execute(f"FROM anonymize('{relation}', {QUASI}, {named})").fetchall()
        assert found == by_call
    con.execute("DROP VIEW seen")
    assert kanon_sql.anonymize(
        con.sql("FROM visits").pl(), quasi_identifiers=["age", "job"], sensitive=["disease"],
        identifiers=["card", "file", "weight", "ward"], k=4, entity="patient",
    ).rows() == by_call


@pytest.mark.parametrize(("options", "said"), [
    ("entity := 'nobody'", "nobody"),
    ("entity := 'age'", "'age' is given as quasi_identifier and as entity"),
    ("entity := 'patient', identifiers := ['patient']", "Give it one role"),
    ("entity := 'patient', sensitive := ['PATIENT']", "Give it one role"),
    ("entity := 'patient', class_label := 'patient'", "Give it one role"),
    ("entity := 'patient', sampling_weight := 'patient'", "Give it one role"),
    ("entity_rows := 'together'", "no column identifies the person of each row"),
    ("entity := 'patient', entity_rows := 'alone'", "There are: apart, together"),
    ("entity := 'patient', k := 61", "There are 60 persons to anonymize, fewer than k = 61"),
    ("entity := 'patient', entity_rows := 'apart', k := 50", "use entity_rows='together'"),
])
def test_what_is_not_understood_is_refused(con: Connection, options: str, said: str) -> None:
    k = "" if "k :=" in options else "k := 4, "
    refused(con, f"FROM anonymize('visits', {k}{QUASI}, others := 'drop', {options})", said)


@pytest.mark.parametrize("reading", ["together", "apart"])
def test_rows_of_nobody_are_refused(con: Connection, reading: str) -> None:
    con.execute("UPDATE visits SET patient = NULL WHERE age = 25")
    refused(
        con, f"FROM anonymize('visits', k := 4, {QUASI}, others := 'drop', entity := 'patient', "
        f"entity_rows := '{reading}')", "belong to no person",
    )


# --- the check -----------------------------------------------------------------------------------

CALL = (
    f"anonymize('visits', k := 4, method := 'mdav', {QUASI}, others := 'drop', "
    "entity := 'patient'"
)


@pytest.mark.slow
def test_classes_of_too_few_persons_are_stopped(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four rows of two persons."""
    broken(monkeypatch, pairs)
    for name in ("anonymize", "anonymize_metrics", "anonymize_clusters", "suppressed_rows"):
        refused(con, f"FROM {CALL.replace('anonymize', name, 1)})", "has 2 persons, fewer than k")


def spoiled(change: Callable[[Any], None]) -> Any:
    """Labels of rows that are changed after persons were grouped."""
    group_rows = stages.group_rows

    def spoil(*arguments: Any) -> Any:
        found, facts = group_rows(*arguments)
        labels = found.labels.copy()
        change(labels)
        return dataclasses.replace(found, labels=labels), facts

    return mock.patch.object(stages, "group_rows", spoil)


def test_rows_of_a_person_in_two_classes_are_stopped(con: Connection) -> None:
    def move(labels: Any) -> None:
        labels[0] = (labels[0] + 1) % (labels.max() + 1)

    with spoiled(move):
        refused(con, f"FROM {CALL})", "1 times rows of a person are in another class")


def test_a_row_of_a_person_that_is_left_out_alone_is_stopped(con: Connection) -> None:
    def leave(labels: Any) -> None:
        labels[0] = -1

    with spoiled(leave):
        refused(con, f"FROM {CALL}, suppress := 0.1)", "rows of a person are in another class")


def test_more_of_a_class_than_a_share_is_stopped(con: Connection) -> None:
    """Classes that no stage mended."""
    con.execute("UPDATE visits SET patient = 'p0', age = 20, job = 'cook' WHERE age < 23")
    with mock.patch.object(run, "enforce", lambda points, grouping, *others: grouping):
        refused(con, f"FROM {CALL}, entity_rows := 'apart')", "The release was stopped")


# --- metrics -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["together", "apart"])
def test_the_metrics_count_persons(con: Connection, reading: str) -> None:
    options = f"{CALL[9:].replace('drop', 'release')}, entity_rows := '{reading}'"
    con.execute("ALTER TABLE visits ADD COLUMN n INTEGER DEFAULT 0")
    con.execute("UPDATE visits SET n = rowid % 7")
    found = metrics_of(con, f"anonymize_metrics{options}, detail := true)")
    rows = con.execute(f"SELECT age, job FROM anonymize{options}, keep_order := true)").fetchall()
    whose = [w for (w,) in con.execute("SELECT patient FROM visits").fetchall()]
    crowds = Crowds.of(rows, whose)
    assert found["persons"] == 60 and found["persons_suppressed"] == 0
    assert found["rows_per_person_max"] == 3
    assert found["rows_per_person_mean"] == pytest.approx(len(whose) / 60)
    assert found["k_persons"] == crowds.persons >= 4
    assert found["prosecutor_risk_max_persons"] == pytest.approx(1 / crowds.persons)
    told = dict(con.execute(f"SELECT metric, text FROM anonymize_metrics{options}, detail := "
                            f"true)").fetchall())
    assert '"entity": "patient"' in told["options"] and reading in told["options"]


# --- a key by another name -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["together", "apart"])
def test_columns_without_a_role_that_tell_persons_apart_come_out_as_null(
    con: Connection, reading: str
) -> None:
    """As those do that tell rows apart; what differs within persons or is shared passes."""
    options = (f"'visits', k := 4, {QUASI}, entity := 'patient', others := 'release', "
               f"entity_rows := '{reading}', method := 'mdav_star'")
    rows = tables.fetch(con, f"FROM anonymize({options})")
    empty = [name for name in rows.column_names if rows[name].null_count == rows.num_rows]
    assert empty == ["card", "file"]
    said = [text for (text,) in con.execute(
        f"SELECT text FROM anonymize_metrics({options}, detail := true) WHERE metric = "
        f"'notice'").fetchall()]
    assert len(said) == 3
    assert "'card' looks like an identifier" in said[0] and "'file' looks" in said[1]
    assert "'weight' identifies nearly all persons, as" in said[2]
    told = con.execute(f"SELECT column_name, released_as, remarks FROM anonymize_roles({options})")
    found = {name: (shown, "".join(remarks)) for name, shown, remarks in told.fetchall()}
    assert found["patient"][0] == "dropped"
    assert [found[name][0] for name in ("card", "file", "weight", "ward", "disease")] == (
        ["NULL", "NULL", "unchanged", "unchanged", "unchanged"]
    )
    for name in ("card", "file", "weight", "ward"):
        key = "nearly all persons" in found[name][1]
        assert key == (name == "weight")


def test_a_named_column_passes_and_is_spoken_of(
    con: Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    options = (f"'visits', k := 4, {QUASI}, entity := 'patient', others := 'drop', "
               "sensitive := ['card', 'disease']")
    rows = tables.fetch(con, f"FROM anonymize({options})")
    assert len(set(rows["card"].to_pylist())) == 60
    assert "'card' identifies nearly all persons" in capfd.readouterr().err
    tables.fetch(con, f"FROM anonymize({options}, progress := false)")
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_quasi_identifiers_that_nobody_named_are_looked_at_by_persons(con: Connection) -> None:
    rows = tables.fetch(con, "FROM anonymize('visits', k := 4, entity := 'patient', "
                             "sensitive := ['disease'])")
    assert rows["card"].null_count == rows.num_rows
    assert all(rows[name].null_count == 0 for name in ("age", "job", "file", "weight", "ward"))
    named = tables.fetch(con, "FROM anonymize('visits', k := 4, entity := 'patient', "
                              "quasi_identifiers := ['age', 'card'], others := 'drop')")
    assert named["card"].null_count == 0


@pytest.mark.slow
@pytest.mark.parametrize(("change", "withheld"), [
    ("card = NULL WHERE age % 2 = 0", True),  # missing values say nothing
    ("card = 'other' WHERE patient = 'p7' AND age = (SELECT min(age) FROM visits WHERE "
     "patient = 'p7')", True),  # one person has two
    ("card = 'card 0' WHERE patient = 'p7'", True),  # two persons have one
    ("card = concat('card ', substr(patient, 2)::INTEGER // 4)", False),  # four persons have one
])
def test_a_few_exceptions_are_not_enough_to_pass(
    con: Connection, change: str, withheld: bool
) -> None:
    con.execute(f"UPDATE visits SET {change}")
    for options in (f"{QUASI}, others := 'release'", "sensitive := ['disease']"):
        rows = tables.fetch(
            con, f"FROM anonymize('visits', k := 4, {options}, entity := 'patient')"
        )
        assert (rows["card"].null_count == rows.num_rows) == withheld
        role = f"FROM anonymize_roles('visits', k := 4, {options}, entity := 'patient')"
        (shown,) = con.execute(f"SELECT released_as {role} WHERE column_name = 'card'").fetchall()
        assert (shown == ("NULL",)) == withheld


def test_of_few_persons_nothing_is_said(con: Connection) -> None:
    con.execute("DELETE FROM visits WHERE substr(patient, 2)::INTEGER >= 18")
    options = f"'visits', k := 4, {QUASI}, entity := 'patient', others := 'release'"
    rows = tables.fetch(con, f"FROM anonymize({options})")
    assert rows["card"].null_count == 0
    assert con.execute(
        f"SELECT count(*) FROM anonymize_metrics({options}, method := 'mdav_star', detail := true) "
        "WHERE metric = 'notice'"
    ).fetchall() == [(0,)]


def test_who_has_the_key_does_not_matter(con: Connection) -> None:
    """The rows in any order."""
    options = f"'visits', k := 4, {QUASI}, entity := 'patient', others := 'release'"
    first = tables.arrow_bytes(tables.fetch(con, f"FROM anonymize({options})"))
    order = list(range(con.sql("FROM visits").to_arrow_table().num_rows))
    random.Random(3).shuffle(order)
    con.register("shuffled", con.sql("FROM visits").to_arrow_table().take(np.array(order)))
    con.execute("CREATE OR REPLACE TABLE visits AS FROM shuffled")
    remembered.forget()
    assert tables.arrow_bytes(tables.fetch(con, f"FROM anonymize({options})")) == first
