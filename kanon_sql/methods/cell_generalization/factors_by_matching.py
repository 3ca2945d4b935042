"""Factors of least weight, by way of matching (aggarwal2005, sections 5 and 6; Cornuejols 1988).

A [1,2]-factor gives each vertex one or two edges, a 2-factor two. Both become matchings of a larger
graph, and a library finds those.

- [1,2]-factor: each vertex is two nodes, one that must be matched and one that may. An edge u v is
  matched between the musts of both or between a must and a may. It need not be matched between two
  mays: an edge between two vertices that have another one each can be left out. The weight to be
  maximized is B for each must, less the weight of the edge, B being more than all edges weigh.
- 2-factor: each vertex is two nodes that must be matched, each edge u v two more, u' and v', that
  are matched with each other where the edge isn't used, else u' with a node of u and v' with one of
  v. So every node is matched, and an edge is used once at most.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.cell_generalization.apart import apart
from kanon_sql.methods.cell_generalization.cells import edge_points, edge_weights
from kanon_sql.methods.cell_generalization.factors_by_cuts import marks, parts_of
from kanon_sql.points.points import Labels, LossPoints
from kanon_sql.search.nearest_lists import nearest_lists

Edges = tuple[Labels, Labels]
Pairs = set[tuple[int, int]]

FEW = 2_000
"""Links of a graph that is matched in a moment."""

ALIKE = 800
"""Edges of which more must not weigh the same: of 3,000 that do, a lightest 2-factor takes minutes,
and of 3,000 that don't, two seconds."""

READ = """
import sys
import numpy
table = numpy.frombuffer(sys.stdin.buffer.read(), numpy.int64).reshape(-1, 3)
order = sys.argv[1]
"""
MATCH = """
import rustworkx
nodes, perfect = map(int, order.split())
graph = rustworkx.PyGraph(multigraph=False)
graph.add_nodes_from(range(nodes))
graph.add_edges_from([tuple(link) for link in table.tolist()])
found = rustworkx.max_weight_matching(graph, max_cardinality=bool(perfect), weight_fn=int)
"""
WRITE = """
sys.stdout.buffer.write(numpy.array(sorted(found), numpy.int64).tobytes())
"""


def edges_of(points: LossPoints, near: int | None) -> Edges:
    """The ends of all edges, or of those to the ``near`` nearest records of each record and along
    the canonical order, as a circle, so that there is a factor: int64, one < other, ascending."""
    n = len(points)
    if near is None or near >= n - 1:
        one, other = np.triu_indices(n, 1)
        return one.astype(np.int64), other.astype(np.int64)
    lists = nearest_lists(edge_points(points), near).astype(np.int64)
    rows = np.arange(n)
    # the circle makes sure that there is a factor, whatever the near records are
    tails = np.concatenate([np.repeat(rows, lists.shape[1]), rows])
    heads = np.concatenate([lists.ravel(), (rows + 1) % n])
    pairs = np.unique(np.minimum(tails, heads) * n + np.maximum(tails, heads))
    return pairs // n, pairs % n


def edge_costs(points: LossPoints, edges: Edges) -> list[int]:
    """The weights of edges between records whose scales are whole numbers."""
    return [int(weight) for weight in edge_weights(points, *edges).tolist()]


def _matched(nodes: int, links: list[tuple[int, int, int]], perfect: bool, watch: Watch) -> Pairs:
    """The matching of most weight, of all nodes where it must be perfect.

    The library lets nothing else run and can't be stopped. So what takes more than a moment runs in
    a process of its own, which can.
    """
    table = np.array(links, np.int64).reshape(-1, 3)
    order = f"{nodes} {int(perfect)}"
    if len(links) <= FEW or not sys.executable:
        names: dict[str, Any] = {"table": table, "order": order}
        exec(MATCH, names)
        return {(min(a, b), max(a, b)) for a, b in names["found"]}
    answer = apart(READ + MATCH + WRITE, order, table.tobytes(), watch)
    pairs = np.frombuffer(answer, np.int64).reshape(-1, 2).tolist()
    return {(min(a, b), max(a, b)) for a, b in pairs}


def one_or_two_factor(
    n: int, edges: Edges, costs: list[int], watch: Watch
) -> list[tuple[int, int]]:
    """The edges of a [1,2]-factor of least weight of n vertices, ascending."""
    # one more must that is matched outweighs all edges together
    prize = sum(costs) + 1
    links = []
    for u, v, cost in zip(*(end.tolist() for end in edges), costs, strict=True):
        links.append((2 * u, 2 * v, 2 * prize - cost))
        links.append((2 * u, 2 * v + 1, prize - cost))
        links.append((2 * u + 1, 2 * v, prize - cost))
    matched = _matched(2 * n, links, False, watch)
    return sorted({(min(a // 2, b // 2), max(a // 2, b // 2)) for a, b in matched})


def two_factor(
    n: int, edges: Edges, costs: list[int], watch: Watch
) -> list[tuple[int, int]]:
    """The edges of a 2-factor of least weight of n >= 3 vertices, ascending."""
    if len(costs) > ALIKE:
        parts, more = parts_of(n), marks(n, *edges).tolist()
        costs = [cost * parts + mark for cost, mark in zip(costs, more, strict=True)]
    most = max(costs, default=0) + 1
    links = []
    ends = list(zip(*(end.tolist() for end in edges), strict=True))
    for e, ((u, v), cost) in enumerate(zip(ends, costs, strict=True)):
        node_u, node_v = 2 * n + 2 * e, 2 * n + 2 * e + 1
        links.append((node_u, node_v, 2 * most))
        for copy in (0, 1):  # half the cost at each end; in halves, all are whole
            links.append((2 * u + copy, node_u, 2 * most - cost))
            links.append((2 * v + copy, node_v, 2 * most - cost))
    matched = _matched(2 * n + 2 * len(ends), links, True, watch)
    return sorted(
        ends[e] for e in range(len(ends)) if (2 * n + 2 * e, 2 * n + 2 * e + 1) not in matched
    )
