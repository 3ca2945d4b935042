"""A release that does not hold what it promises does not come out, by no door.

The grouping methods are replaced by broken ones; then every way to read a release must fail, and
leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.encode.arrow import Labelled
from kanon_sql.methods import METHODS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.stages import group as stages
from kanon_sql.stages import remembered
from tests.support.broken import (
    CALL,
    SECRETS,
    SMALL,
    STOPPED,
    WRONG,
    Connection,
    K,
    broken,
    database,
    last_group_is_one_short,
    one_row_alone,
    pairs,
    singletons,
    stopped,
)
from tests.support.connections import registered

shared, con = registered(), database


def tables_of(con: Connection) -> list[str]:
    """Every table there is."""
    rows = con.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
    return [name for (name,) in rows]


# --- every door ---------------------------------------------------------------------------------

DOORS = {
    "all rows": f"FROM {CALL}",
    "one column": f"SELECT x FROM {CALL}",
    "only a sensitive column": f"SELECT disease FROM {CALL}",
    "a constant": f"SELECT 1 FROM {CALL}",
    "count": f"SELECT count(*) FROM {CALL}",
    "count of a column": f"SELECT count(x) FROM {CALL}",
    "aggregate": f"SELECT avg(x), max(day) FROM {CALL}",
    "limit": f"FROM {CALL} LIMIT 1",
    "limit and offset": f"FROM {CALL} LIMIT 1 OFFSET 39",
    "filter on a released column": f"FROM {CALL} WHERE x > 60",
    "filter on a sensitive column": f"FROM {CALL} WHERE disease = 'disease 1'",
    "filter that no row passes": f"FROM {CALL} WHERE disease = 'none'",
    "filter and count": f"SELECT count(*) FROM {CALL} WHERE disease = 'disease 1'",
    "distinct": f"SELECT DISTINCT disease FROM {CALL}",
    "group by": f"SELECT disease, count(*) FROM {CALL} GROUP BY ALL",
    "order by": f"FROM {CALL} ORDER BY x LIMIT 3",
    "window": f"SELECT row_number() OVER (ORDER BY x) FROM {CALL}",
    "sample": f"FROM {CALL} USING SAMPLE 3 ROWS",
    "exists": f"SELECT EXISTS (FROM {CALL})",
    "in": f"SELECT 50.4242 IN (SELECT x FROM {CALL})",
    "scalar subquery": f"SELECT (SELECT max(x) FROM {CALL})",
    "join with the source": f"SELECT p.x FROM patients AS p JOIN {CALL} AS a USING (disease)",
    "left join": f"SELECT p.disease FROM patients AS p LEFT JOIN {CALL} AS a ON p.x = a.x",
    "semi join": f"SELECT p.disease FROM patients AS p SEMI JOIN {CALL} AS a USING (disease)",
    "union": f"SELECT x FROM {CALL} UNION ALL SELECT 1.0",
    "cte": f"WITH a AS (FROM {CALL}) SELECT x FROM a",
    "materialized cte": f"WITH a AS MATERIALIZED (FROM {CALL}) SELECT count(*) FROM a",
    "class_id": f"SELECT class_id FROM {CALL[:-1]}, class_id := true)",
    "kept order": f"FROM {CALL[:-1]}, keep_order := true)",
    "clusters": f"FROM anonymize_clusters{CALL[9:]}",
    "count of clusters": f"SELECT count(*) FROM anonymize_clusters{CALL[9:]}",
    "one column of clusters": f"SELECT disease FROM anonymize_clusters{CALL[9:]}",
    "metrics": f"FROM anonymize_metrics{CALL[9:]}",
    "one metric": f"SELECT value FROM anonymize_metrics{CALL[9:]} WHERE metric = 'rows'",
    "count of metrics": f"SELECT count(*) FROM anonymize_metrics{CALL[9:]}",
    "explain analyze": f"EXPLAIN ANALYZE FROM {CALL}",
    "describe of rows": f"SUMMARIZE FROM {CALL}",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("door", DOORS)
def test_no_row_comes_out_by_any_query(
    con: Connection, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    con.execute(DOORS[door]).fetchall()  # the door is open to a good method
    broken(monkeypatch, one_row_alone)
    stopped(con, DOORS[door])


@pytest.mark.sample(1)
@pytest.mark.parametrize("representation", ["centroid", "median", "interval", "bounds"])
@pytest.mark.parametrize("labels", SMALL)
def test_no_class_that_is_too_small_is_released(
    con: Connection, monkeypatch: pytest.MonkeyPatch, labels: str, representation: str
) -> None:
    broken(monkeypatch, SMALL[labels])
    options = f"k := {K}, method := 'mdav', representation := '{representation}'"
    for call in ("anonymize", "anonymize_clusters", "anonymize_metrics"):
        stopped(con, f"FROM {call}('patients', {options})", f"fewer than k = {K}")


@pytest.mark.sample(2)
@pytest.mark.parametrize("labels", WRONG)
def test_labels_that_do_not_fit_the_rows_release_nothing(
    con: Connection, monkeypatch: pytest.MonkeyPatch, labels: str
) -> None:
    broken(monkeypatch, WRONG[labels])
    for call in ("anonymize", "anonymize_clusters", "anonymize_metrics"):
        stopped(con, f"FROM {call}{CALL[9:]}", "")


def test_a_method_that_fails_releases_nothing(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(n: int, k: int) -> Any:
        raise RuntimeError("the kernel failed")

    broken(monkeypatch, fail)
    stopped(con, f"FROM {CALL}", "failed with RuntimeError")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "method",
    [n for n, m in METHODS.items() if m.promises_k and m.only_k is None
     and not isinstance(m.geometry(), AttributeGeometry)],
)
def test_each_method_is_verified(
    con: Connection, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    broken(monkeypatch, last_group_is_one_short, method)
    # suppressed cells may make one class of several
    shown = ", representation := 'interval'" if method == "forest" else ""
    stopped(con, f"FROM anonymize('patients', k := {K}, method := '{method}'{shown})")


def test_labels_remembered_from_a_broken_method_are_verified_again(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, pairs)
    stopped(con, f"FROM {CALL}")
    monkeypatch.undo()
    stopped(con, f"FROM {CALL}")
    remembered.forget()
    assert len(con.execute(f"FROM {CALL}").fetchall()) == 40


def test_small_groups_that_release_the_same_values_are_one_class(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute(
        "CREATE TABLE same AS SELECT 7 AS age, 'disease ' || i AS disease FROM range(9) AS r(i)"
    )
    broken(monkeypatch, singletons)
    call = "('same', k := 9, method := 'mdav', sensitive := ['disease'], class_id := true)"
    released = con.execute(f"SELECT age, class_id FROM anonymize{call}").fetchall()
    assert released == [(7.0, 1)] * 9
    # a published cluster is a group of its own, so there each must have k rows
    stopped(con, f"FROM anonymize_clusters{call}")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("VARCHAR COLLATE NOCASE", "['a', 'A', 'b', 'B']"),
        ("DOUBLE", "['0.0', '-0.0', '1.0', '1.0']"),
    ],
)
def test_values_that_only_compare_equal_are_not_one_class(
    con: Connection, monkeypatch: pytest.MonkeyPatch, kind: str, values: str, tmp_path: Path
) -> None:
    con.execute(f"CREATE TABLE almost (a {kind})")
    con.execute(f"INSERT INTO almost SELECT unnest({values})")
    broken(monkeypatch, singletons)
    file = tmp_path / "released.parquet"
    try:
        con.execute(f"COPY (FROM anonymize('almost', k := 2, method := 'mdav')) TO '{file}'")
    except duckdb.Error:
        return
    counted = con.execute(
        f"SELECT count(*) FROM read_parquet('{file}') GROUP BY a::VARCHAR"
    ).fetchall()
    assert min(counted) >= (2,)


# --- nothing is left behind ---------------------------------------------------------------------


def test_no_table_is_left(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, one_row_alone)
    stopped(con, f"CREATE TABLE released AS FROM {CALL}")
    stopped(con, f"CREATE TEMP TABLE released AS FROM {CALL}")
    stopped(con, f"CREATE TABLE IF NOT EXISTS released AS FROM {CALL}")
    assert tables_of(con) == ["patients"]


def test_a_table_that_was_there_is_not_replaced(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute("CREATE TABLE released AS SELECT 'old' AS state")
    broken(monkeypatch, one_row_alone)
    stopped(con, f"CREATE OR REPLACE TABLE released AS FROM {CALL}")
    assert con.execute("FROM released").fetchall() == [("old",)]


def test_no_row_is_inserted(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    con.execute(f"CREATE TABLE released AS FROM {CALL} LIMIT 0")
    broken(monkeypatch, one_row_alone)
    stopped(con, f"INSERT INTO released FROM {CALL}")
    stopped(con, f"INSERT INTO released SELECT * FROM {CALL} LIMIT 1")
    assert con.execute("SELECT count(*) FROM released").fetchall() == [(0,)]


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_no_row_is_written_to_a_file(
    con: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / f"released.{kind}"
    broken(monkeypatch, one_row_alone)
    stopped(con, f"COPY (FROM {CALL}) TO '{file}' (FORMAT {kind})")
    if int(duckdb.__version__.split(".")[0]) >= 2:
        assert list(tmp_path.iterdir()) == []
    else:
        # DuckDB 1.x itself leaves the file that it had opened
        assert all(
            secret.encode() not in left.read_bytes()
            for left in tmp_path.iterdir()
            for secret in (*SECRETS, "disease")
        )


def test_no_row_is_written_to_a_partitioned_folder(
    con: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken(monkeypatch, one_row_alone)
    stopped(con, f"COPY (FROM {CALL}) TO '{tmp_path}/r' (FORMAT parquet, PARTITION_BY (disease))")
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [] or sum(path.stat().st_size for path in left) == 0


def test_a_transaction_around_it_is_lost(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, one_row_alone)
    con.execute("BEGIN")
    stopped(con, f"CREATE TABLE released AS FROM {CALL}")
    con.execute("ROLLBACK")
    assert tables_of(con) == ["patients"]


def test_a_view_and_a_prepared_statement_are_verified_when_they_run(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute(f"CREATE TEMP VIEW released AS FROM {CALL}")
    con.execute(f"PREPARE release AS FROM {CALL}")
    assert len(con.execute("FROM released").fetchall()) == 40
    assert len(con.execute("EXECUTE release").fetchall()) == 40
    broken(monkeypatch, one_row_alone)
    stopped(con, "SELECT count(*) FROM released")
    stopped(con, "EXECUTE release")
    con.execute("DROP VIEW released; DEALLOCATE release")


# --- other readers ------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_release_does_not_stream_its_first_rows(
    con: Connection, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    con.execute(f"SET threads = {threads}; SET streaming_buffer_size = '1KB'")
    con.execute("CREATE TABLE large AS SELECT i AS a, 'w' || i % 7 AS w FROM range(130000) r(i)")
    broken(monkeypatch, last_group_is_one_short)
    call = "('large', k := 13, method := 'mdav', quasi_identifiers := 'a', sensitive := ['w'])"
    stopped(con, f"FROM anonymize{call}", "a class of released values has 12 rows")
    rows: list[Any] = []
    with pytest.raises(Exception, match="has 12 rows"):
        relation = con.sql(f"FROM anonymize{call}")
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        for batch in reader(100):
            rows += batch.to_pylist()
    assert rows == []


@pytest.mark.slow
def test_frames_get_a_release_error(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pa.table({"x": [42.4242 + i for i in range(12)], "name": ["Zaphod"] * 12})
    broken(monkeypatch, one_row_alone)
    for call in (kanon_sql.anonymize, kanon_sql.anonymize_clusters, kanon_sql.anonymize_metrics):
        with pytest.raises(kanon_sql.ReleaseError, match="The release was stopped") as caught:
            call(frame, k=K, method="mdav")
        assert not any(secret in str(caught.value) for secret in SECRETS)
    remembered.forget()


def test_every_reader_of_a_relation_object_fails(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, one_row_alone)
    readers: tuple[Callable[[Any], Any], ...] = (
        lambda relation: relation.fetchall(),
        lambda relation: relation.limit(1).fetchall(),
        lambda relation: relation.filter("x > 50").fetchall(),
        lambda relation: relation.count("*").fetchall(),
        lambda relation: relation.to_arrow_table(),
        lambda relation: relation.fetchnumpy(),
        lambda relation: relation.create("released"),
        lambda relation: relation.insert_into("sink"),
    )
    con.execute(f"CREATE TABLE sink AS FROM {CALL.replace('mdav', 'mdav_plus')} LIMIT 0")
    for reader in readers:
        with pytest.raises(duckdb.Error, match=STOPPED):
            reader(con.sql(f"FROM {CALL}"))
    assert con.execute("SELECT count(*) FROM sink").fetchall() == [(0,)]
    assert tables_of(con) == ["patients", "sink"]


# --- rows that are lost or doubled on the way ---------------------------------------------------


def rows_changed(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Changes the row numbers, and their labels, that leave the grouping stage."""
    group_rows = stages.group_rows

    def changed(*arguments: Any) -> Any:
        found, facts = group_rows(*arguments)
        spots = change(np.arange(len(found.rows)))
        return Labelled(found.rows[spots], found.labels[spots], found.centers), facts

    monkeypatch.setattr(stages, "group_rows", changed)
    remembered.forget()


ROWS = {
    "one lost": lambda spots: spots[1:],
    "one twice": lambda spots: np.append(spots, spots[:1]),
    "all twice": lambda spots: np.append(spots, spots),
    "most lost": lambda spots: spots[: 2 * K],
    "one lost and another twice": lambda spots: np.append(spots[1:], spots[-1:]),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", ROWS)
def test_a_row_that_is_lost_or_doubled_stops_the_release(
    con: Connection, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    for kept in ("", ", keep_order := true", ", nulls := 'suppress', class_id := true"):
        # one class, so that the classes stay large enough
        call = f"('patients', k := 20, method := 'mdav', sensitive := ['disease']{kept})"
        assert len(con.execute(f"FROM anonymize{call}").fetchall()) == 40
    rows_changed(monkeypatch, ROWS[change])
    for name in ("anonymize", "anonymize_clusters", "anonymize_metrics"):
        stopped(con, f"FROM {name}{call}")
