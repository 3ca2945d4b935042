"""How often each code is in each of the large classes, while classes are merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.points.by_label import label_order
from kanon_sql.points.points import Codes, Labels
from kanon_sql.privacy.kernels import count_codes

NO_COUNTS = -1


class LargeCounts(NamedTuple):
    """What kernels read of LargeClasses.

    Attributes:
        slot: int64, shape (groups,); the row of ``table`` of each class, or NO_COUNTS.
        table: int32, shape (slots, many); how often each code is in a class.
    """

    slot: Any
    table: Any


@kernel
def _add(codes: Any, starts: Any, members: Any, counts: Any) -> None:
    count_codes(codes, starts, members, len(members), counts)


class LargeClasses:
    """The counts of the classes that have more records than there are codes.

    These counts take no more room than the records do, and what such a class has in common with
    another is known without a look at its records.

    Attributes:
        counts: what is known.
    """

    def __init__(self, codes: Codes, starts: Labels, many: int, labels: Labels) -> None:
        """
        Args:
            codes: int32, shape (n, columns).
            starts: int64, shape (columns,); where the codes of each column begin among those that
                are counted; negative for a column that isn't.
            many: how many codes are counted; 0: no class is large.
            labels: int64, shape (n,); the classes as they are.
        """
        self._codes, self._starts, self._many = codes, starts, many
        sizes = np.bincount(labels)
        slots = len(labels) // many if many else 0
        self.counts = LargeCounts(
            np.full(len(sizes), NO_COUNTS), np.zeros((slots, many), np.int32)
        )
        self._free = list(range(slots))[::-1]
        large = np.flatnonzero(sizes > many).tolist() if many else []
        if large:
            order, end = label_order(labels), np.cumsum(sizes)
            for group in large:
                self.counts.slot[group] = self._free.pop()
                self._add(group, order[end[group] - sizes[group] : end[group]])

    def _add(self, group: int, members: Labels) -> None:
        """Counts some records into the row of a class."""
        slot, table = self.counts
        _add(self._codes, self._starts, members, table[slot[group]])

    def merge(
        self, group: int, into: int, size: int, records: Callable[[Labels], Labels]
    ) -> None:
        """One class becomes part of the other.

        Args:
            group, into: the classes.
            size: how many records both have.
            records: from classes their records, as they were before: int64.
        """
        slot, table = self.counts
        if self._many == 0 or size <= self._many:
            return
        if slot[group] != NO_COUNTS and slot[into] != NO_COUNTS:
            table[slot[into]] += table[slot[group]]
            table[slot[group]] = 0
            self._free.append(int(slot[group]))
        elif slot[group] != NO_COUNTS:
            slot[into] = slot[group]
            self._add(into, records(np.array([into])))
        else:
            if slot[into] == NO_COUNTS:
                slot[into] = self._free.pop()
                self._add(into, records(np.array([into])))
            self._add(into, records(np.array([group])))
        slot[group] = NO_COUNTS
