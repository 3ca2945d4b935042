"""The privacy models of a call as kernels take them: codes of the records, counts of the table,
thresholds.

Shares are those of the rows that are released, so demands are made anew where rows are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Codes, Floats, Labels, Points
from kanon_sql.privacy.demand import EQUAL, Demand, Tables
from kanon_sql.privacy.model import PrivacyModel, spot_of

FEW = 64
"""The most values of a column of which the counts of each class are kept."""


class Demands(NamedTuple):
    """J demands on every class.

    Each demand looks at one or more columns of codes, one for each level of a hierarchy. Codes of a
    column are 0 .. m, where m stands for a missing value; its tables have m + 1 entries.

    Attributes:
        codes: int32, shape (n, columns).
        kind: int64, shape (J,).
        column: int64, shape (J + 1,); the first column of each.
        values: int64, shape (columns,); m.
        worst: bool, shape (J,); whether a missing value counts against the class, and is no value
            of its own.
        rows: int64, shape (J,); the rows of the table.
        missing: int64, shape (J,); those of them without a value.
        number: float64, shape (J, 2); l and c; t; or the least upper bound of a missing value,
            and the sum of the lower bounds.
        over, under: int64, shape (J,); c or t as a fraction; or how many lower bounds there are.
        first: int64, shape (columns,); where the tables of a column begin.
        counts: int64, shape (T,); how often each value is in the table.
        upto: int64, shape (T,); how many rows have that value or a lower one.
        area: int64, shape (T,); the sum of ``upto`` over all lower values.
        share: float64, shape (T,); of the rows that have a value, those with that or a lower one.
        place: float64, shape (T,); where the value lies between the least, at 0, and the largest,
            at 1.
        moment: float64, shape (T,); the sum of ``share`` times gap over all lower values.
        upper, lower: float64, shape (T,); the bounds of its share of a class.
        kept_at: int64, shape (columns,); where the codes of a column begin among those of which a
            search keeps the counts of each class; -1 for a column of more than FEW values.
        width: how many codes these are.
        most: the most of them in one column.
        light: whether all demands go by the equal ground distance, and all counts are kept.
    """

    codes: Codes
    kind: Labels
    column: Labels
    values: Labels
    worst: npt.NDArray[np.bool_]
    rows: Labels
    missing: Labels
    number: Floats
    over: Labels
    under: Labels
    first: Labels
    counts: Labels
    upto: Labels
    area: Labels
    share: Floats
    place: Floats
    moment: Floats
    upper: Floats
    lower: Floats
    kept_at: Labels
    width: int
    most: int
    light: bool


def demands_of(points: Points, models: Sequence[PrivacyModel], kept: Labels) -> Demands:
    """What the models demand of classes of some of the records.

    Args:
        points: n records, with the codes of the sensitive columns that the models name.
        models: at least one.
        kept: int64, shape (m,); the records that are released, which are the table.
    """
    names = [column.name for column in points.sensitive_columns]
    tables, demands, column, table_rows, missing = Tables(), [], [0], [], []
    for model in models:
        spot = spot_of(model.column, names)
        codes = np.ascontiguousarray(points.sensitive[:, spot])
        counts = model.counts(points.sensitive_columns[spot], codes[kept])
        demands.append(model.demand(codes, counts, tables))
        column.append(len(tables.codes))
        table_rows.append(counts.rows)
        # where a missing value is a value of its own, none is missing
        missing.append(counts.missing if demands[-1].worst else 0)
    return _packed(tables, demands, column, table_rows, missing)


def _packed(
    tables: Tables, demands: list[Demand], column: list[int], rows: list[int], missing: list[int]
) -> Demands:
    upto = [np.cumsum(counts) for counts in tables.counts]
    known = [np.cumsum(np.append(counts[:-1], 0)) for counts in tables.counts]
    share = [part / max(int(part[-1]), 1) for part in known]
    moment = [
        np.append(0.0, np.cumsum(part[:-1] * np.diff(place)))
        for part, place in zip(share, tables.place, strict=True)
    ]
    few = np.array([m + 1 if m <= FEW else 0 for m in tables.values], np.int64)
    kept_at = np.where(few > 0, np.cumsum(few) - few, -1)
    return Demands(
        np.ascontiguousarray(np.column_stack(tables.codes).astype(np.int32)),
        np.array([each.kind for each in demands], np.int64),
        np.array(column, np.int64),
        np.array(tables.values, np.int64),
        np.array([each.worst for each in demands], np.bool_),
        np.array(rows, np.int64),
        np.array(missing, np.int64),
        np.array([each.number for each in demands], np.float64),
        np.array([each.fraction.numerator for each in demands], np.int64),
        np.array([each.fraction.denominator for each in demands], np.int64),
        np.cumsum([0, *(len(part) for part in tables.counts)])[:-1].astype(np.int64),
        np.concatenate(tables.counts),
        np.concatenate(upto),
        np.concatenate([np.append(0, np.cumsum(part)[:-1]) for part in upto]),
        np.concatenate(share),
        np.concatenate(tables.place),
        np.concatenate(moment),
        np.concatenate(tables.upper),
        np.concatenate(tables.lower),
        kept_at,
        int(few.sum()),
        int(few.max(initial=0)),
        bool((kept_at >= 0).all()) and all(each.kind == EQUAL for each in demands),
    )
