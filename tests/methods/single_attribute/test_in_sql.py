"""Methods of one attribute (du2009) through SQL: what comes out, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.methods import METHODS
from kanon_sql.stages import remembered
from tests.support.broken import broken, last_group_is_one_short
from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import often

Connection = duckdb.DuckDBPyConnection
LABELS = ("fold", "spread", "five_halves", "bin_cover", "ordered")

con = registered("SET threads = 2")


def fill(con: Connection, kind: str, values: list[Any]) -> None:
    """A table t of rows (id, v)."""
    con.execute(f"CREATE OR REPLACE TABLE t (id BIGINT, v {kind})")
    if values:
        con.executemany("INSERT INTO t VALUES (?, ?)", [list(pair) for pair in enumerate(values)])


POOLS: dict[str, list[Any]] = {
    "VARCHAR": ["a", "A", "b", "", "NULL", "{a, b}", "x, y", None],
    "INTEGER": [3, -7, 0, 12, 100, None],
    "DOUBLE": [0.5, -0.0, 0.0, float("nan"), 1e300, None],
    "BOOLEAN": [True, False, None],
    "DATE": ["2020-01-01", "1999-12-31", "2024-02-29", None],
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any], int]:
    """A type, values of a column, and a k."""
    kind = draw(st.sampled_from(sorted(POOLS)))
    values = draw(st.lists(st.sampled_from(POOLS[kind]), min_size=1, max_size=24))
    return kind, values, draw(st.integers(1, min(6, len(values))))


def shown(values: list[str | None], interval: bool) -> str | None:
    """What a class of these texts, in their order, releases."""
    known = list(dict.fromkeys(v for v in values if v is not None and v != "nan"))
    if len(known) < 2:
        return known[0] if known else None
    return f"[{known[0]}, {known[-1]}]" if interval else "{" + ", ".join(known) + "}"


@pytest.mark.slow
@often(60)
@given(column=columns(), method=st.sampled_from(LABELS))
def test_a_class_releases_its_values_and_has_k_rows(
    con: Connection, column: tuple[str, list[Any], int], method: str
) -> None:
    kind, values, k = column
    fill(con, kind, values)
    call = f"'t', k := {k}, method := '{method}', sensitive := ['id']"
    rows = con.execute(
        f"SELECT id, r.v, class_id, t.v::VARCHAR FROM anonymize({call}, class_id := true) AS r "
        "JOIN t USING (id) ORDER BY t.v ASC NULLS LAST"
    ).fetchall()
    assert sorted(row[0] for row in rows) == list(range(len(values)))
    assert min(Counter(row[1] for row in rows).values()) >= k
    for number in {row[2] for row in rows}:
        members = [row for row in rows if row[2] == number]
        texts = ["0.0" if row[3] == "-0.0" else row[3] for row in members]
        interval = method == "ordered" and kind not in ("VARCHAR", "BOOLEAN")
        if not any(text and text.startswith("{") for text in texts):  # as a set is written
            assert {row[1] for row in members} == {shown(texts, interval)}
    found = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    sizes = Counter(row[1] for row in rows)
    assert found["class_size_max"] == max(sizes.values())
    assert found["overfull_ratio"] == max(sizes.values()) / k
    assert found["quadratic_penalty"] == sum(size * (size - k) for size in sizes.values())
    assert k <= found["lower_bound"] <= found["cost"]
    if method in ("fold", "spread", "ordered"):  # what they promise is over kappa itself
        assert found["ratio"] <= found["guaranteed_ratio"] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("method", LABELS)
def test_equal_values_stay_together_whatever_the_order_of_the_rows(
    con: Connection, method: str
) -> None:
    values = [f"v{i % 17}" for i in range(150)] + [None] * 9
    released = set()
    for seed in range(3):
        random.Random(seed).shuffle(values)
        fill(con, "VARCHAR", values)
        con.execute(f"SET threads = {1 + seed}")
        remembered.forget()
        call = (
            f"'t', k := 11, method := '{method}', quasi_identifiers := ['v'], "
            "identifiers := ['id']"
        )
        released.add(tuple(con.execute(f"SELECT v FROM anonymize({call})").fetchall()))
    con.execute("SET threads = 2")
    assert len(released) == 1


@pytest.mark.parametrize("method", ["fold", "spread", "five_halves", "ordered", "gps_rectangles"])
def test_a_group_number_says_no_more_than_the_class(con: Connection, method: str) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i % 40 AS x, i % 7 AS y FROM range(400) AS r(i)"
    )
    own = "['x', 'y']" if method == "gps_rectangles" else "['x']"
    call = f"'t', k := 25, method := '{method}', quasi_identifiers := {own}, others := 'drop'"
    rows = con.execute(
        f"SELECT x, class_id FROM anonymize({call}, representation := 'number', class_id := true)"
    ).fetchall()
    numbers = {row[0] for row in rows}
    assert numbers == set(range(1, len(numbers) + 1))
    assert len(set(rows)) == len(numbers) == len({row[1] for row in rows})


def test_orders_give_other_bins_and_the_seed_decides_the_random_one(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 'n' || (i % 90) AS v FROM range(1000) AS r(i)")
    released = {
        (sequence, seed): tuple(con.execute(
            f"SELECT v, count(*) FROM anonymize('t', k := 40, method := 'spread', "
            f"sequence := '{sequence}', seed := {seed}) GROUP BY v ORDER BY v"
        ).fetchall())
        for sequence in ("random", "sorted") for seed in (0, 1)
    }
    assert released["sorted", 0] == released["sorted", 1]
    assert len(set(released.values())) == 3


def test_ordered_keeps_its_two_promises(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS v FROM (VALUES (1, 4), (2, 1), (3, 5), (4, 2), "
        "(5, 2), (6, 9)) AS s(i, n), range(n)"
    )
    largest, quadratic = (
        metrics_of(
            con, (
                f"anonymize_metrics('t', detail=true, k := 4, method := 'ordered', objective := "
                f"'{name}')"
            )
        )
        for name in ("largest", "quadratic")
    )
    assert largest["cost"] == largest["lower_bound"] == largest["class_size_max"] == 9
    assert quadratic["cost"] == quadratic["lower_bound"] == quadratic["quadratic_penalty"]
    assert quadratic["quadratic_penalty"] <= largest["quadratic_penalty"]
    assert largest["ratio"] == quadratic["ratio"] == 1.0


@pytest.mark.sample(4)
@pytest.mark.parametrize("method", [
    name for name, m in METHODS.items() if m.geometry().objective == "size"
])
def test_other_quasi_identifiers_are_never_left_as_they_are(con: Connection, method: str) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS zip, i AS age, i AS z FROM range(30) AS r(i)"
    )
    con.execute("CREATE OR REPLACE TABLE pairs AS SELECT 1 AS a, 2 AS b")
    for relation in ("'t'", "'c'", "'t', quasi_identifiers := ['zip', 'age', 'z']"):
        query = f"WITH c AS (FROM t) FROM anonymize({relation}, k := 3, method := '{method}'"
        more = ", adjacency := 'pairs')" if method == "zip_regions" else ")"
        said = refusal_of(con, query + more)
        if relation != "'c'" or method != "gps_rectangles":
            assert "there are 3: zip, age, z" in said
            assert "hierarchies={" in said


@pytest.mark.parametrize("method", [*LABELS, "gps_rectangles"])
def test_a_broken_method_releases_nothing(
    con: Connection, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x, i * i AS y FROM range(40) AS r(i)")
    broken(monkeypatch, last_group_is_one_short, method)
    own = "['x', 'y']" if method == "gps_rectangles" else "['x']"
    more = ", tight := true" if method == "gps_rectangles" else ""
    said = refusal_of(con, f"FROM anonymize('t', k := 4, method := '{method}', "
                        f"quasi_identifiers := {own}, others := 'release'{more})")
    assert "The release was stopped" in said
    remembered.forget()


# --- values that are hard to tell apart -----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "value"), [
    ("BIGINT", "613196570331971583 + 262144 * (i % 8)"),
    ("UBIGINT", "18446744073709551000::UBIGINT + (2 * (i % 8))::UBIGINT"),
    ("HUGEINT", "170141183460469231731687303715884100000::HUGEINT + i % 8"),
    ("DECIMAL(38, 3)", "12345678901234567890123456789012345.001::DECIMAL(38, 3) + 2 * (i % 8)"),
    ("TIMESTAMP_NS", "make_timestamp_ns(1700000000000000000 + 3 * (i % 8))"),
    ("DATE", "DATE '2024-01-01' + (i % 8)::INTEGER"),
    ("DECIMAL(9, 2)", "1.10::DECIMAL(9, 2) * (1 + i % 8)"),
    ("DOUBLE", "1e16::DOUBLE + 4 * (i % 8)"),
])
def test_values_that_a_double_does_not_tell_apart(con: Connection, kind: str, value: str) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT ({value})::{kind} AS v FROM range(80) AS r(i)"
    )
    con.execute("CREATE OR REPLACE TABLE pairs AS SELECT a.v AS a, b.v AS b FROM (SELECT v, "
                "dense_rank() OVER (ORDER BY v) AS n FROM (SELECT DISTINCT v FROM t)) AS a JOIN "
                "(SELECT v, dense_rank() OVER (ORDER BY v) AS n FROM (SELECT DISTINCT v FROM t)) "
                "AS b ON a.n + 1 = b.n")
    for method in (*LABELS[:3], "ordered"):
        found = metrics_of(con, f"anonymize_metrics('t', detail=true, k := 10, method := "
                                f"'{method}')")
        assert (found["classes"], found["lower_bound"], found["ratio"]) == (8, 10, 1)
    sizes = con.execute(
        "SELECT count(*) FROM anonymize('t', k := 20, method := 'ordered', representation := "
        "'number') GROUP BY v"
    ).fetchall()
    assert sizes == [(20,)] * 4
    found = metrics_of(con, "anonymize_metrics('t', detail=true, k := 20, method := 'zip_regions', "
                            "adjacency := 'pairs')")
    assert (found["codes_unknown"], found["classes"], found["class_size_max"]) == (0, 4, 20)


def test_ordered_takes_the_order_of_an_enum(con: Connection) -> None:
    con.execute("CREATE TYPE level AS ENUM ('low', 'mid', 'high', 'top')")
    con.execute("CREATE OR REPLACE TABLE t AS SELECT ['low', 'mid', 'high', 'top'][1 + i % 4]"
                "::level AS v FROM range(80) AS r(i)")
    rows = con.execute("SELECT DISTINCT v FROM anonymize('t', k := 35, method := 'ordered')")
    assert {row[0] for row in rows.fetchall()} == {"{low, mid}", "{high, top}"}


def test_cost_is_that_of_the_released_classes(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT chr(97 + i::INTEGER % 6) AS v "
                "FROM range(60) AS r(i)")
    for more in ("method := 'fold'", "method := 'ordered', objective := 'quadratic'"):
        found = metrics_of(
            con, (
                f"anonymize_metrics('t', detail=true, k := 15, {more}, representation := "
                f"'suppress')"
            )
        )
        squared = "quadratic" in more
        assert found["class_size_max"] == 60
        assert found["cost"] == (60 * 45 if squared else 60)
        assert found["ratio"] == found["cost"] / found["lower_bound"] > 1
        assert found["guaranteed_ratio"] is None


@pytest.mark.slow
def test_a_release_by_ordered_is_audited_as_it_was_measured(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT chr(97 + i::INTEGER % 6) AS v "
                "FROM range(60) AS r(i)")
    for representation in ("interval", "bounds"):
        call = f"'t', k := 30, method := 'ordered', representation := '{representation}'"
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize({call})")
        audited = metrics_of(con, "anonymize_audit('t', release := 'released')")
        shown = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
        assert audited["cells_unread"] == 0
        assert audited["entropy_loss"] == pytest.approx(shown["entropy_loss"])
