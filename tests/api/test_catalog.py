"""Which table a name means, and which roles its comments, and those below a view, declare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
ROWS = """
    SELECT 20 + i % 7 AS age, 100 + i % 5 AS zip, 'n' || i AS name, i % 3 AS flu
    FROM range(30) AS r(i)
"""
ALL = ["age", "zip", "name", "flu"]


def people(con: Connection, table: str, **roles: str) -> None:
    """A table of thirty people, with roles in its comments."""
    con.execute(f"CREATE TABLE {table} AS {ROWS}")
    declare(con, table, **roles)


def declare(con: Connection, table: str, **roles: str) -> None:
    for column, role in roles.items():
        con.execute(f"COMMENT ON COLUMN {table}.{column} IS 'kanon: {role}'")


@pytest.fixture
def con(tmp_path: Path) -> Iterator[Connection]:
    """A connection with the table p, whose names are identifiers, and another database."""
    connection = kanon_sql.register(duckdb.connect())
    connection.execute("SET enable_progress_bar = false")
    people(connection, "p", name="identifier")
    connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS oth")
    yield connection
    connection.close()


def columns(con: Connection, name: str, options: str = "", before: str = "") -> list[str]:
    """The columns that a call releases."""
    found = con.execute(f"{before}FROM anonymize('{name}', k := 3{options})")
    assert len(found.fetchall()) == 30
    return [column[0] for column in found.description or ()]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_table_of_an_attached_database(con: Connection) -> None:
    people(con, "oth.p", zip="identifier")
    for name in ("oth.p", "oth.main.p", "OTH.P", '"oth"."p"'):
        assert columns(con, name) == ["age", "name", "flu"]
    for name in ("p", "memory.p", "main.p"):
        assert columns(con, name) == ["age", "zip", "flu"]
    con.execute("USE oth")
    assert columns(con, "p") == ["age", "name", "flu"]
    assert columns(con, "memory.p") == ["age", "zip", "flu"]
    con.execute("USE memory")
    con.execute("DROP TABLE p")
    assert columns(con, "oth.p") == ["age", "name", "flu"]
    assert "does not exist" in refusal_of(con, "FROM anonymize('p', k := 3)")


@pytest.mark.slow
def test_the_search_path_decides_among_schemas(con: Connection) -> None:
    con.execute("CREATE SCHEMA one; CREATE SCHEMA two")
    people(con, "one.q", zip="identifier")
    people(con, "two.q", flu="identifier")
    for path, away in (("one,two", "zip"), ("two,one", "flu"), ("main,two,one", "flu")):
        con.execute(f"SET search_path = '{path}'")
        assert columns(con, "q") == [name for name in ALL if name != away]
        assert columns(con, "one.q") == [name for name in ALL if name != "zip"]
    con.execute("SET search_path = 'main'")
    assert "does not exist" in refusal_of(con, "FROM anonymize('q', k := 3)")


def test_a_schema_named_as_a_database_is_refused(con: Connection) -> None:
    people(con, "oth.p")
    con.execute("CREATE SCHEMA memory.oth")
    people(con, "memory.oth.p", flu="identifier")
    assert refusal_of(con, "FROM anonymize('oth.p', k := 3)") == (
        "The relation 'oth.p' may mean a schema or a database. Write it with its database and its "
        "schema."
    )
    assert columns(con, "memory.oth.p") == ["age", "zip", "name"]
    assert columns(con, "oth.main.p") == ALL


@pytest.mark.slow
def test_a_temporary_table_that_hides_declared_roles_is_refused(con: Connection) -> None:
    con.execute("CREATE TEMP TABLE p AS SELECT * FROM p")
    for name, shown in (("p", '"p"'), ("main.p", '"main"."p"'), ('"Main".P', '"Main"."P"')):
        said = (f"A temporary relation hides the table {shown}, whose column comments declare "
                "roles. Write the name with its database and its schema.")
        for options in ("", ", sensitive := ['flu']"):
            assert refusal_of(con, f"FROM anonymize('{name}', k := 3{options})") == said
    assert columns(con, "memory.main.p") == columns(con, "memory.p") == ["age", "zip", "flu"]
    assert columns(con, "temp.p") == ALL
    # the temporary table's own comments are none that the planner sees
    declare(con, "temp.p", age="sensitive")
    assert "not committed yet" in refusal_of(con, "FROM anonymize('temp.p', k := 3)")


@pytest.mark.slow
def test_a_cte_has_the_roles_of_the_table_that_it_hides_and_no_others(con: Connection) -> None:
    assert columns(con, "p", before="WITH p AS (FROM main.p) ") == ["age", "zip", "flu"]
    fewer = "WITH p AS (SELECT age, zip, flu FROM main.p) "
    said = refusal_of(con, f"{fewer}FROM anonymize('p', k := 3)")
    assert said.splitlines()[0].startswith('Column "name" was selected but was not found')
    assert columns(con, "c", before="WITH c AS (FROM p) ") == ALL
    named = ", quasi_identifiers := ['age', 'zip', 'flu'], identifiers := ['name']"
    assert columns(con, "c", named, "WITH c AS (FROM p) ") == ["age", "zip", "flu"]


# --- comments -------------------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("comment", ["Kanon : Quasi-Identifier", "KANON: qi",
                                     "The age. kanon: quasi_identifier."])
def test_a_declared_quasi_identifier_closes_the_world(con: Connection, comment: str) -> None:
    con.execute(f"COMMENT ON COLUMN p.age IS '{comment}'")
    assert refusal_of(con, "FROM anonymize('p', k := 3)").startswith(
        "2 columns have no role: 'zip', 'flu'."
    )
    assert columns(con, "p", ", others := 'drop'") == ["age"]
    con.execute("COMMENT ON COLUMN p.zip IS 'kanon:identifier'")
    con.execute("COMMENT ON COLUMN p.flu IS 'kanon: Sensitive, as the board decided'")
    assert columns(con, "p") == ["age", "flu"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("comment", [
    "kannon: identifier", "anon: x", "kanon_sql: identifier", "kanon identifier",
    "kanon: identifier kanon: sensitive", "kanon: identifier. kanon: sensitive", "kanon: who",
])
@pytest.mark.parametrize("call", ["anonymize", "anonymize_metrics", "k_anonymity"])
def test_a_comment_that_can_not_be_read_is_refused(
    con: Connection, call: str, comment: str
) -> None:
    con.execute(f"COMMENT ON COLUMN p.flu IS '{comment}'")
    query = f"FROM {call}('p', k := 3{{}})"
    assert refusal_of(con, query.format("")).startswith("The comment on column 'flu' ")
    # also where the call gives that column a role: who wrote it should know
    said = refusal_of(con, query.format(", sensitive := ['flu']"))
    assert said.startswith("The comment on column")


@pytest.mark.slow
def test_a_comment_that_is_not_committed_is_refused(con: Connection) -> None:
    con.execute("BEGIN")
    declare(con, "p", flu="identifier")
    for call in ("anonymize", "anonymize_clusters", "anonymize_metrics", "k_anonymity"):
        assert refusal_of(con, f"FROM {call}('p', k := 3)") == (
            'The column comments of "p" declare roles that are not committed yet. Commit first, or '
            "give these columns their roles in the call."
        )
        con.execute("ROLLBACK; BEGIN")
        declare(con, "p", flu="identifier")
    assert columns(con, "p", ", sensitive := ['flu']") == ["age", "zip", "flu"]
    con.execute("COMMIT")
    assert columns(con, "p") == ["age", "zip"]


def test_a_prepared_call_and_a_text_that_was_kept_notice_a_new_role(con: Connection) -> None:
    ((text,),) = con.execute("FROM anonymize_sql('p', k := 3)").fetchall()
    assert len(con.execute(text).fetchall()) == 30
    declare(con, "p", flu="identifier")
    assert "not committed yet" in refusal_of(con, text)
    assert columns(con, "p") == ["age", "zip"]


@pytest.mark.slow
def test_a_table_that_is_made_anew_has_no_comments(con: Connection) -> None:
    """DuckDB's way, which docs/sql.md warns of: roles that must stay belong into a relation."""
    assert columns(con, "p") == ["age", "zip", "flu"]
    con.execute("CREATE OR REPLACE TABLE p AS FROM p")
    assert columns(con, "p") == ALL
    con.execute("CREATE TABLE decided AS FROM (VALUES ('name', 'identifier'), ('age', 'qi'), "
                "('zip', 'qi'), ('flu', 'sensitive')) AS t(column_name, role)")
    assert columns(con, "p", ", roles := 'decided'") == ["age", "zip", "flu"]
    con.execute("CREATE OR REPLACE TABLE p AS SELECT *, 'x' AS ssn FROM p")
    assert refusal_of(con, "FROM anonymize('p', k := 3, roles := 'decided')").startswith(
        "1 column has no role: 'ssn'."
    )


