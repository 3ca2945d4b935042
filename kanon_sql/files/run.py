"""``anonymize_files``: files in, files out, whatever their size."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.call.call import GroupingCall
from kanon_sql.duckdb.register import register
from kanon_sql.duckdb.session import Session, reads_of
from kanon_sql.errors import LITTLE, DataError, KanonError, OptionError, ReleaseError
from kanon_sql.files.asked import Asked, read_asked
from kanon_sql.files.block import OF_BLOCK, Block, blocks_of, release_block
from kanon_sql.files.draft import (
    OUT,
    emptied,
    files_of,
    locked,
    named,
    names_of,
    removed,
    target_of,
)
from kanon_sql.files.finish import Written, write_file
from kanon_sql.files.learn import Learned, learn
from kanon_sql.files.progress import Passes
from kanon_sql.files.released import ReleasedFiles
from kanon_sql.files.spool import Leaf, spool
from kanon_sql.files.state import NAME, State, digest, input_digest
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.kernel.parallel import cores
from kanon_sql.names import literal
from kanon_sql.output.faults import AGAIN, FULL, SPILLED, read_fault, write_fault

PART = "part-{:05}.parquet"

FILE_ROWS = 2_500_000
"""Rows of an output file, about."""

SMALL = (
    "The release was stopped: a combination of released values has {} rows, fewer than k = {}. "
    "Nothing was written; please report this as a bug of the method {}."
)
LOST = (
    "The release was stopped: {} rows take part, {} were left out, and the files hold {}. Nothing "
    "was written; please report this as a bug."
)
MOVED = (
    "The files of the input changed while they were read. Nothing was written; run it again when "
    "nobody writes them."
)
PREPARE = (
    "prepare is a {}, no function. Give one that takes a connection, such as "
    "lambda con: con.execute('CREATE SECRET ...')."
)
LEVELS = "the hierarchies"
"""A step of the state that holds a digest of them."""

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
    options: Mapping[str, Any],
) -> ReleasedFiles:
    """Releases files into a folder of files; see ``kanon_sql.anonymize_files``."""
    refuse_forked()
    started = perf_counter()
    target = target_of(to, overwrite)
    if prepare is not None and not callable(prepare):
        raise OptionError(PREPARE.format(type(prepare).__name__))
    many = _threads(threads)
    with Session(None) as session:
        if prepare is not None:
            prepare(session.con)
        with _said(target), locked(target) as work:
            if not resume:
                emptied(work)
            with _refused(work, begun=(work / NAME).exists()):
                _set_up(session.con, work, many, memory)
                asked = read_asked(session, _paths(source), options)
                names = names_of(asked.source)
                paths = files_of(session, names)
                reads_of(session, asked.source, options).refuse_folder(
                    target, [folder / PART.format(0) for folder in (target, work, work / OUT)]
                )
                seen = input_digest(session.con, paths)
            state = State(work, {"the input": seen, "the options": digest(_told(asked))})
            if not state.begun:
                emptied(work)
            with _refused(work), _said(target):
                released = _unmoved(
                    _Run(session, asked, state, work, many, Passes(progress)).run,
                    lambda: input_digest(session.con, files_of(session, names)) == seen,
                )
            metrics = {**released, "seconds": perf_counter() - started}
            named(work, target, metrics)
    return ReleasedFiles(str(target), metrics["files"], metrics["rows_released"], metrics)


def _threads(threads: int | None) -> int:
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise OptionError(f"threads is {threads!r}. Give a whole number from 1 on.")
    return min(threads or cores(), cores())


def _paths(source: Any) -> Any:
    if isinstance(source, PathLike):
        return str(fspath(source))
    if isinstance(source, (list, tuple)):
        return [str(fspath(path)) for path in source]
    if not isinstance(source, str):
        raise OptionError(
            f"source is a {type(source).__name__}. Name a file, a pattern, or a list of files."
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


def _told(asked: Asked) -> dict[str, Any]:
    """What of the options decides the release."""
    return {"used": asked.call.used, "columns": dict(asked.types), "passing": asked.passing}


@contextmanager
def _of_block(blocks: int) -> Iterator[None]:
    """What a block can't keep is said of the block, since all rows may keep it."""
    try:
        yield
    except DataError as refusal:
        if blocks > 1 and str(refusal) not in (LITTLE, SPILLED):
            raise DataError(OF_BLOCK.format(refusal, blocks)) from None
        raise


