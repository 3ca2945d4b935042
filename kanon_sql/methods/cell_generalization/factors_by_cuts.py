"""Factors of least weight, by linear programs with a proof.

The linear program (factor_program.py) is solved over few edges and few cuts. Edges that its dual
variables price below zero are added, and cuts that its solution breaks, until there is none of
either, or many turns are over. Where the solution stays in fractions, an integer program over the
cheapest edges finds a factor.

What programs say is in floats. What is believed is the bound, which is in whole numbers. A factor
that weighs no more is a lightest one; of any other, the bound says by how much it may be too heavy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from kanon_sql.methods.cell_generalization.factor_graph import FactorGraph, Numbers
from kanon_sql.methods.cell_generalization.factor_program import (
    CuttingPlane,
    FactorProgram,
    Reals,
    priced,
)

TINY = 1e-6
"""What is no farther from a whole number is taken for it."""

BROKEN = 1e-3
"""Cuts that are broken by less are passed over."""

LEVELS = (TINY, 0.1, 0.2, 0.3, 0.4)
"""Edges that are no farther from whole than that do not connect, where sets S are looked for."""

CHEAP = 8
"""In parts of a unit: what rounding may make of a price of zero, and more."""

CLOSE = 8
"""Edges that are above their price by less than one of so many shares of a unit are in the integer
program."""

TURNS, WORK = 300, 300_000
"""Linear programs that are solved, at most; and so, times records."""

PATIENCE = (2, 10)
"""After so many turns in which the bound didn't grow, a factor is looked for among whole numbers:
the first is often a lightest one, and later ones cost as much again."""

NODES = 50
"""Nodes of the search of an integer program, at most; not seconds, so that the result is always the
same."""

FLOWS = 2**20
"""A capacity of 1 in flows, which are whole numbers."""


Weighed = tuple[int, Numbers]
"""What a factor weighs, and the keys of its edges, ascending."""


class Factor(NamedTuple):
    """A factor, and what is known of all.

    Attributes:
        weight: what it weighs.
        bound: what none weighs less than.
        edges: int64, shape (edges, 2); one end and the other, one < other, ascending.
    """

    weight: int
    bound: int
    edges: Numbers


def _sets(program: FactorProgram, rough: Reals) -> Iterator[Numbers]:
    """Sets of vertices that edges far from whole connect."""
    n, (one, other) = program.graph.n, program.graph.ends(program.keys)
    for level in LEVELS:
        some = rough > level
        graph = csr_array((np.ones(some.sum()), (one[some], other[some])), (n, n))
        _, part = connected_components(graph, directed=False)
        sizes = np.bincount(part)
        for number in np.flatnonzero(sizes > 2):
            yield np.flatnonzero(part == number)


def _flow_sets(program: FactorProgram, rough: Reals, loose: Reals) -> Iterator[Numbers]:
    """Sets of vertices that are parted from others by edges close to whole: least cuts of a tree of
    flows (Gusfield 1990), among vertices with an edge that isn't whole. Stubs lead to one more."""
    n, some, ends = program.graph.n, rough > TINY, np.flatnonzero(loose > TINY)
    one, other = program.graph.ends(program.keys[some])
    one, other = np.append(one, ends), np.append(other, np.full(len(ends), n))
    capacity = np.rint(np.concatenate([rough[some], loose[ends]]) * FLOWS).astype(np.int32)
    names, places = np.unique(np.append(one, other), return_inverse=True)
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
        side = np.zeros(m, np.bool_)
        side[breadth_first_order(left, i, return_predecessors=False)] = True
        above[i + 1 :][side[i + 1 :] & (above[i + 1 :] == above[i])] = i
        # the side without what stubs lead to
        yield names[side] if names[-1] < n or not side[-1] else names[~side]


def _cut(program: FactorProgram, inside: Numbers, leave: Numbers) -> CuttingPlane | None:
    """The cut around a set that is broken most, if one is.

    Args:
        program: it has been solved.
        inside: the set.
        leave: the places of edges of the program that leave it.
    """
    ends = inside if program.loose else np.zeros(0, np.int64)
    values = np.concatenate([program.x[leave], program.stubs[ends]])
    if len(values) == 0:
        return None
    taken = values > 0.5
    left = float(np.minimum(values, 1.0 - values).sum())
    if taken.sum() % 2 == 0:
        turned = int(np.argmin(np.abs(1.0 - 2.0 * values)))
        taken[turned] = ~taken[turned]
        left += float(abs(1.0 - 2.0 * values[turned]))
    if left >= 1.0 - BROKEN:
        return None
    edges, stubs = taken[: len(leave)], taken[len(leave) :]
    return CuttingPlane(inside, program.keys[leave[edges]], ends[stubs])


