"""Errors that a user can act on: one sentence with the fact, one with what to do.

KanonError (a ValueError)
├── OptionError    an option, a role or a relation that can't be used as given
├── DataError      the data can't be anonymized as asked: too few rows, infinite values ...
└── ReleaseError   a release that failed its verification; nothing of it came out

None of them holds a value from the data, unless the call says show_values.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class KanonError(ValueError):
    """Anything that kanon_sql refuses, with the reason and what to do."""


class OptionError(KanonError):
    """An option, a role or a relation that can't be used as given."""


class DataError(KanonError):
    """Data that can't be anonymized as asked."""


class ReleaseError(KanonError):
    """A release that failed its verification."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint that follows a name that is not known: the nearest one, or all there are."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    if near:
        return f"Did you mean {by_lower[near[0]]!r}?"
    return "There are: " + ", ".join(sorted(by_lower.values())) + "."
