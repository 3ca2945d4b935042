"""Differencing: a mean with somebody, and the mean without.

The attacker knows everybody's quasi-identifiers but one: the age of somebody who was in the table
last month and isn't now. The class is there in both releases: its mean times its size before, less
its mean times its size now, is that age, once the ages of those who came are taken off. The naive
second release keeps the classes of the first, and takes the means of who is left.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tests.attacks.frame import QUASI, Attack, Connection, K, by_chance, classes_of, quoted

PERSONS = 2_000
ROLES = (
    f"k := {K}, quasi_identifiers := {list(QUASI)}, sensitive := ['row'], "
    "representation := 'centroid'"
)
"""With exact means: rounded ones say less."""


def attack(
    first: pl.DataFrame, second: pl.DataFrame, gone: set[int], ages: Mapping[int, int]
) -> tuple[float, float, int]:
    """Guesses the ages of those who are gone and the only ones of their class to be so.

    Args:
        first, second: the releases: row, age, class.
        gone: who left, as the attacker knows.
        ages: of those who left to count by; of all others the attacker knows them.

    Returns:
        The share of the guesses that are right; the share of the ages that are the published mean
        of the first release to the year; how many guesses there are.
    """
    later = {row: (number, age) for row, number, age in second.select("row", "class", "age").rows()}
    inside = dict(second.group_by("class").agg("row").iter_rows())
    right, published, guesses = 0, 0, 0
    for rows, mean in first.group_by("class").agg("row", pl.col("age").first()).select(
        "row", "age"
    ).iter_rows():
        left = [row for row in rows if row in gone]
        there = [row for row in rows if row in later]
        if len(left) != 1 or not there:
            continue
        number, now = later[there[0]]
        came = sum(ages[row] for row in inside[number] if row not in rows)
        hidden = sum(ages[row] for row in rows if row not in later and row not in gone)
        guess = mean * len(rows) - (now * len(inside[number]) - came) - hidden
        guesses += 1
        right += abs(guess - ages[left[0]]) < 1e-6
        published += round(mean) == ages[left[0]]
    return right / guesses, published / guesses, guesses


def with_classes(release: pl.DataFrame) -> pl.DataFrame:
    """A release, with the number of the class of each row."""
    return release.with_columns(classes_of(release, QUASI))


def run(con: Connection) -> list[Attack]:
    everybody = (
        f"SELECT person, person AS row, {quoted(QUASI)} FROM adult WHERE person <= {PERSONS}"
    )
    stay = "hash(person, 'gone') % 20 > 0"
    con.execute(f"CREATE OR REPLACE TEMP TABLE month AS {everybody}")
    call = f"'month', {ROLES}, entity := 'person', headroom := 1"
    first = with_classes(con.sql(f"FROM anonymize({call})").pl())
    con.execute(f"CREATE OR REPLACE TABLE releases AS FROM anonymize_ledger({call})")
    ages = dict(con.execute("SELECT person, age FROM month").fetchall())
    gone = {p for (p,) in con.execute(f"SELECT person FROM month WHERE NOT {stay}").fetchall()}
    kept = first.filter(~pl.col("row").is_in(list(gone))).select("row", "class")
    true = pl.DataFrame({"row": list(ages), "age": list(ages.values())})
    naive = kept.join(true, on="row").with_columns(pl.col("age").mean().over("class"))
    con.execute(f"CREATE OR REPLACE TEMP TABLE month AS {everybody} AND {stay}")
    ours = with_classes(con.sql(f"FROM anonymize({call}, ledger := 'releases')").pl())
    known, by_mean, guesses = attack(first, ours, gone, ages)
    return [
        Attack("differencing of means", "deleted persons whose exact age is known",
               attack(first, naive, gone, ages)[0], known,
               by_chance(by_mean, by_mean * (1 - by_mean) / guesses),
               "what a class publishes is copied from the ledger: the second release says nothing "
               "of who left, and the first is all there is to guess by"),
    ]
