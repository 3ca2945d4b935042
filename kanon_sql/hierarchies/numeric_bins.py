"""Numbers in nested bins of equal width: the kind 'bins' of the built-in hierarchies.

Widths, starts and edges are decimals, so that 0.3 stands in [0.3, 0.4) and labels are as short as
a person would write them. Bin numbers are integers, and a level divides those of the level below.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"

BINS = 32
"""The most bins that an automatic width makes at the first level, about."""

EXACT = Context(prec=1500, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Holds sums and quotients of any two doubles without rounding."""


def read_numbers(values: pl.Series) -> pl.Series:
    """Texts as doubles; null where a text is no number, infinite where it is too large."""
    texts = pl.when(values.str.contains(NUMBER)).then(values).otherwise(None)
    doubles: pl.Series = pl.select(texts).to_series().cast(pl.Float64, strict=False)
    return doubles


def _nice_width(numbers: Any) -> Decimal:
    """The least of 1, 2, 2.5 and 5 times a power of ten that makes about BINS bins or fewer.

    Whole numbers get a whole width; one number alone, one of about an eighth of it.
    """
    whole = bool(np.all(numbers == np.floor(numbers)))
    if len(numbers) == 0:
        return Decimal(1)
    low, high = Decimal(float(numbers.min())), Decimal(float(numbers.max()))
    wanted = (high - low) / BINS or abs(high) / 8 or Decimal(1)
    power = Decimal(1).scaleb(max(wanted.adjusted(), 0) if whole else wanted.adjusted())
    return next(
        width
        for width in (power * Decimal(times) for times in ("1", "2", "2.5", "5", "10"))
        if width >= wanted and not (whole and width % 1)
    )


def _bin_numbers(values: pl.Series, numbers: Any, width: Decimal, start: Decimal) -> Any:
    """floor((value - start) / width), exactly: int64, or Python ints where those are too small.

    Doubles decide, against the edges as doubles, which is exact but where a text of more digits
    than a double tells rounds to an edge: there, and far out, decimals decide.
    """

    def number(text: str) -> int:
        quotient, rest = divmod(Decimal(text) - start, width)
        return int(quotient) - (rest < 0)

    power = min(int(d.normalize().as_tuple().exponent) for d in (width, start))
    unit, first = int(width.scaleb(-power)), int(start.scaleb(-power))
    reach = max((abs(float(n)) for n in (numbers.min(), numbers.max())), default=0.0)
    far = Decimal(reach).scaleb(-power) + abs(first) + unit
    if abs(power) > 22 or far > 10**14:
        exact_bins = np.empty(len(values), object)
        exact_bins[:] = [number(text) for text in values.to_list()]
        return exact_bins

    def edge(bins: Any) -> Any:
        whole = (first + bins * unit).astype(np.float64)
        return whole / 10.0**-power if power < 0 else whole * 10.0**power

    bins = np.floor((numbers - float(start)) / float(width)).astype(np.int64)
    bins -= numbers < edge(bins)
    bins += numbers >= edge(bins + 1)
    long = (values.str.len_chars() > 15) | values.str.contains("[eE]")
    for row in np.flatnonzero((numbers == edge(bins)) & long.to_numpy()):
        bins[row] = number(values[int(row)])
    return bins


def _number_text(number: Decimal) -> str:
    number = number.normalize()
    if number.is_zero():
        return "0"
    return format(number, "f" if -7 <= number.adjusted() < 16 else "e")


def bin_levels(
    values: pl.Series, numbers: pl.Series, options: Mapping[str, Any]
) -> list[pl.Series]:
    """The labels of all levels but the values and the root, as many as options['levels'] - 1.

    Args:
        values: distinct numbers as text.
        numbers: the same as finite doubles.
        options: levels, width (or None), start, factor: bins of the first level are
            [start + n width, start + (n + 1) width), and factor neighbours make one of the next.
    """
    if len(values) == 0:
        return [values] * (options["levels"] - 1)
    doubles = numbers.to_numpy()
    levels: list[pl.Series] = []
    with localcontext(EXACT):
        start, factor = options["start"], options["factor"]
        width = options["width"] or _nice_width(doubles)
        bins, home = np.unique(
            _bin_numbers(values, doubles, width, start), return_inverse=True
        )
        known: dict[int, str] = {}

        def edge(step: int) -> str:
            if step not in known:
                known[step] = _number_text(start + step * width)
            return known[step]

        for level in range(options["levels"] - 1):
            mine, above = np.unique(bins, return_inverse=True)
            size = factor**level
            labels = pl.Series(
                [f"[{edge(b * size)}, {edge(b * size + size)})" for b in mine.tolist()],
                dtype=pl.String,
            )
            levels.append(labels.gather(above).gather(home))
            bins = bins // factor
    return levels
