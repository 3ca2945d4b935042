"""What commands do: calls on a source, and releases into a place."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.api.files import anonymize_files
from kanon_sql.cli.sources import STDIN_TABLE, InputSource
from kanon_sql.cli.targets import Target, write
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, reads_of, relation_and_options, run
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.files.released import FilesRelease
from kanon_sql.plan.query import plan

Rows = tuple[list[str], list[tuple[Any, ...]]]

SUMMARY = ("rows", "rows_released", "rows_suppressed", "classes", "k",
           "information_loss", "prosecutor_risk_max")
"""The metrics that are told when a release is written."""


def rows_of(call: str, source: InputSource, options: Mapping[str, Any], **more: Any) -> Rows:
    """Column names and rows of one call of the registry."""
    table: Any = run(call, source.data, source.con, {**more, **options})
    columns = [column.to_pylist() for column in table.columns]
    return table.column_names, list(zip(*columns, strict=True))


def columns_of(source: InputSource) -> list[str]:
    """The columns of the input; none where it can't be read, which the call will say."""
    try:
        with Session(source.con) as session:
            return list(session.source(source.data).columns or ())
    except (KanonError, duckdb.Error):
        return []


def release(source: InputSource, options: Mapping[str, Any], place: Target) -> None:
    """Writes the released rows to a place, all or none of them."""
    with Session(source.con) as session:
        relation, held = relation_and_options(session, source.data, options)
        planned = plan("anonymize", relation, held, session.catalog)
        with session.refusals(planned.relations):
            reads = reads_of(session, relation, held)
            write(session, source, telling(planned.text), place, reads)


def summary(source: InputSource, options: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a release that was written; its labels are known by now, and what there was
    to be said of its columns is said."""
    with redirect_stderr(io.StringIO()):
        _, rows = rows_of("anonymize_metrics", source, options)
    numbers = {name: value for name, value, *_ in rows}
    return {name: numbers[name] for name in SUMMARY if numbers.get(name) is not None}


def sentence(metrics: Mapping[str, Any], place: str, seconds: float) -> str:
    """The same as people read it."""
    rows, left_out = int(metrics["rows_released"]), int(metrics.get("rows_suppressed", 0))
    said = [f"{rows:,} rows in {place}" + (f", {left_out:,} left out" if left_out else "")]
    if "k" in metrics and "classes" in metrics:
        said.append(f"{int(metrics['classes']):,} classes of {int(metrics['k'])} or more")
    if "information_loss" in metrics:
        said.append(f"information loss {round(metrics['information_loss'], 9):.3g} %")
    return ", ".join([*said, f"{seconds:.1f} s"])


def files_sentence(done: FilesRelease) -> str:
    """The same of a release in files."""
    metrics = done.metrics
    files = "1 file" if done.files == 1 else f"{done.files:,} files"
    return sentence(metrics, f"{files} of {done.path}", metrics["seconds"])


def into_folder(
    source: InputSource, options: Mapping[str, Any], place: Target, **more: Any
) -> FilesRelease:
    """Files into a folder of files, in blocks of rows, so that they may be larger than memory.

    Args:
        source: the files.
        options: those of anonymize.
        place: the folder.
        more: memory, resume, overwrite and ledger_to of anonymize_files, where they were given.

    Raises:
        OptionError: the source is no file, or the format isn't Parquet.
    """
    if source.database is not None or source.data == STDIN_TABLE:
        raise OptionError(
            "A folder is written in blocks of files, and the input is a table. Name a file for "
            "-o, or part the release by --partition-by."
        )
    if place.format != "parquet":
        raise OptionError(
            "A folder without --partition-by is one of Parquet files. Leave --format out."
        )
    settings = {name: value for name, value in more.items() if value is not None}
    return anonymize_files(source.data, str(place.path), **settings, **options)


@contextmanager
def timed() -> Iterator[list[float]]:
    """Seconds of what is done inside."""
    seconds: list[float] = []
    started = perf_counter()
    yield seconds
    seconds.append(perf_counter() - started)
