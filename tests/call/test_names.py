"""Names that differ in the case of letters beyond A to Z are two columns, in every face."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import did_you_mean
from kanon_sql.names import caseless, literal, quoted
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection

TWINS = sorted({
    (min(one, other), max(one, other))
    for letter in map(chr, range(0x80, 0x20000)) if not "\ud800" <= letter <= "\udfff"
    for one in [letter]
    for other in (letter.lower(), letter.upper(), letter.casefold()) if other != one
})
"""Letters that some rule of Unicode takes for one; sharp s and the sign of Kelvin among them."""

WORDS = st.text("aK_ 1", max_size=3)


def names() -> st.SearchStrategy[tuple[str, str]]:
    """Two names that differ in the case of one letter."""
    return st.builds(
        lambda before, twin, after: (before + twin[0] + after, before + twin[1] + after),
        WORDS, st.sampled_from(TWINS), WORDS,
    )


con = registered()


def people(con: Connection, one: str, other: str) -> None:
    """A table of sixty people with these two columns, a person's own value in each."""
    con.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT 'first' || i AS {quoted(one)}, "
        f"'second' || i AS {quoted(other)}, 20 + i % 9 AS age FROM range(60) AS r(i)"
    )


def told(con: Connection, one: str, other: str) -> None:
    """A relation of roles that drops the one and lets the other pass."""
    con.execute("CREATE OR REPLACE TABLE roles (column_name VARCHAR, role VARCHAR)")
    con.executemany("INSERT INTO roles VALUES (?, ?)", [
        [one, "identifier"], [other, "sensitive"], ["age", "quasi_identifier"],
    ])


def commented(con: Connection, one: str, other: str) -> None:
    """The same in the catalog."""
    for name, role in ((one, "identifier"), (other, "sensitive"), ("age", "quasi_identifier")):
        con.execute(f"COMMENT ON COLUMN people.{quoted(name)} IS 'kanon: {role}'")


@pytest.mark.slow
@settings(max_examples=200)
@given(names())
@example(("É", "é"))
@example(("K", "\u212a"))
@example(("ß", "ẞ"))
@example(("İ", "i"))
@example(("Age", "aGE"))
def test_names_are_one_where_duckdb_takes_them_for_one(pair: tuple[str, str]) -> None:
    one, other = pair
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t ({quoted(one)} INTEGER)")
        try:
            con.execute(f"ALTER TABLE t ADD COLUMN {quoted(other)} INTEGER")
            two = True
        except duckdb.Error:
            two = False
    assert (caseless(one) != caseless(other)) == two


@pytest.mark.slow
@settings(max_examples=3)
@given(names(), st.booleans())
@example(("É", "é"), False)
@example(("k", "\u212a"), True)
@example(("ß", "ẞ"), False)
def test_each_of_two_twins_has_its_own_role(
    con: Connection, pair: tuple[str, str], turned: bool
) -> None:
    one, other = pair if not turned else pair[::-1]
    people(con, one, other)
    frame = con.sql("FROM people").pl()
    given = {"identifiers": [one], "sensitive": [other], "quasi_identifiers": ["age"]}
    found = [
        con.sql(
            f"FROM anonymize('people', k=5, identifiers=[{literal(one)}], "
            f"sensitive=[{literal(other)}], quasi_identifiers=['age'])"
        ).pl(),
        kanon_sql.anonymize(frame, k=5, **given),
    ]
    told(con, one, other)
    found.append(con.sql("FROM anonymize('people', k=5, roles='roles')").pl())
    commented(con, one, other)
    found.append(con.sql("FROM anonymize('people', k=5)").pl())
    for released in found:
        assert sorted(released.columns) == sorted([other, "age"])
        assert sorted(released[other]) == sorted(frame[other])