# --- views ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_view_inherits_by_name_through_other_views(con: Connection) -> None:
    con.execute("CREATE VIEW one AS SELECT flu, name, age FROM p; CREATE VIEW two AS FROM one")
    con.execute("CREATE SCHEMA s; CREATE VIEW s.three AS SELECT age, NAME FROM main.two")
    assert columns(con, "one") == ["flu", "age"]
    assert columns(con, "two") == ["flu", "age"]
    assert columns(con, "s.three") == ["age"]
    con.execute("CREATE VIEW without AS SELECT age, zip FROM p")
    assert columns(con, "without") == ["age", "zip"]  # the identifier isn't even read
    con.execute("CREATE VIEW united AS SELECT * EXCLUDE (zip) FROM p UNION ALL BY NAME FROM two "
                "LIMIT 30")
    assert columns(con, "united") == ["age", "flu"]
    con.execute("CREATE VIEW inner_cte AS WITH c AS (FROM p) FROM c")
    assert columns(con, "inner_cte") == ["age", "zip", "flu"]


@pytest.mark.slow
def test_comments_on_a_view_win_and_are_inherited_by_views_above(con: Connection) -> None:
    people(con, "bare")
    con.execute("CREATE VIEW one AS FROM bare; CREATE VIEW two AS FROM one; "
                "CREATE VIEW three AS SELECT * FROM two")
    declare(con, "one", name="identifier", flu="sensitive")
    for name in ("one", "two", "three"):
        assert columns(con, name) == ["age", "zip", "flu"]
    con.execute("CREATE VIEW over_p AS FROM p")
    declare(con, "over_p", name="other")
    assert columns(con, "over_p") == ALL
    con.execute("CREATE VIEW above AS FROM over_p")
    assert refusal_of(con, "FROM anonymize('above', k := 3)") == (
        "The column 'name' of the view is declared as identifier in memory.main.p and as other in "
        "memory.main.over_p. Give it a role in the call."
    )


