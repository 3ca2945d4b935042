"""Mondrian once more: slow, in plain Python, written from the description of its choices.

It shares nothing with the compiled kernels, so that a test can hold one against the other. It works
on the values and codes themselves; ranks are not needed. The choices that LeFevre et al. (2006)
leave open:

- An attribute is as wide as the records lose by it. A flat taxonomy, whose categories stand in the
  order of their frequency in the whole table, is as wide as the share of that order that the
  records span. The first of several widest attributes is cut: numbers, then taxonomies.
- Strict: the boundary nearest to the middle that leaves k records on both sides, the lower of two.
- Relaxed: the first n // 2 records in the order of the attribute, equal ones in canonical order.
- An attribute of width 0 is never cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence

from kanon_sql.points.points import LossPoints


class Attribute(ABC):
    """One quasi-identifier of all records."""

    @abstractmethod
    def position(self, i: int) -> float:
        """Where record i stands in the order of the attribute."""

    @abstractmethod
    def width(self, members: Sequence[int]) -> float:
        """How wide the attribute is among the members."""

    def pieces(self, members: Sequence[int]) -> list[float]:
        """For each member what no strict cut of them parts: its value, as a number."""
        return [self.position(i) for i in members]


class Number(Attribute):
    def __init__(self, values: Sequence[float], cap: float) -> None:
        self.values, self.cap = values, cap

    def position(self, i: int) -> float:
        return self.values[i]

    def width(self, members: Sequence[int]) -> float:
        values = [self.values[i] for i in members]
        return min(max(values) - min(values), self.cap)


class Flat(Attribute):
    def __init__(self, codes: Sequence[int], scale: float, limit: int) -> None:
        counts = Counter(codes)
        listed = sorted(counts, key=lambda code: (-counts[code], code))
        self.ranks = [listed.index(code) for code in codes]
        gaps = len(listed) - 1
        self.unit = scale * min(gaps, limit) / gaps if gaps else 0.0

    def position(self, i: int) -> float:
        return self.ranks[i]

    def width(self, members: Sequence[int]) -> float:
        ranks = [self.ranks[i] for i in members]
        return self.unit * (max(ranks) - min(ranks))


class Tree(Attribute):
    def __init__(self, levels: Sequence[Sequence[int]], scale: Sequence[float]) -> None:
        self.levels, self.scale = levels, scale

    def position(self, i: int) -> float:
        return self.levels[0][i]

    def differing(self, members: Sequence[int]) -> list[int]:
        """The levels in which the members do not agree."""
        return [
            j for j, codes in enumerate(self.levels) if len({codes[i] for i in members}) > 1
        ]

    def width(self, members: Sequence[int]) -> float:
        total = 0.0
        for j in self.differing(members):
            total += self.scale[j]
        return total

    def pieces(self, members: Sequence[int]) -> list[float]:
        child = self.levels[max(self.differing(members))]
        return [child[i] for i in members]


def attributes(points: LossPoints) -> list[Attribute]:
    """The attributes of the points, numbers first."""
    found: list[Attribute] = [
        Number(column, cap)
        for column, cap in zip(points.numeric.T.tolist(), points.cap.tolist(), strict=True)
    ]
    codes, scale, first = points.codes.T.tolist(), points.scale.tolist(), points.first.tolist()
    for start in sorted(set(first)):
        columns = [j for j in range(len(codes)) if first[j] == start]
        if len(columns) == 1:
            found.append(Flat(codes[start], scale[start], int(points.limit[start])))
        else:
            found.append(Tree([codes[j] for j in columns], [scale[j] for j in columns]))
    return found


def strict_cut(attribute: Attribute, members: Sequence[int], k: int) -> list[int] | None:
    """The left half of a strict cut, None where there is no allowed one."""
    ordered = sorted(members, key=attribute.position)
    pieces = attribute.pieces(ordered)
    n = len(members)
    sizes = [m for m in range(k, n - k + 1) if pieces[m - 1] != pieces[m]]
    if not sizes:
        return None
    return ordered[: min(sizes, key=lambda m: (abs(2 * m - n), m))]


def cut(
    parts: Sequence[Attribute], members: Sequence[int], k: int, strict: bool
) -> list[int] | None:
    """The left half of the members, None where they stay together."""
    if len(members) < 2 * k:
        return None
    widths = [attribute.width(members) for attribute in parts]
    for a in sorted(range(len(parts)), key=lambda a: -widths[a]):
        if widths[a] <= 0.0:
            return None
        if not strict:
            return sorted(members, key=parts[a].position)[: len(members) // 2]
        half = strict_cut(parts[a], members, k)
        if half is not None:
            return half
    return None


def mondrian(points: LossPoints, k: int, strict: bool) -> list[int]:
    """The class of each record; classes numbered from left to right."""
    parts, labels = attributes(points), [-1] * len(points)
    waiting, classes = [list(range(len(points)))], 0
    while waiting:
        members = waiting.pop()
        half = cut(parts, members, k, strict)
        if half is None:
            for i in members:
                labels[i] = classes
            classes += 1
            continue
        left = set(half)
        waiting.append([i for i in members if i not in left])
        waiting.append([i for i in members if i in left])
    return labels
