"""How published texts are written: numbers, dates, lists with and without quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Parser = Callable[[str], float | None]

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DATE = r"-?\d{4,6}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_MOMENT = re.compile(
    rf"({_DATE})( \(BC\))?(?:[ T]({_TIME})(?:([-+])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?|Z)?)?"
)
_DAY = 86_400_000_000
_USUAL_NUMBER = r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"
_USUAL_MOMENT = r"^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?$"


def _number(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text) else np.inf
    return value if np.isfinite(value) else None


def _single(text: str) -> float | None:
    """As a FLOAT has it."""
    value = _number(text)
    with np.errstate(over="ignore"):  # what is beyond the largest is none
        single = np.inf if value is None else float(np.float32(value))
    return single if np.isfinite(single) else None


def _clock(text: str) -> float | None:
    """Microseconds of a day."""
    if not re.fullmatch(_TIME, text):
        return None
    hours, minutes, seconds = [*text.split(":"), "0"][:3]
    whole, _, part = seconds.partition(".")
    micros = int(part.ljust(6, "0")[:6])  # of nanoseconds what a TIMESTAMP has
    return float(((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1_000_000 + micros)


def _moment(text: str) -> float | None:
    """Microseconds since 1970."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    date, early, time, sign, hours, minutes, seconds = match.groups()
    if early:  # the year 1 BC is the year 0
        year, _, rest = date.partition("-")
        date = f"{1 - int(year):05d}-{rest}" if int(year) > 1 else f"0000-{rest}"
    try:
        days = int(np.datetime64(date, "D").astype(np.int64))
    except ValueError:  # no such day
        return None
    offset = ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)) * 1_000_000
    clock = _clock(time) if time else 0.0
    return days * _DAY + (clock or 0.0) - (offset if sign == "+" else -offset)


def _day(text: str) -> float | None:
    moment = _moment(text)
    return None if moment is None else moment / _DAY


def number_parser(places: Mapping[str, int], numbers: npt.NDArray[np.float64]) -> Parser:
    """What turns texts into numbers, learnt from a column's values as texts and as numbers.

    Numbers are what they say, dates days, timestamps and times microseconds. Values are known
    whatever they look like; other texts are None unless they look like the values.

    Args:
        places: the place of each value.
        numbers: float64, one at each place.
    """
    def known(text: str) -> float | None:
        at = places.get(text)
        return None if at is None else float(numbers[at])

    # other numbers beside a column of FLOAT, such as means, are not of its type
    parsers = (_number, _single, _day, _moment, _clock)
    some = list(islice(places, 100))
    fitting = [p for p in parsers if all(p(text) == known(text) for text in some)]
    if not fitting:
        return known
    parse = _number if fitting[0] is _single else fitting[0]

    def number(text: str) -> float | None:
        value = known(text)
        return parse(text) if value is None else value

    return number


_BARE = r"""[^,'"\s](?:[^,'"]*[^,'"\s])?"""
_ITEM = re.compile(
    rf"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|({_BARE}))\s*,""", re.DOTALL
)


def quoted_items(text: str) -> list[str | None] | None:
    """The items of a list as DuckDB, Python or JSON write it, without its brackets.

    Items with commas or quotes in them are quoted, with backslashes; NULL without quotes is NULL.
    None: it is no such list.
    """
    items: list[str | None] = []
    at = 0
    whole = text + ","
    while at < len(whole):
        match = _ITEM.match(whole, at)
        if match is None:
            return None
        single, double, bare = match.groups()
        quoted = single if single is not None else double
        if quoted is not None:
            items.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            items.append(None if bare == "NULL" else bare)
        at = match.end()
    return items


def values_as_numbers(
    texts: pa.Array, kind: str, check: Callable[[], None] = lambda: None
) -> npt.NDArray[np.float64]:
    """Values of a column of that SQL type as numbers: dates as days, timestamps and times as
    microseconds; float64, shape (texts,). What can't be read is NaN."""
    parse: Parser = _number
    if kind == "FLOAT":
        parse = _single
    elif kind == "DATE":
        parse = _day
    elif kind.startswith("TIMESTAMP"):
        parse = _moment
    elif kind == "TIME":
        parse = _clock
    numbers, rest = _usual_numbers(texts, parse)
    for at, text in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
        check()
        number = parse(text)
        numbers[at] = np.nan if number is None else number
    return numbers


def _usual_numbers(
    texts: pa.Array, parse: Parser
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The numbers of those texts that are written as usual, which Arrow reads as ``parse`` does but
    all at once; and the places of the others, int64."""
    unread = np.full(len(texts), np.nan), np.arange(len(texts))
    if parse is _clock:
        return unread
    of_time = parse in (_day, _moment)
    usual = pc.match_substring_regex(texts, _USUAL_MOMENT if of_time else _USUAL_NUMBER)
    try:
        read = pc.if_else(usual, texts, None).cast(pa.timestamp("us") if of_time else pa.float64())
    except pa.ArrowInvalid:  # no such day
        return unread
    numbers = (read.cast(pa.int64()) if of_time else read).to_numpy(zero_copy_only=False)
    numbers = np.array(numbers, dtype=np.float64)
    if parse is _day:
        numbers /= _DAY
    if parse is _single:
        with np.errstate(over="ignore"):  # what is beyond the largest is none
            numbers = numbers.astype(np.float32).astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers, np.flatnonzero(~usual.to_numpy(zero_copy_only=False))
