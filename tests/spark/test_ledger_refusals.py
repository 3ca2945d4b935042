"""What a release in Spark refuses beside a ledger, in the words of the query, and what doesn't come
out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql import DataError, KanonError, OptionError, ReleaseError
from kanon_sql import spark as kanon_spark
from kanon_sql.blocks import ledger as decided
from tests.spark.test_ledger import GIVEN, asked, table

BEFORE, NOW = list(range(60)), [*range(3, 60), *range(100, 120)]


@pytest.fixture(scope="module")
def entries() -> pa.Table:
    """What a query enters of the first release."""
    found: pa.Table = kanon_sql.anonymize_ledger(table(BEFORE), headroom=1, **GIVEN)
    return found


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return spark.createDataFrame(table(NOW)).cache()


SPOILED = {
    "a missing class":
        "SELECT * REPLACE (CASE WHEN entity > 0 THEN class END AS class) FROM entries",
    "a person twice": "FROM entries UNION ALL (FROM entries WHERE entity = 5)",
    "two things published": """SELECT * REPLACE (CASE WHEN entity = 5
        THEN {'age': 1::BIGINT, 'class': 'x', 'job': 'y'} ELSE published END AS published)
        FROM entries""",
    "another type of persons": "SELECT * REPLACE (entity::VARCHAR AS entity) FROM entries",
    "a class that is too small": "FROM entries WHERE entity = 5",
    "a column fewer": "SELECT * EXCLUDE (source) FROM entries",
}


def spoiled(how: str, entries: pa.Table) -> pa.Table:
    with kanon_sql.register(duckdb.connect()) as con:
        con.register("entries", entries)
        found: pa.Table = con.sql(how).to_arrow_table()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("how", SPOILED)
def test_a_ledger_that_can_not_go_on_is_refused_in_the_same_words(
    spark: Any, frame: Any, entries: pa.Table, how: str
) -> None:
    held = spoiled(SPOILED[how], entries)
    with pytest.raises(KanonError) as plain:
        kanon_sql.anonymize(table(NOW), ledger=held, **GIVEN)
    with pytest.raises(KanonError) as refused:
        kanon_spark.release(frame, ledger=spark.createDataFrame(held), **GIVEN)
    assert str(refused.value) == str(plain.value)
    assert type(refused.value) is type(plain.value)


@pytest.mark.slow
def test_a_person_with_two_rows_is_refused_in_the_same_words(spark: Any) -> None:
    rows = table([*NOW, 7])
    with pytest.raises(KanonError) as plain:
        kanon_sql.anonymize(rows, headroom=1, **GIVEN)
    with pytest.raises(KanonError) as refused:
        kanon_spark.release(spark.createDataFrame(rows), headroom=1, **GIVEN)
    assert str(refused.value) == str(plain.value)


OTHER: list[tuple[dict[str, Any], str]] = [
    ({"quasi_identifiers": ["age", "class"], "others": "drop"}, "none in this call"),
    ({"representation": "interval"}, "publish in another form"),
    ({"l": 2}, "was made with other privacy models"),
    ({"within": ["person"]}, "within"),
    ({"entity": None, "others": "drop"}, "no column identifies the person"),
    ({"ledger": "nowhere"}, "'nowhere', and Spark finds no table"),
    ({"ledger": "nowhere/*.parquet"}, "Spark finds no table or Parquet files"),
    ({"ledger": 5}, "ledger is an int, no ledger"),
]


@pytest.mark.slow
def test_what_does_not_go_with_a_ledger_is_refused(
    spark: Any, frame: Any, entries: pa.Table
) -> None:
    ledger = spark.createDataFrame(entries)
    for more, said in OTHER:
        options = {**GIVEN, "ledger": ledger, **more}
        if options["entity"] is None:
            del options["entity"]
        with pytest.raises(OptionError, match=said):
            kanon_spark.release(frame, **options)
    with pytest.raises(DataError, match="The ledger 'ledger' is empty"):
        kanon_spark.release(frame, **{**GIVEN, "ledger": ledger.filter("false")})
    other = spoiled("""SELECT * REPLACE ({'age': published.age::DOUBLE, 'class': published.class,
        'job': published.job} AS published) FROM entries""", entries)
    with pytest.raises(DataError, match="would publish values of other types now"):
        kanon_spark.release(frame, ledger=spark.createDataFrame(other), **GIVEN)


@pytest.mark.slow
def test_a_table_and_files_are_ledgers_and_a_broken_promise_does_not_come_out(
    spark: Any, frame: Any, entries: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = spark.createDataFrame(entries)
    held.write.parquet(str(tmp_path / "releases"))
    held.createOrReplaceTempView("releases")
    own = kanon_sql.anonymize_ledger(table(NOW), ledger=entries, **GIVEN).to_pylist()
    files = f"{tmp_path}/releases/*.parquet"
    assert kanon_spark.anonymize_ledger(frame, ledger=files, **GIVEN).toArrow().to_pylist() == own
    left = sorted(p for p, _ in asked(
        "SELECT min(entity), count(*) FROM entries GROUP BY class", entries=entries
    ))
    fewer = frame.filter(frame["id"].isin(left) | (frame["id"] >= 100))
    with monkeypatch.context() as patched:
        patched.setitem(decided.STAY, "knows_presence", lambda histories, present, k: present)
        with pytest.raises(ReleaseError, match=r"with an anonymity set of [123]|combination"):
            kanon_spark.release(fewer, ledger="releases", **GIVEN)
    spark.catalog.dropTempView("releases")
