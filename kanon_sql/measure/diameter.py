"""The two records of a class that are furthest apart (byun2006, definition 3, item 4)."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.compiling import announcing
from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.points.by_class import ByClass, rows_times
from kanon_sql.points.points import Floats, Labels, LossPoints, rows_at

MOST_COMPARED = 1_000_000_000
"""The intra-cluster distance is left out where the squared class sizes add up to more, since it
compares all records of a class, pair by pair. Equal records count once. Some seconds at most."""

_lock, _loaded = threading.Lock(), list[bool]()


class Members(NamedTuple):
    """The records class by class, each run of equal ones once.

    Attributes:
        numeric: float64, shape (m, d).
        codes: int32, shape (m, c).
        starts: int64, shape (groups + 1,); the members of class g are starts[g] ..
            starts[g + 1] - 1.
    """

    numeric: Any
    codes: Any
    starts: Labels


@kernel
def _diameters(members: Members, scale: Any, cap: Any, diameters: Any, beat: Any) -> None:
    """The largest distance of two members of each class.

    How far a record may lie from any other of its class, at most, is summed up as a distance is,
    column by column, so a bound is never below a distance it stands for, not by one bit. Records
    whose bound isn't above the best distance so far are passed over.
    """
    numeric, codes, starts = members
    d, c = numeric.shape[1], codes.shape[1]
    low, high, spread = np.empty(d), np.empty(d), np.empty(c, np.bool_)
    for g in range(len(starts) - 1):
        start, end = starts[g], starts[g + 1]
        for a in range(d):
            low[a], high[a] = numeric[start, a], numeric[start, a]
            for i in range(start, end):
                low[a] = min(low[a], numeric[i, a])
                high[a] = max(high[a], numeric[i, a])
        for a in range(c):
            # a category that all share adds nothing to any distance in the class
            spread[a] = False
            for i in range(start, end):
                if codes[i, a] != codes[start, a]:
                    spread[a] = True
                    break
        best = 0.0
        for i in range(start, end):
            # to the far corner of the box of the class: few records are far enough to be compared
            bound = 0.0
            for a in range(d):
                bound += min(max(numeric[i, a] - low[a], high[a] - numeric[i, a]), cap[a])
            for a in range(c):
                if spread[a]:
                    bound += scale[a]
            beat[DONE] += 1
            if bound <= best:
                continue
            if beat[STOP] != 0:
                return
            for j in range(start, end):  # also j < i: those may have been passed over
                total = 0.0
                for a in range(d):
                    total += min(abs(numeric[i, a] - numeric[j, a]), cap[a])
                for a in range(c):
                    if codes[i, a] != codes[j, a]:
                        total += scale[a]
                if total > best:
                    best = total
                    # nothing is farther from i than its bound says
                    if best >= bound:
                        break
        diameters[g] = best


def load_kernels() -> list[str]:
    """Compiles the kernel, or loads it from the cache, and tells of it where it compiles; returns
    the functions that were compiled."""
    with _lock:
        if _loaded:
            return []
        one = Members(np.zeros((1, 1)), np.zeros((1, 1), np.int32), np.array([0, 1]))
        with announcing("the metrics") as compiled:
            _diameters(one, np.ones(1), np.ones(1), np.zeros(1), Watch().beat())
        _loaded.append(True)
        return compiled


def diameters(points: LossPoints, labels: Labels, watch: Watch) -> Floats:
    """The largest distance (definition 6) of two records of each class: float64, shape (groups,).

    Args:
        points: equal records side by side, as in canonical order: then they are compared once.
        labels: int64, shape (n,), 0 .. groups-1.
        watch: told how many records were compared.

    Raises:
        StoppedError: the watch was asked to stop.
    """
    return _diameters_of(distinct_members(points, labels), points, watch)


def _diameters_of(members: Members, points: LossPoints, watch: Watch) -> Floats:
    load_kernels()
    result = np.zeros(len(members.starts) - 1)
    scale = np.where(points.limit > 0, points.scale, 0.0)
    _diameters(members, scale, points.cap, result, watch.beat())
    watch.check()
    return result


def distinct_members(points: LossPoints, labels: Labels | ByClass) -> Members:
    """The records class by class, each run of equal ones once."""
    view = ByClass.of(labels)
    numeric, codes = (rows_at(table, view.order) for table in (points.numeric, points.codes))
    fresh = np.zeros(len(view.order), np.bool_)
    fresh[view.starts[view.sizes > 0]] = True
    for column in (*numeric.T, *codes.T):
        fresh[1:] |= column[1:] != column[:-1]
    kept = np.flatnonzero(fresh)
    starts = np.searchsorted(kept, np.append(view.starts, len(fresh)))
    return Members(rows_at(numeric, kept), rows_at(codes, kept), starts)


def intra_cluster_distance(
    points: LossPoints, labels: Labels | ByClass, watch: Watch | None = None
) -> float | None:
    """The sum over the classes of their size times the largest distance of two of their records.

    In cells, as Total-IL, which it never exceeds. None where the classes are too large to compare
    all their records: where the squared numbers of distinct records add up to more than
    MOST_COMPARED.

    Source: byun2006, definition 3, item 4. Raises StoppedError when the watch was asked to stop.
    """
    view = ByClass.of(labels)
    members = distinct_members(points, view)
    if float(np.sum(np.diff(members.starts).astype(np.float64) ** 2)) > MOST_COMPARED:
        return None
    return rows_times(view.sizes, _diameters_of(members, points, watch or Watch()))
