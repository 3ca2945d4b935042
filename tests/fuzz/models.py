"""What privacy models demand, told once more from their definitions: in fractions, and where there
is a logarithm in decimals of fifty digits. Nothing here uses the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

MISSING = None
HAIR = Decimal("1e-30")


@dataclass(frozen=True)
class Values:
    """The sensitive values of a class, or of all rows: one for each row or person.

    Attributes:
        texts: as they are written; None where one is missing.
        place: where a value lies on the axis of its type, by its text; empty for categories.
    """

    texts: tuple[str | None, ...]
    place: Mapping[str, Fraction]

    @property
    def counts(self) -> Counter[str | None]:
        """How often each is there, the missing ones as one."""
        return Counter(self.texts)


def exact(limit: Any) -> Fraction:
    """A limit as it was written."""
    return Fraction(repr(limit) if isinstance(limit, float) else limit)


def _ln(share: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 50
        return (Decimal(share.numerator) / Decimal(share.denominator)).ln()


def _diversity_counts(own: Values, nulls: str) -> list[int]:
    """How often each value is there, the most frequent first; missing ones count for it."""
    counts = own.counts
    missing = counts.pop(MISSING, 0) if nulls == "worst" else 0
    sizes = sorted(counts.values(), reverse=True)
    return [sizes[0] + missing, *sizes[1:]] if sizes else []


def l_broken(own: Values, l: Any, kind: str, c: Any, nulls: str) -> bool:
    """Whether a class has fewer values than l asks for."""
    sizes = _diversity_counts(own, nulls)
    if kind == "distinct":
        return len(sizes) < exact(l)
    if not sizes:
        return True
    if kind == "recursive":
        return not sizes[0] < exact(c) * sum(sizes[int(l) - 1:])
    rows = sum(sizes)
    entropy = -sum((
        Decimal(n) / rows * _ln(Fraction(n, rows)) for n in sizes if n < rows
    ), Decimal(0))
    return entropy < _ln(exact(l)) - HAIR


def alpha_broken(own: Values, alpha: Any, values: Sequence[str], nulls: str) -> bool:
    """Whether a value has a larger share of the class than alpha."""
    counts = own.counts
    missing = counts.pop(MISSING, 0) if nulls == "worst" else 0
    limits = alpha if isinstance(alpha, Mapping) else dict.fromkeys(values or counts, alpha)
    for value, limit in limits.items():
        if counts.get(value, 0) + missing > exact(limit) * len(own.texts) and (
            value in counts or (missing and not isinstance(alpha, Mapping))
        ):
            return True
    return False


def _shares(own: Values, whole: Values) -> list[tuple[str | None, Fraction, Fraction]]:
    here, there = own.counts, whole.counts
    return [
        (value, Fraction(here.get(value, 0), len(own.texts)), Fraction(n, len(whole.texts)))
        for value, n in there.items()
    ]


def delta_broken(own: Values, whole: Values, delta: Any) -> bool:
    """Whether the share of a value is too far from that in all rows."""
    return any(
        q == 0 or abs(_ln(q / p)) > Decimal(str(delta)) + HAIR for _, q, p in _shares(own, whole)
    )


def beta_broken(own: Values, whole: Values, beta: Any, kind: str) -> bool:
    """Whether the share of a value gains too much over that in all rows."""
    for _, q, p in _shares(own, whole):
        gain = q / p - 1
        if gain > exact(beta):
            return True
        if kind == "enhanced" and Decimal(gain.numerator) / gain.denominator > -_ln(p) + HAIR:
            return True
    return False


Cost = Callable[[str | None, str | None], Fraction]


def t_broken(own: Values, whole: Values, t: Any, closeness: str, nulls: str) -> bool:
    """Whether the earth mover's distance of a class from all rows is above t."""
    shares = _shares(own, whole)
    if closeness == "equal" or not whole.place:
        return sum((abs(q - p) for _, q, p in shares), Fraction(0)) / 2 > exact(t)
    if MISSING not in whole.counts:
        return _on_a_line(shares, whole, closeness) > exact(t) + Fraction(1, 10**11)
    if nulls == "value" and closeness == "numeric":
        return False  # what a missing value is on an axis of numbers, no definition says
    return _moved(shares, whole, closeness, nulls) > float(exact(t)) + 1e-7


def _places(whole: Values, closeness: str, nulls: str = "worst") -> dict[str | None, Fraction]:
    """Where each value lies between 0 and 1; values that lie at one place are one."""
    known = {text: whole.place[text] for text in whole.counts if text is not None}
    spots = sorted(set(known.values()))
    if closeness == "ordered":
        last = MISSING in whole.counts and nulls == "value"
        width = max(len(spots) - 1 + last, 1)
        rank = {spot: Fraction(i, width) for i, spot in enumerate(spots)}
        found: dict[str | None, Fraction] = {text: rank[spot] for text, spot in known.items()}
        return {**found, MISSING: Fraction(1)} if last else found
    low, high = (spots[0], spots[-1]) if spots else (Fraction(0), Fraction(0))
    return {text: (spot - low) / (high - low or 1) for text, spot in known.items()}


def _on_a_line(
    shares: list[tuple[str | None, Fraction, Fraction]], whole: Values, closeness: str
) -> Fraction:
    places = _places(whole, closeness)
    total, flow, before = Fraction(0), Fraction(0), Fraction(0)
    for value, q, p in sorted(shares, key=lambda share: places[share[0]]):
        total += abs(flow) * (places[value] - before)
        flow, before = flow + q - p, places[value]
    return total


def _moved(
    shares: list[tuple[str | None, Fraction, Fraction]], whole: Values, closeness: str, nulls: str
) -> float:
    """The least cost of moving one histogram into the other, by linear programming."""
    places, n = _places(whole, closeness, nulls), len(shares)
    cost = [
        0.0 if a == b else 1.0 if a not in places or b not in places
        else abs(float(places[a] - places[b]))
        for a, _, _ in shares for b, _, _ in shares
    ]
    out, into = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    least = linprog(cost, A_eq=np.vstack([out, into]), b_eq=[
        *(float(q) for _, q, _ in shares), *(float(p) for _, _, p in shares)
    ])
    return float(least.fun) if least.status == 0 else 0.0
