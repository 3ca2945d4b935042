"""Single cases that random tables seldom meet."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tests.support import tables
from tests.support.connections import registered
from tests.support.tables import OF_RECORDS, REPRESENTATIONS

Connection = duckdb.DuckDBPyConnection


base = registered("SET TimeZone = 'UTC'; SET threads = 1")


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", OF_RECORDS)
def test_k_of_one_releases_every_number_as_it_is(base: Connection, method: str) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT x::DOUBLE AS x, 'w' || i AS w FROM "
        "(SELECT unnest([0.1, -7.25, 1e300, 5e-324, 3]) AS x, generate_subscripts([1,2,3,4,5], 1)"
        " AS i)"
    )
    released = base.execute(
        f"FROM anonymize('t', k := 1, method := '{method}', "
        "representation := 'centroid', keep_order := true)"
    ).fetchall()
    assert released == base.execute("FROM t").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("named", ["all", "one, the others sensitive", "one"])
def test_tables_may_have_hundreds_of_columns(base: Connection, named: str) -> None:
    """The planning of a call is linear in them, or nearly; see benchmarks/wide.py."""
    kinds = ("INTEGER", "DOUBLE", "VARCHAR", "DECIMAL(9, 2)")
    names = [f"c{j}" for j in range(500)]
    columns = [f"(hash(i * {j + 1}) % 7)::{kinds[j % 4]} AS c{j}" for j in range(500)]
    base.execute(f"CREATE OR REPLACE TABLE t AS SELECT {', '.join(columns)} FROM range(60) AS r(i)")
    more = {
        "all": "", "one, the others sensitive": f"quasi_identifiers=['c0'], sensitive={names[1:]}",
        "one": "quasi_identifiers=['c0'], others='release'",
    }[named]
    base.execute(
        f"CREATE OR REPLACE TABLE r AS FROM anonymize('t', k=4, method='mdav', {more})".replace(
            ", )", ")"
        )
    )
    assert [row[0] for row in base.execute("DESCRIBE r").fetchall()] == names
    quasi = "" if named == "all" else ", quasi_identifiers=['c0'], sensitive=['c1']"
    ((k, rows),) = base.execute(f"SELECT k, rows FROM k_anonymity('r'{quasi})").fetchall()
    assert k >= 4 and rows == 60
    if named != "all":
        before, after = (
            base.execute(f"SELECT * EXCLUDE (c0) FROM {table} ORDER BY ALL").fetchall()
            for table in ("t", "r")
        )
        assert after == before


@pytest.mark.sample(4)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("method", OF_RECORDS)
def test_identical_rows_are_one_class_that_releases_them(
    base: Connection, method: str, representation: str
) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 0.1::DOUBLE AS x, DATE '1969-07-20' AS d, "
        "'a, b' AS w, TIME '23:59:59.999999' AS clock, NULL::INTEGER AS gone FROM range(11)"
    )
    released = base.execute(
        f"FROM anonymize('t', k := 3, method := '{method}', representation := "
        f"'{representation}', class_id := true)"
    ).fetchall()
    assert len(released) == 11 and len(set(map(repr, released))) == 1
    if representation in ("centroid", "median"):
        assert released[0][:-1] == base.execute("FROM t LIMIT 1").fetchone()


def test_a_mean_of_numbers_near_the_largest_double_does_not_overflow(base: Connection) -> None:
    base.execute("CREATE OR REPLACE TABLE t AS SELECT unnest([1e308, 1.5e308])::DOUBLE AS x")
    released = base.execute("FROM anonymize('t', k := 2)").fetchall()
    assert released == [(1.25e308,), (1.25e308,)]


def test_a_time_of_24_hours_stays_24_hours(base: Connection) -> None:
    base.execute("CREATE OR REPLACE TABLE t AS SELECT TIME '24:00:00' AS clock FROM range(4)")
    released = base.execute("SELECT clock::VARCHAR FROM anonymize('t', k := 2)").fetchall()
    assert released == [("24:00:00",)] * 4


def test_the_mean_of_times_does_not_leave_their_range(base: Connection) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT unnest(['24:00:00', '23:59:59.999999'])::TIME AS x"
    )
    (released,) = base.execute(
        "SELECT DISTINCT x >= TIME '23:59:59.999999' FROM anonymize('t', k := 2)"
    ).fetchall()
    assert released == (True,)


@pytest.mark.parametrize("sql_type", ["VARCHAR", "BOOLEAN", "ENUM('true', 'false')"])
def test_bounds_are_a_list_for_text_and_what_is_like_it(base: Connection, sql_type: str) -> None:
    words = ["true", "false"]
    base.execute(f"CREATE OR REPLACE TABLE t AS SELECT unnest({words})::{sql_type} AS w")
    released = base.execute(
        "SELECT w[1]::VARCHAR < w[2]::VARCHAR, len(w) FROM "
        "anonymize('t', k := 2, representation := 'bounds')"
    ).fetchall()
    assert released == [(True, 2)] * 2


PASSING = {
    "TINYINT": "42::TINYINT",
    "HUGEINT": "(-170141183460469231731687303715884105727)::HUGEINT",
    "UHUGEINT": "340282366920938463463374607431768211455::UHUGEINT",
    "DECIMAL(38,37)": "1.2345678901234567890123456789012345678::DECIMAL(38, 37)",
    "FLOAT": "'-0.0'::FLOAT",
    "DOUBLE": "'nan'::DOUBLE",
    "TIMESTAMP_S": "'2020-01-01 00:00:01'::TIMESTAMP_S",
    "TIMESTAMP_NS": "'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS",
    "TIMESTAMP": "'-infinity'::TIMESTAMP",
    "TIME WITH TIME ZONE": "'10:00:00+05:30'::TIMETZ",
    "INTERVAL": "INTERVAL '1 month 1 day 1 microsecond'",
    "BIT": "'10101'::BIT",
    "BLOB": "'\\x00\\xFF'::BLOB",
    "JSON": """'{"a": [1, null]}'::JSON""",
    "BIGINT[]": "[1, NULL, 3]::BIGINT[]",
    "INTEGER[2]": "[1, NULL]::INTEGER[2]",
    "STRUCT(a DOUBLE, b VARCHAR[])": "{'a': '-0.0'::DOUBLE, 'b': ['x', NULL]}",
    "MAP(VARCHAR, INTEGER)": "MAP {'k': 1, 'l': NULL}::MAP(VARCHAR, INTEGER)",
    "UNION(num INTEGER, str VARCHAR)": "union_value(num := 1)::UNION(num INTEGER, str VARCHAR)",
    "ENUM('b', 'a')": "'a'::ENUM('b', 'a')",
    "UUID": "'b5ad51c0-0000-4000-8000-000000000001'::UUID",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("sql_type", PASSING)
def test_a_column_of_any_type_passes_unchanged(base: Connection, sql_type: str) -> None:
    value = PASSING[sql_type]
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i // 3 AS age, passes FROM range(12) AS r(i) "
        f"LEFT JOIN (SELECT {value} AS passes) ON i % 4 > 0"
    )
    same = "{} AS type, passes::VARCHAR, passes IS NULL"
    # the type of an ENUM is a list of values, of which none needs to be released
    kept = "'VARCHAR'" if sql_type.startswith("ENUM") else "typeof(passes)"
    for roles in ("sensitive := ['passes']", "quasi_identifiers := ['age'], others := 'release'"):
        for more in ("", ", representation := 'bounds'"):
            released = base.execute(
                f"SELECT {same.format('typeof(passes)')} "
                f"FROM anonymize('t', k := 3, {roles}{more}, keep_order := true)"
            ).fetchall()
            assert released == base.execute(f"SELECT {same.format(kept)} FROM t").fetchall()


@pytest.mark.sample(3)
@pytest.mark.parametrize("more", ["", "sensitive := ['disease'],"])
@pytest.mark.parametrize("name", ["anonymize", "anonymize_clusters", "anonymize_metrics"])
def test_identifiers_are_dropped_although_no_quasi_identifier_is_named(
    base: Connection, name: str, more: str
) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 'person ' || i AS person, i % 5 AS age, "
        "i % 2 AS disease FROM range(20) AS r(i)"
    )
    found = base.execute(f"FROM {name}('t', {more} identifiers := ['person'], k := 4)")
    columns = [column[0] for column in found.description]
    assert "person" not in columns and len(found.fetchall()) > 0


def spared(names: list[str]) -> list[str]:
    """Without the names that the clusters themselves have."""
    return [name for name in names if name not in ("radius", "num_points")]


def words_of_the_queries() -> list[str]:
    """Every word that stands in the SQL of the package, but for names that it keeps to itself."""
    folder = Path(str(files("kanon_sql.sql")))
    text = " ".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.sql"))
    words = {word.lower() for word in re.findall(r"[A-Za-z_]+", re.sub(r"--.*", "", text))}
    return sorted(word for word in words if not word.startswith("__"))


@pytest.mark.slow
def test_columns_may_have_every_name_that_the_query_uses_too(base: Connection) -> None:
    words = [w for w in words_of_the_queries() if w != "class_id" and w[:8] != "__kanon_"]
    assert {"passed", "radius", "labels", "num_points"} <= set(words)
    chunks = [words[start : start + 32] for start in range(0, len(words), 32)]
    for i, chunk in enumerate(chunks):
        named = (*chunk, *chunks[i - 1], *chunks[i - 2])  # the last ones have no role
        columns = ", ".join(f"i % 3 AS {tables.quoted(word)}" for word in named)
        base.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM range(9) AS r(i)")
        roles = f"quasi_identifiers := {chunk}, sensitive := {chunks[i - 1]}, others := 'release'"
        call = f"('t', {roles}, k := 3, method := 'mdav'"
        released = base.execute(f"FROM anonymize{call}, class_id := true)").fetchall()
        roles = f"quasi_identifiers := {spared(chunk)}, sensitive := {spared(chunks[i - 1])}"
        clusters = base.execute(
            f"FROM anonymize_clusters('t', {roles}, others := 'drop', k := 3, method := 'mdav')"
        ).fetchall()
        metrics = base.execute(
            f"SELECT value FROM anonymize_metrics{call}, detail := true) WHERE metric = 'rows'"
        ).fetchall()
        assert (len(released), len(clusters), metrics) == (9, 3, [(9.0,)])


STAGES = ("source", "kept", "labels", "classes", "released", "sizes", "check", "started", "tree_1")


@pytest.mark.sample(4)
@pytest.mark.parametrize("call", [
    "anonymize('{}', k := 3)", "anonymize_clusters('{}', k := 3)",
    "anonymize_metrics('{}', detail=true, k := 3)", "suppressed_rows('{}', k := 3)",
    "k_anonymity('{}')", "anonymize_audit('{0}', release := '{0}')",
    "anonymize('{}', k := 3, hierarchies := {{'a': 'flat'}})",
    "hierarchy('{}', 'a', kind := 'flat')",
])
@pytest.mark.parametrize("name", STAGES)
def test_no_name_of_the_query_collides_with_a_relation(
    base: Connection, name: str, call: str
) -> None:
    base.execute(f"CREATE OR REPLACE TABLE _{name} AS SELECT i % 3 AS a FROM range(9) AS r(i)")
    base.execute(f"CREATE OR REPLACE TABLE __Kanon_{name} AS FROM _{name}")
    try:
        assert base.execute(f"FROM {call.format('_' + name)}").fetchall() is not None
        for spelled in (f"__Kanon_{name}", f"main.__kanon_{name}"):
            with pytest.raises(duckdb.Error, match=r"starts with '__kanon_'.*Rename it"):
                base.execute(f"FROM {call.format(spelled)}")
    finally:
        base.execute(f"DROP TABLE _{name}; DROP TABLE __Kanon_{name}")


@pytest.mark.parametrize("name", ["_source", "_released", "__kanon_started"])
def test_a_python_variable_may_have_any_name_but_ours(base: Connection, name: str) -> None:
    frame = pa.table({"a": [1, 1, 1, 2, 2, 2]})
    locals_of_a_caller = {name: frame, "base": base}
    call = f"base.sql(\"FROM anonymize_metrics('{name}', detail=true, k := 3)\").fetchall()"
    if name.startswith("__kanon_"):
        with pytest.raises(duckdb.Error, match="starts with '__kanon_'"):
            eval(call, locals_of_a_caller)
    else:
        assert eval(call, locals_of_a_caller)[0][1] == 6.0


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_column_of_nothing_but_untyped_nulls_is_released_as_null(
    base: Connection, representation: str
) -> None:
    base.execute(
        "CREATE OR REPLACE VIEW nothing AS SELECT NULL AS a, i % 2 AS b FROM range(6) AS r(i)"
    )
    released = base.execute(
        f"SELECT a, count(*) FROM anonymize('nothing', k := 3, method := 'mdav', "
        f"representation := '{representation}') GROUP BY ALL"
    ).fetchall()
    assert released == [(None, 6)]


WEIGHED = """
import math
import duckdb, kanon_sql
con = kanon_sql.register(duckdb.connect())
con.execute("CREATE TABLE t AS SELECT i AS a, 'w' || i % 4 AS w, "
            "CASE WHEN i % 3 > 0 THEN i END AS gone FROM range(12) AS r(i)")
