"""One piece of work at a time, in a thread of its own: a newer one stops the older."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic

import duckdb

from kanon_sql.duckdb.session import Connection
from kanon_sql.errors import KanonError, lacks_memory
from kanon_sql.explore.answers import Refused, Stage

TURN = 0.05
"""Seconds between two interrupts of work that is to end: one may come before a query begins."""

FAILED = "{} was raised, which should not be. Please report this as a bug."
NO_MEMORY = "The memory is too small for this release. Choose another method."
OF_DUCKDB = "DuckDB can't do this ({}). Choose something else."

Work = Callable[[Connection], Iterator[Stage]]


def sentence_of(error: Exception) -> str:
    """What is said of an error: ours as it is, of others only the kind, since their text may hold a
    value."""
    if isinstance(error, KanonError):
        return str(error)
    if lacks_memory(error):
        return NO_MEMORY
    said = OF_DUCKDB if isinstance(error, duckdb.Error) else FAILED
    return said.format(type(error).__name__)


class LaneRun:
    """Work that runs.

    Attributes:
        stopped: whether nobody waits for it any more.
        ended: is set when its thread has nothing left to do.
    """

    def __init__(
        self, con: Connection, work: Work, tell: Callable[[Stage | None], None],
        before: LaneRun | None,
    ) -> None:
        """Begins it, as soon as the one before has ended.

        Args:
            con: a connection of its own, which it closes.
            work: gives the parts of the answer, one after the other.
            tell: takes each part, and None at the end, in the thread of this work.
            before: what it takes the place of.
        """
        self.stopped, self.ended = False, threading.Event()
        self._con, self._work, self._tell, self._before = con, work, tell, before
        threading.Thread(target=self._go, daemon=True, name="kanon explore").start()

    def _go(self) -> None:
        try:
            if self._before is not None:
                self._before.stop()
                self._before = None
            if self.stopped:
                return
            for stage in self._work(self._con):
                if self.stopped:
                    return
                self._tell(stage)
            self._tell(None)
        except Exception as error:
            # of work that was stopped there is nothing to tell
            if not self.stopped:
                self._tell(Refused(sentence_of(error)))
        finally:
            self._con.close()
            self.ended.set()

    def stop(self, longest: float = float("inf")) -> None:
        """Ends it, and waits until it has ended; ``longest``: the most seconds of that."""
        self.stopped, begun = True, monotonic()
        while not self.ended.wait(TURN) and monotonic() - begun < longest:
            with suppress(duckdb.Error):
                self._con.interrupt()


class Lane:
    """Where the newest work runs."""

    def __init__(self, con: Connection) -> None:
        """``con``: the connection that has the table; each work gets one like it."""
        self._con = con
        self._run: LaneRun | None = None

    def start(self, work: Work, tell: Callable[[Stage | None], None]) -> None:
        """Begins work in place of what runs."""
        before = self._run
        if before is not None:
            before.stopped = True
        self._run = LaneRun(self._con.cursor(), work, tell, before)

    def stop(self, longest: float = float("inf")) -> None:
        """Ends what runs, and waits for it so many seconds at most."""
        if self._run is not None:
            self._run.stop(longest)

    def leave(self) -> None:
        """Ends what runs, without waiting for it."""
        if self._run is not None:
            self._run.stopped = True
            threading.Thread(target=self._run.stop, daemon=True).start()
