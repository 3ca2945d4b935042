"""NULL patterns: who left which fields empty?

The attacker knows of everybody which questions they didn't answer. The naive release groups rows by
what they have, generalizes that, and lets what is missing stay missing: who is the only one of a
class without an education and with an occupation is found by that.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import QUASI, Attack, Connection, K

MISSING = ("education", "workclass", "occupation")
"""Columns of which one value in ten is missing."""


def attack(release: pl.DataFrame) -> float:
    """The share of rows that fewer than k have in common: the values released, and which are
    missing."""
    sizes = release.group_by(*QUASI).len()
    return float(sizes.filter(pl.col("len") < K)["len"].sum()) / release.height


def run(con: Connection) -> list[Attack]:
    gaps = ", ".join(
        f'CASE WHEN hash(person, \'{name}\') % 10 > 0 THEN "{name}" END AS "{name}"'
        for name in MISSING
    )
    filled = ", ".join(f"coalesce(\"{name}\", 'Unknown') AS \"{name}\"" for name in MISSING)
    call = f"k := {K}, sensitive := ['person', 'salary-class']"
    con.execute(f"CREATE OR REPLACE TEMP VIEW gaps AS SELECT * REPLACE ({gaps}) FROM adult")
    con.execute(f"CREATE OR REPLACE TEMP VIEW filled AS SELECT * REPLACE ({filled}) FROM gaps")
    kept = ", ".join(
        f'CASE WHEN g."{name}" IS NOT NULL THEN f."{name}" END AS "{name}"' for name in MISSING
    )
    before = con.sql(
        f"SELECT f.* REPLACE ({kept}) FROM anonymize('filled', {call}) AS f JOIN gaps AS g "
        "USING (person)"
    ).pl()
    after = con.sql(f"FROM anonymize('gaps', {call})").pl()
    return [
        Attack("NULL patterns", "persons with an anonymity set below k", attack(before),
               attack(after), 0,
               "that a value is missing is a value: it is generalized with the others of its class")
    ]
