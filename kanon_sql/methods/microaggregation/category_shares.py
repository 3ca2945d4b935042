"""What the categories of a record add to its distance from groups, bounded for many groups at once.

Where a group has the shares p of the categories of an attribute, a record of category v is
|e_v - p|^2 = 1 - 2 p_v + sum(p^2) away from it, times the attribute's scale. That it has the
category at all says little, where groups hold several: so each node knows, for each of 64
categories (their rank modulo 64), the least that any group below adds to the distance of a record
that has it. These numbers are computed as distances are, term by term in the same order, so none is
above the distance that it bounds, to the bit.

Categories that few records have would tell nodes little. The groups of these records are looked at
one by one instead, and to all others such a category is one that doesn't occur.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner
from kanon_sql.methods.microaggregation.centroids import category_counts
from kanon_sql.points.points import Codes, Floats, Labels
from kanon_sql.search.box_tree import FAN
from kanon_sql.search.space import Bits

RARE = 64
"""Records that have a category, at most, for their groups to be looked at one by one."""


class Shares(NamedTuple):
    """What categories add to squared distances from the groups below each child of a node.

    Attributes:
        inside: the least that one adds where it occurs, inf where it doesn't; float64, shape
            (nodes, 1 + c * width, FAN), ``width`` places for each attribute, and the first one for
            rare categories, always inf.
        outside: the least that one adds where it doesn't occur; float64, shape (nodes, c, FAN).
        place: the place of each category; int32, shape (c, widest domain).
        kin: the next record with the same category, in a circle, where it is rare, else the record
            itself; int32, shape (n, c).
        counts: how often each category occurs, 0 but while a group is shown; int64, shape
            (widest domain,).
        asked: the places of the categories that are searched; int64, shape (c,).
        bits: these as sets, empty where they are rare; uint64, shape (c,).
    """

    inside: Floats
    outside: Floats
    place: Codes
    kin: Codes
    counts: Labels
    asked: Labels
    bits: Bits


def _circles(codes: Any, counts: Any) -> Codes:
    """The next record of the same rare category, in a circle; other records are their own next."""
    kin: Codes = np.repeat(np.arange(len(codes), dtype=np.int32)[:, None], codes.shape[1], axis=1)
    for a in range(codes.shape[1]):
        rare = np.flatnonzero(counts[a][codes[:, a]] <= RARE)
        column = codes[rare, a]
        # numpy sorts whole numbers of two bytes by counting them
        narrow = column.astype(np.uint16) if len(counts[a]) <= 65_536 else column
        order = rare[np.argsort(narrow, kind="stable")]
        runs = np.flatnonzero(np.diff(codes[order, a], prepend=-1))
        follows = np.roll(order, -1)
        # the last of a category comes before its first
        follows[np.append(runs[1:], len(order))[: len(runs)] - 1] = order[runs]
        kin[order, a] = follows
    return kin


def empty_shares(codes: Any, nodes: int) -> Shares:
    """Nodes without groups."""
    counts = category_counts(codes)
    c, widest = counts.shape
    rare = counts <= RARE
    # a power of 2, so that no two categories share a place where there are no more than 64
    width, common = 1, int(np.sum(~rare, axis=1).max(initial=0))
    while width < min(common, 64):
        width *= 2
    rank = np.cumsum(~rare, axis=1) - 1
    place = np.where(rare, 0, 1 + np.arange(c)[:, None] * width + (rank & (width - 1)))
    return Shares(
        np.full((nodes, 1 + c * width, FAN), np.inf), np.full((nodes, c, FAN), np.inf),
        place.astype(np.int32), _circles(codes, counts), np.zeros(widest, np.int64),
        np.zeros(c, np.int64), np.zeros(c, np.uint64),
    )


@inner
def lower(bounds: Any, first: Any, leaf: int, row: int, value: float) -> None:
    """Lowers what the nodes above a leaf know in a row of theirs."""
    node = leaf
    for level in range(len(first) - 2, -1, -1):
        g, s = first[level] + node // FAN, node % FAN
        bounds[g, row, s] = min(bounds[g, row, s], value)
        node //= FAN