def _unmoved(run: Callable[[], dict[str, Any]], same: Callable[[], bool]) -> dict[str, Any]:
    """What a run gives whose input is the ``same`` when it ends. If it is not, that is what is
    said, whatever came of it."""
    try:
        found = run()
    except (KanonError, duckdb.Error):
        if not same():
            raise DataError(MOVED) from None
        raise
    if not same():
        raise DataError(MOVED)
    return found


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
    except (OSError, duckdb.Error) as error:
        told = write_fault(error, target)
        if told is None and isinstance(error, duckdb.Error):
            told = read_fault(error)
        said = UNREAD.format(type(error).__name__) if told is None else str(told)
        raise DataError(own.get(said, said)) from None


@contextmanager
def _refused(work: Path, begun: bool = False) -> Iterator[None]:
    """No draft of what is refused, and would be again: rows of the source are in it. One that was
    ``begun`` before stays."""
    try:
        yield
    except KanonError as refusal:
        if not begun and AGAIN not in str(refusal):
            removed(work)
        raise


@dataclass
class _Run:
    """A run, pass by pass; what is done already is not done again."""

    session: Session
    asked: Asked
    state: State
    work: Path
    many: int
    passes: Passes
    levels: str = ""

    def run(self) -> dict[str, Any]:
        """All passes; the metrics of the release."""
        learned, call = self._learned()
        leaves = self._spooled(learned)
        blocks = blocks_of(leaves, self.asked.call.task)
        sums = self._blocks(call, learned, blocks)
        released = int(sum(block["rows_released"] for block in sums))
        files = max(1, -(-released // FILE_ROWS))
        written = self._written(blocks, files)
        return self._metrics(learned, blocks, sums, written)

    def _learned(self) -> tuple[Learned, GroupingCall]:
        with self.passes.of("learning scales", 1):
            learned, call = learn(self.session, self.asked, self.work)
        # they are read anew, and what is done rests on those that were there
        levels = [path.read_bytes() for path in sorted(self.work.glob("levels_*.parquet"))]
        self.levels = digest([sha256(each).hexdigest() for each in levels])
        self.state.refuse_other(LEVELS, self.levels)
        return learned, call

    def _spooled(self, learned: Learned) -> list[Leaf]:
        found = self.state.found("spool")
        if found is None:
            size = self.asked.call.task.block_size()
            # a spool has no order, and to keep one would take memory
            self.session.con.execute("SET preserve_insertion_order = false")
            with self.passes.of("cutting into blocks", 1):
                leaves = spool(self.session, self.asked, learned, size, self.work / "spool")
            self.session.con.execute("SET preserve_insertion_order = true")
            self.state.done(LEVELS, self.levels)
            found = self.state.done("spool", [astuple(leaf) for leaf in leaves])
        return [Leaf(*leaf) for leaf in found]

    def _blocks(
        self, call: GroupingCall, learned: Learned, blocks: Sequence[Block]
    ) -> list[dict[str, float]]:
        folder = self.work / "pieces"
        folder.mkdir(exist_ok=True)
        # the threads are taken by blocks; one of a single block takes them all
        own = replace(call, threads=max(1, self.many // max(1, min(self.many, len(blocks)))))

        def one(con: duckdb.DuckDBPyConnection, block: Block) -> dict[str, float]:
            step = f"block {block.number}"
            found: dict[str, float] | None = self.state.found(step)
            if found is None:
                target = folder / f"{block.number:06}.parquet"
                with _of_block(len(blocks)), self.session.refusals():
                    found = release_block(con, own, self.asked, learned.scales, block, target)
                self.state.done(step, found)
                for gone in block.folders:
                    shutil.rmtree(gone, ignore_errors=True)
            return found

        return self._at_once("grouping", one, blocks, lambda block: block.rows)

    def _written(self, blocks: Sequence[Block], files: int) -> list[Written]:
        folder = self.work / OUT
        folder.mkdir(exist_ok=True)
        pieces = [self.work / "pieces" / f"{block.number:06}.parquet" for block in blocks]

        def one(con: duckdb.DuckDBPyConnection, number: int) -> Written:
            step = f"file {number}"
            found, target = self.state.found(step), folder / PART.format(number)
            # one is gone where the output had its name already and the draft was being taken away
            if found is None or not target.exists():
                with self.session.refusals():
                    found = write_file(con, self.asked, pieces, number, files, target)
                self.state.done(step, list(found))
            return Written(*found)

        return self._at_once("writing", one, range(files), lambda _: 1)

    def _at_once(
        self, told: str, work: Callable[[duckdb.DuckDBPyConnection, Any], Any],
        parts: Sequence[Any], size: Callable[[Any], int],
    ) -> list[Any]:
        """The results of work on all parts, in their order, on all threads. The first error stops
        what has not begun."""
        open_now: set[duckdb.DuckDBPyConnection] = set()
        with self.passes.of(told, sum(map(size, parts))) as seen, ThreadPoolExecutor(
            self.many, thread_name_prefix="kanon"
        ) as pool:
            def one(part: Any) -> Any:
                with self.session.con.cursor() as con:
                    open_now.add(con)
                    try:
                        found = work(register(con), part)
                    finally:
                        open_now.discard(con)
                seen.add(size(part))
                return found

            waiting: list[Future[Any]] = [pool.submit(one, part) for part in parts]
            try:
                return [each.result() for each in waiting]
            except BaseException:
                for each in waiting:
                    each.cancel()
                for con in list(open_now):
                    con.interrupt()
                raise

    def _metrics(
        self, learned: Learned, blocks: Sequence[Block], sums: Sequence[Mapping[str, float]],
        written: Sequence[Written],
    ) -> dict[str, Any]:
        """What was asked and reached; refuses what isn't what it should be."""
        task = self.asked.call.task
        held = sum(file.rows for file in written)
        released = int(sum(block["rows_released"] for block in sums))
        if held != released or sum(block["rows"] for block in sums) != learned.rows:
            raise ReleaseError(LOST.format(learned.rows, learned.rows - released, held))
        least = min((file.least for file in written if file.least is not None), default=None)
        if least is not None and least < task.k:
            raise ReleaseError(SMALL.format(least, task.k, task.method.name))
        found: dict[str, Any] = {
            "k_requested": task.k, "k_reached": least, "method": task.method.name,
            "rows": learned.rows + learned.suppressed, "rows_released": released,
            "rows_suppressed": learned.rows + learned.suppressed - released,
            "classes": sum(file.classes for file in written), "files": len(written),
            "blocks": len(blocks), "block_rows_min": min(block.rows for block in blocks),
            "block_rows_max": max(block.rows for block in blocks),
        }
        for loss in ("sse", "total_il"):
            if all(loss in block for block in sums):
                found[loss] = float(sum(block[loss] for block in sums))
        if self.asked.entity is not None:
            found["persons"] = int(sum(block["records"] for block in sums))
        elif "sse" in found and released == learned.rows:
            total = released * sum(a.weight for a in learned.attributes if _varies(a))
            found["information_loss"] = 100.0 * found["sse"] / total if total else 0.0
        return found


def _varies(attribute: Any) -> bool:
    """Whether a column has a part in the squared errors."""
    if hasattr(attribute, "factor"):
        return bool(attribute.factor > 0.0 or attribute.indicator > 0.0)
    return bool(attribute.squared.any())
