"""Classes cut from a factor of least weight: what pairs and triples have in common."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.cell_generalization.cells import neighbour_bound
from kanon_sql.methods.cell_generalization.cycle_cuts import cheapest_cut, components
from kanon_sql.methods.cell_generalization.integer_weights import is_binary, whole_weights
from kanon_sql.methods.cell_generalization.lightest_factor import lightest_factor
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.losses import generalized_cells
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Grouping, LossPoints

ROWS = 10_000
"""Records of which a factor is found and proven in one to three minutes."""


def check_size(method: str, n: int) -> None:
    """Refuses what would take more than some minutes, before it begins.

    Args:
        method: its name.
        n: how many records there are.

    Raises:
        DataError: there are too many.
    """
    if n > ROWS:
        raise DataError(
            f"The method {method!r} takes {ROWS} rows at most, and there are {n}. Use forest."
        )


def labels_of(n: int, classes: list[list[int]]) -> Any:
    """The class of each record, numbered by their first ones: int64, shape (n,)."""
    labels = np.empty(n, np.int64)
    for g, members in enumerate(classes):
        labels[members] = g
    return number_by_first(labels)


def by_factor(
    points: LossPoints,
    sizes: tuple[int, ...],
    shares: tuple[Fraction, Fraction],
    task: GroupTask,
    watch: Watch,
) -> Grouping:
    """Classes of the given sizes, cut from a factor; they cost 3 times its weight at most.

    Args:
        points: records in canonical order, without numeric columns.
        sizes: the sizes of classes, the least first: it is k.
        shares: the least cost of any clustering over the weight of the lightest factor, where
            columns have two codes each, and on any alphabet.
        task: with suppress nothing is guaranteed.
        watch: its stop raises StoppedError.
    """
    n = len(points)
    whole = whole_weights(points)
    watch.check()
    factor = lightest_factor(whole.points, sizes[0] == 2, watch)
    watch.check()
    classes = []
    for way, closed in components(n, factor.edges.tolist()):
        classes += cheapest_cut(points, way, closed, sizes)
    labels = labels_of(n, classes)
    watch.beat()[DONE] += n
    bound = neighbour_bound(points, sizes[0])
    if int(task.suppress * n) > 0:  # a row that is left out needs no edge
        return Grouping(labels, {"lower_bound": bound})
    share = shares[0] if is_binary(points) else shares[1]
    # all in whole numbers, so that the bound holds to the last unit
    least = float(share * factor.bound * whole.low)
    facts = {"lower_bound": min(max(bound, least), generalized_cells(points, labels))}
    if factor.weight == factor.bound:
        facts["guaranteed_ratio"] = float(3 / share * whole.high / whole.low)
    elif factor.bound > 0:
        # a factor that isn't proven to be a lightest one may be too heavy by so much
        above = Fraction(factor.weight, factor.bound)
        facts["guaranteed_ratio"] = float(3 / share * whole.high / whole.low * above)
    return Grouping(labels, facts)
