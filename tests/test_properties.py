"""What must hold for every release, over random tables of mixed types."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import kanon_sql
import kanon_sql.udfs.group as group_udf
from kanon_sql import recall
from tests import tables
from tests.tables import KINDS, METHODS, REPRESENTATIONS, Attribute, Case

Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def base() -> Iterator[Connection]:
    """One connection for all examples: registering costs more than a query."""
    connection = kanon_sql.register(duckdb.connect())
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'; SET threads = 1")
    yield connection
    connection.close()


def often(examples: int, shrink: bool = True) -> Callable[[Any], Any]:
    """That many examples, no time limit for each."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    phases = [phase for phase in Phase if shrink or phase is not Phase.shrink]
    return settings(max_examples=examples, deadline=None, suppress_health_check=slow, phases=phases)


def close_to(value: float) -> Any:
    """Equal to 1e-9 relative, or both nothing."""
    return pytest.approx(value, rel=1e-9, abs=1e-11)


# --- a case, its rows, and what may become of it ------------------------------------------------


def takes_part(case: Case, table: pa.Table) -> list[bool]:
    """Whether each row takes part: all but those that 'suppress' leaves out."""
    rows = zip(*(table[name].to_pylist() for name in case.quasi), strict=True)
    whole = [not any(map(tables.is_missing, row)) for row in rows]
    return whole if case.options["nulls"] == "suppress" else [True] * table.num_rows


def rows_kept(con: Connection, case: Case) -> pa.Table:
    """The rows that take part, in the order of the table."""
    table = tables.fetch(con, "FROM t")
    return table.filter(pa.array(takes_part(case, table), pa.bool_()))


def refusal(case: Case, table: pa.Table) -> str | None:
    """What the error must say, or None where the case has a release."""
    if case.options["nulls"] == "error" and any(
        tables.is_missing(value) for name in case.quasi for value in table[name].to_pylist()
    ):
        expected = "NULL or NaN"
    elif table.num_rows == 0:
        expected = "There are no rows to anonymize"
    else:
        expected = f"There are {table.num_rows} rows to anonymize, fewer than k = {case.k}"
    return expected if table.num_rows < case.k or expected == "NULL or NaN" else None


def refused(con: Connection, query: str, *expected: str) -> None:
    """The query fails with one of the expected texts, and gives no row."""
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query).fetchall()
    assert any(text in str(caught.value) for text in expected)


def case_call(case: Case, name: str = "anonymize", **more: Any) -> str:
    """The call of a case."""
    return tables.call(name, "t", **{**case.roles, **case.options, **more})


@contextmanager
def grouped_as() -> Iterator[dict[int, int]]:
    """The label of each row (numbered from 0) that the package gives while this is open."""
    labels: dict[int, int] = {}
    group_rows = group_udf.group_rows

    def spy(*arguments: Any) -> Any:
        found, facts = group_rows(*arguments)
        labels.clear()
        labels.update(zip((found.rows - 1).tolist(), found.labels.tolist(), strict=True))
        return found, facts

    with mock.patch.object(group_udf, "group_rows", spy):
        yield labels


