"""The same content gives the same bytes, and neither order nor ties give anything away."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.methods import METHODS as REGISTRY
from kanon_sql.methods import Grouping, Method
from kanon_sql.stages import remembered
from tests.support.connections import borrowed, registered
from tests.support.tables import OF_RECORDS, REPRESENTATIONS, arrow_bytes, fetch
from tests.support.thoroughness import thorough

Connection = duckdb.DuckDBPyConnection


shared = registered()
con = borrowed("DROP TABLE IF EXISTS t; SET TimeZone = 'UTC'; SET threads = 1")


# --- tables with ties ---------------------------------------------------------------------------

# 180 rows: quasi-identifiers of few values, some missing, whole rows repeated
TIES = """
    CREATE TABLE t AS
    SELECT CASE WHEN i % 11 > 0 THEN i % 3 END AS a,
           CASE WHEN i % 7 = 0 THEN 'nan'::DOUBLE WHEN i % 5 > 0 THEN (i % 4) / 3 END AS x,
           CASE WHEN i % 13 > 0 THEN ['Private', 'State-gov', ''][1 + i % 3] END AS w,
           DATE '2020-01-01' + (i % 6)::INTEGER AS day,
           i % 2 = 0 AS flag,
           ['Flu', 'Cold', 'NULL', NULL][1 + (i // 3) % 4] AS disease,
           [i % 2, NULL] AS visits
    FROM (SELECT i % 60 AS i FROM range(180) AS r(i))
"""
PASSING = "sensitive := ['disease', 'visits']"


ORDERS = 4 if thorough() else 3


def shuffled(con: Connection, seed: int) -> None:
    """Puts the rows of t into another order; the content stays."""
    rows = fetch(con, "FROM t")
    order = list(range(rows.num_rows))
    random.Random(seed).shuffle(order)
    con.register("reordered", rows.take(pa.array(order)))
    types = dict(con.execute("SELECT column_name, column_type FROM (DESCRIBE t)").fetchall())
    casts = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in types.items())
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {casts} FROM reordered")
    con.unregister("reordered")


def same_in_any_order(
    con: Connection, queries: Sequence[str], orders: int = ORDERS, runs: int = 1,
    crossed: bool = False,
) -> None:
    """Each query gives the same bytes over orders of the rows, threads and runs.

    Threads alternate between one and two, or are ``crossed`` with the orders.
    """
    first: dict[str, bytes] = {}
    for order in range(orders):
        if order:
            shuffled(con, order)
        for threads in (1, 2) if crossed else (1 + order % 2,):
            con.execute(f"SET threads = {threads}")
            for _ in range(runs):
                remembered.forget()
                for query in queries:
                    found = arrow_bytes(fetch(con, query))
                    assert found == first.setdefault(query, found), (query, order, threads)


@pytest.mark.slow
@pytest.mark.parametrize("method", OF_RECORDS)
def test_the_release_has_the_same_bytes_over_threads_runs_and_orders(
    con: Connection, method: str
) -> None:
    con.execute(TIES)
    gamma = ", gamma := 0.3" if method == "v_mdav" else ""
    call = f"('t', k := 7, method := '{method}', {PASSING}{gamma}, class_id := true, seed := 3)"
    runs = 3 if thorough() else 2
    same_in_any_order(con, [f"FROM anonymize{call}"], orders=3, runs=runs, crossed=True)


@pytest.mark.slow
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_each_representation_clusters_and_metrics_have_the_same_bytes(
    con: Connection, representation: str
) -> None:
    con.execute(TIES)
    call = f"('t', k := 4, method := 'mdav', {PASSING}, representation := '{representation}'"
    metrics = "SELECT metric, value, text FROM anonymize_metrics"
    same_in_any_order(
        con,
        [
            f"FROM anonymize{call}, seed := 5)",
            f"FROM anonymize{call}, nulls := 'suppress')",
            f"FROM anonymize_clusters{call})",
            f"{metrics}{call}) WHERE metric NOT LIKE 'seconds%' AND metric <> 'grouping_cache'",
        ],
    )


@pytest.mark.slow
def test_the_default_method_and_best_gamma_have_the_same_bytes(con: Connection) -> None:
    con.execute(TIES)
    calls = [f"FROM anonymize('t', {PASSING}, k := 5{m})" for m in ("", ", method := 'v_mdav'")]
    same_in_any_order(con, calls)


@pytest.mark.slow
def test_rows_that_are_all_equal_have_the_same_bytes(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS w, NULL::DOUBLE AS gone FROM range(50)")
    call = "('t', k := 3, method := 'mdav', sensitive := ['w'])"
    same_in_any_order(con, [f"FROM anonymize{call}", f"FROM anonymize_clusters{call}"])


# Content that is easily mistaken for other content when it is compared as text or by GROUP BY.
TWINS = {
    "zeros": "unnest(['0.0', '-0.0', '0.0', '-0.0', '1.0', '1.0'])::DOUBLE",
    "single zeros": "unnest(['0.0', '-0.0', '0.0', '-0.0', '1.0', '1.0'])::FLOAT",
    "nans": "unnest(['nan', '-nan', 'nan', NULL, '1.0', NULL])::DOUBLE",
    "null and its name": "unnest([NULL, 'NULL', NULL, 'NULL', 'null', ''])",
    "quotes": "unnest(['a', '''a''', '\"a\"', 'a', '''a''', '\"a\"'])",
    "commas": "unnest(['a, b', 'a', 'b', 'a, b', '''a, b''', ' b'])",
    "spaces": "unnest(['a', 'a ', ' a', 'a', 'a ', ' a'])",
    "accents": "unnest(['\u00e4', 'a\u0308', 'a', '\u00e4', 'a\u0308', 'A'])",
    "capitals": "unnest(['a', 'A', 'b', 'B', 'a', 'A'])",
    "zero bytes": "unnest(['a' || chr(0), 'a', 'a\\0', 'a' || chr(0), 'a', 'a\\0'])",
    "blobs": r"unnest(['\x00', '\x5Cx00', 'x00', '\x00', '\x5Cx00', 'x00'])::BLOB",
    "large integers": "unnest([0, 1, -1, 1, 0, -2])::BIGINT + 9007199254740992",
    "late microseconds": "make_timestamp(unnest([0, 1, -1, 1, 0, -2]) + 9007199254740992)",
    "moments": "unnest([0, 1, 0, 1, 2, 0]) * INTERVAL 1 hour "
    "+ '2020-10-25 00:30:00+00'::TIMESTAMPTZ",
}
PASSING_TWINS = {
    "lists": "unnest([['a, b'], ['a', 'b'], ['NULL'], [NULL], ['a, b'], ['a', 'b']])",
    "structs": "unnest([{'p': 'x, q: y'}, {'p': 'x'}, {'p': NULL}, {'p': 'NULL'}, {'p': ''}, "
    "NULL])",
    "maps": "unnest([MAP {'a': 'b, c=d'}, MAP {'a': 'b', 'c': 'd'}, MAP {}, NULL, MAP {'a': 'b'}, "
    "MAP {'a': 'NULL'}])",
    "months": "unnest(['1 month', '30 days', '720 hours', '1 month', '30 days', '720 hours'])"
    "::INTERVAL",
    "json": """unnest(['{"a": 1}', '{"a":1}', '1', '1.0', '"1"', 'null'])::JSON""",
    **TWINS,
}


@pytest.mark.slow
@pytest.mark.parametrize("twins", TWINS)
def test_quasi_identifiers_that_look_alike_do_not_depend_on_the_order(
    con: Connection, twins: str
) -> None:
    con.execute(f"SET TimeZone = 'Europe/Berlin'; CREATE TABLE t AS SELECT {TWINS[twins]} AS x")
    if twins == "capitals":
        con.execute("ALTER TABLE t RENAME TO plain; CREATE TABLE t (x VARCHAR COLLATE NOCASE)")
        con.execute("INSERT INTO t FROM plain; DROP TABLE plain")
    calls = [f"FROM anonymize('t', k := 6, representation := '{r}')" for r in REPRESENTATIONS]
    calls += ["FROM anonymize('t', k := 2, class_id := true)"]
    same_in_any_order(con, [*calls, "FROM anonymize_clusters('t', k := 3)"])


@pytest.mark.slow
@pytest.mark.parametrize("twins", PASSING_TWINS)
def test_sensitive_values_that_look_alike_do_not_depend_on_the_order(
    con: Connection, twins: str
) -> None:
    con.execute(f"CREATE TABLE t AS SELECT 1 AS a, {PASSING_TWINS[twins]} AS x")
    call = "('t', k := 2, method := 'mdav', sensitive := ['x'])"
    same_in_any_order(con, [f"FROM anonymize{call}", f"FROM anonymize_clusters{call}"])


@pytest.mark.parametrize("name", ["anonymize", "anonymize_clusters", "anonymize_metrics"])
def test_a_relation_that_changes_whenever_it_is_read_is_read_once(
    con: Connection, name: str
) -> None:
    con.execute("CREATE OR REPLACE SEQUENCE reads; SELECT nextval('reads')")
    con.execute("CREATE VIEW v AS SELECT nextval('reads') AS a, i % 3 AS b FROM range(20) AS r(i)")
    con.execute(f"FROM {name}('v', k := 4)").fetchall()
    assert con.execute("SELECT nextval('reads')").fetchall() == [(22,)]
    con.execute("DROP VIEW v; DROP SEQUENCE reads")


def in_canonical_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces mdav by a method that cuts the canonical order into groups of k."""

    class Cut(Method):
        def load(self) -> Callable[..., Grouping]:
            return lambda points, task, watch: Grouping(np.arange(len(points)) // task.k, {})

    known = {f.name: getattr(REGISTRY["mdav"], f.name) for f in dataclasses.fields(Method)}
    monkeypatch.setitem(REGISTRY, "mdav", Cut(**known))


@pytest.mark.slow
def test_many_rows_over_several_row_groups_have_the_same_bytes(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_canonical_order(monkeypatch)
    con.execute(
        "CREATE TABLE t AS SELECT i % 50 AS a, (i % 7) / 3 AS x, 'w' || i % 3 AS w, "
        "i % 5 AS disease FROM range(130000) AS r(i)"
    )
    call = "('t', k := 13, method := 'mdav', sensitive := ['disease'], class_id := true)"
    same_in_any_order(con, [f"FROM anonymize{call}"], orders=2, crossed=True)
    remembered.forget()


# --- settings of the session --------------------------------------------------------------------

SETTINGS = (
    "default_order = 'desc'",
    "default_null_order = 'nulls_first'",
    "integer_division = true",
    "preserve_insertion_order = false",
    "preserve_identifier_case = false",
    "arrow_large_buffer_size = true",
    "arrow_lossless_conversion = true",
    "produce_arrow_string_view = true",
    "old_implicit_casting = true",
    "enable_external_access = false",
    "disabled_optimizers = 'filter_pushdown,statistics_propagation,cte_inlining'",
)


@cache
def queries_of_all_calls() -> dict[str, list[Any]]:
    """Some queries over the table of small_table, and their results in a plain session."""
    call = "('t', k := 6, method := 'mdav', sensitive := ['s']"
    queries = [
        *(f"FROM anonymize{call}, representation := '{r}')" for r in REPRESENTATIONS),
        f"FROM anonymize{call}, class_id := true)",
        f"FROM anonymize_clusters{call})",
        f"SELECT metric, value FROM anonymize_metrics{call}, detail := true) WHERE metric NOT "
        f"LIKE 'seconds%'",
        "FROM k_anonymity('t', quasi_identifiers := ['a', 'w'], k := 3)",
    ]
    with kanon_sql.register(duckdb.connect()) as plain:
        small_table(plain)
        return {query: plain.execute(query).fetchall() for query in queries}


def small_table(con: Connection) -> None:
    """Classes of unequal size, in which one word is more frequent than the other."""
    con.execute(
        "CREATE TABLE t AS SELECT i % 4 AS a, ['often', 'often', 'rare'][1 + i % 3] AS w, "
        "i // 5 AS s FROM range(25) AS r(i)"
    )


ZONED = """
    CREATE TABLE t AS
    SELECT i AS id, i % 50 AS age, 's' || i % 4 AS s,
           TIMESTAMPTZ '2024-03-30 22:30:00+00' + to_hours(i * 37 % 61) AS seen
    FROM range(240) AS r(i)
"""


@pytest.mark.parametrize("roles", [
    "quasi_identifiers := ['age'], sensitive := ['s', 'id'], identifiers := ['seen']",
    "quasi_identifiers := ['age'], sensitive := ['s', 'id'], others := 'drop'",
    "quasi_identifiers := ['age'], sensitive := ['s', 'seen'], identifiers := ['id']",
    "quasi_identifiers := ['age', 'seen'], sensitive := ['s'], identifiers := ['id']",
    "quasi_identifiers := ['age'], sensitive := ['s', 'seen'], entity := 'id', class_id := true",
])
def test_the_time_zone_of_the_session_changes_no_row(con: Connection, roles: str) -> None:
    con.execute(ZONED)
    found = []
    for zone in ("UTC", "America/New_York", "Europe/Berlin"):
        con.execute(f"SET TimeZone = '{zone}'")
        remembered.forget()
        query = f"FROM anonymize('t', k := 5, seed := 3, {roles})"
        found.append(con.execute(query).fetchall())
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_of_the_session_changes_no_result(setting: str) -> None:
    with kanon_sql.register(duckdb.connect()) as con:
        small_table(con)
        con.execute(f"SET {setting}")
        for query, expected in queries_of_all_calls().items():
            found = con.execute(query).fetchall()
            if "clusters" in query:
                assert unordered(found) == unordered(expected), query
            else:
                assert found == expected, query


def unordered(rows: list[Any]) -> list[Any]:
    """Sorted rows of sorted multisets: a setting may change the order of DuckDB's histograms."""
    return sorted(
        tuple(sorted(map(str, cell)) if isinstance(cell, list) else cell for cell in row)
        for row in rows
    )
