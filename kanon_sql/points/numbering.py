"""Groups numbered by their first record: one numbering for all ways to come to the same groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.points.points import Labels


def number_by_first(labels: Any) -> Labels:
    """The same groups as 0, 1, 2 ..., by the first record of each: int64, shape (n,).

    Takes O(n + largest label), since nothing is sorted.

    Args:
        labels: integers, shape (n,); groups by any numbers of 0 or more, small ones (no larger
            than about n); -1 for records that are in none, which stay -1.
    """
    groups = np.asarray(labels, dtype=np.int64)
    n = len(groups)
    # one slot more than there are labels: that of -1, as the last slot is reached by -1
    first = np.full(int(groups.max(initial=-1)) + 2, n)
    first[groups[::-1]] = np.arange(n - 1, -1, -1)  # of several, the one assigned last stays
    used = np.flatnonzero(first[:-1] < n)
    begins = np.zeros(n, np.int64)
    begins[first[used]] = 1
    number: Labels = np.full(len(first), -1, np.int64)
    number[used] = (np.cumsum(begins) - 1)[first[used]]
    return number[groups]
