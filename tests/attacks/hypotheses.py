"""Rerunning hypotheses: which table would have given this release?

The attacker knows the quasi-identifiers of everybody and all sensitive values but two: of two
people of a class he knows that one has this value and the other that, and not who has which. He
makes the release both ways and sees which one gives the classes that he has. In the naive case he
knows the seed. Else he tries seeds of his own, and takes the way whose classes are more like those
released.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.attacks.frame import Attack, Connection, by_chance, classes_of

KNOWN = ("age", "sex", "race", "education")
ROWS, PAIRS = 80, 12
SECRET = 815

Together = NDArray[np.bool_]


def release(con: Connection, people: pl.DataFrame, seed: int) -> Together:
    """Who is with whom in a class, for every two persons (an attacker finds persons by their
    quasi-identifiers)."""
    con.register("hypothesis", people)
    rows = con.sql(
        f"FROM anonymize('hypothesis', k := 3, quasi_identifiers := {list(KNOWN)}, "
        f"sensitive := ['person', 'salary-class'], l := {{'salary-class': 2}}, "
        f"effort := 'fast', seed := {seed})"
    ).pl().sort("person")
    con.unregister("hypothesis")
    classes = classes_of(rows, KNOWN).to_numpy()
    return np.asarray(classes[:, None] == classes[None, :])


def exchanged(people: pl.DataFrame, pair: Sequence[int]) -> pl.DataFrame:
    """The people with the sensitive values of two of them exchanged."""
    values = people["salary-class"].to_list()
    values[pair[0]], values[pair[1]] = values[pair[1]], values[pair[0]]
    return people.with_columns(pl.Series("salary-class", values))


def attack(
    con: Connection, people: pl.DataFrame, found: Together, pairs: Sequence[Sequence[int]],
    seeds: Sequence[int],
) -> float:
    """The share of pairs for which the attacker says rightly who has which value; half of those of
    whom he can't tell. For each pair he has one seed to try both ways with."""
    as_it_is = {seed: int((release(con, people, seed) == found).sum()) for seed in set(seeds)}
    right = 0.0
    for pair, seed in zip(pairs, seeds, strict=True):
        otherwise = int((release(con, exchanged(people, pair), seed) == found).sum())
        right += 1.0 if as_it_is[seed] > otherwise else 0.5 if as_it_is[seed] == otherwise else 0.0
    return right / len(pairs)


def run(con: Connection) -> list[Attack]:
    people = con.sql(
        f'SELECT person, {", ".join(KNOWN)}, "salary-class" FROM adult ORDER BY person LIMIT {ROWS}'
    ).pl()
    found = release(con, people, SECRET)
    values = people["salary-class"].to_numpy()
    pairs = np.argwhere(np.triu(found & (values[:, None] != values[None, :])))
    chosen = pairs[np.linspace(0, len(pairs) - 1, PAIRS).astype(int)].tolist()
    return [
        Attack("rerunning hypotheses", "pairs whose values are assigned correctly",
               attack(con, people, found, chosen, [SECRET] * PAIRS),
               attack(con, people, found, chosen, range(PAIRS)),
               by_chance(0.5, 0.25 / PAIRS),
               "with another seed the search goes other ways, whatever the values: one guess in "
               "two is right")
    ]
