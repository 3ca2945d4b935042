"""Values in an order, grouped into runs: no other runs have a smaller largest class.

Source: Du, Eppstein, Goodrich and Lueker (2009), On the approximability of geometric and
geographic generalization and the min-max bin covering problem, WADS, here du2009. Section 4 remarks
that for an ordered universe and intervals a simple dynamic programming algorithm is optimal: the
least cost of the first j values is the least, over the starts i of the last run, of what the first
i values cost and what the run from i to j costs. Here that takes O(m log m) for m values.

The objective 'quadratic' is the sum of |E| (|E| - k) over the classes E. The objective 'largest' is
the size K of the largest class. It is found first, by a binary search: if runs from k to K records
can end at i, and i is the last such place that leaves k records or more up to j, then runs can end
at j if and only if at most K records are left; so one pass tells whether a K is large enough. Of
all runs of k to K records those are taken that have the least sum of |E| (|E| - k). Otherwise one
large value would leave the other classes as large as it is.

Three things make the second search fast and exact:

- A run that can be cut into two of a and b >= k records isn't part of a best solution: it costs
  2 a b more than the two, which are no larger. So with h the last start that leaves k records or
  more up to j, the starts of j are those at most h from which there are less than k records to h.
- (P[j] - P[i]) (P[j] - P[i] - k), with P the records before each place, has the quadrangle
  inequality. The starts of each j are consecutive, and their ends never move left as j grows; so
  the inequality still holds with starts that aren't allowed counted as infinite, and the first best
  start never moves left, either. Where no start is allowed, the last one that leaves k records says
  as much about its neighbours as a best start would.
- All starts for the j of one block, whose P differ by less than k, lie in earlier blocks. Within a
  block, the best start of one j therefore bounds those to its left and right. The starts of a block
  reach over less than 3 k records and one value, so that a start is looked at in a few blocks only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import ONE, ZERO, inner, kernel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.single_attribute import OrderedOptions
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Labels, Points

ENDLESS, MOST = np.int64(2**62), np.int64(2**63 - 1)
"""The cost where runs can't end: more than any other, as there are less than 2**31 records, and
with any other added still an int64; and the largest int64."""


class Places(NamedTuple):
    """The places between items, 0 to m, at which runs may start and end.

    Attributes:
        sums: int64, shape (m + 1,); the records before each place.
        low, high: int64, shape (m + 1,); the first and last start of a run that ends at each place.
    """

    sums: Any
    low: Any
    high: Any


class RunEnds(NamedTuple):
    """The best runs that end at each place.

    Attributes:
        cost: int64, shape (m + 1,); the sum of |E| (|E| - k) over all up to there.
        start: int64, shape (m + 1,); where the last of them starts.
    """

    cost: Any
    start: Any


@kernel
def _least_largest(sums: Any, high: Any, low: int, enough: int, beat: Any) -> Any:
    """The least K from low to enough for which there are runs of k to K records; enough is enough.

    Args:
        sums: int64, shape (m + 1,); the records before each place.
        high: int64, shape (m + 1,); the last place k records or more before each, -1 if none.
        low: int64.
        enough: int64; a K that there are runs for.
        beat: where to look for a wish to stop.
    """
    m = len(sums) - 1
    last = np.zeros(m + 1, np.int64)  # the last place up to each where runs can end
    while low < enough and beat[STOP] == 0:
        most = (low + enough) // 2
        # the later the last run starts, the fewer records it has: only the last place counts
        for j in range(1, m + 1):
            fits = high[j] >= 0 and sums[j] - sums[last[high[j]]] <= most
            last[j] = j if fits else last[j - 1]
        if last[m] == m:
            enough = most
        else:
            low = most + 1
    return enough


@inner
def _search_block(places: Places, k: int, near: int, end: int, ends: RunEnds, beat: Any) -> None:
    """Fills the ends near .. end - 1, every other one of a level at a time."""
    (sums, low, high), (best, starts) = places, ends
    step = ONE
    while 2 * step <= end - near:
        step *= 2
    while step > 0 and beat[STOP] == 0:
        # the neighbours at twice the step are known: their starts bound the one between them
        for j in range(near + step - 1, end, 2 * step):
            first, last = low[j], high[j]
            if j - step >= near:
                first = max(first, starts[j - step])
            if j + step < end:
                last = min(last, starts[j + step])
            least, start = MOST, high[j]
            for i in range(first, last + 1):
                size = sums[j] - sums[i]
                cost = best[i] + size * (size - k)
                if cost < least:
                    least, start = cost, i
            # where nothing may end the start still bounds its neighbours; see the module
            best[j], starts[j] = min(least, ENDLESS), start
        step //= 2


@kernel
def _best_runs(places: Places, k: int, beat: Any) -> Any:
    """The group of each item, int64, shape (m,), and the sum of |E| (|E| - k) over the groups.

    Args:
        places: where runs may start and end.
        k: int64.
        beat: where to count records and look for a wish to stop.
    """
    sums, _, _ = places
    m = len(sums) - 1
    best, starts = np.full(m + 1, ENDLESS), np.zeros(m + 1, np.int64)
    ends = RunEnds(best, starts)
    groups = np.zeros(m, np.int64)
    best[0] = 0
    near = ONE
    while sums[near] < k:
        near += 1
    while near <= m:
        end = near + 1
        # starts of a block lie before it, as less than k records fit in
        while end <= m and sums[end] < sums[near] + k:
            end += 1
        _search_block(places, k, near, end, ends, beat)
        if beat[STOP] == 1:
            return groups, best[m]
        beat[DONE] = sums[end - 1]
        near = end
    # counted first, since groups are numbered from the first one on and found from the last one
    runs, end = ZERO, m
    while end > 0:
        runs, end = runs + 1, starts[end]
    end = m
    while end > 0:
        runs -= 1
        for i in range(starts[end], end):
            groups[i] = runs
        end = starts[end]
    return groups, best[m]


def _largest(sums: Labels, high: Labels, k: int, size: Labels, beat: Any) -> int:
    """The least size that the largest class can have."""
    total, largest = int(sums[-1]), int(size.max())
    least = max(k, largest, -(-total // (total // k)))
    # a run that can't be cut has less than k records before and after one of its items
    enough = max(min(total, largest + 2 * (k - 1)), least)
    return int(_least_largest(sums, high, least, enough, beat))


def ordered(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Groups values that have an order into runs of k records or more, as small as can be.

    Records with the same value stay together. Groups are numbered from the first value on. Of runs
    that are as good, the last one starts at the earliest item, then the one before it, and so on.

    Args:
        points: ItemPoints with sizes of 1 or more; less than 2**31 records.
        task: k; ``objective``: 'largest', the least possible largest class, and
            among these runs the least sum of |E| (|E| - k) over the classes E; or 'quadratic', the
            least such sum of all.
        watch: gets records done.

    Returns:
        The grouping. Facts: ``lower_bound``, the size of the largest class, or the sum for
        'quadratic': no runs have less; ``guaranteed_ratio``, 1.

    Source: du2009, section 4. O(m log m) for m items, and O(m) for each of the at most 31 steps of
    the search for the largest class.

    Raises:
        StoppedError: the watch was told to stop.
    """
    own = task.own
    assert isinstance(own, OrderedOptions)
    k = task.k
    assert isinstance(points, ItemPoints)
    objective = own.objective
    sums = np.append(ZERO, np.cumsum(points.size))
    high = np.searchsorted(sums, sums - k, side="right") - 1
    low = np.searchsorted(sums, sums[np.maximum(high, 0)] - k, side="right")
    beat = watch.beat()
    if objective == "largest":
        most = _largest(sums, high, k, points.size, beat)
        low = np.maximum(low, np.searchsorted(sums, sums - most))
    watch.check()
    groups, penalty = _best_runs(Places(sums, low, high), k, beat)
    watch.check()
    cost = most if objective == "largest" else penalty
    return points.grouping(groups, {"lower_bound": float(cost), "guaranteed_ratio": 1.0})
