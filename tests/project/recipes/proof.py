"""What the recipes add works everywhere. test_recipes.py runs this where they are applied; here,
where they are not, no test would find what it asks for, so the name is none of a test."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import kanon_sql
from kanon_sql.call.options import OPTIONS

ROLES = "identifiers := ['name'], sensitive := ['disease']"
TOY = f"'patients', k := 5, method := 'toy', {ROLES}"


def rows_of(con: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return con.execute(query).fetchall()


def released(con: duckdb.DuckDBPyConnection, more: str = "") -> list[tuple[Any, ...]]:
    """What toy releases of the sixty patients: age, zip, job and disease."""
    return rows_of(con, f"FROM anonymize({TOY}{more})")


def in_python(con: duckdb.DuckDBPyConnection, **more: Any) -> list[tuple[Any, ...]]:
    """The same call on a frame."""
    roles = {"identifiers": ["name"], "sensitive": ["disease"]}
    frame = con.sql("FROM patients").pl()
    done = kanon_sql.anonymize(frame, k=5, method="toy", **roles, **more)
    assert isinstance(done, pl.DataFrame)
    return done.rows()


def is_anonymous(rows: list[tuple[Any, ...]]) -> bool:
    """Whether all sixty are there, each among five or more who look alike."""
    return len(rows) == 60 and min(Counter(row[:3] for row in rows).values()) >= 5


def test_the_package_is_the_one_with_the_recipes() -> None:
    assert Path(kanon_sql.__file__).parents[1] == Path(__file__).parents[3]


# --- the method -------------------------------------------------------------------------------


def test_the_method_is_listed(con: duckdb.DuckDBPyConnection) -> None:
    assert ("toy",) in rows_of(con, "SELECT method FROM anonymize_methods()")


def test_the_method_releases_the_same_in_sql_and_in_python(con: duckdb.DuckDBPyConnection) -> None:
    rows = released(con)
    assert is_anonymous(rows)
    assert in_python(con) == rows


# --- its option -------------------------------------------------------------------------------


def test_the_option_is_known_to_every_face() -> None:
    assert OPTIONS["step"].description.startswith("toy only: ")
    for call in ("anonymize", "anonymize_clusters", "anonymize_metrics", "anonymize_sql"):
        function = getattr(kanon_sql, call)
        assert "step" in inspect.signature(function).parameters
        assert f"step: {OPTIONS['step'].description}" in (function.__doc__ or "")


def test_the_option_changes_the_release(con: duckdb.DuckDBPyConnection) -> None:
    rows = released(con, ", step := 7")
    assert is_anonymous(rows)
    assert in_python(con, step=7) == rows
    assert sorted(rows) != sorted(released(con))
    assert released(con, ", step := 1") == released(con)


def test_the_option_is_checked(con: duckdb.DuckDBPyConnection) -> None:
    wrong = r"step must be a whole number of 1 or more\. Got 0\."
    with pytest.raises(duckdb.Error, match=wrong):
        released(con, ", step := 0")
    with pytest.raises(kanon_sql.OptionError, match=wrong):
        in_python(con, step=0)
    with pytest.raises(duckdb.Error, match=r"The method 'mdav' takes no step\. .* or use toy\."):
        con.execute("FROM anonymize('patients', k := 5, method := 'mdav', step := 2)")


def test_the_option_is_told_by_the_metrics(con: duckdb.DuckDBPyConnection) -> None:
    for more, step in (("", "1"), (", step := 7", "7")):
        told = f"SELECT text ->> 'step' FROM anonymize_metrics({TOY}{more}, detail := true)"
        assert rows_of(con, f"{told} WHERE metric = 'options'") == [(step,)]


# --- the metric -------------------------------------------------------------------------------


def test_the_metric_is_the_mean_radius(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE squares AS SELECT i, i * i AS x FROM range(23) AS r(i)")
    call = "'squares', k := 5, method := 'toy', sensitive := ['i']"
    mean, largest = (
        rows_of(con, f"SELECT value FROM anonymize_metrics({call}, detail := true) WHERE metric = "
                     f"'{name}'")[0][0]
        for name in ("mean_radius", "max_radius")
    )
    ((expected,),) = rows_of(con, f"""
        SELECT avg(radius) / (SELECT stddev_pop(x) FROM squares) FROM (
            SELECT max(abs(s.x - r.x)) AS radius
            FROM squares AS s JOIN anonymize({call}) AS r USING (i) GROUP BY r.x
        )
    """)
    assert mean == pytest.approx(expected, rel=1e-12)
    assert 0.0 < mean < largest


# --- the kind of hierarchy --------------------------------------------------------------------

WORDS = ("Ada", "Ann", "Bob", "Eve", "Lisa", "Mary", "Nina", "Rosa")
BY_TWO = [(word, f"length {'2 to 3' if len(word) == 3 else '4 to 5'}", "*") for word in WORDS]


@pytest.fixture
def words(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A connection with a table of names of three and of four letters."""
    con.execute(f"CREATE TABLE words AS SELECT unnest({list(WORDS)}) AS word")
    return con


