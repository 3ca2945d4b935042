"""What single commands print: audit, risk, roles, compare, hierarchy, report, sql, and dry runs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.cli.options import read
from kanon_sql.kernel.memory import need_of
from kanon_sql.methods import METHODS
from tests.support.shell import Shell

ROLES = ("-i", "name", "-s", "disease")
CALL = ("-k", "4", *ROLES, "-m", "mdav_plus")


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "value"), [
    ({"sensitive": ("a,b", "c")}, {"sensitive": ["a", "b", "c"]}),
    ({"sensitive": ('"a,b",c',)}, {"sensitive": ["a,b", "c"]}),
    ({"sensitive": ('["a,b", "c"]',)}, {"sensitive": ["a,b", "c"]}),
    ({"column_weights": ("age=2,zip=0.5",)}, {"column_weights": {"age": 2, "zip": 0.5}}),
    ({"column_weights": ("age=2", '{"zip": 1}')}, {"column_weights": {"age": 2, "zip": 1}}),
    ({"hierarchies": ('age={"kind": "bins", "width": 10}', "job=flat")},
     {"hierarchies": {"age": {"kind": "bins", "width": 10}, "job": "flat"}}),
    ({"l": ("2",)}, {"l": 2}),
    ({"l": ("disease=2",)}, {"l": {"disease": 2}}),
    ({"representation": ("interval",)}, {"representation": "interval"}),
    ({"extent": ("lat=[-90, 90]", "lon=[-180,180]")},
     {"extent": {"lat": [-90, 90], "lon": [-180, 180]}}),
    ({"gamma": "best", "k": "5", "entity": "5", "suppress": "0.1"},
     {"gamma": "best", "k": 5, "entity": "5", "suppress": 0.1}),
    ({"class_id": False, "sensitive": (), "k": None}, {"class_id": False}),
])
def test_options_are_read_as_they_are_typed(typed: dict[str, Any], value: dict[str, Any]) -> None:
    assert read(typed) == value


@pytest.mark.parametrize("typed", [
    {"l": ("2", "disease=2")}, {"l": ("2", "3")}, {"column_weights": ("age=2,zip",)},
    {"column_weights": ("{age",)}, {"sensitive": ("[age",)},
])
def test_what_can_be_read_in_two_ways_is_refused(typed: dict[str, Any]) -> None:
    with pytest.raises(kanon_sql.OptionError):
        read(typed)


# --- audit, risk, roles -------------------------------------------------------------------------


@pytest.mark.slow
def test_an_audit_ends_with_one_where_less_is_kept(patients: Path, shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.parquet", "--quiet") == 0
    assert shell.out == ""  # what is said of the columns is no message about the output
    assert all("'zip' is treated as a number" in line for line in shell.err.splitlines())
    assert shell("audit", "out.parquet", "-s", "disease") == 0
    assert shell("audit", "out.parquet", "-s", "disease", "-k", "4", "--json") == 0
    (told,) = json.loads(shell.out)
    assert (told["rows"], told["rows_below_k"]) == (60, 0)
    assert told["k"] >= 4
    assert shell("audit", "patients.parquet", *ROLES, "-k", "4", "--json") == 1
    assert json.loads(shell.out)[0]["rows_below_k"] > 0
    assert shell("audit", "out.parquet", "-s", "disease", "-k", "4", "--l", "50") == 1


@pytest.mark.slow
def test_an_audit_of_a_release_beside_its_source(patients: Path, shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.parquet", "--quiet") == 0
    beside = ("audit", "patients.parquet", *ROLES, "--release", "out.parquet")
    assert shell(*beside, "-k", "4", "--json") == 0
    told = {row["metric"]: row["value"] for row in json.loads(shell.out)}
    assert told["rows_below_k"] == 0
    assert 0 < told["prosecutor_risk_max"] <= 0.25
    assert shell(*beside, "-k", "30") == 1
    assert "rows_below_k" in shell.out


@pytest.mark.slow
def test_risk_as_table_and_as_json(patients: Path, shell: Shell) -> None:
    assert shell("risk", "patients.parquet", *ROLES) == 0
    assert "prosecutor_risk_max" in shell.out
    assert shell("risk", "patients.parquet", *ROLES, "--json") == 0
    told = {row["metric"]: row["value"] for row in json.loads(shell.out)}
    assert told["rows"] == 60


@pytest.mark.slow
def test_roles_are_shown_with_what_is_said_of_columns(patients: Path, shell: Shell) -> None:
    assert shell("roles", "patients.parquet") == 0
    (line,) = [line for line in shell.out.splitlines() if line.startswith("  name ")]
    assert line.split()[3] == "identifier"
    assert "  name: " in shell.out
    assert shell("roles", "patients.parquet", "--json") == 0
    assert [each["column_name"] for each in json.loads(shell.out)] == [
        "name", "age", "zip", "job", "disease"
    ]


# --- compare ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_methods_beside_each_other(patients: Path, shell: Shell) -> None:
    call = ("compare", "patients.parquet", *ROLES, "-k", "3,6", "-m", "mdav_plus,optimal_1d")
    assert shell(*call, "--json") == 0
    told = json.loads(shell.out)
    assert [(one["method"], one["k_requested"]) for one in told] == [
        ("mdav_plus", 3), ("optimal_1d", 3), ("mdav_plus", 6), ("optimal_1d", 6)
    ]
    small, refused, large, _ = told
    assert 0 < small["information_loss"] < large["information_loss"]
    assert small["prosecutor_risk_max"] <= 1 / 3
    assert small["seconds"] > 0
    assert refused["information_loss"] is None
    assert refused["refused"] in shell.err
    assert shell("anonymize_metrics") == 2
    assert shell(*call[:-1], "optimal_1d") == 2
    assert shell.out == ""
    assert shell(*call) == 0
    assert len(shell.out.splitlines()) == 4


def test_what_compare_can_not_be_asked(patients: Path, shell: Shell) -> None:
    call = ("compare", "patients.parquet", *ROLES)
    for more, said in (
        (("-k", "3,x"), "k must be a whole number of 1 or more. Got 'x'."),
        (("-m", "mdva"), "The method 'mdva' is not known. Did you mean 'mdav'?"),
        (("--plot", "a.gif"), "A plot can't be written to 'a.gif'. End it in svg, png, pdf."),
        (("--plot", "nowhere/a.svg"), "There is no folder for 'nowhere/a.svg'. Make it first."),
    ):
        assert shell(*call, *more) == 2
        assert shell.err == f"kanon: {said}\n"
    assert set(METHODS) > {"mdav_star", "mondrian"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_plot_is_the_same_for_the_same_numbers(
    ending: str, patients: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.api.comparison.perf_counter", lambda: 1.0)
    begins = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    for name in ("a", "b"):
        assert shell("compare", "patients.parquet", *ROLES, "-k", "3,6", "-m", "mdav_plus",
                     "--plot", f"{name}.{ending}") == 0
        assert Path(f"{name}.{ending}").read_bytes().startswith(begins)
    if ending == "png":
        assert Path("a.png").read_bytes() == Path("b.png").read_bytes()


def test_a_plot_without_its_library_is_one_sentence(
    patients: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "kanon_sql.cli.commands.compare.find_spec",
        lambda name: None if name == "matplotlib" else found(name),
    )
    assert shell("compare", "patients.parquet", *ROLES, "--plot", "a.svg") == 2
    assert shell.err == (
        "kanon: A plot needs matplotlib, which is not installed. Install it by "
        "pip install 'kanon-sql[plots]'.\n"
    )


# --- hierarchy, report, dry runs ----------------------------------------------------------------


@pytest.mark.slow
def test_levels_are_printed_or_written_and_then_used(patients: Path, shell: Shell) -> None:
    assert shell("hierarchy", "patients.parquet", "age", "bins", "--width", "10", "--json") == 0
    assert {"level0", "level1"} <= set(json.loads(shell.out)[0])
    assert shell("hierarchy", "patients.parquet", "zip", "prefix") == 0
    assert "more; -o writes them all" in shell.out
    assert shell("hierarchy", "patients.parquet", "age", "bins", "-o", "ages.csv") == 0
    assert shell.err == "kanon: the levels of 'age' are in ages.csv\n"
    assert shell("anonymize", "patients.parquet", *CALL, "--hierarchies", "age=ages.csv",
                 "-o", "out.csv", "--quiet") == 0
    for call, said in (
        (("age", "bin"), "The kind 'bin' of the hierarchy of 'age' is not known."),
        (("agee", "bins"), "The column 'agee' doesn't exist. Did you mean 'age'?"),
        (("age", "bins", "--mask", "x"), "The kind 'bins' of the hierarchy of 'age' has no option"),
    ):
        assert shell("hierarchy", "patients.parquet", *call) == 2
        assert shell.err.startswith(f"kanon: {said}")


@pytest.mark.slow
def test_a_report_has_what_was_asked_for(patients: Path, shell: Shell) -> None:
    assert shell("report", "patients.parquet", *CALL, "-o", "out.html", "--title", "Ours",
                 "--compare", "mondrian", "--query", "how many", "SELECT count(*) FROM {table}",
                 "-q", "age,zip", "--others", "drop", "--json") == 0
    assert Path(json.loads(shell.out)["output"]) == Path.cwd() / "out.html"
    page = Path("out.html").read_text(encoding="utf-8")
    assert "Ours" in page and "how many" in page and "mondrian" in page
    assert shell("report", "patients.parquet", *CALL) == 2
    assert shell.err == "kanon: -o is not given. Name the HTML file to write.\n"


@pytest.mark.slow
def test_a_dry_run_shows_and_writes_nothing(patients: Path, shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "--dry-run") == 0
    assert "  name         VARCHAR      identifier        dropped" in shell.out
    assert "WITH __kanon_unshadowed" in shell.out
    assert shell("anonymize", "patients.parquet", *CALL, "--dry-run", "--json") == 0
    told = json.loads(shell.out)
    assert set(told) == {"roles", "memory", "sql"}
    assert told["memory"]["rows"] == 60
    assert told["memory"]["needed"] == need_of(60, 3)
    other = ("-k", "4", *ROLES, "-m", "R_Gather")
    assert shell("anonymize", "patients.parquet", *other, "--dry-run", "--json") == 0
    more = METHODS["r_gather"].memory
    assert json.loads(shell.out)["memory"]["needed"] == need_of(60, 3, more) > need_of(60, 3)
    assert [path.name for path in Path.cwd().iterdir()] == ["patients.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize(("free", "said"), [
    (2_000_000_000, "-- 60 rows: about 0.4 GB of memory, 2.0 GB are available\n"),
    (300_000_000, "0.3 GB are available: name a folder, -o out/, which takes blocks\n"),
    (None, "-- 60 rows: about 0.4 GB of memory\n"),
])
def test_a_dry_run_tells_the_memory(
    free: int | None, said: str, patients: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.cli.dry.available", lambda: free)
    assert shell("anonymize", "patients.parquet", *CALL, "--dry-run") == 0
    assert said in shell.out


@pytest.mark.slow
def test_what_was_written_is_told_to_machines(patients: Path, shell: Shell) -> None:
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.csv", "--json") == 0
    told = json.loads(shell.out)
    assert told["output"] == "out.csv"
    assert told["metrics"]["rows_released"] == 60
    assert told["metrics"]["k"] >= 4
    assert told["seconds"] > 0


# --- sql ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_query_of_a_call_gives_its_release(patients: Path, shell: Shell) -> None:
    assert shell("sql", "patients.parquet", *CALL) == 0
    query = shell.out
    assert shell("anonymize", "patients.parquet", *CALL, "-o", "out.parquet", "--quiet") == 0
    with duckdb.connect() as con:
        kanon_sql.register(con)
        assert con.execute(query).fetchall() == con.execute("FROM 'out.parquet'").fetchall()


@pytest.mark.slow
def test_sql_from_a_file_the_command_line_and_a_pipe(patients: Path, shell: Shell) -> None:
    text = "CREATE TABLE t AS FROM 'patients.parquet';\nSELECT k FROM k_anonymity('t');\n"
    Path("q.sql").write_text(text)
    for arguments, stdin in ((["q.sql"], None), (["-"], text), (["-c", text], None), ([], text)):
        given = None if stdin is None else stdin.encode()
        assert shell("sql", *arguments, stdin=given) == 0
        assert shell.out.split() == ["k", "-", "1"]
    assert shell("sql", "-c", text, "--json") == 0
    assert json.loads(shell.out) == [{"k": 1}]


def test_sql_on_a_database_is_kept(shell: Shell) -> None:
    duckdb.connect("our.duckdb").close()
    assert shell("sql", "--database", "our.duckdb", "-c", "CREATE TABLE t AS SELECT 5 AS a") == 0
    assert shell("sql", "--database", "our.duckdb", "-c", "FROM t", "--json") == 0
    assert json.loads(shell.out) == [{"a": 5}]
    assert shell("sql", "--database", "nowhere.duckdb", "-c", "SELECT 1") == 2
    assert not Path("nowhere.duckdb").exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("text", "status", "said"), [
    ("FROM anonymize('t', k=3, methd='x')", 2, "anonymize has no option 'methd'. Did you mean"),
    ("FROM anonymize('t', k=30)", 4, "There are 9 rows to anonymize, fewer than k = 30."),
    ("SELEC 1", 2, 'syntax error at or near "SELEC"'),
    ("FROM nowhere", 2, "Table with name nowhere does not exist!"),
    ("SELECT (a || 'x')::INTEGER FROM t", 4, "DuckDB can't run this on the data"),
])
def test_what_sql_refuses_is_one_sentence(
    text: str, status: int, said: str, shell: Shell
) -> None:
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT i % 2 AS a FROM range(9) AS r(i)")
    assert shell("sql", "--database", "our.duckdb", "-c", text) == status
    assert shell.err.startswith(f"kanon: {said}"), shell.err
    assert shell.err.count("\n") == 1
    assert shell("sql", "our.sql") == 2
    assert shell("sql", "-k", "3") == 2


# --- release ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ledger_in_a_database(patients: Path, shell: Shell) -> None:
    call = ("release", "patients", "--database", "our.duckdb", "-k", "4", "-q", "age,zip",
            "--entity", "name",
            "-s", "disease,job", "--ledger", "crowds", "--headroom", "auto")
    with duckdb.connect("our.duckdb") as con:
        con.execute("CREATE TABLE patients AS FROM 'patients.parquet'")
    for name in ("first.parquet", "second.parquet"):
        assert shell(*call, "-o", name, "--json") == 0, shell.err
        assert json.loads(shell.out)["rows"] == 60
    with duckdb.connect("our.duckdb") as con:
        found = con.execute("SELECT release, count(*) FROM crowds GROUP BY ALL ORDER BY ALL")
        assert found.fetchall() == [(1, 60), (2, 60)]
    assert shell("release", "patients.parquet", "-o", "x.parquet", "-k", "4", "--ledger", "c") == 2
    assert shell.err == "kanon: ledger names a table, and no DuckDB file is open. Add --database.\n"


@pytest.mark.parametrize(("typed", "said"), [
    (["-c", "FROM anonymize('t', k := 5, others='drop')"],
     "An option with = stands after one with := or =>, which DuckDB refuses. Write those with = "
     "first, or all of them in one way."),
    (["-c", "FROM anonymize('t', kk := 5)"],
     "anonymize has no option of a name that is given by := or =>. Write it with =, as k=5, to be "
     "told the nearest name."),
    (["FROM anonymize('t', k=5)"],
     "SQL is given as IN. Put -c before it, as in kanon sql -c 'SELECT 1'."),
    (["-c", "FROM hierarchy('t', 'zip', 'prefix')"],
     "An argument after the relation is not of the form name=value. Give each option by its name, "
     "for example kind='prefix'."),
])
def test_sql_that_duckdb_refuses_before_the_call_is_told_in_our_words(
    typed: list[str], said: str, shell: Shell
) -> None:
    assert shell("sql", *typed) == 2
    assert shell.err == f"kanon: {said}\n"
