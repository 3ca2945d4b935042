"""Misspelt arguments of functions that take options beside arguments of their own."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from kanon_sql.call.options import OPTIONS
from kanon_sql.errors import OptionError


def refuse_misspelt(call: str, given: Iterable[str], own: Iterable[str]) -> None:
    """Raises OptionError for what is no option, and nearest to an argument of the function.

    Args:
        call: the function.
        given: the names of its options.
        own: the names of its own arguments.
    """
    arguments = tuple(own)
    for name in given:
        if name in OPTIONS:
            continue
        nearest = get_close_matches(name, [*arguments, *OPTIONS], 1)
        if nearest and nearest[0] in arguments:
            raise OptionError(f"{call} has no argument {name!r}. Did you mean {nearest[0]!r}?")
