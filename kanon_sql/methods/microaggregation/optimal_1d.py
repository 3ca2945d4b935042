"""The optimal grouping of one numeric attribute: no other loses less.

Source: Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate
microaggregation, IEEE TKDE 15(4), here hansen2003. Once sorted, the records of an optimal grouping
lie in runs of k to 2k-1; so the least error of the first j records is the least of
best[i] + error(i, j) over the starts i = j-2k+1 .. j-k of the last run.

Two things make it fast and accurate:

- The error of a run has the quadrangle inequality, so the best start never moves left as j grows
  (Stamm and Schaub, 2024, Faster optimal univariate microaggregation, TMLR, go to O(n) from
  there). All starts for the j of one block, k in a row, lie in earlier blocks. Within a block, the
  best start of one j therefore bounds those to its left and right.
- There are no prefix sums, which cancel. Every run reaches over a multiple of k, where it is split
  in two. Both halves are measured from the record at the split, one upwards and one downwards,
  and the error is a sum of terms that are not negative: the error of either half, and
  a b / (a + b) times the squared gap of their means, a and b being their sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, Points

STRIDE = 8192
"""About how many records pass between two looks at the beat."""


MEAN, ERROR = 0, 1
"""Rows of an array of half runs: runs of records that have one end, a split, in common; by their
other end. Their means, relative to the value of the record at the split, and their squared errors;
float64, shape (2, m). One array and not two, since passing each costs."""


@inner
def _measure(values: Any, split: int, end: int, way: int, out: Any, offset: int) -> None:
    """Means and squared errors of the records between the split and each place up to the end.

    A place p is the boundary before record p, so that runs are half-open; ``way`` is 1 for an end
    above the split and -1 for one below. The run that ends at a place is written to out at
    place - offset.
    """
    # relative to the split: in a run of few records far from zero, sums of values would cancel
    origin = values[split]
    total, mean, error = 0.0, 0.0, 0.0
    out[MEAN, split - offset], out[ERROR, split - offset] = 0.0, 0.0
    for size in range(1, way * (end - split) + 1):
        place = split + way * size
        value = values[min(place, place - way)] - origin
        # by the gap to the mean so far (Welford), so that only terms that are not negative add up
        gap = value - mean
        error += (size - 1) / size * gap * gap
        total += value
        mean = total / size
        out[MEAN, place - offset], out[ERROR, place - offset] = mean, error


@inner
def _least(
    best: Any, below: Any, above: Any, split: int, j: int, low: int, high: int, known: Any
) -> Any:
    """The least error of the first j records, and the first start of their last run that has it.

    Starts low .. high, none of them above the split, are tried; ``below`` is indexed by them,
    ``above`` by j - split. known: what was found before, an error and a start.
    """
    mean, error = above[MEAN, j - split], above[ERROR, j - split]
    least, first = known
    for i in range(low, high + 1):
        gap = mean - below[MEAN, i]
        weight = (split - i) * (j - split) / (j - i)
        candidate = best[i] + (below[ERROR, i] + error + weight * gap * gap)
        # starts come in ascending order, so of equal ones the earliest stays
        if candidate < least:
            least, first = candidate, i
    return least, first


@inner
def _search_block(
    best: Any, starts: Any, below: Any, near_above: Any, far_above: Any, k: int,
    near: int, width: int,
) -> None:
    """Fills best and starts for j = near .. near + width - 1, every other j of a level at a time.

    ``below`` holds means and errors of the records from each start to the next multiple of k;
    ``near_above`` and ``far_above`` those from near, and from far = near - k, to each j.
    """
    far = near - k
    step = 1
    while 2 * step <= width:
        step *= 2
    while step > 0:
        for spot in range(step, width + 1, 2 * step):
            j = near + spot - 1
            # the best starts of the neighbours of the levels before bound this one's
            low, high = max(j - 2 * k + 1, 0), j - k
            if spot > step:
                low = max(low, starts[j - step])
            if spot + step <= width:
                high = min(high, starts[j + step])
            # a run from a start up to far reaches over far, one from a later start over near
            known = _least(best, below, far_above, far, j, low, min(high, far), (np.inf, low))
            best[j], starts[j] = _least(
                best, below, near_above, near, j, max(low, far + 1), high, known
            )
        step //= 2


@inner
def _number_runs(starts: Any, n: int) -> Any:
    """The labels that the starts of the last runs stand for: int64, shape (n,)."""
    labels = np.empty(n, np.int64)
    runs, end = 0, n
    # the starts lead from the last run to the first, so that the runs must be counted before
    while end > 0:
        runs, end = runs + 1, starts[end]
    end = n
    while end > 0:
        runs -= 1
        labels[starts[end] : end] = runs
        end = starts[end]
    return labels


@kernel
def _optimal_1d(values: Any, k: int, beat: Any) -> Any:
    """Groups of sorted values: int64, shape (n,), numbered from the least value on."""
    n = len(values)
    best, starts = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    below, near_above, far_above = np.zeros((2, n + 1)), np.zeros((2, k)), np.zeros((2, 2 * k))
    done = 0
    for near in range(k, n + 1, k):
        if near - done >= STRIDE:
            done = near
            beat[DONE] = done
            if beat[STOP] == 1:
                return starts[1:]
        far, width = near - k, min(k, n + 1 - near)
        _measure(values, far, near + width - 1, 1, far_above, far)
        if near < n:
            _measure(values, near, near + width - 1, 1, near_above, near)
            _measure(values, near, far + 1, -1, below, 0)
        if far > 0:
            # only differences count; without what all have in common, they keep more digits
            common = best[far - k + 1 : near].min()
            for place in range(far - k + 1, near):
                best[place] -= common
        _search_block(best, starts, below, near_above, far_above, k, near, width)
    beat[DONE] = n
    return _number_runs(starts, n)


def optimal_1d(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k to 2k-1 records with the least squared error that groups of k or more can have.

    Groups are numbered from the least value on. Of runs that lead to the same error, as computed,
    the last one starts at the earliest record. Records that are all equal (no coordinate) make
    n // k groups in canonical order. The beat counts records.

    Source: hansen2003. Needs len(points) >= k >= 1 and finite coordinates. O(n log k) after
    sorting.

    Raises:
        DataError: there is a nominal attribute, or more than one numeric coordinate.
        StoppedError: the watch was told to stop.
    """
    k = task.k
    n, dimensions = points.numeric.shape
    if points.codes.shape[1]:
        raise DataError(
            "The method optimal_1d groups by one numeric quasi-identifier, and there is a nominal "
            "one. Give the nominal one another role, or choose another method."
        )
    if dimensions > 1:
        raise DataError(
            f"The method optimal_1d groups by one numeric coordinate, and there are {dimensions}: "
            "more than one quasi-identifier, or one with NULLs, which add a coordinate. Keep one "
            "quasi-identifier and fill its NULLs or say nulls='suppress', or choose another "
            "method."
        )
    if dimensions == 0:
        return Grouping(np.minimum(np.arange(n, dtype=np.int64) // k, n // k - 1), {})
    column = points.numeric[:, 0]
    _, exponent = np.frexp(np.abs(column).max())
    values = np.ldexp(column, -exponent)  # at most 1, so that no square overflows
    order = np.argsort(values, kind="stable")
    labels = np.empty(n, np.int64)
    labels[order] = _optimal_1d(values[order], k, watch.beat())
    watch.check()
    return Grouping(labels, {})
