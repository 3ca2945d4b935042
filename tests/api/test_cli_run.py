"""kanon run: releases that a file describes, and what is said of a file that is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli import schema
from kanon_sql.cli.lines import line_of
from tests.support.shell import Shell

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "kanon_sql" / "cli" / "kanon.schema.json"

CONFIG = """\
# what leaves the house
[options]
k = 4
method = "mdav_plus"

[tables.patients]
input = "patients.parquet"
output = "out.csv"

[tables.patients.roles]
name = "identifier"
age = "quasi_identifier"
zip = "qi"
job = "other"
disease = "sensitive"

[tables.patients.hierarchies]
age = { kind = "bins", width = 10 }

[tables.proven]
input = "our.duckdb::patients"
output = "proven.parquet"
private = "mine.json"

[tables.proven.roles]
name = "identifier"
age = "quasi_identifier"
zip = "quasi_identifier"
job = "sensitive"
disease = "sensitive"

[tables.proven.options]
k = 5
l = { disease = 2 }
"""


@pytest.fixture
def config(patients: Path, shell: Shell) -> Path:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE patients AS FROM 'patients.parquet'")
    Path("kanon.toml").write_text(CONFIG)
    return Path("kanon.toml")


@pytest.mark.slow
def test_all_releases_of_a_file_are_made(config: Path, shell: Shell) -> None:
    assert shell("run", "--json") == 0
    patients, proven = json.loads(shell.out)
    assert (patients["table"], patients["output"]) == ("patients", "out.csv")
    assert patients["metrics"]["k"] >= 4
    assert proven["metrics"]["k"] >= 5
    with duckdb.connect() as con:
        names = [name for name, *_ in con.execute("DESCRIBE FROM 'out.csv'").fetchall()]
        assert names == ["age", "zip", "job", "disease"]
        ages = con.execute("SELECT age FROM 'out.csv' WHERE age LIKE '[%, %)'").fetchall()
        assert ages
    assert shell("verify", "proven.parquet", "--source", "our.duckdb::patients",
                 "--private", "mine.json") == 0
    assert "proven by the file, its source and the private part" in shell.out
    assert shell("audit", "proven.parquet", "-s", "job,disease", "-k", "5", "--l", "disease=2") == 0


@pytest.mark.slow
def test_paths_are_those_from_the_folder_of_the_file(
    config: Path, shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.chdir("elsewhere")
    assert shell("run", "../kanon.toml", "patients") == 0
    assert "kanon: patients: 60 rows in out.csv" in shell.err
    assert Path.cwd() == tmp_path / "elsewhere"
    assert (tmp_path / "out.csv").exists()
    assert not (tmp_path / "proven.parquet").exists()


@pytest.mark.slow
def test_a_dry_run_shows_roles_and_sql_and_writes_nothing(config: Path, shell: Shell) -> None:
    before = sorted(Path.cwd().iterdir())
    assert shell("run", "--dry-run", "kanon.toml", "patients") == 0
    assert shell.out.startswith("-- patients: patients.parquet to out.csv\n")
    assert "quasi_identifier" in shell.out
    assert "WITH __kanon_unshadowed" in shell.out
    assert sorted(Path.cwd().iterdir()) == before


@pytest.mark.slow
def test_a_folder_and_a_relation_of_roles(config: Path, shell: Shell) -> None:
    Path("roles.csv").write_text(
        "column_name,role\nname,identifier\nage,qi\nzip,qi\njob,sensitive\ndisease,sensitive\n"
    )
    Path("kanon.toml").write_text(
        '[tables.t]\ninput = ["patients.parquet"]\noutput = "parts"\npartition_by = "disease"\n'
        'roles = "roles.csv"\noptions = { k = 4 }\n'
    )
    assert shell("run") == 0
    assert {path.name for path in Path("parts").iterdir()} >= {"disease=Flu", "disease=Cold"}


@pytest.mark.slow
def test_a_folder_beside_a_ledger_of_files(config: Path, shell: Shell) -> None:
    text = (
        '[tables.t]\ninput = "patients.parquet"\noutput = "{0}"\nledger_to = "ledger/{0}.parquet"\n'
        'options = {{ k = 4, others = "drop", {1} }}\n'
        'roles = {{ name = "entity", age = "qi", zip = "qi" }}\n'
    )
    Path("ledger").mkdir()
    for name, more in (("one", "headroom = 1"), ("two", 'ledger = "ledger/*.parquet"')):
        Path("kanon.toml").write_text(text.format(name, more))
        assert shell("run") == 0, shell.err
    with duckdb.connect() as con:
        entries = con.execute("SELECT count(DISTINCT release) FROM 'ledger/*.parquet'").fetchall()
    assert entries == [(2,)]
    config.write_text(CONFIG.replace("private =", "ledger_to ="))
    assert shell("run", "kanon.toml", "proven") == 2
    assert "line 20: ledger_to belongs to a folder of files" in shell.err
    assert not Path("proven.parquet").exists()


@pytest.mark.slow
def test_a_column_may_divide_the_release(config: Path, shell: Shell) -> None:
    config.write_text(CONFIG.replace('job = "other"', 'job = "within"'))
    assert shell("run", "kanon.toml", "patients") == 0
    assert shell("audit", "out.csv", "-k", "4", "-q", "age,zip", "--within", "job") == 0
    told = dict(line.split() for line in shell.out.splitlines() if len(line.split()) == 2)
    assert told["parts"] == "2"
    assert told["parts_below_k"] == "0"


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "status", "said"), [
    ('zip = "qi"', 'zip = "qa"', 2, "line 13: There is no role 'qa'."),
    ('job = "other"', 'jbo = "other"', 2,
     "line 14: The column 'jbo' doesn't exist. Did you mean 'job'?"),
    ('"mdav_plus"', '"mdav_pls"', 2,
     "line 4: The method 'mdav_pls' is not known. Did you mean 'mdav_plus'?"),
    ("k = 4", "k = 0", 2, "line 3: k must be a whole number of 1 or more. Got 0."),
    ("width = 10", "with = 10", 2, "line 18: The kind 'bins' of the hierarchy of 'age' has no"),
    ("width = 10", "width = ten", 2, "line 18, column 32: Invalid value. Correct it; it is no"),
    ("output = ", "outptu = ", 2,
     "line 8: There is no 'outptu' in tables.patients. Did you mean 'output'?"),
    ("[options]", "[optoins]", 2, "line 2: There is no 'optoins'. Did you mean 'options'?"),
    ('"patients.parquet"', '""', 2,
     "line 7: input is empty. Name a file, or a table of a database."),
    ('output = "out.csv"', "", 2, "line 6: The table 'patients' has no output. Add one."),
    ('output = "out.csv"', 'output = 5', 2, "line 8: output must be a string in quotes."),
    ('output = "out.csv"', 'output = ""', 2,
     "line 8: output is empty, or has the character NUL. Write a name."),
    ('output = "out.csv"', 'output = "a\\u0000.csv"', 2,
     "line 8: output is empty, or has the character NUL. Write a name."),
    ("k = 4", "k = 4\ncolumn_weights = { agg = 2 }", 2,
     "line 4: column_weights names the column 'agg', which is not a quasi-identifier."),
    ("age = {", "agee = {", 2,
     "line 18: hierarchies names the column 'agee', which is not a quasi-identifier."),
    ('output = "out.csv"', 'output = "out.csv"\nformat = "cvs"', 2,
     "line 9: The format 'cvs' is not known. Did you mean 'csv'?"),
    ('"patients.parquet"', '"patient.parquet"', 2, "line 6: There is no file 'patient.parquet'."),
    ("k = 4", "k = 61", 4, "line 6: There are 60 rows to anonymize, fewer than k = 61."),
    ("l = { disease = 2 }", "l = { zip = 2 }", 2, "line 34: l names 'zip', which is not a"),
    ("l = { disease = 2 }", 'sensitive = ["job"]', 2,
     "line 34: Roles are given by column, and by the option sensitive. Leave one out."),
    ("l = { disease = 2 }",
     'hierarchies = "suggested"\n[tables.proven.hierarchies]\nage = "bins"', 2,
     "line 34: hierarchies is in the table and in its options. Leave one out."),
    ("width = 10 }", 'width = 10 }\n[tables.patients.options.hierarchies]\nage = "flat"', 2,
     "line 19: hierarchies is in the table and in its options. Leave one out."),
    ('"out.csv"\n\n[tables.patients.roles]',
     '"out.csv"\nroles = "roles.csv"\noptions.roles = "others.csv"\n[tables.none]', 2,
     "line 10: roles is in the table and in its options. Leave one out."),
    ('private = "mine.json"', "manifest = 1", 2, "line 23: manifest must be true or false."),
])
def test_what_is_wrong_is_told_with_its_line(
    old: str, new: str, status: int, said: str, config: Path, shell: Shell
) -> None:
    config.write_text(CONFIG.replace(old, new, 1))
    names = ["proven"] if said.startswith("line 34: l") else []
    assert shell("run", "kanon.toml", *names) == status
    assert shell.err.splitlines()[-1].startswith(f"kanon: kanon.toml, {said}"), shell.err
    assert not Path("out.csv").exists()


def test_what_is_no_file_and_no_table_of_it(config: Path, shell: Shell) -> None:
    assert shell("run", "nowhere.toml") == 2
    assert shell.err == "kanon: There is no file 'nowhere.toml'. Check the path.\n"
    assert shell("run", "kanon.toml", "patient") == 2
    assert shell.err == "kanon: kanon.toml has no table 'patient'. Did you mean 'patients'?\n"
    config.write_text("[options]\nk = 3\n")
    assert shell("run") == 2
    assert "There is no table to release" in shell.err
    config.write_bytes(b"\xff\xfe")
    assert shell("run") == 2
    assert "is not UTF-8 text" in shell.err


@pytest.mark.slow
def test_roles_write_a_file_to_begin_with(config: Path, shell: Shell) -> None:
    assert shell("roles", "patients.parquet", "--toml") == 0
    assert 'name = "identifier"\n' in shell.out
    assert 'zip = "quasi_identifier"\n' in shell.out
    config.write_text(shell.out)
    assert shell("run") == 0
    assert Path("patients_released.parquet").exists()


def test_a_line_is_found_in_any_form_of_toml() -> None:
    text = (
        '# a\n\n[a]\nb = """\nx\n"""\n\n# of c\n"c.d" = [\n  1,\n]\n[[e]]\nf = 1\n[a.g]\nh = 1\n'
    )
    for keys, line in (
        (("a",), 3), (("a", "b"), 4), (("a", "c.d"), 9), (("a", "g"), 14), (("a", "g", "h"), 15),
        (("a", "nothing"), 3), (("nothing",), 1), ((), 1),
    ):
        assert line_of(text, keys) == line


# --- the schema ---------------------------------------------------------------------------------


def test_the_shipped_schema_is_that_of_the_registry(shell: Shell) -> None:
    if os.environ.get("GOLDEN") == "write":
        SHIPPED.write_text(schema.text(), encoding="utf-8")
    assert SHIPPED.read_text(encoding="utf-8") == schema.text()
    assert shell("run", "--schema") == 0
    assert shell.out == schema.text()


def properties(of: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        of = of[name]
    return of


def test_the_schema_knows_every_option_of_a_release_and_no_other() -> None:
    found = properties(schema.schema(), "$defs", "options", "properties")
    assert set(found) == {o.name for o in OPTIONS.values() if "anonymize" in o.calls}
    assert all(option["description"] for option in found.values())


@pytest.mark.slow
def test_what_the_schema_says_is_what_is_read(config: Path, shell: Shell) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from kanon_sql.cli.lines import parse

    jsonschema.Draft202012Validator.check_schema(schema.schema())
    judge = jsonschema.Draft202012Validator(schema.schema())
    assert judge.is_valid(parse(CONFIG))
    for old, new in (
        ("output = ", "outptu = "), ("[options]", "[optoins]"), ("k = 4", 'k = "4"'),
        ("with = 10", "width = 10"), ('output = "out.csv"', "output = 5"),
        ('private = "mine.json"', "manifest = 1"),
    ):
        wrong = CONFIG.replace("width = 10", old, 1) if old == "with = 10" else (
            CONFIG.replace(old, new, 1)
        )
        assert not judge.is_valid(parse(wrong)), old
        config.write_text(wrong)
        assert shell("run") == 2
