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

import math
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kanon_sql.audit.text import Parser, number_parser, quoted_items, split_known
from kanon_sql.hierarchies.from_values import KEY_PATTERN
from kanon_sql.hierarchies.tree import Tree

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_INFINITE = {"-inf": -np.inf, "-infinity": -np.inf, "inf": np.inf, "infinity": np.inf}


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


@dataclass(frozen=True)
class Reading:
    """A published value, understood.

    Attributes:
        loss: 0 .. 1.
        members: int64, the places of its values in Domain.values; their number stands for NULL.
        bits: the entropy of the source's values among the members, by their rows.
        kind: 'values', 'suppressed', 'point' or 'unread'.
    """

    loss: float
    members: Places
    bits: float
    kind: str = "values"


@dataclass(frozen=True)
class _Item:
    """A value or a label: its members, and where it is in the tree (leaf -1: nowhere)."""

    members: Places
    level: int
    leaf: int


def audit_column(domain: Domain, published: Published) -> ColumnAudit:
    """Reads and measures one column of a release.

    NULL is a value where the source has NULLs, for as many rows as there; in more rows it is a
    suppressed cell. Total and entropy are sums over the distinct texts in their order.
    """
    reader = Reader(domain)
    total, entropy = 0.0, 0.0
    tally = {"values": 0, "suppressed": 0, "point": 0, "unread": 0}
    for text, count in zip(published.texts.to_pylist(), published.counts.tolist(), strict=True):
        if text is None:
            reading, count = reader.everything, max(count - domain.nulls, 0)
        else:
            reading = reader.read(text)
        tally[reading.kind] += count
        total += count * reading.loss
        entropy += count * reading.bits
    rows = int(published.counts.sum())
    return ColumnAudit(
        rows, total, total / rows if rows else 0.0, entropy,
        tally["suppressed"], tally["point"], tally["unread"],
    )


