"""What the metrics say of sensitive columns, class labels and suppressed rows, worked out anew."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest

from tests.support.queries import metrics_of, refusal_of

Connection = duckdb.DuckDBPyConnection
K = 4
CALL = f"'patients', k := {K}, identifiers := ['name']"


@pytest.fixture
def people(con: Connection) -> Connection:
    con.execute("UPDATE patients SET disease = NULL WHERE age % 3 = 0 AND zip % 2 = 0")
    con.execute("ALTER TABLE patients ADD COLUMN ward INTEGER")
    con.execute("UPDATE patients SET ward = zip % 3")
    return con


def metrics(con: Connection, options: str, call: str = "anonymize_metrics") -> dict[str, Any]:
    return metrics_of(con, f"{call}({CALL}, {options})")


def classes(con: Connection, options: str, column: str) -> list[list[Any]]:
    """The values of a column, class by class."""
    quasi = "age, zip, job"
    found = con.sql(
        f"SELECT list({column}) FROM (FROM anonymize({CALL}, {options})) GROUP BY {quasi}"
    ).fetchall()
    return [row[0] for row in found]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["k_member", "mdav_plus"])
def test_diversity_and_classification_by_their_definitions(
    people: Connection, method: str
) -> None:
    options = f"method := '{method}', sensitive := ['disease', 'ward']"
    named = f"{options}, class_label := 'ward', sensitive_values := ['Flu', '2']"
    found = metrics(people, named)
    for column, grave in (("disease", "Flu"), ("ward", 2)):
        alike = [c for c in classes(people, named, column) if len(set(c)) == 1]
        assert found[f"homogeneous_rows ({column})"] == sum(map(len, alike))
        assert found[f"homogeneous_sensitive_rows ({column})"] == sum(
            len(c) for c in alike if c[0] == grave
        )
    strangers = sum(
        len(c) - max(Counter(c).values()) for c in classes(people, named, "ward")
    )
    assert found["classification_metric"] == pytest.approx(strangers / 60)
    sizes = list(map(len, classes(people, named, "ward")))
    assert found["discernibility"] == sum(size * size for size in sizes)
    assert found["c_avg"] == pytest.approx(60 / len(sizes) / K)


def test_a_class_label_passes_unchanged_and_is_no_quasi_identifier(people: Connection) -> None:
    found = people.sql(f"FROM anonymize({CALL}, class_label := 'ward', sensitive := ['disease'])")
    assert Counter(row[-1] for row in found.fetchall()) == Counter(
        row[0] for row in people.sql("SELECT ward FROM patients").fetchall()
    )
    with pytest.raises(duckdb.Error, match="as quasi_identifier and as class_label"):
        people.sql(f"FROM anonymize({CALL}, quasi_identifiers := ['age'], class_label := 'AGE')")


@pytest.mark.slow
def test_the_variants_of_k_member_do_what_they_are_for(people: Connection) -> None:
    plain = (
        "method := 'k_member', sensitive := ['disease'], quasi_identifiers := ['age', 'job'], "
        "others := 'release'"
    )
    label = plain + ", class_label := 'ward'"
    with_labels, without = metrics(people, label), metrics(people, label + ", class_penalty := 0")
    assert with_labels["classification_metric"] < without["classification_metric"]
    assert without["total_il"] == metrics(people, plain)["total_il"]
    diverse = metrics(people, plain + ", diversity_preference := 'equal'")
    assert diverse["homogeneous_rows"] < metrics(people, plain)["homogeneous_rows"]
    grave = plain + ", sensitive_values := ['Flu']"
    some = metrics(people, grave + ", diversity_preference := 'sensitive'")
    assert some["homogeneous_sensitive_rows"] <= metrics(people,
                                                         grave)["homogeneous_sensitive_rows"]


def test_options_that_need_each_other(people: Connection) -> None:
    def refused(options: str) -> str:
        return refusal_of(people, f"FROM anonymize({CALL}, {options})")

    assert "takes no diversity" in refused("method := 'mdav', diversity_preference := 'equal'")
    assert "needs to know which values" in refused(
        "method := 'k_member', sensitive := ['disease'], diversity_preference := 'sensitive'"
    )
    assert "needs one sensitive column, and there are 2" in refused(
        "method := 'k_member', sensitive := ['disease', 'ward'], diversity_preference := 'equal'"
    )
    said = refused("method := 'k_member', diversity_preference := 'equal'")
    assert "needs one sensitive column" in said
    assert "works in the distance 'loss' only" in refused("method := 'mondrian', distance := 'sse'")
    assert "squared distances" in refused("method := 'mdav', loss := 'range_flat'")


@pytest.mark.slow
def test_the_audit_agrees_with_the_metrics(people: Connection) -> None:
    options = "sensitive := ['disease', 'ward'], sensitive_values := ['Flu']"
    people.execute(f"CREATE TABLE released AS FROM anonymize({CALL}, method := 'k_member', "
                   f"{options}, class_label := 'ward')")
    measured = metrics(people, f"method := 'k_member', {options}, class_label := 'ward'")
    audited = metrics(
        people, f"release := 'released', {options}, class_label := 'ward'", "anonymize_audit"
    )
    shared = set(measured) & set(audited)
    assert {"ncp", "total_il", "discernibility", "homogeneous_rows (disease)"} <= shared
    for name in shared:
        assert audited[name] == pytest.approx(measured[name]), name
    people.execute("DELETE FROM released WHERE rowid % 10 = 0")
    fewer = metrics(people, f"release := 'released', {options}", "anonymize_audit")
    assert fewer["rows_suppressed"] == 6 and fewer["rows_below_k"] > 0
    assert fewer["ncp"] > audited["ncp"]


@pytest.mark.slow
def test_what_can_not_be_audited(people: Connection) -> None:
    def refused(source: str, options: str) -> str:
        return refusal_of(people, f"FROM anonymize_audit('{source}', {options})")

    assert "release is not given" in refused("patients", "k := 2")
    people.execute("CREATE TABLE twice AS FROM patients UNION ALL FROM patients")
    assert "has 120 rows, its source 60" in refused("patients", "release := 'twice'")
    people.execute("CREATE TABLE less AS SELECT age, zip FROM patients")
    assert "no column 'name'" in refused("patients", "release := 'less'")
    people.execute("CREATE TABLE none AS FROM patients LIMIT 0")
    assert "no rows" in refused("none", "release := 'patients'")
    empty = metrics(people, "release := 'none'", "anonymize_audit")
    assert empty["rows_suppressed"] == 60 and empty["ncp"] == 1.0
