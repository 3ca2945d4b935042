"""What is refused beside a ledger: each in one clear sentence, without a value of the data."""

from __future__ import annotations

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError, OptionError
from tests.support.connections import registered
from tests.support.queries import refusal_of

QUASI = "entity='id', quasi_identifiers=['age', 'zip'], sensitive=['ill']"
FIRST = f"k=4, {QUASI}"

con = registered(
    "CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 50 AS age, "
    "(12345 + i % 6)::VARCHAR AS zip, 'ill ' || i % 5 AS ill FROM range(60) AS r(i)",
    "CREATE VIEW now AS FROM people WHERE id < 40",
    f"CREATE TABLE releases AS FROM anonymize_ledger('now', {FIRST})",
    "CREATE OR REPLACE VIEW now AS FROM people WHERE id >= 10",
    scope="function",
)


def refusal(con: duckdb.DuckDBPyConnection, call: str) -> str:
    said = refusal_of(con, f"FROM {call}")
    assert "12345" not in said
    return said.partition("\n")[0]


CALLS = {
    f"k=3, {QUASI}": "The ledger 'releases' was made with a larger k than 3.",
    f"{FIRST}, attacker='knows_absence'": (
        "The ledger 'releases' is kept against another attacker than"
    ),
    "k=4, entity='id', quasi_identifiers=['age'], sensitive=['ill'], others='release'":
        "The ledger 'releases' has quasi-identifiers that are none in this call",
    "k=4, entity='id', quasi_identifiers=['age'], sensitive=['ill'], identifiers=['zip']":
        "The ledger 'releases' has quasi-identifiers that are none in this call",
    "k=4, entity='id', quasi_identifiers=['age', 'zip', 'ill']":
        "This call has quasi-identifiers that the ledger 'releases' lacks",
    f"{FIRST}, representation='median'": "publish in another form",
    f"{FIRST}, hierarchies={{'zip': 'prefix'}}": "publish in another form",
    f"{FIRST}, suppress=0.1": "suppress and ledger both leave persons out",
    f"{FIRST}, method='r_gather'": "The method 'r_gather' can't continue from the classes",
    f"{FIRST}, method='full_domain'": "The method 'full_domain' can't continue from the classes",
    f"{FIRST}, effort='balanced', refine_seconds=1": "refine_seconds gives other classes each time",
    f"{FIRST}, entity_rows='apart'": "entity_rows 'apart' lets a person be in several classes",
    "k=4, quasi_identifiers=['age', 'zip'], sensitive=['ill'], identifiers=['id']":
        "ledger is about persons in several releases, and no column identifies the person of each "
        "row",
    "k=4, entity='id', sensitive=['ill']": "ledger needs to know the quasi-identifiers before",
    "k=4, entity='id', quasi_identifiers=['zip'], others='drop', method='fold'":
        "The method 'fold' can't continue from the classes",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", CALLS)
def test_calls_that_do_not_go_on(con: duckdb.DuckDBPyConnection, options: str) -> None:
    said = refusal(con, f"anonymize('now', {options}, ledger='releases')")
    assert CALLS[options] in said


@pytest.mark.sample(4)
@pytest.mark.parametrize(("first", "then", "other"), [
    ("categorical=['zip', 'age']", "categorical=['Age', 'ZIP']",
     "categorical=['zip', 'age'], nulls='error'"),
    ("hierarchies={'zip': 'prefix'}", "hierarchies={'Zip': 'prefix'}",
     "hierarchies={'zip': 'flat'}"),
    ("representation={'zip': 'suppress', 'age': 'bounds'}",
     "representation={'AGE': 'bounds', 'Zip': 'suppress'}", "representation={'age': 'bounds'}"),
    ("sensitive=['ill', 'also'], l={'ill': 2, 'also': 2}",
     "sensitive=['Also', 'ill'], l={'ALSO': 2, 'ill': 2}",
     "sensitive=['Also', 'ill'], l={'also': 2, 'ill': 3}"),
])
def test_a_call_that_is_written_otherwise_goes_on(
    con: duckdb.DuckDBPyConnection, first: str, then: str, other: str
) -> None:
    con.execute("ALTER TABLE people ADD COLUMN also VARCHAR; UPDATE people SET also = ill")
    con.execute("CREATE OR REPLACE VIEW now AS FROM people WHERE id < 40")
    call = "'now', k=4, entity='id', quasi_identifiers=['age', 'zip'], others='drop'"
    con.execute(f"CREATE TABLE r AS FROM anonymize_ledger({call}, {first})")
    con.execute("CREATE OR REPLACE VIEW now AS FROM people WHERE id >= 10")
    assert con.execute(f"FROM anonymize({call}, {then}, ledger='r')").fetchall()
    with pytest.raises(duckdb.InvalidInputException, match=r"another form|other privacy models"):
        con.execute(f"FROM anonymize({call}, {other}, ledger='r')")


LEDGERS = {
    "SELECT * REPLACE (release + 1 AS release) FROM releases": "are not numbered 1, 2, and so on",
    "FROM releases UNION ALL (FROM releases LIMIT 1)": "has a person twice in one release",
    "SELECT * REPLACE (CASE WHEN entity = 1 THEN NULL ELSE class END AS class) FROM releases":
        "has rows with a NULL",
    "SELECT * REPLACE (CASE WHEN entity = 1 THEN NULL ELSE entity END AS entity) FROM releases":
        "has rows with a NULL",
    "SELECT * REPLACE ('?' AS options) FROM releases": "with options or a number that can't be "
                                                       "read",
    "SELECT * REPLACE (entity::VARCHAR AS entity) FROM releases":
        "knows persons by another type than that of 'id'",
    "SELECT * REPLACE ({'age': CASE WHEN entity = 1 THEN 0.5 ELSE published.age END, "
    "'zip': published.zip} AS published) FROM releases": "has a class that published two things",
    "SELECT * REPLACE (CASE WHEN entity = 1 THEN replace(options, '\"headroom\":0', "
    "'\"headroom\":3') ELSE options END AS options) FROM releases": "two sets of options",
    "SELECT * REPLACE (CASE WHEN entity = 1 THEN 999 ELSE class END AS class) FROM releases":
        "fails its own check",
    "FROM releases WHERE entity > 3": "fails its own check",
    "SELECT * REPLACE (replace(options, 'BIGINT', 'INTEGER') AS options) FROM releases":
        "A quasi-identifier has another type than in the ledger",
    "FROM releases WHERE false": "is empty",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("made", LEDGERS)
def test_ledgers_that_are_not_sound(con: duckdb.DuckDBPyConnection, made: str) -> None:
    if made.endswith("entity > 3"):  # all but one of a class
        made = ("FROM releases WHERE class <> 1 OR entity = "
                "(SELECT min(entity) FROM releases WHERE class = 1)")
    con.execute(f"CREATE TABLE faulty AS {made}")
    said = refusal(con, f"anonymize('now', {FIRST}, ledger='faulty')")
    assert LEDGERS.get(made, "fails its own check") in said
    assert "'faulty'" in said or "quasi-identifier" in said


@pytest.mark.sample(1)
@pytest.mark.parametrize("column", ["release", "entity", "class", "published", "source", "options"])
def test_a_ledger_without_a_column(con: duckdb.DuckDBPyConnection, column: str) -> None:
    con.execute(f"CREATE TABLE faulty AS SELECT * EXCLUDE ({column}) FROM releases")
    said = refusal(con, f"anonymize('now', {FIRST}, ledger='faulty')")
    assert f"The ledger 'faulty' has no column '{column}'" in said


def test_a_ledger_that_is_not_there(con: duckdb.DuckDBPyConnection) -> None:
    said = refusal(con, f"anonymize('now', {FIRST}, ledger='main.nowhere')")
    assert "ledger names 'main.nowhere', which is not a table" in said


@pytest.mark.slow
def test_persons_that_can_not_be_told_apart(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE twice AS FROM now UNION ALL (FROM now LIMIT 1)")
    for more in ("", ", ledger='releases'"):
        said = refusal(con, f"anonymize_ledger('twice', {FIRST}{more})")
        assert "The entity 'id' has several rows for one person" in said
    con.execute("CREATE TABLE nobody AS SELECT * REPLACE (nullif(id, 20) AS id) FROM now")
    said = refusal(con, f"anonymize_ledger('nobody', {FIRST}, ledger='releases')")
    assert "NULL" in said and "id" in said


def test_nobody_left_in_a_crowd(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "CREATE TABLE few AS SELECT people.* FROM people JOIN "
        "(SELECT class, min(entity) AS id FROM releases GROUP BY class) USING (id)"
    )
    said = refusal(con, f"anonymize('few', {FIRST}, ledger='releases')")
    assert "No person can be released" in said


def test_options_that_mean_nothing(con: duckdb.DuckDBPyConnection) -> None:
    assert "nothing says that there are several" in refusal(
        con, f"anonymize('now', {FIRST}, attacker='knows_absence')"
    )
    assert "anonymize_clusters has no option 'ledger'" in refusal(
        con, f"anonymize_clusters('now', {FIRST}, ledger='releases')"
    )
    assert "headroom must be a whole number of 0 or more" in refusal(
        con, f"anonymize('now', {FIRST}, headroom=-1)"
    )
    assert "headroom must be 'auto' or a whole number of 0 or more. Got 'atuo'." in refusal(
        con, f"anonymize('now', {FIRST}, headroom='atuo')"
    )
    assert "anonymize_ledger is about persons" in refusal(
        con, "anonymize_ledger('now', k=4, quasi_identifiers=['age'], others='drop')"
    )


@pytest.mark.slow
def test_the_kind_of_refusal_in_python(con: duckdb.DuckDBPyConnection) -> None:
    given = {"entity": "id", "quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    with pytest.raises(OptionError, match="larger k than 3"):
        kanon_sql.anonymize("now", con=con, k=3, ledger="releases", **given)
    con.execute("CREATE TABLE faulty AS SELECT * REPLACE (release + 1 AS release) FROM releases")
    with pytest.raises(DataError, match="not numbered 1, 2"):
        kanon_sql.anonymize("now", con=con, k=4, ledger="faulty", **given)


@pytest.mark.slow
def test_in_python_frames_are_ledgers(con: duckdb.DuckDBPyConnection) -> None:
    given = {"entity": "id", "quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    first = con.sql("FROM people WHERE id < 40").to_arrow_table()
    second = con.sql("FROM people WHERE id >= 6").to_arrow_table()
    ledger = kanon_sql.anonymize_ledger(first, k=4, headroom=1, **given)
    more = kanon_sql.anonymize_ledger(second, k=4, ledger=ledger, **given)
    assert set(more.column("release").to_pylist()) == {2}
    con.execute("CREATE TABLE two AS FROM ledger UNION ALL FROM more")
    ((kept,),) = con.execute("SELECT keeps_presence FROM ledger_check('two', k=4)").fetchall()
    assert kept
