"""What the metrics say that a release loses is what an audit of it finds, or the audit says NULL.

The two share no code for it: one measures classes of encoded rows, the other reads texts.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.support import tables
from tests.support.connections import registered
from tests.support.queries import metrics_of
from tests.support.tables import Column
from tests.support.thoroughness import examples

Found = dict[str, float | None]
often = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck)
)
METHODS = ("mdav_star", "k_member", "mondrian", "mdav_plus")
OF_ONE = ("ordered", "five_halves", "fold")
KINDS = ("tinyint", "integer", "double", "float", "decimal", "date", "timestamp", "timestamptz",
         "time", "boolean", "text", "enum", "uuid", "blob")
SHARED = ("total_il", "ncp", "entropy_loss")

base = registered("SET TimeZone = 'Europe/Berlin'")


def both(
    con: duckdb.DuckDBPyConnection, options: str, roles: str, audit: str = ""
) -> tuple[Found, Found]:
    """The metrics of a release of t, and what an audit of it tells."""
    try:
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('t', {options}, {roles})")
    except duckdb.Error as error:
        assume("rows to anonymize" not in str(error))
        raise
    measured = metrics_of(con, f"anonymize_metrics('t', detail=true, {options}, {roles})")
    return measured, metrics_of(con, f"anonymize_audit('t', release='released', {roles}{audit})")


def agree(measured: Found, audited: Found) -> int:
    """How many numbers both tell, all of them the same."""
    names = [name for name in audited if name in SHARED or name.startswith("ncp (")]
    for name in names:
        if audited[name] is not None:
            assert measured[name] is not None, name
            assert audited[name] == pytest.approx(measured[name], rel=1e-9, abs=1e-9), name
    if audited["ncp"] is not None or measured["ncp"] is not None:
        least, most = audited["ncp_at_least"], measured["ncp"]
        assert least is not None and least <= (1.0 if most is None else most) + 1e-9
        bound = audited["ncp_at_most"]
        assert bound is not None and bound >= (0.0 if most is None else most) - 1e-9
    return sum(audited[name] is not None for name in names)


@pytest.mark.slow
@often
@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.integers(4, 40), st.data(),
    st.sampled_from(METHODS), st.sampled_from(tables.REPRESENTATIONS),
    st.sampled_from(["value", "value", "suppress"]), st.sampled_from(["", ", suppress=0.2"]),
)
def test_metrics_and_audit_agree(
    base: duckdb.DuckDBPyConnection, kinds: list[str], rows: int, data: Any, method: str,
    representation: str, nulls: str, left_out: str,
) -> None:
    columns = [data.draw(tables.columns_of(f"c{j}", rows, [kind])) for j, kind in enumerate(kinds)]
    tables.create(base, "t", [*columns, Column("s", "integer", tuple(range(rows)))])
    quasi = ", ".join(f"'{column.name}'" for column in columns)
    options = (
        f"k=3, method='{method}', representation='{representation}', nulls='{nulls}'{left_out}"
    )
    agree(*both(base, options, f"quasi_identifiers=[{quasi}], sensitive=['s']"))


@pytest.mark.slow
@often
@given(
    st.integers(4, 40), st.data(), st.sampled_from(METHODS),
    st.sampled_from([*tables.REPRESENTATIONS, None]), st.sampled_from(["value", "suppress"]),
    st.booleans(),
)
def test_they_agree_where_columns_have_hierarchies(
    base: duckdb.DuckDBPyConnection, rows: int, data: Any, method: str,
    representation: str | None, nulls: str, everywhere: bool,
) -> None:
    zips = st.sampled_from(["1000", "1001", "1010", "1011", "1100", "2000", "2001", None])
    ages = st.sampled_from([20, 21, 25, 30, 41, 42, None])
    base.execute("CREATE OR REPLACE TABLE t(zip VARCHAR, age INTEGER, other INTEGER, s INTEGER)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [
        [data.draw(zips), data.draw(ages), data.draw(st.integers(0, 3)), i] for i in range(rows)
    ])
    # levels for every value there may be, so that those of a part of the rows are the same
    base.execute("""
        CREATE OR REPLACE TABLE zips AS
        SELECT z AS level0, z[:3] || '*' AS level1, z[:2] || '**' AS level2, '*' AS level3
        FROM (SELECT unnest(['1000', '1001', '1010', '1011', '1100', '2000', '2001']) AS z);
        CREATE OR REPLACE TABLE ages AS
        SELECT a AS level0, a // 10 || '0s' AS level1, '*' AS level2
        FROM (SELECT unnest([20, 21, 25, 30, 41, 42]) AS a)
    """)
    shown = f", representation='{representation}'" if representation else ""
    trees = ", hierarchies={'zip': 'zips'" + (", 'age': 'ages'" if everywhere else "") + "}"
    options = f"k=3, method='{method}', nulls='{nulls}'{shown}{trees}"
    roles = "quasi_identifiers=['zip', 'age', 'other'], sensitive=['s']"
    agree(*both(base, options, roles, trees))
    if representation is None and nulls == "value":
        whole = trees.replace("}", ", 'age': 'ages', 'other': 'flat'}").replace(
            ", 'age': 'ages', 'age'", ", 'age'")
        agree(*both(base, f"k=3, method='full_domain'{whole}", roles, whole))


TEXTS = st.sampled_from(["a", "b", "c", "d", "e", "f", None])


@pytest.mark.slow
@often
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=4, max_size=30), st.sampled_from(METHODS))
def test_values_that_only_rows_with_null_have_are_values_of_the_relation(
    base: duckdb.DuckDBPyConnection, cells: list[tuple[str | None, str | None]], method: str
) -> None:
    """The hierarchies of a release lack them."""
    base.execute("CREATE OR REPLACE TABLE t(p VARCHAR, d VARCHAR, s INTEGER)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", [
        [*pair, i] for i, pair in enumerate(cells)
    ])
    trees = ", hierarchies={'p': 'flat', 'd': 'flat'}"
    options = f"k=3, method='{method}', nulls='suppress'{trees}"
    agree(*both(base, options, "quasi_identifiers=['p', 'd'], sensitive=['s']", trees))


def test_a_value_beside_null_is_not_null(people: duckdb.DuckDBPyConnection) -> None:
    people.execute("""
        CREATE OR REPLACE TABLE t AS FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y'), ('d', 'z'),
            (NULL, 'x'), (NULL, 'x'), ('e', NULL)) AS v(p, d)
    """)
    trees = ", hierarchies={'p': 'flat', 'd': 'flat'}"
    options = f"k=4, method='mondrian', nulls='suppress'{trees}"
    measured, audited = both(people, options, "quasi_identifiers=['p', 'd']", trees)
    # of seven rows five have values of their own in p, and four have the same in d
    expected = (math.log2(7) - 2 / 7 + math.log2(7) - 8 / 7) / 2
    for found in (measured, audited):
        assert found["entropy_loss"] == pytest.approx(expected)


@pytest.mark.slow
@often
@given(
    st.sampled_from(["integer", "text", "date", "double"]), st.integers(6, 40), st.data(),
    st.sampled_from(OF_ONE), st.sampled_from([*tables.REPRESENTATIONS, "number"]),
)
def test_they_agree_for_methods_of_one_attribute(
    base: duckdb.DuckDBPyConnection, kind: str, rows: int, data: Any, method: str,
    representation: str,
) -> None:
    column = data.draw(tables.columns_of("c", rows, [kind]))
    tables.create(base, "t", [column, Column("s", "integer", tuple(range(rows)))])
    options = f"k=3, method='{method}', representation='{representation}'"
    agree(*both(base, options, "quasi_identifiers=['c'], sensitive=['s']"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", ["", ", tight=true", ", representation='interval'",
                                     ", representation='suppress'", ", representation='centroid'"])
@pytest.mark.parametrize("missing", ["false", "i % 9 = 4"])
def test_they_agree_for_rectangles(
    base: duckdb.DuckDBPyConnection, options: str, missing: str
) -> None:
    base.execute(f"""
        CREATE OR REPLACE TABLE t AS
        SELECT CASE WHEN {missing} THEN NULL ELSE 40 + hash(i) % 97 / 10 END AS lat,
               -74 + hash(i + 1) % 89 / 10 AS lon, i AS s
        FROM range(80) AS r(i)
    """)
    found = both(base, f"k=4, method='gps_rectangles'{options}",
                 "quasi_identifiers=['lat', 'lon'], sensitive=['s']")
    agreed = agree(*found)
    assert agreed >= (5 if "centroid" not in options and missing == "false" else 0)
    plain = found[0]
    assert plain["ncp_grouping"] is not None
    if not options:  # a box is larger than the places in it
        assert plain["ncp"] is not None and plain["ncp"] > plain["ncp_grouping"]


@pytest.fixture
def people(base: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    base.execute("""
        CREATE OR REPLACE TABLE t AS
        SELECT (20 + hash(i) % 40)::INTEGER AS age, i AS s,
               ['x', 'y', 'z'][1 + (hash(i) % 3)::INTEGER] AS job
        FROM range(90) AS r(i)
    """)
    return base


ROLES = "quasi_identifiers=['age', 'job'], sensitive=['s']"


@pytest.mark.sample(1)
@pytest.mark.parametrize("representation", ["interval", "bounds", "suppress"])
def test_true_releases_are_told(people: duckdb.DuckDBPyConnection, representation: str) -> None:
    """The audit isn't NULL where there is nothing to hide."""
    options = f"k=3, method='mondrian', representation='{representation}'"
    measured, audited = both(people, options, ROLES)
    assert agree(measured, audited) == 5
    classes = people.execute("""
        SELECT age, job, count(*) AS n, list(was) AS ages, list(had) AS jobs
        FROM released JOIN (SELECT s, age AS was, job AS had FROM t) USING (s) GROUP BY ALL
    """).fetchall()
    span, = people.execute("SELECT max(age) - min(age) FROM t").fetchall()[0]
    lost = [0.0, 0.0]
    for _, _, n, ages, jobs in classes:
        whole = representation == "suppress"
        width = max(ages) - min(ages)
        lost[0] += n * (float(width > 0) if whole else width / span)
        lost[1] += n * float(len(set(jobs)) > 1)
    assert measured["ncp (age)"] == pytest.approx(lost[0] / 90, rel=1e-12)
    assert measured["ncp (job)"] == pytest.approx(lost[1] / 90, rel=1e-12)
    assert measured["total_il"] == pytest.approx(sum(lost), rel=1e-12)
    if representation == "suppress":
        assert measured["ncp"] > measured["ncp_grouping"]
    else:
        assert measured["ncp"] == pytest.approx(measured["ncp_grouping"], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["centroid", "median"])
