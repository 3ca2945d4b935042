"""The privacy models once more: slow, in plain Python, written from the definitions.

Histograms are taken of lists of Python values, where None and NaN are missing; sums are exact
fractions, but for logarithms. Nothing is shared with kanon_sql but the dataclasses that name what
is asked, so that tests can hold the kernels and the SQL against it.

What a class has is a number on the scale of the threshold (``value``); whether it passes
(``passes``) follows from it, but where rounding of logarithms needs a margin: what can't be told
from the bound is refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)

Number = Fraction | float
Levels = Sequence[Mapping[Any, Hashable]]
"""Of a hierarchy: the node of each value, for every level below the root, the leaves first."""

SURE = Fraction(1, 10**12)
MISSING = None
"""Missing values, where they are a value of their own."""


def fraction(threshold: float) -> Fraction:
    """A threshold as it is written: 0.15 is 3/20."""
    return Fraction(repr(threshold))


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or value != value


def histogram(values: Sequence[Any]) -> tuple[Counter[Any], int]:
    """How often each known value is there, and how many are missing."""
    known = Counter(value for value in values if not is_missing(value))
    return known, len(values) - known.total()


def with_missing(values: Sequence[Any]) -> Counter[Any]:
    """How often each value is there, missing ones as one value."""
    return Counter(MISSING if is_missing(value) else value for value in values)


def diversity_counts(values: Sequence[Any], nulls: str, levels: Levels = ()) -> list[int]:
    """How often each value is there, the most frequent first; missing ones count for the most
    frequent, or as a value. With a hierarchy values are its nodes just above the leaves."""
    nodes = levels[1] if len(levels) > 1 else None
    seen = [v if nodes is None or is_missing(v) else nodes[v] for v in values]
    if nulls == "value":
        return sorted(with_missing(seen).values(), reverse=True)
    known, missing = histogram(seen)
    counts = sorted(known.values(), reverse=True)
    return [counts[0] + missing, *counts[1:]] if counts else []


def entropy(counts: Sequence[int]) -> float:
    """The entropy of a histogram, in nats."""
    rows = sum(counts)
    return -math.fsum(n / rows * math.log(n / rows) for n in counts)


def shares(counts: Mapping[Any, int], values: Sequence[Any]) -> list[Fraction]:
    """The share of each of the values."""
    rows = sum(counts.values())
    return [Fraction(counts.get(value, 0), rows) for value in values]


def equal_distance(own: Sequence[Any], table: Sequence[Any]) -> Fraction:
    """The earth mover's distance where every two values are 1 apart; missing is a value."""
    all_rows = with_missing(table)
    q, p = (shares(counts, list(all_rows)) for counts in (with_missing(own), all_rows))
    return sum((abs(a - b) for a, b in zip(q, p, strict=True)), Fraction(0)) / 2


def hierarchy_distance(own: Sequence[Any], table: Sequence[Any], levels: Levels) -> Fraction:
    """The same where two values are as far apart as their lowest common ancestor is high, over the
    height of the root: the mean of the equal distances at all levels, leaves included.

    A missing value hangs below the root, so that it is a node of its own at every level.
    """
    def at(level: Mapping[Any, Hashable], values: Sequence[Any]) -> list[Any]:
        return [MISSING if is_missing(v) else ("node", level[v]) for v in values]

    each = [equal_distance(at(level, own), at(level, table)) for level in levels]
    return sum(each, Fraction(0)) / len(levels)


def line_distance(
    own: Mapping[Any, int], table: Mapping[Any, int], places: Mapping[Any, Fraction]
) -> Fraction:
    """The earth mover's distance on a line: between two neighbouring values of the table flows what
    the class has less or more below than the table."""
    values = sorted(table, key=places.__getitem__)
    below = (accumulate(shares(counts, values)) for counts in (own, table))
    gaps = (places[b] - places[a] for a, b in pairwise(values))
    return sum(
        (abs(q - p) * gap for q, p, gap in zip(*below, gaps, strict=False)), Fraction(0)
    )


def on_ranks(values: Sequence[Any]) -> dict[Any, Fraction]:
    """Ascending values at equal distances between 0 and 1."""
    return {value: Fraction(i, max(len(values) - 1, 1)) for i, value in enumerate(values)}


def on_numbers(values: Sequence[Any]) -> dict[Any, Fraction]:
    """Numbers where they lie between the least, at 0, and the largest, at 1."""
    low, high = Fraction(min(values)), Fraction(max(values))
    return {value: (Fraction(value) - low) / (high - low or 1) for value in values}


def ordered_distance(
    model: Closeness, own: Sequence[Any], table: Sequence[Any]
) -> tuple[Fraction, bool]:
    """The distance by ranks or numbers, and whether it is compared exactly.

    Missing values under 'worst' are at distance 1 from all others: an upper bound moves what is too
    much or too little of them, and all else among the known values.
    """
    (all_known, all_missing), (known, missing) = histogram(table), histogram(own)
    ranked = sorted(all_known)
    if model.distance == "ordered" and model.nulls == "value":
        places = on_ranks([*ranked, *([MISSING] if all_missing else [])])
        return line_distance(with_missing(own), with_missing(table), places), True
    places = on_ranks(ranked)
    if model.distance == "numeric" and ranked:
        places = on_numbers(ranked)
    rest = line_distance(known, all_known, places) if known else Fraction(0)
    if not all_missing:
        return rest, model.distance == "ordered" or len(ranked) == 1
    q, p = Fraction(missing, len(own)), Fraction(all_missing, len(table))
    return abs(q - p) + min(1 - q, 1 - p) * rest, False


