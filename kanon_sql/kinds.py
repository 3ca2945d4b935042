"""The kinds of generalization hierarchies that are made from a column's values.

Each kind turns distinct values, as text, into level columns: level0 the values, the last one '*'.
What a kind makes depends on its options and on the set of values, never on their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kanon_sql.bins import BINS, bin_levels, read_numbers
from kanon_sql.errors import DataError, OptionError, did_you_mean

ROOT = "*"
MOST_LEVELS = 64
MASKS = "*#?_~@"
KEY_PATTERN = r"^([+-]?[0-9]+)\.0+$"
"""Numbers that end in zeros only; their key is the group, so that 39.0 and 39 are one value."""

DATE = (
    r"^([0-9]{4,6})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2}){0,2})?)?$"
)
Options = Mapping[str, Any]


@dataclass(frozen=True)
class KindOption:
    """One option of a kind.

    Attributes:
        description: one sentence.
        default: the value when it isn't given; None where the kind finds it from the data.
        check: takes the option's full name (for the message) and a value, returns the value as
            used; raises OptionError.
    """

    description: str
    default: Any
    check: Callable[[str, Any], Any]
    required: bool = False


@dataclass(frozen=True)
class Kind:
    """One kind of hierarchy.

    Attributes:
        name: what a user types.
        description: one sentence.
        columns: the most level columns it makes with these (checked) options.
        build: the column's name (for messages), distinct values, whether the column's type is
            ordered, checked options -> level columns.
        options: what can be set.
        in_order: whether the values come out in an order to keep.
    """

    name: str
    description: str
    columns: Callable[[Options], int]
    build: Callable[[str, pl.Series, bool, Options], list[pl.Series]]
    options: Mapping[str, KindOption] = field(default_factory=dict)
    in_order: bool = False


def keys(values: pl.Series) -> pl.Series:
    """The texts under which values are looked up: whole numbers without '.0', others as is."""
    return values.str.replace(KEY_PATTERN, "$1")


def counted(number: int, one: str, many: str) -> str:
    """'1 value is', '1,200 values are'."""
    return f"{number:,} {one if number == 1 else many}"


def _whole(least: int, most: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        if isinstance(value, (float, Decimal)) and value == value // 1:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise OptionError(
                f"{name} must be a whole number from {least} to {most}. Got {value!r}."
            )
        return value

    return check


def _number(above: float) -> Callable[[str, Any], Decimal]:
    def check(name: str, value: Any) -> Decimal:
        fits = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        number = Decimal(str(value)) if fits else Decimal("nan")
        if not number.is_finite() or not number > above or abs(number.adjusted()) > 320:
            what = "number above 0" if above == 0 else "finite number"
            raise OptionError(f"{name} must be a {what}, such as 5 or 0.25. Got {value!r}.")
        return number

    return check


def _mask(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) != 1:
        raise OptionError(f"{name} must be one character, such as '*'. Got {value!r}.")
    return value


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _list(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value or any(v is None for v in value):
        raise OptionError(
            f"{name} must list the values from first to last, such as ['low', 'mid', 'high']. "
            f"Got {value!r}."
        )
    texts = tuple(_value_text(v) for v in value)
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise OptionError(f"{name} lists {twice!r} twice. List it once.")
    return texts


def _constant(values: pl.Series, label: str = ROOT) -> pl.Series:
    return pl.repeat(label, len(values), dtype=pl.String, eager=True)


def _flat(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    return [values, _constant(values)]


def _choose_mask(column: str, values: pl.Series, given: str | None) -> str:
    """The mask: one that no code contains, so that a masked code is never taken for a code."""
    for mask in (given,) if given else MASKS:
        holding = int(values.str.contains(mask, literal=True).sum())
        if holding == 0:
            return mask
    which = "the mask" if given else f"one of the masks {MASKS}"
    raise DataError(
        f"{counted(holding, 'code', 'codes')} of {column!r} already "
        f"{'contains' if holding == 1 else 'contain'} {which}, so that masked codes could not be "
        "told from them. Choose another character with the option mask."
    )


def _prefix(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
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


def _date(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    parts = values.str.extract_groups(DATE).struct.unnest()
    parts.columns = ["year", "month", "day", "time"]
    year, month, day = (parts[name].cast(pl.Int32) for name in ("year", "month", "day"))
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = pl.Series([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]).gather(month - 1)
    last = last + (leap & (month == 2)).cast(pl.Int64)
    wrong = len(values) - int(((year >= 1) & (day <= last)).sum())
    if wrong:
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


def _bins(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    numbers = read_numbers(values)
    wrong = len(values) - int(numbers.is_finite().sum())
    if wrong:
        instead = "" if ordered else "; for other values use the kind 'prefix', 'date' or 'flat'"
        distinct = counted(wrong, "distinct value", "distinct values")
        raise DataError(
            f"The kind 'bins' needs numbers, and {distinct} of {column!r} "
            f"{'is' if wrong == 1 else 'are'} no finite number. Make "
            f"{'it' if wrong == 1 else 'them'} NULL{instead}."
        )
    return [values, *bin_levels(values, numbers, options), _constant(values)]


def _ordered(column: str, values: pl.Series, ordered: bool, options: Options) -> list[pl.Series]:
    """Level i joins 2^i neighbours of the list; the label names the first and the last of them."""
    texts = pl.Series(options["values"], dtype=pl.String)
    listed: list[str] = (keys(texts) if ordered else texts).unique(maintain_order=True).to_list()
    wrong = int((~values.is_in(listed)).sum())
    if wrong:
        raise DataError(
            f"{counted(wrong, 'distinct value', 'distinct values')} of {column!r} "
            f"{'is' if wrong == 1 else 'are'} not in the list of its hierarchy. Add "
            f"{'it' if wrong == 1 else 'them'} to the option values, or make "
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


def _ordered_columns(options: Options) -> int:
    return max(2, math.ceil(math.log2(len(options["values"]))) + 1)


def _levels_option(text: str) -> KindOption:
    return KindOption(f"How many levels lie above the values, the '*' included: {text}.", 5,
                      _whole(1, MOST_LEVELS))


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("flat", "Any two values meet in '*'.", lambda options: 2, _flat),
        Kind(
            "prefix",
            "Codes, hidden from the end step by step: 47906, 4790*, 479**, 47***, 4****, *.",
            lambda options: options["levels"] + 1, _prefix,
            {
                "levels": _levels_option("each hides an equal share of the longest code"),
                "mask": KindOption(
                    "The character that stands for a hidden one; '*', or where codes contain it "
                    f"the first of {MASKS} that they do not.", None, _mask,
                ),
            },
        ),
        Kind(
            "date",
            "Dates and timestamps: day, month 2024-05, quarter 2024-Q2, year 2024, decade 2020s, "
            "*; a date is its own day.",
            lambda options: 7, _date,
        ),
        Kind(
            "bins",
            "Numbers in bins of equal width, each level's joined from those of the level below: "
            "37, [35, 40), [30, 40), [20, 40), [0, 40), *.",
            lambda options: options["levels"] + 1, _bins,
            {
                "width": KindOption(
                    "How wide the narrowest bins are; else 1, 2, 2.5 or 5 times a power of ten, "
                    f"the least that needs no more than about {BINS} bins.", None, _number(0),
                ),
                "levels": _levels_option("all but the last are bins"),
                "factor": KindOption(
                    "How many bins of a level make one of the next.", 2, _whole(2, 1000)
                ),
                "start": KindOption(
                    "A number where bins of all levels begin.", Decimal(0), _number(-math.inf)
                ),
            },
        ),
        Kind(
            "ordered",
            "A list from first to last, neighbours joined by two, four, eight: low, low .. mid, *.",
            _ordered_columns, _ordered,
            {
                "values": KindOption(
                    "All values in their order.", None, _list, required=True
                ),
            },
            in_order=True,
        ),
    )
}


def check_kind(column: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kind and all its options, checked, defaults filled in.

    Args:
        column: the column's name, for messages.
        spec: {'kind': 'bins', 'width': 10}; None stands for "not given".

    Raises:
        OptionError: no kind or an unknown one, an unknown option, a value that can't be.
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kind"), str):
        raise OptionError(
            f"The hierarchy of {column!r} names no kind. Give one of "
            f"{', '.join(repr(name) for name in KINDS)}, such as {{'kind': 'flat'}}."
        )
    kind = KINDS.get(spec["kind"])
    if kind is None:
        hint = did_you_mean(spec["kind"], KINDS)
        raise OptionError(
            f"The kind {spec['kind']!r} of the hierarchy of {column!r} is not known. {hint}"
        )
    given = {name: value for name, value in spec.items() if name != "kind" and value is not None}
    for name in given:
        if name not in kind.options:
            hint = did_you_mean(name, kind.options) if kind.options else "It takes none."
            raise OptionError(
                f"The kind {kind.name!r} of the hierarchy of {column!r} has no option {name!r}. "
                f"{hint}"
            )
    checked: dict[str, Any] = {"kind": kind.name}
    for name, option in kind.options.items():
        if option.required and name not in given:
            raise OptionError(
                f"The kind {kind.name!r} of the hierarchy of {column!r} needs the option "
                f"{name!r}. {option.description}"
            )
        full = f"The option {name!r} of the hierarchy of {column!r}"
        checked[name] = option.check(full, given[name]) if name in given else option.default
    return checked


def level_count(kind: str, options: Mapping[str, Any]) -> int:
    """The most level columns (level0 and the root included) that built_in makes; needs no data.

    Raises:
        OptionError: as check_kind.
    """
    checked = check_kind(kind, {**options, "kind": kind})
    return KINDS[kind].columns(checked)
