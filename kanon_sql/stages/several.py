"""Persons whose rows have several sensitive values: what is refused for their sake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import Taxonomy
from kanon_sql.encode.persons import several_values
from kanon_sql.encode.sensitive import fit_sensitive, sensitive_codes
from kanon_sql.errors import DataError
from kanon_sql.methods import GroupTask
from kanon_sql.names import caseless
from kanon_sql.points.points import Labels, Points
from kanon_sql.points.sensitive import Counts
from kanon_sql.privacy.feasible import counts_of
from kanon_sql.privacy.model import PrivacyModel, spot_of


def refuse_several(
    points: Points, task: GroupTask, rows: Rows, of_row: Labels, sensitive: Sequence[Column],
    trees: Mapping[str, Taxonomy], followed: bool,
) -> None:
    """Raises DataError for a model that no release keeps since persons have several values, which
    count as missing: it says what would keep it, or else what even the rows don't keep.

    Args:
        points: the persons.
        task: what each class must keep.
        rows: their rows; the fields secrets are read.
        of_row: int64, shape (n,); the person of each row.
        sensitive: the sensitive columns, in the order of their cells.
        trees: hierarchies by column name.
        followed: whether a ledger follows the persons, so that the rows of none may be apart.
    """
    by_name = {caseless(name): tree for name, tree in trees.items()}
    for model, table in counts_of(points, task.models):
        if _refusal(model, table) is None:
            continue
        spot = spot_of(model.column, [column.name for column in sensitive])
        persons = several_values(rows.fields["secrets"].words[spot], of_row)
        if not persons:
            continue
        columns = fit_sensitive(rows, [replace(each, known=None) for each in sensitive], by_name)
        of_rows = model.counts(columns[spot], sensitive_codes(rows, columns)[:, spot])
        of_rows_alone = _refusal(model, of_rows)
        fit = not followed and int(np.bincount(of_row).max()) * task.k <= len(of_row)
        helps = ["entity_rows='apart', which counts rows"] if fit and not of_rows_alone else []
        if _refusal(replace(model, nulls="value"), table) is None:
            helps.append("sensitive_nulls='value'")
        if of_rows_alone and not helps:
            raise of_rows_alone
        hint = f"Use {', or '.join(helps)}." if helps else "Leave it out."
        raise DataError(
            f"The rows of {persons} of the {len(points)} persons differ in {model.column!r}, so it "
            f"counts as missing for them, and {model.asked} can't be kept. {hint}"
        )


def _refusal(model: PrivacyModel, table: Counts) -> DataError | None:
    """What is said of a model where a column has these values; None where some release keeps it."""
    try:
        model.refuse_table(table)
        return None if model.feasible(table) else DataError(model.refusal(table))
    except DataError as refusal:
        return refusal
