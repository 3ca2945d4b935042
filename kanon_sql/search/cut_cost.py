"""What a cut between blocks of records costs: no class lies across it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Codes, Floats

MIXED_SQUARED, MIXED_LINEAR = 0.5, 1.0
"""What a difference of categories costs a record of a class that has several, as a share of what
two categories are apart: in squared errors, and in losses that add up ranges."""

CUT_CUBE = 0.5
"""What a cut along numbers costs for each class that lies across it, as a share of what the class
loses. Measured by one cut of Adult and of tables drawn."""

CUT_MIXED = 0.01
"""What one between categories costs for each class that mixes them, beside what the mates are worth
that it takes: of many mates some would have agreed."""

SAMPLE = 50_000
"""Records that it is enough to look at."""

UNVARIED = 1e-300
"""A column of numbers with no more variance is one value."""


def cut_costs(
    n: int, spreads: Floats, kinds: Sequence[Codes], apart: Floats, k: int, density: float,
    linear: bool = False,
) -> tuple[Floats, Floats]:
    """About what share more a cut along each column makes these records lose.

    Each record's class is taken to mix the categories of some columns, none, one or those of the
    most categories together, whichever costs least: few records agree in many columns, so that
    classes are long in the numbers; more agree in fewer, but then the categories differ. A cut
    along numbers lies across classes that are long. One between categories takes half the mates
    of records whose classes mix these, and none from the others.

    Args:
        n: how many records there are.
        spreads: the variance of each column of numbers, missing ones left out: float64, shape (d,).
        kinds: the columns of categories, codes from 0: each int32, shape (n,).
        apart: what a difference of categories counts, by column: float64, shape (c,).
        k: the least records of a class.
        density: how many records each of these stands for.
        linear: whether lengths are what is lost, and not their squares.

    Returns:
        By column, of numbers and of categories; infinite where all records have one value. Shapes
        (d,) and (c,), float64.
    """
    known = spreads[spreads > UNVARIED]
    d = len(known)
    side = float(np.exp(np.mean(np.log(12.0 * known)) / 2.0)) if d else 0.0
    fine = np.array([_agreement(codes) for codes in kinds])
    varied = np.flatnonzero(fine < 1.0).tolist()
    mixed = MIXED_LINEAR if linear else MIXED_SQUARED
    choices = _mixtures(varied, fine)
    costs, widths = np.empty((len(choices), n)), np.empty((len(choices), n))
    cut_costs = np.empty((len(choices), n))

    def cost(alike: Floats, columns: frozenset[int]) -> tuple[Floats, Floats]:
        wide = side * (k / alike) ** (1.0 / max(d, 1))
        loss = (wide if linear else wide**2 / 12.0) * d + mixed * sum(apart[c] for c in columns)
        # the last resort is always there: a class that mixes all
        return np.where((alike >= k) | (len(columns) == len(varied)), loss, np.inf), wide

    marks = np.array([_marks(kinds[c], c) for c in varied], np.uint64).reshape(len(varied), n)
    shares = np.array([np.bincount(kinds[c])[kinds[c]] / n for c in varied]).reshape(len(varied), n)
    for i, columns in enumerate(choices):
        kept = np.array([c not in columns for c in varied], np.bool_)
        # each record stands for itself, and those like it for so many others; where there is none
        # like it, those that aren't among these are as many as columns apart from each other give
        seen = _agreeing(np.sum(marks[kept], axis=0, dtype=np.uint64)) - 1.0
        unseen = np.minimum(1.0, n * np.prod(shares[kept], axis=0)) * (density - 1.0)
        alike = 1.0 + np.where(seen > 0.0, density * seen, unseen)
        costs[i], widths[i] = cost(alike, columns)
        cut_costs[i] = cost(alike / 2.0, columns)[0]
    best = np.argmin(costs, axis=0)
    lost = np.take_along_axis(costs, best[None], 0)[0]
    width = np.take_along_axis(widths, best[None], 0)[0]
    total = max(float(np.sum(lost)), UNVARIED)
    of_numbers = np.full(len(spreads), np.inf)
    for i in np.flatnonzero(spreads > UNVARIED).tolist():
        across = np.minimum(1.0, width / np.sqrt(12.0 * spreads[i]))
        of_numbers[i] = CUT_CUBE * float(np.sum(across * lost)) / total
    of_kinds = np.full(len(kinds), np.inf)
    for c in varied:
        mixes = np.array([c in columns for columns in choices])
        cut = np.min(np.where(mixes[:, None], cut_costs, costs), axis=0)
        of_kinds[c] = (float(np.sum(cut)) - float(np.sum(lost))) / total
        of_kinds[c] += CUT_MIXED * float(np.mean(mixes[best]))
    return of_numbers, of_kinds


def _agreement(codes: Codes) -> float:
    """The chance that two of these records have one category; 1.0 if all have."""
    counts = np.bincount(codes)
    return 1.0 if np.count_nonzero(counts) == 1 else float(np.sum((counts / len(codes)) ** 2))


def _mixtures(varied: Sequence[int], fine: npt.NDArray[np.float64]) -> list[frozenset[int]]:
    """The sets of columns that a class may mix, none first."""
    finest = sorted(varied, key=lambda c: float(fine[c]))
    return [
        frozenset(), *(frozenset([c]) for c in varied),
        *(frozenset(finest[:many]) for many in range(2, len(finest) + 1)),
    ]


def _marks(codes: Codes, column: int) -> npt.NDArray[np.uint64]:
    """A number for each category, so that the sums of several columns agree only where these do:
    uint64, shape (n,). The finalizer of splitmix64."""
    mark: npt.NDArray[np.uint64] = codes.astype(np.uint64)
    mark += np.uint64(column + 1) << np.uint64(32)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mark = (mark ^ (mark >> np.uint64(shift))) * np.uint64(factor)
    return mark


def _agreeing(marks: npt.NDArray[np.uint64]) -> Floats:
    """How many records have the same mark as each: float64, shape (n,)."""
    _, inverse, counts = np.unique(marks, return_inverse=True, return_counts=True)
    return counts[inverse].astype(np.float64)
