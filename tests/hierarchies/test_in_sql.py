"""Hierarchies in SQL: where they come from, what is released, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kanon_sql
from tests.support.queries import refusal_of
from tests.support.thoroughness import examples as thorough

Connection = duckdb.DuckDBPyConnection
K = 4

LEVELS = """
    CREATE TABLE job_levels (level0 VARCHAR, level1 VARCHAR, level2 VARCHAR);
    INSERT INTO job_levels VALUES ('Private', 'Paid', 'Any'), ('State-gov', 'Paid', 'Any'),
                                  ('Never-worked', 'Unpaid', 'Any'), ('Retired', 'Unpaid', 'Any')
"""
EDGES = """
    CREATE TABLE job_edges AS SELECT * FROM (VALUES
        ('Private', 'Paid'), ('State-gov', 'Paid'), ('Never-worked', 'Unpaid'), ('Paid', 'Any'),
        ('Unpaid', 'Any')) AS edges(child, parent)
"""
ANCESTORS = {"Private": "Paid", "State-gov": "Paid", "Never-worked": "Unpaid"}


def ancestor(jobs: Sequence[str | None]) -> str | None:
    """The label of the lowest common ancestor, by walking up."""
    if len(set(jobs)) == 1:
        return jobs[0]
    parents = {ANCESTORS.get(job or "", "Any") for job in jobs}
    return parents.pop() if len(parents) == 1 else "Any"


def jobs_by_class(con: Connection, options: str) -> list[tuple[Any, ...]]:
    """What each row has, and what it is released as (the pairing needs keep_order)."""
    return con.sql(
        f"""SELECT source.job, released.job, class_id FROM patients AS source
            POSITIONAL JOIN (FROM anonymize('patients', k := {K}, class_id := true,
                keep_order := true, sensitive := ['disease'], identifiers := ['name'], {options}))
            AS released"""
    ).fetchall()


def test_a_hierarchy_without_rows_is_told(con: Connection) -> None:
    con.execute("CREATE TABLE none (level0 VARCHAR, level1 VARCHAR)")
    said = refusal_of(
        con, "FROM anonymize('patients', k := 2, quasi_identifiers := ['job'], others := 'drop', "
        "hierarchies := {'job': 'none'})"
    )
    assert said == (
        "The hierarchy of 'job', \"none\", has no rows. Give a table with a row for each value, or "
        "leave the column out of hierarchies."
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("given", ["'job_levels'", "'job_edges'"])
@pytest.mark.parametrize("method", ["mdav_plus", "mdav_star", "k_member", "mondrian", "nearest"])
def test_each_class_releases_its_lowest_common_ancestor(
    con: Connection, method: str, given: str
) -> None:
    con.execute(LEVELS).execute(EDGES)
    con.execute("UPDATE patients SET job = NULL WHERE zip % 7 = 0")
    rows = jobs_by_class(con, f"method := '{method}', hierarchies := {{'job': {given}}}")
    by_class: dict[Any, list[tuple[Any, Any]]] = {}
    for job, released, number in rows:
        by_class.setdefault(number, []).append((job, released))
    assert sum(map(len, by_class.values())) == 60
    for pairs in by_class.values():
        assert len(pairs) >= K
        assert {released for _, released in pairs} == {ancestor([job for job, _ in pairs])}


@pytest.mark.slow
def test_any_relation_holds_levels(con: Connection, tmp_path: Any) -> None:
    con.execute(LEVELS)
    con.execute('CREATE VIEW shuffled AS SELECT level2, level0, level1 AS "LEVEL1" '
                "FROM job_levels ORDER BY random()")
    con.execute("CREATE TEMP TABLE passing AS FROM job_levels")
    con.execute(f"COPY job_levels TO '{tmp_path / 'levels.csv'}'")
    con.execute('CREATE SCHEMA "my schema"; CREATE TABLE "my schema"."my levels" AS '
                "FROM job_levels")
    query = "FROM anonymize('patients', k=4, sensitive=['disease'], identifiers=['name'], " \
            "hierarchies := {{'JOB': '{}'}})"
    expected = con.sql(query.format("job_levels")).fetchall()
    names = ("shuffled", "passing", str(tmp_path / "levels.csv"), '"my schema"."my levels"')
    for name in names:
        assert con.sql(query.format(name)).fetchall() == expected
    inside = "WITH kinds AS (FROM job_levels) " + query.format("kinds")
    assert con.sql(inside).fetchall() == expected
    frame = con.sql("FROM patients").pl()
    levels = con.sql("FROM job_levels").pl()
    given = kanon_sql.anonymize(
        frame, k=4, sensitive=["disease"], identifiers=["name"], hierarchies={"job": levels}
    )
    assert given.rows() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "kind", "options"),
    [
        ("zip", "prefix", {}),
        ("zip", "prefix", {"levels": 3}),
        ("age", "bins", {}),
        ("age", "bins", {"width": 10, "levels": 3}),
        ("job", "flat", {}),
        ("seen", "date", {}),
        ("job", "ordered", {"ranking": ["Never-worked", "Private", "State-gov"]}),
    ],
)
def test_a_level_table_passed_back_gives_what_its_kind_gives(
    con: Connection, column: str, kind: str, options: dict[str, Any]
) -> None:
    con.execute("ALTER TABLE patients ADD COLUMN seen DATE")
    con.execute("UPDATE patients SET seen = DATE '2024-01-30' + age::INTEGER")
    named = "".join(f", {name} := {value!r}" for name, value in options.items())
    con.execute(
        f"CREATE TABLE own AS FROM hierarchy('patients', '{column}', kind := '{kind}'{named})"
    )
    inline = ", ".join(f"'{name}': {value!r}" for name, value in {"kind": kind, **options}.items())
    query = (
        "FROM anonymize('patients', k=4, method='mdav_plus', sensitive=['disease'], "
        f"identifiers=['name'], hierarchies := {{'{column}': %s}})"
    )
    assert con.sql(query % "'own'").fetchall() == con.sql(query % f"{{{inline}}}").fetchall()
    if not options:
        assert con.sql(query % "'own'").fetchall() == con.sql(query % f"'{kind}'").fetchall()


def test_the_level_table_of_codes(con: Connection) -> None:
    con.execute("CREATE TABLE codes AS SELECT unnest([47906, 47907, 47918, 10001]) AS zip")
    table = con.sql("SELECT * FROM hierarchy('codes', 'zip', kind := 'prefix')")
    assert table.columns == [f"level{i}" for i in range(6)]
    assert table.fetchall() == [
        ("10001", "1000*", "100**", "10***", "1****", "*"),
        ("47906", "4790*", "479**", "47***", "4****", "*"),
        ("47907", "4790*", "479**", "47***", "4****", "*"),
        ("47918", "4791*", "479**", "47***", "4****", "*"),
    ]
    frame = pl.DataFrame({"zip": ["47906", "47918"]})
    assert kanon_sql.hierarchy(frame, "zip", kind="prefix").columns == table.columns


def test_representations_given_and_default(con: Connection) -> None:
    call = "FROM anonymize('patients', k=4, sensitive=['disease'], identifiers=['name'], {})"
    def types(options: str) -> dict[str, str]:
        found = con.sql(call.format(options))
        return dict(zip(found.columns, map(str, found.types), strict=True))

    with_tree = "hierarchies := {'age': 'bins'}"
    assert types(with_tree)["age"] == "VARCHAR"
    assert types(with_tree)["zip"] == "BIGINT"
    assert types(f"representation='centroid', {with_tree}")["zip"] == "DOUBLE"
    assert types(f"representation='hierarchy', {with_tree}") == types(with_tree)
    assert types(f"representation='median', {with_tree}")["age"] == "BIGINT"
    assert types(f"method='k_member', {with_tree}")["zip"] == "VARCHAR"
    assert "needs hierarchies" in refusal_of(con, call.format("representation='hierarchy'"))


@pytest.mark.slow
def test_what_is_wrong_is_said_without_a_value(con: Connection) -> None:
    con.execute(LEVELS)
    call = "FROM anonymize('patients', k=4, sensitive=['disease'], identifiers=['name'], " \
           "hierarchies := {{{}}})"
    con.execute("DELETE FROM job_levels WHERE level0 = 'State-gov'")
    text = refusal_of(con, call.format("'job': 'job_levels'"))
    assert "'job'" in text and "1 " in text and "State-gov" not in text
    shown = refusal_of(con, call.format("'job': 'job_levels'")[:-1] + ", show_values := true)")
    assert "State-gov" in shown
    passing = refusal_of(con, call.format("'disease': 'flat'"))
    assert "'disease', which is not a quasi-identifier" in passing
    assert "jobb" in refusal_of(con, call.format("'jobb': 'flat'"))
    assert "Did you mean 'prefix'" in refusal_of(con, call.format("'zip': {'kind': 'prefx'}"))
    assert "prefx" in refusal_of(con, call.format("'zip': 'prefx'"))
    con.execute("CREATE TABLE nothing (level0 VARCHAR, level1 VARCHAR)")
    assert "'job'" in refusal_of(con, call.format("'job': 'nothing'"))
    assert "column is missing" in refusal_of(con, "FROM hierarchy('patients')")
    assert "kind is not given" in refusal_of(con, "FROM hierarchy('patients', 'zip')")
    assert "width" in refusal_of(con, "FROM hierarchy('patients', 'zip', kind='bins', width=-1)")


@pytest.mark.slow
@settings(max_examples=thorough(36), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_release_by_random_trees_is_audited_as_it_was_measured(data: Any) -> None:
    """The audit reads the published labels and intervals, the metrics the original values."""
    leaves = data.draw(st.integers(1, 6))
    tree = [(f"v{i}", f"m{data.draw(st.integers(0, 2))}", "all") for i in range(leaves)]
    n = data.draw(st.integers(3, 24))
    rows = [
        (data.draw(st.none() | st.sampled_from(tree).map(lambda leaf: leaf[0])),
         data.draw(st.integers(0, 9)), data.draw(st.sampled_from(["x", "y, z", "{q}"])))
        for _ in range(n)
    ]
    method = data.draw(st.sampled_from(["k_member", "mondrian", "nearest", "mdav_plus"]))
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute("CREATE TABLE tree (level0 VARCHAR, level1 VARCHAR, level2 VARCHAR)")
        con.executemany("INSERT INTO tree VALUES (?, ?, ?)", tree)
        con.execute("CREATE TABLE t (a VARCHAR, b INTEGER, c VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        shared = "hierarchies := {'a': 'tree'}"
        how = f"k := 3, method := '{method}', {shared}"
        if method == "mdav_plus":
            how += ", representation := 'interval'"
        con.execute(f"CREATE TABLE r AS FROM anonymize('t', {how})")
        query = "SELECT metric, value FROM {} WHERE metric LIKE 'ncp%' OR metric = 'total_il'"
        measured = dict(con.sql(query.format(f"anonymize_metrics('t', detail=true, "
                                             f"{how})")).fetchall())
        audited = dict(
            con.sql(query.format(f"anonymize_audit('t', release := 'r', {shared})")).fetchall()
        )
    least, most = audited.pop("ncp_at_least"), audited.pop("ncp_at_most")
    assert 0.0 <= least <= measured["ncp"] + 1e-9
    assert measured["ncp"] <= most + 1e-9
    for name in audited:
        assert audited[name] is None or audited[name] == pytest.approx(measured[name]), name
