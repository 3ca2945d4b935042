"""How far a run over files is: one line that is written over, where a person is watching."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter

PAUSE = 0.5
"""Seconds between two lines."""


class UnitsDone:
    """The units of a pass that are done."""

    def __init__(self, name: str, total: int, shown: bool) -> None:
        self._name, self._total, self._shown = name, total, shown
        self._done, self._began, self._last = 0, perf_counter(), 0.0
        self._lock = threading.Lock()
        self.add(0)

    def add(self, units: int) -> None:
        """Some more are done."""
        with self._lock:
            self._done += units
            now = perf_counter()
            if not self._shown or (now - self._last < PAUSE and self._done < self._total):
                return
            self._last = now
            with suppress(OSError, ValueError):
                sys.stderr.write(f"\r{self.line(now)}".ljust(79))
                sys.stderr.flush()

    def line(self, now: float) -> str:
        """What to tell."""
        if self._total < 2:
            return f"kanon_sql: {self._name}"
        spent = now - self._began
        ahead = self._total - self._done
        left = f", {spent * ahead / self._done:.0f} s left" if self._done else ""
        return (
            f"kanon_sql: {self._name} {self._done:,} of {self._total:,} "
            f"({100 * self._done // self._total} %){left}"
        )


class Passes:
    """The passes of a run."""

    def __init__(self, wanted: bool) -> None:
        self._shown = False
        with suppress(Exception):  # a stream that is closed, or isn't one
            self._shown = wanted and sys.stderr.isatty()

    @contextmanager
    def of(self, name: str, total: int) -> Iterator[UnitsDone]:
        """One of them."""
        yield UnitsDone(name, total, self._shown)
        if self._shown:
            with suppress(OSError, ValueError):
                sys.stderr.write("\r" + " " * 79 + "\r")
                sys.stderr.flush()
