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

from itertools import combinations

import rustworkx

from kanon_sql.points.points import LossPoints

Edge = tuple[int, int]


def weights(points: LossPoints) -> dict[Edge, int]:
    """What each edge between records weighs whose scales are whole numbers."""
    rows, scale = points.codes.tolist(), points.scale.astype(int).tolist()
    return {
        (a, b): sum(s for x, y, s in zip(rows[a], rows[b], scale, strict=True) if x != y)
        for a, b in combinations(range(len(points)), 2)
    }


def _matched(nodes: int, links: list[tuple[int, int, int]], perfect: bool) -> set[Edge]:
    """The matching of most weight, of all nodes where it must be perfect."""
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from([None] * nodes)
    graph.add_edges_from(links)
    found = rustworkx.max_weight_matching(graph, max_cardinality=perfect, weight_fn=int)
    return {(min(a, b), max(a, b)) for a, b in found}


def one_or_two_factor(n: int, costs: dict[Edge, int]) -> list[Edge]:
    """The edges of a [1,2]-factor of least weight of n vertices, ascending."""
    # one more must that is matched outweighs all edges together
    prize = sum(costs.values()) + 1
    links = []
    for (u, v), cost in costs.items():
        links.append((2 * u, 2 * v, 2 * prize - cost))
        links.append((2 * u, 2 * v + 1, prize - cost))
        links.append((2 * u + 1, 2 * v, prize - cost))
    matched = _matched(2 * n, links, False)
    return sorted({(min(a // 2, b // 2), max(a // 2, b // 2)) for a, b in matched})


def two_factor(n: int, costs: dict[Edge, int]) -> list[Edge]:
    """The edges of a 2-factor of least weight of n >= 3 vertices, ascending."""
    most = max(costs.values(), default=0) + 1
    links, ends = [], list(costs)
    for e, (u, v) in enumerate(ends):
        node_u, node_v = 2 * n + 2 * e, 2 * n + 2 * e + 1
        links.append((node_u, node_v, 2 * most))
        for copy in (0, 1):  # half the cost at each end; in halves, all are whole
            links.append((2 * u + copy, node_u, 2 * most - costs[u, v]))
            links.append((2 * v + copy, node_v, 2 * most - costs[u, v]))
    matched = _matched(2 * n + 2 * len(ends), links, True)
    return sorted(
        ends[e] for e in range(len(ends)) if (2 * n + 2 * e, 2 * n + 2 * e + 1) not in matched
    )
