"""ledger_check over random ledgers, against the slow reference, and over faulty ones."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

import kanon_sql
from kanon_sql.errors import OptionError
from tests.ledger.reference import Exposure, crowds_of_absence, crowds_of_presence
from tests.support.connections import registered
from tests.support.thoroughness import examples

con = registered()


def check(con: duckdb.DuckDBPyConnection, rows: list[Any], k: int | None = None) -> dict[str, Any]:
    """What ledger_check tells of a ledger with these rows."""
    con.execute("CREATE OR REPLACE TABLE releases (release INTEGER, entity VARCHAR, class BIGINT)")
    if rows:
        con.executemany("INSERT INTO releases VALUES (?, ?, ?)", rows)
    given = "" if k is None else f", k := {k}"
    found = con.execute(f"FROM ledger_check('releases'{given})")
    names = [column[0] for column in found.description or ()]
    (row,) = found.fetchall()
    return dict(zip(names, row, strict=True))


def random_ledger(seed: int) -> list[Exposure]:
    """Persons in two or three classes, who come and go, some of them from class to class."""
    random = np.random.default_rng(seed)
    ledger = []
    for person in range(int(random.integers(5, 30))):
        number = int(random.integers(1, 4))
        for release in range(1, 5):
            if random.random() < 0.2:
                number = int(random.integers(1, 4))
            if random.random() < 0.8:
                ledger.append((release, f"p{person}", number))
    return ledger


@pytest.mark.slow
def test_both_crowds_are_those_of_the_reference(con: duckdb.DuckDBPyConnection) -> None:
    for seed in range(examples(60)):
        ledger, k = random_ledger(seed), 2 + seed % 4
        found = check(con, ledger, k)
        for name, crowds in (
            ("presence", crowds_of_presence(ledger)), ("absence", crowds_of_absence(ledger))
        ):
            least = min(crowds.values())
            assert found[f"{name}_anonymity_set_min"] == least
            below = sum(crowd < k for crowd in crowds.values())
            assert found[f"{name}_persons_below_k"] == below
            whole = found["releases"] == max(release for release, _, _ in ledger)
            assert found[f"keeps_{name}"] == (least >= k and whole)
        assert found["persons"] == len(crowds)
        assert found["exposures"] == len(ledger)


def test_it_counts_what_is_wrong_with_a_ledger(con: duckdb.DuckDBPyConnection) -> None:
    sound: list[Any] = [(r, p, 1) for r in (1, 2) for p in "abc"]
    found = check(con, sound, 3)
    assert found["keeps_presence"] and found["keeps_absence"]
    assert (found["releases"], found["persons"], found["exposures"]) == (2, 3, 6)
    for faulty, column in (
        ([*sound, (2, None, 1)], "rows_incomplete"),
        ([*sound, (2, "a", None)], "rows_incomplete"),
        ([*sound, (None, "a", 1)], "rows_incomplete"),
        ([*sound, (2, "a", 1)], "rows_doubled"),
        ([(4, p, 1) if r == 2 else (r, p, 1) for r, p, _ in sound], "releases_missing"),
    ):
        found = check(con, faulty, 3)
        assert found[column] > 0
        assert not found["keeps_presence"] and not found["keeps_absence"]
    assert not check(con, [(r - 1, p, c) for r, p, c in sound], 3)["keeps_presence"]
    assert not check(con, [], 3)["keeps_presence"]


def test_without_k_it_tells_the_crowds_alone(con: duckdb.DuckDBPyConnection) -> None:
    found = check(con, [(1, p, 1) for p in "abc"])
    assert (found["presence_anonymity_set_min"], found["absence_anonymity_set_min"]) == (3, 3)
    assert found["k_requested"] is None
    assert found["presence_persons_below_k"] is found["keeps_presence"] is None
    # nor that a ledger with a row twice keeps nothing
    found = check(con, [*SOUND, (2, "a", 1)])
    assert found["keeps_presence"] is found["keeps_absence"] is None


def test_what_it_refuses(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE OR REPLACE TABLE no_ledger AS SELECT 1 AS release, 2 AS class")
    with pytest.raises(duckdb.Error, match="The ledger 'no_ledger' has no column 'entity'"):
        con.execute("FROM ledger_check('no_ledger')")
    with pytest.raises(duckdb.Error, match="ledger_check has no option 'l'"):
        con.execute("FROM ledger_check('releases', l=3)")
    with pytest.raises(duckdb.Error, match="not a table, view"):
        con.execute("FROM ledger_check('main.nowhere')")
    with pytest.raises(OptionError, match="k must be a whole number of 1 or more"):
        kanon_sql.ledger_check("releases", con=con, k=0)


def test_in_python_it_takes_a_frame() -> None:
    frame = {"release": [1, 1, 2], "entity": ["a", "b", "a"], "class": [7, 7, 7]}
    found = kanon_sql.ledger_check(frame, k=2).to_pylist()[0]
    assert (found["presence_anonymity_set_min"], found["absence_anonymity_set_min"]) == (1, 1)
    assert found["presence_persons_below_k"] == 1
    assert found["absence_persons_below_k"] == 2


def test_a_few_ledgers_have_the_crowds_of_the_reference(con: duckdb.DuckDBPyConnection) -> None:
    for seed in range(3):
        ledger = random_ledger(seed)
        presence, absence = crowds_of_presence(ledger), crowds_of_absence(ledger)
        k = 1 + min(presence.values())
        found = check(con, ledger, k)
        assert found["presence_anonymity_set_min"] == k - 1
        assert found["absence_anonymity_set_min"] == min(absence.values())
        assert found["presence_persons_below_k"] == sum(n < k for n in presence.values())
        assert found["absence_persons_below_k"] == sum(n < k for n in absence.values())
        assert found["persons"] == len(presence)


SOUND: list[Any] = [(r, p, 1) for r in (1, 2) for p in "abc"]
GONE: list[Any] = [*SOUND, (1, "d", 1)]
FIGURES: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
    "empty": ([], (0, 0, 0, None, None, 3, 0, 0, 0, 0, 0, None, None)),
    "sound": (SOUND, (2, 3, 6, 3, 3, 3, 0, 0, 0, 0, 0, True, True)),
    "one came once": (GONE, (2, 4, 7, 3, 1, 3, 0, 1, 0, 0, 0, True, False)),
    "no person": ([*SOUND, (2, None, 1)], (2, 3, 7, 3, 3, 3, 0, 0, 1, 0, 0, False, False)),
    "no class": ([*SOUND, (2, "d", None)], (2, 3, 7, 3, 3, 3, 0, 0, 1, 0, 0, False, False)),
    "no release": ([*SOUND, (None, "d", 1)], (2, 3, 7, 3, 3, 3, 0, 0, 1, 0, 0, False, False)),
    "from release 2": (
        [(r + 1, p, c) for r, p, c in SOUND], (2, 3, 6, 3, 3, 3, 0, 0, 0, 0, 1, False, False)
    ),
    "from release 0": (
        [(r - 1, p, c) for r, p, c in SOUND], (2, 3, 6, 3, 3, 3, 0, 0, 0, 0, None, False, False)
    ),
    "with a gap": (
        [(4 if r == 2 else r, p, c) for r, p, c in SOUND],
        (2, 3, 6, 3, 3, 3, 0, 0, 0, 0, 2, False, False),
    ),
    "from release 0 with a gap that fills it": (
        [(2 * (r - 1), p, c) for r, p, c in SOUND],
        (2, 3, 6, 3, 3, 3, 0, 0, 0, 0, None, False, False),
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_it(con: duckdb.DuckDBPyConnection, name: str) -> None:
    ledger, expected = FIGURES[name]
    assert tuple(check(con, ledger, 3).values()) == expected


def test_a_row_that_is_there_twice_is_counted(con: duckdb.DuckDBPyConnection) -> None:
    found = check(con, [*SOUND, (2, "a", 1)], 3)
    assert found["rows_doubled"] == 1
    assert found["keeps_presence"] is found["keeps_absence"] is False


def test_a_crowd_of_k_is_enough_and_one_less_is_not(con: duckdb.DuckDBPyConnection) -> None:
    for k, kept in ((3, True), (4, False)):
        found = check(con, SOUND, k)
        assert found["keeps_presence"] is found["keeps_absence"] is kept
        assert found["presence_persons_below_k"] == found["absence_persons_below_k"] == 3 * (k - 3)
