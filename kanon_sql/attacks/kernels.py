"""What attacks look for in all profiles of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.attacks.cells import Floats, Places, Profiles
from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.parallel import in_parallel

TOGETHER = 64
"""People, or predicates, that a kernel looks for at a time."""

BATCH = 16
"""Pieces of work that are begun at a time, so that an interrupt is heard between them."""

EQUAL = 2
"""What a predicate says of a number that passes unchanged, in place of a side."""

CLOSE = 1e-9
"""Distances that differ by no more are equal: they are sums of rounded numbers."""


class CellArrays(NamedTuple):
    """Profiles as kernels take them; see Profiles."""

    numeric: npt.NDArray[np.bool_]
    low: Floats
    high: Floats
    only: Places
    members: Places
    begin: Places
    end: Places


class NearestClasses(NamedTuple):
    """The profiles nearest to some people.

    Attributes:
        distance: float64, shape (people,).
        start: int64, shape (people + 1,); where those of each person begin.
        profiles: int64, shape (found,); ascending for each person.
    """

    distance: Floats
    start: Places
    profiles: Places


def arrays_of(profiles: Profiles) -> CellArrays:
    """Profiles as kernels take them."""
    return CellArrays(profiles.numeric, profiles.low, profiles.high, profiles.only,
                      *profiles.members)


def _in_batches(pieces: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of all pieces, in their order."""
    return [
        result for i in range(0, len(pieces), BATCH)
        for result in in_parallel(pieces[i:i + BATCH])
    ]


@inner
def _holds(cells: Any, c: int, a: int, code: int) -> bool:
    """Whether a cell may stand for a value."""
    if cells.only[c, a] >= 0:
        return bool(cells.only[c, a] == code)
    low, high = cells.begin[c, a], cells.end[c, a]
    while low < high:
        middle = (low + high) // 2
        if cells.members[middle] < code:
            low = middle + 1
        else:
            high = middle
    return bool(low < cells.end[c, a] and cells.members[low] == code)


@inner
def _apart(cells: Any, c: int, a: int, value: float) -> Any:
    """How far a value is from what a cell may stand for, on average: 0 .. 1."""
    if not cells.numeric[a]:
        if not _holds(cells, c, a, np.int64(value)):
            return 1.0
        return 0.0 if cells.only[c, a] >= 0 else 1.0 - 1.0 / (cells.end[c, a] - cells.begin[c, a])
    low, high = cells.low[c, a], cells.high[c, a]
    if np.isnan(low) or np.isnan(value):
        return 0.0 if np.isnan(low) and np.isnan(value) else 1.0
    if value <= low or value >= high:
        return abs(value - (low + high) / 2.0)
    return ((value - low) ** 2 + (high - value) ** 2) / (2.0 * (high - low))


@kernel
def _nearest(cells: Any, known: Any, columns: Any, people: int, close: float) -> Any:
    """The profiles nearest to each person by some columns; people: how many rows of known count."""
    n = len(cells.only)
    distance, start = np.empty(people), np.zeros(people + 1, np.int64)
    found, held = np.empty(max(16, people), np.int64), 0
    for i in range(people):
        best, begun = np.inf, held
        for c in range(n):
            total = 0.0
            for a in columns:
                total += _apart(cells, c, a, known[i, a])
                if total > best + close:
                    break
            if total > best + close:
                continue
            if total < best - close:
                held = begun
            best = min(best, total)
            if held == len(found):
                more = np.empty(2 * held, np.int64)
                more[:held] = found
                found = more
            found[held] = c
            held += 1
        distance[i], start[i + 1] = best, held
    return distance, start, found[:held]


def nearest(profiles: Profiles, known: Floats, columns: Places) -> NearestClasses:
    """The profiles nearest to people by some columns, all of them where several are.

    Args:
        profiles: those of the release, at least one.
        known: float64, shape (people, columns); see AttackedColumn.known.
        columns: int64; the columns by which they are compared.
    """
    cells = arrays_of(profiles)
    pieces = [
        partial(_nearest, cells, known[i:i + TOGETHER], columns, len(known[i:i + TOGETHER]), CLOSE)
        for i in range(0, len(known), TOGETHER)
    ]
    parts = _in_batches(pieces)
    counts = np.concatenate([np.diff(start) for _, start, _ in parts])
    return NearestClasses(
        np.concatenate([distance for distance, _, _ in parts]),
        np.append(0, np.cumsum(counts)), np.concatenate([found for _, _, found in parts]),
    )


