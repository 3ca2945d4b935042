"""register: idempotent, per connection, and without a trace in the database."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.duckdb import register, spare
from kanon_sql.duckdb.session import Session

TABLE = "CREATE TABLE t AS SELECT i % 7 AS a, 'v' || i % 3 AS b FROM range(30) AS r(i)"
CALL = "SELECT count(*) FROM anonymize('t', k=5)"


def test_twice_on_one_connection() -> None:
    con = kanon_sql.register(kanon_sql.register(duckdb.connect()))
    con.execute(TABLE)
    assert con.execute(CALL).fetchone() == (30,)


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", [
    "CREATE OR REPLACE TEMP MACRO anonymize(relation, k) AS TABLE SELECT 1 AS a",
    "CREATE OR REPLACE TEMP MACRO __kanon_most_frequent(x) AS NULL",
    "DROP MACRO TABLE temp.anonymize", "DROP MACRO temp.__kanon_value", "SELECT 1",
    "CREATE TEMP MACRO of_the_caller(x) AS x",
])
def test_what_became_of_the_macros_is_mended(change: str) -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    for _ in range(4):
        kanon_sql.register(con)
        rows = con.execute("FROM anonymize('t', k=5, representation='centroid')").fetchall()
        assert len(rows) == 30 and {b for _, b in rows} == {"v0", "v1", "v2"}
        con.execute(change.replace("CREATE TEMP", "CREATE OR REPLACE TEMP"))
    con.execute("BEGIN")
    kanon_sql.register(con)
    con.execute("ROLLBACK")
    kanon_sql.register(con)
    assert con.execute(CALL).fetchone() == (30,)


@pytest.mark.sample(2)
@pytest.mark.parametrize("query", [
    "SELECT (SELECT count(*) FROM (FROM {}) WHERE t.a > 3) FROM t",
    "SELECT count(*) FROM t, LATERAL (SELECT * FROM {} AS r WHERE t.a > 3)",
    "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM {} WHERE t.b <> 'v1')",
])
@pytest.mark.parametrize("call", ["anonymize", "anonymize_metrics", "anonymize_risk"])
def test_a_subquery_that_reads_the_query_around_it(query: str, call: str) -> None:
    # DuckDB 2 would begin the call once for each of the rows around it; 1.4 runs it once
    con = kanon_sql.register(duckdb.connect())
    con.execute(TABLE)
    con.execute(f"CREATE TABLE alone AS FROM {call}('t', k=5)")
    try:
        found = con.execute(query.format(f"{call}('t', k=5)")).fetchall()
    except duckdb.InvalidInputException as refused:
        assert "so it would run for each row" in str(refused)
    else:
        assert duckdb.__version__ < "2"
        assert found == con.execute(query.format("alone")).fetchall()


OLD = """
import duckdb
duckdb.__version__ = "{}"
import kanon_sql
from kanon_sql.duckdb import register
con = duckdb.connect()
try:
    kanon_sql.register(con)
except kanon_sql.OptionError as error:
    print(error)
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("version, said", [
    ("1.3.2", "DuckDB 1.3.2 is too old: kanon_sql needs DuckDB 1.4.4 or later. Install one: "
              "pip install -U duckdb\n"),
    ("1.4.3", "DuckDB 1.4.3 is too old: kanon_sql needs DuckDB 1.4.4 or later. Install one: "
              "pip install -U duckdb\n"),
    ("1.4.4", ""), ("1.5.0", ""), ("1.10.0.dev3", ""),
])
def test_an_old_duckdb_is_named(version: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OLD.format(version)], capture_output=True, text=True, check=True
    )
    assert done.stdout == said


def test_on_two_cursors_of_one_database() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    cursors = [kanon_sql.register(con.cursor()) for _ in range(2)]
    for cursor in cursors:
        assert cursor.execute(CALL).fetchone() == (30,)
    cursors[0].close()
    assert cursors[1].execute(CALL).fetchone() == (30,)


@pytest.mark.slow
def test_roles_are_read_after_the_first_registered_cursor_is_gone() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    con.execute("COMMENT ON COLUMN t.b IS 'kanon: identifier'")
    kanon_sql.register(con.cursor()).close()
    gc.collect()
    second = kanon_sql.register(con.cursor())
    result = second.execute("FROM anonymize('t', k=5)")
    assert [column[0] for column in result.description or ()] == ["a"]


