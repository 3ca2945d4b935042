"""The shell: ``kanon demo`` anonymizes UCI Adult and shows what happened, ``kanon compile`` readies
methods for their first use, ``kanon release`` writes a file and ``kanon verify`` proves it."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.call.options import OPTIONS
from kanon_sql.data import adult
from kanon_sql.errors import KanonError
from kanon_sql.interfaces.cli_files import add_commands
from kanon_sql.interfaces.duckdb import register
from kanon_sql.methods import METHODS
from kanon_sql.version import __version__

ROWS = 10
DEMO_OPTIONS = ("k", "method", "representation", "seed")


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as aligned text; columns of numbers to the right."""
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    numeric = [all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(names))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(cells, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join(["  " + line(r) for r in (names, ["-" * w for w in widths], *texts)])


def _beside(left: str, right: str, width: int) -> str:
    """Two blocks of text beside each other, or one below the other where they don't fit."""
    lefts, rights = left.splitlines(), right.splitlines()
    edge = max(map(len, lefts))
    if edge + 5 + max(map(len, rights)) > width:
        return f"{left}\n\n{right}"
    pairs = zip(lefts, rights, strict=True)
    return "\n".join(f"{a.ljust(edge)}  |{b}".rstrip() for a, b in pairs)


def _fetch(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    result = con.execute(sql)
    return [column[0] for column in result.description or ()], result.fetchall()


def _blocks(con: duckdb.DuckDBPyConnection, call: str, width: int) -> str:
    """Ten rows of the source, and the same ten as released.

    The pairing needs keep_order, which a release should not have; it is for show only.
    """
    release = f"anonymize('adult', {call}, keep_order=true)"
    con.execute(f"CREATE TEMP TABLE released AS FROM {release}")
    blocks = []
    for table in ("adult", "released"):
        names, rows = _fetch(con, f"FROM {table}")
        step = len(rows) // ROWS
        blocks.append(f"  {table}\n" + _table(names, rows[step // 2 :: step][:ROWS]))
    return _beside(blocks[0], blocks[1], width)


def _metrics(metrics: Sequence[tuple[Any, ...]], width: int) -> str:
    """Numbers as a table, what they mean beside them, and the facts in words below."""
    numbers = [(name, value, unit) for name, value, _, unit, _ in metrics if value is not None]
    heading, rule, *lines = _table(("metric", "value", "unit"), numbers).splitlines()
    start = max(map(len, (rule, *lines))) + 2
    room = max(width - start, 40)
    texts = [heading.ljust(start) + "meaning", rule.ljust(start) + "-" * 7]
    told = None
    for line, about in zip(lines, (m[4] for m in metrics if m[1] is not None), strict=True):
        # a metric of every column means the same for each
        first, *more = [""] if about == told else textwrap.wrap(about, room)
        told = about
        texts += [(line.ljust(start) + first).rstrip(), *(" " * start + part for part in more)]
    words = [f"  {name}: {text}" for name, _, text, _, _ in metrics if text is not None]
    wrapped = (textwrap.fill(word, width, subsequent_indent="    ") for word in words)
    return "\n".join([*texts, "", *wrapped])


def demo(arguments: argparse.Namespace) -> None:
    """Anonymizes UCI Adult and prints the SQL, ten rows before and after, and the metrics."""
    given = {name: getattr(arguments, name) for name in DEMO_OPTIONS}
    options = {name: OPTIONS[name].read(value) for name, value in given.items() if value}
    call = ", ".join(
        f"{name}={value}" if isinstance(value, int) else f"{name}='{value}'"
        for name, value in options.items()
    )
    call += ", sensitive=['salary-class']"
    width = shutil.get_terminal_size((120, 24)).columns
    con = register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    _, [(count,)] = _fetch(con, "SELECT count(*) FROM adult")
    print(f"UCI Adult: {count:,} rows in the table adult. This call:\n")
    print(f"  SELECT * FROM anonymize('adult', {call});\n")
    print("(anonymize_sql(...) with the same arguments shows the whole query behind it.)\n")
    print("Ten rows of the source, and what is released of them (a release is in another order):\n")
    print(_blocks(con, call, width))
    print(f"\nThe metrics, SELECT * FROM anonymize_metrics('adult', {call}):\n")
    _, metrics = _fetch(con, f"FROM anonymize_metrics('adult', {call})")
    print(_metrics(metrics, width))
    print("\nThe audit, of the source and of the release:\n")
    quasi = "sensitive=['salary-class']"
    shown = "SELECT * EXCLUDE (sensitive, c, alpha, delta, beta, classes_violating, rows_violating)"
    audit = f"{shown} FROM k_anonymity('{{}}', {quasi}, k={options['k']})"
    names, before = _fetch(con, audit.format("adult"))
    _, after = _fetch(con, audit.format("released"))
    print(_table(("table", *names), [("adult", *before[0]), ("released", *after[0])]))


def compile_methods(arguments: argparse.Namespace) -> None:
    """Compiles all that calls of some methods, or of all, and their metrics can need, and prints
    what it was."""
    known = OPTIONS["method"]
    names = [known.read(name) for name in arguments.methods] or list(METHODS)

    # here, since they load the compiler
    from kanon_sql.group.all_kernels import compile_method
    from kanon_sql.measure.diameter import load_kernels

    started = perf_counter()
    functions = len(load_kernels())
    for name in dict.fromkeys(names):
        for done in compile_method(name):
            functions += done.functions
            if done.functions > 0:
                print(f"{done.what}: {_count(done.functions)} in {done.seconds:.1f} s", flush=True)
    seconds = perf_counter() - started
    if functions > 0:
        print(f"Compiled {_count(functions)} in {seconds:.1f} s.")
    else:
        print(f"Nothing to compile: all was in the cache, and loaded in {seconds:.1f} s.")


def _count(functions: int) -> str:
    return "1 function" if functions == 1 else f"{functions} functions"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kanon", description="k-anonymity for DuckDB.")
    parser.add_argument("--version", action="version", version=f"kanon_sql {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("demo", help="anonymize UCI Adult and show what happened")
    for name in DEMO_OPTIONS:
        option = OPTIONS[name]
        number = option.type in ("INTEGER", "BIGINT")
        default = 5 if name == "k" else option.default
        show.add_argument(
            f"--{name}",
            type=int if number else str,
            default=default,
            help=f"{option.description} Default: {5 if name == 'k' else option.default_text}.",
        )
    show.set_defaults(run=demo)
    first = commands.add_parser(
        "compile", help="compile methods before their first use, for images and CI"
    )
    first.add_argument(
        "methods", nargs="*", metavar="METHOD", help="methods by name. Default: all."
    )
    first.set_defaults(run=compile_methods)
    add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the shell; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        status: int | None = chosen.run(chosen)
    except KanonError as refusal:
        print(f"kanon: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kanon: stopped.", file=sys.stderr)
        return 130
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
