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
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.audit.columns import Domain, PublishedColumn
from kanon_sql.audit.joined import JoinedWords
from kanon_sql.audit.labels import Item, TreeLabels
from kanon_sql.audit.numbers import Numbers
from kanon_sql.audit.reading import Places, Reading, entropy
from kanon_sql.audit.text import quoted_items
from kanon_sql.audit.truth import Truth

PAIRS = ("{}", "[]", "()")


@dataclass(frozen=True)
class ColumnAudit:
    """What a column of a release loses; lower is better.

    Attributes:
        rows: rows of the release.
        total: the loss, 0 .. 1 per row, summed over the rows (the column's part of Total-IL), each
            of the unread with 1.
        ncp: the same on average over the rows, 0 .. 1.
        entropy: bits, summed over the rows; 0 for points.
        suppressed: rows that publish nothing: '*', or NULL beyond the NULLs of the source.
        points: rows with a number that is no value of the source, and so says nothing of a range.
            Their loss is 0: it can't be told from the release.
        unread: rows whose text could not be understood, of which nobody knows what they lose.
        exact: whether the total is what the column truly loses, if what it publishes is true; see
            truth.py.
        least, most: what the total truly is at least and at most.
        places: int64, shape (texts,); where each text is a single value or NULL, its place in
            Domain.values; empty where one is anything else.
    """

    rows: int
    total: float
    ncp: float
    entropy: float
    suppressed: int
    points: int
    unread: int
    exact: bool = True
    least: float = 0.0
    most: float = 0.0
    places: Places = field(default_factory=lambda: np.zeros(0, np.int64), compare=False)


    def untold(self) -> ColumnAudit:
        """The same of a column of which nobody can tell what it loses."""
        return replace(self, exact=False, least=0.0, most=float(self.rows))


def never() -> None:
    """Stops nothing."""


def audit_column(
    domain: Domain, published: PublishedColumn, check: Callable[[], None] = never
) -> ColumnAudit:
    """Reads and measures one column of a release.

    NULL is a value where the source has NULLs, for as many rows as there; where more rows have it,
    it stands for any value. Total and entropy are sums over the distinct texts in their order.
    ``check`` is called again and again; it may raise, to stop.
    """
    reader = CellReader(domain, check, in_lists=published.kind.endswith("[]"))
    truth = Truth(domain, published)
    total, bits = 0.0, 0.0
    tally = {"values": 0, "suppressed": 0, "point": 0, "unread": 0}
    places = single_values(domain, published.texts)
    truth.add_values(np.flatnonzero(places >= 0), places[places >= 0])
    tally["values"] += int(published.counts[places >= 0].sum())
    others = np.flatnonzero(places < 0)
    texts = published.texts.take(pa.array(others)).to_pylist()
    for at, text, count in zip(
        others.tolist(), texts, published.counts[others].tolist(), strict=True
    ):
        check()
        if text is None:
            tally["suppressed"] += max(count - domain.nulls, 0)
            reading = reader.everything if count > domain.nulls else reader.null
            truth.null(at, count)
        else:
            reading = reader.read(text)
            truth.add(at, text, reading, count)
            tally[reading.kind] += count
        total += count * reading.loss
        bits += count * reading.bits
    rows = int(published.counts.sum())
    unread = tally["unread"]
    audit = ColumnAudit(
        rows, total, total / rows if rows else 0.0, bits, tally["suppressed"], tally["point"],
        unread, not unread, total - unread, total, truth.places(),
    )
    return audit if truth.holds() else audit.untold()


def single_values(domain: Domain, texts: pa.Array) -> Places:
    """The place in the source of each text that can be nothing but a value of it, which loses
    nothing; -1 of every other text. What may be a set, a star or a label is for CellReader."""
    if domain.tree is not None:
        return np.full(len(texts), -1)
    special = pc.is_in(pc.utf8_slice_codeunits(texts, 0, 1), pa.array(["", "*", "{", "[", "("]))
    places = pc.index_in(texts.filter(pc.invert(special)), domain.values.drop_null())
    found = np.full(len(texts), -1)
    found[~special.to_numpy(zero_copy_only=False)] = places.fill_null(-1).to_numpy()
    return found


def _marked(reading: Reading | None, ambiguous: bool) -> Reading | None:
    return replace(reading, ambiguous=True) if reading and ambiguous else reading


