"""Records made up for the benchmarks, always the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.methods import Points

MIXED = (8, 1000)
"""Categories of the nominal attributes of the mixed data, besides six numbers."""

TEXTS = (51, 8, 3, 16, 10, 41)
MADE = {
    "mixed": "(random() * 70)::INT AS age, (random() * random() * 100000)::INT AS income, "
    "'z' || (random() * random() * 400)::INT AS zip, 'e' || (random() * 5)::INT AS education",
    "six texts": ", ".join(f"'v' || (random() * {m - 1})::INT AS t{m}" for m in TEXTS),
    "zips": "(random() * 70)::INT AS age, 'z' || (random() * random() * 20000)::INT AS zip, "
    "'s' || random()::INT AS sex",
    "births": "DATE '1930-01-01' + (random() * 30000)::INT AS birth, "
    "'z' || (random() * 900)::INT AS zip, 's' || random()::INT AS sex",
}
"""Columns of tables as people have them, as DuckDB draws them, each for itself."""

FOUR = {
    "doubles": "",
    "mixed": MADE["mixed"],
    "long": "(random() * 1e15)::BIGINT AS amount, 'p' || (random() * 300000)::INT AS person, "
    "TIMESTAMP '2000-01-01' + to_seconds((random() * 8e8)::BIGINT) AS seen, "
    "(random() * 90)::INT AS age",
}
"""Tables of four columns: standard normal doubles, where nothing stands, and others."""


def numbers(n: int, d: int) -> Points:
    """Standard normal records in canonical order."""
    values = np.random.default_rng([n, d]).standard_normal((n, d))
    return Points.of(values[np.argsort(values[:, 0], kind="stable")])


def make_four(con: Any, kind: str, name: str, n: int) -> None:
    """Creates a table of one of FOUR, with n rows."""
    if FOUR[kind]:
        con.execute("SELECT setseed(0.5)")
        con.execute(f"CREATE TABLE {name} AS SELECT {FOUR[kind]} FROM range({n})")
        return
    import pyarrow as pa

    values = np.random.default_rng([n, 4]).standard_normal((n, 4))
    source = pa.table({letter: values[:, j] for j, letter in enumerate("abcd")})
    con.register("source", source)
    con.execute(f"CREATE TABLE {name} AS FROM source")
    con.unregister("source")


def mixed(n: int) -> Points:
    """Six standard normal attributes and two nominal ones, in canonical order."""
    rng = np.random.default_rng([n, 0])
    values = rng.standard_normal((n, 6))
    values = values[np.argsort(values[:, 0], kind="stable")]
    codes = np.column_stack([rng.integers(0, m, n) for m in MIXED])
    shares = [np.bincount(column) / n for column in codes.T]
    return Points.of(values, codes, [1.0 / (1.0 - float(np.sum(p**2))) for p in shares])


def points(kind: str, n: int, d: int) -> Points:
    """Records of a kind, 'numbers' or 'mixed'."""
    return mixed(n) if kind == "mixed" else numbers(n, d)
