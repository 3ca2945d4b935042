"""Every command of the shell, typed in an empty folder of an environment that has the wheel."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed.conftest import Installed

CONFIG = """
[tables.people]
input = "adult.parquet"
output = "people.csv"
options = { k = 8, method = "mdav_plus", others = "drop" }

[tables.people.roles]
age = "quasi_identifier"
race = "quasi_identifier"
"""
ROLES = "-q age,race --others drop -m mdav_plus"

Holds = Callable[[bytes, Path], bool]

COMMANDS: dict[str, tuple[str, Holds]] = {
    "anonymize": (
        f"anonymize adult.parquet -o out.csv -k 9 {ROLES}",
        lambda out, here: (here / "out.csv").read_text().startswith("age,race\n"),
    ),
    "audit": (
        "audit adult.parquet -q age,race -k 9 --json",
        lambda out, here: json.loads(out)[0]["classes_below_k"] > 0,
    ),
    "risk": ("risk adult.parquet -q age,race", lambda out, here: b"prosecutor" in out),
    "roles": ("roles adult.parquet", lambda out, here: b"salary-class" in out),
    "compare": (
        "compare adult.parquet -k 5 -m mdav_plus -q age,race --others drop --json",
        lambda out, here: json.loads(out)[0]["method"] == "mdav_plus",
    ),
    "hierarchy": (
        "hierarchy adult.parquet age bins -o ages.csv",
        lambda out, here: "level1" in (here / "ages.csv").read_text().splitlines()[0],
    ),
    "explore": ("explore -", lambda out, here: out == b""),  # which has no name for kanon.toml
    "report": (
        f"report adult.parquet -o report.html -k 9 {ROLES} --title 'What leaves the house'"
        " --query all 'SELECT count(*) FROM {table}'",
        lambda out, here: "What leaves the house" in (here / "report.html").read_text("utf-8"),
    ),
    "release": (
        f"release adult.parquet -o proven.parquet --private mine.json -k 9 {ROLES}",
        lambda out, here: (here / "mine.json").stat().st_size > 0,
    ),
    "verify": (
        "verify proven.parquet --source adult.parquet --private mine.json",
        lambda out, here: b": ok." in out,
    ),
    "run": ("run kanon.toml", lambda out, here: (here / "people.csv").is_file()),
    "serve": ("serve adult.parquet", lambda out, here: out == b""),  # which is no database
    "token": (
        "token our.duckdb ana --right reader --tokens our.tokens",
        lambda out, here: len(out) > 40 and (here / "our.tokens").is_file(),
    ),
    "sql": (
        "sql -c \"SELECT k FROM k_anonymity('adult.parquet', quasi_identifiers=['sex'])\"",
        lambda out, here: b"k\n" in out,
    ),
    "compile": ("compile mdav_plus", lambda out, here: b"ompile" in out),
    "demo": ("demo", lambda out, here: b"released" in out),
    "completion": ("completion bash", lambda out, here: b"_KANON_COMPLETE" in out),
}
"""An example of each command, and what it gives."""

FIRST = {"verify": ("release",)}
"""What is typed before."""

WRONG = {"audit": 1, "explore": 2, "serve": 2}
"""Statuses other than 0, of commands that look for what is wrong and find it."""


@pytest.mark.slow
def test_every_command_has_an_example(installed: Installed) -> None:
    told = installed("kanon", "--help", cwd=installed.folder()).stdout.decode()
    section = told.partition("Commands:\n")[2].partition("\nExit")[0]
    assert set(re.findall(r"^  ([a-z]+) ", section, re.MULTILINE)) == set(COMMANDS)


AT_ONCE = {"anonymize", "report", "demo", "completion"}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.slow) for name in COMMANDS
])
def test_the_command_works_and_its_help_does(
    name: str, installed: Installed, folder: Path
) -> None:
    (folder / "kanon.toml").write_text(CONFIG, encoding="utf-8")
    for other in FIRST.get(name, ()):
        assert installed("kanon", *shlex.split(COMMANDS[other][0]), cwd=folder).returncode == 0
    line, holds = COMMANDS[name]
    done = installed("kanon", *shlex.split(line), cwd=folder)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (WRONG.get(name, 0), 0), done
    assert holds(done.stdout, folder)
    helped = installed("kanon", name, "--help", cwd=folder)
    assert helped.returncode == 0 and helped.stdout.startswith(f"Usage: kanon {name}".encode())


NOBODY = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can be another user"
)


@pytest.fixture
def reached_by_nobody(installed: Installed) -> None:
    """Skips a test where the interpreter lies in a folder that only root may enter."""
    try:
        installed("python", "-c", "", cwd=installed.root, nobody=True)
    except PermissionError:
        pytest.skip(f"only root may enter the folders of {installed.python.resolve()}")


@NOBODY
@pytest.mark.usefixtures("reached_by_nobody")
def test_a_user_who_may_write_nowhere_and_has_no_home(installed: Installed, folder: Path) -> None:
    kept = {path.name for path in folder.iterdir()}
    nowhere = {"HOME": None, "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}
    line = shlex.split(f"anonymize adult.parquet -o - --format csv -k 9 {ROLES}")
    done = installed("kanon", *line, cwd=folder, nobody=True, **nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"age,race\n") and done.stdout.count(b"\n") == 30163
    (line, *_) = [line for line in done.stderr.decode().splitlines() if "compil" in line]
    assert "for this process alone (no folder to keep them in can be written" in line
    assert {path.name for path in folder.iterdir()} == kept


@pytest.mark.slow
@NOBODY
@pytest.mark.usefixtures("reached_by_nobody")
def test_a_folder_that_kanon_compile_filled_is_read_by_a_user_who_may_not_write(
    installed: Installed, folder: Path
) -> None:
    # as an image does: RUN as root, USER somebody else, a root that can only be read
    compiled = {"NUMBA_CACHE_DIR": str(installed.root / "compiled")}
    assert installed("kanon", "compile", "mdav_plus", cwd=folder, **compiled).returncode == 0
    line = shlex.split(f"anonymize adult.parquet -o - --format csv -k 9 {ROLES}")
    done = installed("kanon", *line, cwd=folder, nobody=True, HOME=None, **compiled)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 30163
    assert b"compil" not in done.stderr


AT_THE_IMPORT = """
import os, signal, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed())
from kanon_sql.cli.begin import start
start()
"""


def test_ctrl_c_while_the_shell_is_loaded(installed: Installed) -> None:
    done = installed("python", "-c", AT_THE_IMPORT, cwd=installed.folder())
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"kanon: stopped.\n")
