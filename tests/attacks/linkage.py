"""Linkage: whose row is it?

The attacker knows the quasi-identifiers of people who are in the table, from a public register for
example, and wants the rows that are theirs. For each person he takes the released rows whose values
are nearest to that person's, and guesses one of them. The naive release is the table without names
(Sweeney 2002).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.attacks.frame import QUASI, Attack, Connection, Floats, K, classes_of

Narrow = NDArray[np.float32]
AT_ONCE = 1_000
"""Persons whose distances are worked out at once."""


def attack(release: pl.DataFrame, known: pl.DataFrame) -> Floats:
    """The chance, for each person of ``known``, that the row guessed is that person's.

    Both frames have the quasi-identifiers, and ``person`` to count by.
    """
    combinations = release.group_by(*QUASI).agg(pl.col("person"))
    members = combinations["person"].list.len().to_numpy()
    place = {
        person: row for row, inside in enumerate(combinations["person"]) for person in inside
    }
    own = np.array([place.get(person, -1) for person in known["person"]])
    columns = [comparable(known[name], combinations[name]) for name in QUASI]
    found = np.zeros(known.height)
    for start in range(0, known.height, AT_ONCE):
        some = slice(start, min(start + AT_ONCE, known.height))
        distance = sum(
            np.minimum(np.abs(theirs[some, None] - released), farthest)
            for theirs, released, farthest in columns
        )
        nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-5
        theirs = nearest[np.arange(nearest.shape[0]), own[some]] & (own[some] >= 0)
        found[some] = theirs / (nearest @ members)
    return found


def comparable(known: pl.Series, released: pl.Series) -> tuple[Narrow, Narrow, np.float32]:
    """A column of two frames as numbers whose difference is their distance, up to the one given:
    numbers over their range, and codes for which it is 1."""
    if known.dtype.is_numeric() and released.dtype.is_numeric():
        values = known.to_numpy().astype(np.float32)
        spread = np.float32(np.ptp(values) or 1.0)
        return values / spread, released.to_numpy().astype(np.float32) / spread, np.float32(np.inf)
    codes = {value: code for code, value in enumerate(known.unique())}
    return (
        np.array([codes[value] for value in known], np.float32),
        np.array([codes.get(value, -1) for value in released], np.float32), np.float32(1),
    )


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
