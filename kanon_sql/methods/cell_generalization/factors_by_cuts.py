"""Factors of least weight of thousands of records, by linear programs with a proof.

Both factors give each vertex two edges, if a vertex of a [1,2]-factor that has one edge has a stub
besides, which costs nothing. The convex hull of these is known (Edmonds and Johnson 1970; see
Letchford, Reinelt and Theis 2008): 0 <= x <= 1, two edges at each vertex, and for each set S of
vertices and each odd set F of edges (and stubs) that leave it

    sum of 1 - x over F  +  sum of x over the other edges that leave S  >=  1,

since a cycle, or a path between stubs, leaves S an even number of times. So the linear program is
solved over few edges and few of these cuts. Edges that its dual variables price below zero are
added, and cuts that its solution breaks, until there is none of either, or many turns are over.
What it then says is in floats. What is believed is a bound: any dual variables give one, of all
factors, in whole numbers (``_bound``). A factor that weighs less than one unit more is a lightest
one. Where none was found, the bound says which edges one may have at all.

A process of its own runs this file, since a library that solves programs can't be stopped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

Numbers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

NEAR = 8
"""Edges to so many nearest vertices of each are in the first program."""

MORE = 4
"""Edges that are added per vertex and turn, at most."""

TINY = 1e-6
"""What is no farther from a whole number is taken for it."""

BROKEN = 1e-3
"""Cuts that are broken by less are passed over."""

LEVELS = (TINY, 0.1, 0.2, 0.3, 0.4)
"""Edges that are no farther from whole than that do not connect, where sets S are looked for."""

TIES = 2**10
"""Edges that weigh the same are told apart by so many numbers."""

EXACT = 1e-9
"""What a program may leave open."""

CHEAP = 8
"""In parts of a unit: what rounding may make of a price of zero, and more."""

TURNS = 40
"""Programs after which the rest is left to who can match few edges."""

LEFT = {True: 22, False: 8}
"""Edges per vertex that are left to them, at most: with stubs they match more in a minute."""

FLOWS = 2**20
"""A capacity of 1 in flows, which are whole numbers."""


class Factors(NamedTuple):
    """What is known of the lightest factors.

    Attributes:
        certain: whether ``edges`` are one.
        target: what they weigh; else what none weighs less than.
        unit, bound: parts of a unit, and the bound in parts: a factor of weight w, and each edge of
            it, is above its price by no more than w * unit + unit // 2 - bound.
        known: all edges that are above their price by that or less are among ``edges``.
        edges: int64, shape (edges, 3); one end, the other, and what the edge is above its price.
    """

    certain: bool
    target: int
    unit: int
    bound: int
    known: int
    edges: Numbers


@dataclass(frozen=True)
class CuttingPlane:
    """One of the cuts above.

    Attributes:
        inside: bool, shape (n,); S.
        edges: int64, shape (f, 2); the edges of F.
        stubs: int64; the vertices whose stubs are in F.
    """

    inside: npt.NDArray[np.bool_]
    edges: Numbers
    stubs: Numbers

    @property
    def least(self) -> int:
        """What the edges that leave S, less those of F twice, add up to at least."""
        return 1 - len(self.edges) - len(self.stubs)


def weights_of(codes: Numbers, scale: Numbers) -> Numbers:
    """The weights of all edges: int64, shape (n, n)."""
    weights = np.zeros((len(codes), len(codes)), np.int64)
    for column, more in zip(codes.T, scale.tolist(), strict=True):
        weights += more * (column[:, None] != column)
    return weights


def marks(n: int, one: Numbers, other: Numbers) -> Numbers:
    """A number below TIES for each edge, one < other, of n vertices, as good as drawn: int64."""
    mixed = one.astype(np.uint64) * np.uint64(n) + other.astype(np.uint64)
    for shift in (33, 29):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(shift)
    return np.asarray(mixed % np.uint64(TIES), np.int64)


def parts_of(n: int) -> int:
    """In how many parts a unit is divided, so that the marks of any factor are half a unit at
    most."""
    return 2 * n * TIES


def _told_apart(weights: Numbers) -> tuple[Numbers, int]:
    """The weights of edges, in parts of a unit, that hardly two share; and how many parts a unit
    has. All that is added to any factor is half a unit at most: a lightest one stays so, but of
    those that weigh the same few are the lightest here. A program with many solutions would show
    ever other ones, each of which breaks cuts."""
    n = len(weights)
    one, other = np.triu_indices(n, 1)
    more = np.zeros((n, n), np.int64)
    more[one, other] = more[other, one] = marks(n, one, other)
    return weights * parts_of(n) + more, parts_of(n)


class Program:
    """The linear program over some edges and some cuts.

    Attributes:
        weights: int64, shape (n, n); see _told_apart.
        unit: by how much they are larger than weights are.
        loose: whether there are stubs.
        one, other: int64, shape (edges,); the ends of the edges, one < other.
        cuts: those found so far.
        x, stubs: float64, shapes (edges,) and (n,); the last solution.
        prices, cut_prices: int64, shapes (n,) and (cuts,); its dual variables, in parts of a unit.
    """

    def __init__(self, weights: Numbers, unit: int, loose: bool) -> None:
        self.weights, self.unit, self.loose, self.n = weights, unit, loose, len(weights)
        self.cuts: list[CuttingPlane] = []
        rows, few = np.arange(self.n), min(NEAR, self.n - 1)
        near = np.argpartition(weights, few, axis=1)[:, : few + 1]
        self.one = self.other = np.zeros(0, np.int64)
        # around as a circle, so that there is a factor
        self.add(np.repeat(rows, few + 1), near.ravel())
        self.add(rows, (rows + 1) % self.n)

    def add(self, one: Any, other: Any) -> None:
        """Adds edges, those that are new."""
        keys = np.minimum(one, other) * self.n + np.maximum(one, other)
        keys = keys[one != other]
        keys = np.union1d(self.one * self.n + self.other, keys)
        self.one, self.other = keys // self.n, keys % self.n

    def _row(self, cut: CuttingPlane) -> Any:
        """A cut over the edges, and the stubs if there are any."""
        row = (cut.inside[self.one] != cut.inside[self.other]).astype(np.float64)
        keys = self.one * self.n + self.other
        row[np.searchsorted(keys, cut.edges[:, 0] * self.n + cut.edges[:, 1])] = -1.0
        if self.loose:
            ends = cut.inside.astype(np.float64)
            ends[cut.stubs] = -1.0
            row = np.concatenate([row, ends])
        return csr_array(row[None, :])

    def solve(self) -> None:
        """Solves it."""
        n, m = self.n, len(self.one)
        edges = np.arange(m)
        ends = csr_array(
            (np.ones(2 * m), (np.concatenate([self.one, self.other]), np.tile(edges, 2))), (n, m)
        )
        costs = self.weights[self.one, self.other] / self.unit
        if self.loose:
            ends = csr_array(hstack([ends, eye_array(n)]))
            costs = np.concatenate([costs, np.zeros(n)])
        cuts = vstack([-self._row(cut) for cut in self.cuts]) if self.cuts else None
        solution = linprog(
            costs, cuts, [-float(cut.least) for cut in self.cuts] or None, ends, np.full(n, 2.0),
            (0.0, 1.0), "highs-ds",
            options={"dual_feasibility_tolerance": EXACT, "primal_feasibility_tolerance": EXACT},
        )
        if solution.status != 0:
            raise RuntimeError("a linear program failed")
        self.x, self.stubs = solution.x[:m], solution.x[m:] if self.loose else np.zeros(n)
        self.prices = np.rint(solution.eqlin.marginals * self.unit).astype(np.int64)
        paid = -np.asarray(solution.ineqlin.marginals) * self.unit
        self.cut_prices = np.maximum(np.rint(paid), 0.0).astype(np.int64)

    def reduced(self) -> tuple[Numbers, Numbers, int]:
        """What edges and stubs weigh above what the dual variables pay: int64, shapes (n, n) and
        (n,); and what all pay."""
        above = self.weights - self.prices[:, None] - self.prices
        stubs, total = -self.prices, 2 * int(self.prices.sum())
        for cut, paid in zip(self.cuts, self.cut_prices.tolist(), strict=True):
            some = np.flatnonzero(cut.inside)
            if paid == 0:
                continue
            above[some] -= paid
            above[:, some] -= paid
            above[np.ix_(some, some)] += 2 * paid
            above[cut.edges[:, 0], cut.edges[:, 1]] += 2 * paid
            above[cut.edges[:, 1], cut.edges[:, 0]] += 2 * paid
            stubs[some] -= paid
            stubs[cut.stubs] += 2 * paid
            total += paid * cut.least
        return above, stubs, total


def _bound(program: Program) -> int:
    """What each factor weighs at least: for any dual variables, a factor weighs what these pay for
    two edges at each vertex and for the cuts, and what its edges weigh above that, so no less than
    if it had all edges that weigh less, and no other. Of all edges, in whole numbers."""
    above, stubs, least = program.reduced()
    upper = np.triu(above, 1)
    least += int(upper[upper < 0].sum())
    return least + int(stubs[stubs < 0].sum()) if program.loose else least


def _too_cheap(program: Program) -> Any:
    """The edges priced below zero, a few of each vertex: int64 arrays, one and other."""
    above, _, _ = program.reduced()
    np.fill_diagonal(above, 0)
    n, few = program.n, min(MORE, program.n - 1)
    best = np.argpartition(above, few, axis=1)[:, :few]
    one, other = np.repeat(np.arange(n), few), best.ravel()
    low = above[one, other] < -CHEAP
    known = np.isin(
        np.minimum(one, other) * n + np.maximum(one, other), program.one * n + program.other
    )
    return one[low & ~known], other[low & ~known]


def _sets(program: Program, rough: Reals) -> Iterator[npt.NDArray[np.bool_]]:
    """Sets of vertices that edges far from whole connect."""
    n = program.n
    for level in LEVELS:
        some = rough > level
        graph = csr_array((np.ones(some.sum()), (program.one[some], program.other[some])), (n, n))
        _, part = connected_components(graph, directed=False)
        sizes = np.bincount(part)
        for number in np.flatnonzero(sizes > 2):
            yield part == number


def _flow_sets(program: Program, rough: Reals, loose: Reals) -> Iterator[npt.NDArray[np.bool_]]:
    """Sets of vertices that are parted from others by edges close to whole: least cuts of a tree of
    flows (Gusfield 1990), among vertices with an edge that isn't whole. Stubs lead to one more."""
    n, some, ends = program.n, rough > TINY, np.flatnonzero(loose > TINY)
    one = np.concatenate([program.one[some], ends])
    other = np.concatenate([program.other[some], np.full(len(ends), n)])
    capacity = np.rint(np.concatenate([rough[some], loose[ends]]) * FLOWS).astype(np.int32)
    names, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    if len(names) == 0:
        return
    # older searches of scipy take no indices of 64 bits
    places = places.astype(np.int32)
    one, other, m = places[: len(one)], places[len(one) :], len(names)
    graph = csr_array(
        (np.tile(capacity, 2), (np.append(one, other), np.append(other, one))), (m, m)
    )
    above = np.zeros(m, np.int64)
    for i in range(1, m):
        flow = maximum_flow(graph, i, int(above[i])).flow
        left = csr_array(graph - flow)
        left.eliminate_zeros()
        side = _reached(left, i)
        above[i + 1 :][side[i + 1 :] & (above[i + 1 :] == above[i])] = i
        inside = np.zeros(n + 1, np.bool_)
        inside[names[side]] = True
        yield ~inside[:n] if inside[n] else inside[:n]


