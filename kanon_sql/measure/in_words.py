"""What a column loses, in words that a reader can check: how coarse its released values are.

A number that is rounded to a step is off by a quarter of the step on average, and a range of a step
is as wide as that. So a column of points is like rounding to four times its mean absolute error,
and one of ranges to their mean width.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np

from kanon_sql.encode.attributes import Numeric
from kanon_sql.encode.cells import AnyCells, categories_of_both, number_column
from kanon_sql.encode.encoded import Encoded
from kanon_sql.points.points import Labels

OF_A_STEP = 4.0
"""A step of rounding, over the mean absolute error that it makes."""

YEAR = 365.25
"""In days; of two years or more, differences are told in years."""

SECONDS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


@dataclass(frozen=True)
class CellErrors:
    """How far released numbers are from those of their rows, in the unit of the cells.

    Attributes:
        mean: on average.
        half, most: what half of the rows, and nine of ten, are not above.
        unknown: how many rows have no number where their class has one, or the other way round.
    """

    mean: float
    half: float
    most: float
    unknown: int = 0


@dataclass(frozen=True)
class Coarse:
    """How coarse the released values of a column are.

    Attributes:
        generalized: how many released cells don't show their row's own value alone.
        step: for numbers, dates and times, to what the column might have been rounded, in the unit
            of its cells; None where that can't be said.
        errors: of released numbers; None of all else.
    """

    generalized: int
    step: float | None
    errors: CellErrors | None = None


def points_apart(
    encoded: Encoded, source: AnyCells, centers: AnyCells, released: Labels, j: int
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
        if not known.any():
            return Coarse(int(differ.sum()), None)
        mean = float(apart[known].mean())
        half, most = np.quantile(apart[known], [0.5, 0.9], method="inverted_cdf").tolist()
        errors = CellErrors(mean, half, most, int(np.sum(differ & ~known)))
        return Coarse(int(differ.sum()), OF_A_STEP * mean, errors)
    words, released_words = categories_of_both(source, centers, j, width)
    return Coarse(int(np.sum(words[rows] != released_words[rows])), None)


def words_of(name: str, sql_type: str, coarse: Coarse, rows: int) -> str:
    """The sentence for a column of ``rows`` released rows."""
    if coarse.generalized == 0:
        return f"no cell of {name} is generalized"
    if coarse.step is not None and coarse.step > 0.0:
        return f"like rounding {name} to {_step(sql_type, coarse.step)}"
    if coarse.generalized == rows:
        return f"all cells of {name} are generalized"
    return f"{of_100(coarse.generalized, rows)} cells of {name} are generalized"


def errors_in_unit(sql_type: str, errors: CellErrors) -> float:
    """The mean error in the unit of the column: days of a date, seconds of a time."""
    return errors.mean / 1e6 if sql_type.startswith("TIME") else errors.mean


def words_of_errors(sql_type: str, errors: CellErrors, rows: int) -> str:
    """What follows 'age is': how far a column of ``rows`` released numbers is off.

    What half of the rows are not above is an error of one row. So it is rounded up, to 1, 2 or 5
    times a power of ten.
    """
    beside = f"; in {of_100(errors.unknown, rows)} rows one of the two is missing"
    end = beside if errors.unknown else ""
    if errors.mean == 0.0:
        return f"exact{end}"
    half, most = (
        f"by at most {_amount(sql_type, error, up=True)}" if error > 0.0 else "not at all"
        for error in (errors.half, errors.most)
    )
    return (
        f"off by {_amount(sql_type, errors.mean)} on average, half of the rows {half}, "
        f"nine of ten {most}{end}"
    )


SHOWN_AS = {
    "point": "carry another value than their own", "number": "show the number of their class",
    "agreed": "show nothing", "node": "show a label of the hierarchy",
    "level": "show a label of the hierarchy",
    **dict.fromkeys(("range", "set", "box", "closed_box"), "show a set of values"),
    "untold": "do not show exactly their own value",
}
"""What rows show that don't show their own value, by the forms of measure/released.py."""


def words_of_changes(sql_type: str, coarse: Coarse, rows: int, form: str) -> str:
    """What follows 'sex:', how many of ``rows`` released cells don't show their row's own value,
    and what they show in their class's ``form``."""
    if coarse.generalized == 0:
        return "every row shows its own value"
    count = "all" if coarse.generalized == rows else of_100(coarse.generalized, rows)
    ranges = SHOWN_AS[form] == SHOWN_AS["range"] and coarse.step is not None
    if ranges and coarse.step:
        return f"{count} rows show a range, {_amount(sql_type, coarse.step)} wide on average"
    return f"{count} rows {SHOWN_AS[form]}"


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


def _amount(sql_type: str, amount: float, up: bool = False) -> str:
    """A difference with its unit, in two digits; or rounded up to 1, 2 or 5 times a power of ten
    of that unit."""
    size, unit = 1.0, ""
    if sql_type == "DATE":
        size, unit = (YEAR, "years") if amount >= 2 * YEAR else (1.0, "days")
    elif sql_type.startswith("TIME"):
        seconds = amount / 1e6
        size, unit = next((each for each in SECONDS if seconds >= each[0]), SECONDS[-1])
        size *= 1e6
    number = _short(_round_up(amount / size) if up else amount / size)
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}".strip()


def _round_up(number: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not below it; itself where no double is
    one."""
    power = 10.0 ** floor(log10(number))
    enough = (times * power for times in (1, 2, 5, 10) if times * power * (1 + 1e-9) >= number)
    return next((each for each in enough if isfinite(each)), number)


def _short(number: float) -> str:
    """Two digits, and no exponent where there need be none."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if 10 <= rounded < 1e15 else f"{number:.2g}"
