"""Compiles what a call needs on its first use, and says so."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from time import perf_counter

from kanon_sql.group.run import group_points
from kanon_sql.methods import GroupTask
from kanon_sql.methods.option import options_of

PATIENCE = 1.5
"""Seconds after which a first use must be compiling, not loading what was compiled before."""

TRIAL_BLOCK = 500
"""The records of a block in a trial run, fewer than a trial run has."""

_ready: set[tuple[str, ...]] = set()
_lock = threading.Lock()


def _say(text: str) -> None:
    print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


def _parts(task: GroupTask, in_blocks: bool) -> list[str]:
    """What a call needs compiled, in words."""
    refining = "refine by loss" if task.geometry.by_loss else "refine"
    needed = {
        task.method.name: True, refining: task.refine == "local", "blocks": in_blocks,
        "suppression": task.suppress > 0.0,
    }
    return [name for name, needs in needed.items() if needs]


def _trial(task: GroupTask, in_blocks: bool) -> GroupTask:
    """The task as a few invented records can take it."""
    return replace(
        task,
        k=task.method.trial.k,
        own=task.own.for_trial(in_blocks),
        refine_steps=1,
        block_rows=TRIAL_BLOCK if in_blocks else None,
    )


def warm_up(task: GroupTask, n: int) -> None:
    """Runs what a call on n records will run on a few, which compiles its kernels or loads them
    from the cache."""
    in_blocks = task.method.in_blocks and n > task.block_size()
    name = " and ".join(_parts(task, in_blocks))
    variants = [
        option for option, known in options_of(task.own).items()
        if known.compiles and getattr(task.own, option) != known.default
    ]
    with _lock:
        if (name, *variants) in _ready:
            return
        notice = threading.Timer(
            PATIENCE,
            lambda: _say(f"compiling the kernels of {name}, once in this environment ..."),
        )
        notice.daemon = True
        started = perf_counter()
        notice.start()
        try:
            group_points(task.geometry.trial(task.method.trial), _trial(task, in_blocks))
        finally:
            notice.cancel()
        seconds = perf_counter() - started
        if seconds > PATIENCE:
            _say(f"compiled the kernels of {name} in {seconds:.1f} s.")
        _ready.add((name, *variants))
