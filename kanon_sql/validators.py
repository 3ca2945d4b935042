"""Checks of what a user typed: each takes the name to say and a value, and gives the value's Python
form, or raises OptionError with one sentence.

The one library for options of calls, of methods and of kinds of hierarchies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from kanon_sql.errors import OptionError, a_type, did_you_mean, shown
from kanon_sql.names import caseless

Value = TypeVar("Value", covariant=True)
Check = Callable[[str, Any], Value]
"""Takes the option's name, for the message, and a value as it was typed."""

_words: dict[Check[Any], tuple[str, ...]] = {}

LARGEST = 1e9
"""The largest weight, penalty and gamma: far beyond use, and far from where squares overflow."""

UNBOUNDED = 2**63 - 1


def whole(least: int, most: int = UNBOUNDED) -> Check[int]:
    """A whole number of ``least`` or more."""
    range_text = f"of {least} or more" if most == UNBOUNDED else f"from {least} to {most}"

    def check(name: str, value: Any) -> int:
        if isinstance(value, (float, Decimal)) and math.isfinite(value) and value == value // 1:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise OptionError(f"{name} must be a whole number {range_text}. Got {shown(value)}.")
        return value

    return check


def folded(text: str) -> str:
    """A word without what its spelling may vary in: case, spaces, hyphens and underscores; the
    signs in the names of papers (MDAV*, MDAV+) are written out."""
    written = text.lower().replace("*", "star").replace("+", "plus")
    return re.sub(r"[\s_-]+", "", written)


def spelled(value: Any, known: Iterable[str]) -> str | None:
    """The word that is meant, as it is written in ``known``; None where none is."""
    if not isinstance(value, str):
        return None
    return {folded(word): word for word in known}.get(folded(value))


def words_of(check: Check[Any]) -> tuple[str, ...]:
    """The words that a check takes, for those who complete them; none where it takes others."""
    return _words.get(check, ())


def one_of(
    known: Iterable[str], called: str | None = None, elsewhere: Mapping[str, str] | None = None
) -> Check[str]:
    """One of some words, in any spelling (see ``folded``); ``called`` is how the message calls the
    option, else by its name; ``elsewhere`` has by what a word is called elsewhere, folded, ours."""

    def check(name: str, value: Any) -> str:
        choice = spelled(value, known)
        if choice is not None:
            return choice
        ours = (elsewhere or {}).get(folded(str(value)))
        hint = did_you_mean(str(value), known) if ours is None else f"Did you mean {ours!r}?"
        raise OptionError(f"The {called or name} {shown(value)} is not known. {hint}")

    _words[check] = tuple(known)
    return check


def word(*known: str) -> Check[str]:
    """One of few words, in any spelling, all of which the message names."""

    def check(name: str, value: Any) -> str:
        choice = spelled(value, known)
        if choice is None:
            raise OptionError(f"{name} must be one of {', '.join(known)}. Got {shown(value)}.")
        return choice

    _words[check] = known
    return check


def names(name: str, value: Any) -> tuple[str, ...]:
    """A list of column names, none of them twice."""
    columns = [value] if isinstance(value, str) else value
    if not isinstance(columns, (list, tuple)) or not all(isinstance(n, str) for n in columns):
        raise OptionError(
            f"{name} must be a list of column names, such as ['age', 'zip']. Got {shown(value)}."
        )
    if "" in columns:
        raise OptionError(f"{name} names a column without a name. Write each name out.")
    lowered = [caseless(column) for column in columns]
    twice = [column for column in columns if lowered.count(caseless(column)) > 1]
    if twice:
        raise OptionError(f"{name} names the column {twice[0]!r} twice. Name it once.")
    return tuple(columns)


def one_by_column(words: Iterable[str]) -> Check[str | dict[str, str]]:
    """One of these words, or one for each of some columns."""
    one = one_of(words)

    def check(name: str, value: Any) -> str | dict[str, str]:
        if not isinstance(value, Mapping):
            return one(name, value)
        columns = [str(column) for column in value]
        names(name, columns)
        return {str(column): one(name, word) for column, word in value.items()}

    _words[check] = words_of(one)
    return check