def _reached(graph: Any, start: int) -> npt.NDArray[np.bool_]:
    """Which vertices are reached from one."""
    reached = np.zeros(graph.shape[0], np.bool_)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached


def _cut(program: Program, inside: npt.NDArray[np.bool_]) -> tuple[float, CuttingPlane | None]:
    """The cut around a set that is broken most, and what its left side is."""
    leave = np.flatnonzero(inside[program.one] != inside[program.other])
    ends = np.flatnonzero(inside) if program.loose else np.zeros(0, np.int64)
    values = np.concatenate([program.x[leave], program.stubs[ends]])
    if len(values) == 0:
        return 1.0, None
    taken = values > 0.5
    left = float(np.minimum(values, 1.0 - values).sum())
    if taken.sum() % 2 == 0:
        turned = int(np.argmin(np.abs(1.0 - 2.0 * values)))
        taken[turned] = ~taken[turned]
        left += float(abs(1.0 - 2.0 * values[turned]))
    edges = leave[taken[: len(leave)]]
    return left, CuttingPlane(
        inside, np.column_stack([program.one[edges], program.other[edges]]),
        ends[taken[len(leave) :]],
    )


def _broken(program: Program) -> list[CuttingPlane]:
    """Cuts that the solution breaks."""
    rough, loose = (np.minimum(v, 1.0 - v) for v in (program.x, program.stubs))
    cuts: dict[bytes, CuttingPlane] = {}
    for sets in (_sets(program, rough), _flow_sets(program, rough, loose)):
        for inside in sets:
            left, cut = _cut(program, inside)
            if cut is not None and left < 1.0 - BROKEN:
                cuts.setdefault(np.packbits(inside).tobytes(), cut)
    return list(cuts.values())


