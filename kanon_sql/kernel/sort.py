"""Sorting inside kernels: numpy's own sorts take seconds to compile."""

from __future__ import annotations

from typing import Any

from kanon_sql.kernel.jit import inner


@inner
def sort_stably(keys: Any, order: Any, spare: Any) -> None:
    """The places of the keys in ascending order, of equal ones the lower first, by merging.

    Args:
        keys: of any dtype, without NaN, shape (m,).
        order: int64, shape (m,); where the places are written.
        spare: room; int64, shape (m,).
    """
    m, width = len(keys), 1
    for i in range(m):
        order[i] = i
    while width < m:
        for begin in range(0, m, 2 * width):
            middle, end = min(begin + width, m), min(begin + 2 * width, m)
            one, other = begin, middle
            for spot in range(begin, end):
                # from the right side only what is less: so equal keys keep their order
                if other >= end or (one < middle and keys[order[one]] <= keys[order[other]]):
                    spare[spot] = order[one]
                    one += 1
                else:
                    spare[spot] = order[other]
                    other += 1
        for i in range(m):
            order[i] = spare[i]
        width *= 2
