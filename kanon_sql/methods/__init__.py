"""The methods: one folder per family of papers, one dictionary that lists them.

A method is a function ``(points, task, watch) -> Grouping``. It knows neither DuckDB nor Polars.
Its module is imported when the method is first used, since that loads the compiler.
"""

from __future__ import annotations

from typing import Any

from kanon_sql.methods import (
    cell_generalization,
    centers,
    k_member,
    local_search,
    microaggregation,
    recoding,
    single_attribute,
)
from kanon_sql.methods.auto import AUTO
from kanon_sql.methods.method import Method
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Points

__all__ = ["CHOICES", "METHODS", "GroupTask", "Grouping", "Method", "Points", "task_for"]

METHODS: dict[str, Method] = {
    method.name: method
    for family in (
        microaggregation, local_search, k_member, recoding, centers, cell_generalization,
        single_attribute,
    )
    for method in family.METHODS
}


CHOICES = {**METHODS, AUTO.name: AUTO}
"""What a user may ask for: a method, or the choice of one."""


def task_for(method: str = "mdav_star", k: int = 5, **options: Any) -> GroupTask:
    """The task of a method by its name, for those who have points and no table.

    Args:
        method: one of METHODS.
        k: the least records of a group.
        options: fields of GroupTask, and options of the method.
    """
    return GroupTask.of(METHODS[method], k, **options)
