"""What may stand for a table in Python, and what is said of what may not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import kanon_sql

PEOPLE: dict[str, list[Any]] = {
    "age": [30, 31, 32, 60, 61, 62], "job": list("aabbcc"), "flu": [True, False] * 3,
}
CALL: dict[str, Any] = {"k": 3, "sensitive": ["flu"]}


def released() -> list[dict[str, Any]]:
    """What is released of PEOPLE, through an Arrow table."""
    rows: list[dict[str, Any]] = kanon_sql.anonymize(pa.table(PEOPLE), **CALL).to_pylist()
    assert len(rows) == 6
    return rows


def reader() -> pa.RecordBatchReader:
    table = pa.table(PEOPLE)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))


FORMS: dict[str, Callable[[], Any]] = {
    "dict": lambda: PEOPLE,
    "dict of arrays": lambda: {name: np.array(values) for name, values in PEOPLE.items()},
    "reader": reader,
    "batch": lambda: pa.table(PEOPLE).to_batches()[0],
    "dataset": lambda: pyarrow.dataset.dataset(pa.table(PEOPLE)),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", FORMS)
def test_columns_and_batches_come_back_as_an_arrow_table(form: str) -> None:
    result = kanon_sql.anonymize(FORMS[form](), **CALL)
    assert isinstance(result, pa.Table)
    assert result.to_pylist() == released()


def test_a_reader_is_read_once_though_the_query_looks_twice() -> None:
    metrics = kanon_sql.anonymize_metrics(reader(), **CALL, hierarchies={"age": "bins"}).to_pylist()
    assert next(row["value"] for row in metrics if row["metric"] == "rows") == 6


@pytest.mark.slow
def test_paths_lists_of_paths_and_globs(tmp_path: Path) -> None:
    for name in "ab":
        pl.DataFrame(PEOPLE).write_parquet(tmp_path / f"{name}.parquet")
    one = kanon_sql.anonymize(tmp_path / "a.parquet", **CALL)
    assert one.to_pylist() == released()
    both = [tmp_path / "a.parquet", str(tmp_path / "b.parquet")]
    assert kanon_sql.anonymize(both, **CALL).num_rows == 12
    assert kanon_sql.anonymize(str(tmp_path / "*.parquet"), **CALL).num_rows == 12
    # the columns of a list are known before the query runs, which full_domain needs
    assert kanon_sql.anonymize(both, **CALL, method="full_domain").num_rows == 12


def test_paths_stand_for_hierarchies_and_releases(tmp_path: Path) -> None:
    levels = pl.DataFrame({"level0": list("abc"), "level1": ["x", "x", "*"], "level2": ["*"] * 3})
    levels.write_parquet(tmp_path / "levels.parquet")
    result = kanon_sql.anonymize(PEOPLE, **CALL, hierarchies={"job": tmp_path / "levels.parquet"})
    assert set(result["job"].to_pylist()) <= {"a", "b", "c", "x", "*"}
    pl.from_arrow(result).write_parquet(tmp_path / "released.parquet")  # type: ignore[union-attr]
    audit = kanon_sql.anonymize_audit(PEOPLE, **CALL, release=tmp_path / "released.parquet")
    assert audit.num_rows > 5


def test_a_relation_comes_back_as_a_relation_that_lives_on() -> None:
    con = duckdb.connect()
    con.execute("CREATE TEMP TABLE people AS SELECT * FROM (VALUES (1), (2), (3), (4)) t(age)")
    result = kanon_sql.anonymize(con.sql("FROM people"), k=2)
    con.close()
    assert isinstance(result, duckdb.DuckDBPyRelation)
    assert sorted(result.fetchall()) == [(2,), (2,), (4,), (4,)]


@pytest.mark.slow
def test_numpy_scalars_and_arrays_are_options() -> None:
    frame = pd.DataFrame(PEOPLE)
    plain = kanon_sql.anonymize(
        frame, k=3, suppress=0.0, seed=3, class_id=True, quasi_identifiers=["age", "job"],
        sensitive=["flu"], column_weights={"age": 2},
    )
    numpy = kanon_sql.anonymize(
        frame, k=np.int64(3), suppress=np.float32(0.0), seed=np.uint8(3), class_id=np.True_,
        quasi_identifiers=frame.columns[:2], sensitive=np.array(["flu"]),
        column_weights={"age": np.float64(2.0)},
    )
    pd.testing.assert_frame_equal(plain, numpy)
    with pytest.raises(kanon_sql.OptionError, match=r"^k must be a whole number .* Got 2\.5\.$"):
        kanon_sql.anonymize(frame, k=np.float64(2.5))


def numbers() -> Iterator[int]:
    yield 1


NO_TABLES: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (lambda: None, "The data is missing."),
    "int": (lambda: 5, "A value of type int is not a table."),
    "array": (lambda: np.zeros((3, 2)), "An array has no column names."),
    "generator": (numbers, "A generator gives its rows once only."),
    "polars series": (lambda: pl.Series([1, 2]), "A single column is not a table."),
    "pandas series": (lambda: pd.Series([1, 2]), "A single column is not a table."),
    "rows": (lambda: [(1, 2), (3, 4)], "A value of type list is not a table."),
    "nothing": (lambda: [], "A value of type list is not a table."),
    "connection": (duckdb.connect, "A connection is not a table. Name the table first,"),
    "arrow array": (lambda: pa.array([1, 2]), "A value of type Int64Array is not a table."),
    "missing file": (lambda: Path("nowhere.csv"), "There is no file 'nowhere.csv'."),
    "missing glob": (lambda: "nowhere*.parquet", "There is no file 'nowhere*.parquet'."),
    "missing files": (
        lambda: ["a.parquet", "b.parquet"], "The files of the list can't be read together.",
    ),
    "files of two kinds": (
        lambda: ["a.parquet", "b.csv"], "A list as the relation must name files of one kind.",
    ),
    "name": (lambda: "patients", "The relation 'patients' is not a table, view or file here."),
    "name of a variable of ours": (lambda: "options", "The relation 'options' is not a table, "
                                                      "view"),
    "empty name": (lambda: " ", "The relation is missing."),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_is_told_in_a_sentence_and_an_advice(case: str) -> None:
    make, sentence = NO_TABLES[case]
    with pytest.raises(kanon_sql.OptionError) as caught:
        kanon_sql.anonymize(make(), k=2)
    said = str(caught.value)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert said.endswith(".") and said.count(". ") >= 1
    assert caught.value.__cause__ is None and caught.value.__suppress_context__ in (True, False)


INDEXED = pd.DataFrame(PEOPLE).set_index("age")
NOT_AS_THEY_ARE: dict[str, tuple[Any, str]] = {
    "index": (INDEXED, "The frame has an index, which a release doesn't keep. Make it a column"),
    "index left by a filter": (
        pd.DataFrame(PEOPLE).iloc[[3, 0, 5]], "The frame has an index, which a release",
    ),
    "named range": (
        pd.DataFrame(PEOPLE).rename_axis("person"), "The frame has an index, which a release",
    ),
    "index of two levels": (
        pd.DataFrame(PEOPLE).set_index(["age", "job"]), "The frame has an index, which a release",
    ),
    "columns of two levels": (
        pd.DataFrame([[1, 2]] * 4, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
        "The columns of the frame have names of several levels.",
    ),
    "equal names": (
        pd.DataFrame([[1, 2]] * 4, columns=["a", "A"]), "The frame has two columns named 'a'",
    ),
    "names that are not strings": (
        pd.DataFrame([[1, 2]] * 4), "The frame has column names that are not strings.",
    ),
    "an empty name": ({"": [1, 2]}, "The frame has a column whose name is empty. Rename it."),
    "dict with numbers as names": ({1: [1, 2]}, "The frame has column names that are not strings."),
    "no columns": (pd.DataFrame(), "The frame has no columns."),
    "no columns of polars": (pl.DataFrame(), "The frame has no columns."),
    "no columns of a dict": ({}, "The frame has no columns."),
    "columns of different lengths": (
        {"a": [1, 2], "b": [1]}, "The columns of the dict have different lengths.",
    ),
    "a value for a column": ({"a": 1}, "The column 'a' can't be read as values of one type."),
    "a text for a column": ({"a": "secret"}, "The column 'a' can't be read as values of one type."),
    "values of two types": (
        {"a": [1, "secret"]}, "The column 'a' can't be read as values of one type.",
    ),
    "objects": (
        pl.DataFrame({"b": [1, 2], "a": [object(), object()]}),
        "DuckDB can't read the column 'a' of the frame. Give it values of one type",
    ),
    "complex numbers": (
        pd.DataFrame({"b": [1] * 4, "a": [1 + 2j] * 4}), "DuckDB can't read the column 'a' of",
    ),
    "months": (
        pd.DataFrame({"b": [1] * 4, "a": pd.period_range("2020-01", periods=4, freq="M")}),
        "DuckDB can't read the column 'a' of",
    ),
    "half floats": (
        pa.table({"b": [1] * 4, "a": pa.array(np.ones(4, np.float16), pa.float16())}),
        "DuckDB can't read the column 'a' of",
    ),
    "decimals of 60 digits": (
        pa.table({"b": [1] * 4, "a": pa.array([1] * 4).cast(pa.decimal256(60, 2))}),
        "DuckDB can't read the column 'a' of",
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", NOT_AS_THEY_ARE)
def test_a_frame_that_would_lose_something_is_refused(case: str) -> None:
    frame, sentence = NOT_AS_THEY_ARE[case]
    with pytest.raises(kanon_sql.DataError) as caught:
        kanon_sql.anonymize(frame, k=2)
    said = str(caught.value)
    assert said.startswith(sentence)
    assert "secret" not in said and "\n" not in said
    assert said.endswith(".") and said.count(". ") >= 1


def test_what_duckdb_says_of_a_value_is_not_told(tmp_path: Path) -> None:
    lines = ["a,b", *(f"{i % 5},{i}" for i in range(30_000)), "secret,3"]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    con = duckdb.connect()
    con.execute(
        "CREATE VIEW v AS SELECT ['1', 'secret'][1 + i // 7]::INTEGER AS a FROM range(9) r(i)"
    )
    for data, given in ((tmp_path / "a.csv", None), ("v", con)):
        with pytest.raises(kanon_sql.DataError, match=r"^DuckDB can't read the data") as caught:
            kanon_sql.anonymize(data, k=2, con=given)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("value", ("'12:00:00+02'::TIMETZ", "['12:00:00+02'::TIMETZ]"))
def test_a_type_that_a_frame_does_not_keep_is_refused(value: str) -> None:
    """Arrow forgets the zone of a time: others would come out than came in, and go in."""
    con = kanon_sql.register(duckdb.connect())
    con.execute(f"CREATE TABLE t AS SELECT i // 9 AS a, {value} AS b FROM range(9) r(i)")
    for data, given in (("t", con), (con.table("t"), None), (con.table("t"), con)):
        with pytest.raises(kanon_sql.DataError, match=r"^The column 'b' has the type TIME WITH .* "
                                                      r"which a frame doesn't keep as it is\."):
            kanon_sql.anonymize(data, k=2, quasi_identifiers=["a"], sensitive=["b"], con=given)
    call = "anonymize('t', k=2, quasi_identifiers=['a'], sensitive=['b'])"
    assert con.execute(f"SELECT count(b) FROM {call} WHERE b = {value}").fetchone() == (9,)


def test_an_index_that_only_counts_is_none() -> None:
    frame = pd.DataFrame(PEOPLE)
    assert len(kanon_sql.anonymize(frame.iloc[1:], k=2, sensitive=["flu"])) == 5
    kept = kanon_sql.anonymize(INDEXED.reset_index(), k=3, sensitive=["flu"])
    assert list(kept.columns) == ["age", "job", "flu"]


def test_a_hierarchy_is_a_frame_under_the_same_rules() -> None:
    levels = pd.DataFrame({"level0": list("abc"), "level1": ["*"] * 3}).set_index("level0")
    with pytest.raises(kanon_sql.DataError, match="The frame has an index"):
        kanon_sql.anonymize(PEOPLE, **CALL, hierarchies={"job": levels})


@pytest.mark.slow
def test_words_in_any_spelling_and_wishes() -> None:
    assert kanon_sql.anonymize(PEOPLE, **CALL, method="MDAV *", nulls="Value").num_rows == 6
    wishes = {"qi": "quasi_identifiers", "algorithm": "method", "quasi_identifier": "quasi_ident"}
    for wish, name in wishes.items():
        with pytest.raises(kanon_sql.OptionError, match=f"has no option '{wish}'.*'{name}"):
            kanon_sql.anonymize(PEOPLE, k=3, **{wish: ["age"]})
    with pytest.raises(kanon_sql.OptionError, match=r"is given as 'binz'.* Did you mean 'bins'\?"):
        kanon_sql.anonymize(PEOPLE, **CALL, hierarchies={"job": "binz"})


def test_a_function_that_is_not_here_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"no 'anonymise'\. Did you mean 'anonymize'\?"):
        kanon_sql.anonymise  # noqa: B018
    assert not hasattr(kanon_sql, "__wrapped__")
    from kanon_sql import methods

    assert methods.METHODS
