"""``anonymize_files``: files in, files out, whatever their size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.blocks.beside_ledger import release_beside_ledger
from kanon_sql.blocks.driver import release_in_blocks
from kanon_sql.blocks.request import Request, read_request
from kanon_sql.duckdb.refused import was_pressed
from kanon_sql.duckdb.session import Session, reads_of
from kanon_sql.errors import LITTLE, DataError, KanonError, OptionError, a_type, lacks_memory
from kanon_sql.files.beside_ledger import past
from kanon_sql.files.draft import (
    OUT,
    emptied,
    files_of,
    locked,
    named,
    names_of,
    refuse_other_things,
    removed,
    target_of,
)
from kanon_sql.files.engine import PART, FileEngine
from kanon_sql.files.entries import Entering, read_entering, take_back
from kanon_sql.files.progress import Passes
from kanon_sql.files.released import FilesRelease
from kanon_sql.files.state import NAME, State, digest, input_digest
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.kernel.parallel import cores
from kanon_sql.names import literal
from kanon_sql.output.faults import AGAIN, FULL, SPILLED, read_fault, write_fault

MOVED = (
    "The files of the input changed while they were read. Nothing was written; run it again when "
    "no process writes them."
)
PREPARE = (
    "prepare is {}, no function. Give one that takes a connection, such as "
    "lambda con: con.execute('CREATE SECRET ...')."
)

LITTLE_FOR_BLOCKS = (
    f"The memory is too little for these rows. Nothing was written; give more memory, and {AGAIN}, "
    "or a smaller block_rows."
)
UNREAD = (
    "DuckDB can't read the data or write the output ({}). Nothing was written; check the files."
)


def release_files(
    source: Any, to: Any, threads: int | None, memory: str, resume: bool, progress: bool,
    overwrite: bool, prepare: Callable[[duckdb.DuckDBPyConnection], object] | None,
    options: Mapping[str, Any], ledger_to: Any = None,
) -> FilesRelease:
    """Releases files into a folder of files; see ``kanon_sql.anonymize_files``."""
    refuse_forked()
    started = perf_counter()
    target = target_of(to, overwrite)
    if prepare is not None and not callable(prepare):
        raise OptionError(PREPARE.format(a_type(prepare)))
    many = _threads(threads)
    with Session(None) as session:
        if prepare is not None:
            prepare(session.con)
        with _said(target), locked(target) as work:
            take_back(work)
            if not resume:
                emptied(work)
            with _refused(work, target, begun=(work / NAME).exists()), _said(target):
                _set_up(session.con, work, many, memory)
                request = read_request(session, _paths(source), options)
                names = names_of(request.source)
                paths = files_of(session, names)
                reads_of(session, request.source, options).refuse_folder(
                    target, [folder / PART.format(0) for folder in (target, work, work / OUT)]
                )
                refuse_other_things(target)
                seen = input_digest(session.con, paths)
                entering = read_entering(session, request, ledger_to, target)
            asked = {"the input": seen, "the options": digest(_told(request))}
            if entering is not None:
                asked["the ledger"] = digest(entering.mark)
            state = State(work, asked)
            if not state.begun:
                emptied(work)
            with _refused(work, target), _said(target):
                engine = FileEngine(session, request, state, work, many, Passes(progress))
                released = _unmoved(
                    lambda: (
                        release_in_blocks(engine) if entering is None
                        else release_beside_ledger(engine, lambda learned: past(engine, learned))
                    ),
                    lambda: input_digest(session.con, files_of(session, names)) == seen,
                    entering,
                )
                metrics = {**released, "files": engine.files, "seconds": perf_counter() - started}
                with nullcontext() if entering is None else entering.entered(work, state):
                    named(work, target, metrics)
    return FilesRelease(
        str(target), metrics["files"], metrics["rows_released"], metrics,
        None if entering is None else str(entering.path),
    )


def _threads(threads: int | None) -> int:
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise OptionError(f"threads is {threads!r}. Give a whole number of 1 or more.")
    return min(threads or cores(), cores())


def _paths(source: Any) -> Any:
    if isinstance(source, PathLike):
        return str(fspath(source))
    if isinstance(source, (list, tuple)):
        return [str(fspath(path)) for path in source]
    if not isinstance(source, str):
        raise OptionError(
            f"source is {a_type(source)}. Name a file, a pattern, or a list of files."
        )
    return source


def _set_up(con: duckdb.DuckDBPyConnection, work: Path, many: int, memory: str) -> None:
    """Settings of our own connection."""
    try:
        con.execute(f"SET memory_limit = {literal(str(memory))}")
    except duckdb.Error:
        raise OptionError(f"memory is {memory!r}. Give it as '4GB'.") from None
    con.execute(f"SET threads = {many}")
    con.execute(f"SET temp_directory = {literal(str(work / 'temp'))}")


def _told(request: Request) -> dict[str, Any]:
    """What of the options decides the release."""
    return {"used": request.call.used, "columns": dict(request.types), "passing": request.passing}


def _unmoved(
    run: Callable[[], dict[str, Any]], same: Callable[[], bool], entering: Entering | None
) -> dict[str, Any]:
    """What a run gives whose input is the ``same`` when it ends. If it is not, or a run failed
    whose ledger isn't what it was, that is what is said, whatever came of it."""
    try:
        metrics = run()
    except (KanonError, duckdb.Error):
        if not same():
            raise DataError(MOVED) from None
        if entering is not None:
            entering.refuse_moved()
        raise
    if not same():
        raise DataError(MOVED)
    return metrics


@contextmanager
def _said(target: Path) -> Iterator[None]:
    """One sentence for what the disk, the memory or DuckDB refuses; its own text may hold a
    value."""
    # all that a run writes lies beside its output, and a run may go on with what is done
    own = {SPILLED: FULL.format(str(target)), LITTLE: LITTLE_FOR_BLOCKS}
    try:
        yield
    except duckdb.InterruptException:
        raise
    except DataError as refusal:
        said = str(refusal)
        raise DataError(own.get(said, said)) from None
    except (OSError, duckdb.Error, MemoryError, RuntimeError) as error:
        if not isinstance(error, (OSError, duckdb.Error)):
            if not lacks_memory(error):
                raise
            raise DataError(LITTLE_FOR_BLOCKS) from None  # it was Python that found none
        if was_pressed(error):
            raise KeyboardInterrupt from None
        fault = write_fault(error, target)
        if fault is None and isinstance(error, duckdb.Error):
            fault = read_fault(error)
        said = UNREAD.format(type(error).__name__) if fault is None else str(fault)
        raise DataError(own.get(said, said)) from None


@contextmanager
def _refused(work: Path, target: Path, begun: bool = False) -> Iterator[None]:
    """No draft of what is refused, and would be again: rows of the source are in it. One that was
    ``begun`` before stays."""
    try:
        yield
    except KanonError as refusal:
        if not begun and AGAIN not in str(refusal):
            removed(work, target)
        raise
