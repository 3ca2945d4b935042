"""Parts: what is measured of each, and what files of them show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.release.test_parts import CALL, QUASI, WITHIN, con, counts, metrics, parts_of, rows_of

Connection = duckdb.DuckDBPyConnection
__all__ = ["con"]


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("small", ["suppress", "join"])
def test_a_file_is_verified_by_combinations_of_parts(
    con: Connection, tmp_path: Path, small: str
) -> None:
    table, file = con.sql("FROM uneven").to_arrow_table(), tmp_path / "released.parquet"
    asked: dict[str, Any] = {
        "k": 4, "within": ["site"], "small_parts": small, "quasi_identifiers": [*QUASI],
        "sensitive": ["disease"], "others": "drop", "l": 2, "t": 0.9, "seed": 3,
    }
    kanon_sql.release(table, to=file, private=tmp_path / "private.json", **asked)
    for more in (dict[str, Any](), {"source": table, "private": tmp_path / "private.json"}):
        verified = kanon_sql.verify(file, **more)
        found = {each.entry: each.verdict for each in verified.findings}
        assert "wrong" not in found.values()
        for entry in (
            "options.k", "metrics.parts", "metrics.part_rows_min", "metrics.classes",
            "metrics.unchanged_columns", "metrics.unique_in_unchanged",
        ):
            assert found[entry] == "proven"


# --- metrics of each part -------------------------------------------------------------------------

NOT_COMPARED = ("seconds_", "grouping_cache", "options", "notice")


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    "k := 4",
    "k := 4, method := 'r_gather'",
    "k := 4, method := 'forest', suppress := 0.1",
    "k := 4, representation := 'interval', sensitive := ['disease'], l := 2, t := 0.6, seed := 3",
    "k := 4, sensitive := ['disease'], delta := 3, beta := 4, seed := 3",
    "k := 2, entity := 'patient', sensitive := ['disease']",
])
def test_the_metrics_of_a_part_are_those_of_its_rows_alone(con: Connection, options: str) -> None:
    if "method" not in options:
        options += ", method := 'mdav_star'"  # as with within
    told = "metric, coalesce(value::VARCHAR, text), unit"
    of_all = rows_of(
        con,
        f"SELECT day::VARCHAR, site, {told} FROM anonymize_metrics('visits', detail=true, "
        f"by_part := true, within := {[*WITHIN]}, {CALL}, {options})",
    )
    assert len({row[:2] for row in of_all}) == 9
    for condition in parts_of(con, "visits")[::4]:
        con.execute(
            "CREATE OR REPLACE TEMP VIEW one AS SELECT * EXCLUDE (day, site) FROM visits "
            f"WHERE {condition}"
        )
        alone = rows_of(con, f"SELECT {told} FROM anonymize_metrics('one', detail=true, {CALL}, "
                             f"{options})")
        ((day, site),) = rows_of(
            con, f"SELECT DISTINCT day::VARCHAR, site FROM visits WHERE {condition}"
        )
        # the columns of within pass, and the table of one part lacks them
        here = [
            row[2:] if row[2] != "unchanged_columns" else (row[2], float(row[3]) - 2, row[4])
            for row in of_all if row[:2] == (day, site)
        ]
        compared = [
            [close(row) for row in rows if not row[0].startswith(NOT_COMPARED)]
            for rows in (here, alone)
        ]
        assert compared[0] == compared[1]


def test_a_center_that_two_classes_publish_is_counted_once_in_its_part(con: Connection) -> None:
    """The row with b joins one of two classes whose center is a."""
    con.execute(
        "CREATE OR REPLACE TABLE words AS SELECT word, day FROM (SELECT unnest($1) AS word), "
        "(SELECT unnest(['mon', 'tue']) AS day) WHERE day = 'mon' OR word <> 'c'",
        [[*"caabcaacca"]],
    )
    call = (
        "('words', k := 2, quasi_identifiers := ['word'], method := 'r_cellular', "
        "others := 'drop', within := ['day'], by_part := true, detail := true)"
    )
    assert rows_of(
        con, f"SELECT day, value FROM anonymize_metrics{call} "
        "WHERE metric = 'centers_equal_to_a_row' ORDER BY day"
    ) == [("mon", 2.0), ("tue", 1.0)]


# --- what passes unchanged ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    "within := ['day'], others := 'drop'",
    "within := ['day', 'site'], others := 'drop', sensitive := ['disease', 'patient']",
    "within := ['day', 'site'], others := 'release'",
    "within := ['day', 'site'], others := 'release', suppress := 0.2",
    "within := ['site'], small_parts := 'join', others := 'drop', sensitive := ['patient']",
    "within := ['day', 'site'], small_parts := 'join', others := 'release'",
    "within := ['site'], small_parts := 'suppress', others := 'release'",
])
def test_what_passes_is_counted_with_the_columns_of_within(con: Connection, options: str) -> None:
    """As they come out: in parts that were put together as '*', or NULL."""
    table = "uneven" if "small_parts" in options else "visits"
    call = f"'{table}', k := 4, quasi_identifiers := {[*QUASI]}, seed := 3, {options}"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize({call})")
    names = [name for name, *_ in rows_of(con, "DESCRIBE released") if name not in QUASI]
    once = counts(con, "released", names).count(1)
    assert (once > 0) == ("patient" in options or "release" in options)
    found = metrics(con, f"({call})")
    assert float(found["unchanged_columns"]) == len(names)
    assert float(found["unique_in_unchanged"]) == once
    by_part = rows_of(
        con, f"SELECT metric, list(DISTINCT value), sum(value) FROM anonymize_metrics({call}, "
        "by_part := true) WHERE metric LIKE '%unchanged%' GROUP BY metric ORDER BY metric"
    )
    (columns, different, _), (rows, _, added) = by_part
    assert (columns, rows) == ("unchanged_columns", "unique_in_unchanged")
    assert different == [len(names)] and added == once


def close(row: tuple[Any, ...]) -> Any:
    """A row whose number is rounded a little."""
    try:
        return (row[0], float(f"{float(row[1]):.9g}"), row[2])
    except (TypeError, ValueError):
        return row


@pytest.mark.slow
def test_metrics_of_the_whole_are_over_all_parts(con: Connection) -> None:
    call = f"('visits', k := 4, within := {[*WITHIN]}, sensitive := ['disease'], l := 2, {CALL}"
    whole = metrics(con, call + ")")
    for name, over in {
        "rows": "sum", "rows_released": "sum", "classes": "sum",
        "class_size_max": "max", "k": "min", "l (disease)": "min", "blocks": "sum",
        "l_violating_before (disease)": "sum",
    }.items():
        ((found,),) = rows_of(
            con,
            f"SELECT {over}(value) FROM anonymize_metrics{call}, by_part := true, detail := true) "
            f"WHERE metric = '{name}'",
        )
        assert float(whole[name]) == found
    assert "guaranteed_ratio" in whole and whole["guaranteed_ratio"] is None
