"""What privacy models a table can keep at all: asked before anything is grouped.

A model is kept by the union of two classes that keep it, so that some release keeps it exactly if
one class of all rows does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from kanon_sql.constraints import Closeness, EntityShare, PrivacyModel, RecursiveDiversity
from kanon_sql.constraints.constraint import spot_of
from kanon_sql.errors import DataError
from kanon_sql.points.points import Labels, Points
from kanon_sql.points.sensitive import Counts, SensitiveColumn, refuse_strangers

MANY_VALUES = 50
"""The most distinct values of a column with an order of which l says something: 30000 and 30001
are two salaries, and no diversity."""

TOLD_APART = ("name", "column", "nulls", "by_value", "kind")
"""Fields of models that are told in other words, or that hold values of the data."""


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
    found = []
    for model in models:
        spot = spot_of(model.column, names)
        codes = points.sensitive[:, spot]
        table = Counts.of(points.sensitive_columns[spot], codes if kept is None else codes[kept])
        found.append((model, table))
    return found


def refuse_infeasible(
    points: Points, models: Sequence[PrivacyModel], kept: Labels | None = None
) -> None:
    """Raises DataError for a model that can't be asked of its column, or that no release of these
    rows keeps. Arguments as in ``counts_of``."""
    for model, table in counts_of(points, models, kept):
        _refuse_column(model, table.column)
        if isinstance(model, EntityShare):
            refuse_strangers(model.column, table.missing)
        if isinstance(model, EntityShare) and not model.feasible(table):
            raise DataError(
                f"No release has {model.k} persons in every class, none of them with more than one "
                f"{model.k}th of its rows: one person of the column {model.column!r} has "
                f"{model.most(table)} of all {table.rows} rows. Lower k, or use entity_rows "
                "'together'."
            )
        if not model.feasible(table):
            least = model.least_class(table)
            few = f", and no class of fewer than {least} rows could pass" if least > 1 else ""
            raise DataError(
                f"No release keeps {asked(model)} for the column {model.column!r}: one class of "
                f"all {table.rows} rows {_reached(model, table)}, which is the best that this "
                f"table allows{few}. Ask for less by {_options(model)}, or release nothing."
            )


def asked(model: PrivacyModel) -> str:
    """A model and its thresholds in words, without values of the data."""
    told = {
        name: value for name, value in model.told().items()
        if name not in TOLD_APART and value is not None
    }
    thresholds = ", ".join(f"{name} = {value}" for name, value in told.items())
    return f"{model.name} with {thresholds or f'{model.option} by value'}"


def _options(model: PrivacyModel) -> str:
    return "l and c" if isinstance(model, RecursiveDiversity) else model.option


def _reached(model: PrivacyModel, table: Counts) -> str:
    """What one class of all rows has, on the scale of the threshold."""
    best = model.best(table)
    if not isinstance(model, RecursiveDiversity):
        return f"has {model.option} = {best:.9g}"
    if math.isinf(best):
        return "has too few values for any c"
    return f"needs c above {best:.9g}"


def _refuse_column(model: PrivacyModel, column: SensitiveColumn) -> None:
    """Raises DataError for a model that means nothing in this column."""
    name, has_tree = model.column, len(column.levels) > 0
    # with a hierarchy l counts the nodes just above the leaves
    by_leaf = len(column.levels) < 2
    if model.option == "l" and column.ordered and column.values > MANY_VALUES and by_leaf:
        raise DataError(
            f"l says nothing about the column {name!r}: it has {column.values} distinct values "
            f"with an order, more than {MANY_VALUES}, and neighbours among them are nearly alike. "
            "Ask for t instead, or give the column a hierarchy such as 'bins'."
        )
    if not isinstance(model, Closeness):
        return
    distance = model.distance_of(column)
    if distance in ("ordered", "numeric") and not column.ordered:
        raise DataError(
            f"The closeness {distance!r} needs an order of the values, and the column {name!r} has "
            "none: it holds no numbers, dates or times. Choose 'equal' or 'hierarchy'."
        )
    if distance == "hierarchy" and not has_tree:
        raise DataError(
            f"The closeness 'hierarchy' needs a hierarchy, and the column {name!r} has none. Give "
            "it one in hierarchies, or choose another closeness."
        )
    if distance == "numeric" and np.isinf(column.numbers).any():
        raise DataError(
            f"The closeness 'numeric' needs finite numbers, and the column {name!r} has infinite "
            "ones. Replace them by NULL, or choose 'ordered'."
        )
