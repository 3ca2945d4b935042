"""The complete graph of records, whose edges weigh what their ends differ in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

TIES = 2**10
"""Edges that weigh the same are told apart by so many numbers."""

SHARE = 8
"""The share of a unit that these add to a factor, at most."""


class FactorGraph:
    """All edges of some records. An edge has a key: one * n + other, for one < other.

    Attributes:
        n: how many records there are.
        unit: in how many parts a unit of weight is divided; see ``parts``.
        most_marks: what the marks of a factor add up to, at most.
    """

    def __init__(self, codes: Numbers, scale: Numbers) -> None:
        """codes: int64, shape (n, c); scale: int64, shape (c,)."""
        self.n = len(codes)
        # any factor has n edges at most
        self.most_marks = self.n * TIES
        self.unit = SHARE * self.most_marks
        named = (np.unique(column, return_inverse=True)[1] for column in codes.T)
        self._columns = [
            (names.astype(np.min_scalar_type(self.n)), more)
            for names, more in zip(named, scale.tolist(), strict=True) if more
        ]

    def ends(self, keys: Numbers) -> tuple[Numbers, Numbers]:
        """One end of each edge, and the other."""
        return keys // self.n, keys % self.n

    def keys(self, one: Numbers, other: Numbers) -> Numbers:
        """The keys of edges between these ends."""
        return np.minimum(one, other) * self.n + np.maximum(one, other)

    def circle(self) -> Numbers:
        """The keys of a factor, ascending: around along the canonical order."""
        rows = np.arange(self.n)
        return np.unique(self.keys(rows, (rows + 1) % self.n))

    def weights(self, one: Any, other: Any) -> Numbers:
        """What the edges between these weigh, broadcast: int64."""
        total = np.zeros(np.broadcast_shapes(one.shape, other.shape), np.int32)
        for column, more in self._columns:
            total += np.int32(more) * (column[one] != column[other])
        return total.astype(np.int64)

    def marks(self, one: Numbers, other: Numbers) -> Numbers:
        """A number below TIES for each edge, as good as drawn: int64."""
        mixed = np.minimum(one, other).astype(np.uint64) * np.uint64(self.n)
        mixed += np.maximum(one, other).astype(np.uint64)
        for shift in (33, 29):
            mixed *= np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(shift)
        return np.asarray(mixed % np.uint64(TIES), np.int64)

    def parts(self, keys: Numbers) -> Numbers:
        """What edges weigh in parts of a unit, and a little more, so that hardly two weigh the
        same. All that is added to any factor is a share of a unit: a lightest one stays so, but of
        those that weigh the same few are the lightest here. A program with many solutions would
        show ever other ones, each of which breaks cuts."""
        one, other = self.ends(keys)
        return self.weights(one, other) * self.unit + self.marks(one, other)