def test_a_view_over_an_attached_database(con: Connection) -> None:
    people(con, "oth.q", zip="identifier")
    con.execute("CREATE VIEW outside AS FROM oth.q; USE oth; CREATE VIEW inside AS FROM q; "
                "USE memory")
    assert columns(con, "outside") == columns(con, "oth.inside") == ["age", "name", "flu"]


@pytest.mark.slow
@pytest.mark.parametrize("shown", [
    "name AS who, age, zip, flu", "length(name) AS letters, age, zip", "age, zip, flu, "
    "(SELECT max(name) FROM p AS again) AS last",
])
def test_a_view_that_may_rename_an_identifier_is_refused(con: Connection, shown: str) -> None:
    con.execute(f"CREATE VIEW v AS SELECT {shown} FROM p")
    said = (
        "The view reads the column 'name' of memory.main.p, which is declared as identifier, and "
        "may show it under another name. Give every column of the view a role in the call, or say "
        "others='drop'."
    )
    every = [c[0] for c in con.execute("FROM v").description or ()]
    some = ", quasi_identifiers := ['age', 'zip']"
    for options in ("", some, some + ", others := 'release'", some + ", others := 'error'"):
        assert refusal_of(con, f"FROM anonymize('v', k := 3{options})") == said
    assert columns(con, "v", some + ", others := 'drop'") == ["age", "zip"]
    rest = [name for name in every if name not in ("age", "zip")]
    assert columns(con, "v", f"{some}, identifiers := {rest}") == ["age", "zip"]
    # what the planner's relation of roles says of every column is a decision, too
    listed = ", ".join(f"('{name}', 'qi')" for name in every)
    con.execute(f"CREATE TABLE decided AS FROM (VALUES {listed}) AS t(column_name, role)")
    assert columns(con, "v", ", roles := 'decided'") == every


