"""Groups of different sizes, the largest around the rarest values: where a search begins that has
to keep the share of each sensitive value below a bound of its own.

A class with a record of a value whose share is at most 1/100 has 100 records or more, one without
it may have far fewer. As many as the rarest value asks for are made into a class around each of its
records first, then around those of the next value, and so on; the others make classes of the least
size.

Source: the order is that of Cao and Karras 2012, section 5, where values are put into buckets by
their frequency.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.local_search.far import far_from_all
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Codes, Floats, Labels, Points
from kanon_sql.privacy.demand import BOUNDED
from kanon_sql.privacy.demands import Demands
from kanon_sql.privacy.kernels import NEAR
from kanon_sql.search.axes import make_space
from kanon_sql.search.queries import NOBODY
from kanon_sql.search.space import Space
from kanon_sql.search.unassigned import LEFT, find_nearest, plant, settle

WIDER, WIDEST = 2, 8
"""How many times the records of a class are looked at to find those that fit, and how many where
these are too few."""

AROUND, LONG = 64, 1_000
"""The nearest records of a record that is left over, into whose classes it may go; and the records
of a class from which on it isn't counted whether the record fits."""


class Bounds(NamedTuple):
    """Upper bounds of the shares of values.

    Attributes:
        codes: int32, shape (n, columns); the value of each record in each column with bounds.
        first: int64, shape (columns,); where the bounds of each begin.
        upper: float64; the bounds.
    """

    codes: Codes
    first: Labels
    upper: Floats


def bounds_of(demands: Demands) -> Bounds:
    """The upper bounds of all demands that have some below 1."""
    codes, first, upper, at = [], [], [], 0
    for j in np.flatnonzero(demands.kind == BOUNDED).tolist():
        for column in range(demands.column[j], demands.column[j + 1]):
            begin = demands.first[column]
            own = demands.upper[begin : begin + demands.values[column] + 1]
            if (own < 1.0).any():
                codes.append(demands.codes[:, column])
                first.append(at)
                upper.append(own)
                at += len(own)
    if not codes:
        return Bounds(np.zeros((len(demands.codes), 0), np.int32), np.zeros(0, np.int64),
                      np.zeros(0))
    return Bounds(
        np.ascontiguousarray(np.column_stack(codes)), np.array(first, np.int64),
        np.concatenate(upper),
    )


def least_classes(bounds: Bounds, k: int) -> Labels:
    """The records of the least class that a record may be in, by the bounds of its own values:
    int64, shape (n,), k or more."""
    least = np.full(len(bounds.codes), k, np.int64)
    with np.errstate(divide="ignore"):
        needed = np.where(
            bounds.upper < 1.0, np.ceil(1.0 / (bounds.upper * (1.0 + NEAR)) - 1e-9), 1.0
        )
    # no more than there are: a value that nobody has may have the bound 0
    needed = np.minimum(needed, len(least)).astype(np.int64)
    for codes, first in zip(bounds.codes.T, bounds.first.tolist(), strict=True):
        least = np.maximum(least, needed[first + codes])
    return least


@kernel
def _take(
    space: Space, order: Any, least: Any, bounds: Bounds, labels: Any, beat: Any
) -> None:
    """Labels groups around the records in the order given that have no label yet, as far as those
    that are near fit."""
    codes, first, upper = bounds
    groups, hopeless = 0, len(order) + 1
    held = np.zeros(len(upper), np.int64)
    pool = plant(space, order)
    most = WIDEST * least.max() + 1
    neighbours, gaps = np.empty(most, np.int64), np.empty(most)
    chosen = np.empty(least.max(), np.int64)
    for i in order:
        if labels[i] >= 0 or least[i] >= hopeless:
            continue
        if beat[STOP] == 1:
            break
        size, found = least[i], 0
        for wide in (WIDER, WIDEST):
            if pool.counts[LEFT] < size:
                break
            q = min(pool.counts[LEFT] - 1, size * wide)
            find_nearest(space, pool, i, NOBODY, neighbours, gaps, q)
            found = 0
            for p in range(q + 1):
                j, fits = neighbours[p], True
                for a in range(codes.shape[1]):
                    at = first[a] + codes[j, a]
                    fits = fits and held[at] + 1 <= np.floor(upper[at] * size * (1.0 + NEAR))
                if fits:
                    for a in range(codes.shape[1]):
                        held[first[a] + codes[j, a]] += 1
                    chosen[found] = j
                    found += 1
                    if found == size:
                        break
            for p in range(found):
                for a in range(codes.shape[1]):
                    held[first[a] + codes[chosen[p], a]] = 0
            if found == size:
                break
            if q == pool.counts[LEFT] - 1:
                # of all that are left: around no other record there are more that fit
                hopeless = size
                break
        if found < size:
            continue
        for p in range(size):
            labels[chosen[p]] = groups
        pool = settle(space, pool, labels, chosen, size)
        groups += 1


@kernel
def _place(space: Space, rest: Any, members: Any, bounds: Bounds, labels: Any, groups: int) -> None:
    """Puts each record of the rest into the class of the nearest that may take it in, or, where
    none may, of the nearest; ``members``: the others."""
    codes, first, upper = bounds
    if len(rest) == 0 or len(members) == 0:
        return
    pool = plant(space, members)
    q = min(AROUND, len(members))
    neighbours, gaps = np.empty(q + 1, np.int64), np.empty(q + 1)
    head, behind = np.full(groups, np.int64(-1)), np.full(len(labels), np.int64(-1))
    sizes = np.zeros(groups, np.int64)
    for i in members:
        g = labels[i]
        behind[i], head[g] = head[g], i
        sizes[g] += 1
    for i in rest:
        find_nearest(space, pool, i, NOBODY, neighbours, gaps, q)
        best, last = labels[neighbours[1]], np.int64(-1)
        for p in range(1, q + 1):
            g, fits = labels[neighbours[p]], True
            if g == last:
                continue
            last = g
            for a in range(codes.shape[1] if sizes[g] < LONG else 0):
                alike, j = 1, head[g]
                while j >= 0:
                    alike += codes[j, a] == codes[i, a]
                    j = behind[j]
                most = upper[first[a] + codes[i, a]] * (sizes[g] + 1) * (1.0 + NEAR)
                fits = fits and alike <= np.floor(most)
            if fits:
                best = g
                break
        behind[i], head[best], labels[i] = head[best], i, best
        sizes[best] += 1


def rarest_first(points: Points, bounds: Bounds, least: Labels, watch: Watch) -> Labels | None:
    """Groups around the records of the rarest values first: int64, shape (n,). Most of them keep
    the bounds. None where there is not one group.

    Args:
        points: n records in canonical order.
        bounds: of the shares of their values.
        least: int64, shape (n,); see least_classes.
        watch: its stop raises StoppedError.
    """
    labels, space = np.full(len(points), -1, np.int64), make_space(points)
    order = np.lexsort((-far_from_all(points), -least))
    _take(space, order, least, bounds, labels, watch.beat())
    watch.check()
    groups = int(labels.max(initial=-1)) + 1
    _place(space, order[labels[order] < 0], np.flatnonzero(labels >= 0), bounds, labels, groups)
    return number_by_first(labels) if groups > 0 else None