def _candidates(program: Program) -> Factors:
    """The edges that a factor may have which weighs what the bound says, or more.

    All that an edge is above its price comes on top of the bound.
    """
    above, bound, unit, n = program.reduced()[0], _bound(program), program.unit, program.n
    # what tells those of the same weight apart adds no more than half a unit
    target = -(-(bound - unit // 2) // unit)
    one, other = np.triu_indices(n, 1)
    gaps = above[one, other]
    known, most = int(gaps.max()), LEFT[program.loose] * n
    if len(gaps) > most:
        known = int(np.partition(gaps, most)[most]) - 1
    low = gaps <= known
    edges = np.column_stack([one[low], other[low], gaps[low]])
    return Factors(False, target, unit, bound, known, edges)


def solve(weights: Numbers, loose: bool) -> Factors:
    """The lightest factor, or what may be in it.

    Args:
        weights: of all edges, whole numbers, int64, shape (n, n).
        loose: for a [1,2]-factor; else a 2-factor.
    """
    parts, unit = _told_apart(weights)
    program, turns = Program(parts, unit, loose), 0
    while True:
        program.solve()
        turns += 1
        one, other = _too_cheap(program)
        whole = np.abs(program.x - np.rint(program.x)).max(initial=0.0) <= TINY
        cuts = [] if whole or turns >= TURNS else _broken(program)
        if len(one) == 0 and len(cuts) == 0:
            break
        program.add(one, other)
        program.cuts += cuts
    taken = program.x > 0.5
    chosen = np.column_stack([program.one[taken], program.other[taken]])
    degrees = np.bincount(chosen.ravel(), minlength=program.n)
    paid = int(weights[chosen[:, 0], chosen[:, 1]].sum())
    fits = whole and degrees.max() <= 2 and degrees.min() >= (1 if loose else 2)
    if fits and _bound(program) > (paid - 1) * unit + unit // 2:
        edges = np.column_stack([chosen, np.zeros(len(chosen), np.int64)])
        return Factors(True, paid, unit, 0, 0, edges)
    return _candidates(program)


def main() -> None:
    """Answers what a process was asked: n, columns and whether there are stubs, then the scales and
    the codes, all int64."""
    # what the library writes while it solves would stand before the answer
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        _answer(output)


def _answer(output: IO[bytes]) -> None:
    asked = np.frombuffer(sys.stdin.buffer.read(), np.int64)
    n, c, loose = asked[:3].tolist()
    answer = solve(weights_of(asked[3 + c :].reshape(n, c), asked[3 : 3 + c]), bool(loose))
    head = np.array(answer[:-1], np.int64)
    output.write(np.concatenate([head, answer.edges.ravel()]).tobytes())


if __name__ == "__main__":
    main()
