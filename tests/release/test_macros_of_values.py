"""What classes publish, macro by macro, beside what Python makes of the same values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, timezone
from fractions import Fraction
from functools import cache
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql

DAY = date(1970, 1, 1)
POOLS: dict[str, tuple[Any, ...]] = {
    "VARCHAR": ("", "*", "a", "b", "é", "{a, b}"),
    "BOOLEAN": (False, True),
    "INTEGER": (-3, -2, 0, 1, 2, 5),
    "DOUBLE": (-1.5, 0.25, 2.0, 3.5),
    "DATE": (date(1969, 12, 30), DAY, date(1970, 1, 2), date(2024, 2, 29)),
    "TIMESTAMP": (datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1, 0, 0, 0, 2)),
    "TIME": (time(0, 0), time(0, 0, 0, 1), time(23, 59, 59, 999999)),
    "UUID": (UUID(int=1), UUID(int=7), UUID(int=2**120)),
    "BLOB": (b"", b"\x00", b"ab"),
}
"""By type, few values in ascending order: many ties."""

WITHOUT_MEAN = ("VARCHAR", "BOOLEAN", "UUID", "BLOB")


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """One for all tests of this file."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET TimeZone = 'UTC'")
    return con


def ask(query: str, *given: Any) -> Any:
    """The value of a query that has one."""
    ((found,),) = connection().execute(query, given).fetchall()
    return found


def said(macro: str, values: Sequence[Any], sql_type: str, more: str = "") -> Any:
    """What a macro makes of a class."""
    rows = ", ".join("(?)" for _ in values)
    query = f"SELECT {macro}(x{more}) FROM (SELECT x::{sql_type} AS x FROM (VALUES {rows}) AS v(x))"
    return ask(query, *values)


def shown(value: Any, sql_type: str) -> str:
    """The text of a value, as DuckDB writes it."""
    return str(ask(f"SELECT (?::{sql_type})::VARCHAR", value))


def mode(values: Sequence[Any]) -> Any:
    """The most frequent one, the least of those that tie."""
    counts = Counter(v for v in values if v is not None)
    return min(counts, key=lambda v: (-counts[v], v)) if counts else None


@st.composite
def classes(draw: st.DrawFn, *types: str) -> tuple[str, list[Any]]:
    sql_type = draw(st.sampled_from(types or tuple(POOLS)))
    values = st.sampled_from((None, *POOLS[sql_type]))
    return sql_type, draw(st.lists(values, min_size=1, max_size=7))


@given(classes())
def test_the_most_frequent_is_the_least_of_those_that_tie(drawn: tuple[str, list[Any]]) -> None:
    sql_type, values = drawn
    assert said("__kanon_most_frequent", values, sql_type) == mode(values)
    if sql_type in WITHOUT_MEAN:
        for macro in ("__kanon_centroid", "__kanon_median"):
            assert said(macro, values, sql_type) == mode(values)
        assert said("__kanon_rounded", values, sql_type, ", min(x), max(x)") == mode(values)


def test_intervals_are_told_apart_by_their_text() -> None:
    """A month and 30 days compare as equal; what is the most frequent is so by its text."""
    for values, most in (
        (["1 month", "30 days", "30 days"], "30 days"),
        (["1 month", "1 month", "30 days"], "1 month"),
        (["1 month", "30 days"], "1 month" if duckdb.__version__ >= "2" else "30 days"),
        (["2 days", "1 day", None, None, None], "1 day"),
    ):
        rows = ", ".join("NULL" if v is None else f"INTERVAL '{v}'" for v in values)
        found = ask(f"SELECT __kanon_most_frequent(x)::VARCHAR FROM (SELECT unnest([{rows}]) AS x)")
        assert found == shown(most, "INTERVAL")
        counted = ask(f"SELECT __kanon_multiset(x) FROM (SELECT unnest([{rows}]) AS x)")
        assert sorted(each["count"] for each in counted) == sorted(Counter(values).values())


