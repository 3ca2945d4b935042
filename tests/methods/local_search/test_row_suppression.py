"""Rows left out: never more than asked for, never at a loss, always counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods.local_search.row_suppression import charge_of, suppress_rows
from kanon_sql.points.losses import sse, total_il
from kanon_sql.points.points import Labels, LossPoints, Points
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection
Draw = Callable[[st.SearchStrategy[Any]], Any]


def loss_with_charges(points: Points, labels: Labels) -> float:
    """The loss of the released records, and the charge of the others."""
    kept = np.flatnonzero(labels >= 0)
    part, groups = points.part(kept), labels[kept]
    lost = total_il(part, groups) if isinstance(part, LossPoints) else sse(part, groups)
    return lost + charge_of(points) * (len(labels) - len(kept))


@st.composite
def groupings(draw: Draw) -> tuple[Points, Labels, int, int]:
    """Records with outliers, a grouping of them, k, and how many may be left out."""
    n, k = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    k = min(k, n)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    numeric = rng.choice([0.0, 0.1, 0.5, 1.0], (n, draw(st.integers(0, 2))))
    codes = rng.integers(0, draw(st.integers(1, 4)), (n, draw(st.integers(0, 2))))
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1], np.zeros(n)])
    numeric, codes = numeric[order], codes[order]
    scale = np.ones(codes.shape[1])
    if draw(st.booleans()):
        numeric[-1:] *= 50.0
        points = Points.of(numeric, codes, scale)
    else:
        points = LossPoints.of(numeric, codes, scale, limit=rng.integers(1, 3, codes.shape[1]))
    groups = draw(st.integers(1, n // k))
    labels = np.append(np.repeat(np.arange(groups), k), rng.integers(0, groups, n - groups * k))
    labels = rng.permutation(labels) if draw(st.booleans()) else np.sort(labels)
    return points, labels, k, draw(st.integers(0, n))


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(groupings())
def test_what_is_left_out_lowers_the_loss(task: tuple[Points, Labels, int, int]) -> None:
    points, labels, k, out = task
    found = suppress_rows(points, labels, k, out, Watch())
    kept = found[found >= 0]
    assert len(kept) > 0
    sizes = np.bincount(kept)
    assert sizes.min() >= k
    assert len(found) - len(kept) <= out
    before, after = loss_with_charges(points, labels), loss_with_charges(points, found)
    assert after <= before + 1e-9
    if len(kept) < len(found):
        assert after < before
    renamed = np.random.default_rng(0).permutation(labels.max() + 1)[labels]
    again = suppress_rows(points, renamed, k, out, Watch())
    assert [again[found == g].tolist() for g in set(found)] == [
        [again[found == g][0]] * int(np.sum(found == g)) for g in set(found)
    ]
    assert np.array_equal(again < 0, found < 0)


def test_the_outlier_is_the_one_that_is_left_out() -> None:
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 100.0])
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    found = suppress_rows(Points.of(values[:, None]), labels, 3, 1, Watch())
    assert found.tolist() == [0, 0, 0, 1, 1, 1, -1]
    # a group of k loses the outlier, and its other member joins the group nearby
    wide = LossPoints.of(
        np.array([0.0, 0.0, 0.0, 0.0, 1.0])[:, None], [[0, 0]] * 4 + [[1, 1]], [1, 1]
    )
    assert charge_of(wide) == 3.0
    assert suppress_rows(wide, np.array([0, 0, 0, 1, 1]), 2, 1, Watch()).tolist() == [
        0, 0, 0, 0, -1
    ]


def test_it_stops_when_asked() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        suppress_rows(Points.of(np.arange(9.0)[:, None]), np.arange(9) // 3, 3, 2, watch)


@pytest.fixture
def outliers(con: Connection) -> Connection:
    con.execute(
        "CREATE TABLE t AS SELECT CASE WHEN i % 70 = 7 THEN i * 1000 ELSE i % 10 END AS a, "
        "CASE WHEN i % 70 = 7 THEN 'rare ' || i ELSE 'common' END AS b, i AS secret "
        "FROM range(200) AS r(i)"
    )
    return con


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav_plus", "k_member", "mondrian", "full_domain"])
def test_rows_in_are_rows_released_and_rows_suppressed(outliers: Connection, method: str) -> None:
    call = f"'t', k := 4, method := '{method}', quasi_identifiers := ['a', 'b'], "
    call += "sensitive := ['secret']"
    if method == "full_domain":
        call += ", hierarchies := {'b': 'flat', 'a': {'kind': 'bins', 'width': 5}}"
    plain, found = (
        metrics_of(outliers, f"anonymize_metrics({call}{more}, detail := true)")
        for more in ("", ", suppress := 0.02")
    )
    assert 0 < found["rows_suppressed"] <= 4 and found["rows"] == 200
    assert found["rows_released"] == 200 - found["rows_suppressed"]
    assert found["k"] >= 4 and plain["rows_suppressed"] == 0
    measure = "sse" if method == "mdav_plus" else "total_il"
    assert found[measure] < plain[measure]
    assert found["discernibility"] >= 200 * found["rows_suppressed"]
    released = {row[0] for row in outliers.sql(
        f"SELECT secret FROM anonymize({call}, suppress := 0.02)").fetchall()}
    listed = outliers.sql(f"FROM suppressed_rows({call}, suppress := 0.02)")
    assert listed.columns == ["row_number"]
    numbers = {row[0] for row in listed.fetchall()}
    assert len(numbers) == found["rows_suppressed"]
    shown = outliers.sql(
        f"FROM suppressed_rows({call}, suppress := 0.02, show_values := true)"
    )
    assert shown.columns == ["row_number", "a", "b", "secret"]
    rows = shown.fetchall()
    assert {row[0] for row in rows} == numbers
    assert {row[3] for row in rows} | released == set(range(200))
    assert {row[3] for row in rows} & released == set()
    clusters = outliers.sql(
        f"SELECT sum(num_points) FROM anonymize_clusters({call}, suppress := 0.02)"
    )
    assert clusters.fetchall() == [(found["rows_released"],)]


@pytest.mark.slow
def test_rows_left_out_for_nulls_are_listed_too(outliers: Connection) -> None:
    outliers.execute("UPDATE t SET a = NULL WHERE secret % 100 = 3")
    listed = outliers.sql(
        "FROM suppressed_rows('t', k := 4, quasi_identifiers := ['a', 'b'], "
        "sensitive := ['secret'], nulls := 'suppress')"
    ).fetchall()
    assert listed == [(4,), (104,)]


def test_a_share_is_a_share(outliers: Connection) -> None:
    with pytest.raises(duckdb.Error, match="must be a share of the rows from 0 to 1"):
        outliers.sql("FROM anonymize('t', k := 4, suppress := 5)")