@pytest.mark.slow
@settings(max_examples=6)
@given(names())
@example(("k", "\u212a"))
def test_a_role_for_one_twin_says_nothing_of_the_other(
    con: Connection, pair: tuple[str, str]
) -> None:
    one, other = pair
    people(con, one, other)
    with pytest.raises(duckdb.Error, match="1 column has no role"):
        con.execute(
            f"FROM anonymize('people', k=5, identifiers=[{literal(one)}], "
            "quasi_identifiers=['age'])"
        )
    # each has its own representation, too
    rows = con.sql(
        f"FROM anonymize('people', k=5, quasi_identifiers=[{literal(one)}, {literal(other)}, "
        f"'age'], representation={{{literal(one)}: 'suppress', '*': 'interval'}})"
    ).pl()
    assert set(rows[one]) == {"*"} and "*" not in set(rows[other])


def test_a_comment_that_is_not_committed_is_seen_on_a_table_with_such_a_name() -> None:
    with duckdb.connect() as con:
        kanon_sql.register(con)
        con.execute("CREATE TABLE É AS SELECT 'n' || i AS name, i % 9 AS age FROM range(60) r(i)")
        con.execute("CREATE TABLE é AS FROM É")
        con.execute("COMMENT ON COLUMN é.name IS 'kanon: identifier'")
        assert con.sql("FROM anonymize('é', k=5)").columns == ["age"]
        assert con.sql("FROM anonymize('É', k=5)").columns == ["name", "age"]
        con.execute("BEGIN; COMMENT ON COLUMN É.name IS 'kanon: identifier'")
        with pytest.raises(duckdb.Error, match="not committed yet"):
            con.sql("FROM anonymize('É', k=5)").fetchall()


@pytest.mark.slow
def test_files_and_their_manifest_keep_twins_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({
        "É": [f"first{i}" for i in range(2000)], "é": [f"second{i}" for i in range(2000)],
        "Age": [20.0 + i % 50 for i in range(2000)],
    })
    frame.write_parquet(tmp_path / "people.parquet")
    given = {"identifiers": ["É"], "sensitive": ["é"], "quasi_identifiers": ["age"]}
    kanon_sql.anonymize_files(
        tmp_path / "people.parquet", tmp_path / "out", k=5, block_rows=1000, **given
    )
    released = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert released.columns == ["é", "Age"]
    assert sorted(released["é"]) == sorted(frame["é"])

    one = kanon_sql.release(tmp_path / "people.parquet", k=5, to=tmp_path / "one.parquet", **given)
    assert one.manifest["roles"] == {
        "É": "identifier", "é": "sensitive", "Age": "quasi_identifier"
    }
    assert kanon_sql.verify(tmp_path / "one.parquet")


@pytest.mark.slow
def test_a_config_file_keeps_twins_apart(tmp_path: Path) -> None:
    pl.DataFrame({
        "K": [f"first{i}" for i in range(60)], "\u212a": [f"second{i}" for i in range(60)],
        "age": [20 + i % 9 for i in range(60)],
    }).write_parquet(tmp_path / "people.parquet")
    (tmp_path / "kanon.toml").write_text(
        'options.k = 5\n[tables.people]\ninput = "people.parquet"\noutput = "out.parquet"\n'
        '[tables.people.roles]\n"\u212a" = "identifier"\nK = "sensitive"\nage = "qi"\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "kanon_sql", "run", "kanon.toml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(pl.read_parquet(tmp_path / "out.parquet").columns) == ["K", "age"]


@pytest.mark.parametrize(("name", "known", "hint"), [
    ("age", ["age", "wage"], "Did you mean 'wage'?"),
    ("age", ["age"], "There is no other."),
    ("age", ["age", "zip"], "There are: zip."),
    ("age", [f"x{i:02}" for i in range(90)], "There are 90, among them "
     + ", ".join(f"x{i}" for i in range(70, 90)) + "."),
    ("\u00e9t\u00e9", ["e\u0301te\u0301", "et"],
     "Did you mean 'e\\u0301te\\u0301', which only looks the same?"),
    ("\uff4eame", ["name"], "Did you mean 'name', which only looks the same?"),
])
def test_what_was_typed_is_never_suggested(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint
