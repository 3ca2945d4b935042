"""Linkability: two files with other columns of the same people, put together by way of a release.

Source: Giomi et al. 2023, section 4.2, with one neighbour; of several that are nearest one is
drawn, and the chance counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon_sql.attacks.cells import Floats, Profiles
from kanon_sql.attacks.kernels import NearestClasses, nearest
from kanon_sql.attacks.people import BOTH, AttackedRelease, Outcome, outcome_of


def linkability(release: AttackedRelease, profiles: Profiles) -> Iterator[Outcome]:
    """Splits of the columns into two files."""
    count = len(profiles.columns)
    places = np.arange(count)
    splits = {
        "the first columns and the last": places < (count + 1) // 2,
        "every second column": places % 2 == 0,
    }
    if count == 2:
        splits = {"one column each": places == 0}
    for label, one in splits.items():
        totals = []
        for table in BOTH:
            people = profiles.known(table)[release.people[table].drawn]
            first = nearest(profiles, people, np.flatnonzero(one))
            second = nearest(profiles, people, np.flatnonzero(~one))
            totals.append(float(linked(first, second).sum()))
        yield outcome_of(release, label, totals)


def linked(first: NearestClasses, second: NearestClasses) -> Floats:
    """The chance that what is drawn of the nearest in one file is what is drawn in the other,
    float64, shape (people,)."""
    chances = np.zeros(len(first.distance))
    for i in range(len(chances)):
        one = first.profiles[first.start[i]:first.start[i + 1]]
        other = second.profiles[second.start[i]:second.start[i + 1]]
        both = np.intersect1d(one, other, assume_unique=True)
        chances[i] = len(both) / (len(one) * len(other))
    return chances