class Reader:
    """Understands the published values of one column."""

    def __init__(self, domain: Domain) -> None:
        texts = domain.values.to_pylist()
        self.domain, self.tree = domain, domain.tree
        self.place = {text: i for i, text in enumerate(texts)}
        self.counts = np.append(domain.counts, domain.nulls).astype(np.float64)
        self.null = _Item(np.array([len(texts)]), 0, -1)
        everything = np.arange(len(self.counts))
        self.everything = Reading(1.0, everything, _entropy(self.counts), "suppressed")
        self.unread = Reading(1.0, everything, self.everything.bits, "unread")
        self.numbers = domain.numbers if domain.numeric else None
        self.low, self.high = 0.0, 0.0
        self.number: Parser = _no_number
        if self.numbers is not None and len(texts):
            self.low, self.high = float(self.numbers.min()), float(self.numbers.max())
            self.number = number_parser(texts, self.numbers)
        self._items: dict[str, _Item | None] = {}

    def read(self, text: str) -> Reading:
        """What a published text says; never fails."""
        item = self._find(text)
        if item is not None:
            return self._of_items([item])
        number = self.number(text)
        if number is not None:
            reading = self._between(number, number)
            return reading if len(reading.members) else Reading(0.0, reading.members, 0.0, "point")
        if re.fullmatch(r"\*+", text):
            return self.everything
        return self._range(text) or self._dash(text) or self._set(text) or self.unread

    # -- values and labels --------------------------------------------------------------------

    def _find(self, text: str) -> _Item | None:
        if text not in self._items:
            self._items[text] = self._look_up(text)
        return self._items[text]

    def _look_up(self, text: str) -> _Item | None:
        own = self.place.get(text)
        if self.tree is None:
            return None if own is None else _Item(np.array([own]), 0, -1)
        key = re.sub(KEY_PATTERN, r"\1", text)
        if own is not None:
            leaf = self._leaves.get(text, self._leaves.get(key, -1))
            return _Item(np.array([own]), 0, leaf)
        lowest = None
        for level, nodes in enumerate(self._nodes):
            leaf = nodes.get(text, nodes.get(key, -1) if level == 0 else -1)
            if leaf >= 0:
                item = _Item(self._below(level, leaf), level, leaf)
                if len(item.members):
                    return item
                lowest = lowest or item
        return lowest

    @cached_property
    def _nodes(self) -> list[dict[str, int]]:
        """For each level the first leaf below each label."""
        found = []
        for level in self.tree.levels if self.tree else ():
            labels = level.to_pylist()
            found.append(dict(zip(reversed(labels), range(len(labels) - 1, -1, -1), strict=True)))
        return found

    @property
    def _leaves(self) -> dict[str, int]:
        return self._nodes[0] if self._nodes else {}

    @cached_property
    def _codes(self) -> list[Places]:
        """For each level the node of each leaf."""
        return [
            level.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
            for level in (self.tree.levels if self.tree else ())
        ]

    @cached_property
    def _sorted(self) -> list[tuple[Places, Places]]:
        """For each level: the nodes of the source's values, sorted, and the values so."""
        found = []
        keys = {text: self._leaves.get(text, self._leaves.get(re.sub(KEY_PATTERN, r"\1", text), -1))
                for text in self.place}
        leaf = np.array(list(keys.values()), np.int64)
        values = np.flatnonzero(leaf >= 0)
        for codes in self._codes:
            nodes = codes[leaf[values]]
            order = np.argsort(nodes, kind="stable")
            found.append((nodes[order], values[order]))
        return found

    def _below(self, level: int, leaf: int) -> Places:
        """The source's values below the node of a leaf at a level."""
        nodes, values = self._sorted[level]
        node = self._codes[level][leaf]
        low, high = np.searchsorted(nodes, [node, node + 1])
        return np.sort(values[low:high])

    def _of_items(self, items: list[_Item]) -> Reading:
        members = items[0].members
        if len(items) > 1:
            members = np.unique(np.concatenate([item.members for item in items]))
        loss = self._height(items, members)
        return Reading(loss, members, _entropy(self.counts[members]))

    def _height(self, items: list[_Item], members: Places) -> float:
        """The loss of values and labels: the height of their lowest common ancestor."""
        if self.tree is None:
            if len(members) < 2:
                return 0.0
            if self.numbers is None or self.null.members[0] in members:
                return 1.0
            numbers = self.numbers[members]
            return self._width(float(numbers.min()), float(numbers.max()))
        leaves = sorted({item.leaf for item in items})
        if leaves[0] < 0:  # NULL, or a value that the hierarchy lacks, lies below the root
            return float(len(members) > 1)
        for level in range(max(item.level for item in items), self.tree.height):
            if len(np.unique(self._codes[level][leaves])) == 1:
                return level / self.tree.height
        return 1.0

    # -- ranges and sets ----------------------------------------------------------------------

    @cached_property
    def _ordered(self) -> tuple[list[float], Places, list[float], list[float]]:
        """The numbers, sorted, their places, and sums of their rows c and of c log2 c so far."""
        assert self.numbers is not None
        order = np.argsort(self.numbers, kind="stable").astype(np.int64)
        rows = self.counts[order]
        logs = rows * np.log2(np.maximum(rows, 1.0))
        return (
            self.numbers[order].tolist(), order,
            [0.0, *np.cumsum(rows).tolist()], [0.0, *np.cumsum(logs).tolist()],
        )

    def _width(self, low: float, high: float) -> float:
        return min(1.0, (high - low) / (self.high - self.low)) if self.high > self.low else 0.0

    def _between(self, low: float, high: float, ends: str = "[]") -> Reading:
        numbers, order, rows, logs = self._ordered
        if low == -np.inf:
            low, ends = min(self.low, high), "[" + ends[1]
        if high == np.inf:
            high, ends = max(self.high, low), ends[0] + "]"
        a = (bisect_left if ends[0] == "[" else bisect_right)(numbers, low)
        b = max(a, (bisect_right if ends[1] == "]" else bisect_left)(numbers, high))
        many = rows[b] - rows[a]
        bits = math.log2(many) - (logs[b] - logs[a]) / many if many > 0.0 and b > a + 1 else 0.0
        return Reading(self._width(low, high), order[a:b], max(bits, 0.0))

    def _bounds(self, low: str, high: str, ends: str = "[]") -> Reading | None:
        edges = [word.strip().strip("'\"") for word in (low, high)]
        a, b = (_INFINITE.get(edge.lower(), self.number(edge)) for edge in edges)
        return None if a is None or b is None or a > b else self._between(a, b, ends)

    def _range(self, text: str) -> Reading | None:
        """[a, b], [a, b), (a, b], (a, b), and a struct of min and max, of what has an order."""
        if self.numbers is None:
            return None
        if found := re.fullmatch(r"([\[(])([^,]+),([^,]+)([\])])", text):
            return self._bounds(found[2], found[3], found[1] + found[4])
        if found := re.fullmatch(r"\{'?min'?: *([^,]+), *'?max'?: *([^,]+)\}", text):
            return self._bounds(found[1], found[2])
        return None

    def _dash(self, text: str) -> Reading | None:
        """a-b and [a-b], as ARX and others write ranges."""
        inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
        for at in (found.start() for found in re.finditer("[-~]", inner)):
            if self.numbers is not None and (reading := self._bounds(inner[:at], inner[at + 1 :])):
                return reading
        return None

    def _set(self, text: str) -> Reading | None:
        """{a, b}, [a, 'b, c'] and the like; values by the source, else as a list is quoted."""
        pair, inner = text[:1] + text[-1:], text[1:-1]
        if len(text) < 2 or pair not in ("{}", "[]", "()"):
            words = None if self.numbers is not None else self._split(text, ",")
            return self._of_words(words)
        plain = self._split(inner, ", ") or self._split(inner, ",")
        if pair == "{}" and plain:
            return self._of_words(plain)
        return self._of_words(quoted_items(inner)) or self._of_words(plain)

    def _knows(self, word: str) -> bool:
        return self._find(word) is not None or self.number(word) is not None

    @cached_property
    def _texts(self) -> list[str]:
        return [*self.place, *(label for nodes in self._nodes for label in nodes)]

    def _split(self, text: str, separator: str) -> list[str] | None:
        if separator not in self._longest:
            self._longest[separator] = 1 + max(
                (word.count(separator) for word in self._texts), default=0
            )
        return split_known(text, separator, self._knows, self._longest[separator])

    @cached_property
    def _longest(self) -> dict[str, int]:
        """How many parts a value or label has at most, by separator."""
        return {}

    def _of_words(self, words: list[str] | list[str | None] | None) -> Reading | None:
        """The reading of several values or labels, or none where one of them is unknown."""
        if not words:
            return None
        items = [self.null if word is None else self._find(word) for word in words]
        found = [item for item in items if item is not None]
        if len(found) == len(items):
            return self._of_items(found)
        numbers = [None if word is None else self.number(word) for word in words]
        known = [number for number in numbers if number is not None]
        if self.numbers is None or len(known) < len(numbers):
            return None
        places = np.isin(self.numbers, known).nonzero()[0]
        width = self._width(min(known), max(known))
        return Reading(width, places, _entropy(self.counts[places]))


def _no_number(text: str) -> float | None:
    return None


def _entropy(counts: Floats) -> float:
    """Bits of a value drawn among rows, by the rows of each value."""
    rows = counts[counts > 0.0]
    many = float(rows.sum())
    if len(rows) < 2:
        return 0.0
    return max(float(np.log2(many) - np.sum(rows * np.log2(rows)) / many), 0.0)
