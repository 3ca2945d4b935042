"""Long work that a query waits for, and that stops when the query does.

DuckDB tells a running function nothing of an interrupt; it only calls no further one. So the work
runs in a thread of its own, the query asks again and again whether it is done, and when it no
longer asks, the work is stopped. See _begun, _waited and _grouped in sql/pipeline.sql.
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import threading
import time
from collections.abc import Callable
from time import perf_counter
from typing import Any, Generic, TypeVar

from kanon_sql.errors import LITTLE, DataError, KanonError, lacks_memory
from kanon_sql.jobs.interrupts import free_imports, heard, listen
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.watch import Watch

Result = TypeVar("Result")

TURN = 0.05
"""Seconds that the query waits in one turn, and between two looks at the work."""

PATIENCE = 0.4
"""Seconds until the query must have asked again. A query that was only slow to ask finds its work
stopped; it is begun anew, with twice the patience."""

ASLEEP, FORGOTTEN = 30.0, 600.0
"""Seconds for which stopped work can be begun anew; seconds until a job is dropped of which
nobody has asked."""

LEAVE = 0.2
"""Seconds after Ctrl-C that are left to DuckDB to end the query in its own way, before the call
ends with an error of ours: DuckDB 2.0 hears nothing of Ctrl-C while a query runs."""

GONE = "The query was paused for too long, and its work was discarded. Run it again."
STOPPED = "The call was stopped by Ctrl-C. Nothing was returned."
FAILED = "The {} failed with {}. Nothing was returned; please report this as a bug."


class Job(Generic[Result]):
    """One piece of work: ``work(watch)`` gives the result. It begins when it is first asked for."""

    def __init__(
        self, work: Callable[[Watch], Result], progress: Progress, name: str = "grouping",
        taken: Callable[..., None] | None = None,
    ) -> None:
        """
        Args:
            work: what is done.
            progress: shows how far it is.
            name: what a message calls the work.
            taken: takes a piece of what the work needs, before it begins.
        """
        self.name = name
        self._taken = taken
        self._work: Callable[[Watch], Result] | None = work
        self._progress = progress
        self._patience = PATIENCE
        self._lock = threading.Lock()
        self._waiting = 0
        self._watch = Watch()
        self.done = threading.Event()
        self.asked = perf_counter()
        self.begun = self.abandoned = self.swallowed = False
        self.stopped_at: float | None = None
        self.result: Result | None = None
        self.error: BaseException | None = None

    def _begin(self, work: Callable[[Watch], Result]) -> None:
        self.begun, self.abandoned = True, False
        self.done, self._watch, self.error = threading.Event(), Watch(), None
        listen()
        self._heard = heard()
        threading.Thread(target=self._run, args=[work], daemon=True, name="kanon").start()
        threading.Thread(target=self._look_after, daemon=True, name="kanon").start()

    def _run(self, work: Callable[[Watch], Result]) -> None:
        watch, done = self._watch, self.done
        try:
            self.result = work(watch)
            self._work = None
        except BaseException as error:
            self.error = error
        finally:
            done.set()

    def _look_after(self) -> None:
        watch, done = self._watch, self.done
        while not done.wait(TURN):
            with contextlib.suppress(Exception):  # what is only shown must not end the watch
                self._progress.show(watch)
            if heard() > self._heard:
                self._stop()
            elif not self._waiting and perf_counter() > self.asked + self._patience:
                self.abandoned = True
                watch.stop()
        with contextlib.suppress(Exception):
            self._progress.clear()
        if self.stopped_at is not None:
            self._work = None
        elif self.abandoned:
            forgetting = threading.Timer(ASLEEP, self._forget, [done])
            forgetting.daemon = True
            forgetting.start()

    def _forget(self, done: threading.Event) -> None:
        """Lets go of the rows, unless the query came back."""
        with self._lock:
            if self.done is done:
                self._work = None

    def _stop(self) -> None:
        self.stopped_at = self.stopped_at or perf_counter()
        self._watch.stop()

    def hand_over(self, *piece: Any) -> None:
        """Takes a piece of what the work needs."""
        self.asked = perf_counter()
        if self._taken is not None and self.stopped_at is None:
            self._taken(*piece)

    def press(self) -> None:
        """Ctrl-C was raised where the query waits. There it would become an error of DuckDB's, so
        it is swallowed, and raised again after the query."""
        self.swallowed = True
        self._stop()

    def wait(self) -> bool:
        """Waits for a turn; whether the work is done, well or not."""
        free_imports()  # the work may import what it needs
        with self._lock:
            self._waiting += 1
            slept = self.abandoned and self.done.is_set()
            stopped = self.stopped_at is not None
            if self._work is not None and not stopped and (slept or not self.begun):
                self._patience *= 2 if slept else 1
                self._begin(self._work)
            elif slept and self.result is None:
                self.error = KanonError(GONE)
        try:
            if self.stopped_at is not None:
                time.sleep(TURN)
                return perf_counter() > self.stopped_at + LEAVE
            return self.done.wait(TURN) and (self._work is None or not self.abandoned)
        finally:
            with self._lock:
                self.asked = perf_counter()
                self._waiting -= 1

    def idle(self) -> bool:
        """Whether nobody has asked for long, and nothing runs."""
        running = self.begun and not self.done.is_set()
        return not running and perf_counter() > self.asked + FORGOTTEN


_jobs: dict[int, Job[object]] = {}
_tickets = itertools.count()
_coming: list[threading.Timer] = []
"""What raises Ctrl-C that was swallowed."""


def start(
    work: Callable[[Watch], object], progress: Progress, name: str = "grouping",
    taken: Callable[..., None] | None = None, takes: bool = True,
) -> int:
    """Takes in work, as a Job does; returns the ticket by which to ask: one below 0 for work that
    ``takes`` nothing before it begins, since it will refuse."""
    for old in [ticket for ticket, job in list(_jobs.items()) if job.idle()]:
        _jobs.pop(old, None)
    ticket = next(_tickets) if takes else -1 - next(_tickets)
    _jobs[ticket] = Job(work, progress, name, taken)
    return ticket


def hand_over(ticket: int, *piece: Any) -> None:
    """Gives a piece of what the work needs; that of a job that is gone leads nowhere."""
    job = _jobs.get(ticket)
    if job is not None:
        job.hand_over(*piece)


def wait(ticket: int) -> bool:
    """Waits a twentieth of a second; whether the work is done."""
    job = _jobs.get(ticket)
    return job is None or job.wait()


def press(ticket: int) -> None:
    """Stops the work, since Ctrl-C was raised in the one who waits."""
    job = _jobs.get(ticket)
    if job is not None:
        job.press()


def raised() -> None:
    """Ctrl-C was raised for what a query was stopped by: it doesn't come again."""
    while _coming:
        _coming.pop().cancel()


def finish(ticket: int) -> Any:
    """The result of work that is done.

    Raises:
        KanonError: what the work raised, or that it was stopped.
    """
    job = _jobs.pop(ticket, None)
    if job is None:
        raise KanonError(GONE)
    if job.swallowed:
        _coming.append(threading.Timer(TURN, _thread.interrupt_main))
        _coming[-1].start()
    if job.stopped_at is not None:
        raise KanonError(STOPPED)
    if isinstance(job.error, KanonError):
        raise job.error
    if job.error is not None and lacks_memory(job.error):
        raise DataError(LITTLE) from None
    if job.error is not None:
        raise KanonError(FAILED.format(job.name, type(job.error).__name__)) from job.error
    return job.result
