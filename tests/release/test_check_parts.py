"""What becomes of parts before they are grouped, and what the verification says of labels given by
hand."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.support.connections import registered
from tests.support.labelled import Asked, Given, labelled_sql, refusal, released

Connection = duckdb.DuckDBPyConnection

# the parts have 4, 3, 2, 2 and 1 rows, and the persons p0 to p3 are in several of them
con = registered(
    "SET threads = 1",
    """CREATE TABLE t AS
       SELECT ['mon', 'mon', 'mon', 'mon', 'tue', 'tue', 'tue', 'wed', 'wed', 'thu', 'thu', NULL]
              [i + 1] AS day,
              10 * i AS age, 'p' || [0, 1, 2, 3, 0, 1, 1, 0, 0, 2, 3, 3][i + 1] AS who
       FROM range(12) AS r(i)""",
    # one part, in which p0 has three rows, p1 and p5 two; most ages are alike
    """CREATE TABLE often AS
       SELECT 'mon' AS day, [10, 10, 10, 10, 10, 50, 60, 70, 90, 90][i + 1] AS age,
              'p' || [0, 1, 0, 1, 0, 2, 3, 4, 5, 5][i + 1] AS who
       FROM range(10) AS r(i)""",
)

PARTS = Asked("anonymize", "t", {
    "k": 2, "quasi_identifiers": ["age"], "within": ["day"], "others": "drop", "seed": 1,
    "representation": "median", "small_parts": "suppress", "suppress": 0.5,
})
SOUND: list[Any] = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, -1]


def stage(
    con: Connection, call: Asked, name: str, columns: str, given: Given | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a stage of a call, by its text up to the last query."""
    sql = labelled_sql(con, call, given or Given(SOUND))
    head = sql[: sql.rindex("\nSELECT ")]
    return con.execute(f"{head}\nSELECT {columns} FROM {name}").fetchall()


def parts(con: Connection, table: str = "t", **options: Any) -> list[tuple[Any, ...]]:
    """Each part: its value, its number, whether it is small and put together, rows, persons."""
    found = stage(
        con, Asked("anonymize", table, PARTS.options).also(**options), "__kanon_parts",
        '__kanon_of_0, number, small, joined, "rows", persons',
    )
    return sorted(found, key=lambda row: -row[4] if row[0] != "wed" else -1.5)


def test_parts_are_numbered_in_the_order_of_their_values(con: Connection) -> None:
    assert parts(con) == [
        ("mon", 1, False, False, 4, None), ("tue", 3, False, False, 3, None),
        ("thu", 2, False, False, 2, None), ("wed", 4, False, False, 2, None),
        (None, -1, True, False, 1, None),
    ]
    assert parts(con, small_parts="error") == [
        ("mon", 1, False, False, 4, None), ("tue", 3, False, False, 3, None),
        ("thu", 2, False, False, 2, None), ("wed", 4, False, False, 2, None),
        (None, 5, True, False, 1, None),
    ]


def test_of_persons_a_part_is_small_that_has_few(con: Connection) -> None:
    assert parts(con, entity="who") == [
        ("mon", 1, False, False, 4, 4), ("tue", 3, False, False, 3, 2),
        ("thu", 2, False, False, 2, 2), ("wed", -1, True, False, 2, 1),
        (None, -1, True, False, 1, 1),
    ]
    assert [row[1] for row in parts(con, k=3)] == [1, 3, -1, -1, -1]


@pytest.mark.parametrize(("options", "joined"), [
    # the small one, and the smallest beside it: thu is before wed
    ({}, {None, "thu"}),
    ({"k": 3}, {None, "thu", "wed"}),
    ({"k": 4}, {None, "thu", "wed", "tue"}),
    ({"k": 1}, set()),
    # wed has one person only, and NULL another
    ({"entity": "who"}, {None, "wed"}),
    ({"entity": "who", "k": 3}, {None, "wed", "thu", "tue"}),
])
def test_small_parts_are_put_together_until_they_are_enough(
    con: Connection, options: dict[str, Any], joined: set[Any]
) -> None:
    found = parts(con, small_parts="join", **options)
    assert {row[0] for row in found if row[3]} == joined
    assert {row[0] for row in found if row[1] == 0} == joined


def test_a_small_part_may_have_no_person_that_the_others_lack(con: Connection) -> None:
    con.execute("""CREATE OR REPLACE TABLE shared AS
        SELECT split_part(pair, ' ', 1) AS day, split_part(pair, ' ', 2) AS who, 1 AS age
        FROM (SELECT unnest(['a p0', 'b p1', 'c p2', 'd p0', 'd p1', 'e p0', 'e p1', 'e p2',
                             'e p3']) AS pair)""")
    found = parts(con, "shared", small_parts="join", entity="who", k=3)
    # d, which is small, adds nobody to a, b and c, and e isn't needed
    assert {row[0] for row in found if row[3]} == {"a", "b", "c", "d"}


