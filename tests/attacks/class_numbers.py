"""Class numbers: what is the number of a class made of?

The attacker knows that the table is sorted by something that isn't released, the day of admission
for example, and wants to know when the people of a class came. He takes the classes with low
numbers for the early ones. The naive release numbers classes as they first appear in the table.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import DEVIATIONS, Attack, Connection, K, quoted


def attack(release: pl.DataFrame, number: str) -> float:
    """How far the numbers of the classes give the order of their first rows in the table:
    Spearman's rank correlation, without its sign."""
    first = release.group_by(number).agg(pl.col("person").min())
    return abs(float(first.select(pl.corr(number, "person", method="spearman")).item()))


def run(con: Connection) -> list[Attack]:
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE numbered AS FROM anonymize('adult', k := {K}, "
        "sensitive := ['person', 'salary-class'], class_id := true)"
    )
    quasi = quoted(["sex", "age"])
    before = con.sql(
        f"""
        SELECT person, {quasi}, dense_rank() OVER (ORDER BY first) AS number
        FROM (SELECT *, min(person) OVER (PARTITION BY class_id) AS first FROM numbered)
        """
    ).pl()
    after = con.sql("FROM numbered").pl()
    classes = after["class_id"].n_unique()
    return [
        Attack("class numbers", "rank correlation with the order of the table",
               attack(before, "number"), attack(after, "class_id"),
               DEVIATIONS / (classes - 1) ** 0.5,
               "numbers are drawn by a seeded hash of what is released: their correlation with "
               "anything else is that of a random order")
    ]
