"""Intersection: who is in all the classes?

The table is released again each month. The attacker knows everybody's quasi-identifiers, and which
rows of the releases are one person's: the sensitive value is a rare one, for example. Knowing in
which releases somebody is present, he looks for those who were in the same class in each of these.
Knowing absence, too, he looks for those who had the same class in every release, or were absent
from it with the person (Ganta et al. 2008). The naive releases are each made anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import polars as pl

from tests.attacks.frame import Attack, Connection, K, classes_of, quoted

COLUMNS = ("sex", "age", "race", "marital-status", "education")
PERSONS, RELEASES = 1_000, 6
WHY = {
    "presence": "who hasn't k in the same classes everywhere with him isn't shown again",
    "absence": "who doesn't share his history with k isn't shown again, nor those with whom he "
    "would leave too few",
}
Release = dict[int, int]
"""The class of each person that is released."""

Make = Callable[[Connection, int], Release]
"""Releases the table month, of the given number."""


def month(con: Connection, number: int) -> None:
    """Makes the table month: 80 % of the people at first, then 4 % of all newly each time, and one
    of a hundred gone. ``row`` is passed through to count by."""
    gone = " OR ".join(["false", *(f"hash(person, 'left', {m}) % 100 = 0" for m in range(number))])
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE month AS
        SELECT person, person AS row, {quoted(COLUMNS)} FROM adult
        WHERE person <= {PERSONS} AND hash(person, 'came') % 100 < {80 + 4 * number}
            AND NOT ({gone})
        """
    )


def below_k(releases: Sequence[Release]) -> tuple[float, float]:
    """The share of the released persons with an anonymity set below k: of those in the same classes
    wherever the person is present; and of those with the same history, absence included."""
    members: list[dict[int, set[int]]] = []
    for release in releases:
        inside: dict[int, set[int]] = {}
        for person, number in release.items():
            inside.setdefault(number, set()).add(person)
        members.append(inside)
    persons = sorted(set().union(*releases))
    histories = Counter(tuple(release.get(p) for release in releases) for p in persons)
    present = absent = 0
    for person in persons:
        history = tuple(release.get(person) for release in releases)
        crowd = set.intersection(
            *(inside[n] for inside, n in zip(members, history, strict=True) if n is not None)
        )
        present += len(crowd) < K
        absent += histories[history] < K
    return present / len(persons), absent / len(persons)


def _by_person(rows: pl.DataFrame) -> Release:
    numbers = classes_of(rows, COLUMNS).to_list()
    return dict(zip(rows["row"].to_list(), numbers, strict=True))


ROLES = f"k := {K}, quasi_identifiers := {list(COLUMNS)}, sensitive := ['row']"


def anew(con: Connection, number: int) -> Release:
    """A release that knows nothing of those before it."""
    rows = con.sql(f"FROM anonymize('month', {ROLES}, identifiers := ['person'])").pl()
    return _by_person(rows)


def beside_a_ledger(against: str) -> Make:
    """Releases that go on from a ledger. The attacker reads what is released, and not the
    ledger."""

    def make(con: Connection, number: int) -> Release:
        call = f"'month', {ROLES}, entity := 'person', headroom := 1, attacker := 'knows_{against}'"
        entered = "CREATE OR REPLACE TABLE releases AS"
        if number:
            call, entered = f"{call}, ledger := 'releases'", "INSERT INTO releases"
        rows = con.sql(f"FROM anonymize({call})").pl()
        con.execute(f"{entered} FROM anonymize_ledger({call})")
        return _by_person(rows)

    return make


def released(con: Connection, make: Make, releases: int) -> list[Release]:
    """So many releases, one per month."""
    found = []
    for number in range(releases):
        month(con, number)
        found.append(make(con, number))
    return found


def run(con: Connection) -> list[Attack]:
    naive = released(con, anew, RELEASES)
    counts = "persons with an anonymity set below k"
    found: list[Attack] = []
    for place, against in enumerate(("presence", "absence")):
        ours = released(con, beside_a_ledger(against), RELEASES)
        found += [
            Attack(f"intersection of {n}, knows_{against}", counts, below_k(naive[:n])[place],
                   below_k(ours[:n])[place], 0, WHY[against])
            for n in (2, RELEASES)
        ]
        if against == "presence":
            found.append(Attack(
                "the same, absence also known", counts, below_k(naive)[1], below_k(ours)[1], 1,
                "where few of a class leave, who knows that somebody left has a small crowd: "
                "attacker := 'knows_absence' is for attackers who know that", promised=False))
    return found
