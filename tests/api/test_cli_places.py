"""Where the shell reads and writes: files, folders, DuckDB files, pipes."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import duckdb
import pytest

from tests.support.shell import Shell

CALL = ("-k", "4", "-i", "name", "-s", "disease", "-m", "mdav_plus", "--quiet")


def rows(sql: str, database: str = ":memory:") -> list[tuple[object, ...]]:
    with duckdb.connect(database) as con:
        return con.execute(sql).fetchall()


@pytest.fixture
def released(patients: Path, shell: Shell) -> list[tuple[object, ...]]:
    """What every place must hold."""
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "released.parquet") == 0
    found = rows("SELECT age, zip, job, disease FROM 'released.parquet' ORDER BY ALL")
    assert len(found) == 60
    return found


# --- outputs ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "out.parquet", "out.csv", "out.csv.gz", "out.tsv", "out.json", "out.jsonl", "out.ndjson.gz",
])
def test_a_file_by_its_ending(name: str, released: list[object], shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", name) == 0
    assert rows(f"SELECT age, zip, job, disease FROM '{name}' ORDER BY ALL") == released
    if name == "out.csv.gz":
        assert gzip.decompress(Path(name).read_bytes()).startswith(b"age,zip,job,disease\n")
    if name == "out.json":
        assert len(json.loads(Path(name).read_text())) == 60


@pytest.mark.slow
def test_a_format_that_the_ending_does_not_say(released: list[object], shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.data") == 2
    assert "determines no format" in shell.err
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.data", "--format", "csv") == 0
    assert rows("SELECT count(*) FROM read_csv('out.data')") == [(60,)]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_standard_output(form: str, released: list[object], shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "-", "--format", form) == 0
    Path("piped").write_text(shell.out)
    read = {"csv": "read_csv", "ndjson": "read_json"}[form]
    assert rows(f"SELECT age, zip, job, disease FROM {read}('piped') ORDER BY ALL") == released


@pytest.mark.slow
def test_a_folder_by_partition(released: list[object], shell: Shell) -> None:
    call = ("anonymize", "patients.parquet", *CALL, "-o", "parts", "--partition-by", "disease")
    assert shell(*call) == 0
    assert sorted(path.name for path in Path("parts").iterdir()) == [
        "disease=Cold", "disease=Flu", "disease=Hypertension"
    ]
    found = "SELECT age, zip, job, disease FROM 'parts/**/*.parquet' ORDER BY ALL"
    assert rows(found) == released
    assert shell(*call) == 2
    assert shell.err.startswith("kanon: 'parts' already exists.")
    assert shell(*call[:-1], "name") == 2
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "parts", "patients.parquet", "released.parquet"
    ]


@pytest.mark.slow
def test_a_folder_of_blocks(patients: Path, shell: Shell) -> None:
    call = ("anonymize", "patients.parquet", "-k", "4", "-q", "age,zip", "-s", "disease",
            "--others", "drop", "-o", "blocks/")
    assert shell(*call, "--json") == 0
    told = json.loads(shell.out)
    assert told["metrics"]["k"] >= 4
    assert rows("SELECT count(*) FROM 'blocks/*.parquet'") == [(60,)]
    assert shell(*call) == 2
    assert "is not empty. Name another, or say --overwrite." in shell.err
    assert shell(*call, "--overwrite", "--memory", "1GB") == 0
    assert shell("audit", "blocks", "-s", "disease", "-k", "4") == 0
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "x.csv", "--memory", "1GB") == 2


@pytest.mark.slow
def test_a_table_of_a_new_file_of_the_same_and_of_another(
    released: list[object], shell: Shell
) -> None:
    same = "SELECT age, zip, job, disease FROM s.released ORDER BY ALL"
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "new.duckdb::s.released") == 0
    assert rows(same, "new.duckdb") == released
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE patients AS FROM 'patients.parquet'")
    for place in ("our.duckdb::s.released", "our.duckdb::s.released", "new.duckdb::s.released"):
        assert shell("anonymize", "our.duckdb::patients", *CALL, "-o", place) == 0
        assert rows(same, place.partition("::")[0]) == released
    assert shell("anonymize", "our.duckdb::patients", *CALL, "-o", "our.duckdb::patients") == 2
    assert shell.err.startswith("kanon: -o names the relation itself.")
    assert rows("SELECT count(DISTINCT name) FROM patients", "our.duckdb") == [(60,)]


@pytest.mark.slow
def test_what_is_there_stays_where_the_release_is_refused(
    released: list[object], shell: Shell
) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "old.duckdb::released") == 0
    before = {path.name: path.read_bytes() for path in Path.cwd().iterdir()}
    for place in ("released.parquet", "old.duckdb::released", "new.duckdb::released", "parts"):
        more = ["--partition-by", "disease"] if place == "parts" else []
        call = ["anonymize", "patients.parquet", "-k", "61", *CALL[2:], "-o", place, *more]
        assert shell(*call) == 4
        assert {path.name: path.read_bytes() for path in Path.cwd().iterdir()} == before
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "patients.parquet") == 2
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "nowhere/out.csv") == 2
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "s3://bucket/out.csv") == 2


@pytest.mark.slow
def test_no_type_tells_more_values_than_the_release(shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute(
            "CREATE TABLE t AS SELECT i % 2 AS a, ['x', 'y'][1 + i % 2]::ENUM('x', 'y', 'Secret') "
            "AS b, [b] AS c FROM range(20) AS r(i)"
        )
    call = ("anonymize", "our.duckdb::t", "-k", "5", "-s", "b,c", "--quiet")
    for place in ("out.parquet", "out.duckdb::t"):
        assert shell(*call, "-o", place) == 0
        assert b"Secret" not in Path(place.partition("::")[0]).read_bytes()


@pytest.mark.slow
def test_a_type_that_parquet_does_not_keep_is_refused(shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a, i::HUGEINT AS b FROM range(9) AS r(i)")
    call = ("anonymize", "our.duckdb", "-k", "5", "-s", "b", "--quiet")
    assert shell(*call, "-o", "out.parquet") == 4
    assert "The column 'b' has the type HUGEINT" in shell.err
    assert shell(*call, "-o", "out.csv") == 0
    assert not Path("out.parquet").exists()


# --- inputs -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_inputs_of_every_kind_give_the_same(released: list[object], shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE SCHEMA s; CREATE TABLE s.patients AS FROM 'patients.parquet'")
        con.execute("COPY s.patients TO 'p.csv'; COPY s.patients TO 'p.json'")
        con.execute("COPY (FROM s.patients LIMIT 30) TO 'a.csv'")
        con.execute("COPY (FROM s.patients OFFSET 30) TO 'b.csv'")
        con.execute("COPY s.patients TO 'lake' (FORMAT parquet, PARTITION_BY (job))")
    for words in (
        ["p.csv"], ["p.json"], ["a.csv", "b.csv"], ["[ab].csv"], ["lake"], ["lake/**/*.parquet"],
        ["our.duckdb"], ["our.duckdb::s.patients"], ["our.duckdb", "--table", "s.patients"],
        ["s.patients", "--database", "our.duckdb"],
    ):
        assert shell("anonymize", *words, *CALL, "-o", "out.parquet") == 0, words
        found = "SELECT age, zip, job, disease FROM 'out.parquet' ORDER BY ALL"
        assert rows(found) == released, words


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_standard_input(ending: str, released: list[object], shell: Shell) -> None:
    rows(f"COPY (FROM 'patients.parquet') TO 'p.{ending}'")
    stdin = Path(f"p.{ending}").read_bytes()
    assert shell("anonymize", "-", *CALL, "-o", "out.parquet", stdin=stdin) == 0
    assert rows("SELECT age, zip, job, disease FROM 'out.parquet' ORDER BY ALL") == released


@pytest.mark.parametrize(("stdin", "said"), [
    (b"", "Nothing came in on standard input. Pipe a table into it."),
    (b"PAR1 torn", "Standard input can't be read as a table."),
])
def test_standard_input_that_is_no_table(stdin: bytes, said: str, shell: Shell) -> None:
    assert shell("anonymize", "-", "-k", "4", "-o", "out.csv", stdin=stdin) == 4
    assert shell.err.startswith(f"kanon: {said}")


def test_tables_that_are_not_there_are_told_with_the_nearest(shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE patients AS SELECT 1 AS a; CREATE VIEW visits AS FROM patients")
    for words, said in (
        (["our.duckdb"], "'our.duckdb' has 2 tables. Name one, for example as our.duckdb::p"),
        (["our.duckdb::patient"], "'our.duckdb' has no table 'patient'. Did you mean 'patients'?"),
        (["none.duckdb::t"], "There is no file 'none.duckdb'. Check the path."),
        (["our.duckdb::visits", "--table", "t"], "'our.duckdb::visits' names a table, and so does"),
        (["a.csv", "--table", "t"], "--table names a table of a DuckDB file."),
        (["a.csv", "b.csv"], "There is no file 'a.csv'. Check the path."),
    ):
        assert shell("anonymize", *words, "-k", "2", "-o", "out.csv") == 2
        assert shell.err.startswith(f"kanon: {said}"), shell.err


def test_a_database_is_only_read_unless_it_is_written(shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) AS r(i)")
    Path("our.duckdb").chmod(0o444)
    before = Path("our.duckdb").read_bytes()
    assert shell("anonymize", "our.duckdb", "-k", "4", "-o", "out.csv", "--quiet") == 0
    assert Path("our.duckdb").read_bytes() == before


@pytest.mark.slow
def test_no_name_finds_a_variable_of_the_program(shell: Shell) -> None:
    for name in ("source", "read", "typed", "con"):
        assert shell("anonymize", name, "-k", "4", "-o", "out.csv") == 2
        assert "is not a table, view or file here" in shell.err


@pytest.mark.slow
def test_stdin_leaves_no_file(
    released: list[object], shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    stdin = io.BytesIO(Path("patients.parquet").read_bytes()).getvalue()
    assert shell("anonymize", "-", *CALL, "-o", "-", stdin=stdin) == 0
    assert list(temporary.iterdir()) == []


# --- folders, and what people are told -----------------------------------------------------------


@pytest.mark.slow
def test_a_word_that_only_a_folder_can_be(patients: Path, shell: Shell) -> None:
    call = ("anonymize", "patients.parquet", "-k", "4", "-q", "age,zip", "-s", "disease",
            "--others", "drop", "-m", "mdav_plus")
    assert shell(*call, "-o", "out") == 2
    assert "A folder is named with a slash, as out/." in shell.err
    assert shell(*call, "-o", "out", "--memory", "1GB") == 0
    assert shell.out == ""
    assert shell.err.startswith("kanon: 60 rows in 1 file of ")
    assert "classes of 4 or more" in shell.err
    assert "Release(" not in shell.err
    assert Path("out/part-00000.parquet").is_file()
    assert shell(*call, "-o", "out") == 2  # a folder that is there is meant
    assert "say --overwrite" in shell.err
    assert shell(*call, "-o", "out", "--overwrite") == 0
    assert shell(*call, "-o", "out.csv", "--memory", "1GB") == 2
    assert "Name one, such as out/, or leave it out." in shell.err
    assert not Path("out.csv").exists()


@pytest.mark.slow
def test_a_release_is_told_in_words(patients: Path, shell: Shell) -> None:
    call = ("release", "patients.parquet", "-k", "4", "-i", "name", "-s", "disease",
            "-m", "mdav_plus")
    assert shell(*call, "-o", "proven.parquet") == 0
    assert shell.out == ""
    assert shell.err.splitlines()[-1].startswith("kanon: 60 rows in proven.parquet, ")
    assert "'" not in shell.err.splitlines()[-1]
    assert shell(*call, "-o", "proven.csv") == 2
    assert "a release with its manifest is a Parquet file" in shell.err
    assert not Path("proven.csv").exists()
