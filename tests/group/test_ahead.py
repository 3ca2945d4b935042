"""A helper compiles what the call will need, and the call does without it where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import sys
from dataclasses import replace
from kanon_sql.group import warm_up
from kanon_sql.group.all_kernels import SOME_MODEL
from kanon_sql.methods import METHODS, GroupTask

method = METHODS[sys.argv[1]]
task = GroupTask.of(method, method.trial.k)
if "models" in sys.argv:
    task = replace(task, beside_k=(SOME_MODEL,))
"""
REHEARSED = f"""{BEGIN}
from kanon_sql.group.ahead import wanted_by

for one in wanted_by(warm_up._records(task), warm_up._trial(task, False)):
    print(one.kernel.py_func.__qualname__, one.arguments)
"""
CALLED = f"""{BEGIN}
from numba.core import event

inside = []

class Listener(event.Listener):
    def on_start(self, event):
        if not inside:
            print(event.data["dispatcher"].py_func.__qualname__, event.data["args"])
        inside.append(1)

    def on_end(self, event):
        inside.pop()

with event.install_listener("numba:compile", Listener()):
    warm_up.group_points(warm_up._records(task), warm_up._trial(task, False))
"""
COMPILED = f"""{BEGIN}
from kanon_sql.group import ahead
from kanon_sql.kernel.parallel import on_threads

if "none" in sys.argv:
    sys.executable = "/nowhere/python"
if "broken" in sys.argv:
    ahead.HELPER = "raise SystemExit(1)"
with on_threads(1 if "alone" in sys.argv else 2):
    print(*sorted(warm_up.compile_for(task, False)))
"""


def run(script: str, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], env=environment, capture_output=True,
        text=True, check=True, timeout=300,
    ).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "more"), [("optimal_1d", []), ("mdav_plus", ["models"])])
def test_what_is_rehearsed_is_all_that_is_called(
    tmp_path: Path, method: str, more: list[str]
) -> None:
    called = run(CALLED, tmp_path / "called", method, *more).splitlines()
    rehearsed = run(REHEARSED, tmp_path / "rehearsed", method, *more).splitlines()
    assert called and set(called) <= set(rehearsed)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal_1d", "mdav_plus"])
def test_a_helper_changes_nothing_of_what_is_compiled(tmp_path: Path, method: str) -> None:
    alone = run(COMPILED, tmp_path / "alone", method, "alone")
    assert method in alone
    for helper in ("works", "none", "broken"):
        folder = tmp_path / helper
        # whoever compiled it: each function once
        assert run(COMPILED, folder, method, helper) == alone
        # and the next time all is there
        assert run(COMPILED, folder, method, helper) == ""