def test_a_part_has_the_values_of_joined_ones_where_all_its_columns_have(con: Connection) -> None:
    con.execute("""CREATE OR REPLACE TABLE sites AS
        SELECT split_part(pair, ' ', 1) AS day, split_part(pair, ' ', 2) AS site, 1 AS age
        FROM (SELECT unnest(['a b', 'c d', 'c d', '* *', '* *', '* *', '* f', '* f', '* f', '* f',
                             'g *', 'g *', 'g *', 'g *']) AS pair)""")
    call = Asked("anonymize", "sites", PARTS.options).also(
        within=["day", "site"], small_parts="join"
    )
    found = stage(con, call, "__kanon_parts", "__kanon_of_0, __kanon_of_1, joined")
    assert {row[:2] for row in found if row[2]} == {("a", "b"), ("*", "*")}


@pytest.mark.parametrize(("call", "said"), [
    (PARTS.also(small_parts="error", suppress=0), "too small: 1 of 5, with 1 rows in all"),
    (PARTS.also(small_parts="error", suppress=0, k=3), "too small: 3 of 5, with 5 rows in all"),
    (PARTS.also(k=5), "too small: 5 of 5, with 12 rows in all"),
    (PARTS.also(k=13, small_parts="join"), "too small: 5 of 5, with 12 rows in all"),
])
def test_parts_that_are_too_small_are_refused(con: Connection, call: Asked, said: str) -> None:
    assert said in refusal(con, call, Given(SOUND))


def test_a_class_lies_in_one_part(con: Connection) -> None:
    assert len(released(con, PARTS, Given(SOUND))) == 11
    across: list[Any] = [0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3, -1]
    said = refusal(con, PARTS, Given(across))
    assert "2 rows are in a class of another part" in said or "3 rows are in a class" in said
    # the part that is left out comes out by no class
    with_small: list[Any] = [*SOUND[:11], 3]
    assert "1 rows are in a class of another part" in refusal(con, PARTS, Given(with_small))
    alone: list[Any] = [*SOUND[:11], 4]
    assert "1 rows are in a class of another part" in refusal(con, PARTS, Given(alone))


def test_a_class_that_is_lost_is_none_of_another_part(con: Connection) -> None:
    lost = Given(SOUND, classes="FROM ({}) WHERE __kanon_class <> 1")
    assert "it has 8 rows of 11 to be released" in refusal(con, PARTS, lost)


@pytest.mark.parametrize(("options", "labels", "said"), [
    ({}, [0, 0, -1, -1, 1, 1, 1, 2, 2, 3, 3, -1], ""),
    ({"suppress": 0.49}, [0, 0, -1, -1, 1, 1, 1, 2, 2, 3, 3, -1], "leaves out 3 rows"),
    # of each part alone, however few these are of all
    ({}, [0, 0, 0, 0, 1, 1, 1, -1, -1, 3, 3, -1], "leaves out 3 rows"),
    # the part that is put together is the part 0
    ({"small_parts": "join"}, [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, -1], ""),
    ({"small_parts": "join"}, [0, 0, 0, 0, 1, 1, 1, 2, 2, -1, -1, -1], "leaves out 3 rows"),
    # of persons, a row of one may be left out of one part
    ({"entity": "who"}, [0, 0, -1, -1, 1, 1, 1, -1, -1, 3, 3, -1], ""),
    ({"entity": "who"}, [0, -1, -1, -1, 1, 1, 1, -1, -1, 3, 3, -1], "rows, fewer than k"),
    ({"entity": "who", "suppress": 0.49}, [0, 0, -1, -1, 1, 1, 1, -1, -1, 3, 3, -1],
     "leaves out more persons"),
    ({"entity": "who"}, [0, 0, 0, 0, 1, 1, -1, -1, -1, 3, 3, -1],
     "1 times rows of a person are in another class"),
])
def test_what_is_left_out_is_counted_in_each_part(
    con: Connection, options: dict[str, Any], labels: list[Any], said: str
) -> None:
    found = refusal(con, PARTS.also(**options), Given(labels))
    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(("share", "said"), [(0.2, ""), (0.16, "leaves out more persons")])
def test_a_person_is_left_out_once_of_a_part_whatever_rows_there_are(
    con: Connection, share: float, said: str
) -> None:
    call = Asked("anonymize", "often", PARTS.options).also(entity="who", suppress=share)
    found = refusal(con, call, Given([0, 0, 0, 0, 0, 1, 1, 1, -1, -1]))
    assert said in found
    assert bool(found) is bool(said)


