"""Where records are cut in two: along the axis on which they vary most, about their median."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.kernel.simd import LANES

SAMPLE = 128
"""Records that are looked at to choose the axis of a cut."""


@inner
def _select(key: Any, order: Any, lo: int, hi: int, middle: int) -> None:
    """Partitions key[lo:hi], and order with it, about the value that belongs at ``middle``."""
    left, right = lo, hi - 1
    while left < right:
        # the median of three: records often come sorted, and the first as pivot would split off one
        a, b, c = key[left], key[(left + right) // 2], key[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            # stopping at equal keys halves a run of them; passing over them would split off one
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break


@inner
def widest_axis(axes: Any, masks: Any, scale: Any, order: Any, lo: int, hi: int) -> int:
    """The axis along which a sample of order[lo:hi] varies most; -1 where it doesn't vary."""
    p, step = axes.shape[1], max(1, (hi - lo) // SAMPLE)
    widest, axis = 0.0, -1
    for a in range(p):
        # relative to one record: far from zero the squares would cancel
        base, total, squares, m = axes[order[lo], a], 0.0, 0.0, 0
        for q in range(lo, hi, step):
            value = axes[order[q], a] - base
            total += value
            squares += value * value
            m += 1
        variance = squares / m - (total / m) ** 2
        if variance > widest:
            widest, axis = variance, a
    # half the mean squared distance of two records: what a variance is, too, so they compare
    for a in range(masks.shape[1]):
        changes, m = 0, 0
        for q in range(lo + step, hi, step):
            m += 1
            if masks[order[q], a] != masks[order[q - step], a]:
                changes += 1
        if m > 0 and scale[a] * changes / m > widest:
            widest, axis = scale[a] * changes / m, p + a
    return axis


@inner
def weigh_categories(masks: Any, scale: Any, order: Any, lo: int, hi: int, weights: Any) -> None:
    """What the difference of two categories counts for in the choice of an axis, by attribute.

    To tell m categories apart takes log2(m) cuts. Where that is more for all attributes than there
    are cuts down to the leaves, those of few categories come first: so most of them are told.
    """
    step, needed = max(1, (hi - lo) // SAMPLE), 0.0
    for a in range(len(scale)):
        held, kinds = masks[order[lo], a], 0
        for q in range(lo, hi, step):
            held |= masks[order[q], a]
        while held != 0:
            held &= held - np.uint64(1)
            kinds += 1
        cuts = np.log2(max(kinds, 2))
        weights[a] = scale[a] / cuts
        needed += cuts if kinds > 1 else 0.0
    if needed <= np.log2(max(hi - lo, LANES) / LANES):
        for a in range(len(scale)):
            weights[a] = scale[a]


@inner
def cut(axes: Any, masks: Any, order: Any, key: Any, lo: int, hi: int, axis: int, at: int) -> None:
    """Partitions order[lo:hi] about position ``at`` along an axis; -1 stands for the index."""
    p = axes.shape[1]
    for q in range(lo, hi):
        if axis < 0:
            key[q] = float(order[q])
        elif axis < p:
            key[q] = axes[order[q], axis]
        else:
            bits = masks[order[q], axis - p]
            # a power of 2 up to 2^63, which a float holds exactly
            key[q] = float(bits & (~bits + np.uint64(1)))
    _select(key, order, lo, hi, at)
