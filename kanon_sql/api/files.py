"""The face for tables larger than memory: files in, files out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import duckdb

from kanon_sql.files.released import ReleasedFiles


def anonymize_files(
    source: str | PathLike[str] | Sequence[str | PathLike[str]], to: str | PathLike[str], *,
    threads: int | None = None, memory: str = "4GB", resume: bool = True, progress: bool = True,
    overwrite: bool = False, prepare: Callable[[duckdb.DuckDBPyConnection], object] | None = None,
    ledger_to: str | PathLike[str] | None = None, **options: Any,
) -> ReleasedFiles:
    """Releases files that may be larger than memory into a folder of Parquet files.

    All rows are measured by the same scales and cut into blocks of rows close to each other; each
    block is grouped by the query that ``anonymize`` runs, and k is verified over all files before
    the folder gets its name. A run that was stopped goes on where it was, and ends with the same
    bytes.

    Args:
        source: a file, a pattern such as 'lake/**/*.parquet', or a list of files; also of other
            machines, such as 's3://bucket/lake/*.parquet'.
        to: the folder to write.
        threads: how many blocks are worked on at a time; None: one for each core.
        memory: what DuckDB may take, as its memory_limit. The process takes about 1 GB more.
        resume: whether the draft of a run that was stopped is gone on with; else it is deleted.
        progress: whether it is shown how far it is, where a person is watching.
        overwrite: whether a folder that is there is replaced.
        prepare: called with our connection before it reads: by it come secrets and file systems,
            as in lambda con: con.execute("CREATE SECRET (TYPE s3, ...)").
        ledger_to: with ledger or headroom, the Parquet file that gets what this release adds to its
            ledger, as ``anonymize_ledger`` makes it: there with the folder, or not at all. It is as
            private as the source.
        options: as of ``anonymize``; quasi_identifiers must be given. block_rows is about how many
            rows a block has.

    Returns:
        What was written.

    Raises:
        OptionError: what can't be asked, or not block by block.
        DataError: what can't be released, or the disk is full.
        ReleaseError: the release broke its promise, and was stopped.
    """
    from kanon_sql.files.release import release_files  # here: it takes a while to load

    return release_files(
        source, to, threads, memory, resume, progress, overwrite, prepare, options, ledger_to
    )