def test_every_figure_of_what_is_left(con: Connection) -> None:
    found = stage(
        con, PARTS.also(entity="who"), "__kanon_left", 'part, "rows", "out", persons, persons_out'
    )
    # NULL and wed are both left out, and their rows with them
    assert sorted(found) == [(-1, 3, 1, 2, 1), (1, 4, 0, 4, 0), (2, 2, 0, 2, 0), (3, 3, 0, 2, 0)]


def test_a_model_holds_each_part_against_its_own_rows(con: Connection) -> None:
    """Shares are those of the part: mon has both diseases once in a half, tue has one alone."""
    con.execute("""CREATE OR REPLACE TABLE ill AS
        SELECT *, CASE WHEN day = 'mon' THEN ['Flu', 'Cold'][1 + (age // 10) % 2] ELSE 'Flu' END
                  AS disease FROM t""")
    call = Asked("anonymize", "ill", PARTS.options).also(sensitive=["disease"], t=0.1)
    assert refusal(con, call, Given(SOUND)) == ""
    two: list[Any] = [0, 4, 0, 4, *SOUND[4:]]
    assert "don't keep" in refusal(con, call, Given(two))


@pytest.mark.parametrize(("options", "small", "said"), [
    ({}, 1, "2 rows."),
    ({"entity": "who"}, 2, "2 persons."),
    ({"entity": "who", "k": 3}, 4, "3 persons."),
    ({"entity": "who", "entity_rows": "apart"}, 2, "2 persons."),
    ({"sensitive": ["disease"], "l": 3}, 3, "3 rows."),
    ({"sensitive": ["disease"], "l": 3, "entity": "who"}, 4, "3 persons."),
    ({"sensitive": ["disease"], "l": 3, "entity": "who", "entity_rows": "apart"}, 3,
     "2 persons, or than 3 rows."),
])
def test_a_part_that_is_too_small_is_told_by_what_it_lacks(
    con: Connection, options: dict[str, Any], small: int, said: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE sick AS SELECT *, 'd' || who AS disease FROM t")
    call = Asked("anonymize", "sick", PARTS.options).also(small_parts="error", suppress=0)
    found = refusal(con, call.also(**options), Given(SOUND))
    assert f"too small: {small} of 5, with" in found
    assert f"Each has fewer than {said}" in found


def test_every_figure_of_the_persons_of_a_part(con: Connection) -> None:
    """Classes of several parts, of which the first is the class 0."""
    call = Asked("anonymize_metrics", "t", PARTS.options).also(
        entity="who", entity_rows="apart", by_part=True
    )
    found = stage(
        con, call, "__kanon_persons_of",
        "part, came, coming, left_out, fewest, most_rows, mean_rows",
        Given([0, 0, 0, -1, *SOUND[4:]]),
    )
    # mon lacks p3; tue has p0 once and p1 twice; wed has p0 alone, and is too small
    assert sorted(found)[1:] == [
        (1, 3, 3, 1, 3, 1, 1.0), (2, 2, 2, 0, 2, 1, 1.0), (3, 2, 2, 0, 2, 2, 1.5),
    ]


def test_a_person_counts_once_in_a_part_whatever_rows_and_classes_there_are(
    con: Connection,
) -> None:
    """Two classes that release the same values, of p0 and p1 both, and rows that are left out."""
    call = Asked("anonymize_metrics", "often", PARTS.options).also(
        entity="who", entity_rows="apart", by_part=True
    )
    found = stage(
        con, call, "__kanon_persons_of",
        "part, came, coming, left_out, fewest, most_rows, mean_rows",
        Given([0, 0, 1, 1, -1, 2, 2, 2, -1, -1]),
    )
    assert found == [(1, 5, 5, 2, 2, 2, 1.4)]


def test_a_part_of_which_nothing_comes_out_has_persons_that_are_left_out(con: Connection) -> None:
    call = Asked("anonymize_metrics", "t", PARTS.options).also(
        entity="who", suppress=1, by_part=True
    )
    labels: list[Any] = [0, 0, 0, 0, -1, -1, -1, -1, -1, 3, 3, -1]
    assert refusal(con, PARTS.also(entity="who", suppress=1), Given(labels)) == ""
    found = stage(
        con, call, "__kanon_persons_of", "part, came, coming, left_out, fewest, most_rows",
        Given(labels),
    )
    assert sorted(found, key=lambda row: row[0]) == [
        (-1, 0, 0, 2, None, None), (1, 4, 4, 0, 4, 1), (2, 2, 2, 0, 2, 1),
        (3, 0, 0, 2, None, None),
    ]
