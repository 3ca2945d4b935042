"""Privacy models beside a ledger: every crowd that links of releases leave keeps them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from kanon_sql.stages import ledger as stage
from kanon_sql.stages import remembered
from tests.ledger.lives import lives
from tests.ledger.reference import histories
from tests.support.connections import registered
from tests.support.thoroughness import examples

K = 3
QUASI = f"k={K}, entity='id', quasi_identifiers=['age', 'job'], sensitive=['ill'], seed=3"

Shares = dict[str, Fraction]
KEEPS: dict[str, Callable[[Shares, Shares], bool]] = {
    "l=2": lambda own, _: len(own) >= 2,
    "alpha=0.6": lambda own, _: max(own.values()) <= Fraction(6, 10),
    "t=0.6": lambda own, all_: sum(
        max(Fraction(0), own.get(value, Fraction(0)) - share) for value, share in all_.items()
    ) <= Fraction(6, 10),
}


con = registered(scope="function")


def fill(con: duckdb.DuckDBPyConnection, there: list[int], seed: int) -> dict[int, str]:
    """The table of these persons, neighbours mostly with the same illness; what each has."""
    random = np.random.default_rng(seed)
    names = ["flu", "cold", "hiv", "gout"]
    ill = {p: names[(p // 20 + int(random.integers(3))) % 4] for p in range(400)}
    con.execute("CREATE OR REPLACE TABLE now (id INTEGER, age INTEGER, job VARCHAR, ill VARCHAR)")
    con.executemany(
        "INSERT INTO now VALUES (?, ?, ?, ?)",
        [(p, 20 + p * 7 % 50, "abc"[p % 3], ill[p]) for p in there],
    )
    return ill


def shares(values: list[str]) -> Shares:
    return {value: Fraction(n, len(values)) for value, n in Counter(values).items()}


def enter(con: duckdb.DuckDBPyConnection, number: int, options: str) -> None:
    """Releases the table, and enters it into the ledger."""
    more = ", ledger='releases'" if number > 1 else ", headroom=1"
    con.execute(f"CREATE OR REPLACE TABLE shown AS FROM anonymize('now', {options}{more})")
    make = "CREATE OR REPLACE TABLE releases AS" if number == 1 else "INSERT INTO releases"
    con.execute(f"{make} FROM anonymize_ledger('now', {options}{more})")


@pytest.mark.slow
@pytest.mark.parametrize("against", ["presence", "absence"])
@pytest.mark.parametrize("model", KEEPS)
def test_every_crowd_keeps_the_model(
    con: duckdb.DuckDBPyConnection, model: str, against: str
) -> None:
    more_than_one = 0
    for seed in range(examples(3)):
        for number, there in enumerate(lives(seed, 160, 4, seed % 2 == 1), start=1):
            ill = fill(con, there, seed)
            enter(con, number, f"{QUASI}, attacker='knows_{against}', {model}")
            rows = con.execute("SELECT release, entity, class FROM releases").fetchall()
            known = histories(rows)
            now = {person: place for release, person, place in rows if release == number}
            assert con.execute("SELECT count(*) FROM shown").fetchall() == [(len(now),)]
            everybody = shares([ill[p] for p in now])
            for person in now:
                mine = known[person]
                crowd = [
                    p for p in now
                    if (mine <= known[p] if against == "presence" else mine == known[p])
                ]
                whole = [p for p in now if now[p] == now[person]]
                assert len(crowd) >= K
                more_than_one += len(crowd) < len(whole)
                for some in (crowd, whole):
                    assert KEEPS[model](shares([ill[p] for p in some]), everybody)
    # against presence there are crowds that are no classes
    assert more_than_one > 0 or against == "absence"


@pytest.mark.slow
def test_a_release_whose_crowds_break_it_does_not_come_out(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of a class with the same illness stay when all others of it are gone, and others come."""
    options = "k=2, entity='id', quasi_identifiers=['age'], sensitive=['ill'], seed=3, l=2"
    con.execute(
        "CREATE TABLE now AS SELECT i AS id, 10 * (i // 4) AS age, "
        "['flu', 'flu', 'cold', 'hiv'][1 + i % 4] AS ill FROM range(20) AS r(i)"
    )
    enter(con, 1, options)
    con.execute("DELETE FROM now WHERE id IN (2, 3)")
    con.execute("INSERT INTO now VALUES (100, 0, 'cold'), (101, 0, 'hiv')")
    monkeypatch.setattr(stage, "keep_models", lambda points, labels, *more: labels)
    remembered.forget()
    with pytest.raises(duckdb.Error, match="a person with an anonymity set that doesn't keep the "
                                           "privacy"):
        enter(con, 2, options)
    assert con.execute("SELECT max(release) FROM releases").fetchall() == [(1,)]
    monkeypatch.undo()
    remembered.forget()
    enter(con, 2, options)
    left = con.execute("SELECT entity FROM releases WHERE release = 2 AND entity < 4").fetchall()
    assert left == []


@pytest.mark.slow
def test_other_models_than_those_of_the_ledger_are_refused(con: duckdb.DuckDBPyConnection) -> None:
    fill(con, list(range(80)), 1)
    enter(con, 1, f"{QUASI}, l=2")
    for other in ("", ", l=3", ", l=2, alpha=0.9"):
        with pytest.raises(duckdb.Error, match="was made with other privacy models"):
            con.execute(f"FROM anonymize('now', {QUASI}{other}, ledger='releases')").fetchall()


def test_a_hierarchy_of_a_sensitive_column_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    fill(con, list(range(80)), 1)
    with pytest.raises(duckdb.Error, match="not kept over several releases"):
        con.execute(
            f"FROM anonymize_ledger('now', {QUASI}, t=0.5, hierarchies={{'ill': 'flat'}})"
        ).fetchall()