@inner
def _meets(cells: Any, c: int, a: int, side: int, value: float) -> Any:
    """Whether a value meets the condition that a predicate takes from a cell."""
    if not cells.numeric[a]:
        return _holds(cells, c, a, np.int64(value))
    low, high = cells.low[c, a], cells.high[c, a]
    if np.isnan(low) or np.isnan(value):
        return bool(np.isnan(low) and np.isnan(value))
    if low < high:
        return bool(low <= value <= high)
    if side == EQUAL:
        return bool(value == low)
    return bool(value >= low) if side > 0 else bool(value <= low)


@kernel
def _alone(cells: Any, chosen: Any, sides: Any, known: Any, persons: Any, people: int) -> Any:
    """Whether each predicate is true of exactly one person; see ``alone``."""
    found = np.zeros(len(chosen), np.bool_)
    for j in range(len(chosen)):
        who, several = -1, False
        for i in range(people):
            if persons[i] == who:
                continue
            true = True
            for a in range(sides.shape[1]):
                if sides[j, a] != 0 and not _meets(cells, chosen[j, a], a, sides[j, a],
                                                   known[i, a]):
                    true = False
                    break
            if true:
                if who >= 0:
                    several = True
                    break
                who = persons[i]
        found[j] = who >= 0 and not several
    return found


def alone(
    profiles: Profiles, chosen: Places, sides: Places, known: Floats, persons: Places
) -> npt.NDArray[np.bool_]:
    """Whether each predicate is true of exactly one person.

    Args:
        profiles: those of the release.
        chosen: int64, shape (predicates, columns); from which profile the cell of each column is.
        sides: int64, the same shape; 0 where a predicate says nothing of a column, else whether a
            number is to be no less (1) or no greater (-1) than a single one, or EQUAL.
        known: float64, shape (rows, columns); see AttackedColumn.known.
        persons: int64, shape (rows,); whose each row is.
    """
    cells = arrays_of(profiles)
    pieces = [
        partial(_alone, cells, chosen[j:j + TOGETHER], sides[j:j + TOGETHER], known, persons,
                len(known))
        for j in range(0, len(chosen), TOGETHER)
    ]
    return np.concatenate(_in_batches(pieces)) if pieces else np.zeros(0, np.bool_)


@kernel
def _once(cells: Any, chosen: Any, sides: Any, profiles: int) -> Any:
    """Whether each predicate describes exactly one profile; see ``once``."""
    found = np.zeros(len(chosen), np.bool_)
    for j in range(len(chosen)):
        many = 0
        for c in range(profiles):
            true = True
            for a in range(sides.shape[1]):
                if sides[j, a] == 0:
                    continue
                own = chosen[j, a]
                if cells.numeric[a]:
                    low, high = cells.low[c, a], cells.high[c, a]
                    first, last = cells.low[own, a], cells.high[own, a]
                    if np.isnan(low) or np.isnan(first):
                        true = np.isnan(low) and np.isnan(first)
                    elif first < last:
                        true = low == first and high == last
                    elif sides[j, a] == EQUAL:
                        true = low == first and high == first
                    else:
                        true = low >= first if sides[j, a] > 0 else high <= first
                else:
                    true = cells.only[c, a] == cells.only[own, a] and (
                        cells.only[c, a] >= 0 or cells.begin[c, a] == cells.begin[own, a]
                    )
                if not true:
                    break
            many += np.int64(true)
            if many > 1:
                break
        found[j] = many == 1
    return found


def once(profiles: Profiles, chosen: Places, sides: Places) -> npt.NDArray[np.bool_]:
    """Whether each predicate describes exactly one profile: one whose cells are those of the
    predicate, or for a single number on its side of it. Arguments as in ``alone``."""
    cells = arrays_of(profiles)
    pieces = [
        partial(_once, cells, chosen[j:j + TOGETHER], sides[j:j + TOGETHER], len(profiles.cells))
        for j in range(0, len(chosen), TOGETHER)
    ]
    return np.concatenate(_in_batches(pieces)) if pieces else np.zeros(0, np.bool_)
