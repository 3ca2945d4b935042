"""All attacks on a release: each on people of it, and again on people outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_sql.attacks.cells import profiles_of
from kanon_sql.attacks.facts import Attack, Untried, Variant
from kanon_sql.attacks.inference import inference
from kanon_sql.attacks.kernels import nearest
from kanon_sql.attacks.linkability import linkability
from kanon_sql.attacks.membership import membership
from kanon_sql.attacks.people import BOTH, AttackedRelease, Outcome
from kanon_sql.attacks.rates import advantage_of, rate_of
from kanon_sql.attacks.singling_out import singling_out

ATTACKERS = {
    "singling_out": (
        "The attacker takes conditions from the release, such as age >= 41 and job = 'clerk', and "
        "hopes that exactly one person meets them."
    ),
    "linkability": (
        "The attacker has two files about the same people, each with other columns, and links two "
        "rows that are nearest to the same class."
    ),
    "inference": (
        "The attacker knows the other quasi-identifiers of a person, and guesses the value that is "
        "most frequent in the nearest class."
    ),
    "membership": (
        "The attacker knows a person in the release and a person outside, and guesses that the one "
        "who is nearer to a class is in it."
    ),
}


def attacked(
    release: AttackedRelease, guesses: int
) -> tuple[tuple[Attack, ...], tuple[Untried, ...]]:
    """All attacks on a release, and why some can't be made.

    Args:
        release: what is attacked.
        guesses: how many predicates each form of singling out has.
    """
    profiles = profiles_of(release.known)
    every = np.arange(len(release.known))
    near = {
        table: nearest(profiles, profiles.known(table)[release.people[table].drawn], every)
        for table in BOTH
    }
    attacks, refused = [], []
    singled = list(singling_out(release, guesses))
    if singled:
        attacks.append(_attack("singling_out", singled))
    else:
        refused.append(Untried("singling_out", "no condition describes exactly one class"))
    if len(release.known) > 1:
        attacks.append(_attack("linkability", list(linkability(release, profiles))))
    else:
        refused.append(Untried("linkability", "there is only one quasi-identifier"))
    if release.secrets or len(release.known) > 1:
        attacks.append(_attack("inference", list(inference(release, profiles, near))))
    else:
        refused.append(Untried("inference", "there is no sensitive column"))
    attacks.append(Attack(
        "membership", ATTACKERS["membership"], (membership(near),)
    ))
    return tuple(attacks), tuple(refused)


def _attack(name: str, outcomes: Sequence[Outcome]) -> Attack:
    return Attack(name, ATTACKERS[name], tuple(
        _variant(each, len(outcomes)) for each in outcomes
    ))


def _variant(outcome: Outcome, variants: int) -> Variant:
    inside = rate_of(outcome.successes, outcome.attacks)
    control = rate_of(outcome.successes_outside, outcome.attacks_outside)
    return Variant(
        outcome.label, outcome.attacks, inside, outcome.attacks_outside, control,
        advantage_of(inside, control),
        advantage_of(
            rate_of(outcome.successes, outcome.attacks, variants),
            rate_of(outcome.successes_outside, outcome.attacks_outside, variants),
        ),
    )
