"""Without a privacy model, nothing that a sensitive column holds decides who is in which class.

The values of the sensitive columns are permuted among all rows. Each row stays in its class, and
what is released of its quasi-identifiers stays the same to the byte, also where rows are tied: by
the quasi-identifiers, or by what the encoding makes of them. Rows that are equal in all that isn't
sensitive are one to everybody who doesn't know the sensitive values; the classes that these get
together stay the same.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from kanon_sql.methods import METHODS
from kanon_sql.stages import remembered
from tests.support.connections import borrowed, registered
from tests.support.tables import fetch

Connection = duckdb.DuckDBPyConnection


shared = registered()
con = borrowed("DROP TABLE IF EXISTS t; SET threads = 1")


COLUMNS = {
    "name": "'person ' || i",
    "age": "20 + i * i % 7",
    "job": "['cook', 'clerk', NULL][1 + i % 3]",
    # one and the same double for two of these each
    "number": "9007199254740992 + i % 4",
    "zip": "(47000 + i % 5)::VARCHAR",
    "lat": "40 + i % 3",
    "lon": "-74 + i % 4",
    "disease": "['Flu', 'Cold', 'HIV', 'Angina', NULL][1 + i * 7 % 5]",
    "pay": "(i * 37) % 11 / 4",
}
SENSITIVE = "sensitive := ['disease', 'pay']"


def fill(con: Connection, *names: str, rows: int = 120) -> None:
    """A table t of these columns and the sensitive ones."""
    columns = ", ".join(f"{COLUMNS[name]} AS {name}" for name in (*names, "disease", "pay"))
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM range({rows}) AS r(i)")


def permute(con: Connection, seed: int) -> None:
    """Permutes each of the sensitive columns among all rows."""
    table, dice = fetch(con, "FROM t"), random.Random(seed)
    for name in ("disease", "pay"):
        order = list(range(table.num_rows))
        dice.shuffle(order)
        spot = table.column_names.index(name)
        table = table.set_column(spot, name, table[name].take(pa.array(order)))
    con.register("permuted", table)
    con.execute("CREATE OR REPLACE TABLE t AS FROM permuted")
    con.unregister("permuted")


def classes(con: Connection, options: str) -> list[tuple[Any, ...]]:
    """What is released of each row but for its sensitive values, and its class, in the order of
    the table."""
    remembered.forget()
    release = fetch(
        con, f"FROM anonymize('t', seed := 5, class_id := true, keep_order := true, "
        f"{SENSITIVE}, {options})"
    )
    apart = [name for name in release.column_names if name not in ("disease", "pay")]
    return list(zip(*(map(repr, release[name].to_pylist()) for name in apart), strict=True))


def stays(con: Connection, options: str) -> list[tuple[Any, ...]]:
    """Asserts that every row stays in its class; what is released."""
    before = classes(con, options)
    for seed in range(3):
        permute(con, seed)
        assert classes(con, options) == before
    return before


MIXED = ("name", "age", "job", "number")
ONE = {"gps_rectangles": ("lat", "lon")} | dict.fromkeys(
    ("zip_regions", "fold", "spread", "five_halves", "bin_cover", "ordered", "optimal_1d"),
    ("age",),
)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].promises_k])
def test_every_row_stays_in_its_class(con: Connection, method: str) -> None:
    names = ONE.get(method)
    k = {"pairs": 2, "triples": 3}.get(method, 4)
    options = f"k := {k}, method := '{method}', identifiers := ['name']"
    if method == "zip_regions":
        con.execute(
            "CREATE OR REPLACE TABLE pairs AS SELECT (47000 + i)::VARCHAR AS a, "
            "(47001 + i)::VARCHAR AS b FROM range(4) AS r(i)"
        )
        names, options = ("zip",), f"{options}, adjacency := 'pairs'"
    fill(con, "name", *names) if names else fill(con, *MIXED)
    if method == "full_domain":
        options += ", hierarchies := {'job': {'kind': 'flat'}}, suppress := 0.5"
    found = stays(con, options)
    assert len(found) == 120 and len({row[-1] for row in found}) > 1


MORE = {
    "refined": "method := 'mdav', effort := 'balanced', refine_steps := 2000",
    "refined by loss": "method := 'k_member', effort := 'balanced', refine_steps := 2000",
    "in blocks": "method := 'mdav_plus', block_rows := 200",
    "hierarchies": "method := 'k_member', hierarchies := {'job': {'kind': 'flat'}}",
    "a class label": "method := 'k_member', class_label := 'job'",
    "with weights": "column_weights := {'job': 0}",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_so_it_does_whatever_else_is_asked(con: Connection, case: str) -> None:
    fill(con, *MIXED, rows=480 if case == "in blocks" else 120)
    found = stays(con, f"k := 4, identifiers := ['name'], {MORE[case]}")
    assert len({row[-1] for row in found}) > 5


ROLES = {
    "identifiers that are dropped": "identifiers := ['name']",
    "columns that are not looked at": "quasi_identifiers := ['age', 'job'], others := 'drop'",
    "columns that pass": "quasi_identifiers := ['age', 'job'], others := 'release'",
    "a column that is hidden": "others := 'quasi_identifier'",
}


@pytest.mark.slow
@pytest.mark.parametrize("names", [MIXED, ("name", "age", "job")])
@pytest.mark.parametrize("case", ROLES)
def test_whatever_else_tells_rows_apart_breaks_ties(
    con: Connection, case: str, names: tuple[str, ...]
) -> None:
    fill(con, *names)
    stays(con, f"k := 4, method := 'mdav', {ROLES[case]}")


@pytest.mark.slow
@pytest.mark.parametrize("names", [("age", "job"), ("number",), ("number", "job")])
@pytest.mark.parametrize("method", ["mdav", "k_member", "r_gather"])
def test_rows_that_nobody_can_tell_apart_get_the_same_classes_together(
    con: Connection, method: str, names: tuple[str, ...]
) -> None:
    fill(con, *names)
    keys = fetch(con, f"SELECT {', '.join(names)} FROM t").to_pylist()

    def together() -> dict[str, list[Any]]:
        found = defaultdict(list)
        for key, row in zip(keys, classes(con, f"k := 4, method := '{method}'"), strict=True):
            found[str(key)].append(row)
        return {key: sorted(rows) for key, rows in found.items()}

    before = together()
    assert len(before) < 30
    for seed in range(3):
        permute(con, seed)
        assert together() == before
