"""Tasks for tests that run over several methods."""

from __future__ import annotations

from kanon_sql.methods import GroupTask, task_for


def task_of(method: str, k: int, gamma: float | str) -> GroupTask:
    """The task of a method of the MDAV family; gamma is for v_mdav alone."""
    return task_for(method, k, gamma=gamma) if method == "v_mdav" else task_for(method, k)
