"""A process of our own ends with its parent, also where the parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kanon_sql.kernel.child import OF_PARENT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PROGRAMS = """
    import numpy as np
    from kanon_sql.kernel.watch import Watch
    from kanon_sql.methods.cell_generalization.lightest_factor import lightest_factor
    from kanon_sql.points.points import LossPoints

    codes = np.random.default_rng(0).integers(0, 9, (8000, 6))
    print("begun", flush=True)
    lightest_factor(LossPoints.of(np.zeros((8000, 0)), codes, np.ones(6)), True, Watch())
"""
COVER = """
    import numpy as np
    from kanon_sql.methods.local_search.highs import CoverProblem, Solver

    rng = np.random.default_rng(0)
    members = np.concatenate([rng.choice(600, 5, replace=False) for _ in range(20_000)])
    cover = CoverProblem(600, 10**6, rng.random(20_000), np.arange(0, 100_001, 5), members)
    print("begun", flush=True)
    Solver().solve(cover, lambda: None)
"""


def children(pid: int) -> list[int]:
    """The processes that this one began."""
    found = []
    for folder in Path(f"/proc/{pid}/task").iterdir():
        found += [int(number) for number in (folder / "children").read_text().split()]
    return found


def lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def eventually(true: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(true())


@pytest.mark.slow
@pytest.mark.parametrize("script", [PROGRAMS, COVER])
def test_who_kills_the_caller_kills_its_process(script: str) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE
    )
    begun: list[int] = []
    try:
        assert caller.stdout is not None and caller.stdout.readline() == b"begun\n"
        assert eventually(lambda: children(caller.pid), 30)
        begun = children(caller.pid)
        time.sleep(0.5)
        assert caller.poll() is None and all(map(lives, begun))
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    gone = eventually(lambda: not any(map(lives, begun)), 1.0)
    for pid in filter(lives, begun):
        os.kill(pid, signal.SIGKILL)
    assert gone


def test_a_caller_that_ended_before_is_noticed() -> None:
    source = f"{OF_PARENT}\n_end_with({os.getppid()})\nprint('went on')"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, check=False)
    assert run.returncode == 1 and run.stdout == b""
