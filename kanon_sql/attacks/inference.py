"""Inference: a value of a person, guessed from what the release shows of the nearest class.

Source: Giomi et al. 2023, section 4.3; our attacker guesses the most frequent value of the nearest
classes, which is right at least as often as the value of one row there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kanon_sql.attacks.cells import AttackedColumn, Floats, Places, Profiles
from kanon_sql.attacks.kernels import NearestClasses, nearest
from kanon_sql.attacks.people import BOTH, AttackedRelease, Outcome, outcome_of

TOLERANCE = 0.05
"""A number is guessed where it differs from the guess by no more than this share of it."""

TIME_TOLERANCE = 0.01
"""A date or time, which has no zero, where it differs by no more than this share of the range of
its column."""

def inference(
    release: AttackedRelease, profiles: Profiles, near: Mapping[str, NearestClasses] | None = None,
    likeliest: bool = True,
) -> Iterator[Outcome]:
    """Guesses of the sensitive columns from all quasi-identifiers; without a sensitive column, of
    each quasi-identifier from the others.

    Args:
        release: what is attacked.
        profiles: of its quasi-identifiers.
        near: the classes nearest to the people by all of these, by table, if they are known.
        likeliest: as in SecretValues.guessed.
    """
    places = np.arange(len(profiles.columns))
    if release.secrets:
        targets = [(secret, places) for secret in release.secrets]
    else:
        targets = [(column, places[places != a]) for a, column in enumerate(profiles.columns)]
    for secret, columns in targets:
        held = SecretValues(profiles, secret, secret.name in release.times)
        totals = []
        for table in BOTH:
            drawn = release.people[table].drawn
            found = (
                near[table] if near is not None and len(columns) == len(places)
                else nearest(profiles, profiles.known(table)[drawn], columns)
            )
            truth = secret.known[table][drawn]
            totals.append(float(held.guessed(found, truth, likeliest).sum()))
        yield outcome_of(release, secret.name, totals)


class SecretValues:
    """What the classes of a release say of a column that an attacker guesses."""

    def __init__(self, profiles: Profiles, secret: AttackedColumn, times: bool) -> None:
        pairs, rows = np.unique(
            np.column_stack([profiles.of_row, secret.shown]), axis=0, return_counts=True
        )
        self._cells, self._rows = pairs[:, 1], rows.astype(np.float64)
        self._start = np.searchsorted(pairs[:, 0], np.arange(len(profiles.cells) + 1))
        self._secret, self._times = secret, times

    def guessed(self, found: NearestClasses, truth: Floats, likeliest: bool = True) -> Floats:
        """The chance that the guess is right, float64, shape (people,).

        Args:
            found: the classes nearest to each person.
            truth: float64, shape (people,); the values of the people, as AttackedColumn.known.
            likeliest: whether the guess is the most frequent value of these classes (of numbers the
                median), or that of a row drawn from them.
        """
        chances = np.zeros(len(truth))
        for i in range(len(truth)):
            classes = found.profiles[found.start[i]:found.start[i + 1]]
            spots = np.concatenate([
                np.arange(self._start[c], self._start[c + 1]) for c in classes
            ])
            cells, rows = self._cells[spots], self._rows[spots]
            of_numbers = self._secret.cells.numeric
            guess = self._number if of_numbers else self._text
            chances[i] = guess(cells, rows, truth[i], likeliest)
        return chances

    def _number(self, cells: Places, rows: Floats, truth: float, likeliest: bool) -> float:
        known = self._secret.cells
        middle = (known.low[cells] + known.high[cells]) / 2.0
        if likeliest:
            missing = np.isnan(middle)
            if rows[missing].sum() > rows[~missing].sum():
                return float(np.isnan(truth))
            middle, rows = middle[~missing], rows[~missing]
            order = np.argsort(middle, kind="stable")
            half = np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2.0)
            middle, rows = middle[order[half:half + 1]], np.ones(1)
        if np.isnan(truth):
            return float(rows[np.isnan(middle)].sum() / rows.sum())
        near = TIME_TOLERANCE if self._times else TOLERANCE * np.abs(middle)
        return float(rows[np.abs(middle - truth) <= near].sum() / rows.sum())

    def _text(self, cells: Places, rows: Floats, truth: float, likeliest: bool) -> float:
        known = self._secret.cells
        sizes = known.start[cells + 1] - known.start[cells]
        values = np.concatenate([known.members[known.start[c]:known.start[c + 1]] for c in cells])
        weights = np.repeat(rows / sizes, sizes)
        each, of = np.unique(values, return_inverse=True)
        shares = np.bincount(of.reshape(-1), weights)
        at = np.searchsorted(each, int(truth))
        right = at < len(each) and each[at] == int(truth)
        if not likeliest:
            return float(shares[at] / rows.sum()) if right else 0.0
        best = shares >= shares.max() * (1.0 - 1e-9)
        return float(best[at]) / float(best.sum()) if right else 0.0
