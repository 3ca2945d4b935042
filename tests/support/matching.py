"""The optimal grouping into pairs, from a minimum-weight perfect matching.

For k = 2 and groups of exactly two, the squared error of a group is half the squared distance of
its members; the least error is then the least weight of a perfect matching of the complete graph
(Edmonds' blossom algorithm, O(n^3)). A yardstick for heuristics on a hundred records or so. A
grouping that may have triples, too, can lose a little less than this.
"""

from __future__ import annotations

import math

import numpy as np
import rustworkx

from kanon_sql.points import distances as of_points
from kanon_sql.points.losses import sse
from kanon_sql.points.points import Labels, Points
from tests.support.kernels import from_python

squared_distance = from_python(of_points.squared_distance)

BITS = 90
"""Binary digits of the largest weight: distances 2^-38 as large keep all of theirs."""


def optimal_pairs(points: Points) -> Labels:
    """The pair of each record in the grouping into pairs with the least squared error.

    int64, shape (n,), numbered by their first members. Weights are integers, so nothing is rounded
    on the way. Raises ValueError for an odd number of records.
    """
    n = len(points)
    if n % 2:
        raise ValueError(f"{n} records don't make pairs.")
    arrays = points.numeric, points.codes, points.scale
    distances = {
        (i, j): float(squared_distance(*arrays, i, j)) for i in range(n) for j in range(i + 1, n)
    }
    _, exponent = math.frexp(max(distances.values(), default=0.0))
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(n))
    graph.add_edges_from(
        [
            (i, j, 2**BITS - int(math.ldexp(distance, BITS - exponent)))
            for (i, j), distance in distances.items()
        ]
    )
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    labels = np.full(n, -1, np.int64)
    for number, pair in enumerate(sorted(sorted(pair) for pair in pairs)):
        labels[pair] = number
    return labels


def optimal_pairs_sse(points: Points) -> float:
    """The least squared error of a grouping into pairs."""
    return sse(points, optimal_pairs(points))
