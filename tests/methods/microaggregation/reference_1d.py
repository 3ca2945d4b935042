"""The optimal grouping of one attribute once more: slow, in plain Python, and exact.

It follows Hansen and Mukherjee (2003): sorted values, and the shortest path from the first to the
last over arcs that stand for runs of k to 2k-1 values. All arithmetic is on fractions, so nothing
is rounded. It shares nothing with the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate


def squared_error(values: Sequence[float]) -> Fraction:
    """Sum of squared distances of the values to their mean."""
    total = sum(map(Fraction, values), Fraction(0))
    squares = sum((Fraction(x) ** 2 for x in values), Fraction(0))
    return squares - total**2 / len(values)


def error_of(values: Sequence[float], labels: Sequence[int]) -> Fraction:
    """The squared error of a whole grouping."""
    groups: dict[int, list[float]] = {}
    for x, label in zip(values, labels, strict=True):
        groups.setdefault(label, []).append(x)
    return sum(map(squared_error, groups.values()), Fraction(0))


def optimal_runs(values: Sequence[float], k: int) -> tuple[Fraction, list[int]]:
    """The least squared error of runs of k to 2k-1 sorted values, and the sizes of these runs.

    Where several lists of runs have the least error, the last run is the longest one possible,
    then the run before it, and so on. O(n k).
    """
    exact = sorted(map(Fraction, values))
    sums = [Fraction(0), *accumulate(exact)]
    squares = [Fraction(0), *accumulate(x**2 for x in exact)]
    best: list[tuple[Fraction, int] | None] = [(Fraction(0), 0)]
    for j in range(1, len(exact) + 1):
        choices = []
        for i in range(max(j - 2 * k + 1, 0), j - k + 1):
            before = best[i]
            if before is not None:
                error = squares[j] - squares[i] - (sums[j] - sums[i]) ** 2 / (j - i)
                choices.append((before[0] + error, i))
        best.append(min(choices, default=None))
    sizes: list[int] = []
    end = len(exact)
    while end > 0:
        found = best[end]
        assert found is not None
        sizes.append(end - found[1])
        end = found[1]
    last = best[-1]
    assert last is not None
    return last[0], sizes[::-1]


def partitions(n: int, k: int) -> Iterator[list[list[int]]]:
    """All partitions of range(n) into sets of k or more, of any shape; for eight or so."""

    def extended(groups: list[list[int]], i: int) -> Iterator[list[list[int]]]:
        if sum(max(k - len(group), 0) for group in groups) > n - i:
            return
        if i == n:
            yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(i)
            yield from extended(groups, i + 1)
            group.pop()
        yield from extended([*groups, [i]], i + 1)

    yield from extended([], 0)


def least_error(values: Sequence[float], k: int) -> Fraction:
    """The least squared error of all partitions into groups of k or more."""
    return min(
        sum((squared_error([values[i] for i in group]) for group in groups), Fraction(0))
        for groups in partitions(len(values), k)
    )
