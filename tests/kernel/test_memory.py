"""Freed memory goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kanon_sql.kernel import memory

STATUS = Path("/proc/self/status")


def resident() -> float:
    """The memory of this process that is in use, in MiB."""
    (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def pieces() -> list[np.ndarray]:
    """Every hundredth of many small arrays: the others are freed, and lie between these."""
    return [np.ones(2000) for _ in range(10_000)][::100]


@pytest.mark.skipif(
    sys.platform != "linux" or memory._trim() is None, reason="needs glibc, and /proc"
)
def test_what_lies_between_small_arrays_is_given_back() -> None:
    kept = pieces()
    before = resident()
    memory.give_back(memory.MANY - 1)
    unchanged = resident()
    memory.give_back(memory.MANY)
    assert before - unchanged < 50.0 < before - resident()
    assert len(kept) == 100


def test_a_system_without_such_a_call_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(memory, "_trim", lambda: asked.append(1))
    memory.give_back(memory.MANY)
    assert asked == [1]
