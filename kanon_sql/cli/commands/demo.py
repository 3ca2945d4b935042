"""``kanon demo``: what a newcomer sees first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import duckdb

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.options import Grouped, RegistryOption, checked
from kanon_sql.cli.show import metrics, table, width
from kanon_sql.data import adult
from kanon_sql.duckdb.register import register

ROWS = 10
SHOWN = ("k", "method", "representation", "seed")


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Few of the options."""
    held: list[click.Parameter] = command.__dict__.setdefault("__click_params__", [])
    held[:0] = [RegistryOption(OPTIONS[name]) for name in reversed(SHOWN)]
    return command


def _beside(left: str, right: str, room: int) -> str:
    """Two blocks of text beside each other, or one below the other where they don't fit."""
    lefts, rights = left.splitlines(), right.splitlines()
    edge = max(map(len, lefts))
    if edge + 5 + max(map(len, rights)) > room:
        return f"{left}\n\n{right}"
    pairs = zip(lefts, rights, strict=True)
    return "\n".join(f"{a.ljust(edge)}  |{b}".rstrip() for a, b in pairs)


def _fetch(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    result = con.execute(sql)
    return [column[0] for column in result.description or ()], result.fetchall()


def _blocks(con: duckdb.DuckDBPyConnection, call: str, room: int) -> str:
    """Ten rows of the source, and the same ten as released.

    The pairing needs keep_order, which a release should not have; it is for show only.
    """
    release = f"anonymize('adult', {call}, keep_order=true)"
    con.execute(f"CREATE TEMP TABLE released AS FROM {release}")
    blocks = []
    for name in ("adult", "released"):
        names, rows = _fetch(con, f"FROM {name}")
        step = len(rows) // ROWS
        blocks.append(f"  {name}\n" + table(names, rows[step // 2 :: step][:ROWS]))
    return _beside(blocks[0], blocks[1], room)


@click.command(cls=Grouped)
@_options
def demo(**given: Any) -> None:
    """Anonymizes UCI Adult and prints the SQL, ten rows before and after, and the metrics.

    Without options, by k = 5 and method mdav_star.
    """
    defaults = {"k": 5, "method": OPTIONS["method"].default, "seed": OPTIONS["seed"].default}
    typed = {name: OPTIONS[name].read(value) for name, value in checked(given).items()}
    chosen = {name: typed.get(name, defaults.get(name)) for name in SHOWN}
    call = ", ".join(
        f"{name}={value}" if isinstance(value, (int, dict)) else f"{name}='{value}'"
        for name, value in chosen.items() if value
    )
    call += ", sensitive=['salary-class']"
    room = width()
    con = register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    _, [(count,)] = _fetch(con, "SELECT count(*) FROM adult")
    print(f"UCI Adult: {count:,} rows in the table adult. This call:\n")
    print(f"  SELECT * FROM anonymize('adult', {call});\n")
    print("(anonymize_sql(...) with the same arguments shows the whole query behind it.)\n")
    print("Ten rows of the source, and what is released of them (a release is in another order):\n")
    print(_blocks(con, call, room))
    print(f"\nThe metrics, SELECT * FROM anonymize_metrics('adult', {call}):\n")
    _, found = _fetch(con, f"FROM anonymize_metrics('adult', {call})")
    print(metrics(found, room))
    print("\nThe audit, of the source and of the release:\n")
    quasi = "sensitive=['salary-class']"
    shown = "SELECT * EXCLUDE (sensitive, c, alpha, delta, beta, classes_violating, rows_violating)"
    audit = f"{shown} FROM k_anonymity('{{}}', {quasi}, k={chosen['k']})"
    names, before = _fetch(con, audit.format("adult"))
    _, after = _fetch(con, audit.format("released"))
    print(table(("table", *names), [("adult", *before[0]), ("released", *after[0])]))
