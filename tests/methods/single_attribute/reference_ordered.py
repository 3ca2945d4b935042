"""ordered once more: slow, in plain Python: the dynamic programming of du2009, section 4.

All starts of the last run are tried for every end, O(m^2). It shares nothing with the compiled
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

Best = tuple[int, int]
"""The least cost of the first j items, and the first start of the last run that has it."""


def least_cost(
    sizes: Sequence[int], allowed: Callable[[int], bool], joined: Callable[[int, int], int]
) -> list[Best | None]:
    """For every j the best runs of the first j items, or None if there are none.

    Args:
        sizes: the records of each item.
        allowed: whether a run of that many records is allowed.
        joined: the cost of runs and of one more, of that many records.
    """
    sums = [0, *accumulate(sizes)]
    best: list[Best | None] = [(0, 0)]
    for j in range(1, len(sums)):
        choices = []
        for i in range(j):
            before = best[i]
            if before is not None and allowed(sums[j] - sums[i]):
                choices.append((joined(before[0], sums[j] - sums[i]), i))
        best.append(min(choices, default=None))
    return best


def runs(best: list[Best | None]) -> list[int]:
    """How many items each run has."""
    found: list[int] = []
    end = len(best) - 1
    while end > 0:
        last = best[end]
        assert last is not None
        found.append(end - last[1])
        end = last[1]
    return found[::-1]


def least_largest(sizes: Sequence[int], k: int) -> int:
    """The size of the largest class, at least."""
    best = least_cost(sizes, lambda size: size >= k, max)[-1]
    assert best is not None
    return best[0]


def quadratic(sizes: Sequence[int], k: int, most: int | None = None) -> tuple[int, list[int]]:
    """The least sum of |E| (|E| - k) over runs of k to ``most`` records, and the items of each."""
    best = least_cost(
        sizes,
        lambda size: size >= k and (most is None or size <= most),
        lambda before, size: before + size * (size - k),
    )
    last = best[-1]
    assert last is not None
    return last[0], runs(best)


def ordered(sizes: Sequence[int], k: int, objective: str) -> tuple[int, list[int]]:
    """The cost of the best runs, and how many items each has."""
    if objective == "quadratic":
        return quadratic(sizes, k)
    most = least_largest(sizes, k)
    return most, quadratic(sizes, k, most)[1]


def compositions(m: int) -> Iterator[list[int]]:
    """All ways to cut m items into runs, each as numbers of items."""
    if m == 0:
        yield []
    for first in range(1, m + 1):
        for rest in compositions(m - first):
            yield [first, *rest]
