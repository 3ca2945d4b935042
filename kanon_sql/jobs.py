"""Long work that a query waits for, and that stops when the query does.

DuckDB tells a running function nothing of an interrupt; it only calls no further one. So the work
runs in a thread of its own, the query asks again and again whether it is done, and when it no
longer asks, the work is stopped. See _begun, _waited and _grouped in sql/pipeline.sql.
"""

from __future__ import annotations

import _thread
import itertools
import threading
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any, Generic, TypeVar

from kanon_sql.errors import KanonError
from kanon_sql.grouping.watch import Watch
from kanon_sql.interrupts import heard
from kanon_sql.progress import Progress

Result = TypeVar("Result")

TURN = 0.05
"""Seconds that the query waits in one turn, and between two looks at the work."""

FIRST, PATIENCE = 20.0, 0.4
"""Seconds until the query must have asked for the first time, and again. A query that was only
slow to ask finds its work stopped; it is begun anew, with twice the patience."""

KEPT = 30.0
"""Seconds for which stopped work can still be begun anew."""

LEAVE = 0.2
"""Seconds after Ctrl-C that are left to DuckDB to end the query in its own way, before the call
ends with an error of ours: DuckDB 2.0 hears nothing of Ctrl-C while a query runs."""


class Job(Generic[Result]):
    """One piece of work: ``work(watch)`` gives the result."""

    def __init__(
        self, ticket: int, work: Callable[[Watch], Result], progress: Progress
    ) -> None:
        self.ticket = ticket
        self._work, self._progress = work, progress
        self._patience = PATIENCE
        self._waiting = 0
        self._begin()

    def _begin(self) -> None:
        self.done = threading.Event()
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.abandoned = False
        self.swallowed = False
        self._watch = Watch()
        self._asked = perf_counter() + FIRST
        self._heard = heard()
        self.stopped_at: float | None = None
        for part in (self._run, self._look_after):
            threading.Thread(target=part, daemon=True, name="kanon").start()

    def _run(self) -> None:
        watch, done = self._watch, self.done
        try:
            self.result = self._work(watch)
        except BaseException as error:
            self.error = error
        finally:
            done.set()

    def _look_after(self) -> None:
        watch, done = self._watch, self.done
        while not done.wait(TURN):
            self._progress.show(watch)
            if heard() > self._heard:
                self._stop()
            elif not self._waiting and perf_counter() > self._asked + self._patience:
                self.abandoned = True
                watch.stop()
        self._progress.clear()
        if self.abandoned:
            forgetting = threading.Timer(KEPT, self._forget, [done])
            forgetting.daemon = True
            forgetting.start()

    def _forget(self, done: threading.Event) -> None:
        """Lets go of the rows, unless the query came back."""
        if self.done is done:
            _jobs.pop(self.ticket, None)

    def press(self) -> None:
        """Ctrl-C was raised where the query waits. There it would become an error of DuckDB's, so
        it is swallowed, and raised again after the query."""
        self.swallowed = True
        self._stop()

    def _stop(self) -> None:
        self.stopped_at = self.stopped_at or perf_counter()
        self._watch.stop()

    def wait(self) -> bool:
        """Waits for a turn; whether the work is done, well or not."""
        if self.abandoned and self.done.wait(TURN):
            self._patience *= 2
            self._begin()
        self._waiting += 1
        try:
            if self.stopped_at is not None:
                time.sleep(TURN)
                return perf_counter() > self.stopped_at + LEAVE
            return self.done.wait(TURN) and not self.abandoned
        finally:
            self._asked = perf_counter()
            self._waiting -= 1


_jobs: dict[int, Job[object]] = {}
_tickets = itertools.count()


def start(work: Callable[[Watch], object], progress: Progress) -> int:
    """Starts work; returns the ticket by which to ask for it."""
    ticket = next(_tickets)
    _jobs[ticket] = Job(ticket, work, progress)
    return ticket


def wait(ticket: int) -> bool:
    """Waits a twentieth of a second; whether the work is done."""
    if ticket not in _jobs:
        raise KanonError("The query was asleep for too long, and its work is gone. Run it again.")
    return _jobs[ticket].wait()


def press(ticket: int) -> None:
    """Stops the work, since Ctrl-C was raised in the one who waits."""
    _jobs[ticket].press()


def finish(ticket: int) -> Any:
    """The result of work that is done.

    Raises:
        KanonError: what the work raised, or that it was stopped.
    """
    job = _jobs.pop(ticket)
    if job.swallowed:
        threading.Timer(TURN, _thread.interrupt_main).start()
    if job.stopped_at is not None:
        raise KanonError("The call was stopped by Ctrl-C. Nothing came out.")
    if job.error is not None:
        raise job.error
    return job.result
