"""What metrics say in words, against the released rows themselves."""

from __future__ import annotations

import datetime as dt

import duckdb
import pytest

from kanon_sql.measure.brief import BRIEF_ROWS, FIRST
from kanon_sql.measure.in_words import (
    CellErrors,
    Coarse,
    of_100,
    words_of,
    words_of_changes,
    words_of_errors,
)
from tests.support.connections import registered

QUASI = ("age", "income", "born", "job", "zip")
CALL = (
    f"'people', k := 5, quasi_identifiers := {[*QUASI]}, sensitive := ['disease'], effort := 'fast'"
)

con = registered("""
    CREATE TABLE people AS
    SELECT CASE WHEN i % 17 = 3 THEN NULL ELSE 18 + (i * i * 7 + i) % 61 END AS age,
           ((i * 37) % 211) ** 2 / 8 AS income,
           DATE '1950-01-01' + ((i * 719) % 20000)::INT AS born,
           ['clerk', 'nurse', 'cook', NULL][1 + (i * i + i // 7) % 4] AS job,
           (47000 + (i * i * 13) % 97)::VARCHAR AS zip, ['Flu', 'Cold'][1 + i % 2] AS disease
    FROM range(300) AS r(i)
""")


def said(con: duckdb.DuckDBPyConnection, more: str) -> dict[str, tuple[float, str]]:
    rows = con.execute(
        f"SELECT metric, value, in_words FROM anonymize_metrics({CALL}{more}, detail := true)"
    ).fetchall()
    return {name: (value, words) for name, value, words in rows}


def pairs(con: duckdb.DuckDBPyConnection, more: str) -> list[tuple[tuple[object, ...], ...]]:
    """Each row of the source beside its released row."""
    columns = ", ".join(QUASI)
    source = con.execute(f"SELECT {columns} FROM people").fetchall()
    released = con.execute(
        f"SELECT {columns} FROM anonymize({CALL}{more}, keep_order := true)"
    ).fetchall()
    return list(zip(source, released, strict=True))


@pytest.mark.sample(2)
@pytest.mark.parametrize("more", [
    "", ", representation := 'median'", ", representation := 'interval'",
    ", representation := 'interval', hierarchies := {'zip': 'prefix'}, method := 'mdav_star'",
    ", method := 'forest'",
])
def test_cells_generalized_are_those_that_show_another_value(
    con: duckdb.DuckDBPyConnection, more: str
) -> None:
    together = pairs(con, more)
    texts = "interval" in more or "forest" in more
    changed = [
        sum(
            (a[j] is None) != (b[j] is None)
            or (a[j] is not None and (str(a[j]) != str(b[j]) if texts else a[j] != _date(b[j])))
            for a, b in together
        )
        for j in range(len(QUASI))
    ]
    found = said(con, more)
    if not texts:
        assert found["cells_generalized"][0] == pytest.approx(sum(changed) / (300 * len(QUASI)))
    for name, count in zip(QUASI, changed, strict=True):
        words = found[f"ncp ({name})"][1]
        assert (count == 0) == (words == f"no cell of {name} is generalized"), (words, count)
        if name in ("job", "zip") and 0 < count < 300:
            assert words == f"{of_100(count, 300)} cells of {name} are generalized"


def _date(value: object) -> object:
    """A released mean of dates as the date of the source, where it is one."""
    return value.date() if hasattr(value, "hour") and not value.hour else value  # type: ignore[attr-defined]


def test_a_number_is_like_rounding_to_four_times_its_error(con: duckdb.DuckDBPyConnection) -> None:
    apart = [abs(a[1] - b[1]) for a, b in pairs(con, "")]  # type: ignore[operator]
    step = 4 * sum(apart) / len(apart)
    words = said(con, "")["ncp (income)"][1]
    assert words == words_of("income", "DOUBLE", Coarse(1, step), 300)


@pytest.mark.parametrize(("sql_type", "step", "wanted"), [
    ("INTEGER", 4.04, "like rounding x to 4"), ("DOUBLE", 0.0123, "like rounding x to 0.012"),
    ("DOUBLE", 1234.0, "like rounding x to 1,200"), ("DATE", 31.2, "like rounding x to 31 days"),
    ("TIMESTAMP", 5.4e9, "like rounding x to 1.5 hours"),
    ("TIME", 9e7, "like rounding x to 1.5 minutes"), ("VARCHAR", None, "6 of 100 cells of x are "
                                                      "generalized"),
])
def test_the_unit_is_that_of_the_column(sql_type: str, step: float | None, wanted: str) -> None:
    assert words_of("x", sql_type, Coarse(6, step), 100) == wanted


def told(con: duckdb.DuckDBPyConnection, metric: str, more: str) -> dict[str, tuple[object, str]]:
    found = said(con, more)
    return {name: found[f"{metric} ({name})"] for name in QUASI}


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ", representation := 'median'"])
def test_errors_are_those_of_the_rows(con: duckdb.DuckDBPyConnection, more: str) -> None:
    errors, changes = (told(con, name, more) for name in ("mean_error", "changed_cells"))
    together = pairs(con, more)
    for j, name in enumerate(QUASI):
        both = [(a[j], _date(b[j])) for a, b in together]
        changed = sum(a != b for a, b in both)
        assert changes[name][0] == pytest.approx(changed / 300)
        if name in ("job", "zip"):
            assert errors[name] == (None, None)
            assert changes[name][1] == (
                f"{of_100(changed, 300)} rows carry another value than their own" if changed
                else "every row shows its own value"
            )
            continue
        apart = [
            abs(_moment(b) - _moment(a)) for a, b in both if a is not None and b is not None
        ]
        assert errors[name][0] == pytest.approx(sum(apart) / len(apart))
        assert ("missing" in errors[name][1]) == (len(apart) < 300 and name == "age")


