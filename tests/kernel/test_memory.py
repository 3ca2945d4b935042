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


def test_what_is_free_is_the_least_of_the_machine_and_its_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, group = tmp_path / "meminfo", tmp_path / "group"
    group.mkdir()
    free.write_text("MemTotal: 9000 kB\nMemAvailable: 5000 kB\n")
    monkeypatch.setattr(memory, "FREE", str(free))
    monkeypatch.setattr(memory, "GROUPS", [(str(group), "most", "taken")])
    assert memory.available() == 5000 * 1024
    (group / "taken").write_text("1000000\n")
    (group / "most").write_text("max\n")
    assert memory.available() == 5000 * 1024
    (group / "most").write_text("3000000\n")
    assert memory.available() == 2_000_000
    (group / "memory.stat").write_text("anon 5\ninactive_file 700000\n")
    assert memory.available() == 2_700_000
    free.unlink()
    assert memory.available() is None
