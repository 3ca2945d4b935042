"""Homogeneity: all people of a class have the same.

The attacker knows a person's quasi-identifiers, so the class, and wants the person's occupation. He
guesses the most frequent one of the class (Machanavajjhala et al. 2007, section 2). The naive
release is k-anonymous, and nothing else.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import KNOWN, Attack, Connection, K, classes_of

ALPHA = 0.5


def attack(release: pl.DataFrame, sensitive: str, above: float) -> float:
    """The share of rows whose sensitive value is guessed with a chance greater than ``above``."""
    rows = pl.DataFrame({"class": classes_of(release, KNOWN), "value": release[sensitive]})
    classes = rows.group_by("class").agg(
        pl.len().alias("rows"), pl.col("value").value_counts(sort=True).struct.field("count").max()
        .alias("most")
    )
    guessed = classes.filter(pl.col("most") > above * pl.col("rows"))
    return float(guessed["rows"].sum()) / release.height


def run(con: Connection) -> list[Attack]:
    call = (
        f"FROM anonymize('adult', k := {K}, identifiers := ['person', 'salary-class'], "
        "sensitive := ['occupation']"
    )
    before = con.sql(f"{call})").pl()
    diverse = con.sql(f"{call}, l := 3, seed := 20260)").pl()
    bounded = con.sql(f"{call}, alpha := {ALPHA}, seed := 20260)").pl()
    return [
        Attack("homogeneity, with l = 3", "persons whose occupation is certain",
               attack(before, "occupation", 1 - 1e-9), attack(diverse, "occupation", 1 - 1e-9), 0,
               "every class has 3 occupations or more"),
        Attack("homogeneity, with alpha = 0.5", "persons guessed with more than one half",
               attack(before, "occupation", ALPHA), attack(bounded, "occupation", ALPHA), 0,
               "no occupation has more than the share alpha of a class"),
    ]
