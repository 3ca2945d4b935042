"""Parts of the rows, each a release of its own: those that are small side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Pack(NamedTuple):
    """One large part, which is cut into blocks, or several small ones, which the query of one block
    tells apart.

    Attributes:
        parts: their numbers.
        rows: how many rows they have.
        large: whether it is one part, to be cut into blocks.
    """

    parts: tuple[int, ...]
    rows: int
    large: bool


class Divided(NamedTuple):
    """How all rows are divided.

    Attributes:
        packs: in the order of the parts.
        parts: how many parts there are, those that are put together being one.
        joined, suppressed: how many were put together, and left out.
        least: the rows of the smallest.
    """

    packs: tuple[Pack, ...]
    parts: int
    joined: int
    suppressed: int
    least: int

    @property
    def metrics(self) -> dict[str, int]:
        """What is told of parts, by name."""
        return {
            "parts": self.parts, "parts_joined": self.joined, "parts_suppressed": self.suppressed,
            "part_rows_min": self.least,
        }


def divided(sizes: Sequence[tuple[int, int, bool, int]], size: int) -> Divided:
    """How rows are divided.

    Args:
        sizes: of each number of a part, how many rows have it, whether it is of parts that are put
            together, and of how many parts; a number below 0 is left out.
        size: how many rows a block should have.
    """
    kept = [(number, rows) for number, rows, _, _ in sizes if number >= 0]
    return Divided(
        tuple(_packs(kept, size)), len(kept), sum(many for _, _, joined, many in sizes if joined),
        sum(many for number, _, _, many in sizes if number < 0), min(rows for _, rows in kept),
    )


def _packs(parts: Sequence[tuple[int, int]], size: int) -> list[Pack]:
    """Parts, each a number and how many rows it has, in packs of so many rows at most; one that has
    more alone."""
    packs: list[list[tuple[int, int]]] = []
    room = 0
    for number, rows in parts:
        if rows > room:
            packs.append([])
            room = max(size, rows)
        packs[-1].append((number, rows))
        room -= rows
    return [
        Pack(
            tuple(number for number, _ in pack), sum(rows for _, rows in pack),
            len(pack) == 1 and pack[0][1] > size,
        ) for pack in packs
    ]
