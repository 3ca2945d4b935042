"""A table that says the same in another way gives the same classes; one that says more or has more
room gives no worse ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.connections import registered

Connection = duckdb.DuckDBPyConnection

# values without ties in distance, so that no hash of a value decides between equally good classes
con = registered("""
    CREATE TABLE t AS SELECT i AS n, (i * 7919) % 97 + i % 3 AS age, (i * i * 31) % 1009 AS pay,
        sqrt(i * 17 % 83) AS weight, ['a', 'b', 'c', 'd'][1 + i * i % 4] AS job FROM range(90) r(i)
""")
METHODS = ("mdav", "mdav_plus", "mdav_star", "v_mdav", "k_member", "nearest", "mondrian", "forest")
NUMBERS = ["age", "pay", "weight"]


def classes(
    con: Connection, relation: str, method: str, quasi: list[str], k: int = 4
) -> set[frozenset[int]]:
    """The rows of each class, by the number that passes."""
    rows = con.execute(
        f"SELECT list(n) FROM anonymize('{relation}', k := {k}, method := '{method}', "
        f"quasi_identifiers := {quasi}, sensitive := ['n'], others := 'drop', class_id := true, "
        "seed := 3) GROUP BY class_id"
    ).fetchall()
    return {frozenset(numbers) for (numbers,) in rows}


SAME = {
    "other names": (
        "SELECT n, age AS \"the 'age'\", pay AS z, weight AS a FROM t", ["the ''age''", "z", "a"]
    ),
    "wider integers": ("SELECT n, age::BIGINT AS age, pay::HUGEINT AS pay, weight FROM t", NUMBERS),
    "doubles": ("SELECT n, age::DOUBLE AS age, pay::DOUBLE AS pay, weight FROM t", NUMBERS),
    "decimals": ("SELECT n, age::DECIMAL(9, 2) AS age, pay, weight FROM t", NUMBERS),
    "another scale": ("SELECT n, age * 4 AS age, pay / 8 AS pay, weight * 1024 AS weight FROM t",
                      NUMBERS),
    "another order of rows": ("FROM t ORDER BY hash(n)", NUMBERS),
    "a column that nobody asks for": ("SELECT *, 'x' AS more FROM t", NUMBERS),
}
"""What says the same of the numbers, and the quasi-identifiers there."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("change", SAME)
def test_the_same_in_another_way_gives_the_same_classes(
    con: Connection, change: str, method: str
) -> None:
    query, quasi = SAME[change]
    con.execute(f"CREATE OR REPLACE TABLE changed AS {query}")
    names = "[" + ", ".join(f"'{name}'" for name in quasi) + "]"
    rows = con.execute(
        f"SELECT list(n) FROM anonymize('changed', k := 4, method := '{method}', "
        f"quasi_identifiers := {names}, sensitive := ['n'], others := 'drop', class_id := true, "
        "seed := 3) GROUP BY class_id"
    ).fetchall()
    assert {frozenset(numbers) for (numbers,) in rows} == classes(con, "t", method, NUMBERS)


DRAWN = ("k_member", "nearest")
"""They begin with a record that the seed draws from the rows in the order of their hashes, which a
further column changes."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", [each for each in METHODS if each not in DRAWN])
def test_a_constant_column_changes_no_class(con: Connection, method: str) -> None:
    con.execute("CREATE OR REPLACE TABLE changed AS SELECT *, 7 AS one, 'x' AS same FROM t")
    found = classes(con, "changed", method, [*NUMBERS, "one", "same"])
    assert found == classes(con, "t", method, NUMBERS)


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", METHODS)
def test_a_source_in_several_files_gives_the_same_classes(
    con: Connection, tmp_path: Path, method: str
) -> None:
    for part in range(3):
        con.execute(f"COPY (FROM t WHERE n % 3 = {part}) TO '{tmp_path}/{part}.parquet'")
    quasi = [*NUMBERS, "job"]
    assert classes(con, f"{tmp_path}/*.parquet", method, quasi) == classes(con, "t", method, quasi)


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", METHODS)
def test_other_words_in_the_same_order_give_classes_of_the_same_loss(
    con: Connection, method: str
) -> None:
    con.execute("CREATE OR REPLACE TABLE changed AS SELECT * REPLACE ('job ' || job AS job) FROM t")
    quasi = [*NUMBERS, "job"]
    found, before = classes(con, "changed", method, quasi), classes(con, "t", method, quasi)
    assert sorted(map(len, found)) == sorted(map(len, before))


def sse(con: Connection, relation: str, k: int) -> float:
    """The squared error of the best classes of one number."""
    ((value,),) = con.execute(
        f"SELECT value FROM anonymize_metrics('{relation}', k := {k}, method := 'optimal_1d', "
        "quasi_identifiers := ['pay'], others := 'drop', detail := true) WHERE metric = "
        "'information_loss'"
    ).fetchall()
    return float(value)


@pytest.mark.slow
def test_what_must_not_get_worse_does_not(con: Connection) -> None:
    """The optimum of one number: with every row twice, and with a smaller k."""
    con.execute("CREATE OR REPLACE TABLE changed AS FROM t UNION ALL FROM t")
    once = {k: sse(con, "t", k) for k in (2, 3, 5, 8)}
    assert list(once.values()) == sorted(once.values())
    for k, loss in once.items():
        assert sse(con, "changed", 2 * k) <= loss * (1 + 1e-9)
        assert sse(con, "changed", k) <= loss * (1 + 1e-9)
