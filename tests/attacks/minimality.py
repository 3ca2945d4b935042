"""Minimality: classes were merged because something was wrong with them.

The attacker knows everybody's quasi-identifiers and how the release was made: groups by the
quasi-identifiers alone, and then each group that isn't diverse merged with the one nearest to it
(Wong et al. 2007). He makes the groups again. Where a class holds a group whole, and the one
nearest to it besides, and no other such group, he says that this group was not diverse, or else
nobody would have merged it: he knows of five people that they have two values among them, where the
class shows ten people with many.

With a model of ours he is right less often, and yet more often than the class alone says. What the
class says is found by dealing its values out anew among its rows. The bound is in odds, and it is
measured: no law is known for a search. It isn't where the search begins that tells: from groups
that a secret seed shakes up first, and with an end that takes changes for the worse, too, the
figures are the same. A class of little loss is a good one but for what the model made necessary,
and whoever splits it well sees that.

What helps is to ask for no model and to take a larger k, for which every class is diverse by
itself: then which rows are in a class says nothing.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.attacks.frame import (
    QUASI,
    Attack,
    Connection,
    K,
    by_chance,
    by_odds,
    classes_of,
)

SEED = 20260
ODDS = 3.0
"""How many times the odds by the class alone those of a claim are at most: measured, on 3,000 rows
and on all 30,162 of Adult, where they are 1.8 and 2.4 times."""

DEALS = 40
LARGER = (2 * K, 4 * K, 8 * K, 16 * K)
Labels = NDArray[np.int64]
Points = NDArray[np.float64]


def claimed(groups: Labels, points: Points, classes: Labels) -> list[int]:
    """The groups of which he says that they lacked diversity.

    Args:
        groups: the group of each person before the merging, made again by the attacker.
        points: the quasi-identifiers of each person.
        classes: the released class of each person, whom the attacker finds there.
    """
    sizes, nearest = np.bincount(groups), nearest_group(groups, points)
    claims = []
    for number in np.unique(classes):
        inside = groups[classes == number]
        causes = [
            int(g) for g in np.unique(inside)
            if (inside == g).sum() == sizes[g] and (inside == nearest[g]).any()
        ]
        if len(causes) == 1:
            claims += causes
    return claims


def right(claims: list[int], groups: Labels, values: Labels, least: int) -> float:
    """The share of the claims that are right, or 0 if there is none: of groups with fewer than so
    many of the values."""
    poor = [np.unique(values[groups == group]).size < least for group in claims]
    return sum(poor) / max(1, len(poor))


def by_class(
    claims: list[int], groups: Labels, classes: Labels, values: Labels, least: int
) -> tuple[float, float]:
    """What the classes alone say of the claims: how many are right on average where the values of
    each class are dealt out anew among its rows, and the variance."""
    rng, order = np.random.default_rng(SEED), np.argsort(classes, kind="stable")
    shares = []
    for _ in range(DEALS):
        spread_ties = np.empty_like(values)
        spread_ties[order] = values[np.lexsort((rng.random(len(values)), classes))]
        shares.append(right(claims, groups, spread_ties, least))
    return float(np.mean(shares)), float(np.var(shares))


def attack(
    groups: Labels, points: Points, classes: Labels, values: Labels, least: int
) -> float:
    """The share of the claims that are right."""
    return right(claimed(groups, points, classes), groups, values, least)


def bound(groups: Labels, points: Points, classes: Labels, values: Labels, least: int) -> float:
    """What that share may be."""
    claims = claimed(groups, points, classes)
    return by_odds(by_chance(*by_class(claims, groups, classes, values, least)), ODDS)


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


def labels(con: Connection, table: str, sensitive: str, options: str) -> Labels:
    """The class of each person in a release, by what is released."""
    known = [name for name in QUASI if name != sensitive]
    left = [name for name in ("salary-class",) if name != sensitive]
    rows: pl.DataFrame = con.sql(
        f"FROM anonymize('{table}', identifiers := {left}::VARCHAR[], "
        f"sensitive := ['person', '{sensitive}'], {options})"
    ).pl()
    return classes_of(rows.sort("person"), known).to_numpy().astype(np.int64) - 1


def run(con: Connection) -> list[Attack]:
    people = con.sql("FROM adult ORDER BY person").pl()
    counts = "groups correctly said to lack diversity"
    found = []
    for sensitive, least in (("occupation", 3), ("salary-class", 2)):
        points = points_of(people, [name for name in QUASI if name != sensitive])
        values = people[sensitive].rank("dense").to_numpy().astype(np.int64)
        # what an attacker puts into the sensitive column is without effect: he makes it up
        con.register("imagined", people.with_columns(pl.lit("any").alias(sensitive)))
        groups = labels(con, "imagined", sensitive, f"k := {K}")
        merged = merge_only(groups, points, values, least)
        classes = labels(
            con, "adult", sensitive, f"k := {K}, l := {{'{sensitive}': {least}}}, seed := {SEED}"
        )
        naive = attack(groups, points, merged, values, least)
        found.append(
            Attack(f"minimality, {sensitive}, l = {least}", counts, naive,
                   attack(groups, points, classes, values, least),
                   bound(groups, points, classes, values, least),
                   "measured: with a model, which rows are in a class depends on sensitive values; "
                   "the secret seed keeps an attacker from a rerun, and not from seeing which "
                   "groups stayed whole", proven=False)
        )
        if sensitive == "occupation":
            for k in LARGER:
                classes = labels(con, "adult", sensitive, f"k := {k}")
                if min(np.unique(values[classes == c]).size for c in np.unique(classes)) >= least:
                    break
            groups = labels(con, "imagined", sensitive, f"k := {k}")
            found.append(
                Attack(f"minimality, no model, k = {k}", counts, naive,
                       attack(groups, points, classes, values, least), 0,
                       "without a model no sensitive value decides who is in a class: it is what "
                       "anybody makes who knows the quasi-identifiers")
            )
        con.unregister("imagined")
    return found
