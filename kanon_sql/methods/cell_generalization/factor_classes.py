"""Classes cut from a factor of least weight: what pairs and triples have in common."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.cell_generalization.cells import neighbour_bound
from kanon_sql.methods.cell_generalization.cycle_cuts import cheapest_cut, components
from kanon_sql.methods.cell_generalization.factors_by_matching import edge_costs, edges_of
from kanon_sql.methods.cell_generalization.integer_weights import is_binary, whole_weights
from kanon_sql.methods.cell_generalization.lightest_factor import lightest_factor
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.losses import generalized_cells
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Grouping, LossPoints


def check_size(
    method: str, n: int, near: int | None, matched: int, rows: int, edges: int
) -> None:
    """Refuses what would take more than about a minute, before it begins.

    Args:
        method: its name.
        n: how many records there are.
        near: how many neighbours of each are looked at; None for all.
        matched: of up to so many records all edges are matched at once.
        rows: the most records for all edges.
        edges: the most edges to near records.

    Raises:
        DataError: there are too many.
    """
    if near is None and n > rows:
        raise DataError(
            f"The method {method!r} is exact to {rows} rows, and there are {n}. Use neighbours="
            "10, which takes more rows and gives no guarantee, or forest."
        )
    if near is not None and n > matched and near < n - 1 and n * near > edges:
        fits = f"neighbours={edges // n} or less, or " if n <= edges else ""
        fits += "no neighbours, or " if n <= rows else ""
        raise DataError(
            f"The method {method!r} takes {edges} neighbours of all rows together, and {near} of "
            f"each of {n} rows are more. Use {fits}forest."
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
    factor_of: Callable[[int, Any, Any, Watch], Any],
    shares: tuple[Fraction, Fraction],
    task: GroupTask,
    near: int | None,
    matched: int,
    most: int,
    watch: Watch,
) -> Grouping:
    """Classes of the given sizes, cut from a factor; they cost 3 times its weight at most.

    Args:
        points: records in canonical order, without numeric columns.
        sizes: the sizes of classes, the least first: it is k.
        factor_of: finds the edges of the lightest factor of n records, from edges and costs.
        shares: the least cost of any clustering over the weight of the lightest factor, where
            columns have two codes each, and on any alphabet.
        task: with suppress nothing is guaranteed.
        near: to how many nearest records edges are looked at; None for all.
        matched: of up to so many records all edges are matched at once.
        most: so many edges are matched at once, at most.
        watch: its stop raises StoppedError.

    Raises:
        DataError: to find it would take more than a bounded amount of work.
    """
    n = len(points)
    whole = whole_weights(points)
    watch.check()
    if n > matched and (near is None or near >= n - 1):
        chosen = lightest_factor(whole.points, sizes[0] == 2, factor_of, most, watch)
    else:
        edges = edges_of(whole.points, near)
        chosen = factor_of(n, edges, edge_costs(whole.points, edges), watch)
    watch.check()
    classes = []
    for way, closed in components(n, chosen):
        classes += cheapest_cut(points, way, closed, sizes)
    labels = labels_of(n, classes)
    watch.beat()[DONE] += n
    bound = neighbour_bound(points, sizes[0])
    deleted = int(task.suppress * n) > 0  # a row that is left out needs no edge
    if deleted or (near is not None and near < n - 1):
        return Grouping(labels, {"lower_bound": bound})
    ends = np.array(chosen, np.int64).T
    # costs are whole numbers, so that this sum is exact and the bound holds to the last unit
    factor = sum(edge_costs(whole.points, (ends[0], ends[1])))
    share = shares[0] if is_binary(points) else shares[1]
    bound = min(max(bound, float(share * factor * whole.low)), generalized_cells(points, labels))
    ratio = float(3 / share * whole.high / whole.low)
    return Grouping(labels, {"lower_bound": bound, "guaranteed_ratio": ratio})
