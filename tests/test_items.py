"""Methods of one attribute (du2009) through SQL: what comes out, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import recall
from kanon_sql.grouping import METHODS
from tests.test_fail_closed import broken, last_group_is_one_short
from tests.test_surface import refusal
from tests.thoroughness import examples

Connection = duckdb.DuckDBPyConnection
LABELS = ("fold", "spread", "five_halves", "bin_cover", "ordered")


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    connection = kanon_sql.register(duckdb.connect())
    connection.execute("SET enable_progress_bar = false; SET threads = 2")
    yield connection
    connection.close()


def often(most: int) -> settings:
    return settings(max_examples=examples(most), deadline=None)


def metrics(con: Connection, call: str) -> dict[str, Any]:
    rows = con.execute(f"SELECT metric, value FROM anonymize_metrics({call})").fetchall()
    return dict(rows)


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
        assert {row[1] for row in members} == {shown(texts, method == "ordered")}
    found = metrics(con, call)
    sizes = Counter(row[1] for row in rows)
    assert found["class_size_max"] == max(sizes.values())
    assert found["overfull_ratio"] == max(sizes.values()) / k
    assert found["quadratic_penalty"] == sum(size * (size - k) for size in sizes.values())
    assert k <= found["lower_bound"] <= found["cost"]
    if method in ("fold", "spread", "ordered"):  # what they promise is over kappa itself
        assert found["ratio"] <= found["guaranteed_ratio"] + 1e-9


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
        recall.forget()
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
    call = f"'t', k := 25, method := '{method}', quasi_identifiers := {own}"
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
        metrics(con, f"'t', k := 4, method := 'ordered', objective := '{name}'")
        for name in ("largest", "quadratic")
    )
    assert largest["cost"] == largest["lower_bound"] == largest["class_size_max"] == 9
    assert quadratic["cost"] == quadratic["lower_bound"] == quadratic["quadratic_penalty"]
    assert quadratic["quadratic_penalty"] <= largest["quadratic_penalty"]
    assert largest["ratio"] == quadratic["ratio"] == 1.0


# --- regions --------------------------------------------------------------------------------------


def graph(con: Connection, rows: str, pairs: str) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT zip FROM (VALUES {rows}) AS s(zip, n), range(n)"
    )
    con.execute(f"CREATE OR REPLACE TABLE pairs AS FROM (VALUES {pairs}) AS s(a, b)")


ZIP = "'t', k := 5, method := 'zip_regions', adjacency := 'pairs'"


def released(con: Connection, more: str = "") -> list[tuple[Any, ...]]:
    return con.execute(
        f"SELECT zip, count(*) FROM anonymize({ZIP}{more}) GROUP BY zip ORDER BY zip"
    ).fetchall()


def connected(nodes: set[str], links: set[tuple[str, str]]) -> bool:
    reached, ahead = set(), [min(nodes)]
    while ahead:
        node = ahead.pop()
        reached.add(node)
        ahead += [b for a, b in links if a == node and b in nodes and b not in reached]
    return reached == nodes


@often(40)
@given(st.data())
def test_regions_are_connected_and_have_k_rows(con: Connection, data: st.DataObject) -> None:
    side = data.draw(st.integers(2, 4))
    codes = [f"{i:03}" for i in range(side * side)]
    size = {code: data.draw(st.integers(0, 6)) for code in codes}
    links = {(a, a + 1) for a in range(side * side) if (a + 1) % side} | {
        (a, a + side) for a in range(side * side - side)
    }
    pairs = [(codes[a], codes[b]) for a, b in sorted(links)]
    directed = [pair if data.draw(st.booleans()) else pair[::-1] for pair in pairs]
    con.execute("CREATE OR REPLACE TABLE t (zip VARCHAR)")
    con.execute("CREATE OR REPLACE TABLE pairs (a VARCHAR, b VARCHAR)")
    con.executemany("INSERT INTO pairs VALUES (?, ?)", [*map(list, directed), ["000", "000"]])
    rows = [[code] for code in codes for _ in range(size[code])]
    if len(rows) < 5:
        return
    con.executemany("INSERT INTO t VALUES (?)", rows)
    both = set(pairs) | {pair[::-1] for pair in pairs}
    found = con.execute(
        f"SELECT zip, count(*) FROM anonymize({ZIP}, representation := 'bounds') GROUP BY zip"
    ).fetchall()
    assert sum(count for _, count in found) == len(rows)
    members = [set(region) for region, _ in found]
    for region, (_, count) in zip(members, found, strict=True):
        assert count == sum(size[code] for code in region) >= 5
        # codes without rows may connect a region; no other region needs them
        nobodys = {code for code in codes if size[code] == 0}
        assert connected(region | _reached(region, nobodys, both), both)
    assert sorted(code for region in members for code in region) == [c for c in codes if size[c]]
    told = metrics(con, ZIP)
    kappa, degree = max(5, *size.values()), told["spanning_degree"]
    assert told["class_size_max"] <= kappa + degree * 4
    assert told["class_size_max"] >= told["lower_bound"] >= kappa
    assert told["ratio"] <= told["guaranteed_ratio"] + 1e-9


def _reached(
    region: set[str], nobodys: set[str], links: set[tuple[str, str]]
) -> set[str]:
    """Codes without rows that are connected with the region."""
    near: set[str] = set()
    while True:
        more = {b for a, b in links if a in region | near and b in nobodys} - near
        if not more:
            return near
        near |= more


def test_codes_are_found_whatever_the_type_of_their_column(con: Connection) -> None:
    for kind in ("INTEGER", "VARCHAR", "DOUBLE", "BIGINT"):
        graph(con, "(1, 3), (2, 2), (3, 4), (4, 1)", "(1, 2), (3, 2), (3, 4)")
        con.execute(f"ALTER TABLE t ALTER zip TYPE {kind}")
        dot = ".0" if kind == "DOUBLE" else ""
        assert released(con) == [(f"{{1{dot}, 2{dot}}}", 5), (f"{{3{dot}, 4{dot}}}", 5)]


def test_islands_are_refused_left_out_or_joined(con: Connection) -> None:
    graph(con, "('a', 3), ('b', 4), ('c', 2), ('d', 1), ('x', 1), (NULL, 2)",
          "('a', 'b'), ('c', 'd'), ('d', 'c'), ('q', 'a')")
    said = refusal(con, f"FROM anonymize({ZIP})")
    assert "4 codes with 6 rows" in said
    assert "islands := 'suppress'" in said
    assert released(con, ", islands := 'suppress'") == [("{a, b}", 7)]
    told = metrics(con, f"{ZIP}, islands := 'suppress'")
    assert (told["rows_in"], told["rows_released"], told["rows_suppressed"]) == (13, 7, 6)
    assert (told["islands"], told["island_rows"], told["codes_unknown"]) == (3, 6, 2)
    con.execute("CREATE OR REPLACE TABLE spots AS FROM (VALUES ('a', 1.0, 1.0), ('b', 2.0, 1.0), "
                "('c', 2.0, 3.0), ('x', 9.0, 9.0)) AS s(code, lat, lon)")
    joined = ", islands := 'nearest', places := 'spots'"
    assert "places" in refusal(con, f"FROM anonymize({ZIP}{joined})")
    con.execute("DELETE FROM t WHERE zip IS NULL")
    assert released(con, joined) == [("{a, b, c, d, x}", 11)]
    told = metrics(con, f"{ZIP}{joined}")
    assert told["guaranteed_ratio"] is None
    assert told["rows_suppressed"] == 0


def test_a_strange_code_with_k_rows_is_a_region_of_its_own(con: Connection) -> None:
    graph(con, "('a', 3), ('b', 4), ('x', 6), (NULL, 5)", "('a', 'b')")
    assert released(con) == [("x", 6), ("{a, b}", 7), (None, 5)]


def test_neighbours_follow_from_places(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 'c' || i AS zip FROM range(36) AS r(i), range(3)"
    )
    con.execute(
        "CREATE OR REPLACE TABLE spots AS SELECT 'c' || i AS code, (i // 6)::DOUBLE AS lat, "
        "(i % 6)::DOUBLE AS lon FROM range(36) AS r(i)"
    )
    call = "'t', k := 9, method := 'zip_regions', places := 'spots'"
    query = f"SELECT count(*) FROM anonymize({call}) GROUP BY zip ORDER BY ALL"
    sizes = con.execute(query).fetchall()
    assert sum(n for (n,) in sizes) == 108
    assert 9 <= min(sizes)[0] <= max(sizes)[0] <= metrics(con, call)["guaranteed_ratio"] * 9
    con.execute("INSERT INTO spots VALUES ('c1', 'nan', 3.0), (NULL, 1.0, 1.0)")
    assert sizes == con.execute(query).fetchall()


@pytest.mark.parametrize(("more", "expected"), [
    ("", "neighbours"),
    ("adjacency := 'three'", "has 3 columns (a, b, c)"),
    ("adjacency := 'nobody'", "nobody"),
    ("adjacency := 'empty'", "has no rows"),
    ("places := 'pairs'", "has 2 columns (a, b)"),
    ("places := 'words'", "no numbers"),
    ("adjacency := 'pairs', islands := 'sink'", "'sink' is not known"),
    ("adjacency := 'pairs', islands := 'nearest'", "where codes lie"),
    ("adjacency := 'pairs', suppress := 0.1", "suppress has no meaning"),
    ("adjacency := 'pairs', hierarchies := {'zip': 'prefix'}", "hierarchies has no meaning"),
    ("adjacency := 'pairs', sequence := 'sorted'", "takes no sequence"),
    ("adjacency := 'pairs', refine := 'local'", "can't be refined"),
    ("adjacency := 'pairs', distance := 'sse'", "Leave distance out"),
])
def test_what_can_not_be_is_refused_in_a_sentence(
    con: Connection, more: str, expected: str
) -> None:
    graph(con, "('secret', 3), ('b', 4)", "('a', 'secret'), ('secret', 'b')")
    con.execute("CREATE OR REPLACE TABLE three AS SELECT 1 AS a, 2 AS b, 3 AS c")
    con.execute("CREATE OR REPLACE TABLE empty AS SELECT 1 AS a, 2 AS b LIMIT 0")
    con.execute("CREATE OR REPLACE TABLE words AS SELECT 'c' AS code, 'secret' AS lat, '1' AS lon")
    given = f", {more}" if more else ""
    said = refusal(con, f"FROM anonymize('t', k := 5, method := 'zip_regions'{given})")
    assert expected in said
    assert "secret" not in said


@pytest.mark.parametrize("method", [name for name, m in METHODS.items() if m.items])
def test_other_quasi_identifiers_are_never_left_as_they_are(con: Connection, method: str) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS zip, i AS age, i AS z FROM range(30) AS r(i)"
    )
    for relation in ("'t'", "'c'", "'t', quasi_identifiers := ['zip', 'age', 'z']"):
        query = f"WITH c AS (FROM t) FROM anonymize({relation}, k := 3, method := '{method}'"
        more = ", adjacency := 'pairs')" if method == "zip_regions" else ")"
        said = refusal(con, query + more)
        if relation != "'c'" or method != "gps_rectangles":
            assert "there are 3: zip, age, z" in said
            assert "hierarchies := {" in said


@pytest.mark.parametrize("method", [*LABELS, "gps_rectangles"])
def test_a_broken_method_releases_nothing(
    con: Connection, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT i AS x, i * i AS y FROM range(40) AS r(i)")
    broken(monkeypatch, last_group_is_one_short, method)
    own = "['x', 'y']" if method == "gps_rectangles" else "['x']"
    more = ", tight := true" if method == "gps_rectangles" else ""
    said = refusal(con, f"FROM anonymize('t', k := 4, method := '{method}', "
                        f"quasi_identifiers := {own}{more})")
    assert "The release was stopped" in said
    recall.forget()
