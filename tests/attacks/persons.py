"""Persons with several rows: five rows of one person are a class.

The attacker knows what a person had to say at each visit, so the classes of all of the person's
rows. He looks for the people who have rows in all of these classes. The naive release takes each
row for a person. Where rows of a person are 'apart', that is promised for one row only: who knows
one finds k people or more in its class.
"""

from __future__ import annotations

import polars as pl

from tests.attacks.frame import Attack, Connection, K, classes_of

COLUMNS = ("sex", "age", "marital-status", "education", "occupation")
PERSONS = 900


def visits(con: Connection) -> None:
    """Makes the table visits, one to four rows per person of Adult, from one to another of which
    ages and occupations change; ``enrolled``, the second in which a person was entered, is the same
    in all, and nobody else's. ``visit`` numbers all rows, to count by."""
    con.execute(
        f"""
        CREATE TABLE IF NOT EXISTS visits AS
        SELECT row_number() OVER (ORDER BY person, v) AS visit, person, sex, "marital-status",
            education, age + CASE WHEN v > 0 THEN (hash(person, v) % 7)::INTEGER - 3 ELSE 0 END
                AS age,
            CASE WHEN v > 0 AND hash(person, v, 'job') % 3 = 0 THEN 'Other-service'
                ELSE occupation END AS occupation,
            TIMESTAMP '2020-01-01' + to_seconds(31 * (hash(person) % 1000000)::INTEGER + person)
                AS enrolled
        FROM adult, range(4) AS r(v)
        WHERE person <= {PERSONS} AND v < 1 + hash(person, 'visits') % 4
        """
    )


def attack(classes: pl.DataFrame, known: str) -> float:
    """The share of the persons of whom rows are known that are in a crowd below k: fewer than k
    persons have a row in each class where these rows are.

    Args:
        classes: person and class of each row, and the column ``known``.
        known: the column whose values part the rows: each gives a set of rows that are known
            together, of a single person.
    """
    told = classes.select(pl.col(known).alias("set"), "class").unique()
    wanted = told.group_by("set").agg(pl.len().alias("wanted"))
    fitting = (
        told.join(classes.select("person", "class").unique(), on="class")
        .group_by("set", "person").agg(pl.len().alias("found"))
        .join(wanted, on="set").filter(pl.col("found") == pl.col("wanted"))
        .group_by("set").agg(pl.len().alias("crowd"))
    )
    of = classes.select(pl.col(known).alias("set"), "person").unique().join(fitting, on="set")
    least = of.group_by("person").agg(pl.col("crowd").min())
    return float((least["crowd"] < K).mean())  # type: ignore[arg-type]


def released(con: Connection, options: str) -> pl.DataFrame:
    """The person and the class of each row of a release of visits, as attackers know them."""
    rows = con.sql(
        f"FROM anonymize('visits', k := {K}, {options}, sensitive := ['visit', 'enrolled'])"
    ).pl()
    people = con.sql("SELECT visit, person FROM visits").pl()
    found: pl.DataFrame = rows.with_columns(classes_of(rows, COLUMNS)).join(people, on="visit")
    return found


def run(con: Connection) -> list[Attack]:
    visits(con)
    naive = released(con, "identifiers := ['person']")
    together = released(con, "entity := 'person'")
    apart = released(con, "entity := 'person', entity_rows := 'apart'")
    counts = "persons with an anonymity set below k"
    return [
        Attack("persons, one row known", counts, attack(naive, "visit"), attack(apart, "visit"), 0,
               "no person has more than 1/k of the rows of a class, so there are k or more"),
        Attack("persons, all rows known", counts, attack(naive, "person"),
               attack(together, "person"), 0,
               "all rows of a person are in one class, and so are those of k - 1 others"),
        Attack("all rows known, kept apart", counts, attack(naive, "person"),
               attack(apart, "person"), 1,
               "each class has k persons, and all the classes of a person together have fewer in "
               "common: 'together' is for attackers who know more than one row", promised=False),
    ]
