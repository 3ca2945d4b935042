"""Records laid out for a search: those that lie near each other stand near each other in memory.

A step of a search looks at a record, some of its neighbours, and their groups. Records in canonical
order are near each other in their first column only, and the steps of a large table wait for
memory most of the time. The layout follows from the records alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_sql.methods.local_search.embedding import embedded
from kanon_sql.points.numbering import number_by_first
from kanon_sql.points.points import Labels, Points
from kanon_sql.search.axes import make_space
from kanon_sql.search.build_pool import new_pool

LARGE = 50_000
"""Records from which on it is worth it: fewer are in the cache anyway."""


@dataclass(frozen=True)
class RecordLayout:
    """Where each record stands.

    Attributes:
        order: int64, shape (n,); the record at each place.
    """

    order: Labels

    def of(self, labels: Labels) -> Labels:
        """A grouping of the records, as they stand here, numbered by first ones."""
        return number_by_first(labels[self.order])

    def back(self, labels: Labels) -> Labels:
        """A grouping of what stands here, as one of the records, numbered by first ones."""
        grouping = np.empty_like(labels)
        grouping[self.order] = labels
        return number_by_first(grouping)


def layout_of(points: Points) -> RecordLayout | None:
    """Where n records stand best: leaf by leaf of a tree. None where they may stay as they are."""
    n = len(points)
    if n < LARGE or points.numeric.shape[1] + points.codes.shape[1] == 0:
        return None
    order = new_pool(make_space(embedded(points)), np.arange(n)).tree.order
    return RecordLayout(order[order >= 0])
