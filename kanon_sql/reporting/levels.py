"""Labels of a hierarchy, before and after, brought to one level: else what a column of values has
to do with others would be held against what a column of labels has."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kanon_sql.reporting.readings import Codes, Labels

Paths = Sequence[Sequence[str]]
"""Of each leaf of a hierarchy the labels from itself up to the root."""

MOST = 0.9
"""The share of the released rows that are told at the level that is chosen, or below it."""


def at_one_level(paths: Paths, before: Labels, after: Labels) -> tuple[Labels, Labels]:
    """Source and release at one level of the hierarchy: the lowest at which nine of ten released
    rows that say something can be told. What lies above it, or is the root, says nothing.

    Args:
        paths: the hierarchy; all paths are of one length.
        before, after: the column of the source, of values; and of the release, of labels.
    """
    root = len(paths[0]) - 1 if paths else 0
    place: dict[str, tuple[int, int]] = {}  # level and a leaf below of each label, the lowest first
    for level in range(root):
        for leaf, path in enumerate(paths):
            place.setdefault(path[level], (level, leaf))
    spots = [place.get(_leaf(text)) for text in after.texts]
    rows = np.bincount(after.codes[after.codes >= 0], minlength=len(after.texts))
    counts = np.zeros(max(root, 1), np.int64)
    for spot, many in zip(spots, rows.tolist(), strict=True):
        if spot is not None:
            counts[spot[0]] += many
    level = int(np.searchsorted(np.cumsum(counts), MOST * counts.sum()))
    own = {_leaf(path[0]): path for path in paths}
    return (
        _renamed(before, [
            own[leaf][level] if leaf in own else None for leaf in map(_leaf, before.texts)
        ]),
        _renamed(after, [
            None if spot is None or spot[0] > level else paths[spot[1]][level] for spot in spots
        ]),
    )


def _leaf(text: str) -> str:
    """A value as hierarchies write it: of numbers without an empty fraction."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def _renamed(labels: Labels, names: Sequence[str | None]) -> Labels:
    """The rows by other names of their texts; None is none."""
    texts = tuple(sorted({name for name in names if name is not None}))
    place = {text: i for i, text in enumerate(texts)}
    codes = np.array([-1 if name is None else place[name] for name in names] + [-1], np.int64)
    return Labels(codes[labels.codes], texts)


def values_alone(before: Labels, after: Labels) -> Codes:
    """The codes of a release without a hierarchy, -1 where its text is no value of the source, but
    a set of some or the sign of all."""
    known = set(before.texts)
    keep = np.array([text in known for text in after.texts] + [False], np.bool_)
    return np.where(keep[after.codes], after.codes, -1)