class CellReader:
    """Understands the published values of one column.

    Numbers and their ranges are read by numbers.py, labels by labels.py; what is left is to tell
    which of them a text is, and to take sets apart.
    """

    def __init__(
        self, domain: Domain, check: Callable[[], None] = never, in_lists: bool = False
    ) -> None:
        """
        Args:
            domain: the column of the source.
            check: may raise, to stop.
            in_lists: whether [a, b] is a list, and so the set of the two, and no range.
        """
        self._check, self._in_lists = check, in_lists
        texts = domain.values.to_pylist()
        self._place = {text: i for i, text in enumerate(texts)}
        self._counts = np.append(domain.counts, domain.nulls).astype(np.float64)
        self._null = Item(np.array([len(texts)]))
        below_root = [len(texts)] if domain.nulls else []
        self._labels = None if domain.tree is None else TreeLabels(domain.tree, texts, below_root)
        self._ordered = domain.ordered
        self._numbers: Numbers | None = None
        if domain.numeric and domain.numbers is not None:
            self._numbers = Numbers(self._place, domain.numbers, self._counts)
        self._items: dict[str, Item | None] = {}
        self._each = everything = np.arange(len(self._counts))
        self.everything = Reading(1.0, everything, entropy(self._counts), "suppressed")
        self.null = Reading(0.0, self._null.members, 0.0)
        self.unread = Reading(1.0, everything, self.everything.bits, "unread")

    def read(self, text: str) -> Reading:
        """What a published text says; never fails."""
        item = self._find(text)
        if item is not None:
            single = self._of_items([item])
            # a value that looks like a set may be one
            also = text[:1] + text[-1:] in PAIRS and self._set(text) is not None
            return replace(single, ambiguous=True) if also else single
        if self._numbers is not None and (reading := self._numbers.read(text)):
            return reading
        if re.fullmatch(r"\*+", text):
            return self.everything
        ranges = None if self._in_lists else self._numbers
        if ranges is not None and (reading := ranges.read_range(text)):
            return reading
        if ends := re.fullmatch(r"\{'?min'?: *(.*), *'?max'?: *(.*)\}", text, re.DOTALL):
            if ends[1] == ends[2] and self._find(ends[1].strip("'")) is not None:
                return self.read(ends[1].strip("'"))
            return replace(self.unread, ambiguous=True)  # a range of what has no order here
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
            place = self._each[own : own + 1]
            if self._labels is None:
                return Item(place)
            return Item(
                place, 0, self._labels.leaf_of(text), self._labels.says_more(text, place)
            )
        return None if self._labels is None else self._labels.find(text)

    def _of_items(self, items: Sequence[Item]) -> Reading:
        members = items[0].members
        if len(items) > 1:
            members = np.unique(np.concatenate([item.members for item in items]))
        # the ends of a range over a hierarchy look like a set of two
        ambiguous = any(item.ambiguous for item in items) or (self._ordered and len(items) > 1)
        bits = entropy(self._counts[members]) if len(members) > 1 else 0.0
        return Reading(self._loss(items, members), members, bits, ambiguous=ambiguous)

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
        if len(text) < 2 or pair not in PAIRS:
            words, several = None, False
            if self._numbers is None:
                words, several = self._split(text, ",")
            return _marked(self._of_words(words), several)
        plain, several = self._split(inner, ", ")
        if not plain:
            plain, several = self._split(inner, ",")
        if pair == "{}" and plain:
            return _marked(self._of_words(plain), several)
        return self._of_words(quoted_items(inner)) or _marked(self._of_words(plain), several)

    def _of_words(self, words: Sequence[str | None] | None) -> Reading | None:
        """The reading of several values or labels, or none where one of them is unknown."""
        if not words:
            return None
        items = [self._null if word is None else self._find(word) for word in words]
        known = [item for item in items if item is not None]
        if len(known) == len(items):
            return self._of_items(known)
        return None if self._numbers is None else self._numbers.read_set(words)

    def _knows(self, word: str) -> bool:
        if self._find(word) is not None:
            return True
        return self._numbers is not None and self._numbers.number(word) is not None

    def _split(self, text: str, separator: str) -> tuple[list[str] | None, bool]:
        """The known words that a text joins, if it does, and whether it may join others."""
        if separator not in self._joined:
            self._joined[separator] = JoinedWords(
                separator, self._texts, self._knows, self._check
            )
        return self._joined[separator].read(text)

    @cached_property
    def _texts(self) -> list[str]:
        """Every value and every label."""
        return [*self._place, *([] if self._labels is None else self._labels.texts())]

    @cached_property
    def _joined(self) -> dict[str, JoinedWords]:
        """What takes texts apart, by separator."""
        return {}
