"""What is being compiled, as the compiler tells it: what comes from the cache is never among it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

from numba.core import event

from kanon_sql.kernel.cache import kept_in

NOT_KEPT = "for this process alone (no folder to keep them in can be written: set NUMBA_CACHE_DIR)"


@contextmanager
def noticing(at_first: Callable[[], None] = lambda: None) -> Iterator[list[str]]:
    """Notes the functions of kanon_sql that are compiled meanwhile, in whichever thread.

    Args:
        at_first: called when the first of them is about to be compiled.

    Yields:
        Their names in the order in which they were begun: a list that grows.
    """
    begun: list[str] = []

    class Listener(event.Listener):
        """Hears of each function that is not in the cache, before and after."""

        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if not function.__module__.startswith("kanon_sql."):
                return
            if not begun:
                at_first()
            begun.append(f"{function.__module__}.{function.__qualname__}")

        def on_end(self, event: Any) -> None:
            """Nothing: how long it took is asked of all together."""

    with event.install_listener("numba:compile", Listener()):
        yield begun


def _say(text: str) -> None:
    with suppress(OSError):
        print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


@contextmanager
def announcing(name: str, at_first: Callable[[], None] = lambda: None) -> Iterator[list[str]]:
    """The same, and tells the user of it: before the first function, and when all are compiled.

    Args:
        name: what they are for, in words.
        at_first: called when the first of them is about to be compiled, and the user knows.
    """
    started = perf_counter()
    kept = "once in this environment" if kept_in() else NOT_KEPT
    first = f"compiling the kernels of {name}, {kept} ..."

    def begin() -> None:
        _say(first)
        at_first()

    with noticing(begin) as begun:
        yield begun
    if begun:
        _say(f"compiled the kernels of {name} in {perf_counter() - started:.1f} s.")
