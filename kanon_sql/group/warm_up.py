"""Compiles what a call needs on its first use, and says so."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from kanon_sql.group.run import group_points
from kanon_sql.kernel.parallel import threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.option import options_of
from kanon_sql.points.points import Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import for_mergers, for_rare_values, for_trial

TRIAL_BLOCK = 500
"""The records of a block in a trial run, fewer than a trial run has."""

TRIAL_COLUMN = SensitiveColumn("invented", ("0", "1"))
"""The sensitive column of a trial run. Kernels are the same for all models."""

_ready: set[tuple[str, ...]] = set()
_lock = threading.Lock()


def _parts(task: GroupTask, in_blocks: bool) -> list[str]:
    """What a call needs compiled, in words."""
    refining = "refine by loss" if task.geometry.by_loss else "refine"
    needed = {
        task.method.name: True, refining: task.refine == "local", "blocks": in_blocks,
        "suppression": task.suppress > 0.0, "privacy models": bool(task.models),
        "rare values": _by_value(task),
        "mergers": _merges(task),
    }
    return [name for name, needs in needed.items() if needs]


def _merges(task: GroupTask) -> bool:
    """Whether classes may have to be merged that keep all models."""
    return bool(task.whole or task.of_population)


def _by_value(task: GroupTask) -> bool:
    """Whether the share of each value is bounded."""
    return any(model.bounds_values for model in task.models)


def _trial(task: GroupTask, in_blocks: bool) -> GroupTask:
    """The task as a few invented records can take it."""
    return replace(
        task,
        k=task.method.trial.k,
        own=task.own.for_trial(in_blocks),
        refine_steps=1,
        block_rows=TRIAL_BLOCK if in_blocks else None,
        beside_k=(
            *((for_trial(TRIAL_COLUMN.name),) if task.models else ()),
            *((for_rare_values(TRIAL_COLUMN.name),) if _by_value(task) else ()),
            *((for_mergers(),) if _merges(task) else ()),
        ),
    )


def _records(task: GroupTask) -> Points:
    """Invented records; of a sensitive column one half has one value and the other half another,
    so that no class nearby keeps a privacy model."""
    points = task.geometry.trial(task.method.trial)
    if not task.models:
        return points
    halves = np.arange(len(points)) * 2 // len(points)
    return replace(
        points, sensitive=halves[:, None].astype(np.int32), sensitive_columns=(TRIAL_COLUMN,)
    )


def compile_for(task: GroupTask, in_blocks: bool, name: str | None = None) -> list[str]:
    """Runs the task on a few invented records, which compiles its kernels or loads them.

    Args:
        task: what to group by, and how.
        in_blocks: whether it will group in blocks.
        name: in words, what is compiled, if the user is to be told of it.

    Returns:
        The functions that were compiled, here or by helpers; none where all were in the cache.
    """
    # here, since they load the compiler
    from kanon_sql.group.ahead import Ahead, begin_by_rarest
    from kanon_sql.kernel.compiling import announcing, noticing

    points, trial = _records(task), _trial(task, in_blocks)
    with Ahead(points, trial) as ahead, (
        noticing(ahead.start) if name is None else announcing(name, ahead.start)
    ) as compiled:
        group_points(points, trial)
        if _by_value(task) and task.geometry.searched:
            begin_by_rarest(points, Watch())
    return [*compiled, *ahead.compiled]


def warm_up(task: GroupTask, n: int) -> None:
    """Compiles what a call on n records needs, or loads it from the cache, and tells of what it
    compiles."""
    in_blocks = task.method.in_blocks and n > task.block_size()
    name = " and ".join(_parts(task, in_blocks))
    variants = [
        option for option, known in options_of(task.own).items()
        if known.compiles is not None and getattr(task.own, option) != known.default
    ]
    # what one thread needs, several need, too, but not the other way round
    known = (name, *variants, *(["threads"] if threads() > 1 else []))
    with _lock:
        if known in _ready:
            return
        compile_for(task, in_blocks, name)
        _ready.add(known)
