"""The audit in plain SQL gives the same rows in the clients of DuckDB that have no Python.

Each needs a program of its own, and is left out where that isn't there: ``duckdb`` of the package
duckdb-cli beside this Python; Node with npm, by which its packages are installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import duckdb
import pytest

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.plan.audit_macros import audit_macros
from tests.support.random_tables import SIMPLE, table

TABLES = 500
HERE = Path(__file__).parent
PACKAGES = {"node": "@duckdb/node-api@1.5.6-r.1", "wasm": "@duckdb/duckdb-wasm@1.32.0"}
CLI = Path(sys.executable).with_name("duckdb")

pytestmark = pytest.mark.slow


VERIFIED = (
    "SELECT 1",
    "SELECT string_agg(entry || ' ' || verdict, ';' ORDER BY entry) AS told "
    "FROM verify_release('release.parquet')",
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a manifest."""
    path = tmp_path_factory.mktemp("release") / "release.parquet"
    kanon_sql.release(adult(), to=path, k=5, l=2, t=0.5, sensitive="occupation", others="drop",
                      quasi_identifiers=["age", "sex"])
    return path


def script() -> Iterator[tuple[str, str]]:
    """Statements, and one query after each, whose only cell is a text."""
    for seed in range(TABLES):
        random = Random(seed)
        secret, *columns = random.sample(SIMPLE, random.randint(2, 4))
        query = (
            f"k_anonymity('t', {columns}, k := 3)", f"privacy_models('t', {columns}, '{secret}')",
            f"k_map('t', 't', {columns})",
        )[seed % 3]
        yield table(random, "t", [secret, *columns]), f"SELECT r::VARCHAR AS told FROM {query} AS r"


@pytest.fixture(scope="module")
def told(release: Path) -> list[str]:
    """What DuckDB's package for Python says; the last row is of verify_release."""
    with duckdb.connect() as con:
        con.execute(audit_macros())
        rows = []
        for statement, query in [*script(), VERIFIED]:
            con.execute(statement)
            place = query.replace("release.parquet", str(release))
            rows += [row for row, in con.execute(place).fetchall()]
    assert len(rows) == TABLES + 1 and "metrics.t (occupation) proven" in rows[-1]
    assert " wrong" not in rows[-1]
    return rows


def test_in_the_shell_of_duckdb(told: list[str], release: Path, tmp_path: Path) -> None:
    if not CLI.exists():
        pytest.skip("duckdb-cli isn't installed; pip install duckdb-cli")
    (tmp_path / "kanon_audit.sql").write_text(audit_macros(), encoding="utf-8")
    shutil.copy(release, tmp_path)
    lines = [".read kanon_audit.sql", ".mode line"]
    lines += [f"{text};" for pair in [*script(), VERIFIED] for text in pair]
    done = subprocess.run(
        [CLI, "-batch", "-bail"], cwd=tmp_path, input="\n".join(lines), capture_output=True,
        text=True, check=False, timeout=600,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = [line.partition(" = ")[2] for line in done.stdout.splitlines() if "told = " in line]
    assert found == told


@pytest.mark.parametrize("client", PACKAGES)
def test_in_node(told: list[str], release: Path, tmp_path: Path, client: str) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node and npm aren't installed")
    done = subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", PACKAGES[client]],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
    )
    if done.returncode:
        pytest.skip(f"npm can't install {PACKAGES[client]}")
    shutil.copy(HERE / f"{client}.mjs", tmp_path / "client.mjs")
    shutil.copy(release, tmp_path)
    # a browser has no Parquet without a network
    verified = [VERIFIED] if client == "node" else []
    work = {"macros": audit_macros(), "script": [*script(), *verified]}
    (tmp_path / "work.json").write_text(json.dumps(work), encoding="utf-8")
    done = subprocess.run(
        ["node", "client.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == told[:TABLES + len(verified)]
