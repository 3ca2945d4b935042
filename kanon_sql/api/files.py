"""The interface for tables larger than memory: files in, files out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import duckdb

from kanon_sql.files.released import FilesRelease


def anonymize_files(
    source: str | PathLike[str] | Sequence[str | PathLike[str]], to: str | PathLike[str], *,
    threads: int | None = None, memory: str = "4GB", resume: bool = True, progress: bool = True,
    overwrite: bool = False, prepare: Callable[[duckdb.DuckDBPyConnection], object] | None = None,
    ledger_to: str | PathLike[str] | None = None, **options: Any,
) -> FilesRelease:
    """Releases files that may be larger than memory into a folder of Parquet files.

    All rows are measured on the same scales and cut into blocks of similar rows. Each block is
    grouped by the query that ``anonymize`` runs, and k is verified over all files before the folder
    gets its name. An interrupted run resumes where it stopped, and ends with the same bytes.

    Args:
        source: a file, a pattern such as 'lake/**/*.parquet', or a list of files. They may be
            remote, such as 's3://bucket/lake/*.parquet'.
        to: the folder to write.
        threads: the number of blocks that are processed at a time; None: one for each core.
        memory: the memory_limit of DuckDB. The process takes about 1 GB more.
        resume: whether an interrupted run is resumed; otherwise its draft is deleted.
        progress: whether progress is shown, if standard error is a terminal or a notebook.
        overwrite: whether an earlier release in the folder is replaced.
        prepare: called with the connection of the run before it reads, to create secrets or
            register file systems: lambda con: con.execute("CREATE SECRET (TYPE s3, ...)").
        ledger_to: with ledger or headroom, the Parquet file that receives what this release adds to
            its ledger, as ``anonymize_ledger`` returns it. It is written together with the folder,
            and is as private as the source.
        options: as in ``anonymize``; quasi_identifiers is required. block_rows is the approximate
            number of rows of a block.

    Returns:
        The folder, its number of files and rows, and the metrics.

    Raises:
        OptionError: an option is invalid, or cannot be used block by block.
        DataError: the data cannot be released, or the disk is full.
        ReleaseError: the release failed its verification, and was stopped.
    """
    from kanon_sql.files.release import release_files  # here: it takes a while to load

    return release_files(
        source, to, threads, memory, resume, progress, overwrite, prepare, options, ledger_to
    )
