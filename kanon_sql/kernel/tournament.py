"""The largest of many values that change one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def new_tournament(values: Any) -> Any:
    """A tournament among values: float64, shape (n,), which are copied.

    Returns (values, winners): winners[1] is the index of the largest value, the lowest index on
    ties; the winners of places 2q and 2q+1 meet at place q.
    """
    n, width = len(values), 1
    while width < n:
        width *= 2
    field = np.full(width, -np.inf)
    field[:n] = values
    winners = np.zeros(2 * width, np.int64)
    for i in range(width):
        winners[width + i] = i
    for q in range(width - 1, 0, -1):
        one, other = winners[2 * q], winners[2 * q + 1]
        winners[q] = one if field[one] >= field[other] else other
    return field, winners


@njit(cache=True, nogil=True)
def change_value(tournament: Any, i: int, value: float) -> None:
    """Gives one of them another value."""
    field, winners = tournament
    field[i] = value
    q = (len(field) + i) // 2
    while q > 0:
        one, other = winners[2 * q], winners[2 * q + 1]
        winners[q] = one if field[one] >= field[other] else other
        q //= 2
