"""How far a class is from what the models demand: kernels.

The violation of a demand is counted in records of the class that would have to have another value,
so that those of different demands can be added up. It is 0 exactly if the class passes; what passes
is said by the models of this folder, and checked of a release in SQL by the same inequalities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inlined, inner, kernel
from kanon_sql.points.by_label import label_order
from kanon_sql.points.points import Floats, Labels
from kanon_sql.privacy.demand import BOUNDED, DISTINCT, ENTROPY, EQUAL, ORDERED, RECURSIVE
from kanon_sql.privacy.demands import Demands
from kanon_sql.privacy.rational import SURE

NOBODY: Any = np.int64(-1)
"""Stands for no record."""

SOME = 0.5
"""What any violation counts beside its part of a row: no part of a row can be changed."""

NEAR = 1e-14
"""As a share of a bound that is a fraction: what is that near is equal to it."""


@inner
def _sort(values: Any, count: int) -> None:
    """Sorts the first so many values (Shell 1959): a class has few, and this is compiled fast."""
    gap = count // 2
    while gap > 0:
        for p in range(gap, count):
            value, q = values[p], p
            while q >= gap and values[q - gap] > value:
                values[q] = values[q - gap]
                q -= gap
            values[q] = value
        gap //= 2


@inner
def _runs(codes: Any, count: int, often: Any) -> int:
    """Sorted codes to distinct ones, in their place, and how often each is there; how many."""
    distinct = 0
    for p in range(count):
        if distinct > 0 and codes[distinct - 1] == codes[p]:
            often[distinct - 1] += 1
        else:
            codes[distinct], often[distinct] = codes[p], 1
            distinct += 1
    return distinct


@inner
def _diversity(demands: Demands, j: int, often: Any, runs: int, missing: int, size: int) -> Any:
    """What a class lacks to l values, of those that are known, in ``runs`` counts."""
    l, c = demands.number[j, 0], demands.number[j, 1]
    top, at = 0, 0
    for p in range(runs):
        if often[p] > top:
            top, at = often[p], p
    if demands.kind[j] == RECURSIVE:
        # all but the l - 1 most frequent, whose counts are taken away one after the other
        tail = size - missing - top
        first = top + missing
        if runs > 0:
            often[at] = 0
        for _ in range(np.int64(l) - 2):
            most, at = 0, 0
            for p in range(runs):
                if often[p] > most:
                    most, at = often[p], p
            tail -= most
            often[at] = 0  # where no value is known, nobody reads it
        if first * demands.under[j] < demands.over[j] * tail:
            return 0.0
        return (first - c * tail) / (1.0 + c) + 0.5
    if runs > 0:
        often[at] += missing  # a missing value counts as the most frequent one
    equal, total = True, 0.0
    for p in range(runs):
        equal = equal and often[p] == often[0]
        total += often[p] * math.log(often[p])
    if runs == 0 or (equal and runs >= l):
        return 0.0 if runs > 0 else np.float64(size)
    lacking = math.log(l) + SURE - (math.log(size) - total / size)
    return max(0.0, lacking) / math.log(l) * size * (1.0 - 1.0 / l)


@inlined
def _allowed(demands: Demands, at: int, size: int) -> Any:
    """The most rows of a class that may have the value whose tables are there."""
    return math.floor(demands.upper[at] * size * (1.0 + NEAR))


@inner
def _unbounded(
    demands: Demands, j: int, codes: Any, often: Any, runs: int, missing: int, size: int
) -> Any:
    """Rows beyond the upper bounds of their values, and rows that values lack to their lower
    bounds."""
    first, extra, present, lacking = demands.first[demands.column[j]], 0.0, 0, demands.number[j, 1]
    extra += max(0.0, missing - math.floor(demands.number[j, 0] * size * (1.0 + NEAR)))
    for p in range(runs):
        at = first + codes[p]
        if demands.upper[at] < 1.0:
            extra += max(0.0, often[p] + missing - np.float64(_allowed(demands, at, size)))
        if demands.lower[at] > 0.0:
            extra += max(0.0, demands.lower[at] * size - often[p])
            lacking -= demands.lower[at]
            present += 1
    # what the values lack that are not there is all of it
    return extra if present == demands.over[j] else extra + lacking * size


@inner
def _apart(
    demands: Demands, j: int, first: int, codes: Any, often: Any, runs: int, size: int
) -> Any:
    """Half the sum over all values of abs(n N - s N_v): what is above the shares of the table is as
    much as what is below, and only values of the class can be above."""
    rows, above = demands.rows[j], np.int64(0)
    for p in range(runs):
        above += max(
            np.int64(0), often[p] * rows - np.int64(size) * demands.counts[first + codes[p]]
        )
    return above


@inner
def _crossing(table: Any, lo: int, hi: int, level: Any, scale: Any) -> int:
    """The first place from lo on, below hi, where ``table`` times scale is above the level, or
    hi."""
    while lo < hi:
        middle = (lo + hi) // 2
        if table[middle] * scale > level:
            hi = middle
        else:
            lo = middle + 1
    return lo


@inner
def _by_ranks(demands: Demands, column: int, codes: Any, often: Any, runs: int, size: int) -> Any:
    """The sum over all values but the last of abs(Q_i N - s P_i), in whole rows.

    Between two values of the class its own counts don't change and those of the table only grow, so
    one place divides what lies above from what lies below.
    """
    first = demands.first[column]
    last = first + demands.values[column] - 1
    rows, total, seen, lo = demands.upto[last], np.int64(0), np.int64(0), first
    for p in range(runs + 1):
        hi = last if p == runs else min(last, first + codes[p])
        level = seen * rows
        x = _crossing(demands.upto, lo, hi, level, np.int64(size))
        below = level * (x - lo) - size * (demands.area[x] - demands.area[lo])
        total += below + size * (demands.area[hi] - demands.area[x]) - level * (hi - x)
        lo = hi
        if p < runs:
            seen += often[p]
    return total


@inner
def _by_gaps(demands: Demands, column: int, codes: Any, often: Any, runs: int, size: int) -> Any:
    """The earth mover's distance of the known values of a class, of which there are ``size``."""
    first = demands.first[column]
    last = first + demands.values[column] - 1
    total, seen, lo = 0.0, 0, first
    for p in range(runs + 1):
        hi = last if p == runs else min(last, first + codes[p])
        level = seen / size
        x = _crossing(demands.share, lo, hi, level, 1.0)
        total += level * (demands.place[x] - demands.place[lo])
        total -= demands.moment[x] - demands.moment[lo]
        total += demands.moment[hi] - demands.moment[x]
        total -= level * (demands.place[hi] - demands.place[x])
        lo = hi
        if p < runs:
            seen += often[p]
    return total


