"""What must hold for every release, over random tables of mixed types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.stages import group as stages
from kanon_sql.stages import remembered
from tests.support import embedding, tables
from tests.support.broken import broken, singletons
from tests.support.connections import registered
from tests.support.embedding import Attribute
from tests.support.queries import refusal_of
from tests.support.tables import KINDS, Case
from tests.support.thoroughness import often

Connection = duckdb.DuckDBPyConnection


base = registered("SET TimeZone = 'UTC'; SET threads = 1")


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
    said = refusal_of(con, query)
    assert any(text in said for text in expected)


def case_call(case: Case, name: str = "anonymize", **more: Any) -> str:
    """The call of a case."""
    return tables.call(name, "t", **{**case.roles, **case.options, **more})


@contextmanager
def grouped_as() -> Iterator[dict[int, int]]:
    """The label of each row (numbered from 0) that the package gives while this is open."""
    labels: dict[int, int] = {}
    group_rows = stages.group_rows

    def spy(*arguments: Any) -> Any:
        found, facts = group_rows(*arguments)
        labels.clear()
        labels.update(zip((found.rows - 1).tolist(), found.labels.tolist(), strict=True))
        return found, facts

    with mock.patch.object(stages, "group_rows", spy):
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
        # an ENUM, whose type is the list of all values that it may have, comes out as text
        text = pa.types.is_dictionary(kept[name].type)
        assert released[name].type == (pa.string() if text else kept[name].type)
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


@pytest.mark.slow
@often(40)
@given(case=tables.cases(widths=(1,), most_rows=12))
def test_a_release_of_one_column_keeps_its_promises(base: Connection, case: Case) -> None:
    check_release(base, case)


@pytest.mark.slow
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
    remembered.forget()
    representation = case.options["representation"]
    with grouped_as() as grouped:
        released = tables.fetch(con, f"FROM {case_call(case, keep_order=True)}")
        first = dict(grouped)
        found = con.execute(
            f"SELECT metric, value, text FROM {case_call(case, 'anonymize_metrics', detail=True)}"
        ).fetchall()
    labels = [first[row] for row in sorted(first)]
    # of rows that are equal in all columns either may stand for the other: of quasi-identifiers
    # alone, where NaN is a missing value as NULL is
    whole = keys(kept, [c.name for c in case.columns if c.name not in case.quasi])
    whole = list(zip(whole or [()] * kept.num_rows, *(
        [None if tables.is_missing(v) else tables.alike(v) for v in kept[name].to_pylist()]
        for name in case.quasi
    ), strict=True))
    anew = [grouped[row] for row in sorted(grouped)]
    assert Counter(zip(whole, anew, strict=True)) == Counter(zip(whole, labels, strict=True))
    values = {metric: value for metric, value, _ in found}
    said = {metric: text for metric, _, text in found}
    assert said["grouping_cache"] == "hit" and values["seconds_group"] > 0.0
    # counts
    n, sizes = kept.num_rows, Counter(keys(released, case.quasi))
    assert (values["rows"], values["rows_released"]) == (case.rows, n)
    assert values["rows_suppressed"] == case.rows - n
    assert values["classes"] == len(sizes)
    assert values["k"] == values["k"] == min(sizes.values()) >= case.k
    assert values["class_size_max"] == max(sizes.values())
    assert values["class_size_mean"] == close_to(n / len(sizes))
    assert values["k_requested"] == case.k
    assert values["discernibility"] == (
        sum(size * size for size in sizes.values()) + case.rows * (case.rows - n)
    )
    assert values["prosecutor_risk_max"] == close_to(1 / min(sizes.values()))
    assert values["prosecutor_risk_mean"] == close_to(len(sizes) / n)
    # losses: the point of a class is its centroid where the representation is no point
    points = released
    if representation in ("interval", "bounds", "suppress"):
        centroid = case_call(case, keep_order=True, representation="centroid")
        points = tables.fetch(con, f"FROM {centroid}")
    weights = case.options["column_weights"] or {}
    kinds = {column.name: KINDS[column.kind] for column in case.columns}
    attributes = [
        Attribute.of(
            kinds[name], kept[name].to_pylist(), points[name].to_pylist(), weights.get(name, 1.0)
        )
        for name in case.quasi
    ]
    expected = embedding.losses(attributes, labels)
    # what classes lose that release the same ranges, they lose as one
    seen = expected if points is released else embedding.losses(
        attributes, [str(key) for key in keys(released, case.quasi)]
    )
    assert values["sse"] == close_to(seen.sse)
    assert values["sst"] == close_to(seen.sst)
    assert values["information_loss"] == close_to(seen.information_loss)
    assert values["max_radius"] == close_to(expected.max_radius)
    assert values["cellular_cost"] == close_to(expected.cellular_cost)
    if representation in ("interval", "bounds", "suppress"):
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
    # of two significant digits, rounded up; a hair may decide which
    assert all(float(f"{radius:.1e}") == radius for _, radius in published)
    for size in set(sizes.values()) | {size for size, _ in published}:
        told, exact = (
            sorted(radius for of, radius in pairs if of == size)
            for pairs in (published, worked_out)
        )
        for radius, true in zip(told, exact, strict=True):
            # where the columns are scaled to 1, what is below 1e-12 is rounding
            assert true * (1.0 - 1e-9) - 1e-12 <= radius <= (true + 1e-12) * (1.1 + 1e-9)
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


@pytest.mark.slow
@often(60)
@given(case=tables.cases(nulls=("value", "value", "suppress")))
def test_the_metrics_agree_with_an_embedding_written_out(base: Connection, case: Case) -> None:
    check_metrics(base, case)


@pytest.mark.slow
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


@pytest.mark.slow
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

    def by(columns: str) -> list[int]:
        query = f"SELECT count(*) FROM {audited} GROUP BY {columns}"
        return [count for (count,) in base.execute(query).fetchall()]

    sizes = Counter(keys(tables.fetch(base, f"FROM {audited}"), case.quasi))
    assert sorted(sizes.values()) == sorted(by(names))
    # -0.0 equals 0.0, and a reader tells them apart
    counted = by(", ".join(f"{tables.quoted(name)}::VARCHAR" for name in case.quasi) + f", {names}")
    audit = tables.call("k_anonymity", audited, quasi_identifiers=list(case.quasi), k=k)
    (row,) = tables.fetch(base, f"FROM {audit}").to_pylist()
    assert row == {
        "k": min(counted),
        "rows": case.rows,
        "classes": len(counted),
        "class_size_mean": pytest.approx(case.rows / len(counted)),
        "class_size_max": max(counted),
        "uniques": counted.count(1),
        "k_requested": k,
        "classes_below_k": sum(size < k for size in counted),
        "rows_below_k": sum(size for size in counted if size < k),
        "prosecutor_risk_max": pytest.approx(1 / min(counted)),
        "prosecutor_risk_mean": pytest.approx(len(counted) / case.rows),
    }


# --- remembered labels --------------------------------------------------------------------------


@pytest.mark.slow
@often(25)
@given(case=tables.cases(nulls=("value",)))
def test_remembered_labels_give_the_same_release(base: Connection, case: Case) -> None:
    tables.create(base, "t", case.columns)
    if refusal(case, rows_kept(base, case)):
        return
    remembered.forget()
    query = f"FROM {case_call(case, class_id=True)}"
    computed = tables.arrow_bytes(tables.fetch(base, query))
    assert tables.arrow_bytes(tables.fetch(base, query)) == computed


# --- names that the query keeps to itself -------------------------------------------------------

OWN = ("__kanon_row", "__kanon_hash", "__kanon_class", "__kanon_size", "__kanon_moment", "__kanon")
OWN_ROLES = {
    "sensitive": "k := 3, quasi_identifiers := ['x'], sensitive := ['{}']",
    "all": "k := 3",
}
CALLS = ("anonymize", "anonymize_clusters", "anonymize_metrics", "k_anonymity")


def outcome(con: Connection, call: str, column: str, options: str) -> tuple[list[str], Any] | None:
    """Column names and rows of a call on a table with such a column; None where it is refused."""
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT 4242 + i // 3 AS {column}, i * 1.5 AS x "
        "FROM range(12) AS r(i)"
    )
    timeless = " WHERE value IS NOT NULL AND unit <> 'seconds' AND metric NOT LIKE '%(%'"
    timeless = timeless if "metrics" in call else ""
    try:
        found = con.execute(f"FROM {call}('t', {options.format(column)}){timeless}")
    except duckdb.Error as error:
        said = str(error).partition(": ")[2].partition("\n\nLINE 1:")[0]
        assert repr(column) in said and said.endswith((".", "?")) and "42" not in said, said
        return None
    return [name for name, *_ in found.description], sorted(map(repr, found.fetchall()))


@pytest.mark.sample(2)
@pytest.mark.parametrize("role", OWN_ROLES)
@pytest.mark.parametrize("column", OWN)
def test_a_name_that_the_query_keeps_to_itself_is_refused_or_means_the_column(
    base: Connection, column: str, role: str
) -> None:
    for call in CALLS if role != "sensitive" else CALLS[:3]:
        found = outcome(base, call, column, OWN_ROLES[role])
        plain = outcome(base, call, "plain", OWN_ROLES[role])
        assert plain is not None
        if found is not None:
            assert found == ([column if n == "plain" else n for n in plain[0]], plain[1]), call


@pytest.mark.parametrize("column", OWN)
def test_no_column_name_turns_the_verification_off(
    base: Connection, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    base.execute(f"CREATE OR REPLACE TABLE t AS SELECT 100 + i AS {column} FROM range(12) AS r(i)")
    broken(monkeypatch, singletons)
    for call in CALLS[:3]:
        with pytest.raises(duckdb.Error):
            base.execute(f"FROM {call}('t', k := 3, method := 'mdav')").fetchall()
    remembered.forget()


@pytest.mark.parametrize("role", [
    "sensitive := ['class_id'],", "quasi_identifiers := ['x'], others := 'release',", ""
])
@pytest.mark.parametrize("call", CALLS[:2])
def test_a_column_class_id_beside_the_option_class_id_is_refused_or_told_apart(
    base: Connection, call: str, role: str
) -> None:
    found = outcome(base, call, "class_id", f"{role} k := 3, class_id := true")
    assert found is None or len([n for n in found[0] if n.startswith("class_id")]) == 2
