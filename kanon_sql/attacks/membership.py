"""Membership: whether somebody is in the table at all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kanon_sql.attacks.cells import Floats, profiles_of
from kanon_sql.attacks.facts import Presence, Rate, Variant
from kanon_sql.attacks.kernels import NearestClasses, nearest
from kanon_sql.attacks.people import BOTH, AttackedRelease
from kanon_sql.attacks.rates import advantage_of, nearer


def membership(near: Mapping[str, NearestClasses]) -> Variant:
    """Of two people, one inside and one outside: how often the one inside is nearer to a class.

    Args:
        near: the classes nearest to the people by all quasi-identifiers, by table.
    """
    inside, outside = (near[table].distance for table in BOTH)
    rate = nearer(inside, outside)
    # who guesses is right in half of the pairs: that isn't measured, so it has no interval
    half = Rate(0.5, 0.5, 0.5)
    advantage = advantage_of(rate, half)
    return Variant(
        "the nearer of two people", len(inside), rate, len(outside), half, advantage, advantage
    )


def presence_of(release: AttackedRelease, people: Floats) -> Presence:
    """delta-presence: of the people who are nearest to a class, the share that is in it.

    Args:
        release: what is attacked.
        people: float64, shape (people, columns); all who may be in it, as AttackedColumn.known.
    """
    profiles = profiles_of(release.known)
    found = nearest(profiles, people, np.arange(len(profiles.columns)))
    ties = np.diff(found.start)
    near = np.bincount(
        found.profiles, np.repeat(1.0 / ties, ties), minlength=len(profiles.cells)
    )
    # the people of a class are among those of the population, wherever these are nearer to
    shares = profiles.rows / np.maximum(near, profiles.rows)
    return Presence(
        len(people), float(shares.min()), float(np.average(shares, weights=profiles.rows)),
        float(shares.max()),
    )
