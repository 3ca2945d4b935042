"""Minimality: classes were merged because something was wrong with them.

The attacker knows everybody's quasi-identifiers and how the release was made: groups by the
quasi-identifiers alone, and then each group that isn't diverse merged with the one nearest to it
(Wong et al. 2007). He makes the groups again. Where a class holds a group whole, and the one
nearest to it besides, and no other such group, he says that this group was not diverse, or else
nobody would have merged it: he knows of five people that they have two values among them, where the
class shows ten people with many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.attacks.frame import QUASI, Attack, Connection, K, by_chance, classes_of

WAYS = 1_000
"""Ways to spread the values of a class over its rows, for what chance would give."""

SEED = 20260
Labels = NDArray[np.int64]
Points = NDArray[np.float64]


@dataclass(frozen=True)
class Claims:
    """That groups weren't diverse.

    Attributes:
        right: the share of the claims that are true.
        chance: the share that would be, if the values of each class were spread by chance.
        variance: that of ``chance``.
    """

    right: float
    chance: float
    variance: float


def attack(
    groups: Labels, points: Points, classes: Labels, values: Labels, least: int
) -> Claims:
    """Claims about all groups for which a class gives cause.

    Args:
        groups: the group of each person before the merging, made again by the attacker.
        points: the quasi-identifiers of each person.
        classes: the released class of each person, whom the attacker finds there.
        values: the sensitive values, to see whether he is right.
        least: how many values a class has at least.
    """
    random = np.random.default_rng(0)
    sizes, nearest = np.bincount(groups), nearest_group(groups, points)
    right, chances = [], []
    for number in np.unique(classes):
        rows = np.flatnonzero(classes == number)
        inside = groups[rows]
        causes = [
            g for g in np.unique(inside)
            if (inside == g).sum() == sizes[g] and (inside == nearest[g]).any()
        ]
        if len(causes) == 1:
            members = inside == causes[0]
            ways = random.permuted(np.tile(values[rows], (WAYS, 1)), axis=1)[:, members]
            chances.append(float((distinct(ways) < least).mean()))
            right.append(bool(distinct(values[rows][members][None, :])[0] < least))
    chance = np.array(chances)
    return Claims(float(np.mean(right)), float(chance.mean()),
                  float((chance * (1 - chance)).sum()) / len(chances) ** 2)


def distinct(ways: Labels) -> Labels:
    """How many different values each row of an array has."""
    return np.asarray((np.diff(np.sort(ways, axis=1), axis=1) != 0).sum(axis=1) + 1, np.int64)


def nearest_group(groups: Labels, points: Points) -> Labels:
    """For each group that with the nearest mean."""
    means = np.array([points[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    squares = (means**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * means @ means.T
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.argmin(axis=1), np.int64)


def merge_only(groups: Labels, points: Points, values: Labels, least: int) -> Labels:
    """The naive way: while a class has too few values, it is merged with the one nearest to it."""
    classes: Labels = groups.copy()
    numbers = np.unique(classes).tolist()
    means = {c: points[classes == c].mean(axis=0) for c in numbers}
    held = {c: set(values[classes == c].tolist()) for c in numbers}
    while poor := [c for c, found in held.items() if len(found) < least]:
        c = poor[0]
        others = [other for other in means if other != c]
        apart = ((np.array([means[other] for other in others]) - means[c]) ** 2).sum(axis=1)
        nearest = others[int(apart.argmin())]
        classes[classes == c] = nearest
        held[nearest] |= held.pop(c)
        means.pop(c)
        means[nearest] = points[classes == nearest].mean(axis=0)
    return classes


def points_of(people: pl.DataFrame, known: list[str]) -> Points:
    """Numbers standardized, categories as indicators."""
    columns = [people[name] for name in known]
    parts = [
        ((c - c.mean()) / c.std()).to_frame() if c.dtype.is_numeric() else c.to_dummies()
        for c in columns
    ]
    return np.hstack([part.to_numpy().astype(np.float64) for part in parts])


def figures(con: Connection, sensitive: str, least: int) -> tuple[Claims, Claims]:
    """The attack on the naive release and on ours, for a sensitive column."""
    known = [name for name in QUASI if name != sensitive]
    left = [name for name in ("salary-class",) if name != sensitive]
    call = (
        f"FROM anonymize('adult', k := {K}, identifiers := {left}::VARCHAR[], "
        f"sensitive := ['person', '{sensitive}']"
    )
    people = con.sql("FROM adult ORDER BY person").pl()
    points = points_of(people, known)
    values = people[sensitive].rank("dense").to_numpy().astype(np.int64)
    # without a model no sensitive value decides: an attacker's groups are those of the release
    alone = con.sql(f"{call})").pl().sort("person")
    groups = classes_of(alone, known).to_numpy().astype(np.int64) - 1
    released = con.sql(f"{call}, l := {{'{sensitive}': {least}}}, seed := {SEED})").pl()
    classes = classes_of(released.sort("person"), known).to_numpy().astype(np.int64)
    merged = merge_only(groups, points, values, least)
    return (
        attack(groups, points, merged, values, least),
        attack(groups, points, classes, values, least),
    )


def run(con: Connection) -> list[Attack]:
    many, ours_of_many = figures(con, "occupation", 3)
    two, ours_of_two = figures(con, "salary-class", 2)
    counts = "groups said to have lacked diversity that did"
    return [
        Attack("minimality, 14 values, l = 3", counts, many.right, ours_of_many.right,
               by_chance(ours_of_many.chance, ours_of_many.variance),
               "classes are searched for, with a secret seed, and few hold a group whole for the "
               "reason that the attacker supposes: his claims are right about as often as if the "
               "values of each class were spread over its rows by chance"),
        Attack("minimality, 2 values, l = 2", counts, two.right, ours_of_two.right, 1,
               "where half of all groups lack diversity, those that a search took apart are fewer "
               "than those it left whole: with a model, which rows are in a class says something "
               "of sensitive values, and a secret seed hides only what a rerun would show",
               promised=False),
    ]
