"""Every attack succeeds on a naive release, and does no better than its bound on ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.attacks import messages, persons
from tests.attacks.frame import Connection, people
from tests.attacks.table import ATTACKS, measured, table

UNANSWERED = {"attributes", "membership", "predicates"}
"""Attacks against which nothing is promised at all, as docs/promise.md says."""

FOLDER = Path(__file__).parent
SHARED = {"frame", "table", "__main__", "test_attacks", "test_whole_table"}


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with people() as connection:
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_fails_or_is_told(con: Connection, name: str) -> None:
    found = ATTACKS[name](con)
    assert found
    for attack in found:
        assert attack.name and attack.counts and attack.why
        if attack.promised:
            assert attack.ours <= attack.bound + 1e-9 < attack.naive, attack
        else:  # docs/promise.md says that it succeeds
            assert attack.bound == 1 and attack.ours > 0 and attack.naive > 0, attack
    # what helps is offered where an attack succeeds, and tried
    assert any(attack.promised for attack in found) != (name in UNANSWERED)


def test_every_script_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - SHARED == set(ATTACKS)


@pytest.mark.slow
def test_the_table_is_the_same_twice() -> None:
    assert table(measured()) == table(measured())


@pytest.mark.slow
def test_a_hidden_key_is_remarked(
    con: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    persons.visits(con)
    persons.released(con, "entity := 'person'")
    assert "'enrolled' identifies nearly all persons" in capsys.readouterr().err


def test_an_error_of_the_relation_itself_is_not_ours(con: Connection) -> None:
    con.execute(messages.TABLE)
    with pytest.raises(duckdb.ConversionException, match="Could not convert"):
        con.execute(messages.OF_DUCKDB)
