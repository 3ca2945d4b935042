"""DIS scores, against the formula written once more, and in anonymize_risk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import factorial, prod
from typing import Any

import duckdb
import numpy as np
import pytest

import kanon_sql
from kanon_sql.measure.dis import dis_scores
from tests.measure.test_uniques import Rows, minimal
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    with kanon_sql.register(duckdb.connect()) as connection:
        yield connection


def expected(rows: Rows, fraction: float) -> list[float]:
    """The score of each row, as suda2 of sdcMicro says it: by the file's own DIS."""
    width, counts = len(rows[0]), Counter(rows)
    suda = dict.fromkeys(rows, 0.0)
    for row, columns in minimal(rows, width):
        suda[row] += prod(width - i for i in range(len(columns), width))
    uniques = sum(counts[row] == 1 for row in rows)
    pairs = sum(counts[row] == 2 for row in rows)
    if uniques == 0:
        return [0.0] * len(rows)
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    q = 1 + (8 - width) / 20
    added = sum(suda[row] ** -q for row in rows if suda[row])
    return [
        1 / (1 + (uniques / dis - uniques) / (suda[row] ** q * added)) if suda[row] else 0.0
        for row in rows
    ]


def ask(con: Connection, rows: Rows, options: str) -> dict[str, Any]:
    names = [f"c{j}" for j in range(len(rows[0]))]
    con.execute(f"CREATE OR REPLACE TABLE t ({', '.join(f'{name} INTEGER' for name in names)})")
    con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
    return metrics_of(con, f"anonymize_risk('t', quasi_identifiers := {names}{options})")


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_scores_are_those_of_the_formula(con: Connection, seed: int) -> None:
    rng = np.random.default_rng(seed)
    width, count = int(rng.integers(1, 6)), int(rng.integers(2, 40))
    cards = rng.integers(2, 6, width)
    rows = [tuple(int(rng.integers(card)) for card in cards) for _ in range(count)]
    people = count * int(rng.integers(1, 30))
    scores = expected(rows, count / people)
    found = ask(con, rows, f", population_size := {people}")
    assert found["dis_score_max"] == pytest.approx(max(scores))
    assert found["dis_score_mean"] == pytest.approx(sum(scores) / count)
    again = ask(con, rows[::-1], f", population_size := {people}")
    for name in ("dis_score_max", "dis_score_mean"):
        assert again[name] == found[name]


def test_an_example_by_hand(con: Connection) -> None:
    """Two uniques: (1, 1) has the set of the first column, (0, 1) that of both and no smaller."""
    rows: Rows = [(1, 1), (0, 1), (0, 0), (0, 0)]
    assert minimal(rows, 2) == {((1, 1), (0,)), ((0, 1), (0, 1))}
    found = ask(con, rows, ", population_size := 16")
    # scores 1! and 0!, one pair, f = 1/4: beyond = 2 * 1 * 3, shared out evenly
    assert found["dis_score_max"] == pytest.approx(1 / (1 + 6 / 2))
    assert found["dis_score_mean"] == pytest.approx(2 * 0.25 / 4)


@pytest.mark.parametrize(("options", "value"), [
    ("", None), (", msu_columns := 1, population_size := 16", None),
    (", msu_columns := 0, population_size := 16", None), (", population_size := 4", 1.0),
])
def test_it_is_told_where_it_is_known(con: Connection, options: str, value: float | None) -> None:
    found = ask(con, [(1, 1), (0, 1), (0, 0), (0, 0)], options)
    assert found["dis_score_max"] == value


def test_without_pairs_every_match_is_right() -> None:
    assert dis_scores(np.array([1.0, 6.0]), 0, 4, 0.01).tolist() == [1.0, 1.0]
    assert len(dis_scores(np.zeros(0), 3, 4, 0.5)) == 0


def test_a_higher_score_is_a_higher_risk() -> None:
    scores = np.array([float(factorial(n)) for n in range(2, 12)])
    found = dis_scores(scores, 7, 12, 0.1)
    assert (np.diff(found) > 0).all() and found.min() > 0 and found.max() < 1
