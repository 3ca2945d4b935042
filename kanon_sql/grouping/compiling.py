"""Compiles what a call needs on its first use, and says so."""

from __future__ import annotations

import sys
import threading
from time import perf_counter

from kanon_sql.grouping.points import Points
from kanon_sql.grouping.run import group_points

PATIENCE = 1.5
"""Seconds after which a first use must be compiling, not loading what was compiled before."""

_ready: set[str] = set()
_lock = threading.Lock()


def _say(text: str) -> None:
    print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


def make_ready(method: str, refine: bool) -> None:
    """Runs a method, and refine if wanted, on a few records, which compiles its kernels or loads
    them from the cache."""
    name = f"{method} and refine" if refine else method
    with _lock:
        if name in _ready:
            return
        notice = threading.Timer(
            PATIENCE,
            lambda: _say(f"compiling the kernels of {name}, once in this environment ..."),
        )
        notice.daemon = True
        options = {
            "k": 2, "method": method, "gamma": 0.5, "refine_steps": 1,
            "refine": "local" if refine else "none",
        }
        started = perf_counter()
        notice.start()
        try:
            group_points(Points.of([[0.0], [1.0], [3.0], [4.5], [7.0], [7.5]]), options)
        finally:
            notice.cancel()
        seconds = perf_counter() - started
        if seconds > PATIENCE:
            _say(f"compiled the kernels of {name} in {seconds:.1f} s.")
        _ready.add(name)
