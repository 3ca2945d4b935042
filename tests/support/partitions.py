"""All ways to part a few records into classes, for the true optimum by exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator


def partitions(n: int, k: int) -> Iterator[list[list[int]]]:
    """Every partition of 0 .. n-1 into classes of k or more, each as lists of ascending records."""

    def extend(i: int, classes: list[list[int]]) -> Iterator[list[list[int]]]:
        needed = sum(max(k - len(members), 0) for members in classes)
        if needed > n - i:
            return
        if i == n:
            yield [list(members) for members in classes]
            return
        for members in classes:
            members.append(i)
            yield from extend(i + 1, classes)
            members.pop()
        classes.append([i])
        yield from extend(i + 1, classes)
        classes.pop()

    yield from extend(0, [])
