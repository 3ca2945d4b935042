"""kanon compile: what is there before the first use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kanon_sql.cli.main import main
from kanon_sql.group import all_kernels
from kanon_sql.methods import METHODS


@pytest.mark.sample(1)
@pytest.mark.parametrize(("method", "ways", "kernels"), [
    ("ordered", ["ordered"], {"ordered"}),
    pytest.param("optimal_1d", ["optimal_1d", "optimal_1d with refine"],
                 {"optimal_1d", "refine", "annealing"}, marks=pytest.mark.slow),
])
def test_what_is_compiled_is_printed_and_the_next_time_nothing_is(
    tmp_path: Path, method: str, ways: list[str], kernels: set[str]
) -> None:
    command = [sys.executable, "-m", "kanon_sql", "compile", method]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def compiled() -> str:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=300
        ).stdout

    first = compiled().splitlines()
    for way in ways:
        assert any(line.startswith(f"{way}: ") for line in first)
    assert first[-1].startswith("Compiled ") and " functions in " in first[-1]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert {path.name.split(".")[0] for path in kept} >= kernels
    assert compiled().startswith("Nothing to compile: all was in the cache, and loaded in ")
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}


def test_an_unknown_method_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "mdav_plus", "k_membr"]) == 2
    assert capsys.readouterr() == (
        "", "kanon: The method 'k_membr' is not known. Did you mean 'k_member'?\n"
    )


def test_all_methods_by_default_each_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def compile_method(name: str) -> list[all_kernels.Compiled]:
        asked.append(name)
        return [all_kernels.Compiled(f"{name} in blocks", 1, 0.25)]

    monkeypatch.setattr(all_kernels, "compile_method", compile_method)
    assert main(["compile", "fold", "mdav", "fold"]) == 0
    assert asked == ["fold", "mdav"]
    assert capsys.readouterr().out.startswith("fold in blocks: 1 function in 0.2 s\nmdav in")
    asked.clear()
    assert main(["compile"]) == 0
    assert asked == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_way_to_use_a_method_is_tried(name: str) -> None:
    tasks = list(all_kernels._tasks(name))
    assert len({what for what, _, _ in tasks if "with" not in what}) == (
        2 if METHODS[name].in_blocks else 1
    )
    assert {task.geometry for _, task, _ in tasks} == set(METHODS[name].geometries.values())
    assert any(task.refine == "local" for _, task, _ in tasks) == METHODS[name].refinable


def test_options_are_tried_alone_and_together() -> None:
    ways = {what for what, _, _ in all_kernels._tasks("r_gather")}
    assert ways >= {
        "r_gather", "r_gather in blocks", "r_gather with refine", "r_gather with suppress",
        "r_gather with epsilon", "r_gather with max_clusters",
        "r_gather with epsilon and max_clusters",
    }
