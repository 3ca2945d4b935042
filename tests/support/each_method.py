"""What each method is called with, on a table that has columns for all of them: age, code, lat,
lon and job, and beside them the sensitive ill and pay."""

from __future__ import annotations

import duckdb

from kanon_sql.methods import METHODS

NAMES = {
    "gps_rectangles": ("lat", "lon"), "zip_regions": ("code",), "optimal_1d": ("age",),
    "ordered": ("age",), **dict.fromkeys(("fold", "spread", "five_halves"), ("code",)),
    "bin_cover": ("job",), "full_domain": ("age", "job"),
}
"""The quasi-identifiers of methods that don't take any."""

MORE = {
    "zip_regions": "adjacency := 'borders'", "full_domain": "method := 'full_domain'",
    "best": "refine_steps := 2000",
}
"""Options of single methods. full_domain needs hierarchies, too."""


def names_of(method: str) -> tuple[str, ...]:
    """The quasi-identifiers of a call."""
    return NAMES.get(method, ("age", "job", "lat"))


def least_of(method: str) -> int:
    """The k of a call: 4, where the method lets one choose."""
    return METHODS[method].only_k or 4


def create_borders(con: duckdb.DuckDBPyConnection, codes: int) -> None:
    """The relation of the codes that are next to each other."""
    con.execute("CREATE TABLE borders AS SELECT format('c{:02}', i) AS a, "
                f"format('c{{:02}}', i + 1) AS b FROM range({codes - 1}) AS r(i)")


def call_of(table: str, method: str, *options: str, name: str = "anonymize") -> str:
    """A call with options as they stand in SQL."""
    names = list(names_of(method))
    others = [c for c in ("age", "code", "lat", "lon", "job") if c not in names]
    given = [
        f"method := '{method}'" if method != "full_domain" else "", f"k := {least_of(method)}",
        f"quasi_identifiers := {names}", f"identifiers := {others}", "sensitive := ['ill', 'pay']",
        MORE.get(method, ""), "seed := 3", *options,
    ]
    return f"{name}('{table}', {', '.join(filter(None, given))})"
