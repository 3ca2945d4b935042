"""Predicates: a sentence that is true of one person only.

The attacker knows nobody and wants to write down something that is true of exactly one row of the
table, of which nobody would expect a single one (Cohen and Nissim 2020, "Towards formalizing the
GDPR's notion of singling out"). He takes what a class says of its rows, ages from 31 to 38 and so
on, and adds a condition that one row in as many meets as the class has: that a hash of the row
leaves no rest when divided by that number. With a chance of (1 - 1/s) to the power of s - 1, 41 %
for s = 5 and never below 1/e = 37 %, it is true of one row of s. No k changes that, and no model.
"""

from __future__ import annotations

from tests.attacks.frame import Attack, Connection, K

SENTENCES = 400
COLUMNS = ("sex", "age", "race", "education")


def attack(con: Connection, release: str) -> float:
    """The share of the sentences, one for each of the first classes, that are true of one row of
    adult.

    Args:
        con: the connection.
        release: a relation with the bounds of the ages and the lists of the other values of each
            class, and its ``size``.
    """
    others = " AND ".join(f'list_contains(r."{n}", a."{n}")' for n in COLUMNS if n != "age")
    ((share,),) = con.execute(
        f"""
        WITH sentence AS (
            SELECT r, count(*) FILTER (
                a.age BETWEEN r.age.min AND r.age.max AND {others}
                AND hash(a.age, a.sex, a.race, a.education, a.occupation, a.workclass,
                    a."marital-status", a."native-country", a."salary-class", r) % r.size = 0
            ) AS met
            FROM (FROM {release} ORDER BY ALL LIMIT {SENTENCES}) AS r, adult AS a
            GROUP BY r
        )
        SELECT avg((met = 1)::INTEGER) FROM sentence
        """
    ).fetchall()
    return float(share)


def run(con: Connection) -> list[Attack]:
    columns = ", ".join(COLUMNS)
    con.execute(
        f"""
        CREATE OR REPLACE TEMP VIEW rows_themselves AS
        SELECT {{min: age, max: age}} AS age, [sex] AS sex, [race] AS race,
            [education] AS education, count(*) AS size
        FROM adult GROUP BY ALL;
        CREATE OR REPLACE TEMP TABLE boxes AS
        SELECT {columns}, count(*) AS size
        FROM anonymize('adult', k := {K}, quasi_identifiers := {list(COLUMNS)}, others := 'drop',
            method := 'mondrian', representation := 'bounds')
        GROUP BY ALL
        """
    )
    return [
        Attack("predicates", "predicates that are true of one row",
               attack(con, "rows_themselves"), attack(con, "boxes"), 1,
               "a sentence may be true of one row by chance, whatever is known of it",
               promised=False),
    ]
