"""Full-domain generalization once more: slow, in plain Python, by trying every node.

It shares nothing with the search, so that a test can hold one against the other. What a record
costs at a node is summed exactly and then rounded to the unit in which the search compares losses:
2**-30 of the power of two above the cost of a suppressed record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor

Node = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """The node of every record at the levels below the root, and what a cell loses when it goes
    one level up from each of them."""

    levels: Sequence[Sequence[int]]
    charges: Sequence[float]


def classes_of(attributes: Sequence[Attribute], node: Node, n: int) -> list[Node]:
    """What is released of each record: its node at the level of every attribute, 0 for a root."""
    return [
        tuple(
            attribute.levels[level][i] if level < len(attribute.levels) else 0
            for attribute, level in zip(attributes, node, strict=True)
        )
        for i in range(n)
    ]


def suppressed_at(attributes: Sequence[Attribute], node: Node, n: int, k: int) -> int:
    """How many records lie in classes of fewer than k."""
    sizes = Counter(classes_of(attributes, node, n))
    return sum(size for size in sizes.values() if size < k)


def cost_of(attributes: Sequence[Attribute], node: Node) -> int:
    """What a released record loses at a node, in units."""
    whole = sum((Fraction(charge) for each in attributes for charge in each.charges), Fraction(0))
    power = Fraction(1)
    while power <= float(whole):
        power *= 2
    while whole and power / 2 > float(whole):
        power /= 2
    lost = sum(
        (
            Fraction(charge)
            for attribute, level in zip(attributes, node, strict=True)
            for charge in attribute.charges[:level]
        ),
        Fraction(0),
    )
    return round(lost / power * 2**30)


def full_domain(
    attributes: Sequence[Attribute], n: int, k: int, suppress: float
) -> tuple[Node, list[int]]:
    """The best node, and the labels: classes by their first record, -1 for suppressed records."""
    root = tuple(len(attribute.levels) for attribute in attributes)
    whole = cost_of(attributes, root)
    allowed = floor(suppress * n)
    candidates = []
    for node in product(*(range(height + 1) for height in root)):
        left_out = suppressed_at(attributes, node, n, k)
        if left_out <= allowed:
            loss = (n - left_out) * cost_of(attributes, node) + left_out * whole
            candidates.append((loss, left_out, node))
    _, _, best = min(candidates)
    released = classes_of(attributes, best, n)
    sizes = Counter(released)
    numbers: dict[Node, int] = {}
    labels = [
        numbers.setdefault(key, len(numbers)) if sizes[key] >= k else -1 for key in released
    ]
    return best, labels
