"""Parts: each combination of the columns of within is a release of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from kanon_sql.data import adult
from kanon_sql.encode.arrow import Labelled
from kanon_sql.methods import METHODS
from kanon_sql.stages import group as stages
from kanon_sql.stages import parts, remembered
from tests.support.connections import registered
from tests.support.queries import refusal_of
from tests.support.tables import OF_RECORDS

Connection = duckdb.DuckDBPyConnection
QUASI = ("age", "zip")
CALL = "quasi_identifiers := ['age', 'zip'], others := 'drop'"
WITHIN = ("day", "site")
VISITS = """
    SELECT 20 + (hash(i) % 50)::INTEGER AS age, 'z' || hash(i * 7) % 9 AS zip,
           DATE '2026-11-01' + (i % 3)::INTEGER AS day,
           ['north', 'south', NULL][1 + i // 3 % 3] AS site,
           ['flu', 'cold', 'none', 'gout'][1 + (hash(i * 13) % 4)::INTEGER] AS disease,
           i // 2 AS patient
    FROM range(360) AS r(i)
"""

con = registered(
    "SET threads = 2",
    f"CREATE TABLE visits AS {VISITS}",
    """
        CREATE TABLE uneven AS FROM visits WHERE day < DATE '2026-11-02' UNION ALL
        SELECT * EXCLUDE (i)
               REPLACE (CASE WHEN i < 3 THEN 'east' ELSE 'west' END AS site,
                        1000 + i % 2 AS patient, DATE '2026-11-01' AS day)
        FROM (FROM visits LIMIT 4) POSITIONAL JOIN range(4) AS r(i)
        """,
)


def rows_of(con: Connection, query: str) -> list[tuple[Any, ...]]:
    return con.execute(query).fetchall()


def metrics(con: Connection, call: str) -> dict[str, Any]:
    told = "metric, coalesce(value::VARCHAR, text)"
    return dict(rows_of(con, f"SELECT {told} FROM anonymize_metrics{call[:-1]}, detail := true)"))


def parts_of(con: Connection, table: str, within: Sequence[str] = WITHIN) -> list[str]:
    """The condition of each part."""
    columns = ", ".join(f"{name}::VARCHAR" for name in within)
    return [
        " AND ".join(
            f"{name} IS NULL" if value is None else f"{name} = '{value}'"
            for name, value in zip(within, values, strict=True)
        )
        for values in rows_of(con, f"SELECT DISTINCT {columns} FROM {table} ORDER BY ALL")
    ]


def counts(con: Connection, released: str, columns: Sequence[str]) -> list[int]:
    """The rows of each combination of a released table."""
    return [n for (n,) in rows_of(
        con, f"SELECT count(*) FROM {released} GROUP BY {', '.join(columns)}"
    )]


# --- each part is a release of its own ------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    *(f"k := 4, method := '{name}'" for name in OF_RECORDS),
    "method := 'pairs', k := 2",
    "method := 'triples', k := 3",
    "k := 4, method := 'best', refine_steps := 20000",
    "k := 4, method := 'optimal_1d'",
    "k := 4, effort := 'balanced'",
    "k := 4, suppress := 0.1",
    "k := 4, sensitive := ['disease']",
    "k := 4, sensitive := ['disease'], l := 2, seed := 3",
    "k := 4, sensitive := ['disease'], t := 0.5, seed := 3",
    "k := 2, entity := 'patient'",
    "k := 2, entity := 'patient', entity_rows := 'apart', seed := 3",
    "k := 4, hierarchies := {'zip': 'flat'}, representation := 'hierarchy'",
    "k := 4, column_weights := {'age': 2}, representation := 'interval', block_rows := 1",
])
def test_each_part_is_released_as_if_there_were_no_other(con: Connection, options: str) -> None:
    named = "" if "method" in options else ", method := 'mdav_star'"  # as with within
    called = f"{CALL}, {options}{named}"
    if "optimal_1d" in options:
        called = f"quasi_identifiers := ['age'], others := 'drop', {options}"
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('visits', within := {[*WITHIN]}, "
        f"{called})"
    )
    kept = "* EXCLUDE (day, site)"
    for condition in parts_of(con, "visits"):
        con.execute(
            "CREATE OR REPLACE TEMP VIEW one AS SELECT * EXCLUDE (day, site) FROM visits "
            f"WHERE {condition}"
        )
        alone = rows_of(con, f"SELECT * FROM anonymize('one', {called}) ORDER BY ALL")
        here = rows_of(con, f"SELECT {kept} FROM released WHERE {condition} ORDER BY ALL")
        assert here == alone
        assert len(here) > 0


@pytest.mark.parametrize("options", ["", ", suppress := 0.2", ", class_id := true"])
def test_k_holds_in_each_part_and_every_row_comes_out(con: Connection, options: str) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('visits', k := 4, within := 'day', "
        f"{CALL}{options})"
    )
    assert min(counts(con, "released", (*QUASI, "day"))) >= 4
    by_day = "SELECT day, count(*) FROM {} GROUP BY day ORDER BY day"
    released = dict(rows_of(con, by_day.format("released")))
    for day, there in rows_of(con, by_day.format("visits")):
        least = there - int(0.2 * there) if "suppress" in options else there
        assert least <= released[day] <= there


@pytest.mark.slow
def test_without_within_parts_have_less(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE released AS FROM anonymize('visits', k := 4, quasi_identifiers := "
        "['age', 'zip'], sensitive := ['day'], others := 'drop')"
    )
    assert min(counts(con, "released", QUASI)) >= 4
    ((k, parts, below),) = rows_of(
        con, "SELECT k, parts, parts_below_k FROM k_anonymity('released', within := ['day'], "
        "quasi_identifiers := ['age', 'zip'], k := 4)"
    )
    assert (k, parts, below) == (1, 3, 3)


@pytest.mark.slow
def test_files_of_a_divided_release_have_persons_alone_and_ours_have_none(
    con: Connection, tmp_path: Path
) -> None:
    quasi = "quasi_identifiers := ['age', 'sex', 'race', 'education']"
    con.execute(f"CREATE OR REPLACE TEMP VIEW adult AS FROM '{adult()}'")
    for folder, options in {
        "naive": "sensitive := ['workclass']", "parts": "within := ['workclass']"
    }.items():
        con.execute(
            f"COPY (FROM anonymize('adult', k := 5, {quasi}, {options}, others := 'drop')) "
            f"TO '{tmp_path / folder}' (FORMAT parquet, PARTITION_BY (workclass))"
        )
    found = {}
    for folder in ("naive", "parts"):
        found[folder] = rows_of(
            con, "SELECT min(k), max(k), sum(uniques), count(*) FROM k_anonymity("
            f"'{tmp_path / folder}/**/*.parquet', {quasi}, within := 'workclass', "
            "by_part := true)"
        )[0]
    assert found["naive"][:2] == (1, 1) and found["naive"][2] > 1000
    assert found["parts"][0] >= 5 and found["parts"][2] == 0
    assert found["naive"][3] == found["parts"][3] == 7


@pytest.mark.parametrize("kind", [
    "JSON", "ENUM ('\"a\"', '\"b\"')", "UUID", "BOOLEAN", "STRUCT(a INTEGER)",
])
def test_parts_of_any_type_are_joined(con: Connection, kind: str) -> None:
    values = {
        "UUID": ["6ccf0cd2-9b51-4bd8-a7a4-06e1d4a6ed6e", "6ccf0cd2-9b51-4bd8-a7a4-06e1d4a6ed6f"],
        "BOOLEAN": ["true", "false"], "STRUCT(a INTEGER)": ["{'a': 1}", "{'a': 2}"],
    }.get(kind, ['"a"', '"b"'])
    con.execute(
        f"CREATE OR REPLACE TABLE kinds AS SELECT i::DOUBLE AS x, "
        f"(CASE WHEN i < 3 THEN $1 ELSE $2 END)::{kind} AS part FROM range(20) AS r(i)", values
    )
    con.execute("INSERT INTO kinds SELECT x + 40, NULL FROM kinds WHERE x < 7")
    call = "('kinds', k := 5, within := ['part'], small_parts := 'join', quasi_identifiers := 'x')"
    found = rows_of(con, f"SELECT part::VARCHAR, count(*) FROM anonymize{call} GROUP BY ALL")
    sizes = dict(found)
    # three rows of one value, 17 of another, seven of none, the next smallest
    assert sizes == (
        {"*": 10, str(values[1]): 17} if kind.startswith(("JSON", "ENUM"))
        else {None: 10, values[1]: 17}
    )


def test_a_null_is_a_part_of_its_own(con: Connection) -> None:
    call = f"('visits', k := 4, within := ['site'], {CALL})"
    assert rows_of(con, f"SELECT site, count(*) FROM anonymize{call} GROUP BY site ORDER BY site "
                   "NULLS LAST") == [("north", 120), ("south", 120), (None, 120)]
    assert metrics(con, call)["parts"] == "3.0"


@pytest.mark.parametrize(("kind", "values"), [
    ("VARCHAR COLLATE NOCASE", "['a', 'A', 'b']"), ("DOUBLE", "['0.0', '-0.0', 'nan']"),
    ("INTERVAL", "['1 month', '30 days', '2 days']"), ("INTEGER[]", "['[1]', '[2]', '[]']"),
])
def test_values_that_only_compare_equal_are_parts_of_their_own(
    con: Connection, kind: str, values: str
) -> None:
    con.execute(f"CREATE OR REPLACE TABLE kinds (a DOUBLE, part {kind})")
    con.execute(f"INSERT INTO kinds SELECT i, ({values})[1 + i % 3] FROM range(30) AS r(i)")
    call = "('kinds', k := 3, within := ['part'], quasi_identifiers := ['a'])"
    shown = "encode(part::VARCHAR)"
    found = rows_of(con, f"SELECT {shown}, count(*) FROM anonymize{call} GROUP BY {shown}")
    assert {n for _, n in found} == {10}
    assert len(found) == 3


# --- small parts ----------------------------------------------------------------------------------


def test_small_parts_are_refused_with_their_number_and_no_value(con: Connection) -> None:
    said = refusal_of(con, f"FROM anonymize('uneven', k := 4, within := {[*WITHIN]}, {CALL})")
    assert "Parts that are too small: 2 of 5, with 4 rows in all" in said
    assert not any(value in said for value in ("east", "west", "north"))


def test_small_parts_are_suppressed_beside_the_budget(con: Connection) -> None:
    call = f"('uneven', k := 4, within := {[*WITHIN]}, small_parts := 'suppress', {CALL})"
    assert rows_of(con, f"SELECT DISTINCT site FROM anonymize{call} ORDER BY ALL") == [
        ("north",), ("south",), (None,)
    ]
    found = metrics(con, call)
    told = (
        "rows", "rows_released", "rows_suppressed", "parts", "parts_suppressed",
        "part_rows_min",
    )
    assert [float(found[name]) for name in told] == [124, 120, 4, 3, 2, 40]
    suppressed = rows_of(con, f"FROM suppressed_rows{call}")
    assert suppressed == [(121,), (122,), (123,), (124,)]


def test_all_parts_are_small(con: Connection) -> None:
    asked = "('uneven', k := 100, within := ['site'], small_parts := '{}', " + CALL + ")"
    said = refusal_of(con, f"FROM anonymize{asked.format('suppress')}")
    assert "would leave out every row" in said
    assert {site for (site,) in rows_of(
        con, f"SELECT site FROM anonymize{asked.format('join')}"
    )} == {"*"}
    more = asked.format("join").replace("100", "125")
    assert "all parts together have" in refusal_of(con, f"FROM anonymize{more}")


@pytest.mark.parametrize("k", [2, 4, 5, 40, 41])
def test_small_parts_are_joined_with_the_next_smallest(con: Connection, k: int) -> None:
    call = f"('uneven', k := {k}, within := ['site'], small_parts := 'join', {CALL})"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize{call}")
    assert min(counts(con, "released", (*QUASI, "site"))) >= k
    sizes = dict(rows_of(con, "SELECT site, count(*) FROM released GROUP BY site"))
    assert sizes == {
        2: {"*": 4, "north": 40, "south": 40, None: 40},
        4: {"*": 4, "north": 40, "south": 40, None: 40},
        5: {"*": 44, "south": 40, None: 40},
        40: {"*": 44, "south": 40, None: 40},
        41: {"*": 124},
    }[k]


def test_columns_that_are_no_text_come_out_as_null(con: Connection) -> None:
    call = f"('uneven', k := 4, within := {[*WITHIN]}, small_parts := 'join', {CALL})"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize{call}")
    joined = "SELECT day, site, count(*) FROM released WHERE day IS NULL GROUP BY ALL"
    assert rows_of(con, joined) == [(None, "*", 4)]
    assert rows_of(con, "SELECT typeof(day) FROM released LIMIT 1") == [("DATE",)]
    assert metrics(con, call)["parts_joined"] == "2.0"


def test_a_part_that_has_the_values_of_joined_ones_is_one_of_them(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TEMP VIEW starred AS SELECT * REPLACE "
        "(CASE WHEN site = 'north' THEN '*' ELSE site END AS site) FROM uneven"
    )
    call = f"('starred', k := 4, within := ['site'], small_parts := 'join', {CALL})"
    assert rows_of(con, f"SELECT count(*) FROM anonymize{call} WHERE site = '*'") == [(44,)]
    assert metrics(con, call)["parts_joined"] == "3.0"


def test_small_is_by_persons_where_there_are_some(con: Connection) -> None:
    asked = f"within := ['site'], entity := 'patient', {CALL}"
    # east has two persons, west has one of them
    assert "2 of 5" in refusal_of(con, f"FROM anonymize('uneven', k := 3, {asked})")
    joined = f"('uneven', k := 3, small_parts := 'join', {asked})"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize{joined}")
    # together they are still two, so that another part is taken in
    assert rows_of(con, "SELECT count(*) FROM released WHERE site = '*'") == [(44,)]


# --- what decides nothing -------------------------------------------------------------------------


@pytest.mark.slow
def test_neither_row_order_nor_threads_matter(con: Connection) -> None:
    con.execute("CREATE OR REPLACE TABLE shuffled AS FROM uneven ORDER BY hash(age), hash(disease)")
    call = f"k := 4, within := {[*WITHIN]}, small_parts := 'join', {CALL}, sensitive := ['disease']"
    found = []
    for table in ("uneven", "shuffled"):
        for threads in (1, 2, 3):
            remembered.forget()
            con.execute(f"SET threads = {threads}")
            found.append(rows_of(con, f"FROM anonymize('{table}', {call})"))
    assert all(each == found[0] for each in found)


# --- what must not come out -----------------------------------------------------------------------


def changed(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Changes what leaves the grouping of all parts."""
    put_together = parts.put_together

    def broken(found: Any, outside: Any) -> Labelled:
        whole = put_together(found, outside)
        rows, labels = change(whole.rows, whole.labels.copy())
        return Labelled(rows, labels, whole.centers)

    monkeypatch.setattr(parts, "put_together", broken)
    remembered.forget()


def all_in_one(rows: Any, labels: Any) -> Any:
    return rows, np.where(labels < 0, labels, 0)


def one_row_in_the_next_part(rows: Any, labels: Any) -> Any:
    spots = np.argsort(labels, kind="stable")
    labels[spots[-1]] = labels[spots[len(spots) // 2]]
    return rows, labels


def classes_of_each_part_alike(rows: Any, labels: Any) -> Any:
    return rows, labels % 3


def out_of_a_small_part(rows: Any, labels: Any) -> Any:
    return rows, np.where(labels < 0, labels.max() + 1, labels)


def whole_part_left_out(rows: Any, labels: Any) -> Any:
    return rows, np.where(labels < labels.max() // 2, -1, labels)


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", [
    all_in_one, one_row_in_the_next_part, classes_of_each_part_alike, out_of_a_small_part,
    whole_part_left_out,
])
def test_a_class_that_crosses_parts_is_refused(
    con: Connection, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    call = f"('uneven', k := 4, within := {[*WITHIN]}, small_parts := 'suppress', {CALL})"
    assert len(rows_of(con, f"FROM anonymize{call}")) == 120
    changed(monkeypatch, change)
    for face in ("anonymize", "anonymize_metrics", "suppressed_rows"):
        assert "The release was stopped" in refusal_of(con, f"FROM {face}{call}")


def test_a_part_with_too_many_labels_does_not_hide_one_with_too_few(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_rows, off = stages.group_rows, iter([1, -1] * 100)

    def broken(*arguments: Any) -> Any:
        found, facts = group_rows(*arguments)
        labels = np.resize(found.labels, len(found.labels) + next(off))
        return Labelled(found.rows, labels, found.centers), facts

    monkeypatch.setattr(stages, "group_rows", broken)
    remembered.forget()
    assert "failed with TypeError" in refusal_of(
        con, f"FROM anonymize('visits', k := 4, within := ['day'], {CALL})"
    )


# --- what can't be --------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "said"), [
    ("within := ['day'], sensitive := ['day']", "is given as sensitive and as within"),
    ("small_parts := 'join'", "no column divides the rows into parts"),
    ("within := ['day'], small_parts := 'merge'", "small_parts 'merge' is not known"),
    ("within := ['day'], method := 'full_domain'", "within makes each part a release of its own"),
    ("within := ['day'], entity := 'patient', headroom := 1", "A ledger follows persons"),
    ("within := ['dey']", "dey"),
])
def test_what_cannot_be_is_refused(con: Connection, options: str, said: str) -> None:
    assert said in refusal_of(con, f"FROM anonymize('visits', k := 4, {CALL}, {options})")


def test_what_cannot_be_told_of_parts_is_refused(con: Connection) -> None:
    call = f"('visits', k := 4, {CALL}, by_part := true"
    assert "no column divides" in refusal_of(con, f"FROM anonymize_metrics{call}, detail := true)")
    assert "before parts are formed" in refusal_of(
        con, f"FROM anonymize_metrics{call}, within := 'day', nulls := 'suppress')"
    )
    con.execute("CREATE OR REPLACE TEMP VIEW named AS SELECT *, 1 AS \"Value\" FROM visits")
    assert "Rename it first" in refusal_of(
        con, f"FROM anonymize_metrics{call.replace('visits', 'named')}, within := 'value')"
    )
    audit = "k_anonymity('visits', quasi_identifiers := ['age'], within := 'day'"
    thirds = ("by_part := true", "entity := 'patient'", "sensitive := ['disease']")
    for one, other in combinations(thirds, 2):
        assert "Call it twice" in refusal_of(con, f"FROM {audit}, {one}, {other})")


def test_methods_of_one_attribute_know_no_parts(con: Connection) -> None:
    for method in ("fold", "ordered"):
        assert "within makes each part a release of its own" in refusal_of(
            con, "FROM anonymize('visits', k := 4, quasi_identifiers := ['zip'], others := 'drop', "
            f"within := ['day'], method := '{method}')"
        )


def test_methods_that_take_parts_are_those_of_records() -> None:
    assert set(OF_RECORDS) < set(METHODS)