SHOWN_AGAIN = (
    "SELECT age, flu, name, name AS who FROM p",
    "SELECT age, flu, '' AS name, name AS who FROM p",
    "SELECT age, flu, name, p AS who FROM p",
    "SELECT age, flu, name, {'a': age, 'b': [name]} AS who FROM p",
    "SELECT age, flu, name, who FROM generated",
    "SELECT age, flu, name, who FROM twice",
    "SELECT * FROM (SELECT *, name AS again FROM p) AS q(age, zip, name, flu, who)",
    "WITH c AS (SELECT name AS who, * FROM p) SELECT age, flu, name, who FROM c",
    "WITH c(who, name, age, flu) AS MATERIALIZED (SELECT name, name, age, flu FROM p) FROM c",
    "SELECT p.age, p.flu, p.name, q.name AS who FROM p JOIN p AS q USING (age, zip, name)",
    "FROM again()",
    "SELECT age, flu, name, hidden(name) AS who FROM p",
    "SELECT age, flu, name, COLUMNS('n(a)me') AS 'who' FROM p",
    "SELECT * REPLACE ('' AS name), name AS who FROM p",
    "SELECT age, flu, name FROM p UNION ALL BY NAME SELECT age, flu, name, name AS who FROM p",
    "SELECT age, flu, name, '' AS who FROM p UNION ALL SELECT age, flu, '', name FROM p",
    "SELECT age, flu, name, max(name) AS who FROM p GROUP BY ALL",
    "SELECT age, flu, name, first(name) OVER (PARTITION BY zip) AS who FROM p",
    "SELECT age, flu, name, row_number() OVER (ORDER BY name) AS who FROM p",
    "SELECT age, flu, name, unnest([name]) AS who FROM p",
    "SELECT age, flu, name, CASE WHEN age > 20 THEN name END AS who FROM p",
    "SELECT age, flu, name, list_transform([1], lambda x: name || x) AS who FROM p",
    "SELECT age, flu, name, hash(name) AS who FROM p",
)
NOT_UNDERSTOOD = (
    "WITH RECURSIVE r AS (SELECT age, flu, name, name AS who FROM p UNION ALL FROM r WHERE false) "
    "FROM r",
    "SELECT age, flu, name, u.who FROM p, unnest([name]) AS u(who)",
    "SELECT age, flu, name, name IN (SELECT name FROM p AS q WHERE age > 22) AS who FROM p",
)
PLAIN = (
    "SELECT age, flu, name FROM p", "SELECT NAME, Flu AS FLU, q.age AS age FROM p AS q",
    "FROM p WHERE name > 'n' ORDER BY name LIMIT 30", "FROM p UNION ALL FROM p",
    "SELECT * FROM (SELECT DISTINCT * FROM p)", "WITH c AS (FROM p) SELECT age, flu, name FROM c",
    "SELECT p.*, k.code FROM p LEFT JOIN codes AS k ON k.flu = p.flu", "FROM p TABLESAMPLE 100%",
    "SELECT *, 'the clinic' AS source FROM p", "SELECT *, zip // 10 AS area FROM p",
    "SELECT age, flu, name, count(*) AS n, max(zip) AS zip FROM p GROUP BY ALL",
)


@pytest.fixture
def views(con: Connection) -> Connection:
    """What the views below read."""
    con.execute("CREATE VIEW twice AS SELECT *, name AS who FROM p")
    con.execute("CREATE TABLE generated (age INTEGER, zip INTEGER, name VARCHAR, flu INTEGER, "
                "who AS (name || '!')); INSERT INTO generated FROM p")
    declare(con, "generated", name="identifier")
    con.execute("CREATE MACRO again() AS TABLE SELECT *, name AS who FROM p")
    con.execute("CREATE MACRO hidden(x) AS x || ''; CREATE TABLE codes AS SELECT DISTINCT flu, "
                "'code ' || flu AS code FROM p")
    return con


