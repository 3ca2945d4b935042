"""Attributes: what a person has, by the class that the person would be in.

The attacker knows a person's quasi-identifiers and guesses the occupation: the most frequent one
of the class that is nearest. Of people who are not in the table he is right as often as the table
lets anybody learn of everybody; what he is right more often of those who are in it, he has from
their own row. The naive release is the table itself.

No model bounds that difference. l and t bound what one class says, and a class says more of the
five who are in it than of who is like them. A larger k makes it smaller.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import KNOWN, Attack, Connection, K, nearest, strangers

SENSITIVE = "occupation"
LARGER = 10 * K
TRIED = {
    "": f"k := {K}",
    ", l = 2": f"k := {K}, l := 2, seed := 20260",
    ", t = 0.2": f"k := {K}, t := 0.2, seed := 20260",
    f", k = {LARGER}": f"k := {LARGER}",
}
"""What the attack is tried on."""


def right(persons: pl.DataFrame, release: pl.DataFrame) -> float:
    """The share of people whose occupation is that which most of the nearest class have."""
    classes = release.group_by(KNOWN, maintain_order=True).agg(
        pl.col(SENSITIVE).mode().sort().first()
    )
    found, _ = nearest(persons, classes, KNOWN)
    return float((classes[SENSITIVE].gather(found) == persons[SENSITIVE]).mean())  # type: ignore[arg-type]


def run(con: Connection) -> list[Attack]:
    persons, others = con.sql("FROM adult").pl(), strangers(con)
    if not others.height:  # everybody is in the table
        return []
    found = []
    for name, options in TRIED.items():
        release = con.sql(
            f"FROM anonymize('adult', identifiers := ['person', 'salary-class'], "
            f"sensitive := ['{SENSITIVE}'], {options})"
        ).pl()
        for who, asked in (("inside", persons), ("outside", others)):
            found.append(Attack(
                f"attributes, {who}{name}", f"persons {who} whose occupation is guessed",
                right(asked, persons), right(asked, release), 1,
                "a class tells more of its own rows than of people like them", promised=False,
            ))
    return found