@given(classes("INTEGER", "DOUBLE", "DATE", "TIMESTAMP", "TIME"))
def test_the_median_is_the_lower_of_the_middle_two(drawn: tuple[str, list[Any]]) -> None:
    sql_type, values = drawn
    known = sorted(v for v in values if v is not None)
    middle = known[(len(known) - 1) // 2] if known else None
    assert said("__kanon_median", values, sql_type) == middle


@given(classes("INTEGER", "DOUBLE", "DATE", "TIMESTAMP", "TIME"))
def test_ends_are_those_of_the_known_values(drawn: tuple[str, list[Any]]) -> None:
    sql_type, values = drawn
    known = sorted(v for v in values if v is not None)
    interval, bounds = (said(f"__kanon_{m}", values, sql_type) for m in ("interval", "bounds"))
    if not known:
        assert interval is bounds is None
        return
    low, high = (shown(end, sql_type) for end in (known[0], known[-1]))
    assert interval == (low if known[0] == known[-1] else f"[{low}, {high}]")
    assert bounds == {"min": known[0], "max": known[-1]}


@given(classes())
def test_sets_are_of_the_known_values_in_order(drawn: tuple[str, list[Any]]) -> None:
    sql_type, values = drawn
    known = sorted({v for v in values if v is not None})
    texts = [shown(v, sql_type) for v in known]
    text = None if not known else texts[0] if len(known) == 1 else "{" + ", ".join(texts) + "}"
    macros = ["set", *(["interval"] if sql_type in WITHOUT_MEAN else [])]
    for macro in macros:
        assert said(f"__kanon_{macro}", values, sql_type) == text
    lists = ["members", *(["bounds"] if sql_type in ("VARCHAR", "BOOLEAN") else [])]
    for macro in lists:
        assert said(f"__kanon_{macro}", values, sql_type) == (known or None)


@given(classes())
def test_a_class_agrees_or_tells_nothing(drawn: tuple[str, list[Any]]) -> None:
    """NULL is a value: a class of one value and NULLs does not agree."""
    sql_type, values = drawn
    nothing = "*" if sql_type == "VARCHAR" else None
    agreed = values[0] if len(set(values)) == 1 else nothing
    assert said("__kanon_suppress", values, sql_type) == agreed


@given(classes())
def test_values_with_their_counts_stand_by_their_text(drawn: tuple[str, list[Any]]) -> None:
    sql_type, values = drawn
    counts = Counter(values)
    order = sorted(counts, key=lambda v: (v is None, b"" if v is None
                                          else shown(v, sql_type).encode()))
    assert said("__kanon_multiset", values, sql_type) == [
        {"value": v, "count": counts[v]} for v in order
    ]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_whole_means_go_to_the_nearest_halves_to_the_even_one(numbers: list[int]) -> None:
    """Of days, microseconds and integers: no mean of many is biased."""
    mean = round(Fraction(sum(numbers), len(numbers)))
    assert said("__kanon_rounded", numbers, "INTEGER", ", min(x), max(x)") == mean
    above = said("__kanon_rounded", [n + 9 for n in numbers], "UBIGINT", ", min(x), max(x)")
    assert above == round(Fraction(sum(numbers), len(numbers)) + 9)
    total = (sum(numbers), len(numbers))
    assert ask("SELECT __kanon_nearest(?::HUGEINT, ?::HUGEINT)", *total) == mean
    days = [DAY + timedelta(days=n) for n in numbers]
    assert said("__kanon_centroid", days, "DATE") == DAY + timedelta(days=mean)
    start = datetime(1970, 1, 1)
    moments = [start + timedelta(microseconds=n) for n in numbers]
    assert said("__kanon_centroid", moments, "TIMESTAMP") == start + timedelta(microseconds=mean)
    nanoseconds = "SELECT epoch_ns(__kanon_centroid(make_timestamp_ns(n))) FROM "
    assert ask(f"{nanoseconds} (SELECT unnest(?) AS n)", numbers) == mean
    zoned = [moment.replace(tzinfo=timezone.utc) for moment in moments]
    found = said("__kanon_centroid", zoned, "TIMESTAMPTZ")
    assert found == (start + timedelta(microseconds=mean)).replace(tzinfo=timezone.utc)
    times = [(start + timedelta(microseconds=n + 9)).time() for n in numbers]
    even = round(Fraction(sum(numbers), len(numbers)) + 9)
    assert said("__kanon_centroid", times, "TIME") == time(0, 0, 0, even)
    assert said("__kanon_centroid", numbers, "INTEGER") == pytest.approx(
        sum(numbers) / len(numbers), rel=1e-15
    )


def test_the_end_of_a_day_has_a_mean() -> None:
    days = "SELECT unnest(['24:00:00'::TIME, '24:00:00']) AS x"
    assert ask(f"SELECT __kanon_centroid(x)::VARCHAR FROM ({days})") == "24:00:00"


DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(st.none(), st.just(float("nan")), DOUBLES), min_size=1, max_size=6))
def test_means_of_doubles_are_sums_in_the_order_of_the_values(values: list[float | None]) -> None:
    """NaN is missing, as NULL is; what no sum holds is added in parts; the mean is within."""
    known = sorted(v for v in values if v is not None and v == v)
    found = said("__kanon_centroid", values, "DOUBLE")
    if not known:
        assert found is None
        return
    exact = sum(map(Fraction, known)) / len(known)
    assert known[0] <= found <= known[-1]
    rounding = Fraction(max(map(abs, known))) / 2**48 + Fraction(1, 10**300)
    assert abs(Fraction(found) - exact) <= rounding
    assert str(found) != "-0.0"
    turned = said("__kanon_centroid", values[::-1], "DOUBLE")
    assert turned == found
    weighted = said("__kanon_weighted_centroid", values, "DOUBLE", ", 3.0::DOUBLE")
    assert abs(Fraction(weighted) - exact) <= rounding


