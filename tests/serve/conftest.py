"""A server of ``kanon serve`` in a process of its own, and clients that have no Python.

They need the extension quack and the shell of DuckDB, of the version that runs here:
``pip install 'kanon-sql[serve]' duckdb==1.5.5 duckdb-cli==1.5.5``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import randrange

import duckdb
import pytest

from kanon_sql.errors import OptionError
from kanon_sql.serve.extension import NEEDED, _file, served_connection
from kanon_sql.serve.tokens import add_token

KANON, CLI = (Path(sys.executable).with_name(name) for name in ("kanon", "duckdb"))

SOURCE = """
    CREATE TABLE people AS
    SELECT 'CANARY-' || i AS name, 20 + i * 7 % 50 AS age, ['f', 'm'][1 + i % 2] AS sex,
           ['nurse', 'cook', 'clerk'][1 + i * 5 % 3] AS job, 'CANARY-' || i AS undeclared_canary
    FROM range(600) AS r(i);
    CREATE TABLE others AS FROM people;
"""
CONFIG = """
database = "our.duckdb"
[tables.patients]
input = "people"
output = "our.duckdb::patients_released"
options = { k = 5 }
roles = { name = "identifier", age = "quasi_identifier", sex = "quasi_identifier", \
job = "sensitive", undeclared_canary = "identifier" }

[tables.on_disk]
input = "others"
output = "on_disk.parquet"
options = { k = 7, method = "mondrian" }
roles = { name = "identifier", age = "quasi_identifier", sex = "quasi_identifier", \
job = "sensitive", undeclared_canary = "identifier" }
"""


def free_port() -> int:
    """A port of which the next one is free, too. None of those that the system gives to who
    connects: one who tries such a port again and again meets himself there."""
    while True:
        with socket.socket() as first, socket.socket() as second, suppress(OSError):
            port = randrange(10_000, 30_000)
            first.bind(("localhost", port))
            second.bind(("localhost", port + 1))
            return port


@dataclass(frozen=True)
class Server:
    """A server that runs.

    Attributes:
        folder: its files.
        port: of readers; analysts have the next one.
        tokens: by right.
        process: its process.
    """

    folder: Path
    port: int
    tokens: dict[str, str]
    process: subprocess.Popen[bytes]

    def uri(self, right: str) -> str:
        """Where those who have a right ask."""
        return f"quack:localhost:{self.port + (right == 'analyst')}"

    def query(self, right: str, text: str, token: str | None = None) -> str:
        """SQL of a client that sends a statement."""
        token = self.tokens[right] if token is None else token
        sent, secret = text.replace("'", "''"), token.replace("'", "''")
        return f"quack_query('{self.uri(right)}', '{sent}', token := '{secret}')"


def loading() -> list[str]:
    """What a client does first."""
    return [f"LOAD '{_file(name)}'" for name in NEEDED]


def in_cli(statements: Sequence[str], folder: Path, mode: str = "csv") -> tuple[str, str]:
    """What DuckDB's shell prints, on stdout and on stderr."""
    text = "".join(f"{each};\n" for each in (*loading(), *statements))
    done = subprocess.run(
        [CLI, "-unsigned", f"-{mode}"], input=text.encode(), capture_output=True, timeout=300,
        cwd=folder, check=False,
    )
    return done.stdout.decode(), done.stderr.decode()


def running(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """A process of ``kanon serve`` that listens."""
    process = subprocess.Popen(
        [KANON, "serve", "our.duckdb", "--port", str(port), "--log", "log.jsonl"], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    told = b""
    while b"analysts: " not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    return process


def started(folder: Path) -> Server:
    """A new server over the files of a folder."""
    port, tokens = free_port(), {
        right: add_token(folder / "our.tokens", right, right) for right in ("analyst", "reader")
    }
    return Server(folder, port, tokens, running(folder, port))


def ended(server: Server, by: signal.Signals = signal.SIGTERM) -> int:
    """The status with which a server ends."""
    server.process.send_signal(by)
    for _ in range(100):
        if server.process.poll() is not None:
            break
        time.sleep(0.1)
    else:
        server.process.kill()
    server.process.communicate()
    return int(server.process.returncode)


@pytest.fixture(scope="session")
def needed() -> None:
    """Leaves a test out where a program isn't there."""
    try:
        served_connection().close()
    except OptionError as error:
        pytest.skip(str(error))
    if not CLI.exists():
        pytest.skip("duckdb-cli isn't installed")


def files_in(folder: Path) -> None:
    """A database and kanon.toml."""
    with duckdb.connect(str(folder / "our.duckdb")) as con:
        con.execute(SOURCE)
    (folder / "kanon.toml").write_text(CONFIG, encoding="utf-8")


@pytest.fixture(scope="module")
def server(needed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of a module."""
    folder = tmp_path_factory.mktemp("served")
    files_in(folder)
    running = started(folder)
    yield running
    assert ended(running) == 0
