"""The earth mover's distance by what it means: the least work that moves one distribution onto the
other, a transport problem, solved as a linear program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from tests.privacy.reference import Levels, is_missing, shares, with_missing

Distance = Callable[[Any, Any], Fraction | float]


def least_work(own: Sequence[Any], table: Sequence[Any], distance: Distance) -> float:
    """The least work that moves the shares of a class onto those of all rows.

    Args:
        own, table: values, None or NaN for missing ones.
        distance: how far apart two different values of the table are; missing ones are None.
    """
    all_rows = with_missing(table)
    values = list(all_rows)
    q, p = (shares(counts, values) for counts in (with_missing(own), all_rows))
    many = len(values)
    work = [0.0 if a is b else float(distance(a, b)) for a in values for b in values]
    leaves = np.kron(np.eye(many), np.ones(many))
    arrives = np.kron(np.ones(many), np.eye(many))
    found = linprog(
        work, A_eq=np.vstack([leaves, arrives]), b_eq=np.array([*map(float, q), *map(float, p)])
    )
    assert found.success, found.message
    return float(found.fun)


def from_missing(distance: Distance) -> Distance:
    """The same distance, and 1 between a missing value and any other."""
    return lambda a, b: 1 if is_missing(a) or is_missing(b) else distance(a, b)


def alike(a: Any, b: Any) -> int:
    """The equal ground distance."""
    return int(a != b)


def on_places(places: Mapping[Any, Fraction]) -> Distance:
    """The distance on a line."""
    return lambda a, b: abs(places[a] - places[b])


def in_tree(levels: Levels) -> Distance:
    """How high the lowest common ancestor is, over the height of the root."""
    def height(a: Any, b: Any) -> Fraction:
        common = [level[a] == level[b] for level in levels]
        return Fraction(common.index(True) if any(common) else len(levels), len(levels))

    return height
