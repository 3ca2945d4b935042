"""How many steps a search takes by itself, and about how long that is."""

from __future__ import annotations

from math import sqrt

FEW = 256
"""A cycle among fewer records takes as many steps as one among so many; by default there are fewer
cycles then."""

DESCENT, FIRST, LONGER = 20, 60, 4
"""Steps per record of the first cycle, which takes only changes for the better, and of the second,
the first that is hot; each later one is LONGER times as long."""

REFINE_STEPS, LOSS_STEPS = 15_000_000, 5_000_000
"""What ``default_steps`` may spend on refine, and on refine for information loss. A step takes
about 0.2 microseconds, for information loss more than 1."""

LARGE = 50
"""The k up to which the first hot cycle is made in full by default."""


def steps_through(n: int, cycles: int) -> int:
    """Steps up to the end of that many hot cycles, for n records."""
    lengths: list[int] = [FIRST * LONGER**cycle for cycle in range(cycles)]
    return max(n, FEW) * (DESCENT + sum(lengths))


def default_steps(n: int, k: int, most: int = REFINE_STEPS) -> int:
    """Steps up to the end of the last cycle that ends within ``most``, of the first hot one at
    least: a search that ends within a cycle gets less for its time. ``most`` is meant for k = 5;
    a step takes longer where groups are larger. Above k = LARGE even the first hot cycle is cut
    short. Among fewer than FEW records ``most`` is less in proportion."""
    return _steps(n, k, _default_cycles(n, k, most))


def _default_cycles(n: int, k: int, most: int) -> int:
    cycles, most = 1, most * min(n, FEW) // FEW
    while steps_through(n, cycles + 1) * (5 + k) <= most * 10:
        cycles += 1
    return cycles


def _steps(n: int, k: int, cycles: int) -> int:
    steps = steps_through(n, cycles)
    return steps if k <= LARGE else max(n, steps * LARGE // k)


def steps_within(seconds: float, n: int, k: int, columns: tuple[int, int], by_loss: bool) -> int:
    """The steps of the longest search that is estimated to take so many seconds of one core: the
    default steps, or those of fewer cycles; 0 where not even one fits.

    A step compares a record with the groups of its neighbours, so its time grows with the columns
    and with k; and with n, since less of what it reads is near. Fitted to six real tables, and to
    random ones of 2 to 32 columns, 1,000 to 100,000 rows and k of 5 to 50. They took 0.4 to 2.7
    times as long, longest where texts have thousands of values each.

    Args:
        seconds: how long it may take.
        n: the records.
        k: the least records of a group.
        columns: how many are one number of a point, and how many have values that are equally far
            apart, or nodes of a tree.
        by_loss: whether the search lowers information loss.
    """
    ordered, others = columns
    microseconds = (
        0.04 + 0.06 * (ordered + others) if by_loss else 0.04 + 0.012 * ordered + 0.03 * others
    )
    # roots, which are the same on every machine, as a power need not be
    of_k = sqrt((5 + k) / 10) * sqrt(sqrt((5 + k) / 10))
    a_step = microseconds * of_k * sqrt(max(1.0, n / 20_000)) * 1e-6
    for cycles in range(_default_cycles(n, k, LOSS_STEPS if by_loss else REFINE_STEPS), 0, -1):
        steps = _steps(n, k, cycles)
        if steps * a_step <= seconds:
            return steps
    return 0
