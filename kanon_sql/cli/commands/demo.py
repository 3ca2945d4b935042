"""``kanon demo``: what a newcomer sees first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import duckdb

from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import RegistryOption, checked
from kanon_sql.cli.show import table, width
from kanon_sql.data import adult
from kanon_sql.duckdb.register import register

ROWS, FIGURES = 6, 5
SHOWN = ("k", "method", "representation", "seed")
LESS_TELLING = ("native-country", "workclass", "race", "marital-status")
"""Columns that a narrow terminal leaves out, in this order."""


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Few of the options."""
    held: list[click.Parameter] = command.__dict__.setdefault("__click_params__", [])
    held[:0] = [RegistryOption(OPTIONS[name]) for name in reversed(SHOWN)]
    return command


def _fetch(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    result = con.execute(sql)
    return [column[0] for column in result.description or ()], result.fetchall()


def _rows(
    con: duckdb.DuckDBPyConnection, call: str, room: int
) -> tuple[list[str], list[str]]:
    """Some rows of the source and the same as released, as tables, and the columns left out.

    The pairing needs keep_order, which a release should not have; it is for show only.
    """
    con.execute(f"CREATE TEMP TABLE released AS FROM anonymize('adult', {call}, keep_order=true)")
    relations = {name: _fetch(con, f"FROM {name}") for name in ("adult", "released")}
    away: list[str] = []
    while True:
        tables = []
        for names, rows in relations.values():
            spots = [spot for spot, name in enumerate(names) if name not in away]
            step = len(rows) // ROWS
            some = [[row[spot] for spot in spots] for row in rows[step // 2 :: step][:ROWS]]
            tables.append(table([names[spot] for spot in spots], some))
        widest = max(len(line) for text in tables for line in text.splitlines())
        if widest <= room or len(away) == len(LESS_TELLING):
            return tables, away
        away.append(LESS_TELLING[len(away)])


def _figures(con: duckdb.DuckDBPyConnection, call: str) -> str:
    """The five figures that everybody reads, in words."""
    _, figures = _fetch(
        con, f"SELECT metric, in_words FROM anonymize_metrics('adult', {call}) LIMIT {FIGURES}"
    )
    return "\n".join(f"  {name:<21}{words}" for name, words in figures)


@click.command(cls=Grouped)
@_options
def demo(**arguments: Any) -> None:
    """Anonymizes UCI Adult and shows the call, rows before and after, and five figures.

    Without options, by k = 5 and method auto.
    """
    defaults = {"k": 5, "method": OPTIONS["method"].default, "seed": OPTIONS["seed"].default}
    typed = {name: OPTIONS[name].read(value) for name, value in checked(arguments).items()}
    chosen = {name: typed.get(name, defaults.get(name)) for name in SHOWN}
    call = ", ".join(
        f"{name}={value}" if isinstance(value, (int, dict)) else f"{name}='{value}'"
        for name, value in chosen.items() if value
    )
    call += ", sensitive=['salary-class']"
    con = register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    _, [(count,)] = _fetch(con, "SELECT count(*) FROM adult")
    (before, after), away = _rows(con, call, width())
    columns = con.table("adult").columns
    narrow = f", in {len(columns) - len(away)} of {len(columns)} columns" if away else ""
    print(f"UCI Adult has {count:,} rows. {ROWS} of them{narrow}:\n\n{before}")
    print(f"\nOne line of SQL anonymizes them:\n\n  FROM anonymize('adult', {call});")
    print(f"\nThe same rows as released, though a release is in another order:\n\n{after}")
    print(f"\nFive figures to read first:\n\n{_figures(con, call)}")
    print("\nAll figures: FROM anonymize_metrics('adult', ...). "
          "Your own file: kanon anonymize --help")
