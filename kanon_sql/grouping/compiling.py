"""Compiles what a call needs on its first use, and says so."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.grouping import METHODS
from kanon_sql.grouping.points import Points
from kanon_sql.grouping.run import group_points

PATIENCE = 1.5
"""Seconds after which a first use must be compiling, not loading what was compiled before."""

_ready: set[str] = set()
_lock = threading.Lock()


def _say(text: str) -> None:
    print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


def _probe(columns: int) -> Points:
    """Records enough for every kernel to be needed, by numbers that look like chance."""
    spread = np.arange(1_100.0)
    return Points.of(np.column_stack([spread * 37 % 1009, spread * 611 % 997][:columns]))


def make_ready(options: Mapping[str, Any], n: int) -> None:
    """Runs what a call on n records will run on a few, which compiles its kernels or loads them
    from the cache."""
    from kanon_sql.grouping.blocks import block_size  # here, since it loads the compiler

    method, k = METHODS[options["method"]], options["k"]
    refined = options["refine"] == "local"
    in_blocks = method.in_blocks and n > block_size(options, k)
    parts = [method.name, *["refine"] * refined, *["blocks"] * in_blocks]
    name = " and ".join(parts)
    with _lock:
        if name in _ready:
            return
        notice = threading.Timer(
            PATIENCE,
            lambda: _say(f"compiling the kernels of {name}, once in this environment ..."),
        )
        notice.daemon = True
        small = {
            "k": 2, "method": method.name, "gamma": 0.5, "refine": options["refine"],
            "refine_steps": 1, "block_rows": 500 if in_blocks else None,
        }
        started = perf_counter()
        notice.start()
        try:
            group_points(_probe(1 if method.name == "optimal_1d" else 2), small)
        finally:
            notice.cancel()
        seconds = perf_counter() - started
        if seconds > PATIENCE:
            _say(f"compiled the kernels of {name} in {seconds:.1f} s.")
        _ready.add(name)
