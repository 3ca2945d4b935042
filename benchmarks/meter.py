"""Seconds and peak memory of one piece of work, measured in the process that does it.

Nothing but the standard library: the peers' own environments run this too.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

BRIEF = 5.0
"""Seconds; work that takes less is done three times, and the best time counts."""

PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class Measured:
    """What a piece of work gave and took.

    Attributes:
        result: of its first run.
        seconds: of its only run, or of the best of three.
        peak: bytes held at most in the first run, above those held before it.
    """

    result: Any
    seconds: float
    peak: int

    def numbers(self, matrix: int) -> dict[str, float]:
        """The measures, the peak also as a multiple of a matrix of so many bytes."""
        return {"seconds": self.seconds, "peak": self.peak, "multiple": self.peak / matrix}


def _high_water() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _forget_peak() -> bool:
    """Lowers the kernel's high-water mark to what is held now; only Linux can."""
    try:
        (PROCESS / "clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def peak_of(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """Runs the work once: result, seconds, and peak bytes above those held before.

    On Linux the high-water mark is reset first. Elsewhere ru_maxrss can't be, so memory that was
    taken and given back before hides as much of the work's own.
    """
    exact = _forget_peak()
    before = _status("VmRSS") if exact else _high_water()
    started = perf_counter()
    result = work()
    seconds = perf_counter() - started
    after = _status("VmHWM") if exact else _high_water()
    return result, seconds, max(after - before, 0)


def measured(work: Callable[[], Any], again: Callable[[], Any] | None = None) -> Measured:
    """Runs the work once, and twice more if that was brief.

    Args:
        work: what is measured.
        again: run, untimed, before each repetition.
    """
    result, seconds, peak = peak_of(work)
    if seconds < BRIEF:
        for _ in range(2):
            if again is not None:
                again()
            started = perf_counter()
            work()
            seconds = min(seconds, perf_counter() - started)
    return Measured(result, seconds, peak)


def available_memory() -> int:
    """Bytes that can be taken without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
