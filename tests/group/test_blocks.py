"""Blocks, refine and best: what a whole run gives, beyond the single methods."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.group import blocks
from kanon_sql.group.blocks import cut_blocks
from kanon_sql.group.run import group_points
from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import METHODS, GroupTask, task_for
from kanon_sql.methods.cell_generalization.geometry import CELLS
from kanon_sql.methods.geometry import LOSS
from kanon_sql.methods.local_search.refine import loss_of
from kanon_sql.methods.task import LEAST
from kanon_sql.points.losses import sse
from kanon_sql.points.points import LossPoints, MetricPoints, Points
from kanon_sql.search import nearest_lists as neighbours

IN_BLOCKS = [name for name, method in METHODS.items() if method.in_blocks and method.promises_k]


def mixed(n: int, seed: int, distinct: int = 10**6, method: str = "mdav") -> Points:
    """Records with two numbers and a category, some of them equal."""
    draw = np.random.default_rng(seed)
    pick = draw.integers(0, min(n, distinct), n)
    numbers = np.round(draw.standard_normal((n, 2)), 2)[pick]
    codes = draw.integers(0, 5, (n, 1))[pick]
    if METHODS[method].geometry().has_centers:
        return MetricPoints.of(numbers, codes, [1.25])
    if METHODS[method].geometry() is CELLS:
        levels = np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape) // 9
        return LossPoints.of(numbers[:, :0], np.column_stack([levels, codes]), [1.0] * 3)
    if METHODS[method].geometry() is LOSS:
        return LossPoints.of(numbers / 7.0, codes, [1.0])
    return Points.of(numbers, codes, [1.25])


def task(method: str = "mdav_plus", k: int = 3, **given: Any) -> GroupTask:
    if method == "v_mdav":
        given = {"gamma": 0.2, **given}
    return task_for(method, k, **given)


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", IN_BLOCKS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), distinct=st.sampled_from((5, 10**6)), n=st.integers(301, 900))
def test_groups_made_in_blocks_are_groups(method: str, seed: int, distinct: int, n: int) -> None:
    points = mixed(n, seed, distinct, method)
    found = group_points(points, task(method=method, block_rows=150))
    sizes = np.bincount(found.labels)
    assert len(found.labels) == n
    assert sizes.min() >= 3
    assert found.facts["blocks"] == -(-n // 150)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav_plus", "mdav_star"])
def test_groups_along_the_cuts_are_mended(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four blocks of 10,000 rows lose no more than one of 40,000: the cuts alone cost 3 percent."""
    points = Points.of(np.random.default_rng(11).standard_normal((40_000, 4)))
    one = sse(points, group_points(points, task(method=method)).labels)
    four = group_points(points, task(method=method, block_rows=10_000))
    assert four.facts["blocks"] == 4
    assert sse(points, four.labels) < 1.01 * one
    with monkeypatch.context() as unmended:
        unmended.setattr(blocks, "MENDING", 0)
        bare = group_points(points, task(method=method, block_rows=10_000))
    assert sse(points, bare.labels) > 1.02 * one


def test_a_block_has_far_more_rows_than_k() -> None:
    found = group_points(mixed(2000, 1), task(k=10, block_rows=20))
    assert found.facts["blocks"] == 2000 // (10 * LEAST)


def test_blocks_are_close_records_in_canonical_order() -> None:
    points = Points.of(np.random.default_rng(5).uniform(size=(4000, 2)))
    parts = cut_blocks(points, 1000, 3).members
    assert sorted(np.concatenate(parts).tolist()) == list(range(4000))
    assert all(len(part) == 1000 and (np.diff(part) > 0).all() for part in parts)
    spread = [float(np.ptp(points.numeric[part], axis=0).prod()) for part in parts]
    assert max(spread) < 0.3  # a quarter of the square each


def test_blocks_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    points = mixed(1500, 2)
    wanted = task(method="mdav_star", block_rows=200, refine="local", refine_steps=3000)
    labels = []
    for count in (1, 2, 5):
        monkeypatch.setattr(neighbours, "PIECE", 100)
        with on_threads(count):
            labels.append(group_points(points, wanted).labels.tolist())
    assert labels[0] == labels[1] == labels[2]


def test_a_small_table_is_one_block() -> None:
    assert task("mdav", 5).block_size() == 500_000
    assert group_points(mixed(1000, 3), task()).facts["blocks"] == 1.0


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "method",
    [name for name in IN_BLOCKS if METHODS[name].refinable] + ["mondrian"],
)
def test_refine_after_any_method_loses_no_more(method: str) -> None:
    points = mixed(600, 4, method=method)
    plain = group_points(points, task(method=method, refine_steps=20_000))
    better = group_points(points, task(method=method, refine="local", refine_steps=20_000))
    assert loss_of(points, better.labels) <= loss_of(points, plain.labels)
    assert np.bincount(better.labels).min() >= 3
    if METHODS[method].geometry().has_centers:  # classes are only divided, if they are large enough
        assert 0 <= better.facts["refine_steps"] <= 20_000
    else:
        assert better.facts["refine_steps"] == 20_000