WEIGHED = st.tuples(st.integers(-9, 9), st.sampled_from((1, 2, 4, 8)))


@given(st.lists(WEIGHED, min_size=1, max_size=6))
def test_weighted_means_count_rows_by_their_weights(drawn: list[tuple[int, int]]) -> None:
    """Of whole numbers the nearest, halves to the even one."""
    mean = Fraction(sum(v * w for v, w in drawn), sum(w for _, w in drawn))

    def of(make: str) -> Any:
        rows = ", ".join(f"({v}, {w}.0)" for v, w in drawn)
        weighed = f"SELECT {make} AS x, w::DOUBLE AS w FROM (VALUES {rows}) AS t(v, w)"
        return ask(f"SELECT __kanon_weighted_centroid(x, w) FROM ({weighed})")

    if (mean * 2).denominator == 1 or abs(mean - round(mean) - Fraction(1, 2)) > Fraction(1, 1000):
        whole = round(mean)
        day = of("DATE '1970-01-01' + v::INTEGER")
        assert day == DAY + timedelta(days=whole)
        moment = of("make_timestamp(v::BIGINT)")
        assert moment == datetime(1970, 1, 1) + timedelta(microseconds=whole)
        clock = of("TIME '00:00:01' + to_microseconds(v)")
        assert clock == (datetime(1970, 1, 1, 0, 0, 1) + timedelta(microseconds=whole)).time()
    assert of("v::DOUBLE") == pytest.approx(float(mean), abs=1e-12)
    assert of("v::VARCHAR") == mode([str(v) for v, _ in drawn])


@pytest.mark.parametrize(
    ("values", "sql_type", "mean"),
    (
        (["0.5", "1.0"], "DECIMAL(3,1)", "0.8"),  # 0.75: halves to the even last digit
        (["0.1", "0.2"], "DECIMAL(3,1)", "0.2"),  # 0.15
        (["0.0", "0.5"], "DECIMAL(3,1)", "0.2"),  # 0.25, of which a double has each bit
        (["1.25", "1.27"], "DECIMAL(4,2)", "1.26"),
        (["-0.1", "-0.2"], "DECIMAL(3,1)", "-0.2"),
        (["99.9", "99.9"], "DECIMAL(3,1)", "99.9"),
    ),
)
def test_decimals_keep_their_digits(values: list[str], sql_type: str, mean: str) -> None:
    assert str(said("__kanon_rounded", values, sql_type, ", min(x), max(x)")) == mean


@pytest.mark.parametrize(("values", "mean"), [
    ([5e-324, 1.5e-323], 1e-323),  # their sum is exact as it is
    ([1e308, 1.5e308], 1.25e308),  # theirs is only finite after scaling
])
def test_means_next_to_zero_and_at_the_end_of_doubles(values: list[float], mean: float) -> None:
    assert said("__kanon_centroid", values, "DOUBLE") == mean


