"""The nodes of a lattice, one level per attribute, one after another; see full_domain.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import ZERO, inner, kernel
from kanon_sql.kernel.watch import STOP
from kanon_sql.points.points import Floats, Labels

SHUT = 255
"""The tag of a node at which too many records would be suppressed."""
MOST_TAG = SHUT - 1
"""The largest tag of any other node: as many suppressed records as are allowed."""

LOSS, LOST, LEVELS = 0, 1, 2
"""Places in what is known of the best node: its loss, its suppressed records, and from there on its
levels."""


class Lattice(NamedTuple):
    """Nodes by number, in lexicographic order of their levels.

    Attributes:
        tags: uint8, shape (nodes,); SHUT, or a lower bound on the suppressed records, in shares of
            ``out``, up to MOST_TAG.
        low, top: int64, shape (attributes,); the lowest and the highest level of each.
        stride: int64, shape (attributes,); by how much a node's number grows with a level.
        rise: float64, shape (attributes, levels); what a cell at each level costs.
        order: int64, shape (attributes,); the attributes as they were given.
        records: how many there are.
        full: what a suppressed record costs, in units.
        out: how many records may be suppressed.
        unit: how many units a loss of 1.0 has.
    """

    tags: npt.NDArray[np.uint8]
    low: Labels
    top: Labels
    stride: Labels
    rise: Floats
    order: Labels
    records: int
    full: int
    out: int
    unit: float

    def sums(self, levels: Labels) -> Floats:
        """What the first 0, 1, ... of the levels cost a record: float64, shape (attributes + 1,)"""
        return np.cumsum(np.append(0.0, self.rise[np.arange(len(levels)), levels]))

    def number(self, levels: Any) -> int:
        """The number of a node."""
        return int(((np.asarray(levels) - self.low) * self.stride).sum())

    def tag(self, lost: int) -> int:
        """The tag of a node at which that many records, no more than ``out``, are suppressed."""
        return lost * MOST_TAG // self.out if self.out else 0


@inner
def _bounds(lattice: Lattice, index: int, levels: Any, rise: float) -> Any:
    """Takes over the bounds of the nodes above. The least loss that a node can have, and the
    least number of suppressed records; a loss of -1 where it is shut."""
    tags, out = lattice.tags, lattice.out
    tag = tags[index]
    for b in range(len(levels)):
        if levels[b] < lattice.top[b]:
            tag = max(tag, tags[index + lattice.stride[b]])
    tags[index] = tag
    if tag == SHUT:
        return -1, 0
    # rounded up: with fewer suppressed records the tag would have been lower
    lost = (np.int64(tag) * out + MOST_TAG - 1) // MOST_TAG
    released = lattice.records - lost
    return released * np.int64(np.rint(rise * lattice.unit)) + lost * lattice.full, lost


@inner
def _step(lattice: Lattice, levels: Any, fixed: int, sums: Any) -> bool:
    """On to the next node in descending order of those with the same first ``fixed`` levels;
    False after the last. sums[a]: what the levels before a cost a record."""
    a = len(levels) - 1
    while a >= fixed and levels[a] == lattice.low[a]:
        levels[a] = lattice.top[a]
        a -= 1
    if a < fixed:
        return False
    levels[a] -= 1
    # only the sums behind the attribute that changed; added up anew, so that none drifts
    for b in range(a, len(levels)):
        sums[b + 1] = sums[b] + lattice.rise[b, levels[b]]
    return True


@kernel
def next_node(lattice: Lattice, index: int, levels: Any, sums: Any, best: Any, beat: Any) -> int:
    """The number of the next node that may be better than the best; -1 where there is none.

    Args:
        lattice: the nodes.
        index: the node before.
        levels, sums: of that node; then of the one returned.
        best: int64, shape (2 + attributes,); see LOSS.
        beat: says stop.
    """
    # a stop is looked for at one node in 65536
    while (index & 65535 or beat[STOP] == 0) and _step(lattice, levels, ZERO, sums):
        index -= 1
        loss, lost = _bounds(lattice, index, levels, sums[-1])
        if loss < 0 or loss > best[LOSS]:
            continue
        ahead = loss < best[LOSS] or lost < best[LOST]
        # ties go to the lowest levels, the attribute given first first
        if not ahead and lost == best[LOST]:
            for a in lattice.order:
                if levels[a] != best[LEVELS + a]:
                    ahead = levels[a] < best[LEVELS + a]
                    break
        if ahead:
            return index
    return -1


@kernel
def meet_of(lattice: Lattice, index: int, levels: Any, fixed: int, sums: Any, most: int) -> Any:
    """The most general node that lies below all nodes that may lose ``most`` or less, of those
    that share the first ``fixed`` levels: int64, shape (attributes,). Starts at the highest of
    them."""
    meet = levels.copy()
    while True:
        loss, _ = _bounds(lattice, index, levels, sums[-1])
        if 0 <= loss <= most:
            for b in range(fixed, len(levels)):
                meet[b] = min(meet[b], levels[b])
        index -= 1
        if not _step(lattice, levels, fixed, sums):
            return meet
