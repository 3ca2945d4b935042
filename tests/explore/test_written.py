"""kanon.toml and the SQL that the page gives: both are accepted, and make the same release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.cli.config import Config
from kanon_sql.errors import OptionError
from kanon_sql.explore.choices import Choices, ChosenHierarchy, options_of
from kanon_sql.explore.written import NamedSource, sql_of, toml_of
from kanon_sql.names import literal
from tests.support.shell import Shell
from tests.support.thoroughness import often

PEOPLE = """
    CREATE TABLE people AS
    SELECT 'person ' || i AS name, 20 + (i * 7) % 50 AS age, (10000 + i * 37 % 12)::VARCHAR AS zip,
           ['f', 'm'][1 + (i * i) % 3 % 2] AS sex,
           ['Flu', 'Cold', 'HIV'][1 + (i // 4) % 3] AS disease,
           (i % 2)::VARCHAR AS "it's ""one"" [x]"
    FROM range(120) AS r(i)
"""
ODD = 'it\'s "one" [x]'

roles = st.fixed_dictionaries({
    "name": st.sampled_from(["identifier", "entity"]),
    "age": st.just("quasi_identifier"),
    "zip": st.sampled_from(["quasi_identifier", "identifier", "other", "sensitive"]),
    "sex": st.sampled_from(["quasi_identifier", "within", "other", "identifier"]),
    "disease": st.sampled_from(["sensitive", "quasi_identifier", "other"]),
    ODD: st.sampled_from(["quasi_identifier", "sensitive", "other", "identifier"]),
})
hierarchies = st.fixed_dictionaries({}, optional={
    "age": st.sampled_from([
        ChosenHierarchy("bins"), ChosenHierarchy("bins", {"width": "5", "levels": "3"})
    ]),
    "zip": st.sampled_from([ChosenHierarchy("prefix", {"mask": "#"}), ChosenHierarchy("cover")]),
    "sex": st.just(ChosenHierarchy("ordered", {"ranking": "f, m"})),
    ODD: st.just(ChosenHierarchy("flat")),
})
choices = st.builds(
    Choices, roles=roles, hierarchies=hierarchies, k=st.integers(2, 12),
    l=st.none() | st.just(2), t=st.none() | st.just(0.6),
    method=st.sampled_from(["mdav_star", "k_member", "mondrian", "full_domain"]),
    effort=st.none() | st.sampled_from(["fast", "balanced"]),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name and whose files need quotes."""
    made = tmp_path_factory.mktemp("it's 'mine'")
    with duckdb.connect(str(made / "our.duckdb")) as con:
        con.execute(PEOPLE)
        con.sql("FROM people").write_parquet(str(made / "it's people.parquet"))
        con.sql("FROM people LIMIT 50").write_parquet(str(made / "a.parquet"))
        con.sql("FROM people OFFSET 50").write_parquet(str(made / "b.parquet"))
    return made


def sources(folder: Path) -> dict[str, NamedSource]:
    a, b, one = (str(folder / name) for name in ("a.parquet", "b.parquet", "it's people.parquet"))
    pattern = str(folder / "[ab].parquet")
    return {
        "file": NamedSource((one,), one),
        "files": NamedSource((a, b), [a, b]),
        "pattern": NamedSource((pattern,), pattern),
        "table": NamedSource(("people",), "people", str(folder / "our.duckdb")),
    }


def rows_of(con: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[str, ...]]:
    """The rows as text, by how often they occur, and the names of the columns among them."""
    found = con.sql(sql)
    return Counter([tuple(map(str, row)) for row in [found.columns, *found.fetchall()]])


@pytest.mark.slow
@often(60, shrink=False)
@given(choices, st.sampled_from(["file", "files", "pattern", "table"]))
def test_the_file_and_the_line_of_sql_make_the_same_release(
    folder: Path, chosen: Choices, kind: str
) -> None:
    source = sources(folder)[kind]
    text = toml_of(source, chosen, "released.parquet")
    (folder / "kanon.toml").write_text(text, encoding="utf-8")
    (job,) = Config(folder / "kanon.toml").jobs
    assert job.roles == chosen.roles and job.name == source.name
    (folder / "released.parquet").unlink(missing_ok=True)
    status = run_quietly(folder)
    with kanon_sql.register(duckdb.connect()) as con:
        try:
            by_sql = rows_of(con, run_first(con, sql_of(source, chosen)))
        except duckdb.Error:
            assert status in (2, 3, 4), text
            return
        assert status == 0, text
        by_file = rows_of(con, f"FROM {literal(str(folder / 'released.parquet'))}")
    assert by_file == by_sql


def run_first(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """Runs all statements but the last, which is given back."""
    *before, last = con.extract_statements(text)
    for each in before:
        con.execute(each)
    return last.query


def run_quietly(folder: Path) -> int:
    """The status of kanon run."""
    from kanon_sql.cli.main import main

    return main(["run", str(folder / "kanon.toml"), "--json"])


def test_a_pasted_line_runs_in_the_shell(folder: Path, shell: Shell) -> None:
    source = sources(folder)["table"]
    chosen = Choices({
        "name": "identifier", "age": "quasi_identifier", "zip": "identifier", "sex": "other",
        "disease": "sensitive", ODD: "quasi_identifier",
    })
    assert shell("sql", "-c", sql_of(source, chosen)) == 0, shell.err
    assert "disease" in shell.out and "person" not in shell.out


def test_no_file_is_made_of_choices_that_no_release_can_be_made_with(folder: Path) -> None:
    source = sources(folder)["file"]
    for bad in ({"age": ""}, {"age": "sensitive"}, {"age": "entity", "zip": "entity"}):
        with pytest.raises(OptionError):
            options_of(Choices(bad))
        with pytest.raises(OptionError):
            toml_of(source, Choices(bad), "out.parquet")
        with pytest.raises(OptionError):
            sql_of(source, Choices(bad))


@pytest.mark.parametrize(("source", "name"), [
    (NamedSource(("data/patients 2024.parquet",), "data/patients 2024.parquet"), "patients_2024"),
    (NamedSource(("lake/",), "lake/**/*.parquet"), "lake"),
    (NamedSource(("ж.csv",), "ж.csv"), "table"),
    (NamedSource(("main.people",), "main.people", "our.duckdb"), "main_people"),
])
def test_the_table_has_a_plain_name(source: NamedSource, name: str) -> None:
    assert source.name == name
