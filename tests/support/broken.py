"""Grouping methods that don't do what they promise, in the place of those that do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pytest

from kanon_sql.methods import CHOICES, METHODS, Grouping, Method
from kanon_sql.stages import remembered
from tests.support.connections import borrowed

Connection = duckdb.DuckDBPyConnection
Labels = Callable[[int, int], Any]
K = 4
SECRETS = ("Zaphod", "Trillian", "987654321", "42.4242", "1969-07-20")

database = borrowed(
    "ATTACH ':memory:' AS fresh; USE fresh; SET threads = 2",
    """
    CREATE TABLE patients AS
    SELECT ['Zaphod', 'Trillian'][1 + i % 2] || i AS name, 987654321 + i * i AS number,
           42.4242::DOUBLE + i AS x, DATE '1969-07-20' + i::INTEGER AS day,
           'disease ' || i % 3 AS disease
    FROM range(40) AS r(i)
    """,
    end="USE memory; DETACH fresh",
)
"""The fixture ``con`` of a module that has ``shared``: a database of its own with forty rows of
secrets, all different."""

STOPPED = "The release was stopped"


@dataclass(frozen=True)
class Broken(Method):
    """A method whose labels are made by a function of (rows, k)."""

    labels: Labels = lambda n, k: np.zeros(n, np.int64)

    def load(self) -> Callable[..., Grouping]:
        """The broken method."""
        return lambda points, task, watch: Grouping(self.labels(len(points), task.k), {})


def singletons(n: int, k: int) -> Any:
    return np.arange(n)


def one_row_alone(n: int, k: int) -> Any:
    return (np.arange(n) == n // 2).astype(np.int64)


def last_group_is_one_short(n: int, k: int) -> Any:
    labels = np.arange(n) // k
    labels[-1] = labels[-1] - 1
    return labels


def pairs(n: int, k: int) -> Any:
    return np.arange(n) // 2


SMALL = {
    "groups of one": singletons,
    "one row alone": one_row_alone,
    "one group one short": last_group_is_one_short,
    "pairs": pairs,
}
WRONG = {
    "too few labels": lambda n, k: np.zeros(n - 1, np.int64),
    "too many labels": lambda n, k: np.zeros(n + 1, np.int64),
    "no labels": lambda n, k: np.zeros(0, np.int64),
    "a table of labels": lambda n, k: np.zeros((n, 2), np.int64),
    "words for labels": lambda n, k: np.array([f"group {i}" for i in range(n)], object),
    "some labels missing": lambda n, k: np.array([None] * k + [0] * (n - k), object),
    "nothing for labels": lambda n, k: np.array([None] * n, object),
    "no array": lambda n, k: None,
}


def broken(monkeypatch: pytest.MonkeyPatch, labels: Labels, name: str = "mdav") -> None:
    """Puts a broken method in the place of a good one."""
    known = {field.name: getattr(METHODS[name], field.name) for field in dataclasses.fields(Method)}
    for methods in (METHODS, CHOICES):
        monkeypatch.setitem(methods, name, Broken(**known, labels=labels))
    remembered.forget()


CALL = f"anonymize('patients', k := {K}, method := 'mdav', sensitive := ['disease'])"


def stopped(con: Connection, statement: str, expected: str = STOPPED) -> None:
    """The statement fails with the expected text, gives no row, and tells no value."""
    rows: list[Any] = []
    with pytest.raises(duckdb.Error) as caught:
        con.execute(statement)
        while found := con.fetchmany(1):
            rows += found
    assert rows == []
    assert expected in str(caught.value)
    assert not any(secret in str(caught.value) for secret in SECRETS)
