"""The installed ``kanon explore`` in a process of its own, over a table with canaries."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

KANON = Path(sys.executable).with_name("kanon")

PEOPLE = """
    SELECT 'CANARY-' || (100000 + 7 * i) AS ssn, 20 + i * 7 % 50 AS age,
           'z' || i * 37 % 12 AS zip, 't' || i * 37 % 12 // 4 AS town,
           ['f', 'm'][1 + i % 2] AS sex, ['Flu', 'Cold', 'HIV'][1 + (i // 4) % 3] AS disease
    FROM range(600) AS r(i)
"""


@dataclass(frozen=True)
class Running:
    """A server that runs.

    Attributes:
        folder: where it was started.
        address: with the token.
        process: its process.
    """

    folder: Path
    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(re.findall(r":(\d+)/", self.address)[0])

    @property
    def token(self) -> str:
        return self.address.rpartition("token=")[2]


@contextmanager
def running(folder: Path, *words: str) -> Iterator[Running]:
    """A server over some words of a command line, until the block ends."""
    process = subprocess.Popen(
        [KANON, "explore", *words, "--no-browser"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    told = ""
    try:
        while not (found := re.search(r"http://\S+", told)):
            line = process.stderr.readline()
            assert line, told
            told += line
        yield Running(folder, found[0], process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def needed() -> None:
    """Leaves a test out where the extra isn't installed."""
    for name in ("nicegui", "vl_convert"):
        pytest.importorskip(name, reason=f"{name} isn't installed (the extra 'explore')")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A folder with people.parquet."""
    duckdb.sql(PEOPLE).write_parquet(str(tmp_path / "people.parquet"))
    return tmp_path


@pytest.fixture(scope="module")
def server(needed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all tests of a module."""
    folder = tmp_path_factory.mktemp("explored")
    duckdb.sql(PEOPLE).write_parquet(str(folder / "people.parquet"))
    with running(folder, "people.parquet") as started:
        yield started
