"""Classes of k, one after another, each gathered record by record; leftovers to the class whose
loss grows least (byun2006, figure 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.k_member.chunks import (
    WIDE,
    bins_of,
    far_order,
    fill_chunks,
    find_record,
    join_class,
    near_order,
    new_class,
    new_scratch,
    new_space,
    take_out,
)
from kanon_sql.points.points import Floats, Labels, LossPoints

RENEWED = 0.75
"""The share of the records left below which they are put into new chunks."""

FIRST, MADE, LEFT, NEXT, CHUNK = 0, 1, 2, 3, 4
"""Places in the state: the record from which the next start is furthest; classes made; records
left; place in the order of the next start, where starts are taken from there; the chunk in which
the next search begins."""

EQUAL, SENSITIVE = 1, 2
"""Kinds of diversity."""


@dataclass(frozen=True)
class Rules:
    """How classes are made.

    Attributes:
        grow: a record is judged by the loss of the class with it, not by its distance from the
            start.
        furthest: starts are the records furthest from one before, not the next of the order.
        by_start: that one is the start of the class before, not the last record added.
        by_label: whether a label that is not a majority label of the class is penalized.
        label_due: by how much, 0.0 or more.
        diversity: EQUAL: the only secret of a class is penalized; SENSITIVE: where it is truly
            sensitive; 0: never.
        secret_due: by how much, 0.0 or more.
    """

    grow: bool
    furthest: bool
    by_start: bool = False
    by_label: bool = False
    label_due: float = 0.0
    diversity: int = 0
    secret_due: float = 0.0


@inner
def _charge(points: Any, members: Any, size: int, counts: Any, dues: Any, rules: Any) -> None:
    """Updates the penalties when members[size - 1] has joined a class as one of ``size``; size 0
    takes all back, so that the next class can begin."""
    label, secret, grave = points
    by_label, by_secret = dues
    label_due, secret_due, diversity = rules
    if len(by_label) > 0:
        if size > 0:
            counts[label[members[size - 1]]] += 1
        most = 0
        for q in range(size):
            count = counts[label[members[q]]]
            most = count if count > most else most
        for q in range(size if size > 0 else len(members)):
            y = label[members[q]]
            if size == 0:
                counts[y] = 0
            by_label[y] = 0.0 if counts[y] == most and size > 0 else label_due
    if len(by_secret) > 0:
        first = secret[members[0]]
        if size == 1:
            if diversity == EQUAL or grave[first]:
                by_secret[first] = secret_due
        elif size == 0 or secret[members[size - 1]] != first:
            by_secret[first] = 0.0


@njit(cache=True, nogil=True)
def _gather(
    space: Any, near: Any, far: Any, group: Any, scratch: Any, k: int, order: Any, rules: Any,
    points: Any, dues: Any, state: Any, until: int, labels: Any, beat: Any,
) -> None:
    """Makes classes of k until fewer than k records, or no more than ``until``, are left.

    ``near`` and ``far`` are the records left in chunks, for the one and the other kind of search.
    """
    grow, furthest, by_start, charges = rules
    members, counts = np.zeros(k, np.int64), np.zeros(len(dues[0]), np.int64)
    while state[LEFT] >= k and state[LEFT] > until and beat[STOP] == 0:
        i, state[CHUNK] = state[FIRST], -1
        for size in range(k):
            if size == 0 and not furthest:
                while labels[order[state[NEXT]]] >= 0:
                    state[NEXT] += 1
                i = order[state[NEXT]]
            else:
                more, chunks = size + 1.0 if grow else 1.0, near
                if size == 0:
                    more, chunks = -1.0, far
                    join_class(space, group, i, size == 0)
                i = find_record(
                    space, chunks, group, more, size < 2, state[CHUNK], dues, scratch
                )
            labels[i] = state[MADE]
            members[size] = i
            take_out(far, i)
            state[CHUNK] = take_out(near, i)
            if size == 0 or grow:
                join_class(space, group, i, size == 0)
            if len(dues[0]) + len(dues[1]) > 0:
                _charge(points, members, size + 1, counts, dues, charges)
        if len(dues[0]) + len(dues[1]) > 0:
            _charge(points, members, 0, counts, dues, charges)
        state[FIRST] = members[0] if by_start else i
        state[MADE] += 1
        state[LEFT] -= k
        beat[DONE] += k


def gather(points: LossPoints, k: int, order: Labels, rules: Rules, watch: Watch) -> Labels:
    """Groups of k to 2k-1 records, numbered as they were made: int64, shape (n,).

    Args:
        points: n records in canonical order.
        k: the size of the classes.
        order: all records, as chance has them; the first start is furthest from the first, and
            leftovers join a class in this order.
        rules: how classes are made.
        watch: told of the records grouped; its stop raises StoppedError.
    """
    n = len(points)
    if n <= k:
        return np.zeros(n, np.int64)
    bins = bins_of(points.codes)
    space = new_space(points, bins)
    group = new_class(space, k)
    dues = (
        np.full(int(points.label.max()) + 1 if rules.by_label else 0, rules.label_due),
        np.zeros(int(points.sensitive_value.max()) + 1 if rules.diversity > 0 else 0),
    )
    charges = (rules.label_due, rules.secret_due, rules.diversity)
    labels, near, far = np.full(n, -1, np.int64), near_order(points, bins), far_order(points, bins)
    state, beat = np.array([order[0], 0, n, 0, -1], np.int64), watch.beat()
    while state[LEFT] >= k and beat[STOP] == 0:
        near, far = near[labels[near] < 0], far[labels[far] < 0]
        until = int(len(near) * RENEWED) if len(near) > 4 * WIDE else 0
        _gather(
            space, fill_chunks(points, bins, near), fill_chunks(points, bins, far), group,
            new_scratch(-(-len(near) // WIDE)), k, order,
            (rules.grow, rules.furthest, rules.by_start, charges),
            (points.label, points.sensitive_value, points.protected), dues, state, until, labels,
            beat,
        )
    watch.check()
    place_leftovers(points, order[labels[order] < 0], labels)
    return labels


class _Classes:
    """The classes made so far: what each loses, and what it would with one more record."""

    def __init__(self, points: LossPoints, labels: Labels) -> None:
        self.points = points
        self.sizes = np.bincount(labels[labels >= 0])
        groups = len(self.sizes)
        members = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
        starts = np.cumsum(self.sizes) - self.sizes
        self.low = np.minimum.reduceat(points.numeric[members], starts)
        self.high = np.maximum.reduceat(points.numeric[members], starts)
        self.widths = points.codes.max(axis=0, initial=0).astype(np.int64) + 1
        self.held = [
            np.unique(labels[members] * width + codes[members])
            for width, codes in zip(self.widths, points.codes.T, strict=True)
        ]
        self.counts = [
            np.bincount(held // width, minlength=groups)
            for width, held in zip(self.widths, self.held, strict=True)
        ]

    def has(self, a: int, code: int) -> Any:
        """Which classes have the code in column a of codes."""
        keys = np.arange(len(self.sizes)) * self.widths[a] + code
        places = np.searchsorted(self.held[a], keys)
        return self.held[a][np.minimum(places, len(self.held[a]) - 1)] == keys

    def losses(self, i: int | None = None) -> Floats:
        """D of each class, with record i if one is given: float64, shape (groups,)."""
        points, total = self.points, np.zeros(len(self.sizes))
        for a, cap in enumerate(points.cap):
            low, high = self.low[:, a], self.high[:, a]
            if i is not None:
                x = points.numeric[i, a]
                low, high = np.minimum(low, x), np.maximum(high, x)
            total += np.minimum(high - low, cap)
        for a, (scale, limit) in enumerate(zip(points.scale, points.limit, strict=True)):
            new = 0 if i is None else ~self.has(a, int(points.codes[i, a]))
            total += scale * np.minimum(self.counts[a] - 1 + new, limit)
        return total

    def join(self, i: int, group: int) -> None:
        """Record i joins a class."""
        x = self.points.numeric[i]
        self.low[group] = np.minimum(self.low[group], x)
        self.high[group] = np.maximum(self.high[group], x)
        for a, code in enumerate(self.points.codes[i].tolist()):
            if not self.has(a, code)[group]:
                key = group * self.widths[a] + code
                self.held[a] = np.insert(self.held[a], np.searchsorted(self.held[a], key), key)
                self.counts[a][group] += 1
        self.sizes[group] += 1


def place_leftovers(points: LossPoints, left: Labels, labels: Labels) -> None:
    """Puts each record left, in the order given, into the class whose loss |e| D(e) grows least
    (the first made on ties); writes its label."""
    if len(left) == 0:
        return
    classes = _Classes(points, labels)
    for i in left.tolist():
        sizes = classes.sizes
        growth = (sizes + 1) * classes.losses(i) - sizes * classes.losses()
        labels[i] = int(np.argmin(growth))
        classes.join(i, int(labels[i]))
