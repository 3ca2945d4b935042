"""The lightest factor among all edges of more records than a matching of all of them takes.

Linear programs (factors_by_cuts.py) find it and prove it, or else say which few edges it may have,
among which a matching (factors_by_matching.py) finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.child import RUN
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.cell_generalization import factors_by_cuts
from kanon_sql.methods.cell_generalization.apart import apart
from kanon_sql.methods.cell_generalization.factors_by_cuts import Factors
from kanon_sql.methods.cell_generalization.factors_by_matching import edge_costs, edges_of
from kanon_sql.points.points import LossPoints

UNKNOWN = (
    "For these rows the best classes can't be found and proven with bounded work. Use "
    "neighbours=10, which gives no guarantee, or forest."
)

Match = Callable[[int, Any, Any, Watch], list[tuple[int, int]]]


def _asked(points: LossPoints, loose: bool, watch: Watch) -> Factors:
    """What the programs say."""
    n, c = points.codes.shape
    problem = np.concatenate([[n, c, loose], points.scale, points.codes.ravel()]).astype(np.int64)
    answer = np.frombuffer(apart(RUN, factors_by_cuts.__file__, problem.tobytes(), watch), np.int64)
    certain, target, unit, bound, known = answer[:5].tolist()
    return Factors(bool(certain), target, unit, bound, known, answer[5:].reshape(-1, 3))


def _weight(n: int, chosen: list[tuple[int, int]], points: LossPoints, loose: bool) -> int | None:
    """What edges weigh, None where they are no factor."""
    ends = np.array(chosen, np.int64).reshape(-1, 2)
    degrees = np.bincount(ends.ravel(), minlength=n)
    if degrees.min() < (1 if loose else 2) or degrees.max() > 2:
        return None
    return sum(edge_costs(points, (ends[:, 0], ends[:, 1])))


def among_candidates(
    points: LossPoints, answer: Factors, loose: bool, match: Match, most: int, watch: Watch
) -> list[tuple[int, int]]:
    """The lightest factor by matching, of ever more of the edges that it may have.

    Raises:
        DataError: all edges would have to be matched, and are more than ``most``.
    """
    n, gap, units = len(points), -1, answer.target
    above = answer.unit // 2 - answer.bound
    while gap < answer.known:
        # what a factor may have that weighs so many units: first those of the bound
        gap = min(units * answer.unit + above, answer.known)
        one, other, _ = answer.edges[answer.edges[:, 2] <= gap].T
        chosen = match(n, (one, other), edge_costs(points, (one, other)), watch)
        weight = _weight(n, chosen, points, loose)
        # any factor that weighs no more than the one found has none but these edges
        if weight is not None and weight * answer.unit + above <= gap:
            return chosen
        # then those of the one found, or ever more until one is
        units = units + max(1, units - answer.target) if weight is None else weight
    if n * (n - 1) // 2 > most:
        raise DataError(UNKNOWN)
    edges = edges_of(points, None)
    return match(n, edges, edge_costs(points, edges), watch)


def lightest_factor(
    points: LossPoints, loose: bool, match: Match, most: int, watch: Watch
) -> list[tuple[int, int]]:
    """The edges of a lightest factor of all edges, ascending.

    Which of those that weigh the same follows from the records in their order alone.

    Args:
        points: n records whose scales are whole numbers.
        loose: for a [1,2]-factor; else a 2-factor.
        match: finds the same among given edges.
        most: so many edges are matched at once, at most.
        watch: its stop raises StoppedError.

    Raises:
        DataError: to find one would take more than a bounded amount of work.
    """
    answer = _asked(points, loose, watch)
    if answer.certain:
        return [(one, other) for one, other, _ in answer.edges.tolist()]
    return among_candidates(points, answer, loose, match, most, watch)
