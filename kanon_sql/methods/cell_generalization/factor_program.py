"""The linear program of factors, and the bound that its dual variables give.

A 2-factor gives each vertex two edges. So does a [1,2]-factor, if a vertex of it that has one edge
has a stub besides, which costs nothing. The convex hull of these is known (Edmonds and Johnson
1970; see Letchford, Reinelt and Theis 2008): 0 <= x <= 1, two edges at each vertex, and for each
set S of vertices and each odd set F of edges (and stubs) that leave it

    sum of 1 - x over F  +  sum of x over the other edges that leave S  >=  1,

since a cycle, or a path between stubs, leaves S an even number of times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from kanon_sql.methods.cell_generalization.factor_graph import FactorGraph, Numbers

Reals = npt.NDArray[np.float64]

NEAR = 8
"""Edges per vertex that are in the first program, and that are added per turn, at most."""

EXACT = 1e-9
"""What a program may leave open."""

FAR = 2**63 - 1
"""Above every price."""

BLOCK = 256
"""Vertices all of whose edges are priced at once."""


@dataclass(frozen=True)
class CuttingPlane:
    """One of the cuts above.

    Attributes:
        inside: int64; the vertices of S, ascending.
        edges: int64; the keys of the edges of F, ascending.
        stubs: int64; the vertices whose stubs are in F.
    """

    inside: Numbers
    edges: Numbers
    stubs: Numbers

    @property
    def least(self) -> int:
        """What the edges that leave S, less those of F twice, add up to at least."""
        return 1 - len(self.edges) - len(self.stubs)


def _matrix(places: Numbers, sizes: Any, width: int, values: Any) -> Any:
    """A matrix with so many values in each row, in these places: shape (len(sizes), width)."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return csr_array((values, places, starts), (len(sizes), width))


def _all(parts: Iterable[Numbers]) -> Numbers:
    """One after another; none of none."""
    return np.concatenate([*parts, np.zeros(0, np.int64)])


class FactorProgram:
    """The linear program over some edges and some cuts.

    Attributes:
        graph: what has all edges.
        loose: whether there are stubs.
        keys: int64, ascending; the keys of its edges.
        cuts: those that it has.
        x, stubs: float64, shapes (edges,) and (n,); the last solution.
        prices, paid: int64, shapes (n,) and (cuts,); its dual variables, in parts of a unit.
    """

    def __init__(self, graph: FactorGraph, loose: bool) -> None:
        self.graph, self.loose, self.cuts = graph, loose, list[CuttingPlane]()
        self.keys, self.x, self.stubs = np.zeros(0, np.int64), np.zeros(0), np.zeros(graph.n)
        self.prices, self.paid = np.zeros(graph.n, np.int64), np.zeros(0, np.int64)
        _, near, _ = priced(self, FAR)
        self.keys = np.union1d(near, graph.circle())

    def _ends(self, keys: Numbers) -> Any:
        """Which edges end at each vertex: a matrix, shape (n, edges)."""
        places, m = np.concatenate(self.graph.ends(keys)), len(keys)
        return csr_array((np.ones(2 * m), (places, np.tile(np.arange(m), 2))), (self.graph.n, m))

    def degrees(self, keys: Numbers) -> Any:
        """The edges, and stubs, at each vertex: a matrix, shape (n, edges and stubs)."""
        ends = self._ends(keys)
        return csr_array(hstack([ends, eye_array(self.graph.n)])) if self.loose else ends

    def rows(self, keys: Numbers) -> Any:
        """The cuts over these edges, and the stubs: a matrix, shape (cuts, edges and stubs). An
        edge that is missing counts as one that isn't taken."""
        n, cuts = self.graph.n, self.cuts
        inside, stubs = _all(cut.inside for cut in cuts), _all(cut.stubs for cut in cuts)
        sets = _matrix(inside, [len(cut.inside) for cut in cuts], n, np.ones(len(inside)))
        rows = csr_array(sets @ self._ends(keys))
        rows.data[rows.data == 2.0] = 0.0  # both ends are in S
        edges, rank = _all(cut.edges for cut in cuts), np.arange(len(cuts))
        places = np.minimum(np.searchsorted(keys, edges), len(keys) - 1)
        known = np.flatnonzero(keys[places] == edges)
        cut = np.repeat(rank, [len(cut.edges) for cut in cuts])[known]
        rows -= csr_array((np.full(len(known), 2.0), (cut, places[known])), rows.shape)
        if self.loose:
            cut = np.repeat(rank, [len(cut.stubs) for cut in cuts])
            sets -= csr_array((np.full(len(stubs), 2.0), (cut, stubs)), sets.shape)
            rows = hstack([rows, sets])
        return csr_array(rows)

    def least(self) -> Reals:
        """What ``rows`` add up to at least."""
        return np.array([cut.least for cut in self.cuts], np.float64)

    def solve(self) -> bool:
        """Solves it, and says whether it was solved; else no edge is taken, at the old prices."""
        n, unit, cuts = self.graph.n, self.graph.unit, len(self.cuts) > 0
        costs = np.append(self.graph.parts(self.keys) / unit, np.zeros(n if self.loose else 0))
        solution = linprog(
            costs, -self.rows(self.keys) if cuts else None, -self.least() if cuts else None,
            self.degrees(self.keys), np.full(n, 2.0), (0.0, 1.0), "highs-ds",
            options={"dual_feasibility_tolerance": EXACT, "primal_feasibility_tolerance": EXACT},
        )
        if solution.status != 0:
            self.x, self.stubs = np.zeros(len(self.keys)), np.zeros(n)
            self.paid = np.zeros(len(self.cuts), np.int64)
            return False
        self.x = solution.x[: len(self.keys)]
        self.stubs = solution.x[len(self.keys) :] if self.loose else np.zeros(n)
        self.prices = np.rint(solution.eqlin.marginals * unit).astype(np.int64)
        paid = -np.asarray(solution.ineqlin.marginals) * unit
        self.paid = np.maximum(np.rint(paid), 0.0).astype(np.int64)
        return True


