"""Who is attacked: people of the release, people outside, and whose row each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kanon_sql.attacks.cells import AttackedColumn, Places

INSIDE, OUTSIDE, POPULATION = "inside", "outside", "population"
"""The tables of an attacker: people of the release, people outside, and all who may be in it."""

BOTH = (INSIDE, OUTSIDE)


@dataclass(frozen=True)
class People:
    """The people of a table.

    Attributes:
        persons: int64, shape (rows,); whose each row is.
        whole: int64; the rows that singling out looks at: of as many people inside as outside, so
            that a predicate is as likely to be true of one.
        drawn: int64; the rows of the people who are attacked, one row of each.
    """

    persons: Places
    whole: Places
    drawn: Places


def people_of(persons: Mapping[str, pa.Array], attacks: int) -> dict[str, People]:
    """The people of tables whose rows stand in an order that was drawn.

    Args:
        persons: by table, whose each row is.
        attacks: how many of them are attacked at most.
    """
    codes, firsts = {}, {}
    for table, column in persons.items():
        coded = column.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        codes[table] = coded.astype(np.int64)
        # the first row of each person, in the order of the rows
        firsts[table] = np.sort(np.unique(coded, return_index=True)[1])
    least = min(map(len, firsts.values()))
    return {
        table: People(
            code, np.flatnonzero(np.isin(code, code[firsts[table][:least]])),
            firsts[table][:attacks],
        )
        for table, code in codes.items()
    }


@dataclass(frozen=True)
class AttackedRelease:
    """A release, and the tables of an attacker.

    Attributes:
        known: the columns by which people are looked for: those that say which rows look alike.
        secrets: the columns that are guessed: the sensitive ones.
        people: by table, INSIDE and OUTSIDE.
        times: the names of columns that hold dates or times.
        seed: of what is drawn.
    """

    known: tuple[AttackedColumn, ...]
    secrets: tuple[AttackedColumn, ...]
    people: Mapping[str, People]
    times: frozenset[str] = frozenset()
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a form of an attack achieved.

    Attributes:
        label: the form.
        successes, attacks: right guesses and all guesses, about people inside.
        successes_outside, attacks_outside: the same about people outside.
    """

    label: str
    successes: float
    attacks: int
    successes_outside: float
    attacks_outside: int


def outcome_of(
    release: AttackedRelease, label: str, successes: Sequence[float]
) -> Outcome:
    """What was achieved about the people who were drawn, inside and outside."""
    inside, outside = (len(release.people[table].drawn) for table in BOTH)
    return Outcome(label, successes[0], inside, successes[1], outside)
