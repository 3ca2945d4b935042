"""Minimal sample uniques, and how well each subset of the columns tells rows apart.

Sources: Elliot, Manning and Ford, A computational algorithm for handling the special uniques
problem (SUDA), International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5),
2002, and for the scores Elliot, Manning, Mayes, Gurd and Bane, SUDA: A program for detecting
special uniques, UNECE work session on statistical data confidentiality, 2005; Motwani and Xu,
Efficient algorithms for masking and finding quasi-identifiers, VLDB workshop on secure data
management 2007.

The rows are split by one column after the other, in every order that goes from left to right. A
combination that stands alone in its part stays alone however it is split further, so that fewer and
fewer rows have to be looked at; and a subset of columns is looked at after all that it holds, whose
unique rows are remembered. GROUP BY CUBE gives the same, but keeps a table for each subset at the
same time: of 12 columns it runs out of 8 GB of memory with 5,000 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.errors import DataError

Integers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

DENSE = 8
"""How many times as many slots as rows may be counted in, rather than to sort."""

MOST_BYTES = 2**31
"""The most memory that may hold which rows are unique in which subset."""


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
        counts: how many rows have a subset as a minimal sample unique, by the subset; none of 0.
        rows: which combinations have any, bool, shape (n,).
        scores: the SUDA score of each combination, float64, shape (n,): the sum over its minimal
            sample uniques of the factorial of how many columns they lack.
        subsets: all subsets that were asked for, the smaller ones first.
    """

    counts: dict[tuple[int, ...], int]
    rows: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.float64]
    subsets: list[Subset]

    @property
    def total(self) -> int:
        """How many minimal sample uniques there are."""
        return sum(self.counts.values())

    @property
    def least(self) -> int | None:
        """The columns of the smallest one; None where there is none."""
        return min(map(len, self.counts), default=None)

    def shares(self, width: int) -> Iterator[float | None]:
        """The share of them that each of ``width`` columns is in; None where there are none."""
        for column in range(width):
            held = sum(count for columns, count in self.counts.items() if column in columns)
            yield held / self.total if self.counts else None


class _Part(NamedTuple):
    """The rows under a subset of columns.

    Attributes:
        columns: the subset.
        alive: combinations of all columns that share their part with another one, int64.
        labels: the part of each, int64, from 0 up.
        parts: how many parts there are.
        classes: parts that hold one combination only.
        squares: the sum of the squares of their rows.
    """

    columns: tuple[int, ...]
    alive: Integers
    labels: Integers
    parts: int
    classes: int
    squares: int


def _numbered(keys: Integers, slots: int) -> tuple[Integers, int]:
    """Keys below ``slots``: as they are where few numbers are left out, else numbered anew; and how
    many slots there are then."""
    if slots <= DENSE * max(len(keys), 1024):
        return keys, slots
    distinct, place = np.unique(keys, return_inverse=True)
    return place.reshape(-1).astype(np.int64), len(distinct)


