"""Skewness: a class has both values, and one of them far too often.

The attacker knows how the sensitive values are distributed over all rows, and a person's class.
What he learns is the distance between the two (Li et al. 2007, section 2: a positive and a negative
test in a class are diverse, and yet say much of a disease that one person in a hundred has). The
naive release is k-anonymous and l-diverse.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import QUASI, Attack, Connection, K, classes_of

T = 0.3


def attack(release: pl.DataFrame, sensitive: str) -> float:
    """The largest total variation distance between the values of a class and those of all rows."""
    rows = pl.DataFrame({"class": classes_of(release, QUASI), "value": release[sensitive]})
    everybody = rows.group_by("value").agg((pl.len() / rows.height).alias("all"))
    sizes = rows.group_by("class").agg(pl.len().alias("size"))
    counts = rows.group_by("class", "value").len("n")
    full = (
        sizes.join(everybody, how="cross").join(counts, on=["class", "value"], how="left")
        .with_columns(pl.col("n").fill_null(0))
    )
    distances = full.group_by("class").agg(
        ((pl.col("n") / pl.col("size") - pl.col("all")).abs().sum() / 2).alias("distance")
    )
    return float(distances["distance"].max())  # type: ignore[arg-type]


def run(con: Connection) -> list[Attack]:
    call = (
        f"FROM anonymize('adult', k := {K}, identifiers := ['person'], "
        "sensitive := ['salary-class'], seed := 20260"
    )
    before = con.sql(f"{call}, l := 2)").pl()
    after = con.sql(f"{call}, t := {T})").pl()
    return [
        Attack("skewness, with t = 0.3", "largest gain over the whole table",
               attack(before, "salary-class"), attack(after, "salary-class"), T,
               "no class is further than t from the distribution over all rows")
    ]
