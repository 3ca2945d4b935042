"""How large classes are, and what they say of sensitive columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kanon_sql.reporting.bins import DASH
from kanon_sql.reporting.distributions import to_multiple
from kanon_sql.reporting.facts import Bar, SensitiveShares
from kanon_sql.reporting.readings import RELEASE, SOURCE, TablePair

MOST_VALUES = 5
"""From how many values on classes are counted together."""

SHARES = (0.5, 0.75, 0.9, 1.0)
"""The shares of the most frequent value by which classes are told apart; of one value last."""


def sizes(
    reader: TablePair, columns: Sequence[str], k: int, unit: int, exact: bool
) -> tuple[Bar, ...]:
    """Rows by the size of their class, before and after; those of the source to a multiple of
    ``unit``, if not ``exact``."""
    starts = sorted({1, 2, k, 2 * k, 5 * k, 10 * k})
    ends = [*starts[1:], None]
    counts = [reader.sizes(table, columns) for table in (SOURCE, RELEASE)]
    bars = []
    for low, high in zip(starts, ends, strict=True):
        rows = [
            float(sum(
                size * classes for size, classes in each
                if size >= low and (high is None or size < high)
            ))
            for each in counts
        ]
        bars.append(Bar(_label(low, high), to_multiple(rows[0], unit, exact), rows[1]))
    return tuple(bars)


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return str(low) if high == low + 1 else f"{low}{DASH}{high - 1}"


def shared(reader: TablePair, columns: Sequence[str], sensitive: str,
           metric: str) -> SensitiveShares:
    """What the classes of the release say of a sensitive column; ``metric``: what tells the rows
    whose class has one value."""
    kinds = reader.kinds(columns, sensitive)
    by_values = [
        (
            f"{values} or more" if values == MOST_VALUES else str(values),
            *_total((size, classes) for size, different, _, classes in kinds
                    if min(different, MOST_VALUES) == values),
        )
        for values in range(1, MOST_VALUES + 1)
    ]
    by_share, below = [], 0.0
    for bound in SHARES:
        label = f"up to {bound:.0%}" if not below else f"over {below:.0%}, up to {bound:.0%}"
        if bound == 1.0:
            label = f"over {below:.0%}, but not all"
        by_share.append((
            label,
            *_total((size, classes) for size, different, most, classes in kinds
                    if different > 1 and below < most / size <= bound),
        ))
        below = bound
    alone = by_values[0]
    by_share.append(("all of them", alone[1], alone[2]))
    return SensitiveShares(sensitive, tuple(by_values), tuple(by_share), alone[2], metric)


def _total(kinds: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Classes, and their rows."""
    pairs = list(kinds)
    return sum(classes for _, classes in pairs), sum(size * classes for size, classes in pairs)
