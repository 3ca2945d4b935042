"""Bins that give nobody away: round edges, chosen by what is released, and enough rows in each.

Which bins there are is said by the release alone, which everybody may have, and by which of them
have fewer than k rows of the source; so no edge is a value of the source that isn't released,
unless it is round by itself.
"""

from __future__ import annotations

from math import floor, log10

import numpy as np

from kanon_sql.reporting.readings import Floats, Ranges

WANTED = 10
"""How many bins there are, about."""

LEAST = 1e-300
"""The least width of a bin."""

FIRST_YEAR = 1970
"""From which numpy counts."""

DAY = 86400.0
DASH = "\N{EN DASH}"


def round_step(wanted: float, whole: bool = False) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not below ``wanted``; of whole numbers
    no less than 1."""
    if whole and wanted <= 1:
        return 1.0
    power = 10.0 ** floor(log10(wanted))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= wanted * (1 - 1e-9))
    return float(max(step, 1.0) if whole else step)


def edges_of(released: Ranges) -> Floats:
    """Where one bin ends and the next begins, float64, rising; the first and the last bin are
    open."""
    known = released.middle[np.isfinite(released.middle)]
    if len(known) == 0:
        return np.empty(0)
    # few rows far away would make all other bins too wide
    low, high = np.quantile(known, [0.01, 0.99])
    if low == high:
        low, high = known.min(), known.max()
    if low == high:
        return np.empty(0)
    if released.times:
        return _time_edges(float(low), float(high))
    # halves, since the span of doubles may be none, and a width that a power of ten can stand for
    wanted = max((high / 2 - low / 2) / (WANTED / 2), LEAST)
    step = round_step(wanted, released.whole)
    first, last = floor(low / step) + 1, floor(high / step)
    # by whole numbers, so that no edge is 0.30000000000000004
    return np.array([float(f"{place * step:.12g}") for place in range(first, last + 1)])


def _time_edges(low: float, high: float) -> Floats:
    """Edges where years, months, days, hours or seconds begin."""
    span = (high - low) / DAY
    ends = np.floor([low, high]).astype("datetime64[s]")
    if span >= 3 * 365:
        step = int(round_step(span / 365.25 / WANTED, True))
        start, end = (ends.astype("datetime64[Y]").astype(np.int64) + FIRST_YEAR).tolist()
        years = np.arange((start // step + 1) * step, end + 1, step)
        moments = (years - FIRST_YEAR).astype("datetime64[Y]")
    elif span >= 90:
        start, end = (ends.astype("datetime64[M]").astype(np.int64) + 12 * FIRST_YEAR).tolist()
        months = np.arange(start + 1, end + 1)
        step = max(1, -(-len(months) // WANTED))
        moments = (months[months % step == 0] - 12 * FIRST_YEAR).astype("datetime64[M]")
    else:
        unit = DAY if span >= 3 else 3600.0 if span >= 0.125 else 1.0
        step_of = round_step((high - low) / unit / WANTED, True) * unit
        places = range(floor(low / step_of) + 1, floor(high / step_of) + 1)
        return np.array([place * step_of for place in places])
    return np.asarray(moments.astype("datetime64[s]").astype(np.float64))


def counts_of(values: Ranges, edges: Floats) -> Floats:
    """Rows in each bin, float64, one more than there are edges. A range is spread evenly over the
    bins that it touches."""
    point = values.low / 2 == values.high / 2  # two of the least doubles have equal halves
    counts = np.bincount(
        np.searchsorted(edges, values.low[point], side="right"), minlength=len(edges) + 1
    ).astype(np.float64)
    wide = np.isfinite(values.low) & np.isfinite(values.high) & ~point
    low, high = values.low[wide], values.high[wide]
    if not len(low):
        return counts
    # the ranges are those of classes, so there are few different ones
    ends, rows = np.unique(np.stack([low, high]), axis=1, return_counts=True)
    low, high = ends[:, :, None] / 2  # the difference of two doubles may be none
    with np.errstate(over="ignore"):  # far beyond a narrow range is behind it
        below = np.clip((edges[None, :] / 2 - low) / (high - low), 0.0, 1.0)
    steps = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return np.asarray(counts + (steps * rows[:, None]).sum(axis=0))


def joined(edges: Floats, before: Floats, least: int) -> Floats:
    """The edges without those beside which there would be a bin of fewer than ``least`` rows."""
    kept, rows = [], 0.0
    for edge, many in zip(edges, before, strict=False):
        rows += many
        if rows >= least:
            kept.append(edge)
            rows = 0.0
    rows += before[-1] if len(before) else 0.0
    if rows < least and kept:
        kept.pop()
    return np.array(kept)


def labels_of(edges: Floats, values: Ranges) -> list[str]:
    """What each bin is called."""
    if len(edges) == 0:
        return ["all"]
    texts = _time_texts(edges) if values.times else [f"{edge:,.10g}" for edge in edges]
    between = list(zip(edges, edges[1:], texts, texts[1:], strict=False))
    if values.whole:
        # the last of the whole numbers below the next edge says more than the edge
        inner = [
            low if end - start == 1 else f"{low}{DASH}{end - 1:,.10g}"
            for start, end, low, _ in between
        ]
    else:
        inner = [f"{low} to {high}" for _, _, low, high in between]
    return [f"below {texts[0]}", *inner, f"{texts[-1]} or more"]


def _time_texts(edges: Floats) -> list[str]:
    """Edges as the years, months, days or seconds that they all are."""
    moments = edges.astype("datetime64[s]")
    for unit in ("Y", "M", "D"):
        whole = moments.astype(f"datetime64[{unit}]")
        if (whole == moments).all():
            return [str(each) for each in whole]
    return [str(each).replace("T", " ") for each in moments]
