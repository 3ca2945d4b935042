"""The largest of many values that change one at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner


class Tournament(NamedTuple):
    """Values, and who wins each match between them; w is a power of 2, n or more.

    Attributes:
        values: -inf behind the n that were given; float64, shape (w,).
        winners: the index of the largest value at place 1, the lowest index on ties; the winners
            of places 2q and 2q+1 meet at place q, and index i enters at place w + i; int64, shape
            (2 * w,).
    """

    values: npt.NDArray[np.float64]
    winners: npt.NDArray[np.int64]


@inner
def new_tournament(values: Any) -> Tournament:
    """A tournament among values: float64, shape (n,), which are copied."""
    n, width = len(values), 1
    while width < n:
        width *= 2
    field = np.full(width, -np.inf)
    for i in range(n):
        # one by one: what numpy would say of wrong shapes takes two seconds to compile
        field[i] = values[i]
    winners = np.zeros(2 * width, np.int64)
    for i in range(width):
        winners[width + i] = i
    for q in range(width - 1, 0, -1):
        # the one on the left has the lower index, so it wins a tie
        one, other = winners[2 * q], winners[2 * q + 1]
        winners[q] = one if field[one] >= field[other] else other
    return Tournament(field, winners)


@inner
def change_value(tournament: Tournament, i: int, value: float) -> None:
    """Gives one of them another value."""
    field, winners = tournament.values, tournament.winners
    field[i] = value
    # up to the top even where the winner stays: the index may be the same and its value not
    q = (len(field) + i) // 2
    while q > 0:
        one, other = winners[2 * q], winners[2 * q + 1]
        winners[q] = one if field[one] >= field[other] else other
        q //= 2
