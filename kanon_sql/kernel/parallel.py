"""Independent pieces of work on all cores. Kernels release the interpreter lock, so threads do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

_place = threading.local()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parallel(pieces: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of all pieces, in their order; the first error in that order is raised.

    Pieces of a piece run one after another, so that there are never more than there are cores.
    """
    # on this thread where others could not help: they would only cost their start
    if len(pieces) < 2 or cores() < 2 or getattr(_place, "inside", False):
        return [piece() for piece in pieces]

    def run(piece: Callable[[], Result]) -> Result:
        # each thread of the pool is new, so nobody has to take it back
        _place.inside = True
        return piece()

    with ThreadPoolExecutor(cores(), thread_name_prefix="kanon") as pool:
        return list(pool.map(run, pieces))
