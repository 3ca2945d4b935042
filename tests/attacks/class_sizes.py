"""Class sizes: the one that was left over.

The attacker counts rows. The naive release sorts people by age and cuts them into groups of k: the
number of people is seldom a multiple of k, and those of the last group are fewer.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import Attack, Connection, K, classes_of

COLUMNS = ("age", "sex")
LEFT_OVER = 2
"""How many people are in the last group of the naive release."""


def attack(release: pl.DataFrame) -> float:
    """The chance that a row of the smallest class is guessed."""
    sizes = release.select(classes_of(release, COLUMNS)).group_by("class").len()
    return 1.0 / float(min(sizes["len"].to_list()))


def run(con: Connection) -> list[Attack]:
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE cut AS SELECT person, age, sex FROM adult ORDER BY person
        LIMIT (SELECT count(*) // {K} * {K} - {K - LEFT_OVER} FROM adult)
        """
    )
    before = con.sql(
        f"""
        SELECT avg(age) OVER (PARTITION BY number) AS age, number AS sex
        FROM (SELECT *, (row_number() OVER (ORDER BY age, person) - 1) // {K} AS number FROM cut)
        """
    ).pl()
    after = con.sql(f"FROM anonymize('cut', k := {K}, sensitive := ['person'])").pl()
    return [
        Attack("class sizes", "chance to guess a row of the smallest class",
               attack(before), attack(after), 1 / K,
               "the rows that are left over join a class: none has fewer than k")
    ]
