"""Minimal sample uniques, and how well each subset of the columns tells rows apart.

Sources: Elliot, Manning and Ford, A computational algorithm for handling the special uniques
problem (SUDA), International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5),
2002; Motwani and Xu, Efficient algorithms for masking and finding quasi-identifiers, VLDB workshop
on secure data management 2007.

The rows are split by one column after the other, in every order that goes from left to right. A
combination that stands alone in its part stays alone however it is split further, so that fewer and
fewer rows have to be looked at; and a subset of columns is looked at after all that it holds, so
that what isn't minimal holds something that was met before. GROUP BY CUBE gives the same, but keeps
a table for each subset at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

FLUSHED = 2_000_000
"""How many unique combinations are held before those that aren't minimal are forgotten."""

DENSE = 8
"""How many times as many slots as rows may be counted in, rather than to sort."""


class Subset(NamedTuple):
    """A subset of the columns.

    Attributes:
        columns: their numbers.
        classes: distinct combinations of their values.
        squares: sum of the squared rows of the classes.
    """

    columns: tuple[int, ...]
    classes: int
    squares: int


class Uniques(NamedTuple):
    """What is found of all subsets.

    Attributes:
        rows: the combination of each minimal sample unique, int64, shape (u,), ascending.
        masks: its columns, column j as the bit 2^(m - 1 - j), int64, shape (u,).
        subsets: all subsets that were asked for, the smaller ones first.
    """

    rows: Integers
    masks: Integers
    subsets: list[Subset]


class _Part(NamedTuple):
    """The rows under a subset of columns.

    Attributes:
        columns: the subset.
        mask: the same as bits.
        alive: combinations of all columns that share their part with another one, int64.
        labels: the part of each, int64, from 0 up.
        parts: how many parts there are.
        classes: parts that hold one combination only.
        squares: the sum of the squares of their rows.
    """

    columns: tuple[int, ...]
    mask: int
    alive: Integers
    labels: Integers
    parts: int
    classes: int
    squares: int


def _numbered(keys: Integers, slots: int) -> tuple[Integers, int]:
    """Keys below ``slots`` that are numbers for which few are left out: as they are where they are
    dense enough, else numbered anew; and how many slots there are then."""
    if slots <= DENSE * max(len(keys), 1024):
        return keys, slots
    found, place = np.unique(keys, return_inverse=True)
    return place.reshape(-1).astype(np.int64), len(found)


@dataclass
class _Search:
    codes: Integers
    cards: Integers
    sizes: Integers
    most: int
    told: int
    check: Callable[[], None]
    subsets: list[Subset] = field(default_factory=list)
    met: list[tuple[Integers, int]] = field(default_factory=list)
    held: int = 0
    rows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    masks: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def split(self, part: _Part, column: int) -> _Part:
        """The parts of a subset with one more column."""
        self.check()
        columns = (*part.columns, column)
        mask = part.mask | 1 << (self.codes.shape[1] - 1 - column)
        card = int(self.cards[column])
        keys, slots = _numbered(
            part.labels * card + self.codes[part.alive, column], part.parts * card
        )
        members = np.bincount(keys, minlength=slots)
        alone = members[keys] == 1
        single = part.alive[alone]
        sizes = self.sizes[single]
        if len(columns) <= self.most:
            unique = single[sizes == 1]
            self.met.append((unique, mask))
            self.held += len(unique)
        shared = members > 1
        classes = part.classes + len(single)
        squares = part.squares + int((sizes * sizes).sum())
        if len(columns) <= self.told:
            # whole numbers below 2^53, so the sums of doubles are exact
            rows = np.bincount(keys, self.sizes[part.alive], slots)[shared].astype(np.int64)
            self.subsets.append(Subset(
                columns, classes + len(rows), squares + sum(int(n) * int(n) for n in rows)
            ))
        left = (np.cumsum(shared) - 1)[keys[~alone]]
        return _Part(
            columns, mask, part.alive[~alone], left, int(shared.sum()), classes, squares
        )

    def walk(self, part: _Part) -> None:
        """All larger subsets, so that each comes after those that it holds."""
        deepest = max(self.most, self.told)
        first = part.columns[-1] + 1 if part.columns else 0
        for column in range(self.codes.shape[1] - 1, first - 1, -1):
            size = len(part.columns) + 1
            if size <= self.told or (size <= self.most and len(part.alive)):
                found = self.split(part, column)
                if self.held > FLUSHED:
                    self.flush()
                if size < deepest:
                    self.walk(found)

    def flush(self) -> None:
        """Forgets the unique combinations whose columns hold those of another one."""
        masks = [np.full(len(rows), mask, np.int64) for rows, mask in self.met]
        rows = np.concatenate([self.rows, *(rows for rows, _ in self.met)])
        mask = np.concatenate([self.masks, *masks])
        order = np.argsort(rows, kind="stable")
        rows, mask = rows[order], mask[order]
        kept = _minimal(rows, mask)
        self.rows, self.masks, self.met, self.held = rows[kept], mask[kept], [], 0


def _minimal(rows: Integers, masks: Integers) -> npt.NDArray[np.bool_]:
    """Which sets of columns hold no earlier one of the same row: shape (n,); the rows are
    ascending, and no set stands before one that it holds."""
    kept = np.ones(len(rows), np.bool_)
    later = np.arange(1, len(rows))
    step = 1
    while len(later):
        later = later[rows[later] == rows[later - step]]
        earlier = masks[later - step]
        kept[later[(earlier & masks[later]) == earlier]] = False
        step += 1
        later = later[later >= step]
    return kept


def find_uniques(
    codes: Integers, sizes: Integers, most: int, told: int,
    check: Callable[[], None] = lambda: None,
) -> Uniques:
    """The minimal sample uniques of a table, and the classes of its subsets of columns.

    A minimal sample unique is a row and a set of columns in whose values no other row is equal,
    while for every set that lacks one of them there is one.

    Args:
        codes: the distinct combinations of values, as codes from 0 up, int64, shape (n, m).
        sizes: how many rows have each, int64, shape (n,).
        most: the most columns of a minimal sample unique.
        told: the most columns of a subset whose classes are told.
        check: is called for each subset; it may raise, which ends the search.
    """
    n, m = codes.shape
    cards = codes.max(axis=0, initial=-1) + 1
    search = _Search(codes, cards, sizes, min(most, m), min(told, m), check)
    alive = np.arange(n)
    whole = _Part((), 0, alive, np.zeros(n, np.int64), min(n, 1), 0, 0)
    search.walk(whole)
    search.flush()
    subsets = sorted(search.subsets, key=lambda subset: (len(subset.columns), subset.columns))
    return Uniques(search.rows, search.masks, subsets)


def shares(found: Uniques, width: int) -> Iterator[Any]:
    """The share of the minimal sample uniques that each of ``width`` columns is in; None where
    there are none."""
    for column in range(width):
        held = (found.masks >> (width - 1 - column)) & 1
        yield float(held.sum()) / len(held) if len(held) else None
