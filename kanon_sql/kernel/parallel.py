"""Independent pieces of work on several threads. Kernels release the interpreter lock, so that
threads run side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

_place = threading.local()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads the work of this thread may take, itself among them."""
    return getattr(_place, "threads", None) or cores()


@contextmanager
def on_threads(count: int | None) -> Iterator[None]:
    """Lets the work of this thread take so many threads; None: one for each core."""
    before = getattr(_place, "threads", None)
    _place.threads = count
    try:
        yield
    finally:
        _place.threads = before


def in_parallel(pieces: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of all pieces, in their order; the first error in that order is raised.

    Threads that are more than the pieces are shared out among these, so that there are never more
    than the work of this thread may take.
    """
    many = threads()
    # on this thread where others could not help: they would only cost their start
    if len(pieces) < 2 or many < 2:
        return [piece() for piece in pieces]

    def run(piece: Callable[[], Result]) -> Result:
        # each thread of the pool is new, so nobody has to take it back
        _place.threads = max(1, many // len(pieces))
        return piece()

    with ThreadPoolExecutor(min(many, len(pieces)), thread_name_prefix="kanon") as pool:
        return list(pool.map(run, pieces))


def shared_out(pieces: Sequence[Callable[[], Result]], sizes: Sequence[int]) -> list[Result]:
    """The results of many pieces of unequal size, in their order; the first error in that order is
    raised. The largest begin first, and each takes threads by its share of the whole.

    Args:
        pieces: they don't depend on each other.
        sizes: how much work each is.
    """
    many, whole = threads(), max(sum(sizes), 1)
    order = sorted(range(len(pieces)), key=lambda i: (-sizes[i], i))
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def run(i: int) -> None:
        # what stands behind an error isn't begun; what stands before it may be wrong, too
        if errors and i > min(errors):
            return
        _place.threads = max(1, many * sizes[i] // whole)
        try:
            results[i] = pieces[i]()
        except BaseException as error:
            errors[i] = error

    if many < 2 or len(pieces) < 2:
        for i in order:
            with on_threads(many):
                run(i)
    else:
        with ThreadPoolExecutor(min(many, len(pieces)), thread_name_prefix="kanon") as pool:
            list(pool.map(run, order))
    if errors:
        raise errors[min(errors)]
    return [results[i] for i in range(len(pieces))]


class Helpers:
    """Threads that wait for work beside this one: for work in many short turns, at each of which
    the start of a thread would cost too much."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._running: list[Future[None]] = []
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Helpers:
        if self.count > 0:
            self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="kanon")
        return self

    def __exit__(self, *_: object) -> None:
        # what still runs is waited for: it works on memory of this thread
        if self._pool is not None:
            self._pool.shutdown()

    def start(self, work: Callable[[int], None]) -> None:
        """Has each helper do the work; it is told its number, from 1 on."""
        if self._pool is not None:
            self._running = [self._pool.submit(work, h + 1) for h in range(self.count)]

    def finish(self) -> None:
        """Waits until all have done it; raises the first error."""
        running, self._running = self._running, []
        for one in running:
            one.result()
