"""kanon_sql.testing: what the kit passes and fails, against a count in plain Python."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from math import floor
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.errors import DataError, OptionError
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    PrivacyModel,
)
from kanon_sql.testing import OWN, TAKEN, check_release
from tests.privacy.reference import passes
from tests.support.thoroughness import often

SECRET = "of a person"
"""In all values of TABLE, and in no sentence."""
TABLE = pa.table({
    "job": [f"nurse {SECRET}"] * 3 + [f"cook {SECRET}"] * 3,
    "flu": [f"{i} {SECRET}" for i in (1, 2, 3, 1, 2, 2)],
})
"""A release of k = 3, l = 2."""


def fails(*arguments: Any, said: str, **options: Any) -> None:
    """The check fails by a sentence that says this, and holds no value."""
    with pytest.raises(AssertionError) as failure:
        check_release(*arguments, **options)
    assert said in str(failure.value)
    assert SECRET not in str(failure.value) and len(str(failure.value).split()) <= 40


# --- against a count in plain Python ------------------------------------------------------------

NUMBERS = (1.5, float("nan"), None, 0.0)
TEXTS = ("a", "A", "", None, "NULL")
DISEASES = ("flu", "Flu", "cold", "HIV")
ROWS = st.lists(
    st.tuples(*map(st.sampled_from, (NUMBERS, TEXTS, DISEASES))), min_size=1, max_size=24
)
CON = duckdb.connect()
"""One for all random tables: calls are registered once."""
SCHEMA = pa.schema({"number": pa.float64(), "text": pa.string(), "disease": pa.string()})
MODELS: dict[str, Callable[[float], PrivacyModel]] = {
    "l": lambda x: DistinctDiversity(column="disease", l=round(10 * x)),
    "alpha": lambda x: AlphaFrequency(column="disease", alpha=x),
    "t": lambda x: Closeness(column="disease", t=x, distance="equal"),
    "delta": lambda x: DeltaDisclosure(column="disease", delta=x),
    "beta": lambda x: BetaLikeness(column="disease", beta=x, kind="enhanced"),
}


def table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * 3
    arrays = map(pa.array, columns, SCHEMA.types)
    return pa.Table.from_arrays([*arrays], schema=SCHEMA)


def classes_of(rows: Sequence[tuple[Any, ...]]) -> list[list[str]]:
    """The sensitive values of each class; NaN and None are values as any other."""
    classes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for number, text, disease in rows:
        classes[repr(number), repr(text)].append(disease)
    return [*classes.values()]


@pytest.mark.slow
@given(rows=ROWS, k=st.integers(1, 6), risk=st.sampled_from([None, 0.1, 0.3, 0.5, 1.0]))
@often(90)
def test_k_and_the_mean_risk(rows: list[tuple[Any, ...]], k: int, risk: float | None) -> None:
    classes = classes_of(rows)
    keeps = min(map(len, classes)) >= k and (risk is None or len(classes) / len(rows) <= risk)
    with nullcontext() if keeps else pytest.raises(AssertionError):
        check_release(table(rows), k=k, con=CON, sensitive="disease", max_average_risk=risk)


@pytest.mark.slow
@pytest.mark.parametrize("option", MODELS)
@given(rows=ROWS, limit=st.sampled_from([0.2, 0.3, 0.5, 0.75, 1.0]))
@often(60)
def test_a_model(option: str, rows: list[tuple[Any, ...]], limit: float) -> None:
    model, every = MODELS[option](limit), [row[2] for row in rows]
    keeps = all(passes(model, own, every, ()) for own in classes_of(rows))
    asked = {option: getattr(model, option)}
    with nullcontext() if keeps else pytest.raises(AssertionError, match=f"break {option} = "):
        check_release(table(rows), k=1, con=CON, sensitive="disease", **asked)


@pytest.mark.slow
@given(
    before=ROWS, places=st.lists(st.integers(0, 23), min_size=1, max_size=24), own=st.booleans(),
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]), exact=st.none() | st.integers(0, 4),
)
@often(90)
def test_the_rows_of_the_source(
    before: list[tuple[Any, ...]], places: list[int], own: bool, share: float, exact: int | None,
) -> None:
    """Half of the time each row is released once at most, else some may be there more often."""
    after = [before[place % len(before)] for place in places]
    if own:
        after = [before[place] for place in {place % len(before) for place in places}]
    gone = len(before) - len(after)
    keeps = gone == exact if exact is not None else 0 <= gone <= floor(share * len(before))
    keeps &= Counter(row[2] for row in after) <= Counter(row[2] for row in before)
    with nullcontext() if keeps else pytest.raises(AssertionError):
        check_release(
            table(after), table(before[::-1]), 1, con=CON, sensitive="disease", suppress=share,
            rows_suppressed=exact,
        )


# --- what is released passes, in each form ------------------------------------------------------

FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda rows: rows, "pandas": lambda rows: rows.to_pandas(), "polars": pl.from_arrow,
    "lazy": lambda rows: pl.from_arrow(rows).lazy(),
    "relation": lambda rows: duckdb.from_arrow(rows), "dict": lambda rows: rows.to_pydict(),
}


def written(folder: Path, ending: str) -> Callable[[pa.Table], str]:
    def write(rows: pa.Table) -> str:
        path = folder / f"rows.{ending}"
        duckdb.from_arrow(rows).query("rows", f"COPY rows TO '{path}'")
        return str(path)

    return write


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", [*FORMS, "parquet", "csv"])
def test_each_form_passes_and_fails(form: str, tmp_path: Path) -> None:
    as_form = FORMS.get(form) or written(tmp_path, form)
    asked = {"k": 3, "sensitive": "flu"}
    check_release(as_form(TABLE), TABLE, l=2, **asked)
    fails(as_form(TABLE), said="classes break l = 3 of 'flu'; the worst class has l_distinct = 2",
          l=3, **asked)
    fails(as_form(TABLE.slice(1)), said="k = 2, counted in rows, and k = 3 is asked for: 1 of its "
          "2 classes are too small", **asked)


@pytest.mark.slow
@pytest.mark.parametrize("representation", [
    "centroid", "rounded", "median", "interval", "bounds", "suppress"
])
def test_each_representation_is_a_release_of_its_source(representation: str) -> None:
    released = kanon_sql.anonymize(
        adult(), k=7, sensitive=["occupation", "salary-class"], l={"occupation": 2}, suppress=0.01,
        representation=representation, method="mdav_star",
    )
    check_release(
        released, adult(), k=7, sensitive=["occupation", "salary-class"], l={"occupation": 2},
        suppress=0.01, rows_suppressed=30162 - len(released),
    )


def test_a_relation_by_name_persons_and_parts(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE visits AS SELECT * FROM (VALUES "
                "(1, 20, 'a'), (1, 20, 'a'), (2, 20, 'a')) AS t(person, age, ward)")
    check_release("visits", con=con, k=2, entity="person", within="ward")
    check_release("visits", con=con, max_risk=0.4, quasi_identifiers=["age", "ward"],
                  sensitive="person")
    fails("visits", con=con, k=3, entity="person", within="ward", said="k = 2, counted in persons")


# --- attacks ------------------------------------------------------------------------------------


def test_one_class_lacks_one_row() -> None:
    rows = pa.concat_tables([TABLE] * 500 + [pa.table({"job": ["spy"] * 2, "flu": ["no"] * 2})])
    fails(rows, k=3, sensitive="flu", said="k = 2, counted in rows, and k = 3 is asked for: 1 of")


@pytest.mark.parametrize("values", [
    [1.5, 1.5, None], [float("nan"), float("nan"), None], [float("nan"), 1.5, 1.5]
])
def test_null_and_nan_are_classes_of_their_own(values: list[float | None]) -> None:
    rows = pa.table({"age": pa.array(values, pa.float64()), "one": [1, 1, 1]})
    fails(rows, k=2, said="k = 1")


def test_values_that_differ_in_case_are_two_in_any_collation(
    con: duckdb.DuckDBPyConnection
) -> None:
    con.execute("CREATE TABLE r (job VARCHAR COLLATE NOCASE, flu VARCHAR COLLATE NOCASE)")
    con.execute("INSERT INTO r VALUES ('cook', 'no'), ('Cook', 'no')")
    fails("r", con=con, k=2, sensitive="flu", said="k = 1")
    con.execute("CREATE TABLE s AS SELECT job, upper(flu) COLLATE NOCASE AS flu FROM r")
    fails("r", "s", con=con, k=1, sensitive="flu", said="2 rows of the release have values")


def test_columns_of_one_name(tmp_path: Path) -> None:
    twins = pa.table([[1, 1], [2, 3]], names=["Age", "age"])
    for frame in (twins, twins.to_pandas(), pd.DataFrame([[1, 2]], columns=["a", "a"])):
        with pytest.raises(DataError, match="two columns named"):
            check_release(frame, k=2)
    path = tmp_path / "twins.parquet"
    pq.write_table(twins, path)
    fails(path, k=2, said="k = 1")
    fails(path, k=2, quasi_identifiers="age", said="has no role")
    fails(path, {"age": [1, 1]}, 1, said="and the source doesn't")


def test_nothing_is_no_release() -> None:
    for source in (None, TABLE, TABLE.slice(0, 0)):
        fails(TABLE.slice(0, 0), source, k=2, sensitive="flu", l=2, suppress=1, said="has no rows")


@pytest.mark.slow
def test_rows_of_another_table() -> None:
    other = TABLE.set_column(1, "flu", pa.array([SECRET] * 6))
    asked = {"k": 2, "sensitive": "flu"}
    fewer = TABLE.take([0, 1, 2, 3, 4, 0])  # a value that the source has, but not as often
    fails(TABLE, fewer, said="1 rows of the release have values", **asked)
    fails(TABLE, other, said="6 rows of the release have values", **asked)
    fails(pa.concat_tables([TABLE, TABLE]), TABLE, said="12, which is more", **asked)
    fails(TABLE, TABLE.slice(1), said="6, which is more", suppress=1, **asked)
    fails(TABLE.slice(0, 5), TABLE, said="1 are left out, and the check allows 0 to 0", **asked)
    fails(TABLE, TABLE, rows_suppressed=1, said="allows 1 to 1", **asked)
    fails(TABLE, TABLE.append_column("age", [[1] * 6]), said="lacks the column 'age'", **asked)
    fails(TABLE, TABLE.select(["flu"]), said="has the column 'job', and the source", **asked)
    check_release(TABLE, TABLE.append_column("id", [[1] * 6]), identifiers="id", **asked)
    check_release(TABLE, TABLE.select(["flu"]), allowed="job", **asked)
    check_release(TABLE.select(["flu"]), TABLE, allowed="job", **asked)
    numbers = TABLE.set_column(1, "flu", pa.array([1] * 6))
    fails(TABLE, numbers, said="type VARCHAR in the release, and BIGINT", **asked)
    days = TABLE.set_column(0, "job", pa.array([1] * 6, pa.date32()))
    fails(days, TABLE, said="type DATE in the release, and VARCHAR", **asked)


@pytest.mark.slow
def test_identifiers(con: duckdb.DuckDBPyConnection) -> None:
    asked = {"k": 2, "sensitive": "flu", "quasi_identifiers": "job"}
    named = TABLE.append_column("Name", [[SECRET] * 6])
    fails(named, identifiers="name", said="has the identifier 'Name'", **asked)
    fails(named, TABLE, identifiers="name", said="has the identifier 'Name'", **asked)
    fails(named, identifiers="name", allowed="Name", said="has the identifier", **asked)
    fails(named, said="'Name' of the release has no role", **asked)
    fails(named, allowed="Name", said="has no role", **asked)
    fails(named, k=2, identifiers="na me", said="looks like an identifier")
    check_release(named, k=2, identifiers="na me", sensitive="flu", allowed="name")
    many = pa.concat_tables([TABLE] * 20)
    ssn = many.append_column("ssn", [[f"{SECRET} {i}" for i in range(120)]])
    fails(ssn, k=2, sensitive=["flu", "ssn"], said="'ssn' of the release looks like an identifier")
    check_release(ssn, k=2, sensitive=["flu", "ssn"], allowed="ssn")
    con.execute("CREATE TABLE t AS SELECT 1 AS None, 1 AS a FROM range(9)")
    con.execute("COMMENT ON COLUMN t.None IS 'kanon: identifier'")
    fails("t", con=con, k=2, said="'None' of the release looks like an identifier, or is declared")


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_named_quasi_identifier_of_small_classes_is_none(k: int) -> None:
    # 60 classes: more than half of the rows have a text that fewer than 5 rows have, and rows with
    # the same age have the same zip and job
    classes = [(f"[{i}, {i + 9}]", i // 2 % 9, i % 5) for i in range(60) for _ in range(k)]
    ages, zips, jobs = zip(*classes, strict=True)
    small = pa.table({"age": ages, "zip": zips, "job": jobs, "flu": ["a", "b"] * (30 * k)})
    names = ["age", "zip", "job"]
    check_release(small, k=k, quasi_identifiers=names, sensitive="flu")
    check_release(small, k=k, quasi_identifiers=names[1:], within="age", sensitive="flu")
    hidden = "The column 'age' of the release looks like an identifier"
    fails(small, k=k, sensitive="flu", said=hidden)  # nobody named it
    fails(small, k=k, quasi_identifiers=names[1:], sensitive=["age", "flu"], said=hidden)
    fails(small, k=k, quasi_identifiers=names, sensitive="flu", identifiers="Age ", said=hidden)
    fails(small, k=k + 1, quasi_identifiers=names, said="60 of its 60 classes are too small",
          sensitive="flu")
    mails = small.append_column("mail", [[f"{SECRET} {i}" for i in range(60 * k)]])
    fails(mails, k=k, quasi_identifiers=[*names, "mail"], sensitive="flu",
          said="classes are too small")


@pytest.mark.slow
def test_a_manifest_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "released.parquet"
    kanon_sql.release(adult(), to=path, k=5, sensitive="occupation", method="mdav_star")
    check_release(path, adult(), k=5, sensitive="occupation")
    rows = pq.read_table(path)
    shifted = pa.array([(age or 0) + 1 for age in rows["age"].to_pylist()])
    pq.write_table(rows.set_column(1, "age", shifted), path)
    fails(path, k=5, sensitive="occupation", said="The manifest is wrong: ")


@pytest.mark.slow
def test_what_is_misspelt_is_refused() -> None:
    asked: dict[str, Any] = {"k": 2, "sensitive": "flu"}
    for wrong, said in (
        ({"sensitve": "flu"}, "no option 'sensitve'. Did you mean 'sensitive'?"),
        ({"sourc": TABLE}, "no option 'sourc'. Did you mean 'source'?"),
        ({"k_map": 2}, "no option 'k_map'. Leave it out."),
        ({"by_part": True}, "no option 'by_part'. Leave it out."),
        ({"sensitive": "flue"}, "'flue', which doesn't exist. Did you mean 'flu'?"),
        ({"quasi_identifiers": ["jobs"]}, "'jobs', which doesn't exist. Did you mean 'job'?"),
        ({"allowed": ["jobs"]}, "'jobs', which doesn't exist. Did you mean 'job'?"),
        ({"source": TABLE, "identifiers": "jobs"}, "'jobs', which doesn't exist."),
        ({"k": None}, "given without k"), ({"k": "2"}, "k must be"), ({"k": 0}, "k must be"),
        ({"max_risk": 0.1}, "Give one of them"), ({"c": 2}, "c is given without l"),
        ({"l": {"flue": 2}}, "flue"), ({"sensitive": None, "l": 2}, "no sensitive column"),
        ({"suppress": 2}, "suppress must be"), ({"rows_suppressed": -1}, "rows_suppressed must"),
        ({"max_average_risk": 0}, "max_average_risk must be"), ({"con": 1}, "con is an int"),
        ({"source": "nowhere.parquet"}, "There is no file 'nowhere.parquet'"),
    ):
        with pytest.raises(OptionError) as refusal:
            check_release(TABLE, **{**asked, **wrong})
        assert said in str(refusal.value)
    with pytest.raises(OptionError, match=r"no file 'nowhere.parquet'"):
        check_release("nowhere.parquet", k=2)


def test_all_options_of_the_audit_are_taken() -> None:
    audited = set(kanon_sql.k_anonymity.__signature__.parameters)  # type: ignore[attr-defined]
    assert audited - {"data", "by_part"} <= {*TAKEN, *OWN}


@pytest.mark.slow
def test_pytest_shows_the_line_and_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "test_ours.py").write_text(
        "from kanon_sql.testing import check_release\n\n"
        "def test_ours():\n    check_release({'a': [1, 2]}, k=2)  # our line\n", encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "test_ours.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 1 and "# our line" in done.stdout
    assert "AssertionError: The release has k = 1, counted in rows" in done.stdout
    assert "def check_release" not in done.stdout
