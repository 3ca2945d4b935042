"""The option threads: how many a call takes, and that the release doesn't depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from kanon_sql.stages import remembered
from kanon_sql.udfs import group
from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection


con = registered(
    "SELECT setseed(0.5)",
    """
        CREATE TABLE t AS SELECT random() * 70 AS age, random() * random() * 1e5 AS income,
            'z' || (random() * 40)::INTEGER AS zip FROM range(22000)
    """,
)
"""A table of 22,000 rows, more than one thread would be left alone with."""


@pytest.mark.slow
def test_call_takes_the_threads_it_is_given(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of DuckDB, if none are given, and never more than there are cores; the release is the
    same."""
    taken: list[int] = []

    @contextmanager
    def noted(count: int) -> Iterator[None]:
        taken.append(count)
        with actual(count):
            yield

    actual = group.on_threads
    monkeypatch.setattr(group, "on_threads", noted)
    monkeypatch.setattr(group, "cores", lambda: 5)
    hashes = []
    for setting, option in ((1, ""), (3, ""), (3, ", threads := 2"), (1, ", threads := 900")):
        con.execute(f"SET threads = {setting}")
        remembered.forget()
        hashes += con.execute(
            f"SELECT bit_xor(hash(r)) FROM anonymize('t', k := 3{option}) AS r"
        ).fetchall()
    assert taken == [1, 3, 2, 5]
    assert len(set(hashes)) == 1


@pytest.mark.parametrize("value", ("0", "-1", "1.5", "'two'", "true"))
def test_threads_must_be_a_whole_number(con: Connection, value: str) -> None:
    """Anything else is refused in one sentence."""
    with pytest.raises(duckdb.Error, match="threads must be a whole number of 1 or more"):
        con.execute(f"FROM anonymize('t', k := 3, threads := {value})")
