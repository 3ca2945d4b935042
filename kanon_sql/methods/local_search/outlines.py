"""How far classes are apart at least, without a look at their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon_sql.points.by_label import label_order
from kanon_sql.points.points import Codes, Floats, Labels

BITS = 64
"""Codes are noted modulo so many: classes have none in common if they have no such bit."""


@dataclass(frozen=True)
class Outlines:
    """What bounds the squared distances of the centroids of classes.

    A class is a vector of shares in each column of codes. Where two classes have no code in common
    these are at a right angle, and elsewhere they differ in length at least.

    Attributes:
        means: float64, shape (d, groups); the mean of each number.
        lengths: float64, shape (c, groups); the length of each vector of shares.
        codes: uint64, shape (c, groups); the codes that are there, modulo BITS.
    """

    means: Floats
    lengths: Floats
    codes: Any

    @classmethod
    def of(
        cls, sums: Floats, alike: Floats, sizes: Floats, codes: Codes, labels: Labels
    ) -> Outlines:
        """The outlines of some classes.

        Args:
            sums: float64, shape (groups, d).
            alike: float64, shape (groups, c); in how many ways one can pick two records of a code.
            sizes: float64, shape (groups,).
            codes: int32, shape (n, c).
            labels: int64, shape (n,); of a class without records nothing is known.
        """
        order = label_order(labels)
        held = np.bincount(labels, minlength=len(sizes))
        there = np.flatnonzero(held)
        start = (np.cumsum(held) - held)[there]
        bits = np.zeros((codes.shape[1], len(sizes)), np.uint64)
        for c in range(len(bits)):
            one = np.uint64(1) << (codes[order, c] % BITS).astype(np.uint64)
            bits[c, there] = np.bitwise_or.reduceat(one, start)
        means, lengths = sums.T / sizes, np.sqrt(alike.T) / sizes
        return cls(np.ascontiguousarray(means), np.ascontiguousarray(lengths), bits)

    def bounds(self, group: int, sizes: Floats, scale: Floats) -> Floats:
        """By how much the squared errors of each class grow at least when that one joins it, but
        for rounding: float64, shape (groups,). ``scale``: of each column of codes."""
        total = np.zeros(len(sizes))
        for row in self.means:
            gap = row - row[group]
            gap *= gap
            total += gap
        for weight, row, codes in zip(scale.tolist(), self.lengths, self.codes, strict=True):
            gap = row - row[group]
            gap *= gap
            alone = np.flatnonzero((codes & codes[group]) == 0)
            gap[alone] = row[alone] ** 2 + row[group] ** 2
            gap *= weight
            total += gap
        size = sizes[group]
        total *= sizes
        total *= size
        total /= sizes + size
        return total

    def merge(self, group: int, into: int, means: Floats, lengths: Floats) -> None:
        """One class becomes part of the other, which has these means and lengths then."""
        self.means[:, into], self.lengths[:, into] = means, lengths
        self.codes[:, into] |= self.codes[:, group]
