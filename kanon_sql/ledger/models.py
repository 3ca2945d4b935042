"""Privacy models over several releases: what holds of classes must hold of crowds, too.

Whoever links releases knows more of a person than the class: the crowd of those who can't be told
from the person (see shown.py). So every crowd keeps the models, and every class, which is the crowd
for who knows one release. Persons are left out until all do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kanon_sql.ledger.histories import NEWCOMER, Histories
from kanon_sql.points.points import Labels, Points
from kanon_sql.privacy import PrivacyModel


class Crowd(NamedTuple):
    """Some records that must keep the models together.

    Attributes:
        members: int64, shape (m,); the records.
        leave: int64, shape (l,); those of them who are left out if they don't.
    """

    members: Labels
    leave: Labels


def crowds_of(
    labels: Labels, history: Labels, histories: Histories, attacker: str
) -> Iterator[Crowd]:
    """All crowds of a release.

    Where a class doesn't keep the models, its newcomers leave it first. Where a crowd within it
    doesn't, those leave whose crowd it is.

    Args:
        labels: int64, shape (n,); the class of each record, -1 for one that isn't shown.
        history: int64, shape (n,); that of each, NEWCOMER of one without.
        histories: of the ledger.
        attacker: 'knows_presence' or 'knows_absence'.
    """
    shown = np.flatnonzero(labels >= 0)
    order = shown[np.lexsort((history[shown], labels[shown]))]
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    for members in np.split(order, ends):
        own = history[members]
        first = members[own == NEWCOMER]
        yield Crowd(members, first if 0 < len(first) < len(members) else members)
        numbers = np.unique(own)
        if attacker == "knows_absence":
            for number in numbers.tolist():
                yield Crowd(members[own == number], members[own == number])
            continue
        steps = {
            number: frozenset(histories.steps[number])
            for number in numbers.tolist() if number != NEWCOMER
        }
        for number, mine in steps.items():
            alike = [other for other, theirs in steps.items() if mine <= theirs]
            yield Crowd(members[np.isin(own, alike)], members[own == number])


def keep_models(
    points: Points, labels: Labels, history: Labels, histories: Histories, attacker: str, k: int,
    models: Sequence[PrivacyModel],
) -> Labels:
    """The labels without those who have to be left out so that every crowd keeps the models and has
    k persons: int64, shape (n,), -1 for them.

    What all who are shown have is the measure of some models, so it is done until nothing changes.

    Args:
        points: n records, with the codes of the columns that the models name.
        labels, history, histories, attacker: as above.
        k: the least crowd.
        models: at least one.
    """
    # here, since they load the compiler
    from kanon_sql.privacy.demands import demands_of
    from kanon_sql.privacy.kernels import violations_of_sets

    labels = labels.copy()
    while (labels >= 0).any():
        crowds = list(crowds_of(labels, history, histories, attacker))
        demands = demands_of(points, models, np.flatnonzero(labels >= 0))
        violations = violations_of_sets(demands, [crowd.members for crowd in crowds])
        small = np.array([len(crowd.members) < k for crowd in crowds])
        broken = np.flatnonzero((violations > 0.0) | small)
        if len(broken) == 0:
            break
        for number in broken.tolist():
            labels[crowds[number].leave] = -1
    return labels
