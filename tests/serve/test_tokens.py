"""Tokens: who has one, with which right, and that the file doesn't have it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from kanon_sql import OptionError
from kanon_sql.serve.tokens import Holder, TokenFile, add_token, holders, revoke_token
from tests.support.shell import Shell


def holder_of(path: Path, token: str) -> Holder | None:
    return TokenFile(path).holder_of(token)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "our.tokens"


def test_a_token_says_who_and_what(path: Path) -> None:
    ana, rea = add_token(path, "ana", "analyst"), add_token(path, "rea", "reader")
    assert holder_of(path, ana) == Holder("ana", "analyst")
    assert holder_of(path, rea) == Holder("rea", "reader")
    for wrong in ("", "ana", ana[:-1], ana + "a", ana.swapcase(), "' OR true --", "\x00"):
        assert holder_of(path, wrong) is None
    assert [row[:2] for row in holders(path)] == [("ana", "analyst"), ("rea", "reader")]


def test_the_file_has_no_token_and_one_reader(path: Path) -> None:
    token = add_token(path, "ana", "analyst")
    assert token.encode() not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with duckdb.connect(str(path)) as con:
        ((salt, digest),) = con.execute("SELECT salt, sha256 FROM tokens").fetchall()
    assert len(salt) == 32 and len(digest) == 64


def test_a_token_that_is_taken_away_is_none(path: Path) -> None:
    token = add_token(path, "ana", "analyst")
    read = TokenFile(path)
    assert read.holder_of(token) == read.holder_of(token) == Holder("ana", "analyst")
    revoke_token(path, "ana")
    assert read.holder_of(token) is None and holders(path) == []
    token = add_token(path, "eve", "reader")
    assert read.holder_of(token) == Holder("eve", "reader")
    path.unlink()
    with pytest.raises(OptionError, match="There is no file"):
        read.holder_of(token)
    assert holder_of(path, add_token(path, "ana", "reader")) == Holder("ana", "reader")


def test_what_does_not_go_is_one_sentence(path: Path) -> None:
    for name, right, said in (
        ("ana", "admin", "no right 'admin'"), ("a b", "reader", "can't be used"),
        ("", "reader", "can't be used"), ("a\n", "reader", "can't be used"),
    ):
        with pytest.raises(OptionError, match=said):
            add_token(path, name, right)
    add_token(path, "ana", "reader")
    with pytest.raises(OptionError, match="Revoke it first"):
        add_token(path, "ana", "reader")
    with pytest.raises(OptionError, match="There is no token of"):
        revoke_token(path, "rea")
    with pytest.raises(OptionError, match="There is no file"):
        holder_of(path.with_name("none"), "a")


def test_the_command_prints_a_token_once(path: Path, shell: Shell) -> None:
    database = str(path.with_name("our.duckdb"))
    assert shell("token", database, "ana", "--right", "analyst") == 2
    assert "is not a DuckDB file" in shell.err and not path.exists()
    duckdb.connect(database).close()
    assert shell("token", database, "ana", "--right", "analyst") == 0
    assert holder_of(path, shell.out.strip()) == Holder("ana", "analyst")
    token = shell.out.strip()
    assert shell("token", database) == 0
    assert shell.out.startswith("ana\tanalyst\t") and token not in shell.out
    assert shell("token", database, "ana", "--revoke") == 0 and shell.out == ""
    for wrong in (["--revoke"], ["rea"], ["rea", "--right", "reader", "--revoke"]):
        assert shell("token", database, *wrong) == 2
        assert shell.err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_token_that_nobody_could_see_is_none(path: Path) -> None:
    database = path.with_name("our.duckdb")
    duckdb.connect(str(database)).close()
    typed = [sys.executable, "-m", "kanon_sql", "token", str(database), "ana", "--right", "reader"]
    # what stays in the buffer must not change the status when Python ends
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            typed, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False,
            env=buffered,
        )
    assert done.returncode == 4 and done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr
    assert holders(path) == []
