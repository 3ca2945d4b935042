"""Where hierarchies in SQL could go wrong: collations, names, NULLs, options without effect."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import polars as pl
import pytest

import kanon_sql
from tests.support.queries import metrics_of, refusal_of

Connection = duckdb.DuckDBPyConnection


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["mondrian", "full_domain"])
def test_values_that_only_look_alike_stay_apart(con: Connection, method: str) -> None:
    con.execute("CREATE TABLE c (z VARCHAR COLLATE NOCASE, age INTEGER)")
    con.execute("INSERT INTO c SELECT ['a', 'A', 'b'][1 + i // 8], i // 8 FROM range(24) AS r(i)")
    con.execute("CREATE TABLE lv (level0 VARCHAR, level1 VARCHAR, level2 VARCHAR)")
    con.execute("INSERT INTO lv VALUES ('a', 'g1', '*'), ('A', 'g2', '*'), ('b', 'g1', '*')")
    found = con.sql(
        f"SELECT encode(z), count(*) FROM anonymize('c', k := 4, hierarchies := {{'z': 'lv', "
        f"'age': 'flat'}}, method := '{method}', "
        "quasi_identifiers := ['z', 'age']) GROUP BY ALL"
    ).fetchall()
    assert sorted(found) == [(b"A", 8), (b"a", 8), (b"b", 8)]
    table = con.sql("FROM hierarchy('c', 'z', kind := 'flat')").fetchall()
    assert sorted(row[0] for row in table) == ["A", "a", "b"]


ODD = ["place", "leaf", "path", "label", "low", "level", "known", "Straße", 'a "b"', "a.b", "a\nb"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_a_column_may_have_any_name(con: Connection, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(
        f"CREATE TABLE odd AS SELECT i % 3 AS {quoted}, i // 4 AS place2 FROM range(24) AS r(i)"
    )
    for options in ("method := 'full_domain'", f"hierarchies := MAP {{'{name}': 'bins'}}"):
        found = con.sql(f"FROM anonymize('odd', k := 4, {options})")
        assert found.columns == [name, "place2"]
        assert len(found.fetchall()) == 24


@pytest.mark.slow
def test_columns_of_nothing_but_null_and_tables_of_nothing(con: Connection) -> None:
    con.execute("CREATE TABLE n AS SELECT NULL::VARCHAR AS zip, i AS age FROM range(6) AS r(i)")
    for options in ("hierarchies := {'zip': 'flat'}", "method := 'full_domain'"):
        found = con.sql(f"SELECT zip FROM anonymize('n', k := 3, {options})").fetchall()
        assert found == [(None,)] * 6
    con.execute("CREATE TABLE empty AS FROM n LIMIT 0")
    for relation, nulls in (("empty", "value"), ("n", "suppress")):
        text = refusal_of(con, f"FROM anonymize('{relation}', k := 3, nulls := '{nulls}', "
                            "hierarchies := {'zip': 'flat'})")
        assert "There are no rows to anonymize" in text


def test_null_is_not_published_as_the_only_value(con: Connection) -> None:
    con.execute("CREATE TABLE n AS SELECT CASE WHEN i > 3 THEN 'a' END AS z FROM range(6) AS r(i)")
    con.execute("CREATE TABLE one AS SELECT 'a' AS level0, 'a' AS level1")
    found = con.sql("FROM anonymize('n', k := 6, hierarchies := {'z': 'one'})").fetchall()
    assert found == [("*",)] * 6


@pytest.mark.sample(1)
@pytest.mark.parametrize("table", ["kept", "source", "tree_1"])
def test_level_tables_are_never_stages_of_the_query(con: Connection, table: str) -> None:
    con.execute(f"CREATE TABLE _{table} AS FROM hierarchy('patients', 'job', kind := 'flat')")
    call = "FROM anonymize('patients', k=4, sensitive=['disease'], hierarchies := {{'job': '{}'}})"
    assert "starts with '__kanon_'" in refusal_of(con, call.format(f"__kanon_{table}"))
    con.execute(f"FROM ({call.format('_' + table)})")
    audit = f"FROM anonymize_audit('patients', release := '__kanon_{table}')"
    assert "starts with '__kanon_'" in refusal_of(con, audit)


@pytest.mark.slow
def test_a_table_named_like_a_kind_is_written_with_its_schema(con: Connection) -> None:
    con.execute("CREATE TABLE flat AS SELECT job AS level0, 'All' AS level1 FROM patients")
    call = ("SELECT DISTINCT job FROM anonymize('patients', k=60, sensitive=['disease'], "
            "identifiers=['name'], hierarchies := {{'job': '{}'}})")
    assert con.sql(call.format("flat")).fetchall() == [("*",)]
    assert con.sql(call.format("main.flat")).fetchall() == [("All",)]
    con.execute("CREATE TABLE auto AS FROM flat")
    assert con.sql(call.format("auto")).fetchall() == [("All",)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("method := 'full_domain', representation := 'interval'", "Leave representation out"),
        ("method := 'mdav', distance := 'loss', loss := 'range_distinct'", "Leave loss out"),
        ("method := 'k_member', diversity_penalty := 2", "given without diversity_preference"),
        ("method := 'k_member', class_penalty := 2", "given without class_label"),
        ("method := 'k_member', effort := 'balanced', class_label := 'disease'", "would undo"),
        ("method := 'k_member', effort := 'balanced', diversity_preference := 'equal'",
         "would undo"),
        ("method := 'k_member', diversity_preference := 'sensitive', sensitive_values := ['NOPE']",
         "None of the 1 sensitive_values"),
        ("method := 'full_domain', effort := 'balanced'", "can't be refined"),
    ],
)
def test_an_option_without_effect_is_refused(con: Connection, options: str, text: str) -> None:
    sensitive = "" if "class_label" in options else "sensitive := ['disease'], "
    query = f"FROM anonymize('patients', k := 4, identifiers := ['name'], {sensitive}{options})"
    found = refusal_of(con, query)
    assert text in found and "Flu" not in found


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        "hierarchies := {'job': 'flat'}",
        "column_weights := {'zip': 0, 'job': 0.5}",
        "suppress := 0.1, hierarchies := {'zip': 'prefix'}",
        "nulls := 'suppress', hierarchies := {'age': 'bins'}",
    ],
)
def test_metrics_and_audit_agree(con: Connection, options: str) -> None:
    con.execute("UPDATE patients SET job = NULL WHERE age % 10 = 3")
    con.execute("UPDATE patients SET zip = 99999 WHERE age % 25 = 4")
    if "nulls" not in options:
        con.execute("UPDATE patients SET job = 'none' WHERE job IS NULL")
    shared = "sensitive := ['disease'], identifiers := ['name']"
    call = f"('patients', k := 3, method := 'k_member', {shared}, {options})"
    con.execute(f"CREATE TABLE r AS FROM anonymize{call}")
    told = ", ".join(o for o in (options,) if "suppress :=" not in o and "nulls" not in o)
    kept = [part for part in ("'zip': 'prefix'", "'age': 'bins'") if part in options]
    told = told or f"hierarchies := {{{kept[0]}}}"
    measured = metrics_of(con, f"anonymize_metrics{call}")
    audited = metrics_of(con, f"anonymize_audit('patients', release := 'r', {shared}, {told})")
    shared_names = {n for n in measured if n.startswith("ncp (")} | {
        "total_il", "ncp", "rows_suppressed", "discernibility"
    }
    for name in shared_names | {"entropy_loss"}:
        untold = audited[name] is None and "nulls" in options  # NULLs are not seen to be left out
        assert untold or audited[name] == pytest.approx(measured[name]), name


def test_a_dollar_sign_in_a_value_is_a_dollar_sign(con: Connection) -> None:
    found = metrics_of(con, "anonymize_metrics('patients', detail=true, k := 4, sensitive := "
                            "['disease'], "
                         "sensitive_values := ['${seed}', '${k}'])")
    assert found["homogeneous_sensitive_rows"] == 0


@pytest.mark.slow
def test_numbers_among_sensitive_values(con: Connection) -> None:
    con.execute("CREATE TABLE d AS SELECT i // 5 AS a, 1.0::DOUBLE AS s FROM range(20) AS r(i)")
    for value in ("1", "1.0", "'1'"):
        found = metrics_of(con, "anonymize_metrics('d', detail=true, k := 4, sensitive := ['s'], "
                             f"sensitive_values := [{value}])")
        assert found["homogeneous_sensitive_rows"] == 20


@pytest.mark.slow
def test_the_python_face_takes_what_python_has() -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5, 3.5, 9.0], "b": ["x", "y", "x", "z"]})
    wide = kanon_sql.anonymize(
        frame, k=2, hierarchies={"a": {"kind": "bins", "width": Decimal("2.5"), "levels": 2},
                                 "b": {"kind": "ordered", "ranking": ["x", "y", "z"]}}
    )
    assert set(wide["a"]) <= {"[0, 2.5)", "[2.5, 5)", "*", "1.5", "2.5", "3.5", "9"}
    with pytest.raises(kanon_sql.OptionError, match="no_such_table"):
        kanon_sql.anonymize(frame, k=2, hierarchies={"b": "no_such_table"})
    with pytest.raises(kanon_sql.OptionError, match="doesn't exist"):
        kanon_sql.hierarchy(frame, "c", kind="flat")
    with pytest.raises(kanon_sql.KanonError, match="'nosuch', which is not a quasi-identifier"):
        kanon_sql.anonymize_audit(frame, release=frame, column_weights={"nosuch": 3})
