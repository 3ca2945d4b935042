"""How published texts are written: numbers, dates, lists with and without quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Parser = Callable[[str], float | None]

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DATE = r"-?\d{4,6}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?"
_MOMENT = re.compile(rf"({_DATE})(?:[ T]({_TIME})(?:([-+])(\d\d)(?::?(\d\d))?|Z)?)?")
_DAY = 86_400_000_000


def _number(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text) else np.inf
    return value if np.isfinite(value) else None


def _clock(text: str) -> float | None:
    """Microseconds of a day."""
    if not re.fullmatch(_TIME, text):
        return None
    hours, minutes, seconds = [*text.split(":"), "0"][:3]
    whole, _, part = seconds.partition(".")
    return float(
        ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1_000_000 + int(part.ljust(6, "0"))
    )


def _moment(text: str) -> float | None:
    """Microseconds since 1970."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    date, time, sign, hours, minutes = found.groups()
    try:
        days = int(np.datetime64(date, "D").astype(np.int64))
    except ValueError:  # no such day
        return None
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * 60_000_000
    clock = _clock(time) if time else 0.0
    return days * _DAY + (clock or 0.0) - (offset if sign == "+" else -offset)


def _day(text: str) -> float | None:
    moment = _moment(text)
    return None if moment is None else moment / _DAY


def number_parser(texts: Sequence[str], numbers: npt.NDArray[np.float64]) -> Parser:
    """What turns texts into numbers, learnt from a column's values as texts and as numbers.

    Numbers are what they say, dates days, timestamps and times microseconds. Values are known
    whatever they look like; other texts are None unless they look like the values.
    """
    known = dict(zip(texts, numbers.tolist(), strict=True))
    for parse in (_number, _day, _moment, _clock):
        if all(parse(text) == known[text] for text in texts[:100]):
            break
    else:
        return known.get

    def number(text: str) -> float | None:
        value = known.get(text)
        return parse(text) if value is None else value

    return number


def split_known(
    text: str, separator: str, knows: Callable[[str], bool], longest: int
) -> list[str] | None:
    """The known words that a text joins, where words may hold the separator themselves.

    Of several readings one in ascending order is taken, which is how sets are published, and of
    those one with the most words. None: there is none.

    Args:
        text: words joined by the separator.
        separator: what is between them.
        knows: whether a word is one.
        longest: how many parts a word has at most.
    """
    parts = text.split(separator)
    if longest == 1 or len(parts) == 1:
        return parts if all(map(knows, parts)) else None
    ends: list[dict[int, str]] = [{} for _ in range(len(parts) + 1)]
    for end in range(1, len(parts) + 1):
        for size in range(1, min(longest, end) + 1):
            word = separator.join(parts[end - size : end])
            if knows(word):
                ends[end][size] = word
    return _most_words(ends, True) or _most_words(ends, False)


def _most_words(ends: list[dict[int, str]], ascending: bool) -> list[str] | None:
    """The longest chain of words from start to end.

    Args:
        ends: for each number of parts the words that end there, by the parts that they take.
        ascending: whether each word has to be above the last.
    """
    best: list[dict[int, tuple[int, int]]] = [{} for _ in ends]
    best[0][0] = (0, 0)
    for end, words in enumerate(ends):
        for size, word in words.items():
            before = end - size
            found = [
                (many + 1, last) for last, (many, _) in best[before].items()
                if not ascending or before == 0 or ends[before][last] < word
            ]
            if found:
                best[end][size] = max(found)
    if not best[-1]:
        return None
    end = len(ends) - 1
    size = max(best[end], key=lambda s: best[end][s])
    words_back = []
    while end > 0:
        words_back.append(ends[end][size])
        end, size = end - size, best[end][size][1]
    return words_back[::-1]


_ITEM = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"]*[^,'"\s]))\s*,""", re.DOTALL
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
        found = _ITEM.match(whole, at)
        if found is None:
            return None
        single, double, bare = found.groups()
        quoted = single if single is not None else double
        if quoted is not None:
            items.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            items.append(None if bare == "NULL" else bare)
        at = found.end()
    return items


def values_as_numbers(texts: Sequence[str], kind: str) -> npt.NDArray[np.float64]:
    """Values of a column of that SQL type as numbers: dates as days, timestamps and times as
    microseconds; float64, shape (texts,). What can't be read is NaN."""
    parse: Parser = _number
    if kind == "DATE":
        parse = _day
    elif kind.startswith("TIMESTAMP"):
        parse = _moment
    elif kind == "TIME":
        parse = _clock
    found = [parse(text) for text in texts]
    return np.array([np.nan if number is None else number for number in found])
