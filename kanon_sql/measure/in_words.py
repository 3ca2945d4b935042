"""What a column loses, in words that a reader can check: how coarse its released values are.

A number that is rounded to a step is off by a quarter of the step on average, and a range of a step
is as wide as that. So a column of points is like rounding to four times its mean absolute error,
and one of ranges to their mean width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kanon_sql.encode.attributes import Numeric
from kanon_sql.encode.cells import category_column, number_column
from kanon_sql.encode.encoded import Encoded
from kanon_sql.points.points import Labels

OF_A_STEP = 4.0
"""A step of rounding, over the mean absolute error that it makes."""

SECONDS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


@dataclass(frozen=True)
class Coarse:
    """How coarse the released values of a column are.

    Attributes:
        generalized: how many released cells don't show their row's own value alone.
        step: for numbers, dates and times, to what the column might have been rounded, in the unit
            of its cells; None where that can't be said.
    """

    generalized: int
    step: float | None


def points_apart(
    encoded: Encoded, source: pa.StructArray, centers: pa.StructArray, released: Labels, j: int
) -> Coarse:
    """How far the released points of a column are from the values of their rows.

    Args:
        encoded: the relation.
        source, centers: the cells of each row and of its class's released point, input order.
        released: int64; the records that are released, canonical order.
        j: the column.
    """
    width, rows = len(encoded.attributes), encoded.order[released]
    if isinstance(encoded.attributes[j], Numeric):
        original, center = (number_column(cells, j, width)[rows] for cells in (source, centers))
        apart = np.abs(original - center)
        known = np.isfinite(apart)
        differ = (original != center) & ~(np.isnan(original) & np.isnan(center))
        step = OF_A_STEP * float(apart[known].mean()) if known.any() else None
        return Coarse(int(differ.sum()), step)
    original, center = (
        np.asarray(category_column(cells, j, width).to_numpy(zero_copy_only=False))[rows]
        for cells in (source, centers)
    )
    return Coarse(int(np.sum(original != center)), None)


def words_of(name: str, sql_type: str, coarse: Coarse, rows: int) -> str:
    """The sentence for a column of ``rows`` released rows."""
    if coarse.generalized == 0:
        return f"no cell of {name} is generalized"
    if coarse.step is not None and coarse.step > 0.0:
        return f"like rounding {name} to {_step(sql_type, coarse.step)}"
    if coarse.generalized == rows:
        return f"all cells of {name} are generalized"
    return f"{of_100(coarse.generalized, rows)} cells of {name} are generalized"


def of_100(part: int, whole: int) -> str:
    """A share as people say it: '6 of 100'; never 0 or all where that isn't so."""
    share = 100.0 * part / whole
    if 0.0 < share < 0.5:
        return "fewer than 1 of 100"
    if 99.5 <= share < 100.0:
        return "more than 99 of 100"
    return f"{share:.0f} of 100"


def _step(sql_type: str, step: float) -> str:
    if sql_type == "DATE":
        return f"{_short(step)} days"
    if sql_type.startswith(("TIME", "TIMESTAMP")):
        seconds = step / 1e6
        for size, unit in SECONDS:
            if seconds >= size:
                return f"{_short(seconds / size)} {unit}"
    return _short(step)


def _short(number: float) -> str:
    """Two digits, and no exponent where there need be none."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
