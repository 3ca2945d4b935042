"""The order of a release, and the breaking of ties, tell nothing about the source."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.stages import remembered
from tests.support import tables
from tests.support.connections import borrowed, registered
from tests.support.tables import METHODS, OF_RECORDS, arrow_bytes, fetch

Connection = duckdb.DuckDBPyConnection


shared = registered()
con = borrowed("DROP TABLE IF EXISTS t; SET TimeZone = 'UTC'; SET threads = 1")


# quasi-identifiers without ties, so that the groups depend on nothing else
DISTINCT = """
    CREATE TABLE t AS
    SELECT 'person ' || i AS name, (i * 37) % 101 AS age, (i * i * 13) % 97 / 7 AS income,
           ['Flu', 'Cold', 'Asthma'][1 + (i * 7) % 3] AS disease, i AS visit
    FROM range(90) AS r(i)
"""
ROLES = (
    "quasi_identifiers := ['age', 'income'], sensitive := ['disease', 'visit'], "
    "identifiers := ['name']"
)


def released(con: Connection, **options: Any) -> pa.Table:
    """The release of t."""
    remembered.forget()
    given = "".join(f", {name} := {tables.literal(value)}" for name, value in options.items())
    return fetch(con, f"FROM anonymize('t', {ROLES}{given})")


def swap(con: Connection, columns: Sequence[str], seed: int, within: Sequence[Any]) -> None:
    """Permutes the joint values of columns among the rows that have the same ``within``."""
    table = fetch(con, "FROM t")
    dice, order = random.Random(seed), list(range(table.num_rows))
    groups: dict[Any, list[int]] = {}
    for i, group in enumerate(within):
        groups.setdefault(group, []).append(i)
    for members in groups.values():
        moved = members.copy()
        dice.shuffle(moved)
        for i, j in zip(members, moved, strict=True):
            order[i] = j
    for name in columns:
        spot = table.column_names.index(name)
        table = table.set_column(spot, name, table[name].take(pa.array(order)))
    con.register("swapped", table)
    con.execute("CREATE OR REPLACE TABLE t AS FROM swapped")
    con.unregister("swapped")


@pytest.mark.slow
@pytest.mark.parametrize("method", OF_RECORDS)
def test_the_order_tells_nothing_about_the_dropped_identifiers(
    con: Connection, method: str
) -> None:
    con.execute(DISTINCT)
    before = released(con, k=5, method=method, seed=7)
    swap(con, ["name"], 1, [0] * 90)
    assert arrow_bytes(released(con, k=5, method=method, seed=7)) == arrow_bytes(before)


@pytest.mark.slow
@pytest.mark.parametrize("class_id", [False, True])
@pytest.mark.parametrize("method", OF_RECORDS)
def test_who_in_a_class_has_which_sensitive_value_can_not_be_told_even_with_the_seed(
    con: Connection, method: str, class_id: bool
) -> None:
    con.execute(DISTINCT)
    options = {"k": 5, "method": method, "seed": 7}
    classes = released(con, **options, class_id=True, keep_order=True)["class_id"].to_pylist()
    before = fetch(con, "SELECT age, disease, visit FROM t")
    first = released(con, **options, class_id=class_id)
    swap(con, ["disease", "visit"], 2, classes)
    # the secret is another one, and what comes out is the same to the byte
    assert fetch(con, "SELECT age, disease, visit FROM t") != before
    assert arrow_bytes(released(con, **options, class_id=class_id)) == arrow_bytes(first)


@pytest.mark.slow
@pytest.mark.parametrize("representation", ["interval", "bounds"])
def test_the_order_tells_as_little_where_classes_release_what_they_hold(
    con: Connection, representation: str
) -> None:
    """Their values are put in the rows when these are in order."""
    con.execute(DISTINCT.replace("(i * i * 13) % 97 / 7", "'w' || (i * i * 13) % 97"))
    options = {"k": 5, "method": "mdav", "seed": 7, "representation": representation}
    kept = released(con, **options, class_id=True, keep_order=True)
    first = released(con, **options)
    unordered = kept.drop_columns(["class_id"]).to_pylist()
    assert sorted(map(repr, first.to_pylist())) == sorted(map(repr, unordered))
    swap(con, ["disease", "visit"], 2, kept["class_id"].to_pylist())
    swap(con, ["name"], 1, [0] * 90)
    assert arrow_bytes(released(con, **options)) == arrow_bytes(first)
    assert arrow_bytes(released(con, **{**options, "seed": 8})) != arrow_bytes(first)


@pytest.mark.slow
def test_many_rows_of_what_classes_hold_are_in_order_over_threads(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT hash(i) % 90 AS age, 'w' || hash(i + 7) % 20 AS income, "
        "i % 7 AS disease, i AS visit, i AS name FROM range(300000) AS r(i)"
    )
    found = set()
    for threads, preserved in ((1, True), (4, True), (4, False)):
        con.execute(f"SET threads = {threads}; SET preserve_insertion_order = {preserved}")
        table = released(con, k=50, method="mondrian", representation="interval")
        found.add(arrow_bytes(table))
    con.execute("SET preserve_insertion_order = true")
    assert len(found) == 1


@pytest.mark.parametrize("class_id", [False, True])
def test_the_order_follows_from_the_published_rows_and_the_seed(
    con: Connection, class_id: bool
) -> None:
    con.execute(DISTINCT)
    first = released(con, k=5, method="mdav", seed=7, class_id=class_id)
    options = f"{ROLES}, k := 5, method := 'mdav', seed := 7, class_id := {class_id}"
    ((text,),) = con.execute(f"SELECT sql FROM anonymize_sql('t', {options})").fetchall()
    order = text.rpartition("ORDER BY ")[2]
    # whoever has the release and the seed, and nothing else, finds the order
    public = kanon_sql.register(duckdb.connect())
    mixed = list(range(90))
    random.Random(0).shuffle(mixed)
    public.register("mixed", first.take(pa.array(mixed)))
    again = fetch(public, f"SELECT __kanon.* FROM mixed AS __kanon ORDER BY {order}")
    public.close()
    assert arrow_bytes(again) == arrow_bytes(first)


@pytest.mark.slow
def test_the_order_is_not_that_of_the_rows_that_came_in(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i // 4 AS age, i AS visit FROM range(400) AS r(i)")
    for seed in range(5):
        visits = fetch(con, f"FROM anonymize('t', k := 4, sensitive := ['visit'], seed := {seed})")[
            "visit"
        ].to_numpy()
        assert sorted(visits) == list(range(400))
        assert abs(np.corrcoef(visits, np.arange(400))[0, 1]) < 0.2
        # neighbours in the release are seldom neighbours in the table
        assert np.mean(np.abs(np.diff(visits)) <= 2) < 0.05


@pytest.mark.slow
def test_the_seed_changes_the_order_and_not_the_rows(con: Connection) -> None:
    con.execute(DISTINCT)
    orders = [tables.records(released(con, k=5, method="mdav", seed=seed)) for seed in range(4)]
    assert len({str(order) for order in orders}) == 4
    assert len({str(sorted(order)) for order in orders}) == 1


def test_class_id_depends_on_the_released_values_alone(con: Connection) -> None:
    con.execute(DISTINCT)
    options = {"k": 6, "method": "mdav", "class_id": True}
    whole = released(con, **options)
    numbers = dict(
        zip(
            zip(whole["age"].to_pylist(), whole["income"].to_pylist(), strict=True),
            whole["class_id"].to_pylist(),
            strict=True,
        )
    )
    assert sorted(numbers.values()) == list(range(1, 16))
    # the numbers do not follow the order in which groups are made: outermost first
    spread = [abs(age - 50) for (age, _), _ in sorted(numbers.items(), key=lambda pair: pair[1])]
    assert abs(np.corrcoef(spread, np.arange(15))[0, 1]) < 0.7
    # and with another seed they are others
    other = released(con, **options, seed=1)
    assert fetch_pairs(other) != fetch_pairs(whole)
    assert {values for values, _ in fetch_pairs(other)} == set(numbers)


def fetch_pairs(table: pa.Table) -> set[tuple[tuple[Any, Any], int]]:
    """Released values and class_id of each row."""
    values = zip(table["age"].to_pylist(), table["income"].to_pylist(), strict=True)
    return set(zip(values, table["class_id"].to_pylist(), strict=True))


# --- ties are not broken by sensitive values ----------------------------------------------------

EQUAL = {
    "number": "7",
    "text": "'Private'",
    "nan": "'nan'::DOUBLE",
    "null": "NULL::INTEGER",
    "null text": "NULL::VARCHAR",
    "several": "7 AS a, 'Private' AS w, NULL::DATE AS gone, 'nan'::FLOAT",
}


DIVIDING = [name for name in METHODS if name != "mondrian"]
"""The methods that make more than one class of equal rows."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("values", EQUAL)
@pytest.mark.parametrize("method", DIVIDING)
def test_equal_quasi_identifiers_are_not_sorted_by_the_sensitive_value(
    con: Connection, method: str, values: str
) -> None:
    # the table is sorted by disease, so that neither its order nor its values may break ties
    con.execute(
        f"CREATE TABLE t AS SELECT {EQUAL[values]} AS q, i // 30 AS disease FROM range(120) AS r(i)"
    )
    kinds = [
        len(multiset)
        for seed in range(3)
        for (multiset,) in con.execute(
            f"SELECT disease FROM anonymize_clusters('t', k := 8, method := '{method}', "
            f"sensitive := ['disease'], seed := {seed})"
        ).fetchall()
    ]
    assert len(kinds) == 45
    # eight of four equally frequent values: one alone has a chance of 1 in 16384
    assert min(kinds) >= 2 and sum(kinds) / len(kinds) > 3


@pytest.mark.sample(3)
@pytest.mark.parametrize("method", DIVIDING)
def test_equal_rows_of_unequal_blocks_are_not_sorted_by_the_sensitive_value(
    con: Connection, method: str
) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT i // 60 AS age, CASE WHEN i // 60 = 1 THEN 'nan'::DOUBLE "
        "ELSE 2 END AS x, (i % 60) // 20 AS disease FROM range(240) AS r(i)"
    )
    kinds = [
        len(multiset)
        for (multiset,) in con.execute(
            f"SELECT disease FROM anonymize_clusters('t', k := 10, method := '{method}', "
            "sensitive := ['disease'])"
        ).fetchall()
    ]
    assert len(kinds) > 10 and min(kinds) >= 2 and sum(kinds) / len(kinds) > 2.5
