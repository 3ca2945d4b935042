"""Classes of two or three records (aggarwal2005, section 5): 2-anonymity by a [1,2]-factor.

Let w be the weight of the lightest [1,2]-factor. The classes made of it cost 3 w at most: a pair
costs twice its edge, and a class of two adjacent edges no more than 3 times the two, since a column
in which it differs differs along one of them. Any clustering is no dearer when its classes are
parted into two and three; of those a pair pays twice its edge, and a class of three 3/2 of its two
lightest edges: it pays 3 D, and D is no less than any of its edges. So the optimum is 1.5 w or
more, and the ratio 2; with columns of two codes D is half the sum of the three edges (observation
7), the optimum is 2 w or more, and the ratio 1.5. Hierarchies are columns with weights here, see
cells.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from kanon_sql.errors import DataError, OptionError
from kanon_sql.grouping.cells import cost, neighbour_bound
from kanon_sql.grouping.cuts import cheapest_cut, components
from kanon_sql.grouping.matched_factors import edge_costs, edges_of, one_or_two_factor
from kanon_sql.grouping.points import Grouping, LossPoints
from kanon_sql.grouping.watch import DONE, Watch
from kanon_sql.grouping.whole_weights import is_binary, whole_weights

ROWS, EDGES = 300, 45_000
"""Records of which all edges are looked at; edges to near ones of more records."""


def check_size(method: str, n: int, near: int | None, rows: int, edges: int) -> None:
    """Refuses what would take more than about a minute, before it begins.

    Args:
        method: its name.
        n: how many records there are.
        near: how many neighbours of each are looked at; None for all.
        rows: the most records for all edges.
        edges: the most edges to near records.

    Raises:
        DataError: there are too many.
    """
    if near is None and n > rows:
        raise DataError(
            f"The method {method!r} is exact to {rows} rows, and there are {n}. Use neighbours := "
            "10, which takes more rows and gives no guarantee, or forest."
        )
    if near is not None and n > rows and n * near > edges:
        fits = f"neighbours := {edges // n} or less, or " if n <= edges else ""
        raise DataError(
            f"The method {method!r} takes {edges} neighbours of all rows together, and {near} of "
            f"each of {n} rows are more. Use {fits}forest."
        )


def labels_of(n: int, classes: list[list[int]]) -> Any:
    """Labels by the first record of each class: int64, shape (n,)."""
    labels = np.empty(n, np.int64)
    for g, members in enumerate(sorted(classes, key=min)):
        labels[members] = g
    return labels


def pairs(
    points: LossPoints, k: int, options: Mapping[str, Any], watch: Watch
) -> Grouping:
    """Classes of two or three by a [1,2]-factor of least weight.

    Source: aggarwal2005, section 5.

    Args:
        points: two records or more in canonical order, without numeric columns.
        k: must be 2.
        options: neighbours (edges to so many nearest records only, and no guarantee); with
            suppress nothing is guaranteed, either.
        watch: its stop raises StoppedError.

    Raises:
        OptionError: another k.
        DataError: too many records for all edges.
    """
    n, near = len(points), options.get("neighbours")
    if k != 2:
        raise OptionError(
            f"The method 'pairs' is for k = 2 only, and k is {k}. Use triples for k = 3, or forest."
        )
    check_size("pairs", n, near, ROWS, EDGES)
    whole = whole_weights(points)
    edges = edges_of(whole.points, near)
    costs = edge_costs(whole.points, edges)
    watch.check()
    chosen = one_or_two_factor(n, edges, costs, watch)
    watch.check()
    classes = []
    for way, closed in components(n, chosen):
        classes += cheapest_cut(points, way, closed, (2, 3))
    labels = labels_of(n, classes)
    watch.beat()[DONE] += n
    bound = neighbour_bound(points, 2)
    deleted = int(options.get("suppress", 0.0) * n) > 0  # a row that is left out needs no edge
    if deleted or (near is not None and near < n - 1):
        return Grouping(labels, {"lower_bound": bound})
    weights = dict(zip(zip(*(end.tolist() for end in edges), strict=True), costs, strict=True))
    factor, binary = sum(weights[edge] for edge in chosen), is_binary(points)
    share = Fraction(2) if binary else Fraction(3, 2)
    bound = min(max(bound, float(share * factor * whole.low)), cost(points, labels))
    ratio = float(Fraction('1.5' if binary else '2.0') * whole.high / whole.low)
    return Grouping(labels, {"lower_bound": bound, "guaranteed_ratio": ratio})