@inner
def _moved(
    demands: Demands, j: int, codes: Any, often: Any, runs: int, missing: int, size: int
) -> Any:
    """What the earth mover's distance is above t, by ranks or gaps, in rows."""
    column = demands.column[j]
    rows, values, t = demands.rows[j], demands.values[column], demands.number[j, 0]
    if values <= 1 and missing == 0 and demands.missing[j] == 0:
        return 0.0
    if demands.kind[j] == ORDERED:
        distance = _by_ranks(demands, column, codes, often, runs, size)
        whole = np.int64(values - 1) * rows
        most = _share_of(demands, j, whole * size)
        return max(np.int64(0), distance - most) / np.float64(whole)
    known = 0.0
    if runs > 0 and values > 1:
        known = _by_gaps(demands, column, codes, often, runs, size - missing)
    own, all_rows = missing / size, demands.missing[j] / rows
    away = abs(own - all_rows) + min(1.0 - own, 1.0 - all_rows) * known - (t - SURE)
    return max(0.0, away) * size


@inlined
def _share_of(demands: Demands, j: int, rows: int) -> Any:
    """The whole part of so many rows times the threshold, which is a fraction below 1."""
    under = demands.under[j]
    return rows // under * demands.over[j] + rows % under * demands.over[j] // under


@inner
def _gathered(
    demands: Demands, column: int, members: Any, size: int, out: int, into: int, codes: Any,
    often: Any,
) -> Any:
    """The distinct codes of a class in a column, ascending, and how often each is there; how many.
    """
    count = 0
    for p in range(size):
        if members[p] != out:
            codes[count] = demands.codes[members[p], column]
            count += 1
    if into >= 0:
        codes[count] = demands.codes[into, column]
        count += 1
    _sort(codes, count)
    return _runs(codes, count, often)


@inner
def _counted(
    demands: Demands, column: int, held: Any, out: int, into: int, codes: Any, often: Any
) -> int:
    """The same, by the counts that are kept of the class."""
    at, runs = demands.kept_at[column], 0
    less = demands.codes[out, column] if out >= 0 else np.int32(-1)
    more = demands.codes[into, column] if into >= 0 else np.int32(-1)
    for code in range(demands.values[column] + 1):
        many = np.int64(held[at + code])
        if code == less:
            many -= 1
        if code == more:
            many += 1
        if many > 0:
            codes[runs], often[runs] = code, many
            runs += 1
    return runs


@inner
def _apart_of_kept(
    demands: Demands, j: int, column: int, kept: Any, size: int, out: int, into: int
) -> Any:
    """As ``_apart``, by the counts that are kept of the class, without gathering its codes."""
    codes, counts, rows, above = demands.codes, demands.counts, demands.rows[j], np.int64(0)
    at, first = demands.kept_at[column], demands.first[column]
    less = np.int64(codes[out, column]) if out >= 0 else np.int64(-1)
    more = np.int64(codes[into, column]) if into >= 0 else np.int64(-1)
    for code in range(demands.values[column] + 1):
        many = np.int64(kept[at + code]) - np.int64(code == less) + np.int64(code == more)
        # a value that is not there can't be above its share
        above += max(np.int64(0), many * rows - size * counts[first + code])
    return above


