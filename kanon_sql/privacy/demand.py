"""One demand of a privacy model on every class, as kernels take it: its kind, its numbers, and the
tables of the columns of codes that it looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from kanon_sql.points.points import Codes, Floats, Labels
from kanon_sql.points.sensitive import Counts

DISTINCT, ENTROPY, RECURSIVE, BOUNDED, EQUAL, ORDERED, NUMERIC = range(7)
"""Kinds of demands: l distinct values, the entropy of l, (c, l), shares between bounds, and the
earth mover's distance by the equal ground distance at each level of a hierarchy, by ranks in whole
numbers, and by any gaps."""


@dataclass(frozen=True)
class Demand:
    """One demand, but for its columns.

    Attributes:
        kind: what it is.
        number, fraction: as number, and over and under, of Demands.
        worst: as in Demands.
    """

    kind: int
    number: tuple[float, float] = (0.0, 0.0)
    fraction: Fraction = Fraction(0)
    worst: bool = field(kw_only=True)


@dataclass
class Tables:
    """Columns of codes and their tables, one after the other."""

    codes: list[Codes] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    counts: list[Labels] = field(default_factory=list)
    place: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    lower: list[Floats] = field(default_factory=list)

    def add(
        self, codes: Codes, counts: Labels, place: Floats | None = None,
        upper: Floats | None = None, lower: Floats | None = None,
    ) -> None:
        """One more column; ``counts``: int64, shape (m + 1,)."""
        self.codes.append(codes)
        self.values.append(len(counts) - 1)
        self.counts.append(counts)
        nothing = np.zeros(len(counts))
        self.place.append(nothing if place is None else place)
        self.upper.append(nothing + 1.0 if upper is None else upper)
        self.lower.append(nothing if lower is None else lower)


def whole_of(table: Counts) -> Labels:
    """How often each value is in the table, a missing one last: int64, shape (m + 1,)."""
    return np.append(table.values, table.missing)


def at_level(codes: Codes, table: Counts, nodes: Codes) -> tuple[Codes, Labels]:
    """Codes and counts of the nodes of one level; a missing value is a node of its own, the last
    one."""
    many = int(nodes.max(initial=-1)) + 1
    counts = np.bincount(nodes, weights=table.values, minlength=many).astype(np.int64)
    return np.append(nodes, many).astype(np.int32)[codes], np.append(counts, table.missing)