def keys(table: pa.Table, names: Sequence[str]) -> list[Any]:
    """One key per row, equal where GROUP BY over these columns sees one group."""
    columns = [[tables.alike(v) for v in table[name].to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


# --- the release --------------------------------------------------------------------------------


def check_release(con: Connection, case: Case) -> None:
    """Everything that a release promises, against the rows of the table."""
    tables.create(con, "t", case.columns)
    kept = rows_kept(con, case)
    expected = refusal(case, kept)
    if expected:
        n, k = kept.num_rows, case.k
        fewer = [f"There are {n} rows to anonymize, fewer than k = {k}"] if 0 < n < k else []
        refused(con, f"FROM {case_call(case)}", expected, *fewer)
        return
    order_kept = case_call(case, keep_order=True, class_id=True)
    released = tables.fetch(con, f"FROM {order_kept}")
    names = [column.name for column in case.columns]
    assert released.column_names == [*names, "class_id"]
    # no row is lost, none is made up, and the columns that pass are the same to the bit
    assert released.num_rows == kept.num_rows
    for name in case.sensitive:
        assert released[name].type == kept[name].type
        assert list(map(tables.exact, released[name].to_pylist())) == list(
            map(tables.exact, kept[name].to_pylist())
        )
    # classes of k or more, with and without class_id
    values = keys(released, case.quasi)
    sizes = Counter(values)
    numbers = released["class_id"].to_pylist()
    assert min(sizes.values()) >= case.k
    assert min(Counter(zip(values, numbers, strict=True)).values()) >= case.k
    # class_id numbers the classes 1, 2, ..; equal released values share a number
    assert sorted(set(numbers)) == list(range(1, len(sizes) + 1))
    assert len(set(zip(values, numbers, strict=True))) == len(sizes)
    # each class releases what its rows allow
    texts = tables.fetch(con, "SELECT COLUMNS(*)::VARCHAR FROM t").filter(
        pa.array(takes_part(case, tables.fetch(con, "FROM t")), pa.bool_())
    )
    kinds = {column.name: KINDS[column.kind] for column in case.columns}
    members: dict[int, list[int]] = {}
    for i, number in enumerate(numbers):
        members.setdefault(number, []).append(i)
    for name in case.quasi:
        here, words = kept[name].to_pylist(), texts[name].to_pylist()
        there = released[name].to_pylist()
        for rows in members.values():
            assert len({tables.exact(there[i]) for i in rows}) == 1
            assert tables.is_released(
                case.options["representation"],
                kinds[name],
                [here[i] for i in rows],
                [words[i] for i in rows],
                there[rows[0]],
            ), (name, [here[i] for i in rows], there[rows[0]])
    # the release in its own order, from remembered labels, has the same rows
    plain = tables.fetch(con, f"FROM {case_call(case)}")
    assert plain.schema.equals(released.drop_columns(["class_id"]).schema)
    assert Counter(tables.exact(row) for row in tables.records(plain)) == Counter(
        tables.exact(row[:-1]) for row in tables.records(released)
    )


@often(90)
@given(case=tables.cases())
def test_a_release_of_any_table_keeps_its_promises(base: Connection, case: Case) -> None:
    check_release(base, case)


@often(40)
@given(case=tables.cases(widths=(1,), most_rows=12))
def test_a_release_of_one_column_keeps_its_promises(base: Connection, case: Case) -> None:
    check_release(base, case)


@often(8, shrink=False)
@given(case=tables.cases(widths=(30,), nulls=("value",)))
def test_a_release_of_thirty_columns_keeps_its_promises(base: Connection, case: Case) -> None:
    check_release(base, case)


# --- the metrics --------------------------------------------------------------------------------


def check_metrics(con: Connection, case: Case) -> None:
    """The metrics, the clusters and the labels, worked out anew from the rows."""
    tables.create(con, "t", case.columns)
    kept = rows_kept(con, case)
    if refusal(case, kept):
        refused(con, f"FROM {case_call(case, 'anonymize_metrics')}", "rows to anonymize", "NULL")
        return
    recall.forget()
    representation = case.options["representation"]
    with grouped_as() as grouped:
        released = tables.fetch(con, f"FROM {case_call(case, keep_order=True)}")
        first = dict(grouped)
        found = con.execute(
            f"SELECT metric, value, text FROM {case_call(case, 'anonymize_metrics')}"
        ).fetchall()
        assert grouped == first
    labels = [first[row] for row in sorted(first)]
    values = {metric: value for metric, value, _ in found}
    said = {metric: text for metric, _, text in found}
    assert said["labels"] == "remembered" and values["seconds_group"] == 0.0
    # counts
    n, sizes = kept.num_rows, Counter(keys(released, case.quasi))
    assert (values["rows_in"], values["rows_released"]) == (case.rows, n)
    assert values["rows_suppressed"] == case.rows - n
    assert values["classes"] == len(sizes)
    assert values["class_size_min"] == values["k_reached"] == min(sizes.values()) >= case.k
    assert values["class_size_max"] == max(sizes.values())
    assert values["class_size_mean"] == close_to(n / len(sizes))
    assert values["k_requested"] == case.k
    assert values["discernibility"] == (
        sum(size * size for size in sizes.values()) + case.rows * (case.rows - n)
    )
    assert values["risk_max"] == close_to(1 / min(sizes.values()))
    assert values["risk_mean"] == close_to(len(sizes) / n)
    # losses: the point of a class is its centroid where the representation is no point
    points = released
    if representation in ("interval", "bounds"):
        centroid = case_call(case, keep_order=True, representation="centroid")
        points = tables.fetch(con, f"FROM {centroid}")
    weights = case.options["weights"] or {}
    kinds = {column.name: KINDS[column.kind] for column in case.columns}
    attributes = [
        Attribute.of(
            kinds[name], kept[name].to_pylist(), points[name].to_pylist(), weights.get(name, 1.0)
        )
        for name in case.quasi
    ]
    expected = tables.losses(attributes, labels)
    assert values["sse"] == close_to(expected.sse)
    assert values["sst"] == close_to(expected.sst)
    assert values["information_loss"] == close_to(expected.information_loss)
    assert values["max_radius"] == close_to(expected.max_radius)
    assert values["cellular_cost"] == close_to(expected.cellular_cost)
    if representation in ("interval", "bounds"):
        assert values["sse_released"] is None
    else:
        assert values["sse_released"] == close_to(expected.sse_released)
    # clusters: one per group, with its size, radius and values
    clusters = tables.fetch(con, f"FROM {case_call(case, 'anonymize_clusters')}")
    published = sorted(
        zip(clusters["num_points"].to_pylist(), clusters["radius"].to_pylist(), strict=True)
    )
    worked_out = sorted((expected.sizes[g], expected.radii[g]) for g in expected.sizes)
    assert [size for size, _ in published] == [size for size, _ in worked_out]
    assert sum(radius for _, radius in published) == close_to(
        sum(radius for _, radius in worked_out)
    )
    first_rows = {label: i for i, label in enumerate(labels)}
    released_keys = keys(released, case.quasi)
    assert Counter(keys(clusters, case.quasi)) == Counter(
        released_keys[i] for i in first_rows.values()
    )
    for name in case.roles.get("sensitive") or ():
        counted: Counter[Any] = Counter()
        for multiset in clusters[name].to_pylist():
            for entry in multiset:
                counted[tables.alike(entry["value"])] += entry["count"]
        assert counted == Counter(map(tables.alike, kept[name].to_pylist()))


@often(60)
@given(case=tables.cases(nulls=("value", "value", "suppress")))
def test_the_metrics_agree_with_an_embedding_written_out(base: Connection, case: Case) -> None:
    check_metrics(base, case)


@often(30)
@given(
    case=tables.cases(
        widths=(1, 2),
        kinds=("double", "text", "date"),
        representations=("centroid",),
        nulls=("value", "suppress"),
        most_rows=20,
    )
)
def test_the_metrics_agree_where_many_values_are_missing(base: Connection, case: Case) -> None:
    check_metrics(base, case)


# --- the audit ----------------------------------------------------------------------------------


@often(40)
@given(case=tables.cases(nulls=("value",)), k=st.integers(1, 8), release=st.booleans())
def test_the_audit_agrees_with_a_plain_group_by(
    base: Connection, case: Case, k: int, release: bool
) -> None:
    tables.create(base, "t", case.columns)
    audited = "t"
    if release and case.rows >= case.k:
        base.execute(f"CREATE OR REPLACE TABLE released AS FROM {case_call(case)}")
        audited = "released"
    names = ", ".join(map(tables.quoted, case.quasi))
    counted = [
        count
        for (count,) in base.execute(f"SELECT count(*) FROM {audited} GROUP BY {names}").fetchall()
    ]
    sizes = Counter(keys(tables.fetch(base, f"FROM {audited}"), case.quasi))
    assert sorted(sizes.values()) == sorted(counted)
    audit = tables.call("k_anonymity", audited, quasi_identifiers=list(case.quasi), k=k)
    (row,) = tables.fetch(base, f"FROM {audit}").to_pylist()
    assert row == {
        "k": min(counted),
        "rows": case.rows,
        "classes": len(counted),
        "class_size_mean": pytest.approx(case.rows / len(counted)),
        "class_size_max": max(counted),
        "uniques": counted.count(1),
        "k_asked": k,
        "classes_below_k": sum(size < k for size in counted),
        "rows_below_k": sum(size for size in counted if size < k),
        "risk_max": pytest.approx(1 / min(counted)),
        "risk_mean": pytest.approx(len(counted) / case.rows),
    }


# --- remembered labels --------------------------------------------------------------------------


@often(25)
@given(case=tables.cases(nulls=("value",)))
def test_remembered_labels_give_the_same_release(base: Connection, case: Case) -> None:
    tables.create(base, "t", case.columns)
    if refusal(case, rows_kept(base, case)):
        return
    recall.forget()
    query = f"FROM {case_call(case, class_id=True)}"
    computed = tables.arrow_bytes(tables.fetch(base, query))
    assert tables.arrow_bytes(tables.fetch(base, query)) == computed


# --- single cases that random tables seldom meet ------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_k_of_one_releases_every_number_as_it_is(base: Connection, method: str) -> None:
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT x::DOUBLE AS x, 'w' || i AS w FROM "
        "(SELECT unnest([0.1, -7.25, 1e300, 5e-324, 3]) AS x, generate_subscripts([1,2,3,4,5], 1)"
        " AS i)"
    )
    released = base.execute(
        f"FROM anonymize('t', k := 1, method := '{method}', keep_order := true)"
    ).fetchall()
    assert released == base.execute("FROM t").fetchall()


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("method", METHODS)
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


@pytest.mark.parametrize("sql_type", PASSING)
def test_a_column_of_any_type_passes_unchanged(base: Connection, sql_type: str) -> None:
    value = PASSING[sql_type]
    base.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i // 3 AS age, passes FROM range(12) AS r(i) "
        f"LEFT JOIN (SELECT {value} AS passes) ON i % 4 > 0"
    )
    same = "typeof(passes), passes::VARCHAR, passes IS NULL"
    for roles in ("sensitive := ['passes']", "quasi_identifiers := ['age']"):
        for more in ("", ", representation := 'bounds'"):
            released = base.execute(
                f"SELECT {same} FROM anonymize('t', k := 3, {roles}{more}, keep_order := true)"
            ).fetchall()
            assert released == base.execute(f"SELECT {same} FROM t").fetchall()


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


