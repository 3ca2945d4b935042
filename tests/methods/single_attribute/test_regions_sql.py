"""zip_regions through SQL: regions that are connected, islands, and what is refused."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.connections import registered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import often

Connection = duckdb.DuckDBPyConnection


con = registered("SET threads = 2")


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


@pytest.mark.slow
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
    told = metrics_of(con, f"anonymize_metrics({ZIP}, detail := true)")
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


@pytest.mark.slow
def test_islands_are_refused_left_out_or_joined(con: Connection) -> None:
    graph(con, "('a', 3), ('b', 4), ('c', 2), ('d', 1), ('x', 1), (NULL, 2)",
          "('a', 'b'), ('c', 'd'), ('d', 'c'), ('q', 'a')")
    said = refusal_of(con, f"FROM anonymize({ZIP})")
    assert "4 codes with 6 rows" in said
    assert "islands='suppress'" in said
    assert released(con, ", islands := 'suppress'") == [("{a, b}", 7)]
    told = metrics_of(con, f"anonymize_metrics({ZIP}, islands := 'suppress', detail := true)")
    assert (told["rows"], told["rows_released"], told["rows_suppressed"]) == (13, 7, 6)
    assert (told["islands"], told["island_rows"], told["codes_unknown"]) == (3, 6, 2)
    con.execute("CREATE OR REPLACE TABLE spots AS FROM (VALUES ('a', 1.0, 1.0), ('b', 2.0, 1.0), "
                "('c', 2.0, 3.0), ('x', 9.0, 9.0)) AS s(code, lat, lon)")
    joined = ", islands := 'nearest', places := 'spots'"
    assert "places" in refusal_of(con, f"FROM anonymize({ZIP}{joined})")
    con.execute("DELETE FROM t WHERE zip IS NULL")
    assert released(con, joined) == [("{a, b, c, d, x}", 11)]
    told = metrics_of(con, f"anonymize_metrics({ZIP}{joined}, detail := true)")
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
    told = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    assert 9 <= min(sizes)[0] <= max(sizes)[0] <= told["guaranteed_ratio"] * 9
    con.execute("INSERT INTO spots VALUES ('c1', 'nan', 3.0), (NULL, 1.0, 1.0)")
    assert sizes == con.execute(query).fetchall()


@pytest.mark.parametrize(("more", "expected"), [
    ("", "neighbours"),
    ("adjacency := 'three'", "has 3 columns (a, b, c)"),
    ("adjacency := 'nobody'", "nobody"),
    ("adjacency := 'empty'", "has no rows"),
    ("places := 'pairs'", "has 2 columns (a, b)"),
    ("places := 'words'", "not numbers"),
    ("adjacency := 'pairs', islands := 'sink'", "'sink' is not known"),
    ("adjacency := 'pairs', islands := 'nearest'", "where codes lie"),
    ("adjacency := 'pairs', suppress := 0.1", "suppress has no meaning"),
    ("adjacency := 'pairs', hierarchies := {'zip': 'prefix'}", "hierarchies has no meaning"),
    ("adjacency := 'pairs', sequence := 'sorted'", "takes no sequence"),
    ("adjacency := 'pairs', effort := 'balanced'", "can't be refined"),
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
    said = refusal_of(con, f"FROM anonymize('t', k := 5, method := 'zip_regions'{given})")
    assert expected in said
    assert "secret" not in said


def test_a_graph_that_knows_no_code_is_refused(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE t AS SELECT ['01001', '01002'][1 + i % 2] AS zip, "
                "i % 7 AS age FROM range(40) AS r(i)")
    con.execute("CREATE OR REPLACE TABLE pairs AS FROM (VALUES (1001, 1002)) AS s(a, b)")
    calls = (
        "'t', k := 5, method := 'zip_regions', quasi_identifiers := ['zip'], others := 'release', "
        "adjacency := 'pairs'",
        "'t', k := 5, method := 'mdav', hierarchies := {'zip': {'kind': 'adjacency', "
        "'adjacency': 'pairs'}}",
    )
    for call in calls:
        said = refusal_of(con, f"FROM anonymize({call})")
        assert "doesn't know any of the 2 codes" in said
        assert "'01001' and not 1001" in said  # an example, whatever the data
    con.execute("INSERT INTO pairs VALUES (5, 6); UPDATE t SET zip = '5' WHERE age < 3")
    said = refusal_of(con, f"FROM anonymize({calls[0].replace('5,', '30,', 1)})")
    assert "2 codes of the data are unknown to the graph" in said


@pytest.mark.parametrize("name", ["cells", "columns", "taken"])
def test_a_relation_with_a_name_of_the_query_is_refused(con: Connection, name: str) -> None:
    graph(con, "('a', 3), ('b', 4)", "('a', 'b')")
    con.execute(f"CREATE OR REPLACE TABLE _{name} AS FROM pairs")
    call = "FROM anonymize('t', k := 5, method := 'zip_regions', adjacency := "
    assert "starts with '__kanon_'" in refusal_of(con, f"{call}'__kanon_{name}')")
    assert con.execute(f"{call}'_{name}')").fetchall() == [("{a, b}",)] * 7
    con.execute(f"DROP TABLE _{name}")
