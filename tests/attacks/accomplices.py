"""Accomplices: all but one of a class tell their values.

Four people of a class of five put together what they know of themselves, and want the age of the
fifth. An exact mean times five less their own ages is that age. This succeeds against every exact
mean, ours too, and no more is promised. A mean that is rounded to the precision of its column, as
by default, leaves five ages. What helps further is to publish bins in place of means, or a k
greater than the number of people who might put their heads together, and one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import polars as pl

from tests.attacks.frame import Attack, Connection, K, by_chance, classes_of

ACCOMPLICES = K - 1
AGES = range(17, 91)
"""The ages that anybody in the table may have, which the attackers know."""

Ages = list[int]
Candidates = Callable[[object, Ages, int], Ages]
"""What is published of a class, the ages of the accomplices and the size of the class give the ages
that another person of the class may have."""

BINS = "hierarchies := {'age': {'kind': 'bins', 'width': 10}}"


def by_mean(published: object, told: Ages, size: int) -> Ages:
    """The others have the sum that is left; each is the ages that the sum allows with the others of
    them anywhere from the lowest to the highest age."""
    unknown = size - len(told)
    left = float(published) * size - sum(told)  # type: ignore[arg-type]
    low, high = (unknown - 1) * AGES[0], (unknown - 1) * AGES[-1]
    return [age for age in AGES if low - 1e-6 <= left - age <= high + 1e-6]


def by_rounded_mean(published: object, told: Ages, size: int) -> Ages:
    """The ages with which the mean would be rounded to this one. Python rounds halves to even, too.
    """
    if size > len(told) + 1:
        return list(AGES)
    return [age for age in AGES if round(Fraction(sum(told) + age, size)) == published]


def by_label(parents: Mapping[str, tuple[str, ...]]) -> Candidates:
    """The class is published by the lowest common ancestor: the ages below it with which it would
    be this one. ``parents`` has the labels from each age up."""

    def ancestor(ages: Ages) -> str:
        paths = [(str(age), *parents[str(age)]) for age in ages]
        return next(label for label in paths[0] if all(label in path for path in paths))

    def candidates(published: object, told: Ages, size: int) -> Ages:
        below = [age for age in AGES if published in (str(age), *parents[str(age)])]
        if size > len(told) + 1:
            return below
        return [age for age in below if ancestor([*told, age]) == published]

    return candidates


def smallest(release: pl.DataFrame) -> pl.DataFrame:
    """The classes with the fewest rows: who is in each, and the age that is published."""
    classes = (
        release.with_columns(classes_of(release)).group_by("class", maintain_order=True)
        .agg(pl.col("person").sort(), pl.col("age").first())
    )
    sizes = pl.col("person").list.len()
    return classes.filter(sizes == sizes.min())


def attack(release: pl.DataFrame, truth: Mapping[int, int], candidates: Candidates) -> float:
    """The share of the persons in the smallest classes whose age is known exactly to the first
    ``ACCOMPLICES`` others of their class."""
    known, persons = 0, 0
    for members, published in smallest(release).select("person", "age").iter_rows():
        for person in members:
            others = [other for other in members if other != person]
            told = [truth[other] for other in others[:ACCOMPLICES]]
            found = candidates(published, told, len(members))
            known += found == [truth[person]]
            persons += 1
    return known / persons


def labels(con: Connection) -> Candidates:
    """The candidates by the bins that anybody can make again."""
    con.execute("CREATE OR REPLACE TEMP TABLE ages AS SELECT unnest(range(17, 91)) AS age")
    rows = con.execute("FROM hierarchy('ages', 'age', kind := 'bins', width := 10)").fetchall()
    return by_label({row[0]: row[1:] for row in rows})


def run(con: Connection) -> list[Attack]:
    truth = dict(con.execute("SELECT person, age FROM adult").fetchall())
    call = "FROM anonymize('adult', sensitive := ['person', 'salary-class']"
    exactly = "representation := 'centroid'"
    means = con.sql(f"{call}, k := {K}, {exactly})").pl()
    rounded = con.sql(f"{call}, k := {K})").pl()
    binned = con.sql(f"{call}, k := {K}, {BINS})").pl()
    larger = con.sql(f"{call}, k := {2 * K}, {exactly})").pl()
    con.register("labelled", means.with_columns(classes_of(means)))
    before = con.sql(
        """
        SELECT m.* REPLACE (avg(a.age) OVER (PARTITION BY m.class) AS age)
        FROM labelled AS m JOIN adult AS a USING (person)
        """
    ).pl()
    con.unregister("labelled")
    naive = attack(before, truth, by_mean)
    counts = "persons whose age they know exactly"
    agreed = float((~smallest(binned)["age"].str.contains(r"\[|\*")).mean())  # type: ignore[arg-type]
    oldest = sum(age == AGES[-1] for age in truth.values()) / len(truth)
    extreme = sum(age in (AGES[0], AGES[-1]) for age in truth.values()) / len(truth)
    ends = float((~smallest(larger)["age"].is_between(AGES[0] + 1e-6, AGES[-1] - 1e-6)).mean())  # type: ignore[arg-type]
    return [
        Attack("k - 1 accomplices, an exact mean", counts, naive, attack(means, truth, by_mean), 1,
               "a mean of five less four of them is the fifth: who must reckon with accomplices "
               "publishes something else, or takes a larger k", promised=False),
        Attack("k - 1 accomplices, a mean", counts, naive,
               attack(rounded, truth, by_rounded_mean), by_chance(extreme, extreme / len(truth)),
               "a mean that is rounded to the year leaves five ages in a row: all but one of them "
               "are impossible only for persons of the lowest age that there is, or the highest"),
        Attack("k - 1 accomplices, bins of ten", counts, naive,
               attack(binned, truth, labels(con)),
               min(1.0, agreed + by_chance(oldest, oldest / len(truth))),
               "a bin says of the last person at most in which half of it, ten years or more: "
               "known are the ages that are published because a class agrees on them, and the "
               "highest that there is, which is alone in its half"),
        Attack(f"{ACCOMPLICES} accomplices, k = {2 * K}", counts, naive,
               attack(larger, truth, by_mean), ends,
               "the sum of several ages is known, and each of them only where all are the lowest "
               "or the highest that there are"),
    ]
