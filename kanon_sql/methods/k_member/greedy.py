"""Classes of k, one after another, each gathered record by record; leftovers to the class whose
loss grows least (byun2006, figure 8)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.k_member.loss_class import (
    Columns,
    Dues,
    LossClass,
    columns_of,
    join_class,
    new_class,
)
from kanon_sql.methods.k_member.loss_search import (
    BestRecord,
    Tallies,
    find_records,
    new_found,
    pick_tree,
    tally,
)
from kanon_sql.methods.k_member.loss_tree import LossTree, arrange, fill_tree, take_out
from kanon_sql.points.points import Floats, Labels, LossPoints, rows_at

RENEWED = 0.5
"""The share of the records left below which they are put into new trees."""

SMALL = 256
"""Records that need no new trees."""

FIRST, MADE, LEFT, NEXT = 0, 1, 2, 3
"""Places in the state: the record from which the next start is furthest; classes made; records
left; place in the order of the next start, where starts are taken from there."""

EQUAL, SENSITIVE = 1, 2
"""Kinds of diversity."""


class Rules(NamedTuple):
    """How classes are made.

    Attributes:
        grow: a record is judged by the loss of the class with it, not by its distance from the
            start.
        furthest: starts are the records furthest from one before, not the next of the order.
        by_start: that one is the start of the class before, not the last record added.
        by_label: whether a label that is not a majority label of the class is penalized.
        label_due: by how much, 0.0 or more.
        diversity: EQUAL: the only sensitive value of a class is penalized; SENSITIVE: where it is
            protected; 0: never.
        sensitive_due: by how much, 0.0 or more.
    """

    grow: bool
    furthest: bool
    by_start: bool = False
    by_label: bool = False
    label_due: float = 0.0
    diversity: int = 0
    sensitive_due: float = 0.0


class SearchRound(NamedTuple):
    """What all rounds of the search share.

    Attributes:
        columns: what losses depend on.
        rules: how classes are made.
        order: int64, shape (n,); all records, as chance has them.
        group: the class that grows.
        dues: the penalties at this moment.
        protected: bool, shape (sensitive values,); whether each is one that must not be learned.
        state: int64, shape (4,); see FIRST.
        labels: int64, shape (n,); the class of each record, -1 for one that is left.
        tallies: what searches took so far.
    """

    columns: Columns
    rules: Rules
    order: Labels
    group: LossClass
    dues: Dues
    protected: npt.NDArray[np.bool_]
    state: Labels
    labels: Labels
    tallies: Tallies


@inner
def _charge(task: SearchRound, members: Any, size: int, counts: Any) -> None:
    """Updates the penalties when members[size - 1] has joined a class as one of ``size``; size 0
    takes all back, so that the next class can begin."""
    rules, protected = task.rules, task.protected
    label, sensitive, by_label, by_sensitive = task.dues
    if len(by_label) > 0:
        if size > 0:
            counts[label[members[size - 1]]] += 1
        # over the members, not over all labels, of which there may be far more
        most = 0
        for q in range(size):
            count = counts[label[members[q]]]
            most = count if count > most else most
        for q in range(size if size > 0 else len(members)):
            y = label[members[q]]
            if size == 0:
                counts[y] = 0
            by_label[y] = 0.0 if counts[y] == most and size > 0 else rules.label_due
    if len(by_sensitive) > 0:
        # only the value of the first member can be the only one of the class
        first = sensitive[members[0]]
        if size == 1:
            if rules.diversity == EQUAL or protected[first]:
                by_sensitive[first] = rules.sensitive_due
        elif size == 0 or sensitive[members[size - 1]] != first:
            by_sensitive[first] = 0.0


@kernel
def _gather(
    task: SearchRound, near: LossTree, far: LossTree, best: BestRecord, k: int, until: int,
    beat: Any
) -> None:
    """Makes classes of k until fewer than k records, or no more than ``until``, are left.

    ``near`` and ``far`` are the records left, arranged for the one and the other kind of search;
    either will do for what adds little.
    """
    columns, rules, order, group, dues, _, state, labels, tallies = task
    penalized = len(dues.by_label) + len(dues.by_sensitive) > 0
    members, counts = np.zeros(k, np.int64), np.zeros(len(dues.by_label), np.int64)
    while state[LEFT] >= k and state[LEFT] > until and beat[STOP] == 0:
        # state is an array, so that it outlives a call: records are put into new trees in between
        size = 0
        while size < k:
            # one record at a time, or all at once where they are measured by the start alone
            more, q = size + 1.0 if rules.grow else 1.0, 1 if rules.grow or size == 0 else k - 1
            kind, which = 0, 1
            if size > 0:
                kind, which = pick_tree(group, tallies)
            elif rules.furthest:
                # the start is furthest from one record, which is a class for the time being
                more = -1.0
                join_class(columns, group, state[FIRST], True)
            if size == 0 and not rules.furthest:
                # never back: what stands before is taken, and stays so
                while labels[order[state[NEXT]]] >= 0:
                    state[NEXT] += 1
                best.records[0] = order[state[NEXT]]
            else:
                tree = near if which == 0 else far
                opened = find_records(columns, tree, group, dues, more, best, q)
                if size > 0:
                    tally(tallies, kind, which, opened)
            for p in range(q):
                i = best.records[p]
                labels[i] = state[MADE]
                members[size] = i
                take_out(near, i)
                take_out(far, i)
                join_class(columns, group, i, size == 0)
                size += 1
                if penalized:
                    _charge(task, members, size, counts)
        if penalized:
            _charge(task, members, 0, counts)
        state[FIRST] = members[0 if rules.by_start else k - 1]
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
    columns = columns_of(points)
    dues = Dues(
        points.label, points.sensitive_value,
        np.full(int(points.label.max()) + 1 if rules.by_label else 0, rules.label_due),
        np.zeros(int(points.sensitive_value.max()) + 1 if rules.diversity > 0 else 0),
    )
    labels, near, far = np.full(n, -1, np.int64), arrange(points, False), arrange(points, True)
    state, beat = np.array([order[0], 0, n, 0], np.int64), watch.beat()
    task = SearchRound(
        columns, rules, order, new_class(points, columns, k), dues, points.protected, state, labels,
        Tallies(np.zeros((2, 64)), np.full(64, 8)),
    )
    while state[LEFT] >= k and beat[STOP] == 0:
        # new leaves are full ones again
        near, far = near[labels[near] < 0], far[labels[far] < 0]
        until = int(len(near) * RENEWED) if len(near) > SMALL else 0
        near_tree = fill_tree(points.numeric, points.codes, near)
        far_tree = fill_tree(points.numeric, points.codes, far)
        _gather(task, near_tree, far_tree, new_found(k), k, until, beat)
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
        numeric = rows_at(points.numeric, members)
        self.low = np.minimum.reduceat(numeric, starts)
        self.high = np.maximum.reduceat(numeric, starts)
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
        # the codes of all classes are one sorted array: one search answers for all of them
        keys = np.arange(len(self.sizes)) * self.widths[a] + code
        places = np.searchsorted(self.held[a], keys)
        return self.held[a][np.minimum(places, len(self.held[a]) - 1)] == keys

    def losses(self, i: int | None = None) -> Floats:
        """D of each class, with record i if one is given: float64, shape (groups,). Repeats
        points.losses.class_losses, from what is kept of the classes."""
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
            # few records are left over, so an insertion for each is cheap enough
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
