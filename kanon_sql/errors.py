"""Errors that a user can act on: one sentence with the fact, one with what to do.

KanonError (a ValueError)
├── OptionError    an option, a role or a relation that can't be used as given
├── DataError      the data can't be anonymized as asked: too few rows, infinite values ...
└── ReleaseError   a release that failed its verification; nothing of it came out

None of them holds a value from the data, unless the call says show_values. Names stand in them as
they are, but for signs that a terminal would obey or not show: those are written as Python does.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from unicodedata import normalize


class KanonError(ValueError):
    """The base of all errors of kanon_sql; the message has the reason and what to do.

    Attributes:
        in_sql: whether the error is about SQL that a user wrote, which keeps its option names.
    """

    in_sql = False

    def __init__(self, sentence: str = "") -> None:
        super().__init__(printable(sentence))


class OptionError(KanonError):
    """An option, a role or a relation that cannot be used as given."""


class DataError(KanonError):
    """Data that cannot be anonymized with these options."""


class ReleaseError(KanonError):
    """A release that failed its verification; no row of it is released."""


def printable(text: str) -> str:
    """A text for people: a sign that doesn't print, such as a line break in a name, is written as
    Python writes it."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def a_type(value: object) -> str:
    """The type of a value with its article: 'an int', 'a str'."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


SHOWN = 100
"""The most letters of a value that a message repeats: a whole column may have been given for it."""


def shown(value: object) -> str:
    """What was given for an option, as a message tells it: as Python writes it, or, where that is
    long or no plain value, its type."""
    if value is None or isinstance(value, (str, bool, int, float, Decimal)):
        text = repr(value)
    elif isinstance(value, (list, tuple, Mapping)):
        text = repr(value)
        if len(text) > SHOWN:
            return f"{a_type(value)} of {len(value):,}"
    else:
        return a_type(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


LISTED = 20
"""So many names a hint lists; of more it lists those that are nearest."""


NEAR = 0.6
"""How like another a name must be (see difflib) to be taken for it misspelt."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint that follows a name that is not known: the nearest other one, or those there are.
    One that looks the same, as letters and accents can be put together in two ways, is spelled
    out."""
    by_lower = {candidate.lower(): candidate for candidate in known if candidate != name}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    for candidate in by_lower.values():
        if normalize("NFKC", candidate) == normalize("NFKC", name):
            return f"Did you mean {candidate!a}, which only looks the same?"
    if near:
        return f"Did you mean {by_lower[near[0]]!r}?"
    if not by_lower:
        return "There is no other."
    if len(by_lower) > LISTED:
        some = get_close_matches(name.lower(), by_lower, n=LISTED, cutoff=0.0)
        listed = ", ".join(sorted(by_lower[each] for each in some))
        return f"There are {len(by_lower)}, among them {listed}."
    return "There are: " + ", ".join(sorted(by_lower.values())) + "."


LITTLE = (
    "The memory is too small for this table. Nothing was written; give more memory, or anonymize "
    "files into a folder, which takes blocks."
)

NO_MEMORY = re.compile(
    r"MemoryError|OutOfMemory|Out of Memory|bad_alloc|bad allocation|[Cc]annot allocate memory|"
    r"failed to map segment|memory allocation of|[Uu]nable to allocate|can't start new thread"
)
"""What is said, by DuckDB, NumPy, Arrow, Python and the system, where memory was too small."""


def lacks_memory(error: BaseException) -> bool:
    """Whether an error is one for lack of memory, or was raised since another one was."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or getattr(seen, "errno", None) == errno.ENOMEM:
            return True
        if NO_MEMORY.search(f"{type(seen).__name__}: {seen}"):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
