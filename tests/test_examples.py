"""Every example runs, in an empty folder, as a user would start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import kanon_sql

EXAMPLES = Path(__file__).parents[1] / "examples"
ARGUMENTS = {"thaeter2021.py": ["--quick"]}


@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.glob("*.py")))
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / name), *ARGUMENTS.get(name, [])]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONUTF8": "1"}, check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()


@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.glob("*.sql")))
def test_a_file_of_sql_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    con = kanon_sql.register(duckdb.connect())
    statements = con.extract_statements((EXAMPLES / name).read_text(encoding="utf-8"))
    for statement in statements[:-1]:
        con.execute(statement)
    assert con.execute(statements[-1]).fetchall()


def test_the_published_clusters_are_those_of_the_paper() -> None:
    con = kanon_sql.register(duckdb.connect())
    text = (EXAMPLES / "published_clusters.sql").read_text(encoding="utf-8")
    for statement in con.extract_statements(text):
        found = con.execute(statement).fetchall()
    assert [(age, place, size) for age, place, size, _, _ in sorted(found)] == [
        (31.0, 100.0, 2), (60.0, 200.0, 3)
    ]
    assert sorted(found)[1][-1] == [
        {"value": "Cold", "count": 1}, {"value": "Flu", "count": 1},
        {"value": "Hypertension", "count": 1},
    ]