def test_a_view_that_shows_an_identifier_once_more_is_refused(views: Connection) -> None:
    some = ", quasi_identifiers := ['age', 'flu']"
    for shown in SHOWN_AGAIN:
        views.execute(f"CREATE OR REPLACE VIEW v AS {shown}")
        said = (
            "The column 'who' shows the column 'name', which is declared as identifier, under "
            "another name. Give 'who' a role in the call, or say others='drop'."
        )
        for options in ("", ", others := 'release'" + some):
            assert refusal_of(views, f"FROM anonymize('v', k := 3{options})") == said, shown
    # also where the table itself has a column that shows another one
    assert refusal_of(views, f"FROM anonymize('generated', k := 3{options})") == said
    assert columns(views, "twice", some + ", others := 'drop'") == ["age", "flu"]
    assert columns(views, "twice", some + ", identifiers := ['who', 'zip']") == ["age", "flu"]
    assert columns(views, "twice", some + ", others := 'release', sensitive := ['who']") == [
        "age", "zip", "flu", "who"
    ]
    declare(views, "twice", who="other")  # somebody decided on that very column
    assert columns(views, "twice") == ["age", "zip", "flu", "who"]


def test_a_view_that_is_not_understood_is_refused(views: Connection) -> None:
    some = ", quasi_identifiers := ['age', 'flu'], others := 'release'"
    for shown in NOT_UNDERSTOOD:
        views.execute(f"CREATE OR REPLACE VIEW v AS {shown}")
        assert refusal_of(views, f"FROM anonymize('v', k := 3{some})") == (
            "The source of the column 'who' can't be determined, and the column 'name' is "
            "declared as identifier. Give 'who' a role in the call, or say others='drop'."
        ), shown
        said = refusal_of(views, "FROM anonymize('v', k := 3)")
        assert said.startswith("The source of "), shown


@pytest.mark.slow
def test_a_role_in_the_call_holds_for_what_a_view_shows_once_more(con: Connection) -> None:
    people(con, "bare")
    con.execute("CREATE TABLE told AS FROM (VALUES ('name', 'identifier'), ('age', 'qi')) "
                "AS t(column_name, role)")
    some = ", quasi_identifiers := ['age'], others := 'release'"
    for shown in ("name, name AS who", "'' AS name, name AS who", "zip AS name, name AS who"):
        con.execute(f"CREATE OR REPLACE VIEW v AS SELECT age, {shown} FROM bare")
        for options in (", roles := 'told', others := 'release'",
                        f"{some}, identifiers := ['name']", f"{some}, sensitive := ['name']"):
            said = refusal_of(con, f"FROM anonymize('v', k := 3{options})")
            assert said.startswith("The column 'who' shows the column 'name', which is"), shown
    con.execute("CREATE OR REPLACE VIEW v AS SELECT *, age + 1 AS next FROM bare")
    assert "'next' shows the column 'age', which is declared as quasi_identifier" in refusal_of(
        con, f"FROM anonymize('v', k := 3{some})"
    )
    assert columns(con, "v", ", identifiers := ['name']") == ["age", "zip", "flu", "next"]


@pytest.mark.slow
def test_a_view_of_plain_columns_needs_no_more_words(views: Connection) -> None:
    some = ", quasi_identifiers := ['age', 'flu'], others := 'release'"
    for shown in PLAIN:
        views.execute(f"CREATE OR REPLACE VIEW v AS {shown}")
        every = [c[0] for c in views.execute("FROM v").description or ()]
        found = views.execute(f"FROM anonymize('v', k := 3{some})").description or ()
        assert [c[0] for c in found] == [c for c in every if c.lower() != "name"], shown