def words_of_the_queries() -> list[str]:
    """Every word that stands in the SQL of the package, but for names that it keeps to itself."""
    folder = Path(str(files("kanon_sql.sql")))
    text = " ".join(file.read_text(encoding="utf-8") for file in folder.glob("*.sql"))
    words = {word.lower() for word in re.findall(r"[A-Za-z_]+", re.sub(r"--.*", "", text))}
    return sorted(word for word in words if not word.startswith("__"))


def test_columns_may_have_every_name_that_the_query_uses_too(base: Connection) -> None:
    words = words_of_the_queries()
    assert {"passed", "radius", "labels", "num_points"} <= set(words)
    columns = ", ".join(f"i % 3 AS {tables.quoted(word)}" for word in words)
    base.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM range(9) AS r(i)")
    chunks = [words[start : start + 32] for start in range(0, len(words), 32)]
    for i, chunk in enumerate(chunks):
        roles = f"quasi_identifiers := {chunk}, sensitive := {chunks[i - 1]}"
        call = f"('t', {roles}, k := 3, method := 'mdav'"
        released = base.execute(f"FROM anonymize{call}, class_id := true)").fetchall()
        clusters = base.execute(f"FROM anonymize_clusters{call})").fetchall()
        metrics = base.execute(
            f"SELECT value FROM anonymize_metrics{call}) WHERE metric = 'rows_in'"
        ).fetchall()
        assert (len(released), len(clusters), metrics) == (9, 3, [(9.0,)])


STAGES = ("_source", "_kept", "_labels", "_classes", "_released", "_sizes", "_check", "_started")


@pytest.mark.parametrize("name", STAGES)
def test_a_table_may_have_the_name_of_a_stage(base: Connection, name: str) -> None:
    base.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT i % 3 AS a FROM range(9) AS r(i)")
    try:
        released = base.execute(f"SELECT count(*) FROM anonymize('{name}', k := 3)").fetchall()
        metrics = base.execute(
            f"SELECT value FROM anonymize_metrics('{name}', k := 3) WHERE metric = 'rows_in'"
        ).fetchall()
        assert (released, metrics) == ([(9,)], [(9.0,)])
    finally:
        base.execute(f"DROP TABLE {name}")


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
        call = f"('t', k := 3, method := '{method}', weights := {{{weights}}})"
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