def name_like(example: str) -> Check[str]:
    """One name, of a column or a relation."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            plain = value is None or isinstance(value, (str, int, float))
            got = shown(value) if plain else a_type(value)
            raise OptionError(f"{name} must be a name, such as {example}. Got {got}.")
        return value

    return check


def relation(name: str, value: Any) -> str:
    """The name of a relation, for a kind of hierarchy."""
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"{name} must name a table, view or file. Got {shown(value)}.")
    return value


def as_text(value: Any) -> str:
    """A value as DuckDB writes it, whole numbers without '.0'."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def texts(name: str, value: Any) -> tuple[str, ...]:
    """A list of values of a column; as text, so that any type can be given."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, (list, tuple, Mapping)) for item in values):
        raise OptionError(f"{name} must be a list of single values, such as ['HIV'].")
    return tuple(as_text(item) for item in values)


def ranking(name: str, value: Any) -> tuple[str, ...]:
    """A list of values from first to last, none of them twice."""
    if not isinstance(value, (list, tuple)) or not value or any(v is None for v in value):
        raise OptionError(
            f"{name} must list the values from first to last, such as ['low', 'mid', 'high']. "
            f"Got {shown(value)}."
        )
    values = tuple(as_text(v) for v in value)
    if len(set(values)) < len(values):
        twice = next(text for text in values if values.count(text) > 1)
        raise OptionError(f"{name} lists {twice!r} twice. List it once.")
    return values


def character(name: str, value: Any) -> str:
    """One character."""
    if not isinstance(value, str) or len(value) != 1:
        raise OptionError(f"{name} must be one character, such as '*'. Got {shown(value)}.")
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= LARGEST else None


def number(name: str, value: Any) -> float:
    """A number of 0 or more."""
    parsed = _number(value)
    if parsed is None:
        raise OptionError(f"{name} must be a number from 0 to {LARGEST:g}. Got {shown(value)}.")
    return parsed


def positive(name: str, value: Any) -> float:
    """A number above 0."""
    parsed = _number(value)
    if parsed is None or parsed == 0.0:
        raise OptionError(
            f"{name} must be a number above 0 and up to {LARGEST:g}. Got {shown(value)}."
        )
    return parsed


THRESHOLD_DECIMALS = 6
"""Digits after the point that a threshold may have: so that products with counts stay exact."""


def threshold(least: float, most: float, above: bool = False) -> Check[float]:
    """A number from ``least`` (or above it) to ``most``, with few decimals."""
    range_text = f"above {least:g} and up to {most:g}" if above else f"from {least:g} to {most:g}"

    def check(name: str, value: Any) -> float:
        fits = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        limit = float(value) if fits else math.nan
        if not least <= limit <= most or (above and limit == least):
            raise OptionError(f"{name} must be a number {range_text}. Got {shown(value)}.")
        if round(limit, THRESHOLD_DECIMALS) != limit:
            raise OptionError(
                f"{name} may have {THRESHOLD_DECIMALS} decimals, so that the check is exact. Got "
                f"{shown(value)}."
            )
        return limit

    return check


def limit_by_column(one: Check[float]) -> Check[float | dict[str, float]]:
    """A number, or one for each of some columns."""

    def check(name: str, value: Any) -> float | dict[str, float]:
        if not isinstance(value, Mapping):
            return one(name, value)
        names(name, [str(column) for column in value])
        if not value:
            raise OptionError(f"{name} names no column. Name one, or leave {name} out.")
        return {
            str(column): one(f"{name} of {str(column)!r}", limit)
            for column, limit in value.items()
        }

    return check


def limits_by_value(one: Check[float]) -> Check[float | dict[str, Any]]:
    """A number, or by column or by value such numbers; by column, again by value."""

    def check(name: str, value: Any) -> float | dict[str, Any]:
        if not isinstance(value, Mapping):
            return one(name, value)
        keys = {as_text(key): key for key in value}
        if len(keys) < len(value) or not value:
            raise OptionError(
                f"{name} must give a number for each of some columns or values, none of them "
                f"twice. Got {shown(value)}."
            )
        return {
            text: limits_by_value(one)(f"{name} of {text!r}", value[key])
            for text, key in keys.items()
        }

    return check


def decimal(above: float) -> Check[Decimal]:
    """A number above a bound, exact as it was written."""

    def check(name: str, value: Any) -> Decimal:
        fits = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        exact = Decimal(str(value)) if fits else Decimal("nan")
        if not exact.is_finite() or not exact > above or abs(exact.adjusted()) > 330:
            what = "number above 0" if above == 0 else "finite number"
            raise OptionError(f"{name} must be a {what}, such as 5 or 0.25. Got {shown(value)}.")
        return exact

    return check


def risk(name: str, value: Any) -> float:
    """A probability above 0 and up to 1."""
    fits = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    probability = float(value) if fits else math.nan
    if not 1.0 / LARGEST <= probability <= 1.0:
        raise OptionError(
            f"{name} must be a probability from {1.0 / LARGEST:g} to 1, such as 0.09. Got "
            f"{shown(value)}."
        )
    return probability


def number_or_column(name: str, value: Any) -> float | str:
    """A number above 0, or the name of a column."""
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, str) or not _number(value):
        raise OptionError(
            f"{name} must be a number above 0 and up to {LARGEST:g}, or the name of a "
            f"column. Got {shown(value)}."
        )
    return float(value)


def number_or_best(name: str, value: Any) -> float | str:
    """A number of 0 or more, or 'best'."""
    parsed = _number(value)
    if spelled(value, ["best"]):
        return "best"
    if parsed is None:
        raise OptionError(
            f"{name} must be 'best' or a number from 0 to {LARGEST:g}. Got {shown(value)}."
        )
    return parsed


def share(name: str, value: Any) -> float:
    """A share of the rows, from 0 to 1."""
    parsed = _number(value)
    if parsed is None or parsed > 1.0:
        raise OptionError(
            f"{name} must be a share of the rows from 0 to 1, such as 0.01. Got {shown(value)}."
        )
    return parsed


def extent(name: str, value: Any) -> dict[str, tuple[float, float]]:
    """A lower and an upper bound for each of two columns."""
    pairs = dict(value) if isinstance(value, Mapping) else {}
    bounds = {}
    for column, pair in pairs.items():
        ends = pair.tolist() if hasattr(pair, "tolist") else pair  # of numpy
        if isinstance(ends, (list, tuple)) and len(ends) == 2 and not any(
            isinstance(end, (bool, str)) or not hasattr(end, "__float__") or not math.isfinite(end)
            for end in ends
        ) and ends[0] < ends[1]:
            bounds[str(column)] = (float(ends[0]), float(ends[1]))
    if len(pairs) != 2 or len({caseless(column) for column in bounds}) != 2:
        raise OptionError(
            f"{name} must give a lower and an upper bound for both columns, such as {{'lat': [-90, "
            f"90], 'lon': [-180, 180]}}. Got {shown(value)}."
        )
    return bounds


def box(name: str, value: Any) -> tuple[tuple[float, float], ...]:
    """The bounds of a first and of a second number."""
    try:
        (low, high), (other_low, other_high) = value
        sides = (float(low), float(high)), (float(other_low), float(other_high))
        if all(math.isfinite(end) for side in sides for end in side) and all(
            side[0] < side[1] for side in sides
        ):
            return sides
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"{name} must be the bounds of the first and of the second number, such as [[-90, 90], "
        f"[-180, 180]]. Got {shown(value)}."
    )


def weights(name: str, value: Any) -> dict[str, float]:
    """A number for each of some columns."""
    pairs = dict(value) if isinstance(value, Mapping) else {}
    numbers = {str(column): _number(weight) for column, weight in pairs.items()}
    if not isinstance(value, Mapping) or None in numbers.values():
        raise OptionError(
            f"{name} must map column names to numbers from 0 to {LARGEST:g}, such as "
            f"{{'age': 2}}. Got {shown(value)}."
        )
    names(name, [str(column) for column in value])
    return {column: weight for column, weight in numbers.items() if weight is not None}


def flag(name: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be true or false. Got {shown(value)}.")
    return value
