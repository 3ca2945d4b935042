"""``kanon sql``: the query of a call, SQL from a file, or a prompt; the calls are known."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import duckdb

from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.options import checked, options
from kanon_sql.cli.show import as_json as json_text
from kanon_sql.cli.show import as_objects
from kanon_sql.cli.show import table as as_table
from kanon_sql.cli.sources import connection, opened
from kanon_sql.cli.work import rows_of
from kanon_sql.duckdb.refused import HARMLESS, KINDS
from kanon_sql.duckdb.register import register
from kanon_sql.errors import DataError, KanonError, OptionError

AUDIT = "kanon_audit.sql"
PROMPT, MORE = "kanon> ", "  ...> "
ROWS = 40
"""Lines of a result that are printed for people."""

WELCOME = "The calls are known: FROM anonymize('patients.parquet', k=5); .quit or Ctrl-D ends."
TELLING = """
    CREATE OR REPLACE TEMP MACRO __kanon_refuse(kind, sentence) AS
        system.main.error(system.main.concat(kind, ': ', sentence))
"""
"""Refusals bring their class, by which the status is chosen; see sql/macros/refuse.sql."""

MIXED = (
    "An option with = stands after one with := or =>, which DuckDB refuses. Write those with = "
    "first, or all of them in one way."
)
UNKNOWN = (
    "{} has no option of a name that is given by := or =>. Write it with =, as k=5, to be told the "
    "nearest name."
)
"""What is said of what DuckDB refuses of a call before the call is asked, by a part of its text."""

NO_SUCH = re.compile(
    r'Macro "?(anonymize\w*|k_anonymity|hierarchy|ledger_check)"?\(\) does not support'
)

STATEMENT = re.compile(r"\s*(SELECT|FROM|WITH)\s", re.IGNORECASE)

LEAVING = (".quit", ".exit", "exit", "quit")


@click.command(cls=Grouped, epilog=inputs.EPILOG)
@inputs.source
@click.option("-c", "--command", "text", metavar="SQL", help="Runs this SQL.")
@click.option("--audit-macros", is_flag=True,
              help="Prints the audit as SQL macros, for DuckDB clients without Python.")
@inputs.as_json
@options("anonymize")
def sql(
    source: tuple[str, ...], table: str | None, database: str | None, text: str | None,
    audit_macros: bool, as_json: bool, **arguments: Any,
) -> None:
    """Prints the query of a call, runs SQL, or reads it at a prompt.

    kanon sql IN -k 5 prints the SQL that kanon anonymize IN -k 5 runs; kanon sql file.sql runs the
    file. kanon sql - runs standard input, kanon sql -c '...' runs that text, and kanon sql alone is
    a prompt. These use --database or an empty database.
    """
    chosen = checked(arguments)
    if audit_macros:
        if source or table is not None or database is not None or text is not None or chosen:
            raise OptionError("--audit-macros takes no other argument. Leave the others out.")
        print(files("kanon_sql.sql").joinpath(AUDIT).read_text(encoding="utf-8"),
              end="")
        return
    script = len(source) == 1 and (
        source[0].lower().endswith(".sql") or (source[0] == "-" and not chosen)
    )
    if (text is not None or script or not source) and table is None:
        if chosen:
            raise OptionError(
                f"{next(iter(chosen))} is an option of a call, and SQL is given. Write it there."
            )
        with _database(database) as con:
            if text is not None:
                _run(con, text, as_json)
            elif script:
                _run(con, _text_of(source[0]), as_json)
            else:
                _prompt(con, as_json)
        return
    if len(source) == 1 and STATEMENT.match(source[0]):
        raise OptionError("SQL is given as IN. Put -c before it, as in kanon sql -c 'SELECT 1'.")
    with opened(source, database, table) as read:
        query = rows_of("anonymize_sql", read, chosen)[1][0][0]
    print(json_text({"sql": query}) if as_json else query)


@contextmanager
def _database(path: str | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection on which the calls are known."""
    if path is not None and not Path(path).is_file():
        raise OptionError(f"There is no file {path!r}. Check the path.")
    with connection(path, True) as con:
        register(con)
        con.execute(TELLING)
        yield con


def _text_of(place: str) -> str:
    try:
        return sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise OptionError(f"{place!r} is not UTF-8 text. Check the path.") from None
    except FileNotFoundError:
        raise OptionError(f"There is no file {place!r}. Check the path.") from None


def _refusal(error: duckdb.Error) -> KanonError:
    """What DuckDB refuses of what the user wrote: a refusal of ours without the rest, what it says
    of the text itself, and of all else, which may hold a value, only that it is so."""
    said = str(error).partition("\n")[0].partition(": ")[2]
    kind, _, sentence = said.partition(": ")
    if "positional argument following named argument" in said:
        return OptionError(MIXED)
    unknown = NO_SUCH.match(said)
    if unknown:
        return OptionError(UNKNOWN.format(unknown[1]))
    if kind in KINDS:
        return KINDS[kind](sentence)
    if isinstance(error, duckdb.InvalidInputException) and "\n\nLINE " in str(error):
        return OptionError(said)  # it was refused before a row was read
    if isinstance(error, (*HARMLESS, duckdb.ParserException, duckdb.NotImplementedException)):
        return OptionError(said)
    return DataError(
        f"DuckDB can't run this on the data ({type(error).__name__}). Check what it is run on."
    )


def _run(con: duckdb.DuckDBPyConnection, text: str, as_json: bool) -> None:
    """Runs statements one after the other, and prints what they give."""
    try:
        for statement in con.extract_statements(text):
            gives = statement.expected_result_type
            con.execute(statement)
            names = [column[0] for column in con.description or ()]
            counted = names == ["Count"] and duckdb.ExpectedResultType.CHANGED_ROWS in gives
            if duckdb.ExpectedResultType.QUERY_RESULT in gives and not counted:
                _show(con, names, as_json)
    except duckdb.Error as error:
        refusal = _refusal(error)
        refusal.in_sql = True
        raise refusal from None


def _show(con: duckdb.DuckDBPyConnection, names: list[str], as_json: bool) -> None:
    if as_json:
        print(json_text(as_objects(names, con.fetchall())))
        return
    rows = con.fetchmany(ROWS + 1)
    print(as_table(names, rows[:ROWS]))
    if len(rows) > ROWS:
        print("  ...")


def _prompt(con: duckdb.DuckDBPyConnection, as_json: bool) -> None:
    """Reads statements line by line, each up to its semicolon."""
    shown = sys.stdin.isatty()
    if shown:
        import readline  # noqa: F401  (lines are edited by it)

        print(WELCOME)
    for statement in _statements(shown):
        try:
            _run(con, statement, as_json)
        except KanonError as refusal:
            if not shown:
                raise
            print(f"kanon: {refusal}", file=sys.stderr)
        except KeyboardInterrupt:
            if not shown:
                raise
            print("kanon: stopped.", file=sys.stderr)


def _statements(shown: bool) -> Iterator[str]:
    lines: list[str] = []
    while True:
        try:
            line = input((MORE if lines else PROMPT) if shown else "")
        except EOFError:
            break
        except KeyboardInterrupt:
            if not shown:
                raise
            print()
            lines.clear()
            continue
        if not lines and line.strip().rstrip(";").lower() in LEAVING:
            return
        lines.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(lines)
            lines.clear()
    if "".join(lines).strip():
        yield "\n".join(lines)
