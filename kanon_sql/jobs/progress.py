"""How far a long call is: one line that is written over, only where a person is watching."""

from __future__ import annotations

import contextlib
import sys
from time import perf_counter
from typing import TextIO

from kanon_sql.kernel.watch import Watch

AFTER = 1.0
"""Seconds of a stage before it is told of."""

NOTEBOOKS = ("ipykernel", "marimo")
"""The packages whose streams show what is written to them below a cell, and know how a line is
written over, though they are no terminals."""

PAUSE = 0.5
"""Seconds between two lines in a notebook, which keeps all that is written to it."""


def _in_notebook(stream: object) -> bool:
    return any(kind.__module__.split(".")[0] in NOTEBOOKS for kind in type(stream).__mro__)


def _short(number: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


class Progress:
    """Writes the progress of a watch to a terminal, or below the cell of a notebook."""

    def __init__(self, wanted: bool = True, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = False
        with contextlib.suppress(Exception):  # a stream that is closed, or isn't one
            self._shown = wanted and (self._stream.isatty() or _in_notebook(self._stream))
        self._pause = PAUSE if _in_notebook(self._stream) else 0.0
        self._written = 0.0
        self._width = 0

    def line(self, watch: Watch) -> str:
        """What to tell: units done, rate, time left; nothing at first."""
        seconds, done, total = perf_counter() - watch.started, watch.done, watch.total
        if not watch.stage or seconds < AFTER or not total:
            return ""
        unit = "rows" if watch.stage == "grouping" else "steps"
        rate = done / seconds
        left = f", {(total - done) / rate:.0f} s left" if 0 < done <= total else ""
        return (
            f"kanon_sql: {watch.stage} {min(done, total):,} of {total:,} {unit} "
            f"({100 * min(done, total) // total} %), {_short(rate)} {unit}/s{left}"
        )

    def show(self, watch: Watch) -> None:
        """Writes the line over the last one."""
        line = self.line(watch) if self._shown else ""
        if line and perf_counter() - self._written >= self._pause:
            self._write(line)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown and self._width:
            self._write("")

    def _write(self, line: str) -> None:
        try:
            self._stream.write("\r" + line.ljust(self._width) + ("" if line else "\r"))
            self._stream.flush()
            self._written = perf_counter()
        except (OSError, ValueError):
            self._shown = False
        self._width = len(line)
