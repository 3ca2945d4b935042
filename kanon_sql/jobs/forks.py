"""What doesn't survive a fork: the threads of Polars, which a child would wait for without end.

A child of a process in which Polars was loaded is refused; one of a process that has only imported
or registered kanon_sql works, on a connection of its own.
"""

from __future__ import annotations

import os
import sys
import threading

from kanon_sql.errors import KanonError

FORKED = (
    "This process was forked from one that had already loaded Polars, whose threads it lacks. "
    "Start processes by spawn, for example multiprocessing.set_start_method('spawn'), or load "
    "kanon_sql and Polars in the child alone."
)

PATIENCE = 5.0
"""Seconds for what Polars does in no time where its threads live."""

_forked = False
_unsure = "polars" in sys.modules
"""Whether Polars was loaded before us: then a fork may lie between, of which we know nothing."""


def _note_fork() -> None:
    global _forked
    _forked = _forked or "polars" in sys.modules


def _ask_polars(answered: threading.Event) -> None:
    import polars as pl

    pl.DataFrame({"a": [2, 1]}).lazy().group_by("a").len().sort("a").collect()
    answered.set()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_note_fork)


def refuse_forked() -> None:
    """Raises KanonError in a child that would wait without end."""
    global _forked, _unsure
    if _unsure and not _forked:
        answered = threading.Event()
        threading.Thread(target=_ask_polars, args=[answered], daemon=True, name="kanon").start()
        _unsure, _forked = False, not answered.wait(PATIENCE)
    if _forked:
        raise KanonError(FORKED)
