"""Suppressed rows: the odd ones out.

The attacker knows the quasi-identifiers of somebody whose row is like hardly any other, and that
the rare values of such rows were hidden. The naive release puts '*' in their place and lets the
rest of the row stand, with its sensitive value: among the rows with a '*' he looks for those whose
other values fit.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import Attack, Connection, K, quoted

COLUMNS = ("sex", "age", "marital-status", "race", "native-country")
HIDDEN = ("race", "native-country")
"""What the naive release hides in the rows that are rare."""


def attack(release: pl.DataFrame, persons: pl.Series) -> float:
    """The share of some persons of whom fewer than k released rows can be the row."""
    rows = release.with_columns(pl.len().over(*COLUMNS).alias("crowd"))
    found = rows.filter(pl.col("person").is_in(persons.implode()) & (pl.col("crowd") < K))
    return found.height / len(persons)


def run(con: Connection) -> list[Attack]:
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE decades AS
        SELECT person, "salary-class", {quoted(COLUMNS)}
        FROM (SELECT * REPLACE ((age // 10 * 10)::VARCHAR AS age) FROM adult)
        """
    )
    rare = f"count(*) OVER (PARTITION BY {quoted(COLUMNS)}) < {K}"
    hidden = ", ".join(f"CASE WHEN {rare} THEN '*' ELSE \"{n}\" END AS \"{n}\"" for n in HIDDEN)
    before = con.sql(f"SELECT * REPLACE ({hidden}) FROM decades").pl()
    after = con.sql(
        f"FROM anonymize('decades', k := {K}, sensitive := ['person', 'salary-class'], "
        "suppress := 0.05)"
    ).pl()
    persons = con.sql(f"SELECT person FROM decades QUALIFY {rare}").pl()["person"]
    return [
        Attack("suppressed rows", "rare persons with an anonymity set below k",
               attack(before, persons), attack(after, persons), 0,
               "a row that is left out is left out whole, and all that are not have a crowd of k")
    ]
