"""The embedding of quasi-identifiers, written out with one-hot vectors and exact fractions."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.tables import Kind, is_missing, known

METHODS = ("mdav", "mdav_plus", "v_mdav", "mdav_star")
REPRESENTATIONS = ("centroid", "median", "interval", "bounds")
EPOCH = dt.datetime(1970, 1, 1)
EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
MICROSECOND = dt.timedelta(microseconds=1)

Matrix = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Attribute:
    """One attribute, written out: a row of coordinates per record, one-hot for categories.

    Attributes:
        points: fractions, shape (n, coordinates), not yet scaled.
        centers: the released point of each record's class in the same coordinates.
        squares: what a squared difference along each coordinate counts.
        missing: where the value is NULL or NaN.
        weight: the total variance.
    """

    points: Matrix
    centers: Matrix
    squares: Matrix
    missing: npt.NDArray[np.bool_]
    weight: Fraction

    @staticmethod
    def of(kind: Kind, values: Sequence[Any], centers: Sequence[Any], weight: float) -> Attribute:
        """Embeds values, and with the same scale the released point of each."""
        gone = np.array([is_missing(value) for value in values])
        share = Fraction(int((~gone).sum()), len(values))
        heavy = Fraction(weight)
        if not kind.ordered:
            words = [None if is_missing(value) else value for value in values]
            categories = list(dict.fromkeys([*words, *centers]))
            shares = [Fraction(words.count(c), len(words)) for c in categories]
            variance = 1 - sum(p * p for p in shares)
            scale = heavy / variance if variance else Fraction(0)
            one_hot = [
                np.array([[Fraction(int(v == c)) for c in categories] for v in of], object)
                for of in (words, centers)
            ]
            return Attribute(*one_hot, np.array([scale] * len(categories), object), gone, heavy)
        places = [kind.place(value) for value in known(values)]
        mean = sum(places) / len(places) if places else Fraction(0)
        variance = sum((p - mean) ** 2 for p in places) / len(places) if places else Fraction(0)
        scale = heavy / variance if variance else Fraction(0)
        # NULL is the mean, and an indicator takes the rest of the variance
        rest = heavy * (1 - share) if variance else heavy
        indicator = rest / (share * (1 - share)) if 0 < share < 1 else Fraction(0)
        points, spots = (
            np.array(
                [
                    [Fraction(0), Fraction(1)] if is_missing(v) else [kind.place(v) - mean, 0]
                    for v in of
                ],
                object,
            )
            for of in (values, centers)
        )
        return Attribute(points, spots, np.array([scale, indicator], object), gone, heavy)


@dataclass(frozen=True)
class Losses:
    """What a grouping loses, in exact arithmetic until the last step."""

    sse: float
    sse_released: float
    sst: float
    radii: dict[int, float]
    sizes: dict[int, int]

    @property
    def max_radius(self) -> float:
        """The largest radius."""
        return max(self.radii.values())

    @property
    def cellular_cost(self) -> float:
        """Sum of size times radius."""
        return math.fsum(self.sizes[g] * self.radii[g] for g in self.sizes)

    @property
    def information_loss(self) -> float:
        """Percent of the total sum of squares."""
        return 100 * self.sse / self.sst if self.sst else 0.0


def _within(attribute: Attribute, members: Sequence[int]) -> Fraction:
    points = attribute.points[list(members)]
    mean = points.sum(axis=0) / Fraction(len(members))
    total: Fraction = (((points - mean) ** 2) * attribute.squares).sum()
    return total


def losses(attributes: Sequence[Attribute], labels: Sequence[Any]) -> Losses:
    """The losses of a grouping; ``labels`` has one label per record, whatever it is."""
    groups: dict[int, list[int]] = {}
    for i, label in enumerate(labels):
        groups.setdefault(label, []).append(i)
    sse = sst = charged = Fraction(0)
    gaps = np.zeros(len(labels), object)
    for attribute in attributes:
        sst += _within(attribute, range(len(labels)))
        gap = (((attribute.points - attribute.centers) ** 2) * attribute.squares).sum(axis=1)
        gaps = gaps + gap
        for members in groups.values():
            sse += _within(attribute, members)
            mixed = 0 < attribute.missing[members].sum() < len(members)
            charged += len(members) * attribute.weight if mixed else gap[members].sum()
    radii = {g: math.sqrt(max(gaps[members])) for g, members in groups.items()}
    sizes = {g: len(members) for g, members in groups.items()}
    return Losses(float(sse), float(charged), float(sst), radii, sizes)
