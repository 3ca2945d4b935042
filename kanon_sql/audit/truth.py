"""Whether a column of a release can be what it seems: values, ranges, sets and labels that hold the
values of their rows.

A release has no row numbers, so no row of it can be held against its row in the source. What can
be held against the source are numbers of rows. Of a generalized column the following is true, and
where it isn't, a column holds something else (means, medians, most frequent values, ranges that
hide NULLs), of which nobody can tell from outside what it loses:

- no value stands alone in more rows than have it in the source;
- every NULL of the source is shown as NULL, lies in a set that holds NULL, or is left out;
- no set is empty of values of the source, and no text can mean two things.

A release that passes though it isn't true differs from a true one in nothing that it shows.
"""

from __future__ import annotations

import re

import numpy as np

from kanon_sql.audit.columns import Domain, PublishedColumn
from kanon_sql.audit.reading import Places, Reading

TEXT = re.compile(r"VARCHAR|JSON|ENUM.*", re.DOTALL)
WHOLE_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")


class Truth:
    """Counts what a column of a release shows, text by text."""

    def __init__(self, domain: Domain, published: PublishedColumn) -> None:
        self._domain, self._published = domain, published
        self._alone = np.zeros(len(domain.values), np.int64)
        self._shown = 0
        self._may_be_null = 0
        self._unread = 0
        self._doubtful = False
        self._places = np.full(len(published.texts), -1)
        self._plain = True

    def null(self, at: int, count: int) -> None:
        """So many rows show NULL, the text at that place."""
        self._shown = count
        self._places[at] = len(self._domain.values)
        self._plain = self._plain and count <= self._domain.nulls

    def add_values(self, at: Places, members: Places) -> None:
        """The texts at those places are these values of the source, one each."""
        self._alone[members] += self._published.counts[at]
        self._places[at] = members

    def add(self, at: int, text: str, reading: Reading, count: int) -> None:
        """So many rows show this text, the one at that place, which was understood so."""
        members, null = reading.members, len(self._domain.values)
        if reading.kind == "unread":
            self._unread += count
        elif len(members) == 0 or reading.kind == "point":
            self._doubtful = True
        elif members[-1] == null:
            self._may_be_null += count
        elif len(members) == 1:
            self._alone[members[0]] += count
            self._places[at] = members[0]
            # a star that is a value, and may stand for those of rows that are left out
            self._doubtful |= self._published.left_out > 0 and not text.strip("*")
        if reading.kind != "suppressed" and reading.ambiguous:
            self._doubtful = True
        self._plain = self._plain and len(members) == 1 and members[0] != null

    def places(self) -> Places:
        """Where all texts are single values, or NULL as one: the place of each; else nothing."""
        return self._places if self._plain else self._places[:0]

    def holds(self) -> bool:
        """Whether the column may be true."""
        if self._doubtful or (self._alone > self._domain.counts).any():
            return False
        if self._unread and self._domain.ordered:
            return False
        by_number = WHOLE_NUMBERS.fullmatch(self._published.kind) and not self._domain.numeric
        if by_number and self._unread and self._alone.any():
            return False  # values, or numbers of classes
        return self._nulls_are_shown()

    def _nulls_are_shown(self) -> bool:
        hidden = self._domain.nulls - self._shown
        if hidden < 0 or self._domain.nulls == 0 or self._published.counts.sum() == 0:
            return True
        # one NULL may be a suppressed cell, where another is left out
        either = self._published.left_out and self._shown
        if either and not TEXT.fullmatch(self._published.kind):
            return False
        return hidden <= self._may_be_null