def _broken(program: FactorProgram) -> list[CuttingPlane]:
    """Cuts that the solution breaks."""
    rough, loose = (np.minimum(v, 1.0 - v) for v in (program.x, program.stubs))
    found = {
        inside.tobytes(): inside
        for sets in (_sets(program, rough), _flow_sets(program, rough, loose)) for inside in sets
    }
    cuts, (one, other) = [], program.graph.ends(program.keys)
    for members in found.values():
        inside = np.zeros(program.graph.n, np.bool_)
        inside[members] = True
        leave = np.flatnonzero(inside[one] != inside[other])
        cut = _cut(program, members, leave)
        if cut is not None:
            cuts.append(cut)
    return cuts


def _factor(graph: FactorGraph, loose: bool, keys: Numbers) -> Weighed | None:
    """What these edges weigh and their keys, if they are a factor."""
    degrees = np.bincount(np.concatenate(graph.ends(keys)), minlength=graph.n)
    if degrees.max() > 2 or degrees.min() < (1 if loose else 2):
        return None
    return int(graph.weights(*graph.ends(keys)).sum()), keys


def _lighter(found: Weighed, other: Weighed | None) -> Weighed:
    """The lighter one, the first of two that weigh the same."""
    return found if other is None or other[0] >= found[0] else other


def _among(program: FactorProgram, keys: Numbers, target: int) -> Weighed | None:
    """A factor of these edges and those that the solution has, by an integer program."""
    keys = np.union1d(np.union1d(keys, program.keys[program.x > TINY]), program.graph.circle())
    degrees = program.degrees(keys)
    costs = np.zeros(degrees.shape[1])
    costs[: len(keys)] = program.graph.weights(*program.graph.ends(keys))
    constraints = [LinearConstraint(degrees, 2.0, 2.0)]
    if program.cuts:
        constraints.append(LinearConstraint(program.rows(keys), program.least(), np.inf))
    x = milp(
        costs, integrality=np.ones(len(costs)), bounds=Bounds(0.0, 1.0), constraints=constraints,
        options={"node_limit": NODES, "mip_rel_gap": 0.5 / max(target, 1)},
    ).x
    return None if x is None else _factor(program.graph, program.loose, keys[x[: len(keys)] > 0.5])


def lightest(codes: Numbers, scale: Numbers, loose: bool) -> Factor:
    """A lightest factor, or a light one and a bound.

    Args:
        codes: int64, shape (n, c), n >= 3, or 2 for a [1,2]-factor.
        scale: int64, shape (c,); what an edge weighs for each column in which its ends differ;
            2**24 together, at most.
        loose: for a [1,2]-factor; else a 2-factor.
    """
    graph = FactorGraph(codes, scale)
    program, best, still = FactorProgram(graph, loose), 0, 0
    found = _factor(graph, loose, graph.circle())
    assert found is not None
    turns = min(TURNS, WORK // graph.n)
    for turn in range(1, turns + 1):
        solved = program.solve()
        bound, keys, gaps = priced(program, graph.unit // CLOSE)
        target = -(-(bound - graph.most_marks) // graph.unit)
        best, still = (target, 0) if target > best else (best, still + 1)
        found = _lighter(found, _factor(graph, loose, program.keys[program.x > 0.5]))
        cuts = _broken(program)
        more = np.setdiff1d(keys[gaps < -CHEAP], program.keys)
        last = not solved or turn == turns or (len(cuts) == 0 and len(more) == 0)
        if found[0] > best and (last or still in PATIENCE):
            found = _lighter(found, _among(program, keys, best))
        if found[0] <= best or last:
            break
        # cuts that nothing is paid for are found again where they are needed
        program.cuts = [program.cuts[i] for i in np.flatnonzero(program.paid)] + cuts
        program.keys = np.union1d(program.keys, more)
    return Factor(found[0], best, np.stack(graph.ends(found[1]), 1))
