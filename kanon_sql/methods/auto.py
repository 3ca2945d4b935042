"""The choice 'auto': a method by what is released, the types of the columns and how many rows there
are.

It is no method: a task that asks for it becomes the task of another method before any row is
grouped, and the release is the one that this method gives. It is what a call gets that names no
method. What the rule follows from was measured on four real tables: see docs/which-method.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from kanon_sql.methods.geometry import LOSS, SQUARED
from kanon_sql.methods.method import Method
from kanon_sql.methods.search_steps import (
    LOSS_STEPS,
    REFINE_STEPS,
    default_steps,
    steps_within,
)
from kanon_sql.methods.task import GroupTask

SECONDS = 5.0
"""Groups are refined where nobody said how long to search, and the search is estimated to take so
many seconds at most."""

OF_MODELS = 4.0
"""How many times as long a search takes that keeps privacy models."""

SEARCHED = 100_000
"""Up to so many rows effort 'thorough' asks for the method best, which takes a minute or two."""

BY_ESTIMATE = "by estimate"
"""The option refine of a task that leaves it to the rule."""

AUTO = Method(
    name="auto",
    family=__name__,
    summary="Chooses a method by the representation, the types of the columns and the number of "
    "rows.",
    guarantee="that of the chosen method",
    cost="that of the chosen method",
    representation="rounded",
    source="docs/which-method.md",
    geometries={"sse": SQUARED, "loss": LOSS},
)

TOLD = "The method 'auto' chose "
"""How it begins what is told of a choice."""

CHOSEN = ("mdav_star", "k_member", "optimal_1d", "best")
"""The methods that it may choose."""


class TableShape(NamedTuple):
    """What the rule looks at of a table.

    Attributes:
        rows: how many there are, or persons where these are grouped.
        ordered: the quasi-identifiers that are numbers, dates or times, and have no hierarchy.
        others: all others.
        gaps: whether values are missing.
    """

    rows: int
    ordered: int
    others: int
    gaps: bool = False


def settle(
    task: GroupTask, table: TableShape, methods: Mapping[str, Method]
) -> tuple[GroupTask, str | None]:
    """The task of the method that a task asks for, and what is told of the choice: the task itself
    and nothing, unless it asks for 'auto'.

    Args:
        task: its distance says whether errors to a point are to be small ('sse'), or ranges, sets
            and labels ('loss').
        table: what it is about.
        methods: all methods.
    """
    if task.method is not AUTO:
        return task, None
    whole = task.block_rows is None  # nobody asked for blocks
    by_loss = task.distance == "loss"
    if task.refine == BY_ESTIMATE:
        task, searched = _within_seconds(task, table, by_loss)
    else:
        searched = f"effort asks for {'a' if task.refine == 'local' else 'no'} search"
    refined = task.refine == "local"
    line = (table.ordered, table.others, table.gaps) == (1, 0, False)
    if line and whole and not task.persons:
        why = "for one number, date or time no grouping has a lower loss"
        return _as(task, methods["optimal_1d"], False), _told("optimal_1d", False, why)
    if refined and task.refine_times > 1 and whole and table.rows <= SEARCHED:
        why = f"effort is 'thorough', and there are {SEARCHED:,} rows or fewer"
        return _as(task, methods["best"], False), _told("best", False, why)
    name = "k_member" if refined and by_loss else "mdav_star"
    shown = "ranges, sets or labels are released" if by_loss else "points are released"
    return _as(task, methods[name], refined), _told(name, refined, f"{shown}, and {searched}")


def _within_seconds(task: GroupTask, table: TableShape, by_loss: bool) -> tuple[GroupTask, str]:
    """The task with a search where one takes seconds, and why."""
    n, seconds = table.rows, SECONDS / (OF_MODELS if task.models else 1.0)
    columns, block = (table.ordered, table.others), min(table.rows, task.block_size())
    most = LOSS_STEPS if by_loss else REFINE_STEPS
    steps = steps_within(seconds, n, task.k, columns, by_loss)
    usual = default_steps(n, task.k, most)
    if block < n and steps == usual:  # each block takes its own steps, in its share of the time
        steps = steps_within(seconds * block / n, block, task.k, columns, by_loss)
        usual = default_steps(block, task.k, most)
    elif block < n:
        steps = 0
    if steps == 0:
        said = f"a search is estimated to take more than {SECONDS:g} seconds"
        return replace(task, refine="none"), said
    said = f"a search is estimated to take {SECONDS:g} seconds or less"
    return replace(task, refine="local", refine_steps=None if steps == usual else steps), said


def _as(task: GroupTask, method: Method, refined: bool) -> GroupTask:
    """The task for another method."""
    # class labels have no part in a choice that doesn't know of them
    own = method.own.read({"class_penalty": 0.0} if method.name == "k_member" else {})
    distance = task.distance if method.name in ("best", "k_member") else "sse"
    return replace(
        task, method=method, own=own, distance=distance, refine="local" if refined else "none",
        refine_times=task.refine_times if refined else 1,
    )


def _told(name: str, refined: bool, why: str) -> str:
    return f"{TOLD}{name}{', refined' if refined else ''}: {why}."