def _moment(value: object) -> float:
    """A number, or a date or timestamp in days."""
    if hasattr(value, "hour"):
        return (value - dt.datetime(2000, 1, 1)) / dt.timedelta(days=1)  # type: ignore[operator]
    if hasattr(value, "day"):
        return float((value - dt.date(2000, 1, 1)).days)  # type: ignore[operator]
    return float(value)  # type: ignore[arg-type]


def test_ranges_and_labels_have_no_error(con: duckdb.DuckDBPyConnection) -> None:
    more = ", representation := 'interval', hierarchies := {'zip': 'prefix'}"
    assert {each for each, _ in told(con, "mean_error", more).values()} == {None}
    words = {name: text for name, (_, text) in told(con, "changed_cells", more).items()}
    assert "show a range, " in words["income"] and "wide on average" in words["income"]
    assert words["zip"].endswith("rows show a set of values")
    labels = told(con, "changed_cells", ", hierarchies := {'zip': 'prefix'}, "
                  "representation := {'zip': 'hierarchy'}")
    assert labels["zip"][1].endswith("rows show a label of the hierarchy")
    assert words["job"].endswith("rows show a set of values")
    nothing = told(con, "changed_cells", ", representation := 'suppress'")
    assert all(text.endswith("rows show nothing") for _, text in nothing.values())


def test_no_error_of_a_row_is_told_but_rounded_up() -> None:
    errors = CellErrors(3.14159, 2.71828, 31.4159, 3)
    assert words_of_errors("DOUBLE", errors, 100) == (
        "off by 3.1 on average, half of the rows by at most 5, nine of ten by at most 50; in 3 of "
        "100 rows one of the two is missing"
    )
    assert words_of_errors("DATE", CellErrors(0.5, 0.0, 1.0), 9) == (
        "off by 0.5 days on average, half of the rows not at all, nine of ten by at most 1 day"
    )
    assert words_of_errors("DATE", CellErrors(800.0, 366.0, 1500.0), 9) == (
        "off by 2.2 years on average, half of the rows by at most 500 days, nine of ten by at most "
        "5 years"
    )
    assert words_of_errors("TIMESTAMP", CellErrors(5.4e9, 2e6, 6e7), 9) == (
        "off by 1.5 hours on average, half of the rows by at most 2 seconds, nine of ten by at "
        "most 1 minute"
    )
    assert words_of_errors("INTEGER", CellErrors(0.0, 0.0, 0.0), 9) == "exact"
    for number, at_most in ((5e-324, "4.9e-324"), (4e-323, "4.9e-323"), (1e-310, "1e-310"),
                            (1.5e308, "1.5e+308"), (1.7976931348623157e308, "1.8e+308")):
        said = words_of_errors("DOUBLE", CellErrors(number, number, number), 9)
        assert f" half of the rows by at most {at_most}, nine of ten by at most {at_most}" in said
    own = words_of_changes("VARCHAR", Coarse(0, None), 9, "point")
    assert own == "every row shows its own value"


@pytest.mark.parametrize(("part", "wanted"), [
    (0, "0 of 100"), (1, "fewer than 1 of 100"), (70, "7 of 100"), (999, "more than 99 of 100"),
])
def test_a_share_is_never_rounded_to_none_or_all(part: int, wanted: str) -> None:
    assert of_100(part, 1000) == wanted


@pytest.mark.sample(2)
@pytest.mark.parametrize("more", [
    "", ", detail := true", ", l := 2", ", by_part := true, within := ['disease']",
])
def test_the_five_that_everybody_reads_come_first(
    con: duckdb.DuckDBPyConnection, more: str
) -> None:
    call = CALL.replace(", sensitive := ['disease']", "") if "within" in more else CALL
    names = [name for (name,) in con.execute(
        f"SELECT metric FROM anonymize_metrics({call}{more})").fetchall()]
    assert tuple(names[: len(FIRST)]) == FIRST
    if not more or more == ", l := 2":
        assert len(names) <= BRIEF_ROWS


@pytest.mark.slow
def test_there_are_at_most_thirty_for_any_number_of_columns(
    con: duckdb.DuckDBPyConnection
) -> None:
    con.execute("CREATE TABLE wide AS SELECT " + ", ".join(
        f"(i * {j + 3}) % {5 + j} AS c{j}" for j in range(40)) + " FROM range(200) AS r(i)")
    rows = con.execute("SELECT metric, value FROM anonymize_metrics('wide', k := 4, "
                       "representation := 'interval')").fetchall()
    assert len(rows) == BRIEF_ROWS
    lost = [value for name, value in rows if name.startswith("ncp (")]
    assert lost == sorted(lost, reverse=True) and len(lost) > 3
