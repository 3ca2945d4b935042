"""Memory of the machine: how much is free, and what nobody holds any more goes back to it."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
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


GROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Where a container says what it may take, and what it takes."""

FREE = "/proc/meminfo"


def available() -> int | None:
    """Bytes that this process may take yet; None where the system doesn't tell."""
    kilobytes = _number_after(FREE, "MemAvailable:")
    if kilobytes is None:
        return None
    free = kilobytes * 1024
    for folder, most, taken in GROUPS:
        try:
            left = int(Path(folder, most).read_text()) - int(Path(folder, taken).read_text())
        except (OSError, ValueError):  # there is no limit
            continue
        # what was read from files, and may go
        free = min(free, left + (_number_after(f"{folder}/memory.stat", "inactive_file") or 0))
    return max(free, 0)


def _number_after(path: str, word: str) -> int | None:
    """The number behind a word at the beginning of a line of a file; None without one."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [word]), None)


UNITS = {
    "bytes": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
}


def bytes_of(text: str) -> int | None:
    """A size as DuckDB writes one, such as '3.7 GiB'; None of a text that is none."""
    number, _, unit = text.partition(" ")
    try:
        return int(float(number) * UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        return None


ROWS, GROUPING = 60, 50
"""Bytes for each cell of a release, what DuckDB holds among them, and of most groupings, about: of
four mixed columns 130 together for 100,000 rows, 104 for 1,000,000, and 67 for 10,000,000, which go
in blocks."""

PROCESS = 400_000_000
"""Bytes that a process has before its first row: the libraries, and compiled kernels."""


def need_of(rows: int, columns: int, memory: float = 1.0) -> int:
    """The bytes that a process needs, about, to release ``rows`` by so many quasi-identifiers.

    Args:
        rows: how many there are.
        columns: how many quasi-identifiers.
        memory: how much the method takes, as a multiple of what most do.
    """
    return PROCESS + int(rows * columns * (ROWS + GROUPING * memory))
