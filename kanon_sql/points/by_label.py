"""Records by label, and distinct numbers: sorts of whole numbers, which numpy does in a fraction of
the time that it takes for a stable argsort, or for np.unique, which hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.points.points import Labels


def label_order(labels: Labels) -> Labels:
    """The records label by label, those of one label in their order: int64, shape (n,).

    Args:
        labels: int64, shape (n,), from 0 up.
    """
    bits = max(len(labels) - 1, 1).bit_length()
    if int(labels.max(initial=0)) >> (63 - bits):  # no room for both in one number
        return np.argsort(labels, kind="stable")
    packed = np.sort((labels.astype(np.int64) << bits) | np.arange(len(labels)))
    return np.asarray(packed & ((1 << bits) - 1), dtype=np.int64)


def distinct(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers once each, ascending."""
    ordered = np.sort(numbers)
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return np.asarray(ordered[first])
