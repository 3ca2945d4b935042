"""What privacy models a table can keep at all: asked before anything is grouped.

A model is kept by the union of two classes that keep it, so that some release keeps it exactly if
one class of all rows does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.points.points import Labels, Points
from kanon_sql.points.sensitive import Counts
from kanon_sql.privacy.model import PrivacyModel, spot_of


def counts_of(
    points: Points, models: Iterable[PrivacyModel], kept: Labels | None = None
) -> list[tuple[PrivacyModel, Counts]]:
    """Each model, and what the rows have in its column.

    Args:
        points: n records, with codes of the columns that the models name.
        models: any number.
        kept: int64, shape (m,); the rows that count; None: all.
    """
    names = [column.name for column in points.sensitive_columns]
    pairs = []
    for model in models:
        spot = spot_of(model.column, names)
        codes = points.sensitive[:, spot]
        column = points.sensitive_columns[spot]
        table = model.counts(column, codes if kept is None else codes[kept])
        pairs.append((model, table))
    return pairs


def persons_among(points: Points, apart: str | None, kept: Labels) -> int:
    """How many persons these rows are of.

    Args:
        points: n records, with codes of the column that says whose each is.
        apart: that column, where the rows of a person are several; None: each record is a person.
        kept: int64, shape (m,); the rows that count.
    """
    if apart is None:
        return len(kept)
    spot = spot_of(apart, [column.name for column in points.sensitive_columns])
    return len(np.unique(points.sensitive[kept, spot]))


def refuse_infeasible(
    points: Points, models: Sequence[PrivacyModel], kept: Labels | None = None
) -> None:
    """Raises DataError for a model that can't be asked of its column, or that no release of these
    rows keeps. Arguments as in ``counts_of``."""
    for model, table in counts_of(points, models, kept):
        model.refuse_table(table)
        if not model.feasible(table):
            raise DataError(model.refusal(table))
