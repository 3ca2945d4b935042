"""Words in other spellings, options by other names, and relations that don't exist."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.call.choices import EFFORTS, NULLS, REPRESENTATIONS
from kanon_sql.call.option_aliases import NOT_BUILT, OPTION_NAMES, option_hint
from kanon_sql.call.options import OPTIONS
from kanon_sql.methods import METHODS
from kanon_sql.validators import folded
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
refusal = partial(refusal_of, kind=duckdb.InvalidInputException)
ROLES = "sensitive=['disease'], identifiers=['name']"
CALL = f"k=5, {ROLES}"


# --- spellings --------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [METHODS, REPRESENTATIONS, EFFORTS, NULLS], ids=len)
def test_no_two_words_are_one_in_other_spellings(words: dict[str, object]) -> None:
    assert len(set(map(folded, words))) == len(words)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("written", "method"), [
    ("MDAV*", "mdav_star"), ("mdav+", "mdav_plus"), ("k-member", "k_member"),
    ("Mondrian", "mondrian"), (" MDAV ", "mdav"), ("V-MDAV", "v_mdav"), ("mdavstar", "mdav_star"),
])
def test_the_names_of_methods_as_papers_write_them(
    con: Connection, written: str, method: str
) -> None:
    query = "FROM anonymize_sql('patients', {}, method='{}')"
    expected = con.execute(query.format(CALL, method)).fetchall()
    assert con.execute(query.format(CALL, written)).fetchall() == expected


@pytest.mark.sample(1)
@pytest.mark.parametrize(("written", "meant"), [
    ("nulls='VALUE'", "nulls='value'"), ("effort='Balanced'", "effort='balanced'"),
    ("representation='Interval'", "representation='interval'"),
    ("method='k_member', loss='RANGE-distinct'", "method='k_member', loss='range_distinct'"),
    ("method='v_mdav', gamma='BEST'", "method='v_mdav', gamma='best'"),
    ("hierarchies={'age': 'BINS'}", "hierarchies={'age': 'bins'}"),
    ("hierarchies={'age': {'kind': 'Bins', 'width': 5}}",
     "hierarchies={'age': {'kind': 'bins', 'width': 5}}"),
])
def test_words_ignore_case(con: Connection, written: str, meant: str) -> None:
    query = f"FROM anonymize_metrics('patients', detail=true, {CALL}, {{}})"
    told = [
        con.execute(f"SELECT text {query.format(words)} WHERE metric = 'options'").fetchall()
        for words in (written, meant)
    ]
    shown = [str(text).replace('"width":5', '"width": 5') for text in told]
    assert shown[0].lower() == shown[1].lower()


# --- wishes -----------------------------------------------------------------------------------


def test_every_wish_leads_to_an_option_that_is_none_itself() -> None:
    wished = Counter(folded(name) for names in OPTION_NAMES.values() for name in names)
    wished.update(map(folded, NOT_BUILT))
    assert not [name for name, times in wished.items() if times > 1]
    assert not set(wished) & set(map(folded, OPTIONS))
    for option, names in OPTION_NAMES.items():
        if option in OPTIONS:
            assert all(option_hint(n, OPTIONS) == f"Did you mean {option!r}?" for n in names)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("given", "hint"), [
    ("qi=['age']", "Did you mean 'quasi_identifiers'?"),
    ("qids=['age']", "Did you mean 'quasi_identifiers'?"),
    ("Quasi_Identifier=['age']", "Did you mean 'quasi_identifiers'?"),
    ("sensitive_columns=['disease']", "Did you mean 'sensitive'?"),
    ("ids=['name']", "Did you mean 'identifiers'?"),
    ("algorithm='mdav'", "Did you mean 'method'?"),
    ("n=5", "Did you mean 'k'?"),
    ("methd='mdav'", "Did you mean 'method'?"),
])
def test_an_option_by_another_name(con: Connection, given: str, hint: str) -> None:
    name = given.partition("=")[0].lower()
    assert refusal(con, f"FROM anonymize('patients', {given})") == (
        f"anonymize has no option {name!r}. {hint}"
    )


@pytest.mark.parametrize("name", NOT_BUILT)
def test_what_is_not_built_names_what_there_is(con: Connection, name: str) -> None:
    said = refusal(con, f"FROM anonymize('patients', {CALL}, {name}=2)")
    assert said == f"anonymize has no option {name!r}. {NOT_BUILT[name]}"


@pytest.mark.parametrize(("call", "given", "taker"), [
    ("anonymize_audit", "representation='interval'", "anonymize"),
    ("k_anonymity", "method='mdav'", "anonymize"), ("anonymize_risk", "gamma=1", "anonymize"),
    ("anonymize", "release='t'", "anonymize_audit"),
    ("k_anonymity", "population='t'", "anonymize_risk"),
])
def test_an_option_of_another_call(con: Connection, call: str, given: str, taker: str) -> None:
    name = given.partition("=")[0]
    assert refusal(con, f"FROM {call}('patients', {given})") == (
        f"{call} has no option {name!r}. Leave it out: it is for {taker}."
    )


# --- relations --------------------------------------------------------------------------------

HERE = "is not a table, view, file or variable here. Check its name."
MISSING = {
    f"anonymize('s.nobody', {CALL})": f"The relation 's.nobody' {HERE}",
    f"anonymize_metrics('main.nobody', detail=true, {CALL})": f"The relation 'main.nobody' {HERE}",
    "k_anonymity('memory.main.nobody')": f"The relation 'memory.main.nobody' {HERE}",
    f"anonymize('main.patiens', {CALL})":
        f"The relation 'main.patiens' {HERE} Did you mean 'main.patients'?",
    "anonymize_audit('patients', release='memory.main.Patientss')":
        f"release names 'memory.main.Patientss', which {HERE} Did you mean "
        "'memory.main.patients'?",
    f"anonymize('nobody.parquet', {CALL})": "There is no file 'nobody.parquet'. Check the path.",
    f"anonymize('no*.parquet', {CALL})": "There is no file 'no*.parquet'. Check the path.",
    "hierarchy('main.nobody', 'age', kind='bins')": f"The relation 'main.nobody' {HERE}",
    "hierarchy('patients', 'zip', kind='adjacency', adjacency='s.pairs')":
        "The hierarchy of 'zip' names 's.pairs', which is not a table, view, file or variable "
        "here. Check its name.",
    f"anonymize('patients', {CALL}, hierarchies={{'age': 'binz'}})":
        "The hierarchy of 'age' is given as 'binz', which is neither a kind nor a table, view or "
        "file here. Did you mean 'bins'?",
    f"anonymize('patients', {CALL}, hierarchies={{'AGE': 'Binz'}})":
        "The hierarchy of 'AGE' is given as 'Binz', which is neither a kind nor a table, view or "
        "file here. Did you mean 'bins'?",
    f"anonymize('patients', {CALL}, hierarchies={{'zip': 'prefx'}})":
        "The hierarchy of 'zip' is given as 'prefx', which is neither a kind nor a table, view or "
        "file here. Did you mean 'prefix'?",
    f"anonymize('patients', {CALL}, hierarchies={{'zip': 'Suggested'}})":
        "The hierarchy of 'zip' is given as 'suggested', which stands for all columns, and no "
        "table has this name. Say hierarchies='suggested', or {'*': 'suggested'} with other "
        "columns.",
    "anonymize_audit('patients', release='released.csv')":
        "release names 'released.csv', which is not a table, view, file or variable here. Check "
        "its name.",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("call", MISSING)
def test_a_relation_that_does_not_exist(con: Connection, call: str) -> None:
    for query in (f"FROM {call}", f"WITH a AS (FROM patients) SELECT * FROM {call}"):
        assert refusal(con, query) == MISSING[call]
        with pytest.raises(duckdb.InvalidInputException, match=re.escape(MISSING[call])):
            con.sql(query)
    assert con.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("call", [
    f"anonymize('nobody', {CALL})", "k_anonymity('nobody')",
    f"anonymize('patients', {CALL}, hierarchies={{'age': 'my_levels'}})",
    "anonymize_audit('patients', release='releazed')",
])
def test_a_name_that_may_be_a_ctes_is_left_to_duckdb(con: Connection, call: str) -> None:
    with pytest.raises(duckdb.CatalogException, match=r"Table with name \w+ does not exist!"):
        con.execute(f"FROM {call}")


@pytest.mark.slow
def test_what_only_duckdb_finds_is_found(con: Connection, tmp_path: Path) -> None:
    con.execute("CREATE TEMP TABLE t AS FROM patients; BEGIN; CREATE TABLE fresh AS FROM patients")
    con.execute("CREATE TEMP TABLE bins_of_mine AS SELECT DISTINCT job AS level0, '*' AS level1 "
                "FROM patients")
    con.execute(f"COPY patients TO '{tmp_path}/a.csv'")
    mine = con.sql("FROM patients").to_arrow_table()
    assert mine.num_rows == 60
    for name in ("t", "fresh", "mine", f"{tmp_path}/a.csv", f"{tmp_path}/*.csv"):
        assert len(con.execute(f"FROM anonymize('{name}', {CALL})").fetchall()) == 60
    for levels in ("bins_of_mine", "levels_of_cte"):
        found = con.execute(
            "WITH levels_of_cte AS (SELECT DISTINCT job AS level0, '*' AS level1 FROM patients) "
            f"FROM anonymize('patients', {CALL}, hierarchies={{'job': '{levels}'}})"
        ).fetchall()
        assert len(found) == 60


def test_a_table_may_have_a_name_that_is_nearly_a_kinds_and_a_cte_may_not(
    con: Connection
) -> None:
    levels = "SELECT DISTINCT age AS level0, '*' AS level1 FROM patients"
    call = f"FROM anonymize('patients', {CALL}, hierarchies={{'age': 'binz'}})"
    assert "Did you mean 'bins'?" in refusal(con, f"WITH binz AS ({levels}) {call}")
    con.execute("CREATE TEMP TABLE binz AS " + levels)
    assert len(con.execute(call).fetchall()) == 60


@pytest.mark.sample(1)
@pytest.mark.parametrize("query", [
    "WITH nobody AS (FROM patients) FROM anonymize('nobody', {})",
    "WITH a AS (FROM patients), Nobody (name, age, zip, job, disease) AS MATERIALIZED (FROM a) "
    "FROM anonymize('nobody', {})",
    "WITH nobody /* as is */ AS (FROM patients) SELECT * FROM anonymize('NOBODY', {})",
    "FROM (WITH nobody AS (FROM patients) SELECT * FROM anonymize('nobody', {}))",
    "FROM v",
    "SELECT * FROM v WHERE job <> 'nobody'",
    "SELECT v.* FROM v, (SELECT count(*) FROM anonymize('patients', {}))",
])
def test_a_cte_is_found_wherever_it_stands(con: Connection, query: str) -> None:
    con.execute(
        f"CREATE VIEW v AS WITH nobody AS (FROM patients) SELECT * FROM anonymize('nobody', {CALL})"
    )
    query = query.format(CALL)
    assert len(con.execute(query).fetchall()) == 60
    assert len(con.sql(query).fetchall()) == 60


@pytest.mark.slow
def test_a_list_of_files_is_a_relation(con: Connection, tmp_path: Path) -> None:
    for ending in ("parquet", "csv", "json"):
        files = []
        for part in (0, 1):
            files.append(f"{tmp_path}/{part}.{ending}")
            con.execute(f"COPY (FROM patients WHERE age % 2 = {part}) TO '{files[-1]}'")
        found = con.execute(f"FROM anonymize({files}, {CALL})").fetchall()
        assert len(found) == 60
        metrics = con.execute(f"FROM anonymize_metrics({files}, {CALL}, detail := true)").fetchall()
        assert ("k", 5.0) in [row[:2] for row in metrics]
        found = con.execute("FROM anonymize(?, k=5)", [files]).fetchall()
        assert len(found) == 60
        text = con.execute(f"FROM anonymize_sql({files}, {CALL})").fetchall()[0][0]
        assert len(con.execute(text).fetchall()) == 60


@pytest.mark.parametrize("listed", ["['a.parquet', 'b.csv']", "['patients']", "['a.csv', NULL]",
                                    "[1, 2]", "[['a.csv']]"])
def test_a_list_of_anything_else_is_refused(con: Connection, listed: str) -> None:
    assert refusal(con, f"FROM anonymize({listed}, {CALL})") == (
        "A list as the relation must name files of one kind. Write it as ['a.parquet', "
        "'b.parquet'], or give one table, view or file."
    )


@pytest.mark.parametrize("listed", [
    ("a.csv", "a.csv"), ("a.csv", "./b/../a.csv"), ("a.csv", "{}/a.csv"), ("a.csv", "link.csv"),
    ("b/c.csv", "b/*.csv"), ("b/*.csv", "**/c.csv"),
])
def test_a_file_that_a_list_names_twice_is_refused(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: tuple[str, str]
) -> None:
    """Its rows would count twice, so that classes of k rows would have fewer persons."""
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    for name in ("a.csv", "b/c.csv"):
        con.execute(f"COPY patients TO '{name}'")
    Path("link.csv").symlink_to("a.csv")
    one, other = (name.format(tmp_path) for name in listed)
    said = (
        f"The list of files names one file twice, by {one!r} and by {other!r}, and its rows would "
        "count twice. Name each file once."
    )
    assert refusal(con, f"FROM anonymize(['{one}', '{other}'], {CALL})") == said
    for call in (
        lambda: kanon_sql.anonymize([one, Path(other)], k=5, quasi_identifiers="age"),
        lambda: kanon_sql.anonymize_files([one, other], "out", k=5, quasi_identifiers="age"),
    ):
        with pytest.raises(kanon_sql.OptionError, match="names one file twice"):
            call()
    # these are two
    found = con.execute(f"FROM anonymize(['a.csv', 'b/*.csv'], {CALL})").fetchall()
    assert len(found) == 120


@pytest.mark.parametrize("query", [
    "SELECT (SELECT count(*) FROM anonymize(names.name, k=5)) FROM names",
    "SELECT * FROM names, LATERAL (FROM anonymize(names.name, k=5))",
    "SELECT * FROM names, anonymize('patients', k=names.k)",
    "FROM anonymize((SELECT 'patients'), k=5)",
    "FROM anonymize('patients', k=(SELECT 5))",
])
def test_what_a_row_says_is_no_argument(con: Connection, query: str) -> None:
    """DuckDB refuses it while it reads the query, in its own words, before a row is looked at."""
    con.execute("CREATE TABLE names AS SELECT 'patients' AS name, 5 AS k")
    with pytest.raises(duckdb.BinderException, match=r"lateral join column|contain subqueries"):
        con.execute(query).fetchall()


# --- types ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [
    "union_value(num := i)", "CASE WHEN i < 5 THEN i::UNION(n BIGINT, s VARCHAR) "
    "ELSE 'secret'::UNION(n BIGINT, s VARCHAR) END",
])
def test_a_union_is_no_quasi_identifier_but_passes(con: Connection, value: str) -> None:
    con.execute(f"CREATE TABLE u AS SELECT i % 3 AS a, {value} AS x FROM range(12) r(i)")
    for method in ("mdav_star", "mondrian"):
        said = refusal(con, f"FROM anonymize('u', k=3, method='{method}')")
        assert said.startswith("The quasi-identifier 'x' has the type UNION(")
        assert "secret" not in said
    passed = con.execute("SELECT x FROM anonymize('u', k=3, sensitive=['x'])").fetchall()
    assert Counter(passed) == Counter(con.execute("SELECT x FROM u").fetchall())


@pytest.mark.skipif(duckdb.__version__ < "1.5", reason="has no tables with a VARIANT column")
def test_a_variant_is_no_quasi_identifier_and_shows_no_value(con: Connection) -> None:
    con.execute("CREATE TABLE w AS SELECT i % 3 AS a, ('secret ' || i)::VARIANT AS x "
                "FROM range(12) r(i)")
    said = refusal(con, "FROM anonymize('w', k=3)")
    assert said.startswith("The quasi-identifier 'x' has the type VARIANT, which has neither")
    assert kanon_sql is not None and "secret" not in said