for weight in ("5e-324", "1e-300", "1e6", "1e9", "1e100", "1e300", "1e307", "1.7e308", "1e400"):
    for method in ("mdav", "mdav_plus", "v_mdav", "mdav_star"):
        weights = ", ".join(f"'{name}': {weight}" for name in ("a", "w", "gone"))
        call = f"('t', k := 3, method := '{method}', column_weights := {{{weights}}})"
        try:
            sizes = con.execute(f"SELECT count(*) FROM anonymize{call} GROUP BY ALL").fetchall()
            metrics = dict(con.execute(
                f"SELECT metric, value FROM anonymize_metrics{call}").fetchall())
        except duckdb.Error as refusal:
            assert float(weight) > 1e6 and "weights must" in str(refusal), (weight, refusal)
            continue
        assert sum(size for (size,) in sizes) == 12 and min(sizes) >= (3,), (weight, sizes)
        loss = metrics["information_loss"]
        assert math.isfinite(loss) and 0 < loss < 100, (weight, method, loss)
"""


@pytest.mark.slow
def test_weights_of_any_size_are_refused_or_give_a_release_and_a_loss_in_percent() -> None:
    # in a process of its own, since an overflow in a compiled kernel may end the process
    done = subprocess.run(
        [sys.executable, "-c", WEIGHED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_release_of_a_release_is_that_release(base: Connection) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT (i * 37 % 101) / 7 AS a, (i * 11 % 13) AS b "
        "FROM range(60) AS r(i)"
    )
    call = "k := 5, method := 'mdav', class_id := true, seed := 4"
    base.execute(f"CREATE OR REPLACE TABLE once AS FROM anonymize('t', {call})")
    base.execute("CREATE OR REPLACE VIEW values_of_once AS SELECT a, b FROM once")
    twice = tables.fetch(base, f"FROM anonymize('values_of_once', {call})")
    assert tables.arrow_bytes(twice) == tables.arrow_bytes(tables.fetch(base, "FROM once"))