@pytest.mark.slow
def test_on_two_databases_in_one_process(tmp_path: Path) -> None:
    first = kanon_sql.register(duckdb.connect())
    second = kanon_sql.register(duckdb.connect(str(tmp_path / "b.duckdb")))
    for con in (first, second):
        con.execute(TABLE)
        assert con.execute(CALL).fetchone() == (30,)


def test_an_unregistered_connection_of_the_same_database_sees_no_macro() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    kanon_sql.register(con.cursor())
    with pytest.raises(duckdb.CatalogException):
        con.execute(CALL)


def test_a_read_only_database(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with duckdb.connect(path) as con:
        con.execute(TABLE)
    con = kanon_sql.register(duckdb.connect(path, read_only=True))
    assert con.execute(CALL).fetchone() == (30,)


def test_nothing_is_left_in_database_or_folder(tmp_path: Path, monkeypatch: object) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(TABLE)
    with kanon_sql.register(duckdb.connect(str(path))) as con:
        con.execute(CALL).fetchall()
        con.execute("FROM anonymize_metrics('t', detail=true, k=5)").fetchall()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.duckdb"]
    with duckdb.connect(str(path)) as con:
        kept = con.execute(
            "SELECT function_name FROM duckdb_functions() WHERE function_name LIKE '%anonym%' "
            "OR function_name LIKE '%kanon%'"
        ).fetchall()
        assert kept == []
        assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("t",)]


