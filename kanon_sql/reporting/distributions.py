"""Quasi-identifiers before and after, and how much columns have to do with each other.

Without show_values nothing here is a value of the source that isn't released: a bin has k of its
rows or more, and a label is one of the release. Its counts are told to a multiple of k, so that a
count less that of the release isn't that of the rows left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from kanon_sql.reporting.bins import counts_of, edges_of, joined, labels_of
from kanon_sql.reporting.facts import Association, Bar, Distribution
from kanon_sql.reporting.levels import Paths, at_one_level, values_alone
from kanon_sql.reporting.readings import (
    RELEASE,
    SOURCE,
    Codes,
    Floats,
    Labels,
    Ranges,
    TablePair,
    scaled,
)

LABELS = 10
"""The most labels that are shown of a column."""

PEARSON, CRAMER = "Pearson's correlation", "Cramér's V"

TOLD = 0.5
"""The share of the released rows that must tell both columns, for what they have to do with each
other to be told: what a few rows do is by chance."""

ROWS_OF_VALUE = 20
"""Rows per value, on average, that columns must have for their own values to be compared."""

NO_CODES: Codes = np.zeros(0, np.int64)

RANGED = "A range is spread evenly over the bins that it covers."


@dataclass(frozen=True)
class Measured:
    """A column as it was read, for associations and models.

    Attributes:
        name: its name.
        before, after: the code of each row, int64; -1 without a value.
        numbers: the values before and after, if they are numbers.
        groups: else the place of each row's label before and after, int64; -1 without a value.
        labels: what the places are: the labels that are shown, and all others last.
        own: of a column that has a hierarchy, the codes of the source's own values.
    """

    name: str
    before: Codes
    after: Codes
    numbers: tuple[Ranges, Ranges] | None = None
    groups: tuple[Codes, Codes] = (NO_CODES, NO_CODES)
    labels: tuple[str, ...] = ()
    own: Codes | None = None


def to_multiple(rows: float, k: int, exact: bool) -> float:
    """A count of the source as it is told."""
    return rows if exact else float(np.floor(rows / k + 0.5) * k)


def variation(
    before: Sequence[float], after: Sequence[float], k: int, exact: bool
) -> float | None:
    """The total variation distance of two lists of counts, as Distribution tells it."""
    rows, others = sum(before), sum(after)
    if not rows or not others:
        return None
    moved = sum(abs(b / rows - a / others) for b, a in zip(before, after, strict=True)) / 2.0
    return round(to_multiple(moved * rows, k, exact) / rows, 9)


def read_column(
    reader: TablePair, name: str, k: int, exact: bool, categorical: bool = False,
    paths: Paths = (),
) -> tuple[Distribution, Measured]:
    """A column before and after; ``exact``: whether values and counts of the source are shown;
    ``paths``: its hierarchy, through which both are read."""
    if paths:
        source = reader.labels(SOURCE, name)
        distribution, measured = _of_labels(
            name, *at_one_level(paths, source, reader.labels(RELEASE, name)), k, exact
        )
        return distribution, replace(measured, own=source.codes)
    like = reader.type_of(SOURCE, name)
    before = None if categorical else reader.ranges(SOURCE, name, like)
    after = None if categorical else reader.ranges(RELEASE, name, like)
    if before is not None and after is not None and np.isfinite(after.low).any():
        return _of_numbers(name, before, after, k, exact)
    return _of_labels(
        name, reader.labels(SOURCE, name), reader.labels(RELEASE, name), k, exact
    )


def _of_numbers(
    name: str, before: Ranges, after: Ranges, k: int, exact: bool
) -> tuple[Distribution, Measured]:
    edges = joined(edges_of(after), counts_of(before, edges_of(after)), k)
    was, is_ = counts_of(before, edges), counts_of(after, edges)
    missing, untold = (float(np.isnan(each.low).sum()) for each in (before, after))
    moved = variation([*was, missing], [*is_, untold], k, exact)
    bars = tuple(
        Bar(label, to_multiple(float(old), k, exact), float(new))
        for label, old, new in zip(labels_of(edges, before), was, is_, strict=True)
    )
    if not exact and missing < k:
        missing = 0.0
    wide = bool((after.high > after.low).any())
    distribution = Distribution(
        name, bars,
        Bar("no value", to_multiple(missing, k, exact), untold), RANGED if wide else "", moved,
    )
    codes = [
        np.where(np.isfinite(each.middle), np.searchsorted(edges, each.middle, side="right"), -1)
        for each in (before, after)
    ]
    return distribution, Measured(name, codes[0], codes[1], (before, after))


def _of_labels(
    name: str, before: Labels, after: Labels, k: int, exact: bool
) -> tuple[Distribution, Measured]:
    was = dict(zip(before.texts, np.bincount(_known(before.codes), minlength=len(before.texts)),
                   strict=True))
    is_ = dict(zip(after.texts, np.bincount(_known(after.codes), minlength=len(after.texts)),
                   strict=True))
    texts = dict.fromkeys([*after.texts, *before.texts] if exact else after.texts)
    # the order of the labels is that of the release, so that it says nothing else
    order = sorted(texts, key=lambda text: (-int(is_.get(text, 0)), text))
    shown = [text for text in order if exact or _tells(int(was.get(text, 0)), k)][:LABELS]
    rest = float(sum(was.values())) - sum(float(was.get(text, 0)) for text in shown)
    while not exact and shown and 0 < rest < k:
        # the rows of all that isn't shown would be fewer than k
        rest += float(was.get(shown.pop(), 0))
    bars = [
        Bar(text, to_multiple(float(was.get(text, 0)), k, exact), float(is_.get(text, 0)))
        for text in shown
    ]
    others = Bar(
        "all others" if shown else "all", to_multiple(rest, k, exact),
        float(sum(is_.values())) - sum(bar.after for bar in bars),
    )
    if others.before or others.after:
        bars.append(others)
    missing, untold = (float((each.codes < 0).sum()) for each in (before, after))
    moved = variation(
        [*(float(was.get(text, 0)) for text in shown), rest, missing],
        [*(float(is_.get(text, 0)) for text in shown), others.after, untold], k, exact,
    )
    if not exact and missing < k:
        missing = 0.0
    distribution = Distribution(
        name, tuple(bars), Bar("no value", to_multiple(missing, k, exact), untold), "", moved,
    )
    told = values_alone(before, after)
    shown_at = {text: place for place, text in enumerate(shown)}
    groups = tuple(
        np.array([*(shown_at.get(text, len(shown)) for text in each.texts), -1])[codes]
        for each, codes in ((before, before.codes), (after, told))
    )
    return distribution, Measured(
        name, before.codes, told, groups=(groups[0], groups[1]), labels=(*shown, others.label)
    )


def _tells(rows: int, k: int) -> bool:
    """Whether a label may be shown with its rows of the source: none, as a range or a label of a
    hierarchy has, or k and more."""
    return rows == 0 or rows >= k


def _known(codes: Codes) -> Codes:
    return codes[codes >= 0]


def associations(columns: Sequence[Measured], exact: bool) -> Iterable[Association]:
    """All pairs of columns, before and after."""
    digits = 4 if exact else 2
    for one, other in combinations(columns, 2):
        if one.numbers and other.numbers:
            pairs = [(one.numbers[i].middle, other.numbers[i].middle) for i in (0, 1)]
            values, kind = [_pearson(*pair) for pair in pairs], PEARSON
        else:
            values = [_cramer(one.before, other.before), _cramer(one.after, other.after)]
            kind = CRAMER
        seen = [
            (each.numbers[1].middle if each.numbers else each.after) for each in (one, other)
        ]
        if _told_share(*seen) < TOLD:
            values[1] = None
        values.append(_of_own_values(one, other))
        rounded = [None if each is None else round(each, digits) + 0.0 for each in values]
        yield Association(one.name, other.name, rounded[0], rounded[1], kind, rounded[2])


def _of_own_values(one: Measured, other: Measured) -> float | None:
    """Cramér's V of the source's own values, where a hierarchy stands between them and what was
    compared; None where most values are of few rows, which says nothing."""
    if one.own is None and other.own is None:
        return None
    codes = [each.before if each.own is None else each.own for each in (one, other)]
    values = [len(np.unique(_known(each))) for each in codes]
    return _cramer(*codes) if ROWS_OF_VALUE * max(values) <= len(codes[0]) else None


def _told_share(*columns: Codes | Floats) -> float:
    """The share of the rows in which all columns tell something."""
    known = [
        np.isfinite(each) if each.dtype.kind == "f" else each >= 0 for each in columns
    ]
    return float(np.logical_and.reduce(known).mean()) if len(known[0]) else 0.0


def _pearson(one: Floats, other: Floats) -> float | None:
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(np.corrcoef(scaled(one), scaled(other))[0, 1])


def _cramer(one: Codes, other: Codes) -> float | None:
    """Cramér's V of two columns of codes, with the correction for chance of Bergsma (2013)."""
    known = (one >= 0) & (other >= 0)
    rows = int(known.sum())
    if rows < 2:
        return None
    first, second = (np.unique(each[known], return_inverse=True)[1] for each in (one, other))
    height, width = int(first.max()) + 1, int(second.max()) + 1
    if height < 2 or width < 2:
        return None
    pairs, many = np.unique(first * width + second, return_counts=True)
    of_first, of_second = np.bincount(first), np.bincount(second)
    expected = of_first[pairs // width] * (of_second[pairs % width] / rows)
    # the sum over all cells of (n - e)² / e is that of n² / e over those with rows, less all rows
    phi = float((many**2 / expected).sum() / rows - 1.0)
    phi = max(0.0, phi - (height - 1) * (width - 1) / (rows - 1))
    low = min(
        height - (height - 1) ** 2 / (rows - 1), width - (width - 1) ** 2 / (rows - 1)
    )
    return None if low <= 1.0 else float(np.sqrt(min(1.0, phi / (low - 1.0))))