def _sum(numbers: Numbers) -> int:
    """The sum of many large numbers."""
    return (int((numbers >> 24).sum()) << 24) + int((numbers & (2**24 - 1)).sum())


def priced(program: FactorProgram, limit: int) -> tuple[int, Numbers, Numbers]:
    """What each factor weighs at least, in parts of a unit; and the cheapest edges.

    For any dual variables, a factor weighs what these pay for two edges at each vertex and for the
    cuts, and what its edges weigh above that, so no less than if it had all edges that weigh less,
    and no other. Of all edges, in whole numbers.

    Args:
        program: its prices are any numbers, but none is paid for a cut below zero.
        limit: only edges that are above their price by no more are given.

    Returns:
        the bound; the keys of the NEAR cheapest edges of each vertex, ascending, and what they are
        above their price.
    """
    graph, n, some = program.graph, program.graph.n, np.flatnonzero(program.paid)
    cuts, paid = [program.cuts[i] for i in some], program.paid[some]
    inside, sizes = _all(cut.inside for cut in cuts), [len(cut.inside) for cut in cuts]
    sets = _matrix(inside, sizes, n, np.repeat(paid, sizes))
    # an edge that leaves S pays for it once; each end in S does, and who has both there has it back
    prices = program.prices + np.asarray(sets.sum(axis=0), np.int64)
    within = csr_array(_matrix(inside, sizes, n, np.full(len(inside), 2)).T)
    charged = _all(cut.edges for cut in cuts)
    back = np.tile(np.repeat(2 * paid, [len(cut.edges) for cut in cuts]), 2)
    one, other = graph.ends(np.append(charged, charged % n * n + charged // n))
    order = np.argsort(one, kind="stable")
    one, other, back = one[order], other[order], back[order]
    bound, keys, gaps, few = 2 * _sum(program.prices), [], [], min(NEAR, n - 1)
    bound += sum(cut.least * price for cut, price in zip(cuts, paid.tolist(), strict=True))
    for begin in range(0, n, BLOCK):
        rows = np.arange(begin, min(begin + BLOCK, n))
        above = graph.weights(rows[:, None], np.arange(n)) * graph.unit
        above -= prices[rows, None] + prices
        both = csr_array(within[rows] @ sets).tocoo()
        above[both.row, both.col] += both.data
        low, high = np.searchsorted(one, [begin, begin + BLOCK])
        np.add.at(above, (one[low:high] - begin, other[low:high]), back[low:high])
        above[rows - begin, rows] = FAR
        # a mark makes nothing cheaper
        i, j = np.nonzero(above <= min(limit, FAR - 1))
        above[i, j] += graph.marks(i + begin, j)
        gap = above[i, j]
        bound += _sum(gap[(gap < 0) & (i + begin < j)])
        best = np.argpartition(above, few - 1, axis=1)[:, :few]
        gap = np.take_along_axis(above, best, 1)
        i, j = np.nonzero(gap <= limit)
        keys.append(graph.keys(i + begin, best[i, j]))
        gaps.append(gap[i, j])
    if program.loose:
        stubs = -prices
        for cut, price in zip(cuts, paid.tolist(), strict=True):
            stubs[cut.stubs] += 2 * price
        bound += _sum(stubs[stubs < 0])
    found, first = np.unique(np.concatenate(keys), return_index=True)
    return bound, found, np.concatenate(gaps)[first]
