"""Every example runs, in an empty folder, as a user would start it."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import kanon_sql

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {
    name: ["--quick"]
    for name in ("thaeter2021.py", "byun2006.py", "visits.py", "which_method.py", "headroom.py")
}


ELSEWHERE = (  # test_example_*.py
    "guarantees.py", "du2009.py", "du2009_maps.py", "closeness.py", "releases.py", "explore.py",
    "model_survives.py",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(p.name for p in EXAMPLES.glob("*.py") if p.name not in ELSEWHERE)
)
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / name), *ARGUMENTS.get(name, [])]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONUTF8": "1"}, check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    if name == "visits.py":
        _check_visits(done.stdout)
    if name == "byun2006.py":
        _check_byun2006(done.stdout, tmp_path)


def _check_visits(told: str) -> None:
    """Of both tables: by rows a class has one person and people are alone, by persons none is."""
    lines = [re.split(r"  +", line) for line in told.splitlines() if "%" in line]
    found = {(i // 4, line[0]): line[1:] for i, line in enumerate(lines)}
    for table in (0, 1):
        rows, apart, together = (
            found[table, by] for by in ("rows", "persons, apart", "persons, together")
        )
        assert rows[2] == "1" and int(apart[2]) >= 5 and int(together[2]) >= 5
        assert rows[3] != "0.0%" and apart[3] == together[3] == "0.0%"
        assert rows[5] != "0.0%" and together[4] == together[5] == "0.0%"
    assert "The column 'UTILNAME' looks like an identifier and has no role" in told


def _check_byun2006(told: str, folder: Path) -> None:
    """Every figure is there three times, and the verdicts are those that its numbers give."""
    with (folder / "byun2006.csv").open(encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    values = {(int(r["figure"]), r["algorithm"], int(r["x"])): float(r["value"]) for r in rows}
    assert {figure for figure, _, _ in values} == set(range(9, 18))
    assert all(value >= 0.0 for value in values.values())
    for figure in range(9, 18):
        for suffix in ("png", "svg"):
            assert (folder / f"byun2006-figure{figure:02}.{suffix}").stat().st_size > 5000
    greedy, median = "greedy k-member", "median partitioning"
    others = [median, f"{median}, relaxed", "k-nearest neighbor"]
    for figure, key, beaten, claim in (
        (9, greedy, others, "has the least Total-IL of all algorithms for all k"),
        (10, greedy, [median], f"{greedy} has less DM than {median}"),
        (11, f"{greedy}, modified for CM", [*others, greedy], "modified for CM it has the least"),
        (11, greedy, [median], "even unmodified it has less"),
    ):
        part = told.split(f"\nFigure {figure}: ")[1].split("\nFigure ")[0]
        verdict = re.search(rf"(agrees|DIFFERS): +.*{re.escape(claim)}", part)
        least = all(values[figure, key, k] < values[figure, other, k]
                    for k in (5, 20) for other in beaten)
        assert verdict is not None and (verdict[1] == "agrees") is least, (figure, claim)


LAKES = {
    "one_shot": ["k = 5", "the shell writes the same bytes: True", "'uniques': 0"],
    "by_partition": ["'parts': 7, 'parts_below_k': 0", "'parts_below_k': 7"],
    "append": ["release 3", "true"],
    "object_store": ["30,162 rows in 1 file", "Write one here, and copy it."],
}
"""What each script about lakes says."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LAKES)
def test_a_lake_is_released(name: str, tmp_path: Path) -> None:
    if name == "object_store":
        pytest.importorskip("fsspec", reason="fsspec isn't installed")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "lakes" / f"{name}.py")], cwd=tmp_path,
        capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert [said for said in LAKES[name] if said not in done.stdout] == []
    assert list(tmp_path.iterdir()) == []


def test_every_script_about_lakes_runs() -> None:
    assert sorted(LAKES) == sorted(path.stem for path in (EXAMPLES / "lakes").glob("*.py"))


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