def closeness(
    model: Closeness, own: Sequence[Any], table: Sequence[Any], levels: Levels
) -> tuple[Fraction, bool]:
    """The distance that a model asks for, and whether it is compared exactly."""
    if model.distance == "equal":
        return equal_distance(own, table), True
    if model.distance == "hierarchy":
        return hierarchy_distance(own, table, levels), True
    return ordered_distance(model, own, table)


def alpha_bounds(model: AlphaFrequency, table: Sequence[Any]) -> dict[Any, Fraction]:
    """The bound of each known value that has one below 1."""
    own = dict(model.by_value)
    found = {}
    for value in histogram(table)[0]:
        bound = own.get(str(value), model.alpha)
        if bound is not None and bound < 1.0:
            found[value] = fraction(bound)
    return found


def alpha_parts(
    model: AlphaFrequency, own: Sequence[Any], table: Sequence[Any]
) -> list[tuple[int, Fraction]]:
    """Of each bounded value: rows that have it or might have it, and its bound. What is missing
    might be a value that no row has: under 'worst' it is held to the least of all bounds."""
    known, missing = histogram(own)
    bounds = alpha_bounds(model, table)
    might = missing if model.nulls == "worst" else 0
    parts = [(known[value] + might, bound) for value, bound in bounds.items()]
    given = [model.alpha, *(dict(model.by_value).values() if model.nulls == "worst" else ())]
    below_1 = [fraction(bound) for bound in given if bound is not None and bound < 1.0]
    return [*parts, (missing, min(below_1))] if below_1 else parts


def value(
    model: PrivacyModel, own: Sequence[Any], table: Sequence[Any], levels: Levels = ()
) -> Number:
    """What a class has, on the scale of the threshold.

    Args:
        model: what is asked; a Closeness with its distance.
        own: the values of the class, one or more.
        table: the values of all rows, those of the class among them.
        levels: the hierarchy of the column, if it has one.
    """
    if isinstance(model, Closeness):
        return closeness(model, own, table, levels)[0]
    if isinstance(model, AlphaFrequency):
        most = max((rows for rows, _ in alpha_parts(model, own, table)), default=0)
        return Fraction(most, len(own))
    if isinstance(model, (DeltaDisclosure, BetaLikeness)):
        all_rows = with_missing(table)
        pairs = zip(
            shares(with_missing(own), list(all_rows)), shares(all_rows, list(all_rows)), strict=True
        )
        if isinstance(model, BetaLikeness):
            return max((q - p) / p for q, p in pairs)
        return max(abs(math.log(q / p)) if q else math.inf for q, p in pairs)
    counts = diversity_counts(own, model.nulls, levels)
    if isinstance(model, DistinctDiversity):
        return Fraction(len(counts))
    if isinstance(model, EntropyDiversity):
        return math.exp(entropy(counts)) if counts else 0.0
    assert isinstance(model, RecursiveDiversity)
    tail = sum(counts[model.l - 1 :])
    return Fraction(counts[0], tail) if tail else math.inf


def passes(
    model: PrivacyModel, own: Sequence[Any], table: Sequence[Any], levels: Levels = ()
) -> bool:
    """Whether a class keeps what a model asks; see ``value``."""
    found = value(model, own, table, levels)
    if isinstance(model, DistinctDiversity):
        return found >= model.l
    if isinstance(model, EntropyDiversity):
        counts = diversity_counts(own, model.nulls, levels)
        if len(set(counts)) == 1 and len(counts) >= model.l:
            return True
        return bool(counts) and entropy(counts) >= math.log(model.l) + float(SURE)
    if isinstance(model, RecursiveDiversity):
        return found < fraction(model.c)
    if isinstance(model, Closeness):
        distance, exact = closeness(model, own, table, levels)
        return distance <= fraction(model.t) - (0 if exact else SURE)
    if isinstance(model, AlphaFrequency):
        return all(rows <= bound * len(own) for rows, bound in alpha_parts(model, own, table))
    if isinstance(model, DeltaDisclosure):
        return found < math.inf and delta_passes(model, own, table)
    assert isinstance(model, BetaLikeness)
    return beta_passes(model, own, table)


def delta_passes(model: DeltaDisclosure, own: Sequence[Any], table: Sequence[Any]) -> bool:
    """The inequalities of delta-disclosure, each a little tighter than logarithms can tell."""
    all_rows, near = with_missing(table), float(SURE)
    known = with_missing(own)
    for each, rows in all_rows.items():
        p, q = rows / len(table), known[each] / len(own)
        low, high = (math.exp(sign * model.delta) * p for sign in (-1.0, 1.0))
        if not low * (1.0 + near) <= q <= high * (1.0 - near):
            return False
    return True


def beta_passes(model: BetaLikeness, own: Sequence[Any], table: Sequence[Any]) -> bool:
    """The inequalities of beta-likeness: exact where beta is the bound, and where a value is not
    more frequent than in the table."""
    all_rows, known = with_missing(table), with_missing(own)
    for each, rows in all_rows.items():
        p, q = Fraction(rows, len(table)), Fraction(known[each], len(own))
        most = -math.log(p)
        if model.kind == "basic" or model.beta <= most:
            kept = q <= (1 + fraction(model.beta)) * p
        else:
            kept = q <= p or float(q) <= float(p) * (1.0 + most) * (1.0 - float(SURE))
        if not kept:
            return False
    return True