@pytest.mark.slow
def test_views_over_files(con: Connection, tmp_path: Path) -> None:
    con.execute(f"COPY p TO '{tmp_path / 'p.parquet'}'")
    con.execute(f"CREATE VIEW v AS FROM '{tmp_path / 'p.parquet'}'; CREATE VIEW w AS FROM v")
    assert columns(con, "v") == columns(con, "w") == ALL
    declare(con, "v", name="identifier")
    assert columns(con, "v") == columns(con, "w") == ["age", "zip", "flu"]
    # what such a view shows by another name is refused, and what isn't understood
    some = ", quasi_identifiers := ['age', 'flu'], others := 'release'"
    for shown in ("SELECT *, name AS who FROM v", "SELECT age, flu, '' AS name, name AS who FROM v",
                  "WITH c AS (FROM v) SELECT age, flu, name, name AS who FROM c",
                  "SELECT age, flu, name, v AS who FROM v"):
        con.execute(f"CREATE OR REPLACE VIEW x AS {shown}")
        said = refusal_of(con, f"FROM anonymize('x', k := 3{some})")
        assert "column 'who'" in said and "'name'" in said and "declared as identifier" in said
    con.execute("CREATE OR REPLACE VIEW x(age, flu, who) AS SELECT age, flu, name FROM v")
    assert "may show it under another name" in refusal_of(con, f"FROM anonymize('x', k := 3{some})")
    con.execute("CREATE OR REPLACE VIEW x AS SELECT Age, flu, name FROM v WHERE zip > 0")
    assert columns(con, "x", some) == ["age", "flu"]
    # a join of a file and a table has the roles of the table
    con.execute("CREATE TABLE keys AS SELECT DISTINCT zip AS code, age AS years FROM p LIMIT 1; "
                "COMMENT ON COLUMN keys.code IS 'kanon: identifier'")
    con.execute("CREATE VIEW joined AS SELECT v.*, k.code FROM v, keys AS k")
    assert columns(con, "joined") == ["age", "zip", "flu"]


def test_a_union_with_conflicting_roles_is_refused(con: Connection) -> None:
    people(con, "q", name="sensitive")
    con.execute("CREATE VIEW u AS FROM p UNION ALL FROM q LIMIT 30")
    for options in ("", ", quasi_identifiers := ['age'], others := 'drop'"):
        assert refusal_of(con, f"FROM anonymize('u', k := 3{options})") == (
            "The column 'name' of the view is declared as identifier in memory.main.p and as "
            "sensitive in memory.main.q. Give it a role in the call."
        )
    assert columns(con, "u", ", identifiers := ['name']") == ["age", "zip", "flu"]


def test_a_new_comment_below_a_view_is_noticed(con: Connection) -> None:
    con.execute("CREATE VIEW v AS FROM p; BEGIN")
    declare(con, "p", flu="identifier")
    assert "not committed yet" in refusal_of(con, "FROM anonymize('v', k := 3)")
    con.execute("ROLLBACK")
    assert columns(con, "v") == ["age", "zip", "flu"]


def test_a_temporary_view_inherits_nothing_and_is_refused_until_the_call_says_all(
    con: Connection
) -> None:
    """The catalog shows none to the planner: its columns are named in the call."""
    con.execute("CREATE TEMP VIEW v AS FROM p")
    named = ", quasi_identifiers := ['age', 'zip']"
    for options in ("", f"{named}, others := 'release'"):
        said = refusal_of(con, f"FROM anonymize('v', k := 3{options})")
        assert said.startswith('The temporary view "v" reads a table whose column comments declare')
    assert "2 columns have no role: 'name', 'flu'" in refusal_of(
        con, f"FROM anonymize('v', k := 3{named})"
    )
    assert columns(con, "v", ", identifiers := ['name']") == ["age", "zip", "flu"]
    assert columns(con, "v", f"{named}, others := 'drop'") == ["age", "zip"]
    assert columns(con, "v", f"{named}, identifiers := ['name'], sensitive := ['flu']") == [
        "age", "zip", "flu"
    ]

@pytest.mark.parametrize("terms", [300, 900])
def test_a_view_of_a_long_sum(con: Connection, terms: int) -> None:
    con.execute("CREATE TABLE few AS SELECT i % 4 AS a FROM range(12) AS r(i)")
    con.execute(f"CREATE VIEW sums AS SELECT {' + '.join(['a'] * terms)} AS a FROM few")
    try:
        assert len(con.execute("FROM anonymize('sums', k := 3, method := 'mdav')").fetchall()) == 12
    except duckdb.InvalidInputException as refused:  # by the stacks of Python and of DuckDB
        assert terms == 900 and "be looked into" in str(refused)
        assert "Put its rows into a table first." in str(refused)
