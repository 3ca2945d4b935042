"""The attacks as they read, one person and one cell at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Row = Sequence[Any]
Cell = Any
"""A published cell: None, a number, a pair of numbers (a range), or a frozenset of texts."""


def apart(cell: Cell, value: Any, spread: Fraction) -> Fraction:
    """How far a value is from what a cell may stand for, on average."""
    if cell is None or value is None:
        return Fraction(int(cell is not value))
    if isinstance(cell, frozenset):
        return 1 - Fraction(int(value in cell), len(cell))
    low, high = cell if isinstance(cell, tuple) else (cell, cell)
    low, high, value = Fraction(low) / spread, Fraction(high) / spread, Fraction(value) / spread
    if low == high:
        return abs(value - low)
    if low < value < high:
        # the mean of |x - value| over low..high
        return ((value - low) ** 2 + (high - value) ** 2) / (2 * (high - low))
    return abs(value - (low + high) / 2)


def nearest(
    classes: Sequence[Row], person: Row, columns: Sequence[int], spreads: Sequence[Fraction]
) -> tuple[Fraction, list[int]]:
    """The distance of the nearest classes, and all of these."""
    distances = [
        sum((apart(cells[a], person[a], spreads[a]) for a in columns), Fraction(0))
        for cells in classes
    ]
    best = min(distances)
    return best, [c for c, distance in enumerate(distances) if distance == best]


def likeliest(values: Sequence[Any]) -> dict[Any, Fraction]:
    """The chance of each guess, where the most frequent value is guessed."""
    counts = Counter(values)
    most = max(counts.values())
    best = [value for value, count in counts.items() if count == most]
    return {value: Fraction(1, len(best)) for value in best}


def meets(cell: Cell, side: int, value: Any) -> bool:
    """Whether a value meets the condition that is taken from a cell."""
    if cell is None or value is None:
        return cell is value
    if isinstance(cell, frozenset):
        return value in cell
    if isinstance(cell, tuple) and cell[0] < cell[1]:
        return bool(cell[0] <= value <= cell[1])
    point = cell[0] if isinstance(cell, tuple) else cell
    if side == 2:
        return bool(value == point)
    return bool(value >= point) if side > 0 else bool(value <= point)


def alone(
    cells: Row, sides: Sequence[int], rows: Sequence[Row], persons: Sequence[Any]
) -> bool:
    """Whether exactly one person meets the conditions."""
    found = {
        who for row, who in zip(rows, persons, strict=True)
        if all(side == 0 or meets(cell, side, value)
               for cell, side, value in zip(cells, sides, row, strict=True))
    }
    return len(found) == 1