def test_the_database_closes_although_its_functions_were_made_by_us(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    con = kanon_sql.register(duckdb.connect(path))
    con.execute(TABLE)
    con.execute(CALL).fetchall()
    con.close()
    # a database that were still open here could not be opened with another configuration
    duckdb.connect(path, read_only=True, config={"threads": 1}).close()


def test_register_inside_a_transaction_that_is_rolled_back() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    con.execute("BEGIN")
    kanon_sql.register(con)
    con.execute("ROLLBACK")
    kanon_sql.register(con)
    assert con.execute(CALL).fetchone() == (30,)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_threads_that_come_and_go_do_not_meet(shared: bool) -> None:
    """Each thread opens a cursor, registers it, calls and closes it, while others do the same: none
    finds functions half made, or its cursor in the hands of another's planner."""
    con = duckdb.connect()
    con.execute(TABLE)
    if shared:
        kanon_sql.register(con, shared=True)
    failed: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(8):
                cursor = kanon_sql.register(con.cursor())
                assert cursor.execute(CALL).fetchone() == (30,)
                cursor.close()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def kept() -> list[int]:
    """How much of databases a process keeps, beside those that the next calls use."""
    spare.close_kept()
    gc.collect()
    return [len(each) for each in (
        register._registered, register._sharing, register._made, register._functions,
    )]


@pytest.mark.slow
def test_a_call_of_python_leaves_nothing_of_its_database() -> None:
    kanon_sql.anonymize({"a": [1, 1, 2, 2]}, k=2, method="mondrian", progress=False)
    before = kept()
    for _ in range(3):
        kanon_sql.k_anonymity({"a": [1, 1, 2, 2]})
        with pytest.raises(kanon_sql.OptionError):
            kanon_sql.anonymize({"a": [1, 1, 2, 2]}, k=0)
    # of those before us some may be gone by now
    assert all(now <= then for now, then in zip(kept(), before, strict=True))


@pytest.mark.sample(2)
@pytest.mark.parametrize("change", [
    "CREATE TABLE t AS SELECT 1 AS a", "CREATE TEMP TABLE t AS SELECT 1 AS a",
    'CREATE VIEW "a ""view" AS SELECT 1 AS a', "CREATE TEMP VIEW v AS SELECT 1 AS a", "SELECT 1",
])
def test_the_next_call_finds_nothing_of_the_one_before(change: str) -> None:
    spare.close_kept()
    for _ in range(3):
        with Session(None, lasting=True) as one, Session(None, lasting=True) as other:
            assert one.con is not other.con
            for session in (one, other):
                name = session.hold("frame", {"a": [1, 2]})
                assert name == "frame" and session.con.execute(spare.LEFT).fetchall() == [
                    ("VIEW", "frame")
                ]
                session.con.execute(change)
        assert len(spare._kept) == 2
    with pytest.raises(ZeroDivisionError), Session(None, lasting=True) as failing:
        raise ZeroDivisionError
    assert len(spare._kept) == 1
    with pytest.raises(duckdb.ConnectionException):
        failing.con.execute("SELECT 1")


def test_a_database_that_lacked_memory_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare.close_kept()
    monkeypatch.chdir(tmp_path)
    with Session(None, lasting=True) as session:
        session.con.execute("SET threads = 1; SET memory_limit = '30MB'")
        session.con.execute("FROM range(5_000_000) AS r(i) ORDER BY hash(i)").fetchone()
        assert list(tmp_path.iterdir()) == [Path(tmp_path, ".tmp")]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changes_between_two_calls_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    for many in (4, 9, 6):
        written = duckdb.sql(f"SELECT i % 2 AS a FROM range({many}) AS r(i)")
        written.write_parquet(str(path))
        assert kanon_sql.anonymize(path, k=2, method="mdav").num_rows == many


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_has_none_of_the_connections_that_are_kept() -> None:
    kanon_sql.k_anonymity({"a": [1, 1, 2, 2]})
    assert spare._kept
    if not (child := os.fork()):
        os._exit(len(spare._kept))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
def test_of_closed_databases_only_what_other_connections_may_call_is_kept() -> None:
    kanon_sql.register(duckdb.connect(), shared=True).close()
    gc.collect()
    kanon_sql.register(duckdb.connect()).close()
    before = kept()
    for _ in range(3):
        kanon_sql.register(duckdb.connect(), shared=True).close()
        gc.collect()
    kanon_sql.register(duckdb.connect()).close()
    after = kept()
    assert after[:2] == before[:2]
    assert [new - old for new, old in zip(after[2:], before[2:], strict=True)] == [4, 4]


def test_a_connection_that_registers_last_finds_the_functions_of_the_first(
    tmp_path: Path
) -> None:
    """Although that one, and all that ever registered, are closed."""
    path = str(tmp_path / "a.duckdb")
    first, other = duckdb.connect(path), duckdb.connect(path)
    kanon_sql.register(first).close()
    del first
    gc.collect()
    kanon_sql.register(duckdb.connect()).close()
    other.execute(TABLE)
    assert kanon_sql.register(other).execute(CALL).fetchone() == (30,)


def test_a_view_that_makes_the_same_call_is_refused_in_our_words() -> None:
    """DuckDB expands no table macro within itself; others it does."""
    con = kanon_sql.register(duckdb.connect())
    con.execute(f"{TABLE}; CREATE VIEW released AS FROM (FROM anonymize('t', k=5)) AS r")
    con.execute("CREATE VIEW \"above\" AS SELECT a FROM released WHERE a >= 0")
    con.execute("CREATE SCHEMA s; CREATE VIEW s.t AS FROM anonymize('main.t', k=5)")
    # what it reads has only the name of such a view, or is a CTE
    con.execute("CREATE VIEW other AS SELECT t.* FROM t, (FROM k_anonymity('t'))")
    con.execute("CREATE VIEW cte AS WITH released AS (FROM t) "
                "SELECT released.* FROM released, (FROM k_anonymity('t'))")
    for name in ("released", "main.Above", "s.t"):
        view = name.rpartition(".")[2]
        with pytest.raises(duckdb.InvalidInputException, match=f"The view '{view}' calls anonymize "
                           "itself, and DuckDB runs no anonymize within another. Put the rows"):
            con.execute(f"FROM anonymize('{name}', k=5)")
        assert con.execute(f"SELECT k FROM k_anonymity('{name}')").fetchone() is not None
        assert len(kanon_sql.anonymize(name, con=con, k=5)) == 30
    for name in ("other", "cte"):
        assert len(con.execute(f"FROM anonymize('{name}', k=5)").fetchall()) == 30
    assert con.execute("SELECT sql FROM anonymize_sql('above', k=5)").fetchone() is not None
