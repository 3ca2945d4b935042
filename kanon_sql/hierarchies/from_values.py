"""What the built-in kinds of hierarchies make of a column's values.

Each function takes the column's name (for messages), its distinct values as text, whether the
column's type is ordered, and checked options; it gives level columns: level0 the values, the last
one '*'. The result depends on the options and on the set of values, never on their order.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from kanon_sql.errors import DataError
from kanon_sql.hierarchies.kinds import KEY_PATTERN, MASKS, ROOT, Options
from kanon_sql.hierarchies.numeric_bins import bin_levels, read_numbers

DATE = (
    r"^([0-9]{4,6})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2}){0,2})?)?$"
)


FEW = 1000
"""So many values tell which kind fits them."""


def keys(values: pl.Series) -> pl.Series:
    """The texts under which values are looked up: whole numbers without '.0', others as is."""
    return values.str.replace(KEY_PATTERN, "$1")


def counted(number: int, one: str, many: str) -> str:
    """'1 value is', '1,200 values are'."""
    return f"{number:,} {one if number == 1 else many}"


def fitting(values: pl.Series) -> str:
    """The kind that fits values that another one doesn't fit: by the first of them."""
    some = values.head(FEW)
    if bool(read_numbers(some).is_finite().fill_null(value=False).all()):
        return "bins"
    return "date" if bool(some.str.contains(DATE).all()) else "prefix"


def refuse_misfit(kind: str, what: str, column: str, values: pl.Series, wrong: int) -> None:
    """Raises DataError where a kind fits none of the values.

    Args:
        kind: its name.
        what: what each value should be.
        column: the column's name.
        values: the distinct values.
        wrong: how many of them are none.
    """
    if wrong == len(values):
        raise DataError(
            f"No value of {column!r} is {what}, so the kind {kind!r} doesn't fit the column. Did "
            f"you mean {fitting(values)!r}?"
        )


def _constant(values: pl.Series, label: str = ROOT) -> pl.Series:
    return pl.repeat(label, len(values), dtype=pl.String, eager=True)


def flat(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """Any two values meet in the root."""
    return [values, _constant(values)]


def _choose_mask(column: str, values: pl.Series, requested: str | None) -> str:
    """The mask: one that no code contains, so that a masked code is never taken for a code."""
    for mask in (requested,) if requested else MASKS:
        holding = int(values.str.contains(mask, literal=True).sum())
        if holding == 0:
            return mask
    which = "the mask" if requested else f"one of the masks {MASKS}"
    raise DataError(
        f"{counted(holding, 'code', 'codes')} of {column!r} already "
        f"{'contains' if holding == 1 else 'contain'} {which}, so that masked codes could not be "
        "distinguished from them. Choose another character with the option mask."
    )


def prefix(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """A node is what the codes below it begin with. Its label is masked to the longest of them."""
    mask = _choose_mask(column, values, options["mask"])
    frame = pl.DataFrame({"code": values}).with_columns(length=pl.col("code").str.len_chars())
    longest = max(frame["length"].to_list(), default=0)
    step = max(1, -(-longest // options["levels"]))
    levels = [values]
    for keep in (longest - level * step for level in range(1, options["levels"])):
        if keep <= 0:
            break
        nodes = frame.select(
            start=pl.col("code").str.slice(0, keep), length="length"
        ).with_columns(hidden=pl.col("length").max().over("start").cast(pl.Int64) - keep)
        hidden, which = np.unique(nodes["hidden"].clip(0).to_numpy(), return_inverse=True)
        tails = pl.Series([mask * int(h) for h in hidden], dtype=pl.String)
        levels.append(nodes["start"] + tails.gather(which))
    return [*levels, _constant(values)]


def date(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """Day, month, quarter, year, decade; the day only where a value has a time."""
    parts = values.str.extract_groups(DATE).struct.unnest()
    parts.columns = ["year", "month", "day", "time"]
    year, month, day = (parts[name].cast(pl.Int32) for name in ("year", "month", "day"))
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = pl.Series([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]).gather(month - 1)
    last = last + (leap & (month == 2)).cast(pl.Int64)
    wrong = len(values) - int(((year >= 1) & (day <= last)).sum())
    if wrong:
        refuse_misfit("date", "a date such as 2024-05-17", column, values, wrong)
        raise DataError(
            f"The kind 'date' needs dates from the year 1 on, written like 2024-05-17, and "
            f"{counted(wrong, 'distinct value', 'distinct values')} of {column!r} "
            f"{'is' if wrong == 1 else 'are'} none (another format, BC or infinity). Make "
            f"{'it' if wrong == 1 else 'them'} NULL, or bring the column to the type DATE."
        )
    months = parts["year"] + "-" + parts["month"]
    quarters = parts["year"] + "-Q" + ((month + 2) // 3).cast(pl.String)
    decades = (year // 10).cast(pl.String).str.zfill(3) + "0s"
    days = [months + "-" + parts["day"]] if parts["time"].null_count() < len(values) else []
    return [values, *days, months, quarters, parts["year"], decades, _constant(values)]


def bins(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """Nested bins of equal width."""
    numbers = read_numbers(values)
    wrong = len(values) - int(numbers.is_finite().sum())
    if wrong:
        refuse_misfit("bins", "a number", column, values, wrong)
        instead = "" if ordered else "; for other values use the kind 'prefix', 'date' or 'flat'"
        distinct = counted(wrong, "distinct value", "distinct values")
        raise DataError(
            f"The kind 'bins' needs numbers, and {distinct} of {column!r} "
            f"{'is' if wrong == 1 else 'are'} no finite number. Make "
            f"{'it' if wrong == 1 else 'them'} NULL{instead}."
        )
    return [values, *bin_levels(values, numbers, options), _constant(values)]


def ordered(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """Level i joins 2^i neighbours of the list; the label names the first and the last of them."""
    texts = pl.Series(options["ranking"], dtype=pl.String)
    listed: list[str] = (keys(texts) if ordered else texts).unique(maintain_order=True).to_list()
    wrong = int((~values.is_in(listed)).sum())
    if wrong:
        raise DataError(
            f"{counted(wrong, 'distinct value', 'distinct values')} of {column!r} "
            f"{'is' if wrong == 1 else 'are'} not in the list of its hierarchy. Add "
            f"{'it' if wrong == 1 else 'them'} to the option ranking, or make "
            f"{'it' if wrong == 1 else 'them'} NULL."
        )
    between = " .. "
    while any(between in text for text in listed):
        between = f" .{between.strip()} "
    levels = [pl.Series(listed, dtype=pl.String)]
    size = 2
    while size < len(listed):
        groups = [listed[at : at + size] for at in range(0, len(listed), size)]
        labels = [g[0] if len(g) == 1 else f"{g[0]}{between}{g[-1]}" for g in groups]
        levels.append(pl.Series([labels[at // size] for at in range(len(listed))]))
        size *= 2
    return [*levels, _constant(levels[0])]
