"""Who of those that were released before may be shown again.

An attacker links what is published of a person in all releases. Against *presence*, he knows in
which releases a person was: the crowd of a person are those who were in the same class in each of
these, the new one included. Against *absence*, he also knows in which the person wasn't: the crowd
are those who have the same history to the last release.

Nobody changes the class: those who were together last stay together, or aren't shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.ledger.histories import Histories
from kanon_sql.points.points import Labels

NOBODY = (
    "No person can be released: fewer than k persons would share what can be linked. Lower k in a "
    "new ledger, or release nothing."
)


def stay_against_presence(histories: Histories, present: Labels, k: int) -> Labels:
    """How many persons of each history are shown: all that are present, or none.

    In a class, a person's crowd are those present whose history holds all steps of the person's.
    Who has a crowd below k is left out, and that may take somebody else's crowd below k, so it is
    done until nothing changes. Crowds only shrink by that, so the order doesn't matter: what is
    left is the largest set in which everyone has a crowd.

    Args:
        histories: of the ledger.
        present: int64, shape (h,); how many persons of each history are there now.
        k: the least crowd.
    """
    classes = histories.last_class
    kept = np.zeros(len(histories), np.int64)
    order = np.lexsort((np.arange(len(classes)), classes))
    order = order[present[order] > 0]
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    for members in np.split(order, starts[1:]):
        if len(members) == 1:
            alone = members[present[members] >= k]
            kept[alone] = present[alone]
            continue
        within = _within(histories, members)
        counts = present[members].copy()
        while True:
            small = (counts > 0) & (within @ counts < k)
            if not small.any():
                break
            counts[small] = 0
        kept[members] = counts
    return kept


def _within(histories: Histories, members: Labels) -> Labels:
    """Of some histories, whether the steps of each (rows) are all steps of each (columns): int64,
    0 or 1."""
    spots: dict[tuple[int, int], int] = {}
    for history in members.tolist():
        for step in histories.steps[history]:
            spots.setdefault(step, len(spots))
    has = np.zeros((len(members), len(spots)), np.int64)
    for i, history in enumerate(members.tolist()):
        has[i, [spots[step] for step in histories.steps[history]]] = 1
    lacking = has @ (1 - has).T
    return np.asarray(lacking == 0, dtype=np.int64)


def stay_against_absence(histories: Histories, present: Labels, k: int) -> Labels:
    """How many persons of each history are shown.

    Of those with one history some leave. The ones that do share a history from now on, and so do
    the ones that stay: each of the two must be nobody, or k and more. Where fewer than k leave,
    some of the others are left out beside them, as few as that takes; all, where fewer than k
    would stay.

    Args:
        histories, present, k: as above; the ledger itself keeps its promise, so each history has k
            persons or more.
    """
    leaving = histories.persons - present
    more = np.where((leaving > 0) & (leaving < k), k - leaving, 0)
    staying = present - more
    return np.where(staying >= k, staying, 0)


def choose(history: Labels, stay: Labels, drawn: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Who stays, where not all of a history do: bool, shape (n,); those drawn last.

    Args:
        history: int64, shape (n,); of each person present, none of them a newcomer.
        stay: int64, shape (h,); how many of each history stay.
        drawn: shape (n,); a lot for each person, all different within a history.
    """
    order = np.lexsort((drawn, history))
    ordered = history[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    chosen = np.zeros(len(history), np.bool_)
    chosen[order] = place < stay[ordered]
    return chosen


STAY = {"knows_presence": stay_against_presence, "knows_absence": stay_against_absence}
"""How many persons of each history are shown, by the attacker."""