@pytest.mark.parametrize(("values", "weights", "mean"), [
    ([1.0, 2.0], [1e200, 1e-200], 1.0),  # weights are shares of the largest
    ([1e308, 1.6e308], [1.0, 4.0], 1.48e308),  # their sum is only finite after scaling
    ([1e-320, 3e-320], [1.0, 1.0], 2e-320),  # theirs is exact as it is
])
def test_weighted_means_at_the_ends_of_doubles(
    values: list[float], weights: list[float], mean: float
) -> None:
    rows = "SELECT unnest(?) AS x, unnest(?) AS w"
    found = ask(f"SELECT __kanon_weighted_centroid(x, w) FROM ({rows})", values, weights)
    assert found == pytest.approx(mean, rel=1e-15)


@pytest.mark.parametrize("call", [
    "weighted_centroid(x, 1.0::DOUBLE)", "rounded(x, min(x), max(x))",
    "weighted_rounded(x, min(x), max(x), 1.0::DOUBLE)",
])
def test_a_mean_is_no_negative_zero(call: str) -> None:
    """-0.0 and 0.0 are equal, and a reader tells them apart."""
    twice = "SELECT unnest(['-0.0'::DOUBLE, '-0.0'::DOUBLE]) AS x"
    assert ask(f"SELECT __kanon_{call}::VARCHAR FROM ({twice})") == "0.0"
    small = "SELECT '-0.04'::DOUBLE AS x"
    assert ask(f"SELECT __kanon_precise(x, x, 10)::VARCHAR FROM ({small})") == "0.0"


@pytest.mark.parametrize(("values", "sql_type", "mean"), [
    ([10**18 - 2, 10**18 - 1], "DECIMAL(18,0)", 10**18 - 1),  # the double next to it is 10^18
    ([1 - 10**18, 2 - 10**18], "DECIMAL(18,0)", 1 - 10**18),
    ([2**62 - 1, 2**62 - 1], "BIGINT", 2**62 - 1), ([2**62 + 1, 2**62 + 1], "BIGINT", 2**62 + 1),
])
def test_a_mean_that_a_double_moves_out_of_its_values_is_the_one_at_that_end(
    values: list[int], sql_type: str, mean: int
) -> None:
    more = ", min(x), max(x), 1.0::DOUBLE"
    assert said("__kanon_weighted_rounded", values, sql_type, more) == mean


def test_a_mean_of_nanoseconds_is_between_its_values() -> None:
    days = [datetime(2020, 1, 1), datetime(2020, 1, 3)]
    found = said("__kanon_rounded", days, "TIMESTAMP_NS", ", min(x), max(x)")
    assert str(found).startswith("2020-01-02 00:00:00")


LAST = {
    "BIGINT": str(2**63 - 1), "UBIGINT": str(2**64 - 1), "HUGEINT": str(2**127 - 1),
    "UHUGEINT": str(2**128 - 1), "TIMESTAMP_NS": "2262-04-11 23:47:16.854775806",
}


@pytest.mark.parametrize("sql_type", LAST)
@pytest.mark.parametrize("call", ("rounded(x, min(x), max(x))",
                                  "weighted_rounded(x, min(x), max(x), 0.5::DOUBLE)"))
def test_a_mean_beyond_its_type_is_the_value_at_that_end(sql_type: str, call: str) -> None:
    """Means of huge numbers are doubles, which round."""
    value = LAST[sql_type]
    twice = f"SELECT unnest(['{value}'::{sql_type}, '{value}'::{sql_type}]) AS x"
    found = ask(f"SELECT __kanon_{call}::VARCHAR FROM ({twice})")
    assert found == shown(value, sql_type)


def test_what_a_reader_sees_is_told_apart() -> None:
    """0.0 and -0.0, 1 month and 30 days; of types without such twins nothing is said."""
    for one, other in (("0.0::DOUBLE", "'-0.0'::DOUBLE"), ("INTERVAL 1 MONTH", "INTERVAL 30 DAYS")):
        assert ask(f"SELECT __kanon_printed({one}) IS DISTINCT FROM __kanon_printed({other})")
    for value in ("'a'", "true", "DATE '2000-01-01'", "TIME '12:00'", "TIMESTAMP '2000-01-01'",
                  "TIMESTAMPTZ '2000-01-01'", "uuid()", "'a'::BLOB"):
        assert ask(f"SELECT __kanon_printed({value}) IS NULL")
    assert ask("SELECT __kanon_seen('é')") == "é".encode()
    assert ask("SELECT __kanon_seen(7)") == 7
