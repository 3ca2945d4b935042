"""Commands of the shell over random tables: each ends with a status that it has, in a sentence if
it refuses. What is released can be verified, and an audit finds the k that was asked."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import format_exc

import duckdb

from kanon_sql.cli.main import main
from tests.fuzz.case import create
from tests.fuzz.draw import case_of
from tests.fuzz.oracle import INTERNAL

K = ("-k", "2")
DONE, UNUSABLE, NO_DATA = 0, 2, 4


def run(words: Sequence[str]) -> tuple[int, str]:
    """The status of a command, and what it says beside its output; with what it warns of."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said), \
            warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            status = main(words)
        except BaseException:
            return -1, format_exc()[-900:]
    told = [line for line in said.getvalue().splitlines() if not line.startswith("kanon_sql:")]
    numpy = [f"{Path(each.filename).name}:{each.lineno} {each.message}" for each in warned
             if issubclass(each.category, RuntimeWarning)]
    return status, "\n".join([*told[-1:], *(f"Traceback: {each}" for each in numpy[:1])])


def commands(
    folder: Path, roles: Sequence[str], column: str
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Commands, and how each may end."""
    table, release, private, page = (
        str(folder / name) for name in ("t.parquet", "o.parquet", "o.json", "p.html")
    )
    call, either = [*roles, "--others", "drop"], (DONE, NO_DATA)
    yield ["release", table, "-o", release, "--private", private, *K, *call], either
    if Path(release).exists():
        yield ["verify", release, "--explain"], (DONE,)
        yield ["verify", release, "--source", table, "--private", private], (DONE,)
        yield ["audit", release, *K, *roles], (DONE,)
    yield ["audit", table, *roles], (DONE,)
    yield ["risk", table, *roles], (DONE,)
    yield ["roles", table], (DONE,)
    yield ["hierarchy", table, column, "bins"], (DONE, UNUSABLE, NO_DATA)
    yield ["hierarchy", table, column, "prefix"], (DONE, UNUSABLE, NO_DATA)
    yield ["compare", table, *K, *call, "--methods", "mdav_plus,mondrian"], (*either, UNUSABLE)
    yield ["report", table, "-o", page, *K, *call], either
    yield ["report", table, "-o", page, *K, *call, "--evidence"], either


def faults_of(seed: int) -> Iterator[str]:
    """What is wrong with commands over the table of a seed."""
    case = case_of(seed, ("query",))
    quasi, sensitive = (case.options.get(name) for name in ("quasi_identifiers", "sensitive"))
    named = [*quasi, *(sensitive or ())] if isinstance(quasi, list) else []
    if not named or not all(isinstance(name, str) and "," not in name for name in named):
        return
    roles = [word for name in quasi for word in ("-q", name)]
    roles += [word for name in sensitive or () for word in ("-s", name)]
    with TemporaryDirectory() as folder:
        with duckdb.connect() as con:
            create(con, "t", case.columns)
            try:
                con.execute(f"COPY t TO '{folder}/t.parquet'")
            except duckdb.Error:  # types that no Parquet file holds
                return
        for words, statuses in commands(Path(folder), roles, quasi[0]):
            status, said = run(words)
            if status not in statuses or INTERNAL.search(said):
                yield f"{' '.join([words[0], *words[2:]])}: {status}, {said[-400:]}"
