"""Classes are counted as a reader sees them: values that compare as equal may look different."""

from __future__ import annotations

import re

import duckdb
import pytest

from kanon_sql.plan.query import plan
from tests.support.catalogs import MadeUp
from tests.support.connections import registered
from tests.support.queries import metrics_of

LOOK_ALIKE = {  # they are equal to GROUP BY, and a reader tells them apart
    "DOUBLE": ("'0.0'", "'-0.0'"),
    "FLOAT": ("'0.0'", "'-0.0'"),
    "double": ("'nan'", "-('nan'::DOUBLE)"),
    "INTERVAL": ("'1 month'", "'30 days'"),
    "Interval": ("'1 day'", "'24:00:00'"),
    "DOUBLE[]": ("['0.0']", "['-0.0']"),
    "DOUBLE[1]": ("['0.0']", "['-0.0']"),
    "STRUCT(a INTERVAL)": ("{'a': INTERVAL 1 MONTH}", "{'a': INTERVAL 30 DAYS}"),
    "MAP(VARCHAR, DOUBLE)": ("MAP {'a': 0.0::DOUBLE}", "MAP {'a': -0.0::DOUBLE}"),
    "UNION(a DOUBLE)": ("0.0::DOUBLE", "-0.0::DOUBLE"),
    "STRUCT(a DOUBLE[])[]": ("[{'a': ['0.0']}]", "[{'a': ['-0.0']}]"),
}
APART = {  # these differ in any case
    "VARCHAR": ("'a'", "'A'"),
    "TIME WITH TIME ZONE": ("'10:00:00+00'", "'11:00:00+01'"),
    "TIMESTAMP WITH TIME ZONE": ("'2020-10-25 02:30:00+02'", "'2020-10-25 02:30:00+01'"),
    "TIMESTAMP_NS": ("'2020-01-01 00:00:00.000000001'", "'2020-01-01 00:00:00.000000002'"),
    "DATE": ("'2020-01-01'", "'2020-01-02'"),
    "TIME": ("'00:00:00'", "'24:00:00'"),
    "BOOLEAN": ("true", "NULL"),
    "BIT": ("'01'", "'1'"),
    "JSON": ("'1'", "'1.0'"),
    "BLOB": ("'a'", "'A'"),
    "UUID": tuple(f"'00000000-0000-0000-0000-00000000000{i}'" for i in (0, 1)),
    "DECIMAL(9,2)": ("0.01", "-0.01"),
    "HUGEINT": (str(2**127 - 1), str(2**127 - 2)),
    "ENUM('a', 'b')": ("'a'", "'b'"),
    "VARCHAR[]": ("['a, b']", "['a', 'b']"),
}


bare = registered("SET TimeZone = 'Europe/Berlin'", scope="function")


def two_looks(con: duckdb.DuckDBPyConnection, sql_type: str, values: tuple[str, str]) -> None:
    """Four rows that look one way, three that look another; all the same in b."""
    for name, value in zip("ab", values, strict=True):
        con.execute(f"CREATE TABLE {name} AS SELECT ({value})::{sql_type} AS x")
    con.execute("CREATE TABLE t AS FROM a, range(4) UNION ALL FROM b, range(3)")
    con.execute("CREATE TABLE s AS SELECT x, 1 AS b FROM t")


@pytest.mark.sample(2)
@pytest.mark.parametrize(("sql_type", "values"), [*LOOK_ALIKE.items(), *APART.items()])
def test_what_looks_different_is_counted_apart(
    bare: duckdb.DuckDBPyConnection, sql_type: str, values: tuple[str, str]
) -> None:
    two_looks(bare, sql_type, values)
    merged = bare.execute("SELECT count(DISTINCT x) + count(DISTINCT CASE WHEN x IS NULL THEN 1 "
                          "END) FROM s").fetchone()
    assert merged == (1 if sql_type in LOOK_ALIKE else 2,)
    query = "SELECT k, classes, \"rows\", uniques FROM k_anonymity('s')"
    assert bare.execute(query).fetchall() == [(3, 2, 7, 0)]
    named = query.replace("'s'", "'s', quasi_identifiers=['x', 'b']")
    assert bare.execute(named).fetchall() == [(3, 2, 7, 0)]
    audited = metrics_of(bare, "anonymize_audit('s', release='s', k=4)")
    assert [audited[name] for name in ("classes", "k", "rows_below_k")] == [2.0, 3.0, 3.0]


def test_texts_of_a_collation_are_counted_by_their_letters(bare: duckdb.DuckDBPyConnection) -> None:
    bare.execute("CREATE TABLE t AS SELECT ['Ada', 'ADA'][1 + i % 2] AS x FROM range(6) AS r(i)")
    bare.execute("CREATE TABLE u(x VARCHAR COLLATE NOCASE)")
    bare.execute("INSERT INTO u FROM t")
    for table in "tu":
        found = bare.execute(f"SELECT k, classes FROM k_anonymity('{table}')").fetchall()
        assert found == [(3, 2)]


def test_the_release_itself_is_counted_so() -> None:
    """No representation releases values that look different and are equal, since -0.0 becomes 0.0;
    that is not what the check relies on."""
    for options in ({"k": 3}, {"k": 3, "quasi_identifiers": ["x"], "sensitive": ["b"]}):
        text = plan("anonymize", "t", options, MadeUp({"t": {"x": None, "b": None}})).text
        sizes = re.search(r"__kanon_sizes AS MATERIALIZED \(.*?GROUP BY ALL", text, re.DOTALL)
        assert sizes is not None
        assert "__kanon_seen(COLUMNS(" in sizes[0] and "__kanon_printed(COLUMNS(" in sizes[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "representation", ["centroid", "median", "interval", "bounds", "suppress"]
)
@pytest.mark.parametrize("sql_type", ["DOUBLE", "FLOAT"])
def test_both_zeros_are_released_as_one(
    bare: duckdb.DuckDBPyConnection, representation: str, sql_type: str
) -> None:
    bare.execute(f"CREATE TABLE zeros AS SELECT (CASE WHEN i % 2 = 0 THEN -0.0::DOUBLE ELSE 0.0 "
                 f"END)::{sql_type} AS x, i AS s FROM range(9) AS r(i)")
    call = f"'zeros', k=3, sensitive=['s'], representation='{representation}'"
    texts = bare.execute(f"SELECT DISTINCT x::VARCHAR FROM anonymize({call})").fetchall()
    assert len(texts) == 1 and "-" not in texts[0][0]
    metrics = (
        f"SELECT value FROM anonymize_metrics({call}, detail := true) WHERE metric = "
        f"'classes'"
    )
    assert bare.execute(metrics).fetchone() == (1.0,)
