"""What published texts say of a column of numbers, dates or times: single ones and ranges."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from kanon_sql.audit.reading import Floats, Places, Reading, entropy
from kanon_sql.audit.text import Parser, number_parser

_INFINITE = {"-inf": -np.inf, "-infinity": -np.inf, "inf": np.inf, "infinity": np.inf}


MOST_DASHES = 5
"""Dashes of a date before our era with a time zone; of a number there are two at most."""


class Numbers:
    """The numbers of a column, and what is read as some of them.

    Attributes:
        number: turns a text into a number, or None where it is none.
    """

    def __init__(self, places: Mapping[str, int], numbers: Floats, counts: Floats) -> None:
        """
        Args:
            places: the values of the column as texts, with the place of each.
            numbers: float64, finite: the number at each place.
            counts: float64, at least as long: how many rows have each.
        """
        self._places, self._numbers, self._counts = places, numbers, counts
        self._low, self._high = 0.0, 0.0
        self.number: Parser = _no_number
        if len(numbers):
            self._low, self._high = float(numbers.min()), float(numbers.max())
            self.number = number_parser(places, numbers)

    def read(self, text: str) -> Reading | None:
        """A text that is one number: a value, or a point that says nothing of a range."""
        number = self.number(text)
        if number is None:
            return None
        reading = self._between(number, number)
        return reading if len(reading.members) else Reading(0.0, reading.members, 0.0, "point")

    def read_range(self, text: str) -> Reading | None:
        """[a, b], [a, b), (a, b], (a, b), a struct of min and max, and ranges with a dash."""
        if match := re.fullmatch(r"([\[(])([^,]+),([^,]+)([\])])", text):
            reading = self._bounds(match[2], match[3], match[1] + match[4])
        elif match := re.fullmatch(r"\{'?min'?: *([^,]+), *'?max'?: *([^,]+)\}", text):
            reading = self._bounds(match[1], match[2])
        else:
            reading = None
        return reading or self._dash(text)

    def read_set(self, words: Sequence[str | None]) -> Reading | None:
        """Several numbers, values of the source or not; None where one of the words is none."""
        numbers = [None if word is None else self.number(word) for word in words]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return None
        ordered, order, _, _ = self._ordered
        spots = [
            spot for number in sorted(set(known))
            for spot in range(bisect_left(ordered, number), bisect_right(ordered, number))
        ]
        places = np.sort(order[np.array(spots, np.int64)])
        width = self._width(min(known), max(known))
        return Reading(width, places, entropy(self._counts[places]))

    def loss(self, members: Places) -> float:
        """What the values at these places lose: their range over that of the column."""
        numbers = self._numbers[members]
        return self._width(float(numbers.min()), float(numbers.max()))

    def _width(self, low: float, high: float) -> float:
        return min(1.0, (high - low) / (self._high - self._low)) if self._high > self._low else 0.0

    @cached_property
    def _most_dashes(self) -> int:
        """The most that a number has, before the dash that is sought in a range."""
        of_values = (text.count("-") + text.count("~") for text in self._places)
        return max(MOST_DASHES, max(of_values, default=0))

    @cached_property
    def _ordered(self) -> tuple[list[float], Places, list[float], list[float]]:
        """The numbers, sorted, their places, and sums of their rows c and of c log2 c so far."""
        order = np.argsort(self._numbers, kind="stable").astype(np.int64)
        rows = self._counts[order]
        logs = rows * np.log2(np.maximum(rows, 1.0))
        return (
            self._numbers[order].tolist(), order,
            [0.0, *np.cumsum(rows).tolist()], [0.0, *np.cumsum(logs).tolist()],
        )

    def _between(self, low: float, high: float, ends: str = "[]") -> Reading:
        """The values from low to high; ``ends`` says which of the two belong to them."""
        numbers, order, rows, logs = self._ordered
        if low == -np.inf:
            low, ends = min(self._low, high), "[" + ends[1]
        if high == np.inf:
            high, ends = max(self._high, low), ends[0] + "]"
        a = (bisect_left if ends[0] == "[" else bisect_right)(numbers, low)
        b = max(a, (bisect_right if ends[1] == "]" else bisect_left)(numbers, high))
        many = rows[b] - rows[a]
        bits = math.log2(many) - (logs[b] - logs[a]) / many if many > 0.0 and b > a + 1 else 0.0
        return Reading(self._width(low, high), order[a:b], max(bits, 0.0))

    def _bounds(self, low: str, high: str, ends: str = "[]") -> Reading | None:
        edges = [word.strip().strip("'\"") for word in (low, high)]
        a, b = (_INFINITE.get(edge.lower(), self.number(edge)) for edge in edges)
        return None if a is None or b is None or a > b else self._between(a, b, ends)

    def _dash(self, text: str) -> Reading | None:
        """a-b and [a-b], as ARX and others write ranges."""
        inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
        dashes = (dash.start() for dash in re.finditer("[-~]", inner))
        for at in islice(dashes, self._most_dashes + 1):
            if reading := self._bounds(inner[:at], inner[at + 1 :]):
                return reading
        return None


def _no_number(text: str) -> float | None:
    return None
