"""dbt as a user runs it, over a copy of the example project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "dbt"
MADE = ("adult.duckdb*", "dbt_kanon", "dbt_packages", "logs", "package-lock.yml", "target")

IS_THERE = find_spec("dbt") is not None and find_spec("dbt.adapters.duckdb") is not None
needs_dbt = pytest.mark.skipif(
    not IS_THERE, reason="dbt-duckdb isn't installed; pip install 'kanon-sql[dbt]'"
)


@dataclass(frozen=True)
class Result:
    """What a run of dbt says: of each node its status and message, and all that it printed."""

    status: dict[str, str]
    message: dict[str, str]
    said: str


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a Python module in a project, as ``python -m`` does."""
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, timeout=600,
        env={**os.environ, "DBT_PROFILES_DIR": ".", "PYTHONUTF8": "1"}, check=False,
    )


def dbt(folder: Path, *arguments: str) -> Result:
    """Runs dbt in a project."""
    results = folder / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    done = run(["dbt.cli.main", "--no-use-colors", *arguments], folder)
    if not results.exists():
        return Result({}, {}, done.stdout + done.stderr)
    nodes = json.loads(results.read_text(encoding="utf-8"))["results"]
    names = {node["unique_id"]: node["unique_id"].split(".")[2] for node in nodes}
    return Result(
        {names[node["unique_id"]]: node["status"] for node in nodes},
        {names[node["unique_id"]]: node["message"] or "" for node in nodes},
        done.stdout + done.stderr,
    )


def project(folder: Path) -> Path:
    """A copy of the example project, with the package of kanon_sql in place."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(*MADE))
    put = run(["kanon_sql.dbt_package", "dbt_kanon"], folder)
    assert put.returncode == 0, put.stderr
    got = run(["dbt.cli.main", "deps"], folder)
    assert got.returncode == 0, got.stdout
    return folder
