"""A column that there isn't: what is said of it, by the option that names it."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection


@pytest.mark.sample(3)
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "identifiers"])
@pytest.mark.parametrize("relation", ["patients", "fresh", "cte", "temporary"])
def test_a_role_for_a_missing_column_names_the_nearest(
    con: Connection, role: str, relation: str
) -> None:
    con.execute("CREATE TEMP TABLE temporary AS FROM patients; BEGIN")
    con.execute("CREATE TABLE fresh AS FROM patients")
    prefix = "WITH cte AS (FROM patients) " if relation == "cte" else ""
    said = refusal_of(con, f"{prefix}SELECT * FROM anonymize('{relation}', k=5, {role}=['agge'])")
    if relation != "patients":  # only DuckDB knows what it has
        assert said.splitlines()[0] == 'Referenced column "agge" not found in FROM clause!'
        assert '"age"' in said.splitlines()[1]
        return
    assert said == f"{role} names the column 'agge', which doesn't exist. Did you mean 'age'?"


@pytest.mark.sample(2)
@pytest.mark.parametrize("place", ["patients", "temporary", "people.parquet"])
def test_a_list_as_one_text_is_told_how_to_be_written(
    con: Connection, place: str, tmp_path: Path
) -> None:
    con.execute("CREATE TEMP TABLE temporary AS FROM patients")
    con.execute(f"COPY patients TO '{tmp_path}/people.parquet'")
    name = f"{tmp_path}/{place}" if "." in place else place
    assert refusal_of(con, f"FROM anonymize('{name}', k=5, quasi_identifiers='age, zip')") == (
        "quasi_identifiers names the column 'age, zip', which doesn't exist. For several columns "
        "write a list, such as ['age', 'zip']."
    )


MISSPELT = (
    "anonymize({}, k=5, {}sensitive=['disese'], others='drop')",
    "anonymize_metrics({}, k=5, {}identifiers=['nme'], others='release')",
    "anonymize_clusters({}, k=5, {}class_label='disese', others='drop')",
    "anonymize_roles({}, k=5, {}sensitive=['disese'], others='drop')",
    "k_anonymity({}, {}sensitive=['disese'])",
    "anonymize_risk({}, {}sampling_weight='aeg')",
    "anonymize_audit({}, {}release='patients', class_label='disese')",
    "hierarchy({}, 'aeg', kind='bins')",
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("call", MISSPELT)
@pytest.mark.parametrize("place", ["patients", "main.patients", "people.parquet"])
def test_a_missing_column_is_told_with_the_option_that_names_it(
    con: Connection, call: str, place: str, tmp_path: Path
) -> None:
    con.execute(f"COPY patients TO '{tmp_path}/people.parquet'")
    name = f"'{tmp_path}/{place}'" if place.endswith("parquet") else f"'{place}'"
    said = refusal_of(con, f"FROM {call.format(name, 'quasi_identifiers=[' + repr('age') + '], ')}")
    if "hierarchy" in call and place == "patients":  # which DuckDB tells alone
        assert said.startswith('Referenced column "aeg" not found')
        return
    told = re.fullmatch(r".*column '(\w+)'.* doesn't exist\. Did you mean '(\w+)'\?", said)
    meant = {"disese": "disease", "nme": "name", "aeg": "age"}
    assert told and meant[told[1]] == told[2]


@pytest.mark.sample(2)
@pytest.mark.parametrize("release", ["released", "fresh", "main.released", "r.parquet", "r.csv"])
def test_an_audit_names_the_column_that_the_release_lacks(
    con: Connection, release: str, tmp_path: Path
) -> None:
    """Known to the catalog or to DuckDB alone, named by an option or by a comment of the source."""
    con.execute("CREATE TABLE released AS SELECT age, zip FROM patients")
    con.execute("CREATE TEMP TABLE fresh AS FROM released")
    con.execute("CREATE TEMP TABLE other AS SELECT age, disease AS illness FROM patients")
    con.execute("CREATE TABLE declared AS FROM patients")
    con.execute("COMMENT ON COLUMN declared.disease IS 'kanon: sensitive'")
    if "r." in release:
        con.execute(f"COPY released TO '{tmp_path}/{release}'")
        release = f"{tmp_path}/{release}"
    audit = f"FROM anonymize_audit('{{}}', quasi_identifiers=['age'], release='{release}'{{}})"
    said = refusal_of(con, audit.format("patients", ", sensitive='disease'"))
    assert said.startswith("sensitive names the column 'disease', which the release doesn't have.")
    # a column that only the statement has is one of the source, and still missing in the release
    said = refusal_of(con, audit.format("other", ", sensitive='illness'"))
    assert said.startswith("sensitive names the column 'illness', which the release doesn't have.")
    said = refusal_of(con, audit.format("declared", ""))
    assert said.startswith("The release has no column 'disease', which has a role in the source.")


def test_a_column_that_only_the_statement_has_is_found(con: Connection) -> None:
    """One that isn't committed, of a temporary table that hides one, of a CTE that does, also in a
    view, and one with a comma in its name."""
    con.execute("CREATE TEMP TABLE shadow AS SELECT *, age AS older FROM patients")
    con.execute("CREATE TABLE hidden AS FROM patients")
    con.execute("CREATE TEMP TABLE hidden AS FROM shadow")
    call = "anonymize('{}', k=5, quasi_identifiers=['{}'], others='drop')"
    cte = f"WITH patients AS (FROM shadow) FROM {call.format('patients', 'older')}"
    con.execute(f"CREATE TEMP VIEW seen AS {cte}")
    for query in (f"FROM {call.format('hidden', 'older')}", cte, "FROM seen"):
        assert con.execute(query).description[0][0] == "older"
    con.execute("BEGIN")
    con.execute('ALTER TABLE patients ADD COLUMN "age, zip" INTEGER')
    query = "FROM anonymize('patients', k=5, quasi_identifiers='age, zip', others='drop')"
    assert con.execute(query).description[0][0] == "age, zip"


@pytest.mark.sample(3)
@pytest.mark.parametrize("call", [*MISSPELT, "anonymize_risk('patients', {}population={})"])
@pytest.mark.parametrize("prefix", ["", "WITH here AS (FROM lacking) "])
def test_any_missing_column_is_refused_by_its_name(
    con: Connection, call: str, prefix: str
) -> None:
    con.execute("CREATE TEMP TABLE lacking AS SELECT * REPLACE (age + 1 AS age) FROM patients")
    con.execute("ALTER TABLE lacking RENAME COLUMN zip TO zpi")
    relation = "'here'" if prefix else "'lacking'"
    quasi = "quasi_identifiers=['age'], "
    said = refusal_of(con, f"{prefix}FROM " + (
        call.format("quasi_identifiers=['age', 'zip'], ", relation) if "population" in call
        else call.format(relation, quasi)
    ))
    lines = said.splitlines()
    assert re.fullmatch(r'Referenced column "\w+" not found in FROM clause!', lines[0])
    assert lines[1].startswith("Candidate bindings: ")
    meant = {"disese": "disease", "nme": "name", "aeg": "age", "zip": "zpi"}
    assert f'"{meant[lines[0].split(chr(34))[1]]}"' in lines[1]
