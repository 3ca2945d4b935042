"""Membership: whether a person is in the table at all.

The attacker knows the quasi-identifiers of people of whom some are in the table, and wants to know
who is. Of classes that publish a center he takes for the surest who lies nearest to one; of classes
that publish intervals he strikes out who fits none of them. The naive release is the table itself,
in which he looks people up.

Nothing is promised against that: a class is made to be near its people, and nobody else is asked.
A larger k makes classes wider, and his guess worse.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.stats import rankdata

from tests.attacks.frame import QUASI, Attack, Connection, K, nearest, strangers

LARGER = 10 * K
WHY = "every class is made of rows that are near each other, and says where they are"


def guessed(persons: pl.DataFrame, others: pl.DataFrame, classes: pl.DataFrame) -> float:
    """The chance that of a person inside and one outside the former lies nearer to a class, ties
    counted half: the area under the curve (AUC) of the attack."""
    near = [nearest(each, classes, QUASI)[1] for each in (persons, others)]
    ranks = rankdata(np.concatenate(near))[: persons.height]
    above = ranks.sum() - persons.height * (persons.height + 1) / 2
    return float(1 - above / (persons.height * others.height))


def struck_out(others: pl.DataFrame, classes: pl.DataFrame) -> float:
    """The share of people outside who fit no class.

    Args:
        others: people who are not in the table.
        classes: bounds of numbers and lists of categories.
    """
    fits = np.ones((others.height, classes.height), bool)
    for name in QUASI:
        mine, theirs = others[name], classes[name]
        if mine.dtype.is_numeric():
            low, high = (theirs.struct.field(end).to_numpy() for end in ("min", "max"))
            values = mine.to_numpy()[:, None]
            fits &= (low <= values) & (values <= high)
        else:
            has = {each: theirs.list.contains(each).to_numpy() for each in mine.unique()}
            fits &= np.array([has[each] for each in mine])
    return float(1 - fits.any(axis=1).mean())


def run(con: Connection) -> list[Attack]:
    persons, others = con.sql("FROM adult").pl(), strangers(con)
    if not others.height:  # everybody is in the table
        return []
    call = "identifiers := ['person', 'salary-class']"
    found = []
    for k in (K, LARGER):
        centers = con.sql(f"FROM anonymize('adult', k := {k}, {call})").pl().unique()
        found.append(Attack(
            f"membership, centers, k = {k}", "chance to name the one of two in the table",
            guessed(persons, others, persons), guessed(persons, others, centers), 1, WHY,
            promised=False,
        ))
    for k in (K, LARGER):
        bounds = con.sql(
            f"FROM anonymize('adult', k := {k}, method := 'k_member', "
            f"representation := 'bounds', {call})"
        ).pl().unique()
        alone = persons.select(*(
            pl.struct(pl.col(name).alias("min"), pl.col(name).alias("max")).alias(name)
            if persons[name].dtype.is_numeric() else pl.concat_list(name).alias(name)
            for name in QUASI
        ))
        found.append(Attack(
            f"membership, intervals, k = {k}", "persons outside who fit no class",
            struck_out(others, alone), struck_out(others, bounds), 1, WHY, promised=False,
        ))
    return found
