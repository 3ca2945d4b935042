"""Published values are read back to the sets that they were made of, and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_sql.audit.columns import Domain, PublishedColumn
from kanon_sql.audit.published import CellReader, ColumnAudit, audit_column, single_values
from kanon_sql.hierarchies.tree import Tree
from tests.support.connections import registered

Draw = Callable[[st.SearchStrategy[Any]], Any]
Row = dict[str | None, int]

often = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

COUNTRY = Tree(tuple(map(pa.array, (
    ["USA", "Canada", "Brazil", "Iran", "India", "Greece"],
    ["North America", "North America", "South America", "West Asia", "East Asia", "Greece"],
    ["America", "America", "America", "Asia", "Asia", "Greece"],
    ["*"] * 6,
))))


def domain(counts: Row, numbers: Any = None, tree: Tree | None = None) -> Domain:
    """A column with those values and their rows."""
    known = [text for text in counts if text is not None]
    rows = np.array([counts[text] for text in known], np.int64)
    if numbers is not None:
        numbers = np.array([numbers(text) for text in known], np.float64)
    return Domain(
        "column", numbers is not None, pa.array(known, pa.string()), rows, counts.get(None, 0),
        numbers, tree,
    )


def audited(column: Domain, published: Row) -> ColumnAudit:
    texts, rows = pa.array(list(published), pa.string()), np.array([*published.values()], np.int64)
    return audit_column(column, PublishedColumn(texts, rows))


def members(column: Domain, text: str) -> set[str | None]:
    """The values that a text is read as."""
    texts = [*column.values.to_pylist(), None]
    return {texts[place] for place in CellReader(column).read(text).members.tolist()}


def bits(rows: Sequence[int]) -> float:
    whole = sum(rows)
    return math.fsum(-row / whole * math.log2(row / whole) for row in rows if row)


AGES = domain({"17": 1, "20": 2, "25": 3, "29": 4, "90": 6}, float)
DAYS = domain(
    {"2020-01-01": 1, "2020-01-11": 1, "2020-04-10": 2},
    lambda text: float(np.datetime64(text, "D").astype(int)),
)
MOMENTS = domain(
    {"2020-01-01 10:00:00+00": 1, "2020-01-01 20:00:00.5+00": 1},
    lambda text: float(np.datetime64(text[:-3], "us").astype(int)),
)
CLOCKS = domain({"10:00:00": 1, "10:00:01.5": 1, "10:00:02": 1},
                lambda text: float(np.datetime64(f"1970-01-01T{text}", "us").astype(int)))


@pytest.mark.parametrize(("column", "text", "loss", "rows"), [
    (AGES, "20", 0.0, [2]),
    (AGES, "20.0", 0.0, [2]),
    (AGES, "2e1", 0.0, [2]),
    (AGES, "[20, 29]", 9 / 73, [2, 3, 4]),
    (AGES, "[20,29]", 9 / 73, [2, 3, 4]),
    (AGES, "[20, 29)", 9 / 73, [2, 3]),
    (AGES, "(20, 29]", 9 / 73, [3, 4]),
    (AGES, "(20, 29)", 9 / 73, [3]),
    (AGES, "[20.0, 29.0]", 9 / 73, [2, 3, 4]),
    (AGES, "20-29", 9 / 73, [2, 3, 4]),
    (AGES, "[20-29]", 9 / 73, [2, 3, 4]),
    (AGES, "20~29", 9 / 73, [2, 3, 4]),
    (AGES, "-5-20", 25 / 73, [1, 2]),
    (AGES, "-5--3", 2 / 73, []),
    (AGES, "[0, 1000]", 1.0, [1, 2, 3, 4, 6]),
    (AGES, "[29, inf)", 61 / 73, [4, 6]),
    (AGES, "(-inf, 20)", 3 / 73, [1]),
    (AGES, "{20, 29}", 9 / 73, [2, 4]),
    (AGES, "[29, 20]", 9 / 73, [2, 4]),
    (AGES, "{20, 28}", 8 / 73, [2]),
    (AGES, "[17, 20, 25]", 8 / 73, [1, 2, 3]),
    (AGES, "{'min': 20, 'max': 29}", 9 / 73, [2, 3, 4]),
    (DAYS, "[2020-01-01, 2020-02-01]", 31 / 100, [1, 1]),
    (DAYS, "2020-01-01-2020-02-01", 31 / 100, [1, 1]),
    (DAYS, "{'min': 2020-01-01, 'max': 2020-04-10}", 1.0, [1, 1, 2]),
    (DAYS, "2020-01-11 00:00:00", 0.0, [1]),
    (MOMENTS, "[2020-01-01 10:00:00+00, 2020-01-01 20:00:00.5+00]", 1.0, [1, 1]),
    (MOMENTS, "2020-01-01 12:00:00+02", 0.0, [1]),
    (MOMENTS, "{'min': '2020-01-01 10:00:00+00', 'max': '2020-01-01 10:00:00+00'}", 0.0, [1]),
    (CLOCKS, "[10:00:00, 10:00:01.5]", 0.75, [1, 1]),
    (CLOCKS, "{'min': '10:00:01', 'max': '10:00:02'}", 0.5, [1, 1]),
])
def test_ranges(column: Domain, text: str, loss: float, rows: list[int]) -> None:
    result = audited(column, {text: 4})
    assert [result.total, result.ncp] == pytest.approx([4 * loss, loss])
    assert result.entropy == pytest.approx(4 * bits(rows), abs=1e-12)
    assert (result.rows, result.suppressed, result.points, result.unread) == (4, 0, 0, 0)
    counts = [*column.counts.tolist(), column.nulls]
    assert sorted(counts[i] for i in CellReader(column).read(text).members) == rows


def test_points_say_nothing_of_a_range() -> None:
    result = audited(AGES, {"21.25": 5, "20": 1})
    assert (result.points, result.total, result.entropy, result.unread) == (5, 0.0, 0.0, 0)
    assert audited(DAYS, {"2020-02-02": 3}).points == 3


@pytest.mark.parametrize("text", [
    "", "forty", "[20, ]", "[]", "{}", "[20", "29-20", "{20, forty}", "nan", "1_7",
    "[2020-01-01, 2020-02-01]", "20, 25", "{'min': NULL, 'max': NULL}", "inf",
])
def test_unread_numbers_count_as_lost(text: str) -> None:
    result = audited(AGES, {text: 2, "20": 2})
    assert (result.unread, result.total, result.ncp) == (2, 2.0, 0.5)
    assert result.entropy == pytest.approx(2 * bits([1, 2, 3, 4, 6]))


JOBS = domain({"Clerk": 2, "Clerk, senior": 3, "Nurse": 1, "O'Neil \"x\"": 1, "{a}": 1, None: 3})


@pytest.mark.parametrize(("text", "found"), [
    ("Clerk", {"Clerk"}),
    ("Clerk, senior", {"Clerk, senior"}),
    ("{a}", {"{a}"}),
    ("{Clerk, Nurse}", {"Clerk", "Nurse"}),
    ("{Clerk,Nurse}", {"Clerk", "Nurse"}),
    ("Clerk,Nurse", {"Clerk", "Nurse"}),
    ("(Clerk, Nurse)", {"Clerk", "Nurse"}),
    ("{Clerk, Clerk, senior}", {"Clerk", "Clerk, senior"}),
    ("{Clerk, senior, Nurse}", {"Clerk, senior", "Nurse"}),
    ("{Nurse, Clerk, senior}", {"Clerk, senior", "Nurse"}),
    ("['Clerk, senior', Nurse]", {"Clerk, senior", "Nurse"}),
    ("[Clerk, senior, Nurse]", {"Clerk, senior", "Nurse"}),
    ("{'Clerk, senior', 'Nurse'}", {"Clerk, senior", "Nurse"}),
    ('["Clerk, senior", "Nurse"]', {"Clerk, senior", "Nurse"}),
    ("['O\\'Neil \"x\"', '{a}']", {"O'Neil \"x\"", "{a}"}),
    ("{O'Neil \"x\", {a}}", {"O'Neil \"x\"", "{a}"}),
    ("[Nurse, NULL]", {"Nurse", None}),
])
def test_sets(text: str, found: set[str | None]) -> None:
    assert members(JOBS, text) == found
    result = audited(JOBS, {text: 2})
    assert result.unread == 0
    assert result.total == (2.0 if len(found) > 1 else 0.0)


def test_flat_sets_lose_all() -> None:
    result = audited(JOBS, {"{Clerk, Nurse}": 3, "Nurse": 1, "{Clerk, Doctor}": 2, "*": 1})
    assert (result.rows, result.total, result.ncp) == (7, 6.0, 6 / 7)
    assert (result.suppressed, result.unread) == (1, 2)
    assert result.entropy == pytest.approx(3 * bits([2, 1]) + 3 * bits([2, 3, 1, 1, 1, 3]))


def test_null_is_a_value_for_as_many_rows_as_the_source_has() -> None:
    assert audited(JOBS, {None: 3}).total == 0.0
    more = audited(JOBS, {None: 5, "Nurse": 1})
    # five NULLs of which three are values: none of them says which
    assert (more.rows, more.total, more.suppressed, more.unread) == (6, 5.0, 2, 0)
    assert more.entropy == pytest.approx(5 * bits([2, 3, 1, 1, 1, 3]))
    assert audited(AGES, {None: 3}).suppressed == 3
    assert audited(JOBS, {None: 3}).exact and more.exact


def test_no_rows() -> None:
    assert audited(AGES, {}) == ColumnAudit(0, 0.0, 0.0, 0.0, 0, 0, 0)
    nothing = domain({None: 4}, float)
    assert audited(nothing, {None: 4}).total == 0.0
    assert audited(nothing, {"*": 1}).total == 1.0


def test_a_star_that_is_a_value() -> None:
    stars = domain({"*": 2, "a": 2})
    assert audited(stars, {"*": 2, "{*, a}": 1}).total == 1.0


COUNTRIES = domain(
    {"USA": 4, "Canada": 2, "Brazil": 1, "Iran": 1, "India": 1, None: 1}, tree=COUNTRY
)


@pytest.mark.parametrize(("text", "thirds", "rows"), [
    ("USA", 0, [4]),
    ("Greece", 0, []),  # of three levels the lowest, though no row has it
    ("North America", 1, [4, 2]),
    ("America", 2, [4, 2, 1]),
    ("*", 3, [4, 2, 1, 1, 1, 1]),  # NULL lies below the root
    ("{Canada, USA}", 1, [4, 2]),
    ("{Brazil, USA}", 2, [4, 1]),
    ("{India, Iran}", 2, [1, 1]),
    ("[India, USA]", 3, [4, 1]),
    ("{North America, USA}", 1, [4, 2]),
    ("{Asia, USA}", 3, [4, 1, 1]),
    ("{South America}", 1, [1]),
    ("[USA, NULL]", 3, [4, 1]),
])
def test_labels(text: str, thirds: int, rows: list[int]) -> None:
    result = audited(COUNTRIES, {text: 3})
    assert result.ncp == thirds / 3
    assert result.entropy == pytest.approx(3 * bits(rows), abs=1e-12)
    assert (result.unread, result.suppressed) == (0, 0)


def test_numbers_with_a_hierarchy() -> None:
    tree = Tree(tuple(map(pa.array, (
        ["1", "2", "11", "12"], ["0-9", "0-9", "10-19", "10-19"], ["*"] * 4))))
    column = domain({"1.0": 1, "2.0": 2, "11.0": 3, "12.0": 4}, float, tree)
    result = audited(column, {"0-9": 1, "2.0": 1, "2": 1, "{1, 2.0}": 1, "*": 1})
    assert (result.total, result.unread) == (0.5 + 0 + 0 + 0.5 + 1, 0)
    assert result.entropy == pytest.approx(2 * bits([1, 2]) + bits([1, 2, 3, 4]))
    assert audited(column, {"[1, 11]": 1}).total == 10 / 11


def test_an_inner_node_that_is_a_value_in_the_tree_only() -> None:
    """In a child/parent table every node is a leaf as well; a label covers what the source has."""
    tree = Tree(tuple(map(pa.array, (
        ["Asia", "India", "Iran", "USA"], ["Asia", "Asia", "Asia", "USA"], ["*"] * 4))))
    column = domain({"India": 1, "Iran": 1, "USA": 2}, tree=tree)
    assert audited(column, {"Asia": 2}).ncp == 0.5
    assert members(column, "Asia") == {"India", "Iran"}


def test_of_several_readings_the_one_with_most_values() -> None:
    column = domain(dict.fromkeys(["a", "a, b", "b", "b, c", "c"], 1))
    assert members(column, "{a, b, c}") == {"a", "b", "c"}
    assert members(column, "{a, b, c, c}") == {"a", "b, c", "c"}  # in order, nothing twice
    assert members(column, "{b, c, a}") == {"a", "b", "c"}


# -- texts of known sets are read back ----------------------------------------------------------

PARTS = ["a", "b", "", " ", "a, b", "b, c", "c", "it's", '"', "'", "{a, b}", "[a]", "\\", "NULL",
         "a,b", ",", ", ", "(b)", "a: b", "*", "1", "[1, 2]"]
words = st.lists(
    st.one_of(st.sampled_from(PARTS), st.text("ab, '\"{}[]\\", max_size=5)),
    min_size=2, max_size=6, unique=True,
)


def braces(texts: Sequence[str]) -> str:
    """As the representation 'interval' writes a set."""
    return "{" + ", ".join(sorted(texts)) + "}"


base = registered("SET TimeZone = 'UTC'")


def subsets(texts: Sequence[str]) -> list[list[str]]:
    return [
        [text for i, text in enumerate(texts) if mask >> i & 1]
        for mask in range(1, 2 ** len(texts))
    ]


@often
@given(words, st.data())
def test_sets_in_braces_are_read_back(known: list[str], data: Any) -> None:
    column = domain(dict.fromkeys(known, 1))
    chosen = data.draw(st.sampled_from(subsets(known)).filter(lambda texts: len(texts) > 1))
    text = braces(chosen)
    assume(text not in known)
    found = members(column, text)
    # where two sets are written alike, either may be meant; of the source's values no other
    alike = [other for other in subsets(known) if len(other) > 1 and braces(other) == text]
    assert found in [set(other) for other in alike]
    assert len(found) == max(map(len, alike))
    if len(alike) == 1:
        assert found == set(chosen)


@pytest.mark.slow
@often
@given(words, st.data())
def test_lists_of_duckdb_are_read_back(
    base: duckdb.DuckDBPyConnection, known: list[str], data: Any
) -> None:
    column = domain({**dict.fromkeys(known, 1), None: 1})
    chosen = data.draw(st.lists(st.sampled_from([*known, None]), min_size=1, unique=True))
    text = base.execute("SELECT $1::VARCHAR[]::VARCHAR", [chosen]).fetchall()[0][0]
    assume(text not in known)
    assert members(column, text) == set(chosen)


@often
@given(words, st.data())
def test_python_sets_are_read_back(known: list[str], data: Any) -> None:
    assume(not any("\\" in word for word in known))
    column = domain(dict.fromkeys(known, 1))
    chosen = data.draw(st.sampled_from(subsets(known)))
    text = repr(chosen)
    assume(text not in known)
    assert members(column, text) == set(chosen)


@often
@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-20, 20).map(float), min_size=1, unique=True),
    st.floats(-1e6, 1e6) | st.integers(-20, 20).map(float),
    st.floats(-1e6, 1e6) | st.integers(-20, 20).map(float),
    st.sampled_from(["[]", "[)", "(]", "()", "{}", "--"]),
)
def test_ranges_are_read_back(values: list[float], a: float, b: float, ends: str) -> None:
    values = sorted({value + 0.0 for value in values})  # -0.0 is 0.0
    low, high = sorted([a + 0.0, b + 0.0])
    column = domain({repr(value): i + 1 for i, value in enumerate(values)}, float)
    text = {
        "{}": f"{{'min': {low!r}, 'max': {high!r}}}", "--": f"{low!r}-{high!r}"
    }.get(ends, f"{ends[0]}{low!r}, {high!r}{ends[1]}")
    inside = [
        i for i, x in enumerate(values)
        if (low <= x if ends[0] != "(" else low < x)
        and (x <= high if ends[1] != ")" else x < high)
    ]
    reading = CellReader(column).read(text)
    assert reading.kind == "values" and sorted(reading.members.tolist()) == inside
    width = values[-1] - values[0]
    assert reading.loss == (min(1.0, (high - low) / width) if width else 0.0)
    assert reading.bits == pytest.approx(bits([i + 1 for i in inside]), abs=1e-9)


@often
@given(st.lists(st.text("ab1*, {}[]()", max_size=4), unique=True, min_size=1), st.data())
def test_what_is_read_at_once_is_read_alike_one_by_one(known: list[str], data: Any) -> None:
    column = domain({None: 2, **{text: 1 + at for at, text in enumerate(known)}})
    word = st.one_of(st.sampled_from(known), st.text("ab1*, {}[]()", max_size=4), st.none())
    shown = data.draw(st.lists(word, unique=True))
    for text, place in zip(
        shown, single_values(column, pa.array(shown, pa.string())).tolist(), strict=True
    ):
        # where none is found the text is read one by one
        if place >= 0:
            reading = CellReader(column).read(text)
            assert reading.members.tolist() == [place] and known[place] == text
            assert (reading.loss, reading.bits, reading.kind) == (0.0, 0.0, "values")
            assert not reading.ambiguous and text.strip("*")
        elif text in known:
            assert text[:1] in ("", "*", "{", "[", "(")


@often
@given(st.text("ab1, '\"{}[]()\\-~*:.NUL", max_size=12), st.booleans())
def test_any_text_is_read_or_counted(text: str, numeric: bool) -> None:
    column = AGES if numeric else JOBS
    result = audited(column, {text: 2})
    assert 0.0 <= result.total <= 2.0 and result.entropy >= 0.0
    assert result.unread in (0, 2)
    if result.unread:
        assert result.total == 2.0


@pytest.mark.parametrize("representation", ["interval", "bounds"])
def test_our_own_texts_are_read(base: duckdb.DuckDBPyConnection, representation: str) -> None:
    """A class of three to five rows loses range over range, and 1 where it has two jobs or more."""
    base.execute("""
        CREATE OR REPLACE TABLE people AS
        SELECT i // 4 AS class, hash(i) % 71 AS age,
               DATE '2020-01-01' + (hash(-i) % 211)::INT AS seen,
               TIMESTAMP '2020-01-01' + to_microseconds((hash(i + 0.5) % 1e12)::BIGINT) AS moment,
               ['Clerk', 'Clerk, senior', 'It''s', NULL][1 + (hash(i) % 4)::INT] AS job
        FROM range(1, 400) AS r(i)
    """)
    for name, number in (
        ("age", "age"), ("seen", "seen - DATE '1970-01-01'"), ("moment", "epoch_us(moment)"),
        ("job", "NULL"),
    ):
        rows = base.execute(f"""
            SELECT {name}::VARCHAR, any_value(({number})::DOUBLE), count(*) FROM people GROUP BY 1
        """).fetchall()
        numbers = {text: value for text, value, _ in rows}
        column = domain(
            {text: count for text, _, count in rows}, None if name == "job" else numbers.get
        )
        release = base.execute(f"""
            SELECT text, sum(n)::BIGINT FROM (
                SELECT __kanon_{representation}({name})::VARCHAR AS text, count(*) AS n
                FROM people GROUP BY class) GROUP BY text
        """).fetchall()
        lost = {
            "job": "count(DISTINCT job) > 1",
        }.get(name, f"(max({number}) - min({number})) / any_value(w)")
        expected, = base.execute(f"""
            SELECT sum(n * lost) FROM (
                SELECT count(*) AS n, ({lost})::DOUBLE AS lost FROM people,
                (SELECT max({number}) - min({number}) AS w FROM people) GROUP BY class)
        """).fetchall()[0]
        result = audited(column, dict(release))
        assert (result.rows, result.unread, result.points, result.suppressed) == (399, 0, 0, 0)
        assert result.total == pytest.approx(expected) and expected > 10