def test_of_points_nothing_is_told(
    people: duckdb.DuckDBPyConnection, representation: str
) -> None:
    measured, audited = both(people, f"k=3, representation='{representation}'", ROLES)
    for name in SHARED:
        assert measured[name] is None and audited[name] is None
    assert audited["ncp_at_least"] == 0.0 and measured["ncp_grouping"] > 0.0
    # of classes that agree the point is the value
    people.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS age, 'x' AS job, i AS s FROM "
                   "range(9) AS r(i)")
    measured, audited = both(people, f"k=3, representation='{representation}'", ROLES)
    assert measured["ncp"] == audited["ncp"] == measured["entropy_loss"] == 0.0


def test_rows_left_out_count_whole(people: duckdb.DuckDBPyConnection) -> None:
    people.execute("INSERT INTO t BY NAME SELECT 400 AS age, 'x' AS job, 90 AS s")
    options = "k=3, method='k_member', suppress=0.05"
    measured, audited = both(people, options, ROLES)
    assert measured["rows_suppressed"] > 0 and agree(measured, audited) == 5
    without = people.execute("SELECT count(*) FROM released").fetchone()
    assert without is not None and audited["ncp_at_least"] == pytest.approx(audited["ncp"])


def test_a_median_that_could_be_unchanged_by_its_counts_is_found_by_what_passes(
    base: duckdb.DuckDBPyConnection
) -> None:
    """Two classes, {1, 1, 2} and {1, 2, 2}: both columns have each value three times."""
    base.execute("CREATE OR REPLACE TABLE t AS SELECT unnest([1, 1, 2, 1, 2, 2]) AS a, "
                 "unnest([1, 2, 3, 4, 5, 6]) AS s, unnest([1, 1, 1, 1, 1, 1]) AS flu")
    base.execute("CREATE OR REPLACE TABLE released AS SELECT unnest([1, 1, 1, 2, 2, 2]) AS a, s, "
                 "flu FROM (SELECT unnest([1, 2, 3, 4, 5, 6]) AS s, 1 AS flu)")
    base.execute("CREATE OR REPLACE TABLE released AS SELECT CASE WHEN s < 4 THEN 1 ELSE 2 END AS "
                 "a, s, flu FROM t")
    counts = [Counter(base.execute(f"SELECT a FROM {t}").fetchall()) for t in ("t", "released")]
    assert counts[0] == counts[1]
    with_key = metrics_of(base, "anonymize_audit('t', release='released', quasi_identifiers=['a'], "
                          "sensitive=['s', 'flu'])")
    assert with_key["ncp"] is None and with_key["ncp_at_least"] == 0.0
    # without anything to tell rows apart it is the source, as far as anybody can see
    base.execute("ALTER TABLE t DROP s; ALTER TABLE released DROP s")
    without = metrics_of(base, "anonymize_audit('t', release='released', quasi_identifiers=['a'], "
                         "sensitive=['flu'])")
    assert without["ncp"] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("tree", ["{'zip': 'prefix'}", "{'zip': 'prefix', 'job': 'flat'}"])
def test_an_audit_without_the_hierarchies_tells_bounds(
    base: duckdb.DuckDBPyConnection, tree: str
) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT (47000 + i * 37 % 97)::VARCHAR AS zip, i % 40 AS age, "
        "['clerk', 'cook', 'nurse', NULL][1 + i * i % 4] AS job FROM range(120) AS r(i)"
    )
    roles = "quasi_identifiers := ['zip', 'age', 'job']"
    for k, more in ((3, ""), (5, ", suppress := 0.1"), (9, ", method := 'mondrian'")):
        measured, audited = both(
            base, f"k := {k}, representation := {{'age': 'interval'}}, hierarchies := {tree}{more}",
            roles,
        )
        least, true, most = audited["ncp_at_least"], measured["ncp"], audited["ncp_at_most"]
        assert audited["ncp"] is None and audited["cells_unread"]
        assert least is not None and true is not None and most is not None
        assert least - 1e-9 <= true <= most + 1e-9 < 1.0
        with_tree = metrics_of(
            base, f"anonymize_audit('t', release='released', {roles}, hierarchies := {tree})"
        )
        assert with_tree["ncp"] == pytest.approx(true)
        assert with_tree["ncp_at_least"] == pytest.approx(with_tree["ncp_at_most"])
