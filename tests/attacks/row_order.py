"""Row order: the first row of the release is the first of the table.

The attacker knows the quasi-identifiers and the order in which people stand in the table: it is
sorted by name, or by the day of admission. Within each class he takes the first row for the first
person. The naive release keeps the order.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import Attack, Connection, K, by_chance, classes_of


def attack(release: pl.DataFrame) -> float:
    """The share of rows for which the guess is right. The attacker reads the released values and
    the order of the rows; that ``person`` numbers the rows of the table is what he knows."""
    rows = release.select("person", classes_of(release))
    guessed = pl.col("person").sort().over("class")
    return float(rows.select((guessed == pl.col("person")).mean()).item())


def run(con: Connection) -> list[Attack]:
    call = f"anonymize('adult', k := {K}, sensitive := ['person', 'salary-class']"
    before = con.sql(f"FROM {call}, keep_order := true)").pl()
    after = con.sql(f"FROM {call})").pl()
    classes = classes_of(after).n_unique()
    # a random order of s rows has one row in its place on average, with the variance 1
    bound = by_chance(classes / after.height, classes / after.height**2)
    return [
        Attack("row order", "persons whose row is guessed", attack(before), attack(after), bound,
               "rows come in the order of a hash of what is released: a guess per class is right "
               "by chance, which is 1/k of the rows or less")
    ]
