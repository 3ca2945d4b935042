"""Linkage: whose row is it?

The attacker knows the quasi-identifiers of people who are in the table, from a public register for
example, and wants the rows that are theirs. For each person he takes the released rows whose values
are nearest to that person's, and guesses one of them. The naive release is the table without names
(Sweeney 2002).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tests.attacks.frame import QUASI, Attack, Connection, Floats, K, classes_of


def attack(release: pl.DataFrame, known: pl.DataFrame) -> Floats:
    """The chance, for each person of ``known``, that the row guessed is that person's.

    Both frames have the quasi-identifiers, and ``person`` to count by.
    """
    combinations = release.group_by(*QUASI).agg(pl.col("person"))
    distance = np.zeros((known.height, combinations.height), np.float32)
    for name in QUASI:
        theirs, released = known[name], combinations[name]
        if theirs.dtype.is_numeric() and released.dtype.is_numeric():
            values = theirs.to_numpy().astype(np.float32)
            spread = float(np.ptp(values)) or 1.0
            distance += np.abs(
                values[:, None] - released.to_numpy().astype(np.float32)
            ) / np.float32(spread)
        else:
            codes = {value: code for code, value in enumerate(theirs.unique())}
            distance += (
                np.array([codes[value] for value in theirs])[:, None]
                != np.array([codes.get(value, -1) for value in released])
            )
    nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-5
    members = combinations["person"].list.len().to_numpy()
    place = {
        person: row for row, inside in enumerate(combinations["person"]) for person in inside
    }
    own = np.array([place.get(person, -1) for person in known["person"]])
    found = nearest[np.arange(known.height), own] & (own >= 0)
    return np.asarray(found / (nearest @ members), np.float64)


def naive(con: Connection) -> pl.DataFrame:
    """The table as it is, without the columns that name a person."""
    rows: pl.DataFrame = con.sql("FROM adult").pl()
    return rows


def ours(con: Connection) -> pl.DataFrame:
    """k-anonymous; ``person`` passes so that the figure can be counted."""
    rows: pl.DataFrame = con.sql(
        f"FROM anonymize('adult', k := {K}, sensitive := ['person', 'salary-class'])"
    ).pl()
    return rows


def surest(release: pl.DataFrame) -> float:
    """The chance of an attacker whom somebody tells the class of the person who is easiest to
    find."""
    sizes = pl.DataFrame({"class": classes_of(release)}).group_by("class").len()
    return 1.0 / float(min(sizes["len"].to_list()))


def run(con: Connection) -> list[Attack]:
    known = con.sql("FROM adult").pl()
    before, after = naive(con), ours(con)
    why = "the row is one of the k or more of its class, and nothing tells these apart"
    return [
        Attack("linkage", "persons whose row is guessed",
               float(attack(before, known).mean()), float(attack(after, known).mean()), 1 / K, why),
        Attack("linkage, the easiest person", "chance that the guess is right",
               surest(before), surest(after), 1 / K, why),
    ]