@dataclass
class _UniquesSearch:
    codes: list[Integers]
    sizes: Integers
    most: int
    subset_columns: int
    check: Callable[[], None]
    ones: int
    rows: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.float64]
    subsets: list[Subset] = field(default_factory=list)
    counts: dict[tuple[int, ...], int] = field(default_factory=dict)
    unique: dict[tuple[int, ...], Bits] = field(default_factory=dict)

    def split(self, part: _Part, column: int) -> _Part:
        """The parts of a subset with one more column."""
        self.check()
        columns = (*part.columns, column)
        values = self.codes[column]
        card = int(values.max(initial=-1)) + 1
        keys, slots = _numbered(part.labels * card + values[part.alive], part.parts * card)
        members = np.bincount(keys, minlength=slots)
        alone = members[keys] == 1
        single, others = part.alive[alone], part.alive[~alone]
        sizes = self.sizes[single]
        if len(columns) <= self.most:
            self.note(columns, single[sizes == 1])
        shared = members > 1
        classes = part.classes + len(single)
        squares = part.squares + int((sizes * sizes).sum())
        if len(columns) <= self.subset_columns:
            # whole numbers below 2^53, so the sums of doubles are exact
            rows = np.bincount(keys, self.sizes[part.alive], slots)[shared].astype(np.int64)
            self.subsets.append(Subset(
                columns, classes + len(rows), squares + sum(int(n) * int(n) for n in rows)
            ))
        left = (np.cumsum(shared) - 1)[keys[~alone]]
        return _Part(columns, others, left, int(shared.sum()), classes, squares)

    def note(self, columns: tuple[int, ...], rows: Integers) -> None:
        """Takes note of rows that are unique in a subset, and not in that without its last
        column."""
        minimal = rows
        for left in combinations(columns[:-1], len(columns) - 2) if len(columns) > 1 else ():
            bits = self.known((*left, columns[-1]))
            minimal = minimal[(bits[minimal >> 3] >> (7 - (minimal & 7)) & 1) == 0]
        if len(minimal):
            self.counts[columns] = len(minimal)
            self.rows[minimal] = True
            self.scores[minimal] += float(factorial(len(self.codes) - len(columns)))
        if len(columns) < self.most and len(rows):
            flags = np.zeros(self.ones, np.bool_)
            flags[rows] = True
            self.unique[columns] = np.packbits(flags) | self.known(columns[:-1])

    def known(self, columns: tuple[int, ...]) -> Bits:
        """The rows that are unique in a subset, a bit each: those of its first columns, where no
        others were found."""
        while columns not in self.unique:
            columns = columns[:-1]
        return self.unique[columns]

    def walk(self, part: _Part) -> None:
        """All larger subsets, each after those that it holds."""
        size = len(part.columns) + 1
        if not (size <= self.subset_columns or (
            size <= self.most and bool((self.sizes[part.alive] == 1).any())
        )):
            return
        first = part.columns[-1] + 1 if part.columns else 0
        for column in range(len(self.codes) - 1, first - 1, -1):
            larger = self.split(part, column)
            if size < max(self.most, self.subset_columns):
                self.walk(larger)


def find_uniques(
    codes: Integers, sizes: Integers, most: int, subset_columns: int,
    check: Callable[[], None] = lambda: None,
) -> Uniques:
    """The minimal sample uniques of a table, and the classes of its subsets of columns.

    A minimal sample unique is a row and a set of columns in whose values no other row is equal,
    while for every smaller set of one column or more that lacks one of them there is one.

    Args:
        codes: the distinct combinations of values, as codes from 0 up, int64, shape (n, m).
        sizes: how many rows have each, int64, shape (n,).
        most: the most columns of a minimal sample unique.
        subset_columns: the most columns of a subset whose classes are told.
        check: is called for each subset; it may raise, which ends the search.

    Raises:
        DataError: there is too much to remember.
    """
    n, m = codes.shape
    most, subset_columns = min(most, m), min(subset_columns, m)
    # only rows that are alone in all columns are in any of them
    order = np.argsort(sizes > 1, kind="stable")
    sizes, ones = sizes[order], int((sizes == 1).sum())
    remembered = sum(comb(m, size) for size in range(most))
    if remembered * ones > 8 * MOST_BYTES:
        raise DataError(
            f"There are {remembered:,} sets of fewer than {most} of {m} quasi-identifiers, and "
            f"{ones:,} unique rows: too many to look for minimal sample uniques. Give a smaller "
            "msu_columns, or fewer quasi-identifiers."
        )
    search = _UniquesSearch(
        [np.ascontiguousarray(codes[order, j]) for j in range(m)], sizes, most, subset_columns,
        check, ones, np.zeros(n, np.bool_), np.zeros(n),
    )
    search.unique[()] = np.zeros((ones + 7) // 8, np.uint8)
    search.walk(_Part((), np.arange(n), np.zeros(n, np.int64), min(n, 1), 0, 0))
    rows, scores = np.zeros(n, np.bool_), np.zeros(n)
    rows[order], scores[order] = search.rows, search.scores
    subsets = sorted(search.subsets, key=lambda subset: (len(subset.columns), subset.columns))
    return Uniques(search.counts, rows, scores, subsets)
