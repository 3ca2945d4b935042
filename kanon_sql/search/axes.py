"""Along which axes boxes bound the distances of points: tried, not guessed.

Bounds may lie along the principal axes of the numeric attributes: a turn of the space keeps all
distances, and along the leading principal axes correlated data is spread out, so that boxes bound
more tightly. Distances that decide are always summed over the original attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.points.points import Floats, Points
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.queries import NOBODY, nearest_in_tree
from kanon_sql.search.space import Bits, Space, category_sets

TURN_FROM = 1_000
"""Records from which principal axes are considered."""

QUERIES, TRIED = 64, 20_000
"""Searches that are tried, and records among which, to choose the axes."""

KEPT = 0.98
"""The share of the variance that the leading principal axes keep."""

CHEAPER = 0.8
"""Principal axes are taken where the work that they leave is less than this share."""

RUN = 4_096
"""Records that are turned at a time."""

ALIKE = 0.1
"""The share of records equal to another one above which axes are never turned: bounds along
turned axes are blurred by rounding, and so can't tell ties apart."""


def make_space(points: Points, whole: bool = False) -> Space:
    """The space of these records, with the axes that leave searches the least work.

    With ``whole`` all axes are kept, as upper bounds need.
    """
    numeric, codes, scale = points.numeric, points.codes, points.scale
    sets = category_sets(codes)
    plain = Space(
        numeric, codes, scale, 2.0 * scale, numeric, sets, np.eye(numeric.shape[1]), 0.0
    )
    # tried, not guessed: whether other axes pay follows from the data in too many ways
    turned = _turned(points, sets, 1.0 if whole else KEPT)
    return plain if turned is None or _work(turned) > CHEAPER * _work(plain) else turned


def _turned(points: Points, sets: Bits, kept: float) -> Space | None:
    """The space with principal axes; None where they can't pay."""
    numeric = points.numeric
    n, d = numeric.shape
    if n < TURN_FROM or d < 2 or _share_alike(points) > ALIKE:
        return None
    center = np.cumsum(numeric, axis=0)[-1] / n
    values, vectors = np.linalg.eigh((numeric - center).T @ (numeric - center) / n)
    if not np.sum(values) > 0.0:
        return None
    # eigh gives the least variance first
    share = np.cumsum(values[::-1]) / np.sum(values)
    p = d if kept == 1.0 else min(d, 1 + int(np.searchsorted(share, kept)))
    turn = np.ascontiguousarray(vectors[:, ::-1][:, :p])
    # each coordinate is off by at most d * 2^-52 times the length of its record
    longest = float(np.sqrt(np.max(np.sum(numeric**2, axis=1))))
    slack = 8.0 * d * (d + p) * 2.0**-52 * longest
    return Space(
        numeric, points.codes, points.scale, 2.0 * points.scale, turn_points(numeric, turn), sets,
        turn, slack,
    )


def _share_alike(points: Points) -> float:
    """The share of records equal to the one before, in canonical order."""
    same = np.ones(len(points) - 1, np.bool_)
    for column in (*points.numeric.T, *points.codes.T):
        same &= column[1:] == column[:-1]
    return float(np.mean(same)) if len(same) else 0.0


def turn_points(numeric: Floats, turn: Floats) -> Floats:
    """numeric @ turn, summed in a fixed order: float64, shape (n, p)."""
    axes = np.zeros((len(numeric), turn.shape[1]))
    # in runs that stay in the processor's cache
    for lo in range(0, len(numeric), RUN):
        some = axes[lo : lo + RUN]
        for a in range(turn.shape[0]):
            some += numeric[lo : lo + RUN, a, None] * turn[a]
    return axes


@kernel
def _work_of(space: Space, pool: Any, members: Any, queries: int) -> int:
    """Coordinates touched by that many searches, spread over some of the records."""
    m, per_node, per_leaf = len(members), 2 * space.axes.shape[1], space.numeric.shape[1]
    tree, leaves, stack, _ = pool
    neighbours, gaps = np.empty(6, np.int64), np.empty(6)
    work = 0
    # evenly spread over the canonical order, so that no chance is needed
    for q in range(queries):
        origin = members[q * (m - 1) // (queries - 1)]
        opened, swept = nearest_in_tree(
            space, tree, leaves, stack, origin, NOBODY, neighbours, gaps, min(5, m - 1)
        )
        work += opened * per_node + swept * per_leaf
    return work


def _work(space: Space) -> int:
    n = len(space.numeric)
    members = np.arange(0, n, max(1, n // TRIED))
    return int(_work_of(space, new_pool(space, members), members, QUERIES))