def test_best_works_in_either_distance() -> None:
    points = mixed(400, 4, method="k_member")
    start = group_points(points, task(method="k_member"))
    found = group_points(points, task(method="best", distance="loss", refine_steps=20_000))
    assert loss_of(points, found.labels) < loss_of(points, start.labels)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 60), seed=st.integers(0, 1000), distinct=st.sampled_from((2, 10**6)))
def test_best_is_never_worse_than_its_starts(n: int, seed: int, distinct: int) -> None:
    points = mixed(n, seed, distinct)
    found = group_points(points, task(method="best", refine_steps=5_000)).labels
    starts = [group_points(points, task(method=name)) for name in ("mdav_plus", "mdav_star")]
    assert np.bincount(found).min() >= 3
    assert sse(points, found) <= min(sse(points, start.labels) for start in starts) + 1e-9


@pytest.mark.parametrize("gamma", [0.4, "best"])
def test_gamma_is_told_where_all_blocks_agree(gamma: float | str) -> None:
    points = mixed(900, 6)
    found = group_points(points, task(method="v_mdav", gamma=gamma, block_rows=150))
    assert found.facts["blocks"] == 6
    assert found.facts.get("gamma", 0.4) == 0.4 if gamma == 0.4 else True


def test_progress_counts_all_passes_of_all_blocks() -> None:
    watch = Watch()
    group_points(mixed(900, 6), task(method="v_mdav", gamma="best", block_rows=150), watch)
    assert watch.stage == "mending"
    watch = Watch()
    group_points(mixed(900, 6), task(method="v_mdav", gamma="best"), watch)
    assert (watch.stage, watch.total) == ("grouping", 900 * 21)
    assert 0.95 * watch.total < watch.done <= watch.total


def test_two_calls_in_one_query(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("SET threads = 1")
    calls = " UNION ALL ".join(
        f"SELECT count(*) FROM anonymize('patients', k := {k}, method := '{method}')"
        for k, method in ((3, "mdav_plus"), (4, "mdav_star"), (5, "mdav"))
    )
    assert con.execute(calls).fetchall() == [(60,)] * 3


@pytest.mark.parametrize("steps", [0, 1])
def test_few_steps(con: duckdb.DuckDBPyConnection, steps: int) -> None:
    call = f"'patients', k := 3, effort := 'balanced', refine_steps := {steps}"
    assert len(con.execute(f"FROM anonymize({call})").fetchall()) == 60


@pytest.mark.slow
@pytest.mark.parametrize("call", ["effort := 'balanced'", "method := 'best'"])
def test_the_steps_told_give_the_same_release(con: duckdb.DuckDBPyConnection, call: str) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT hash(i) % 997 AS a, hash(i + 1) % 991 AS b, i AS s "
        "FROM range(3000) AS r(i)"
    )
    given = f"'t', k := 5, {call}, sensitive := ['s']"
    facts = dict(
        con.execute(
            f"SELECT metric, coalesce(text, value::BIGINT::VARCHAR) FROM "
            f"anonymize_metrics({given}, refine_seconds := 0.1, detail := true) "
            "WHERE metric LIKE 'refine_%'"
        ).fetchall()
    )
    assert facts["refine_end"] == "seconds"
    first = con.execute(f"FROM anonymize({given}, refine_seconds := 0.1)").fetchall()
    again = f"refine_steps := {facts['refine_steps']}"
    assert con.execute(f"FROM anonymize({given}, {again})").fetchall() == first
    ended = (
        f"SELECT text FROM anonymize_metrics({given}, {again}, detail := true) WHERE metric = "
        f"'refine_end'"
    )
    assert con.execute(ended).fetchone() == ("steps",)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("refine_steps := 5", "nothing is searched. Add effort='balanced'"),
        ("refine_seconds := 5", "nothing is searched. Add effort='balanced'"),
        ("method := 'best', effort := 'balanced'", "searches by itself. Leave effort out, or give "
                                                   "refine_steps."),
        ("effort := 'balancd'", "Did you mean 'balanced'?"),
        ("effort := 'balanced', refine_seconds := 0", "a number above 0"),
        ("block_rows := 0", "block_rows must be a whole number of 1 or more"),
        ("progress := 'no'", "progress must be true or false"),
        ("method := 'optimal_1d'", "groups by one numeric quasi-identifier, and"),
        ("method := 'best', block_rows := 5000", "groups all rows as one. Leave block_rows out."),
        ("effort := 'balanced', refine_seconds := 1e10", "and up to 1e+09"),
    ],
)
def test_refusals(con: duckdb.DuckDBPyConnection, call: str, message: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        con.execute(f"FROM anonymize('patients', k := 5, {call})")
    assert message in str(refused.value)
    assert "Traceback" not in str(refused.value)


def test_optimal_1d_through_sql(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE ages AS SELECT [1, 2, 3, 50, 51, 52, 90, 91, 92][i] AS age "
                "FROM range(1, 10) AS r(i)")
    rows = con.execute("SELECT age, count(*) FROM anonymize('ages', k := 3, "
                       "method := 'optimal_1d') GROUP BY age ORDER BY age").fetchall()
    assert rows == [(2.0, 3), (51.0, 3), (91.0, 3)]
