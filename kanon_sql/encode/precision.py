"""The precision of a column: how fine its values are, so that their mean is told no finer.

A mean of amounts in cents has no meaning beyond the cent, and its further digits tell an attacker
the sum of the class. The precision is that of all rows of the relation, so that it says nothing of
a class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import number_column
from kanon_sql.names import caseless
from kanon_sql.points.points import Floats

DECIMALS = tuple(10**digits for digits in range(10))
"""How many steps a number may have in 1: as many decimals are looked for. Values with more have no
precision of their own, such as those that were computed."""

UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000)
"""How many microseconds a step of a time may have: a day, hour, minute, second or millisecond."""

TIMES = re.compile(r"TIME|TIMESTAMP(_S|_MS)?|TIMESTAMP WITH TIME ZONE")

PIECE = 1 << 18
"""So many values are looked at together."""


def steps_of_type(sql_type: str) -> tuple[int, ...]:
    """The steps that values of a SQL type may have, the coarsest first; none where the type alone
    says how fine they are."""
    if sql_type in ("FLOAT", "DOUBLE"):
        return DECIMALS
    return UNITS if TIMES.fullmatch(sql_type) else ()


def precisions_of(rows: Rows, columns: Sequence[Column]) -> dict[str, int]:
    """The steps of the columns that have some, by their names in lower case.

    Args:
        rows: all rows; of n.
        columns: the quasi-identifiers.
    """
    found = {}
    for j, column in enumerate(columns):
        if steps_of_type(column.sql_type) and is_numeric(column.sql_type):
            values = number_column(rows.fields["cells"], j, len(columns))
            steps = steps_of(values, column.sql_type)
            if steps is not None:
                found[caseless(column.name)] = steps
    return found


def steps_of(values: Floats, sql_type: str) -> int | None:
    """The coarsest steps on which all values lie: of numbers how many there are in 1, of times how
    many microseconds one has. None if there are none.

    Args:
        values: float64, shape (n,); NaN is missing.
        sql_type: their SQL type.
    """
    steps, spot = steps_of_type(sql_type), 0
    for begin in range(0, len(values), PIECE):
        piece = values[begin:begin + PIECE]
        piece = piece[np.isfinite(piece)]
        while spot < len(steps) and not _on_steps(piece, steps[spot], sql_type):
            spot += 1
    return steps[spot] if spot < len(steps) else None


def _on_steps(values: Floats, steps: int, sql_type: str) -> bool:
    if sql_type not in ("FLOAT", "DOUBLE"):
        return bool(np.all(np.fmod(values, float(steps)) == 0.0))
    with np.errstate(over="ignore"):
        nearest = np.rint(values * float(steps)) / float(steps)
    if sql_type == "FLOAT":
        return bool(np.all(nearest.astype(np.float32) == values.astype(np.float32)))
    return bool(np.all(nearest == values))
