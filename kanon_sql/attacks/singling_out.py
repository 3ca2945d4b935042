"""Singling out: predicates that are true of exactly one person.

Source: Giomi et al. 2023, section 4.1: conditions from a record of the release that describe it
alone there; a number is compared away from the median.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon_sql.attacks.cells import Places, Profiles, profiles_of
from kanon_sql.attacks.kernels import EQUAL, alone, once
from kanon_sql.attacks.people import BOTH, AttackedRelease, Outcome

COLUMNS = 3
"""Columns of a predicate; as in Giomi et al. 2023."""

TRIES = 20
"""Predicates that are tried for each that is wanted."""


def singling_out(release: AttackedRelease, guesses: int) -> Iterator[Outcome]:
    """Predicates of one column, of some, and of all that are known; those of one and of some take
    sensitive columns, too, as an attacker may."""
    every = profiles_of((*release.known, *release.secrets))
    count, known = len(every.columns), len(release.known)
    sizes = {1: "one column", min(COLUMNS, count): f"{min(COLUMNS, count)} columns"}
    for size, label in sizes.items():
        outcome = _predicates(release, every, size, label, guesses, known)
        if outcome is not None:
            yield outcome
    if known not in sizes:
        outcome = _predicates(
            release, profiles_of(release.known), known, "all quasi-identifiers", guesses, known
        )
        if outcome is not None:
            yield outcome


def _predicates(
    release: AttackedRelease, profiles: Profiles, size: int, label: str, guesses: int, known: int
) -> Outcome | None:
    """Predicates over so many columns that each describe exactly one combination of the release;
    None where there is none. The first ``known`` columns are quasi-identifiers."""
    draws = np.random.default_rng([release.seed, size, len(profiles.columns)])
    shape = (TRIES * guesses, len(profiles.columns))
    # rows are drawn, so that large classes are drawn as often as their people
    bounds = np.cumsum(profiles.rows)
    chosen = np.searchsorted(bounds, draws.integers(bounds[-1], size=shape[0]), side="right")
    ranks = draws.random(shape).argsort(axis=1).argsort(axis=1)
    sides = np.where(ranks < size, _sides(profiles, known)[chosen], 0)
    # the same predicate twice would be counted as two
    cells = np.where(sides == 0, -1, profiles.cells[chosen])
    _, first = np.unique(cells, axis=0, return_index=True)
    first.sort()
    at = np.repeat(chosen[:, None], shape[1], axis=1)[first]
    sides = sides[first]
    own = _describing(profiles, at, sides, guesses)
    if not len(own):
        return None
    found = [
        alone(
            profiles, at[own], sides[own],
            profiles.known(table)[release.people[table].whole],
            release.people[table].persons[release.people[table].whole],
        )
        for table in BOTH
    ]
    return Outcome(
        label, float(found[0].sum()), len(own), float(found[1].sum()), len(own)
    )


def _describing(profiles: Profiles, at: Places, sides: Places, guesses: int) -> Places:
    """The first predicates that each describe exactly one profile, as many as are wanted."""
    parts, count = [np.zeros(0, np.int64)], 0
    for i in range(0, len(at), guesses):
        part = i + np.flatnonzero(once(profiles, at[i:i + guesses], sides[i:i + guesses]))
        parts.append(part)
        count += len(part)
        if count >= guesses:
            break
    return np.concatenate(parts)[:guesses]


def _sides(profiles: Profiles, known: int) -> Places:
    """Which side of a single number a predicate takes: away from the median of the release, or
    the number itself where a column passes unchanged; 1 for all that isn't a single number."""
    sides = np.ones(profiles.cells.shape, np.int64)
    for a, column in enumerate(profiles.columns):
        if not column.cells.numeric:
            continue
        if a >= known:
            sides[:, a] = EQUAL
            continue
        middle = (profiles.low[:, a] + profiles.high[:, a]) / 2.0
        every = np.repeat(middle, profiles.rows)
        if np.isfinite(every).any():
            sides[:, a] = np.where(middle <= np.nanmedian(every), -1, 1)
    return sides
