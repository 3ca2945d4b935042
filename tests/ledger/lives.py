"""Random lives of a table: who is there at each release."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def lives(
    seed: int, persons: int, releases: int, clustered: bool = False, returns: float = 0.3
) -> Iterator[list[int]]:
    """The persons that are there, release after release: some come, some leave, some come back.

    Args:
        seed: of the random numbers.
        persons: how many there ever are; they stand on a line, neighbours close to each other.
        releases: how many tables.
        clustered: whether neighbours leave together.
        returns: the share of those who left that comes back.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(persons).tolist()
    first = persons // 2
    there, away, later = set(order[:first]), set(), order[first:]
    for _ in range(releases):
        yield sorted(there)
        leaving = max(1, int(len(there) * random.uniform(0.02, 0.3)))
        if clustered:
            start = int(random.integers(persons))
            near = sorted(there, key=lambda p: min(abs(p - start), persons - abs(p - start)))
            gone = set(near[:leaving])
        else:
            gone = set(random.choice(sorted(there), leaving, replace=False).tolist())
        back = {p for p in sorted(away) if random.random() < returns}
        coming = int(random.integers(0, max(2, persons // 6)))
        there = (there - gone) | back | set(later[:coming])
        away, later = (away | gone) - back, later[coming:]
