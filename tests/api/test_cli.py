"""The shell itself: its commands, help, completion, statuses and refusals; and kanon demo."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.help import HEADINGS, OWN, PLACES, TOPIC_OF
from kanon_sql.cli.main import COMMANDS, STATUSES, kanon, main
from kanon_sql.cli.typed import as_typed
from kanon_sql.measure.brief import FIRST
from tests.support.shell import Shell

COMMANDS_OF_CALLS = {
    "anonymize": {"anonymize"}, "audit": {"k_anonymity", "anonymize_audit"},
    "risk": {"anonymize_risk"}, "roles": {"anonymize_roles"}, "release": {"anonymize"},
    "report": {"anonymize"}, "sql": {"anonymize"}, "compare": {"anonymize_metrics"},
}
LESS = {"compare": {"max_risk", "detail"}}
"""Options that stand for a k, where there are several."""


def command_of(name: str) -> click.Command:
    found = kanon.get_command(click.Context(kanon), name)
    assert found is not None
    return found


# --- help and completion ------------------------------------------------------------------------


def test_help_names_every_command_and_status(shell: Shell) -> None:
    assert shell("--help") == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", shell.out, re.M)
    for status in STATUSES:
        assert re.search(rf"^  {status} ", shell.out, re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps(name: str, shell: Shell) -> None:
    assert shell(name, "--help") == 0
    assert shell.out.startswith(f"Usage: kanon {name} ")


@pytest.mark.parametrize("name", COMMANDS_OF_CALLS)
def test_a_command_has_every_option_of_its_calls(name: str) -> None:
    expected = {
        option.name for option in OPTIONS.values()
        if COMMANDS_OF_CALLS[name].intersection(option.calls)
    }
    has = {param.name for param in command_of(name).params}
    has |= {"k", "method"} if name == "compare" else set()
    assert expected - has == LESS.get(name, set())


def test_an_option_is_known_by_both_spellings_and_told_by_one(shell: Shell) -> None:
    assert shell("anonymize", "--help") == 0
    assert "--quasi-identifiers" in shell.out
    assert "--quasi_identifiers" not in shell.out
    assert "--sensitive" in shell.out
    assert "--class-id" not in shell.out
    assert shell("anonymize", "--help-all") == 0
    assert "--class-id / --no-class-id" in shell.out
    assert "--quasi_identifiers" not in shell.out


ASKED = ["Which columns", "How safe", "How it looks", "Where from and where to",
         "How rows are grouped"]
"""What a user asks, in this order."""


@pytest.mark.parametrize("name", COMMANDS_OF_CALLS)
def test_the_help_has_the_common_options_in_the_order_in_which_a_user_asks(
    name: str, shell: Shell
) -> None:
    assert shell(name, "--help") == 0
    brief = re.findall(r"^  (?:-\w, )?--([\w-]+)", shell.out, re.M)
    headings = re.findall(r"^(\S.*):$", shell.out, re.M)
    assert [each for each in headings if each in ASKED] == [e for e in ASKED if e in headings]
    assert headings[:2] == ASKED[:2] and headings[-1] == "Other options"
    more = re.search(rf"There are (\d+) more options: kanon {name} --help-all", shell.out)
    assert len(brief) <= 30 and max(map(len, shell.out.splitlines())) <= 100
    assert shell(name, "--help-all") == 0
    every = re.findall(r"^  (?:-\w, )?--([\w-]+)", shell.out, re.M)
    assert more and set(brief) < set(every) and len(every) == len(brief) + int(more[1])
    known = {param.name for param in command_of(name).params if isinstance(param, click.Option)}
    assert len(every) == len(known) + len({"help", "help-all"})


def test_every_heading_of_the_help_is_used_and_every_group_has_one() -> None:
    assert {TOPIC_OF[option] for option in OPTIONS} == set(HEADINGS) - {OWN, PLACES}


def test_a_command_with_few_options_lists_them_all(shell: Shell) -> None:
    for name in ("demo", "verify", "hierarchy"):
        assert shell(name, "--help") == 0
        assert re.findall(r"^(Options|\w+ options|How.*):$", shell.out, re.M) == ["Options"]
        assert shell(name, "--help-all") == 2


@pytest.mark.parametrize(("words", "wanted"), [
    ("kanon co", "compare"),
    ("kanon anonymize --quasi-", "--quasi-identifiers"),
    ("kanon anonymize --method mond", "mondrian"),
    ("kanon anonymize --representation cen", "centroid"),
    ("kanon compile mdav_s", "mdav_star"),
    ("kanon completion f", "fish"),
])
def test_words_are_completed(
    words: str, wanted: str, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_KANON_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    shell()
    assert f"plain,{wanted}" in shell.out.splitlines()


def test_the_script_of_a_shell_asks_kanon(shell: Shell) -> None:
    for name in ("bash", "zsh", "fish"):
        assert shell("completion", name) == 0
        assert "_KANON_COMPLETE" in shell.out


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize(("arguments", "said"), [
    (["anonymise"], "kanon has no command 'anonymise'. Did you mean 'anonymize'?"),
    (["anonymize", "a.csv", "--kk", "5"], "There is no option --kk. Did you mean --k?"),
    (["anonymize", "a.csv", "-l", "3"], "There is no option -l. Did you mean --l 3?"),
    (["anonymize", "-l", "-k", "5"], "There is no option -l. Did you mean --l?"),
    (["anonymize", "a.csv", "--qi", "age"],
     "There is no option --qi. Did you mean --quasi-identifiers?"),
    (["anonymize", "a.csv", "--quasi-identifers", "x"],
     "There is no option --quasi-identifers. Did you mean --quasi-identifiers?"),
    (["anonymize", "a.csv", "-o"], "Option '-o' requires an argument. See kanon anonymize --help."),
    (["anonymize", "-k", "5"],
     "IN is not given. Name a file, or a table as db.duckdb::table."),
    *(([*words, ""], "IN is empty. Name a file, or a table as db.duckdb::table.") for words in (
        ["roles"], ["risk"], ["audit"], ["compare"], ["anonymize", "-o", "x.csv", "-k", "5"],
        ["report", "-o", "x.html", "-k", "5"], ["release", "-o", "x.parquet", "-k", "5"],
        ["sql", "-k", "5"],
        ["roles", "patients.parquet"],
    )),
    (["hierarchy", "", "age", "bins"],
     "IN is empty. Name a file, or a table as db.duckdb::table."),
    (["anonymize", "patients.parquet", "-k", "5", "-o", ""],
     "-o is empty. Name the file to write, or - for standard output."),
    *(([*words], "IN is not given. Name a file, or a table as db.duckdb::table.") for words in (
        ["roles"], ["risk"], ["audit"], ["audit", "--release", "patients.parquet"], ["compare"],
        ["report", "-o", "x.html", "-k", "5"],
    )),
    (["anonymize", "patients.parquet", "-k", "5"],
     "-o is not given. Name the file to write, or - for standard output."),
    (["anonymize", "patients.parquet", "-k", "5", "-m", "mdva", "-o", "x.csv"],
     "The method 'mdva' is not known. Did you mean 'mdav'?"),
    (["anonymize", "patients.parquet", "-k", "five", "-o", "x.csv"],
     "k must be a whole number of 1 or more. Got 'five'."),
    (["anonymize", "patients.parquet", "-k", "5", "-s", "flu", "-o", "x.csv"],
     "sensitive names the column 'flu', which doesn't exist. There are: age, disease, job, name, "
     "zip."),
    (["anonymize", "patients.parquet", "-k", "5", "-q", "age", "-o", "x.csv"],
     "4 columns have no role: 'name', 'zip', 'job', 'disease'. Name each in --sensitive ..., "
     "--identifiers ... or --quasi-identifiers ..., or say --others drop, --others release or "
     "--others quasi_identifier."),
    (["anonymize", "patients.parquet", "-k", "5", "--column-weights", "age", "-o", "x.csv"],
     "column_weights must map column names to numbers from 0 to 1e+09, such as age=2. Got 'age'."),
    (["anonymize", "patients.parquet", "-k", "5", "--hierarchies", "prefix", "-o", "x.csv"],
     "hierarchies must be 'suggested', or map column names to a table of levels or to a kind, such "
     "as zip=zip_levels,age=bins. Got 'prefix'."),
    (["anonymize", "patients.parquet", "-k", "5", "--column-weights", "age=2,zip", "-o", "x.csv"],
     "column_weights is given 'zip' without a value. Write column=value, or as JSON in quotes of "
     "the shell."),
    (["anonymize", "patients.parquet", "-k", "5", "--hierarchies", "age={bins", "-o", "x.csv"],
     "The value of hierarchies is not JSON. Write it as column=value, or as JSON in quotes of the "
     "shell."),
    (["anonymize", "patients.parquet", "-k", "5", "-q", "age", "--within", "", "-o", "x.csv"],
     "within is given and empty. Name what it is to be, or leave it out."),
    (["audit", "patients.parquet", "-q", "age", "--within", ""],
     "within is given and empty. Name what it is to be, or leave it out."),
    (["anonymize", "nowhere.parquet", "-k", "5", "-o", "x.csv"],
     "There is no file 'nowhere.parquet'. Check the path."),
    (["demo", "--method", "mdva"], "The method 'mdva' is not known. Did you mean 'mdav'?"),
])
def test_what_can_not_be_used_is_one_sentence(
    arguments: list[str], said: str, patients: Path, shell: Shell
) -> None:
    before = sorted(Path.cwd().iterdir())
    assert shell(*arguments) == 2
    assert (shell.out, shell.err) == ("", f"kanon: {said}\n")
    assert sorted(Path.cwd().iterdir()) == before


@pytest.mark.slow
def test_data_that_can_not_be_anonymized_is_another_status(patients: Path, shell: Shell) -> None:
    call = ["anonymize", "patients.parquet", "-k", "61", "-o", "x.csv", "-i", "name"]
    assert shell(*call) == 4
    # what is withheld is said before, since of 60 rows no text is common
    assert shell.err.splitlines()[-1] == (
        "kanon: There are 60 rows to anonymize, fewer than k = 61. Lower k, or release nothing."
    )
    assert shell(*call, "--json") == 4
    assert json.loads(shell.err.splitlines()[-1]) == {
        "status": 4, "error": "DataError",
        "message": "There are 60 rows to anonymize, fewer than k = 61. Lower k, or release nothing."
    }
    assert not Path("x.csv").exists()


def test_a_value_of_the_data_is_in_no_message(tmp_path: Path, shell: Shell) -> None:
    Path("torn.csv").write_text("age,name\n" + "1,a\n" * 30000 + "Wonderland,b\n")
    assert shell("anonymize", "torn.csv", "-k", "2", "-o", "x.csv") == 4
    assert shell("sql", "-c", "SELECT name::INTEGER FROM (VALUES ('Wonderland')) AS t(name)") == 4
    assert "Wonderland" not in shell.out + shell.err


def test_a_bug_is_told_without_its_traceback(
    patients: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("a value")

    monkeypatch.setattr("kanon_sql.cli.main.import_module", broken)
    assert shell("risk", "patients.parquet") == 3
    assert shell.err == (
        "kanon: RuntimeError was raised, which should not be. Nothing was written; please report "
        "this as a bug.\n"
    )


def test_ctrl_c_is_a_status(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kanon_sql.cli.main.import_module", stopped)
    assert shell("demo") == 130
    assert shell.err == "kanon: stopped.\n"


def test_sentences_name_options_as_they_are_typed() -> None:
    for sentence, wanted in (
        ("Give others='drop', overwrite=True, categorical=['a'], k=5.",
         "Give --others drop, --overwrite, --categorical a, --k 5."),
        ("Give identifiers=['a b', \"it's\"], or quasi_identifiers=['a', ...] and within=[...].",
         "Give --identifiers 'a b,it'\"'\"'s', or --quasi-identifiers a,... and --within ...."),
        ("'k=5/a.parquet' is there, or say resume=False, to start again.",
         "'k=5/a.parquet' is there, or say --no-resume, to start again."),
        ("Write a list, such as ['age', 'zip'], or such as {'age': 2, 'zip': 0.5}. Got {'a': b}.",
         "Write a list, such as age,zip, or such as age=2,zip=0.5. Got {'a': b}."),
        ("Give a kind, such as {'kind': 'flat'}.", """Give a kind, such as '{"kind": "flat"}'."""),
        ("Or give this column {'kind': 'bins', 'width': 10}.",
         """Or give this column '{"kind": "bins", "width": 10}'."""),
    ):
        assert as_typed(sentence) == wanted
    said = "Delete it, or say resume=False, or others='drop' and overwrite=True."
    assert as_typed(said, in_file=True) == (
        "Delete it or others = 'drop' and --overwrite."
    )


@pytest.mark.slow
def test_what_is_said_of_a_release_names_options_as_they_are_typed(shell: Shell) -> None:
    rows = (f"person {i},{i % 30}\n" for i in range(90))
    Path("people.csv").write_text("".join(["who,age\n", *rows]))
    Path("kanon.toml").write_text("""
        [tables.people]
        input = "people.csv"
        output = "out.csv"
        options = {k = 3}
    """)
    assert shell("anonymize", "people.csv", "-k", "3", "-o", "out.csv") == 0
    assert "--identifiers who, or generalize it after all by --quasi-identifiers who" in shell.err
    assert shell("run") == 0
    assert "identifiers = ['who'], or generalize it" in shell.err
    assert shell("roles", "people.csv") == 0
    assert "Drop it by --identifiers who" in shell.out
    assert shell("compare", "people.csv", "-k", "3", "--methods", "mdav", "--headroom", "1") == 2
    assert "Name it in --entity patient_id" in shell.err


def test_a_folder_that_is_full_is_told_as_the_command_has_it(shell: Shell) -> None:
    Path("people.csv").write_text("age\n" + "".join(f"{i % 30}\n" for i in range(90)))
    Path("out").mkdir()
    Path("out/old").touch()
    Path("kanon.toml").write_text("""
        [tables.people]
        input = "people.csv"
        output = "out/"
        options = {k = 3, quasi_identifiers = ["age"]}
    """)
    assert shell("run") == 2
    assert shell.err.endswith("is not empty. Name another, or say --overwrite.\n")


def test_the_version(shell: Shell) -> None:
    assert shell("--version") == 0
    assert shell.out.startswith("kanon_sql ")


# --- kanon demo ---------------------------------------------------------------------------------


def test_the_demo_shows_call_rows_and_five_figures_on_one_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["demo", "--method", "mdav_plus", "--k", "10"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert len(lines) <= 40 and all(len(line) <= 90 for line in lines)
    assert "FROM anonymize('adult', k=10, method='mdav_plus', sensitive=['salary-class'])" in shown
    source, released = (shown.split("\n\n")[part].splitlines() for part in (1, 5))
    assert len(source) == len(released) == 8 and source[0].split() == released[0].split()
    assert "native-country" not in shown
    figures = dict(re.split("  +", line.strip(), maxsplit=1) for line in lines[-7:-2])
    assert tuple(figures) == FIRST
    assert figures["k"] == "10 rows or more share each combination of values"
    assert figures["prosecutor_risk_max"] == "at most 1 chance in 10"


@pytest.mark.slow
def test_the_demo_shows_every_column_where_there_is_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "260")
    assert main(["demo", "--method", "mdav_plus", "--k", "10"]) == 0
    assert "native-country" in capsys.readouterr().out
