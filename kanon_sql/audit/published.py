"""What a release tells of a column, whoever made it: its published values are read and measured.

A published value is understood as a set of values of the source, however it is written:

- a value of the source (``39``, also ``39.0``), NULL among them where the source has NULLs;
- a label of the column's hierarchy, of several levels the lowest that has a value of the source;
- ``*``, or NULL where the source has none: suppressed, so any value;
- of numbers, dates and times: ``[20, 29]``, ``[20, 25)``, ``{'min': 20, 'max': 29}``, ``20-29``,
  and a single number that is no value of the source: a point, such as a mean;
- ``{a, b}``, ``[a, 'b, c']``: values or labels. Values may hold the separator themselves: the
  source says where one ends.

Its loss is that of byun2006, definition 7; its entropy that of the source's values in the set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from kanon_sql.audit.joined import JoinedWords
from kanon_sql.audit.labels import Item, TreeLabels
from kanon_sql.audit.numbers import Numbers
from kanon_sql.audit.reading import Floats, Places, Reading, entropy
from kanon_sql.audit.text import quoted_items
from kanon_sql.hierarchies.tree import Tree


@dataclass(frozen=True)
class Domain:
    """A quasi-identifier of the source.

    Attributes:
        name: the column.
        numeric: whether it has numbers, dates or times.
        values: string array, its distinct values but NULL, as DuckDB writes them.
        counts: int64, shape (values,); the rows that have each value.
        nulls: how many rows have NULL.
        numbers: float64, shape (values,), finite, where numeric: the values as numbers, dates as
            days, timestamps and times as microseconds.
        tree: its hierarchy.
    """

    name: str
    numeric: bool
    values: pa.Array
    counts: Places
    nulls: int = 0
    numbers: Floats | None = None
    tree: Tree | None = None


@dataclass(frozen=True)
class Published:
    """The same column of the release: distinct texts, NULL among them, and the rows of each.

    Attributes:
        texts: string array.
        counts: int64, shape (texts,).
    """

    texts: pa.Array
    counts: Places


@dataclass(frozen=True)
class ColumnAudit:
    """What a column of a release loses; lower is better.

    Attributes:
        rows: rows of the release.
        total: the loss, 0 .. 1 per row, summed over the rows (the column's part of Total-IL).
        ncp: the same on average over the rows, 0 .. 1.
        entropy: bits, summed over the rows; 0 for points.
        suppressed: rows that publish nothing: '*', or NULL beyond the NULLs of the source.
        points: rows with a number that is no value of the source, and so says nothing of a range.
            Their loss is 0: it can't be told from the release.
        unread: rows whose text could not be understood; their loss is 1.
    """

    rows: int
    total: float
    ncp: float
    entropy: float
    suppressed: int
    points: int
    unread: int


def never() -> None:
    """Stops nothing."""


def audit_column(
    domain: Domain, published: Published, check: Callable[[], None] = never
) -> ColumnAudit:
    """Reads and measures one column of a release.

    NULL is a value where the source has NULLs, for as many rows as there; in more rows it is a
    suppressed cell. Total and entropy are sums over the distinct texts in their order. ``check``
    is called again and again; it may raise, to stop.
    """
    reader = Reader(domain, check)
    total, bits = 0.0, 0.0
    tally = {"values": 0, "suppressed": 0, "point": 0, "unread": 0}
    for text, count in zip(published.texts.to_pylist(), published.counts.tolist(), strict=True):
        check()
        if text is None:
            reading, count = reader.everything, max(count - domain.nulls, 0)
        else:
            reading = reader.read(text)
        tally[reading.kind] += count
        total += count * reading.loss
        bits += count * reading.bits
    rows = int(published.counts.sum())
    return ColumnAudit(
        rows, total, total / rows if rows else 0.0, bits,
        tally["suppressed"], tally["point"], tally["unread"],
    )


class Reader:
    """Understands the published values of one column.

    Numbers and their ranges are read by numbers.py, labels by labels.py; what is left is to tell
    which of them a text is, and to take sets apart.
    """

    def __init__(self, domain: Domain, check: Callable[[], None] = never) -> None:
        """``check`` may raise, to stop."""
        self._check = check
        texts = domain.values.to_pylist()
        self._place = {text: i for i, text in enumerate(texts)}
        self._counts = np.append(domain.counts, domain.nulls).astype(np.float64)
        self._null = Item(np.array([len(texts)]))
        self._labels = None if domain.tree is None else TreeLabels(domain.tree, texts)
        self._numbers: Numbers | None = None
        if domain.numeric and domain.numbers is not None:
            self._numbers = Numbers(texts, domain.numbers, self._counts)
        self._items: dict[str, Item | None] = {}
        everything = np.arange(len(self._counts))
        self.everything = Reading(1.0, everything, entropy(self._counts), "suppressed")
        self.unread = Reading(1.0, everything, self.everything.bits, "unread")

    def read(self, text: str) -> Reading:
        """What a published text says; never fails."""
        item = self._find(text)
        if item is not None:
            return self._of_items([item])
        if self._numbers is not None and (reading := self._numbers.read(text)):
            return reading
        if re.fullmatch(r"\*+", text):
            return self.everything
        if self._numbers is not None and (reading := self._numbers.read_range(text)):
            return reading
        return self._set(text) or self.unread

    # -- values and labels --------------------------------------------------------------------

    def _find(self, text: str) -> Item | None:
        """The value or the label that a text is."""
        if text not in self._items:
            self._items[text] = self._look_up(text)
        return self._items[text]

    def _look_up(self, text: str) -> Item | None:
        own = self._place.get(text)
        if own is not None:
            leaf = -1 if self._labels is None else self._labels.leaf_of(text)
            return Item(np.array([own]), 0, leaf)
        return None if self._labels is None else self._labels.find(text)

    def _of_items(self, items: Sequence[Item]) -> Reading:
        members = items[0].members
        if len(items) > 1:
            members = np.unique(np.concatenate([item.members for item in items]))
        return Reading(self._loss(items, members), members, entropy(self._counts[members]))

    def _loss(self, items: Sequence[Item], members: Places) -> float:
        """The loss of values and labels, of all their members together."""
        if self._labels is not None:
            # NULL, or a value that the hierarchy lacks, lies below the root
            lacking = any(item.leaf < 0 for item in items)
            return float(len(members) > 1) if lacking else self._labels.height(items)
        if len(members) < 2:
            return 0.0
        if self._numbers is None or self._null.members[0] in members:
            return 1.0
        return self._numbers.loss(members)

    # -- sets ---------------------------------------------------------------------------------

    def _set(self, text: str) -> Reading | None:
        """{a, b}, [a, 'b, c'] and the like; values by the source, else as a list is quoted."""
        pair, inner = text[:1] + text[-1:], text[1:-1]
        if len(text) < 2 or pair not in ("{}", "[]", "()"):
            words = None if self._numbers is not None else self._split(text, ",")
            return self._of_words(words)
        plain = self._split(inner, ", ") or self._split(inner, ",")
        if pair == "{}" and plain:
            return self._of_words(plain)
        return self._of_words(quoted_items(inner)) or self._of_words(plain)

    def _of_words(self, words: Sequence[str | None] | None) -> Reading | None:
        """The reading of several values or labels, or none where one of them is unknown."""
        if not words:
            return None
        items = [self._null if word is None else self._find(word) for word in words]
        found = [item for item in items if item is not None]
        if len(found) == len(items):
            return self._of_items(found)
        return None if self._numbers is None else self._numbers.read_set(words)

    def _knows(self, word: str) -> bool:
        if self._find(word) is not None:
            return True
        return self._numbers is not None and self._numbers.number(word) is not None

    def _split(self, text: str, separator: str) -> list[str] | None:
        """The known words that a text joins, if it does."""
        if separator not in self._joined:
            self._joined[separator] = JoinedWords(
                separator, self._texts, self._knows, self._check
            )
        return self._joined[separator].split(text)

    @cached_property
    def _texts(self) -> list[str]:
        """Every value and every label."""
        return [*self._place, *([] if self._labels is None else self._labels.texts())]

    @cached_property
    def _joined(self) -> dict[str, JoinedWords]:
        """What takes texts apart, by separator."""
        return {}
