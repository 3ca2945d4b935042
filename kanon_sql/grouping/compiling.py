"""Compiles a method's kernel on its first use, and says so."""

from __future__ import annotations

import sys
import threading
from time import perf_counter

from kanon_sql.grouping import Method
from kanon_sql.grouping.points import Points

PATIENCE = 1.5
"""Seconds after which a first use must be compiling, not loading what was compiled before."""

_ready: set[str] = set()
_lock = threading.Lock()


def _say(text: str) -> None:
    print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


def make_ready(method: Method) -> None:
    """Runs the method on three records, which compiles its kernel or loads it from the cache."""
    with _lock:
        if method.name in _ready:
            return
        notice = threading.Timer(
            PATIENCE,
            lambda: _say(f"compiling the kernel of {method.name}, once in this environment ..."),
        )
        notice.daemon = True
        started = perf_counter()
        notice.start()
        try:
            method.group(Points.of([[0.0], [1.0], [3.0]]), 1, {"gamma": 0.5})
        finally:
            notice.cancel()
        seconds = perf_counter() - started
        if seconds > PATIENCE:
            _say(f"compiled the kernel of {method.name} in {seconds:.1f} s.")
        _ready.add(method.name)
