"""The Python face: frames and files in, the same kind of frame out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql

PEOPLE = {"age": [30, 31, 32, 60, 61, 62], "job": list("aabbcc"), "flu": [True, False] * 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    "frame",
    [pl.DataFrame(PEOPLE), pd.DataFrame(PEOPLE), pa.table(PEOPLE)],
    ids=["polars", "pandas", "arrow"],
)
def test_the_kind_of_frame_that_came_in_comes_out(frame: object) -> None:
    released = kanon_sql.anonymize(frame, k=3, sensitive=["flu"])
    assert type(released) is type(frame)
    assert len(released) == 6
    metrics = kanon_sql.anonymize_metrics(frame, k=3, detail=True, sensitive=["flu"])
    assert type(metrics) is type(frame)


def test_the_same_rows_as_in_sql() -> None:
    people = pa.table(PEOPLE)
    con = kanon_sql.register(duckdb.connect())
    con.register("people", people)
    expected = con.execute("FROM anonymize('people', k=3, sensitive=['flu'], seed=3)").fetchall()
    released = kanon_sql.anonymize(people, k=3, sensitive=["flu"], seed=3)
    assert [tuple(row.values()) for row in released.to_pylist()] == expected


@pytest.mark.slow
def test_files_lazy_frames_and_the_other_calls(tmp_path: Path) -> None:
    path = str(tmp_path / "people.parquet")
    pl.DataFrame(PEOPLE).write_parquet(path)
    assert kanon_sql.anonymize(path, k=2).num_rows == 6
    assert kanon_sql.anonymize_clusters(path, k=3, sensitive="flu").num_rows == 2
    assert kanon_sql.k_anonymity(path, quasi_identifiers=["job"]).to_pylist()[0]["k"] == 2
    assert "__kanon_check" in kanon_sql.anonymize_sql(path, k=2).to_pylist()[0]["sql"]
    assert kanon_sql.anonymize(pl.LazyFrame(PEOPLE), k=2).collect().shape == (6, 3)


@pytest.mark.slow
def test_errors_are_ours() -> None:
    people = pl.DataFrame(PEOPLE)
    with pytest.raises(kanon_sql.OptionError, match=r"names the column 'agge', which doesn't"):
        kanon_sql.anonymize(people, k=2, quasi_identifiers=["agge"])
    with pytest.raises(kanon_sql.OptionError, match="No column is left"):
        kanon_sql.anonymize(people, k=2, sensitive=["age", "job", "flu"])
    with pytest.raises(kanon_sql.OptionError, match="k is not given"):
        kanon_sql.anonymize(people)
    with pytest.raises(kanon_sql.DataError) as caught:
        kanon_sql.anonymize(people, k=7)
    assert str(caught.value) == (
        "There are 6 rows to anonymize, fewer than k = 7. Lower k, or release nothing."
    )
    with pytest.raises(kanon_sql.DataError, match="two columns named"):
        kanon_sql.anonymize(pa.table([[1, 2], [3, 4]], names=["a", "A"]), k=2)
    with pytest.raises(kanon_sql.OptionError, match="nowhere"):
        kanon_sql.anonymize("nowhere.parquet", k=2)


@pytest.mark.slow
def test_frames_stand_for_the_graph_and_the_places() -> None:
    table = pl.DataFrame({"zip": [f"z{i // 4}" for i in range(40)], "age": list(range(40))})
    pairs = pl.DataFrame({"a": [f"z{i}" for i in range(9)], "b": [f"z{i + 1}" for i in range(9)]})
    spots = pl.DataFrame({"code": [f"z{i}" for i in range(10)], "lat": [i / 2 for i in range(10)],
                          "lon": [i % 2 for i in range(10)]})
    roles: dict[str, Any] = {
        "quasi_identifiers": ["zip"], "others": "drop", "k": 8, "method": "zip_regions"
    }
    linear = kanon_sql.anonymize(table, **roles, adjacency=pairs)
    assert sorted(linear["zip"].unique()) == [f"{{z{i}, z{i + 1}}}" for i in range(0, 10, 2)]
    assert len(kanon_sql.anonymize(table, **roles, places=spots)) == 40
    levels = kanon_sql.hierarchy(table, "zip", kind="adjacency", adjacency=pairs, levels=3)
    assert levels.columns == ["level0", "level1", "level2", "level3"]
    released = kanon_sql.anonymize(
        table, k=5, hierarchies={"zip": {"kind": "adjacency", "adjacency": pairs}}
    )
    assert set(released["zip"]) <= {label for column in kanon_sql.hierarchy(
        table, "zip", kind="adjacency", adjacency=pairs) for label in column}


def test_a_refusal_inside_the_query_keeps_its_class() -> None:
    people = pl.DataFrame(PEOPLE)
    with pytest.raises(kanon_sql.OptionError,
                       match="column_weights names the column 'agee'") as caught:
        kanon_sql.anonymize(people, k=2, column_weights={"agee": 2}, sensitive=["flu"])
    assert not str(caught.value).startswith("OptionError")
    with pytest.raises(kanon_sql.DataError, match=r"^The quasi-identifier 'x' has 1 infinite"):
        kanon_sql.anonymize(pl.DataFrame({"x": [1.0, float("inf")]}), k=2)


def test_in_sql_a_refusal_is_its_sentence_alone() -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE t AS SELECT i AS a FROM range(4) AS r(i)")
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute("FROM anonymize('t', k=5)")
    assert str(caught.value).startswith("Invalid Input Error: There are 4 rows to anonymize, fewer")
