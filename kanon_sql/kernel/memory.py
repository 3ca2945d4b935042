"""Memory that nobody holds any more goes back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

MANY = 100_000
"""Rows from which on it is worth the while."""


@cache
def _trim() -> Any:
    """What the C library gives freed pages back by; None where it has nothing of the kind."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back(rows: int) -> None:
    """Gives back what was freed after work on so many rows.

    glibc keeps freed arrays of up to 32 MiB for itself, and what of the pieces in which rows come
    lies between others: of a million rows as much again as the query needs.
    """
    if rows < MANY:
        return
    trim = _trim()
    if trim is not None:
        trim(0)
