"""Downcoding: the release was generalized no further than it had to be.

The attacker reads that on purpose (Cohen 2022, "Attacks on deidentification's defenses"). If a
class is published as '[31, 38]', somebody in it is 31, and somebody 38: else a narrower interval
would have done. If a class is published by the lowest common ancestor of its values, not all of
them are below one child of it. He names such values; the naive release has intervals, or ancestors
class by class.

Bins with fixed ends name no value, and with global recoding the level of a column says nothing of
one class.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tests.attacks.frame import Attack, Connection, K, by_chance, classes_of

BINS = "hierarchies := {'age': {'kind': 'bins', 'width': 5}}"
COLUMNS = ("sex", "age", "race", "marital-status")


def classes(release: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """Per class what is published of the ages, and the ages."""
    return (
        release.with_columns(classes_of(release, COLUMNS)).select("class", "person", "age")
        .join(truth.select("person", pl.col("age").alias("true")), on="person")
        .group_by("class", maintain_order=True)
        .agg(pl.col("age").first(), pl.col("true"))
    )


def named_ends(release: pl.DataFrame, truth: pl.DataFrame) -> tuple[float, float, float]:
    """Of the classes with a range, the share in which somebody has the lower end of it as age; and
    the share that chance gives, with its variance: if the ages of a class were drawn from those of
    the whole table that lie in the range."""
    ages = truth["age"]
    right, chances = [], []
    for published, own in classes(release, truth).select("age", "true").iter_rows():
        low, _, high = str(published).strip("[])").partition(", ")
        if high:
            inside = ages.filter((ages >= int(low)) & (ages <= int(high) - published.endswith(")")))
            right.append(int(low) in own)
            share = float((inside == int(low)).mean() or 0.0)
            chances.append(1 - (1 - share) ** len(own))
    return _shares(right, chances)


def halved(
    release: pl.DataFrame, truth: pl.DataFrame, parents: Mapping[int, tuple[str, ...]]
) -> tuple[float, float, float]:
    """Of the classes published by a bin of bins, the share whose ages are not all in one of these;
    and the share by chance, as above."""
    ages = truth["age"]
    right, chances = [], []
    for published, own in classes(release, truth).select("age", "true").iter_rows():
        child = {
            age: path[path.index(published) - 1] for age, path in parents.items()
            if published in path[1:]
        }
        if child:
            inside = ages.filter(ages.is_in(list(child)))
            shares = pl.Series([child[age] for age in inside]).value_counts(normalize=True)
            right.append(len({child[age] for age in own}) > 1)
            chances.append(1 - float((shares["proportion"] ** len(own)).sum()))
    return _shares(right, chances)


def _shares(right: list[bool], chances: list[float]) -> tuple[float, float, float]:
    n = max(1, len(right))
    return sum(right) / n, sum(chances) / n, sum(p * (1 - p) for p in chances) / n**2


def run(con: Connection) -> list[Attack]:
    truth = con.sql("SELECT person, age FROM adult").pl()
    con.execute("CREATE OR REPLACE TEMP TABLE ages AS SELECT unnest(range(17, 91)) AS age")
    levels = con.execute("FROM hierarchy('ages', 'age', kind := 'bins', width := 5)").fetchall()
    parents = {int(row[0]): row[1:] for row in levels}
    call = (
        f"FROM anonymize('adult', k := {K}, quasi_identifiers := {list(COLUMNS)}, "
        "sensitive := ['person'], others := 'drop'"
    )
    tight = con.sql(f"{call}, representation := 'interval')").pl()
    local = con.sql(f"{call}, {BINS})").pl()
    whole = con.sql(f"{call}, {BINS}, method := 'full_domain', suppress := 0.05)").pl()
    ends, chance, variance = named_ends(local, truth)
    halves, expected, spread = halved(whole, truth, parents)
    split = halved(local, truth, parents)[0]
    return [
        Attack("downcoding of intervals", "classes with an age named correctly",
               named_ends(tight, truth)[0], ends, by_chance(chance, variance),
               "bins with fixed ends are no ages of anybody: naming one is a guess by the "
               "distribution over the table"),
        Attack("downcoding of bins", "classes correctly placed in both halves",
               split, split, 1,
               "the lowest common ancestor is the lowest: who needs that hidden, too, takes "
               "method = 'full_domain'", promised=False),
        Attack("downcoding, method = 'full_domain'",
               "classes correctly placed in both halves", split, halves,
               by_chance(expected, spread),
               "the level is that of the whole column, and says nothing of one class: a guess by "
               "the distribution over the table"),
    ]
