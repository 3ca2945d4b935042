"""What a running kernel and the one who waits for it share: how far it is, and a wish to stop."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

Beat = npt.NDArray[np.int64]
DONE, STOP = 0, 1
"""Places in a beat: units of work done so far (written by the kernel); 1 to stop (read by it)."""


class StoppedError(Exception):
    """The kernel was asked to stop, and did."""


class Watch:
    """One call's work, in stages, each of one or more parts that may run in parallel.

    A kernel gets a beat: int64, shape (2,), indexed by DONE and STOP. It adds to the first as it
    goes, and returns early when the second is 1. Both are plain memory: no lock, no callback, so a
    compiled kernel that has released the interpreter lock can use them.
    """

    def __init__(self) -> None:
        self.stage = ""
        self.total = 0
        self.started = perf_counter()
        self._beats: list[Beat] = []
        self._stop = False
        self._parts: list[Watch] = []
        self._lock = threading.Lock()

    def begin(self, stage: str, total: int) -> None:
        """A new stage of that many units of work."""
        self.check()
        self.stage, self.total, self.started, self._beats = stage, total, perf_counter(), []

    def expect(self, more: int) -> None:
        """The stage has that many more units of work than was said."""
        with self._lock:
            self.total += more

    def beat(self) -> Any:
        """A beat for one part of the stage."""
        beat = np.array([0, int(self._stop)], np.int64)
        # a new list each time, so that stop and done go through one that nobody changes
        with self._lock:
            self._beats = [*self._beats, beat]
        return beat

    def stop(self) -> None:
        """Asks all kernels to stop; from any thread."""
        # first the flag: a beat that is made from now on says stop from its start
        self._stop = True
        for beat in self._beats:
            beat[STOP] = 1
        for part in self._parts:
            part.stop()

    def part(self) -> Watch:
        """A watch for work of its own inside of this one, which stops with it."""
        part = Watch()
        with self._lock:
            self._parts = [*self._parts, part]
        if self._stop:  # after the part can be found: one of the two sees the other
            part.stop()
        return part

    def forget(self, part: Watch) -> None:
        """Lets go of a part that is done."""
        with self._lock:
            self._parts = [other for other in self._parts if other is not part]

    @property
    def done(self) -> int:
        """Units of work done in this stage."""
        return int(sum(beat[DONE] for beat in self._beats))

    def check(self) -> None:
        """Raises StoppedError where a stop was asked for."""
        if self._stop:
            raise StoppedError