def test_the_kind_makes_a_hierarchy(words: duckdb.DuckDBPyConnection) -> None:
    call = "FROM hierarchy('words', 'word', kind := 'length'{})"
    plain = [(word, f"length {len(word)}", "*") for word in WORDS]
    assert sorted(rows_of(words, call.format(""))) == plain
    assert sorted(rows_of(words, call.format(", joined := 2"))) == BY_TWO
    made = kanon_sql.hierarchy(words.sql("FROM words").pl(), "word", kind="length", joined=2)
    assert isinstance(made, pl.DataFrame)
    assert sorted(made.rows()) == BY_TWO


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("'length'", {"length 3", "length 4"}),
     ("{'kind': 'length', 'joined': 2}", {"length 2 to 3", "length 4 to 5"})],
)
def test_the_kind_generalizes_a_release(
    words: duckdb.DuckDBPyConnection, kind: str, labels: set[str]
) -> None:
    rows = rows_of(
        words,
        f"FROM anonymize('words', k := 4, method := 'toy', hierarchies := {{'word': {kind}}})",
    )
    assert Counter(label for label, in rows) == dict.fromkeys(labels, 4)


def test_the_option_of_the_kind_is_checked(words: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match=r"'joined' of the hierarchy of 'word' must be a whole "):
        rows_of(words, "FROM hierarchy('words', 'word', kind := 'length', joined := 0)")


# --- the privacy model ------------------------------------------------------------------------

GAPS = "identifiers := ['name'], sensitive := ['disease']"


@pytest.fixture
def gaps(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A connection with a table of sixty people, of whom the thirteen youngest have no disease."""
    con.execute("""
        CREATE TABLE gaps AS
        SELECT * REPLACE (CASE WHEN age >= 30 THEN disease END AS disease) FROM patients
    """)
    return con


def worst_of(con: duckdb.DuckDBPyConnection, call: str) -> tuple[int, float]:
    """The rows of the smallest class of what a call releases, and the largest share that is
    missing."""
    con.execute(f"CREATE OR REPLACE TABLE given AS FROM {call}")
    ((k, missing),) = rows_of(
        con, "SELECT k, missing FROM k_anonymity("
        "'given', quasi_identifiers := ['age', 'zip', 'job'], sensitive := ['disease'])"
    )
    return k, missing


def test_the_model_is_enforced_the_same_in_sql_and_in_python(
    gaps: duckdb.DuckDBPyConnection,
) -> None:
    call = f"anonymize('gaps', k := 5, {GAPS}{{}})"
    assert worst_of(gaps, call.format(""))[1] > 0.25
    assert worst_of(gaps, call.format(", max_missing := 0.25"))[1] <= 0.25
    assert worst_of(gaps, call.format(", max_missing := 0.25"))[0] >= 5
    rows = rows_of(gaps, f"FROM {call.format(', max_missing := 0.25')}")
    made = kanon_sql.anonymize(
        gaps.sql("FROM gaps").pl(), k=5, identifiers=["name"], sensitive=["disease"],
        max_missing=0.25,
    )
    assert isinstance(made, pl.DataFrame)
    assert made.rows() == rows


def test_the_model_is_checked_in_sql(gaps: duckdb.DuckDBPyConnection) -> None:
    call = f"anonymize_sql('gaps', k := 5, {GAPS}, max_missing := 0.25)"
    ((text,),) = rows_of(gaps, f"SELECT sql FROM {call}")
    assert "missing * 4::HUGEINT <= 1::HUGEINT * size AS passes" in text
    assert "missing_share with max_missing = 0.25 for the column ''disease''" in text


def test_the_model_is_measured(gaps: duckdb.DuckDBPyConnection) -> None:
    told = dict(rows_of(
        gaps, "SELECT metric, value FROM anonymize_metrics('gaps', detail=true, k := 5, "
        f"{GAPS}, max_missing := {{'disease': 0.25}})",
    ))
    assert told["max_missing_requested (disease)"] == 0.25
    assert 0.0 < told["max_missing (disease)"] <= 0.25
    assert told["max_missing_violating_before (disease)"] >= 1


def test_the_model_is_refused_where_no_release_keeps_it(gaps: duckdb.DuckDBPyConnection) -> None:
    said = r"One class of all 60 rows has max_missing = 0\.216666667 for the column 'disease', so "\
        r"max_missing = 0\.1 can't be kept\. Ask for max_missing of 0\.216667 or more"
    with pytest.raises(duckdb.Error, match=said):
        rows_of(gaps, f"FROM anonymize('gaps', k := 5, {GAPS}, max_missing := 0.1)")
    with pytest.raises(duckdb.Error, match=r"max_missing must be a number from 0 to 1\. Got 2"):
        rows_of(gaps, f"FROM anonymize('gaps', k := 5, {GAPS}, max_missing := 2)")
    with pytest.raises(kanon_sql.OptionError, match="max_missing is given, and there is no"):
        kanon_sql.anonymize({"age": [1]}, k=1, max_missing=0.5)


def test_the_model_is_verified_from_a_file(
    gaps: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    file = tmp_path / "given.parquet"
    kanon_sql.release(
        gaps.sql("FROM gaps").pl(), to=file, k=5, identifiers=["name"], sensitive=["disease"],
        max_missing=0.25,
    )
    found = {each.entry: each.verdict for each in kanon_sql.verify(file).findings}
    assert found["metrics.max_missing (disease)"] == "proven"