@inlined
def _beyond(demands: Demands, j: int, height: int, above: int, rows: int) -> Any:
    """The violation by what lies above the shares of the table, at all levels together."""
    whole = height * demands.rows[j]
    lacks = max(np.int64(0), above - _share_of(demands, j, whole * rows)) / np.float64(whole)
    return lacks + SOME if lacks > 0.0 else 0.0


@inner
def _of_kept(demands: Demands, kept: Any, size: int, out: int, into: int) -> float:
    """As violation_of, where all demands go by the equal ground distance and by kept counts."""
    total, rows = 0.0, size - np.int64(out >= 0) + np.int64(into >= 0)
    for j in range(demands.kind.shape[0]):
        above, height = np.int64(0), demands.column[j + 1] - demands.column[j]
        for column in range(demands.column[j], demands.column[j + 1]):
            above += _apart_of_kept(demands, j, column, kept, rows, out, into)
        total += _beyond(demands, j, height, above, rows)
    return total


@inner
def _gathering(demands: Demands, kept: Any, members: Any, size: int, out: int, into: int) -> Any:
    """The same, of codes that are gathered."""
    total, rows = 0.0, size
    if out >= 0:
        rows -= 1
    if into >= 0:
        rows += 1
    most = demands.most
    for column in range(demands.kept_at.shape[0]):
        if kept.shape[0] == 0 or demands.kept_at[column] < 0:
            most = max(most, size + 1)
    codes = np.empty(most, np.int32)
    often = np.empty(codes.shape[0], np.int64)
    for j in range(demands.kind.shape[0]):
        kind, above, lacks = demands.kind[j], np.int64(0), 0.0
        for column in range(demands.column[j], demands.column[j + 1]):
            if kept.shape[0] > 0 and demands.kept_at[column] >= 0:
                runs = _counted(demands, column, kept, out, into, codes, often)
            else:
                runs = _gathered(demands, column, members, size, out, into, codes, often)
            missing = np.int64(0)
            # a missing value is kept apart where it is no value of its own
            if demands.worst[j] and runs > 0 and codes[runs - 1] == demands.values[column]:
                runs -= 1
                missing = often[runs]
            if kind == EQUAL:
                above += _apart(demands, j, demands.first[column], codes, often, runs, rows)
            elif kind == DISTINCT:
                lacks += max(0.0, demands.number[j, 0] - runs)
            elif kind == BOUNDED:
                lacks += _unbounded(demands, j, codes, often, runs, missing, rows)
            elif kind in (ENTROPY, RECURSIVE):
                lacks += _diversity(demands, j, often, runs, missing, rows)
            else:
                lacks += _moved(demands, j, codes, often, runs, missing, rows)
        if kind == EQUAL:
            total += _beyond(demands, j, demands.column[j + 1] - demands.column[j], above, rows)
        elif lacks > 0.0:
            total += lacks + SOME
    return total


@inner
def violation_of(demands: Demands, kept: Any, members: Any, size: int, out: int, into: int) -> Any:
    """The violation of a class, of all demands together, in rows.

    Args:
        demands: what is demanded.
        kept: int32, shape (demands.width,); how often the class has each code of the columns of few
            values, or shape (0,) where that isn't kept.
        members: the records of the class; the first ``size`` count.
        size: how many they are.
        out: a member that is taken as gone, or -1.
        into: a record that is taken as a member, or -1.
    """
    if demands.light and kept.shape[0] > 0:
        return _of_kept(demands, kept, size, out, into)
    return _gathering(demands, kept, members, size, out, into)


@inner
def count_codes(codes: Any, starts: Any, members: Any, size: int, counts: Any) -> None:
    """Adds the codes of so many records to ``counts``: those of each column from where it starts
    there, and of no column of which that is negative."""
    for column in range(starts.shape[0]):
        at = starts[column]
        if at >= 0:
            for p in range(size):
                counts[at + codes[members[p], column]] += 1


@kernel
def _violations(demands: Demands, order: Any, start: Any, violation: Any) -> None:
    kept = np.zeros(0, np.int32)
    for g in range(violation.shape[0]):
        members = order[start[g] : start[g + 1]]
        violation[g] = violation_of(demands, kept, members, len(members), NOBODY, NOBODY)


def violations(demands: Demands, labels: Labels) -> Floats:
    """The violation of each class: float64, shape (groups,).

    Args:
        demands: what is demanded.
        labels: int64, shape (n,), 0 .. groups-1; -1 for a record that is in none.
    """
    groups = int(labels.max(initial=-1)) + 1
    order = label_order(labels)
    start = np.cumsum(np.bincount(labels + 1, minlength=groups + 1))
    violation = np.zeros(groups)
    _violations(demands, order, start, violation)
    return violation


def violations_of_sets(demands: Demands, sets: Sequence[Labels]) -> Floats:
    """The violation of each of some sets of records, which may overlap: float64, shape (sets,)."""
    violation = np.zeros(len(sets))
    _violations(demands, np.concatenate(sets), np.cumsum([0, *map(len, sets)]), violation)
    return violation
