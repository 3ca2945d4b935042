"""What a search works on, and what it keeps of what it did: see annealing.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kanon_sql.points.points import Codes, Floats, Labels


class DistinctPoints(NamedTuple):
    """The distinct points among n records.

    Attributes:
        site_of: int64, shape (n,); the site of each record.
        start: int64, shape (sites + 1,); where the records of each site start in ``order``.
        order: int64, shape (n,); the records, site by site.
        near: int32, shape (sites, count); the nearest sites of each, nearest first.
    """

    site_of: Labels
    start: Labels
    order: Labels
    near: Codes


class Spare(NamedTuple):
    """Groups that are empty.

    Attributes:
        numbers: int64, shape (groups,); the first ``left`` are theirs.
        left: int64, shape (1,); how many there are.
    """

    numbers: Labels
    left: Labels


class Cycle(NamedTuple):
    """Steps during which the temperature falls: the first, how many, and what it falls from."""

    begin: int
    length: int
    hot: float


class Changes(NamedTuple):
    """Which groups were changed, and when; a turn is one call of ``anneal``.

    Attributes:
        turn: int64, shape (1,); the turn that is on.
        last: int64, shape (groups,); the last turn at which each group was changed, 0 for never.
        many: int64, shape (1,); how many were changed in this turn.
        groups: int64, shape (groups,); the first ``many`` are those.
        looked: int64, shape (sites + 1,); the last making of a group at which each site was looked
            at, and how many there were; shape (0,) where that isn't noted.
        visited: int64, shape (groups + 1,); likewise the last record of a dissolved group for which
            each group was looked at.
    """

    turn: Labels
    last: Labels
    many: Labels
    groups: Labels
    looked: Labels
    visited: Labels


NOTED = 32
"""The least records of a group from which on it is noted where was looked to make or dissolve one:
neighbours of so many are often the same, and often of the same group."""


def no_changes(groups: int, k: int, sites: DistinctPoints) -> Changes:
    """Nothing is changed yet, of so many groups of k records or more."""
    noted = (len(sites.start), groups + 1) if k >= NOTED else (0, 0)
    return Changes(*(np.zeros(m, np.int64) for m in (1, groups, 1, groups, *noted)))


class LocalSearch(NamedTuple):
    """What the search works on.

    Attributes:
        data: the records, SquaredRecords or PackedRecords.
        groups: the groups under change, SquaredGroups or LossGroups.
        sites: the distinct points.
        spare: the groups that are empty.
        unit: float64, shape (n,); what an allowance counts at temperature 1, per record.
        k: the least group size.
        changes: which groups were changed.
        penalty: what the groups are held to beside their least size: Free, or a Penalty.
    """

    data: Any
    groups: Any
    sites: DistinctPoints
    spare: Spare
    unit: Floats
    k: int
    changes: Changes
    penalty: Any


class Judged(NamedTuple):
    """What was found of some steps before their turn.

    Attributes:
        begin: the first of the steps.
        steps: how many there are.
        since: the first turn whose changes may not have been seen.
        proposals: int32, shape (room, 4); for each step what ``weigh`` said, with -1 for the
            mover's group where nothing is known.
        turns: int64, shape (1,); how many of the steps threads have taken.
    """

    begin: int
    steps: int
    since: int
    proposals: Codes
    turns: Labels


class Moved(NamedTuple):
    """Room for the records that a proposal moves, and where each was before: int64, shape (2k,)."""

    record: Labels
    origin: Labels
