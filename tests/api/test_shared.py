"""register(con, shared=True): one call, and every connection of the database has the calls."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from kanon_sql.plan.macros import _names, at_home, macros
from tests.support.strangers import CALLS, ROWS, SAID, answer, shadow

Connection = duckdb.DuckDBPyConnection
TABLE = "CREATE TABLE t AS SELECT i % 7 AS a, 'v' || i % 3 AS b FROM range(30) AS r(i)"
CALL = "SELECT count(*) FROM kanon.anonymize('t', k=5)"
PLAIN = CALL.replace("kanon.", "")
SHARED = {name: re.sub(r"FROM (\w+\()", r"FROM kanon.\1", call) for name, call in CALLS.items()}


@pytest.fixture(scope="module")
def both() -> tuple[Connection, Connection]:
    """A connection with temporary macros, and one that was never registered."""
    con = kanon_sql.register(duckdb.connect(), shared=True)
    con.execute(f"CREATE TABLE patients AS {ROWS}")
    return con, con.cursor()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CALLS)
def test_every_call_answers_as_it_does_where_it_is_registered(
    both: tuple[Connection, Connection], name: str
) -> None:
    con, other = both
    with pytest.raises(duckdb.CatalogException):
        other.execute(CALLS[name])
    assert answer(other, SHARED[name]) == answer(con, CALLS[name])


def test_weights_and_rounded_means(both: tuple[Connection, Connection]) -> None:
    con, other = both
    call = ("FROM {}anonymize('patients', k := 3, quasi_identifiers := ['name', 'seen'], "
            "sensitive := ['disease', 'x'], sampling_weight := 'age', representation := '{}')")
    for word in ("centroid", "rounded"):
        assert answer(other, call.format("kanon.", word)) == answer(con, call.format("", word))


@pytest.mark.slow
def test_persons_and_ledger(both: tuple[Connection, Connection]) -> None:
    con, other = both
    con.execute(
        "CREATE TABLE visits AS SELECT i AS id, i % 7 AS age, i % 5 AS zip FROM range(60) r(i)"
    )
    options = "k := 3, entity := 'id', quasi_identifiers := ['age', 'zip']"
    con.execute(f"CREATE TABLE releases AS FROM kanon.anonymize_ledger('visits', {options})")
    later = f"{options}, ledger := 'releases'"
    for call in ("anonymize", "anonymize_ledger", "anonymize_metrics"):
        rows = f"SELECT count(*) FROM {{}}{call}('visits', {later})"
        assert answer(other, rows.format("kanon.")) == answer(con, rows.format(""))
    check = "FROM {}ledger_check('releases', k := 3)"
    assert answer(other, check.format("kanon.")) == answer(con, check.format(""))


def test_our_sentences_come_from_there_too(both: tuple[Connection, Connection]) -> None:
    _, other = both
    for call, said in {
        "FROM kanon.anonymize('patients', kk=5)": "anonymize has no option 'kk'",
        "FROM kanon.anonymize('patients', k=99)": "There are 24 rows to anonymize",
        "FROM kanon.anonymize('nobody', k=5)": "nobody",
    }.items():
        with pytest.raises(duckdb.Error) as caught:
            other.execute(call)
        assert said in str(caught.value) and "Traceback" not in str(caught.value)


def test_no_macro_of_ours_is_called_without_its_place() -> None:
    made = {re.sub(r"\W.*", "", text.split('"kanon".main.')[1]) for text in macros("kanon")}
    assert made == _names()
    for text in macros("kanon"):
        bare = re.findall(r"(?<!\.)\b(__kanon_\w+)\s*\(", re.sub(r"'[^']*'|--[^\n]*", "", text))
        assert not set(bare) & _names()


def test_texts_and_quoted_names_stay_as_they_are() -> None:
    text = """SELECT '__kanon_value(x)', "__kanon_value(x)", __kanon_value(x), __kanon_wait(1)"""
    assert at_home(text, "kanon") == text.replace(", __kanon_value", ', "kanon".main.__kanon_value')
    assert at_home(text, "") == text


# --- where it works -------------------------------------------------------------------------------


@pytest.mark.slow
def test_on_every_cursor_and_thread_also_those_of_before() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    before = con.cursor()
    kanon_sql.register(con, shared=True)
    assert con.execute(PLAIN).fetchone() == con.execute(CALL).fetchone() == (30,)
    found: list[object] = []

    def count(cursor: Connection) -> None:
        found.append(cursor.execute(CALL).fetchone())

    threads = [threading.Thread(target=count, args=(c,)) for c in (before, con.cursor())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(30,), (30,)]


def test_without_the_qualifier_on_the_search_path() -> None:
    con = kanon_sql.register(duckdb.connect(), shared=True)
    con.execute(TABLE)
    with con.cursor() as other:
        other.execute("SET search_path = 'memory,kanon'")
        assert other.execute(PLAIN).fetchone() == (30,)


def test_a_stored_view_is_read_by_every_connection() -> None:
    con = kanon_sql.register(duckdb.connect(), shared=True)
    con.execute(TABLE)
    con.execute("CREATE VIEW released AS FROM kanon.anonymize('t', k=5)")
    assert con.cursor().execute("SELECT count(*) FROM released").fetchone() == (30,)


def test_a_read_only_database(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with duckdb.connect(path) as con:
        con.execute(TABLE)
    con = kanon_sql.register(duckdb.connect(path, read_only=True), shared=True)
    assert con.cursor().execute(CALL).fetchone() == (30,)
    con.close()


def test_nothing_is_left_in_database_or_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(TABLE)
    with kanon_sql.register(duckdb.connect(str(path)), shared=True) as con:
        con.cursor().execute(CALL).fetchall()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.duckdb"]
    with duckdb.connect(str(path)) as con:
        kept = con.execute("SELECT count(*) FROM duckdb_functions() WHERE NOT internal").fetchone()
        assert kept == (0,)
        names = con.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal")
        assert names.fetchall() == [("a",)]


def test_in_the_transaction_in_which_the_functions_are_made_it_says_so() -> None:
    con = duckdb.connect()
    con.execute("BEGIN")
    with pytest.raises(OptionError, match="until the transaction of this one is committed"):
        kanon_sql.register(con, shared=True)
    con.execute(TABLE)
    con.execute("COMMIT")
    kanon_sql.register(con, shared=True)
    assert con.cursor().execute(CALL).fetchone() == (30,)


@pytest.mark.slow
def test_inside_a_later_transaction_which_it_leaves_alone() -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("BEGIN")
    con.execute(TABLE)
    kanon_sql.register(con, shared=True)
    assert con.execute(PLAIN).fetchone() == (30,)
    con.execute("ROLLBACK")
    con.execute(TABLE)
    assert con.cursor().execute(CALL).fetchone() == (30,)


@pytest.mark.slow
def test_twice_beside_plain_register_and_from_many_threads() -> None:
    con = duckdb.connect()
    con.execute(TABLE)
    errors: list[Exception] = []

    def share(cursor: Connection) -> None:
        try:
            kanon_sql.register(cursor, shared=True)
        except Exception as error:
            errors.append(error)

    kanon_sql.register(con)
    threads = [threading.Thread(target=share, args=(con.cursor(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    kanon_sql.register(con, shared=True)
    kanon_sql.register(con)
    assert con.execute(PLAIN).fetchone() == con.cursor().execute(CALL).fetchone() == (30,)


@pytest.mark.slow
def test_again_after_it_was_detached() -> None:
    con = kanon_sql.register(duckdb.connect(), shared=True)
    con.execute(TABLE)
    con.execute("DETACH kanon")
    kanon_sql.register(con, shared=True)
    assert con.cursor().execute(CALL).fetchone() == (30,)


# --- where it can't -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kanon", "KANON"])
def test_a_database_of_that_name_is_left_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.duckdb"
    con = duckdb.connect(str(path))
    con.execute(TABLE)
    with pytest.raises(OptionError) as caught:
        kanon_sql.register(con, shared=True)
    assert "already has a database named 'kanon'" in str(caught.value)
    assert con.execute("SELECT count(*) FROM duckdb_functions() WHERE database_name = ?",
                       [name]).fetchone() == (0,)
    kanon_sql.register(con, shared="kanon_calls")
    call = CALL.replace("kanon.", "kanon_calls.")
    assert con.cursor().execute(call).fetchone() == (30,)
    con.close()


@pytest.mark.parametrize("name", ["temp", "system", "a b", 1, "a.b"])
def test_what_is_no_name(name: object) -> None:
    with pytest.raises(OptionError, match="shared takes True, or the name"):
        kanon_sql.register(duckdb.connect(), shared=name)  # type: ignore[arg-type]


# --- macros of others -----------------------------------------------------------------------------


def test_what_hides_a_built_in_function_is_refused_there_too(tmp_path: Path) -> None:
    con = kanon_sql.register(duckdb.connect(str(tmp_path / "f.duckdb")), shared=True)
    con.execute(f"CREATE TABLE patients AS {ROWS}")
    other = con.cursor()
    for name in ("min", "count", "+"):
        shadow(con, name)
        with pytest.raises(duckdb.InvalidInputException) as caught:
            other.execute(SHARED["k_anonymity"])
        assert SAID.format(name) in str(caught.value)
        con.execute(f'DROP MACRO "{name}"')
    con.close()


@pytest.mark.slow
def test_macros_of_our_names_are_not_taken_for_ours(tmp_path: Path) -> None:
    con = kanon_sql.register(duckdb.connect(str(tmp_path / "f.duckdb")), shared=True)
    con.execute(f"CREATE TABLE patients AS {ROWS}")
    right = answer(con, CALLS["k_anonymity"])
    other = con.cursor()
    for name in ("__kanon_value", "__kanon_refuse", "__kanon_cell", "__kanon_key", "__kanon_plan"):
        shadow(other, name)
        shadow(other, name, kind="TEMP MACRO")
    assert answer(other, SHARED["k_anonymity"]) == right
    assert answer(other, SHARED["anonymize"]) == answer(con, CALLS["anonymize"])
    con.close()


def test_a_macro_on_the_search_path_beside_ours_is_refused() -> None:
    con = kanon_sql.register(duckdb.connect(), shared=True)
    con.execute(f"CREATE TABLE patients AS {ROWS}")
    con.execute("CREATE MACRO kanon.main.min(x) AS 99")
    with con.cursor() as other:
        other.execute("SET search_path = 'memory,kanon'")
        with pytest.raises(duckdb.InvalidInputException) as caught:
            other.execute(CALLS["k_anonymity"])
        assert SAID.format("min") in str(caught.value)
        other.execute("RESET search_path")
        assert other.execute(SHARED["k_anonymity"]).fetchall()
