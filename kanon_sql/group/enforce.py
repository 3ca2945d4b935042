"""Enforcement: classes that break a privacy model are changed until none does."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.constraints import PrivacyModel
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, Points


def enforce(
    points: Points, grouping: Grouping, models: Sequence[PrivacyModel], task: GroupTask,
    watch: Watch,
) -> Grouping:
    """The grouping in which every class keeps the models.

    Args:
        points: n records in canonical order, with codes of the columns that the models name.
        grouping: its classes; records that are left out stay so, and count for nothing.
        models: what each class must keep beside k; none costs nothing.
        task: how the classes were made.
        watch: told how far it is; its stop raises StoppedError.
    """
    if models:
        raise NotImplementedError("privacy models")
    return grouping
