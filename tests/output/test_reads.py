"""Nothing that a call reads is written over, by whatever name it is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.dataset as pads
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from kanon_sql.output.reads import Reads, matches
from tests.support.shell import Shell

CALL: dict[str, Any] = {
    "k": 4, "identifiers": ["name"], "sensitive": ["disease"], "method": "mdav_plus"
}
TYPED = ("-k", "4", "-i", "name", "-s", "disease", "-m", "mdav_plus", "--quiet")


@pytest.fixture
def lake(con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The patients in two files of a lake, in a folder of its own; they lie there in the end as
    they did before."""
    monkeypatch.chdir(tmp_path)
    for name in ("lake/a.parquet", "lake/day=1/b.parquet"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        con.sql("FROM patients").write_parquet(name)
    con.sql("SELECT DISTINCT job AS a, 'all' AS b FROM patients").write_csv("jobs.csv")
    os.link("lake/a.parquet", "linked.parquet")
    Path("symbolic.parquet").symlink_to("lake/a.parquet")
    return Path("lake")


def state() -> dict[str, str]:
    return {
        str(path): sha256(path.read_bytes()).hexdigest()
        for path in Path().rglob("*") if path.is_file()
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize(("source", "to"), [
    ("lake/*.parquet", "lake/a.parquet"),
    ("lake/**/*.parquet", "lake/day=1/b.parquet"),
    (["lake/a.parquet", "lake/day=1/b.parquet"], "lake/a.parquet"),
    ("lake/a.parquet", "linked.parquet"),
    ("lake/a.parquet", "symbolic.parquet"),
    ("lake/*.parquet", "symbolic.parquet"),
    ("lake/*.parquet", "lake/new.parquet"),
])
def test_a_file_that_a_pattern_finds(lake: Path, source: Any, to: str) -> None:
    before = state()
    with pytest.raises(OptionError, match=r"^to names"):
        kanon_sql.release(source, to=to, **CALL)
    assert state() == before


@pytest.mark.sample(2)
@pytest.mark.parametrize("view", [
    "FROM 'lake/*.parquet'",
    "FROM read_parquet(['lake/a.parquet'])",
    "FROM inner_view",
    "FROM of_lake('a.parquet')",
    "SELECT * FROM read_parquet(getvariable('place'))",
    "WITH w AS (FROM 'lake/a.parquet') FROM w WHERE age > (SELECT min(age) FROM w) - 1",
])
def test_a_file_that_a_view_reads(
    con: duckdb.DuckDBPyConnection, lake: Path, view: str
) -> None:
    con.execute("CREATE VIEW inner_view AS FROM 'lake/a.parquet'")
    con.execute("CREATE MACRO of_lake(f) AS TABLE FROM read_parquet('lake/' || f)")
    con.execute("SET VARIABLE place = 'lake/a.parquet'")
    con.execute(f"CREATE VIEW shown AS {view}")
    before = state()
    with pytest.raises(OptionError, match="among the files that are read"):
        kanon_sql.release("shown", con=con, to="lake/a.parquet", **CALL)
    assert state() == before


WORKED_OUT = (
    "FROM read_parquet('lake/a.par'||'quet')",
    "FROM query('FROM read_parquet(''lake/a.par'' || ''quet'')')",
    "FROM query('FROM ''lake/a.par' || 'quet''')",
    "FROM query('FROM ''lake/a.parquet''')",
    "FROM query_table('lake/a.par' || 'quet')",
    "FROM read_parquet(list_transform(['a'], lambda x: 'lake/' || x || '.parquet'))",
    "SELECT * FROM patients WHERE age > (SELECT count(*) FROM read_text('lake/a.par' || 'quet'))",
    "FROM of_letter('a')",
    "SELECT * FROM patients WHERE age > count_of('lake/a')",
)


@pytest.mark.sample(2)
@pytest.mark.parametrize("view", WORKED_OUT)
def test_a_file_whose_name_a_view_works_out(
    con: duckdb.DuckDBPyConnection, lake: Path, view: str
) -> None:
    con.execute("CREATE MACRO of_letter(f) AS TABLE FROM read_parquet('lake/' || f || '.parquet')")
    con.execute("CREATE MACRO count_of(f) AS (SELECT count(*) FROM read_text(f || '.parquet'))")
    con.execute(f"CREATE VIEW shown AS {view}")
    before = state()
    with pytest.raises(OptionError, match=r"^to names '.*/lake/a.parquet', which (exists|is)"):
        kanon_sql.release("shown", con=con, to="lake/a.parquet", **CALL)
    assert state() == before
    kanon_sql.release(
        "shown", con=con, to="lake/new.parquet", quasi_identifiers=["age", "zip", "job"], **CALL
    )


@pytest.mark.slow
@pytest.mark.parametrize("view", [
    "FROM read_parquet(['lake/a.parquet'], hive_partitioning := true)",
    "SELECT * FROM query_table('patients') WHERE age > (SELECT max(range) FROM range(1 + 1))",
    "FROM query('FROM patients')",
])
def test_a_file_that_is_not_read_may_be_written_over(
    con: duckdb.DuckDBPyConnection, lake: Path, view: str
) -> None:
    con.execute(f"CREATE VIEW shown AS {view}")
    Path("old.parquet").write_text("what was here")
    kanon_sql.release(
        "shown", con=con, to="old.parquet", quasi_identifiers=["age", "zip", "job"], **CALL
    )
    assert Path("old.parquet").read_bytes().startswith(b"PAR1")


def test_one_of_many_files_that_polars_reads_later(lake: Path) -> None:
    before = state()
    many = ["lake/day=1/b.parquet", "linked.parquet", "lake/a.parquet", "symbolic.parquet"]
    for files in (many, "lake/**/*.parquet"):
        with pytest.raises(OptionError, match=r"^to names .* among the files"):
            kanon_sql.release(pl.scan_parquet(files), to="lake/a.parquet", **CALL)
    changed = pl.scan_parquet(many).map_batches(lambda frame: frame)
    with pytest.raises(OptionError, match=r"^to names .* (among the files|may read it)"):
        kanon_sql.release(changed, to="lake/a.parquet", **CALL)
    assert state() == before


def test_tables_and_folders_that_a_view_may_read(lake: Path, shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as own:
        own.execute("CREATE TABLE people AS FROM 'lake/a.parquet'")
        own.execute("CREATE VIEW shown AS FROM query('FROM peo' || 'ple')")
        Path("parts").mkdir()
        Path("lake/day=1").rename("parts/disease=Flu")
        own.execute("CREATE VIEW worked AS FROM read_parquet('parts/disease=' || 'Flu/b.parquet')")
    before = state()
    assert shell("anonymize", "our.duckdb::shown", *TYPED, "-o", "our.duckdb::people") == 2
    assert "an existing table, and the relation may read it" in shell.err
    parted = ("-q", "age,zip,job", "--partition-by", "disease", "--overwrite")
    assert shell("anonymize", "our.duckdb::worked", *TYPED, "-o", "parts", *parted) == 2
    assert "the relation may read it" in shell.err
    assert state() == before


@pytest.mark.sample(2)
@pytest.mark.parametrize("frame", [
    lambda: pl.scan_parquet("lake/*.parquet").filter(pl.col("age") > 3),
    lambda: pads.dataset("lake/a.parquet"),
    lambda: duckdb.sql("FROM 'lake/a.parquet'").filter("age > 3"),
    lambda: duckdb.sql("FROM read_parquet(concat('lake/a.par', 'quet'))").filter("age > 3"),
], ids=["polars", "pyarrow", "duckdb", "computed"])
def test_a_file_that_a_frame_reads_later(lake: Path, frame: Callable[[], Any]) -> None:
    before = state()
    with pytest.raises(OptionError, match=r"^to names"):
        kanon_sql.release(frame(), to="lake/a.parquet", **CALL)
    assert state() == before


def test_a_file_that_an_option_names(lake: Path) -> None:
    call = {**CALL, "hierarchies": {"job": "jobs.csv"}, "method": "full_domain"}
    before = state()
    with pytest.raises(OptionError, match=r"^private names .* among the files"):
        Path("jobs.json").symlink_to("jobs.csv")
        kanon_sql.release("lake/a.parquet", to="out.parquet", private="jobs.json", **call)
    Path("jobs.json").unlink()
    assert state() == before


def test_a_database_that_is_open(tmp_path: Path) -> None:
    path = tmp_path / "our.parquet"  # whatever it is called
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT i % 5 AS a, i % 2 AS b FROM range(40) r(i)")
        con.execute("CHECKPOINT")
        with pytest.raises(OptionError, match="a DuckDB file that is open"):
            kanon_sql.release("t", con=con, to=path, k=4, others="release",
                              quasi_identifiers=["a"])


@pytest.mark.slow
@pytest.mark.parametrize("to", [
    "lake/a.parquet", "lake/new.parquet", "linked.parquet",
])
def test_the_shell(lake: Path, shell: Shell, to: str) -> None:
    before = state()
    assert shell("anonymize", "lake/", *TYPED, "-o", to) == 2
    assert shell.err.startswith("kanon: -o names ")
    assert state() == before


def test_folders(lake: Path, shell: Shell) -> None:
    before = state()
    parts = ("--partition-by", "disease", "--overwrite")
    assert shell("anonymize", "lake/**/*.parquet", *TYPED, "-o", "lake/out", *parts) == 2
    assert "The pattern 'lake/**/*.parquet' would read what is written" in shell.err
    assert shell("anonymize", "lake/day=1/b.parquet", *TYPED, "-o", "lake/day=1/") == 2
    assert shell("anonymize", "lake/day=1/b.parquet", *TYPED, "-o", "lake/day=1/",
                 "--overwrite", "-q", "age,zip", "--others", "drop") == 2
    assert "is among the files that are read, and lies where" in shell.err
    assert state() == before


@pytest.mark.slow
def test_a_table_that_a_view_reads(lake: Path, shell: Shell) -> None:
    with duckdb.connect("our.duckdb") as own:
        own.execute("CREATE TABLE people AS FROM 'lake/a.parquet'")
        own.execute("CREATE VIEW shown AS FROM people")
    assert shell("anonymize", "our.duckdb::shown", *TYPED, "-o", "our.duckdb::people") == 2
    assert "a table that is read" in shell.err
    assert shell("anonymize", "our.duckdb::shown", *TYPED, "-o", "our.duckdb::released") == 0
    assert shell("anonymize", "our.duckdb::shown", *TYPED, "-o", "our.duckdb::released") == 0


@pytest.mark.slow
def test_what_is_not_read_may_be_written(con: duckdb.DuckDBPyConnection, lake: Path) -> None:
    con.execute("CREATE VIEW shown AS SELECT * FROM 'lake/a.parquet' WHERE name <> 'out.parquet'")
    for source in ("shown", "lake/*.parquet"):
        kanon_sql.release(source, con=con, to="out.parquet", **CALL)
        if source == "shown":
            Path("out.parquet").unlink()


@pytest.mark.sample(8)
@pytest.mark.parametrize(("pattern", "path", "found"), [
    ("/a/*.parquet", "/a/b.parquet", True),
    ("/a/*.parquet", "/a/c/b.parquet", False),
    ("/a/**/*.parquet", "/a/b.parquet", True),
    ("/a/**/*.parquet", "/a/c/d/b.parquet", True),
    ("/a/**", "/a/c/d/b.parquet", True),
    ("/a/b[0-9].csv", "/a/b1.csv", True),
    ("/a/b?.csv", "/a/b.csv", False),
    ("/b/*", "/a/b.csv", False),
])
def test_a_pattern_as_duckdb_reads_it(pattern: str, path: str, found: bool) -> None:
    assert matches(pattern, Path(path)) == found


def test_a_file_by_its_address(lake: Path) -> None:
    with duckdb.connect() as con:
        reads = Reads(con, f"\"file://{Path.cwd()}/lake/*.parquet\"")
        assert reads.has(Path("lake/a.parquet").resolve())
        assert not reads.has(Path("lake/day=1/b.parquet").resolve())
