"""The two records of a class that are furthest apart (byun2006, definition 3, item 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.points.points import Floats, Labels, LossPoints


@njit(cache=True, nogil=True)
def _diameters(
    numeric: Any, codes: Any, scale: Any, cap: Any, starts: Any, diameters: Any, beat: Any
) -> None:
    """The largest distance of two of the records starts[g] .. starts[g + 1] - 1, for each g.

    How far a record may lie from any other of its class, at most, is summed up as a distance is,
    column by column, so a bound is never below a distance it stands for, not by one bit. Records
    whose bound isn't above the best distance so far are passed over.
    """
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
            spread[a] = False
            for i in range(start, end):
                if codes[i, a] != codes[start, a]:
                    spread[a] = True
                    break
        best = 0.0
        for i in range(start, end):
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
                    if best >= bound:
                        break
        diameters[g] = best


def diameters(points: LossPoints, labels: Labels, watch: Watch) -> Floats:
    """The largest distance (definition 6) of two records of each class: float64, shape (groups,).

    Args:
        points: equal records side by side, as in canonical order: then they are compared once.
        labels: int64, shape (n,), 0 .. groups-1.
        watch: told how many records were compared.

    Raises:
        StoppedError: the watch was asked to stop.
    """
    numeric, codes, starts = distinct_members(points, labels)
    result = np.zeros(len(starts) - 1)
    scale = np.where(points.limit > 0, points.scale, 0.0)
    _diameters(numeric, codes, scale, points.cap, starts, result, watch.beat())
    watch.check()
    return result


def distinct_members(points: LossPoints, labels: Labels) -> Any:
    """The records class by class, each run of equal ones once.

    Returns:
        Their numeric columns and codes, and starts, int64, shape (groups + 1,): the members of
        class g are starts[g] .. starts[g + 1] - 1.
    """
    groups = int(labels.max()) + 1 if len(labels) else 0
    order = np.argsort(labels, kind="stable")
    numeric, codes, owner = points.numeric[order], points.codes[order], labels[order]
    fresh = owner[1:] != owner[:-1]
    for column in (*numeric.T, *codes.T):
        fresh |= column[1:] != column[:-1]
    kept = np.flatnonzero(np.append(True, fresh))[: len(order)]
    starts = np.searchsorted(owner[kept], np.arange(groups + 1)).astype(np.int64)
    return (
        np.ascontiguousarray(numeric[kept]), np.ascontiguousarray(codes[kept]), starts
    )
