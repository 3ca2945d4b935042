"""How many persons above k a new class gets, so that it survives when some of them leave.

A class is planned until its third release. Among the persons with whom somebody is in the smallest
class, k - 1 must stay so long, or the person is withheld. Each stays with one probability, whoever
else does, so those who leave before k - 1 stay are as many as the negative binomial distribution
says. Larger classes lose less.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log1p

import numpy as np

from kanon_sql.ledger.histories import Histories
from kanon_sql.points.points import Labels

AUTO = "auto"
"""The headroom that goes by the churn."""

RELEASES = 3
"""In how many releases a new class is planned to be, its first among them."""

TARGET = 0.02
"""The share of the persons of a new class that may be withheld by then, as is to be expected."""

ASSUMED = 0.02
"""The churn before the second release, when no ledger shows any."""


@dataclass(frozen=True)
class Headroom:
    """The room of new classes.

    Attributes:
        persons: how many above k they get.
        churn: the share of the persons that leaves from one release to the next; None where the
            headroom was given.
        withheld: the share of the persons in the smallest new class that is to be expected withheld
            in its third release; None where the headroom was given, or no headroom saves anybody.
    """

    persons: int
    churn: float | None = None
    withheld: float | None = None

    @property
    def facts(self) -> dict[str, float | None]:
        """What metrics tell of the choice, in persons and percent; nothing of a given headroom."""
        if self.churn is None:
            return {}
        withheld = None if self.withheld is None else 100.0 * self.withheld
        return {
            "headroom": self.persons, "churn": 100.0 * self.churn, "withheld_expected": withheld,
        }


def churn_of(histories: Histories, present: Labels) -> float:
    """The share of the persons of a ledger that left from one release to the next, over all of its
    releases and this one; ASSUMED without any.

    Args:
        histories: of the ledger.
        present: int64, shape (h,); how many persons of each history may be released now.
    """
    if not len(histories):
        return ASSUMED
    first = np.array([steps[0][0] for steps in histories.steps])
    last = np.array([steps[-1][0] for steps in histories.steps])
    left = histories.persons - present
    chances = present * (histories.last_release + 1 - first) + left * (last + 1 - first)
    return float(left.sum() / chances.sum())


def headroom_for(k: int, attacker: str, churn: float) -> Headroom:
    """The smallest headroom with which the share of the withheld is at most TARGET; at most k, so
    that no class has to be larger than two.

    With 'knows_absence' it is 0: beside each person who leaves, others are left out until k are
    absent, which no headroom up to k prevents.

    Args:
        k: the smallest class, 1 or more.
        attacker: 'knows_presence' or 'knows_absence'.
        churn: 0 to 1; the share that leaves from one release to the next.
    """
    if attacker != "knows_presence":
        return Headroom(0, churn)
    if k == 1:
        return Headroom(0, churn, 0.0)
    stay = (1.0 - churn) ** (RELEASES - 1)
    if stay == 0.0:
        return Headroom(k, churn, 1.0)
    gone, kept = 1.0 - stay, 0.0
    chance = (k - 1) * log(stay)  # that nobody leaves; as a logarithm, which is never too small
    for headroom in range(k + 1):
        kept += exp(chance)
        if 1.0 - kept <= TARGET or headroom == k:
            break
        chance += log(gone) + log1p((k - 2) / (headroom + 1))
    return Headroom(headroom, churn, max(0.0, 1.0 - kept))


def read_headroom(
    given: int | str, k: int, attacker: str, histories: Histories, present: Labels
) -> Headroom:
    """The room of new classes, as an option says: so many persons, or AUTO.

    Args:
        given: the option.
        k, attacker: as above.
        histories, present: as above.
    """
    if isinstance(given, int):
        return Headroom(given)
    return headroom_for(k, attacker, churn_of(histories, present))
