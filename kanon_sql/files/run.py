"""``anonymize_files``: files in, files out, whatever their size."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation, is_url
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.files.asked import Asked, read_asked
from kanon_sql.files.block import Block, blocks_of, release_block
from kanon_sql.files.finish import Written, write_file
from kanon_sql.files.learn import Learned, learn
from kanon_sql.files.progress import Passes
from kanon_sql.files.released import ReleasedFiles
from kanon_sql.files.spool import Leaf, spool
from kanon_sql.files.state import State, digest, input_digest
from kanon_sql.interfaces.duckdb import register
from kanon_sql.interfaces.release import reader
from kanon_sql.interfaces.session import Session, refusals
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.kernel.parallel import cores

FILE_ROWS = 2_500_000
"""Rows of an output file, about."""

DRAFT = ".kanon-draft"
"""What the name of the folder ends with in which a run works, beside its output."""

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
FULL = "The disk of {!r} is full. Nothing was written there; make room, and run the same again."


def release_files(
    source: Any, to: Any, threads: int | None, memory: str, resume: bool, progress: bool,
    overwrite: bool, prepare: Callable[[duckdb.DuckDBPyConnection], object] | None,
    options: Mapping[str, Any],
) -> ReleasedFiles:
    """Releases files into a folder of files; see ``kanon_sql.anonymize_files``."""
    refuse_forked()
    started = perf_counter()
    target = _target(to, overwrite)
    work = target.with_name(f"{target.name}{DRAFT}")
    if prepare is not None and not callable(prepare):
        raise OptionError(PREPARE.format(type(prepare).__name__))
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    many = _threads(threads)
    with reader() as session, _disk(target):
        if prepare is not None:
            prepare(session.con)
        _set_up(session.con, work, many, memory)
        asked = read_asked(session, _paths(source), options)
        paths = _files(session, asked.source)
        seen = input_digest(session.con, paths)
        state = State(work, {"the input": seen, "the options": digest(_told(asked))})
        passes = Passes(progress)
        with _refused(work):
            released = _Run(session, asked, state, work, many, passes).run()
        if input_digest(session.con, paths) != seen:
            shutil.rmtree(work, ignore_errors=True)
            raise DataError(MOVED)
        metrics = {**released, "seconds": perf_counter() - started}
        _finish(work / "out", target, metrics)
    shutil.rmtree(work, ignore_errors=True)
    return ReleasedFiles(str(target), metrics["files"], metrics["rows_released"], metrics)


def _target(to: Any, overwrite: bool) -> Path:
    if not isinstance(to, (str, PathLike)) or not str(fspath(to)):
        raise OptionError("to is not given. Name the folder to write, for example to='out/'.")
    if is_url(str(to)):
        raise OptionError(
            f"to names {str(to)!r}, which is no folder of this machine, and only such a one is "
            "there whole or not at all. Write one here, and copy it."
        )
    target = Path(to).resolve()
    if target.is_file():
        raise OptionError(f"to names the file {str(to)!r}. Name a folder.")
    if target.exists() and any(target.iterdir()) and not overwrite:
        raise OptionError(
            f"The folder {str(to)!r} is not empty. Name another, or say overwrite=True."
        )
    if not target.parent.is_dir():
        raise OptionError(f"There is no folder for {str(to)!r}. Make it first.")
    return target


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
        con.execute(f"SET memory_limit = '{memory}'")
    except duckdb.Error:
        raise OptionError(f"memory is {memory!r}. Give it as '4GB'.") from None
    con.execute(f"SET threads = {many}")
    escaped = str(work / "temp").replace("'", "''")
    con.execute(f"SET temp_directory = '{escaped}'")


def _files(session: Session, source: Relation) -> list[str]:
    """The files of the input."""
    # a list of files stands in FROM as read_parquet(['a', 'b'])
    listed = source.sql.startswith("read_")
    names = source.sql.split("'")[1::2] if listed else [source.parts[0]]
    return [
        file for name in names
        for (file,) in session.con.execute(
            "SELECT file FROM glob(?) ORDER BY file", [name]
        ).fetchall()
    ]


def _told(asked: Asked) -> dict[str, Any]:
    """What of the options decides the release."""
    return {"used": asked.call.used, "columns": dict(asked.types), "passing": asked.passing}


@contextmanager
def _disk(target: Path) -> Iterator[None]:
    """One sentence for a disk that is full."""
    try:
        yield
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException, OptionError) as error:
        if "No space left" in str(error) or getattr(error, "errno", None) == 28:
            raise DataError(FULL.format(str(target))) from None
        raise


@contextmanager
def _refused(work: Path) -> Iterator[None]:
    """No draft of what is refused, and would be again: rows of the source are in it."""
    try:
        yield
    except KanonError as refusal:
        if "No space left" not in str(refusal):
            shutil.rmtree(work, ignore_errors=True)
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

    def run(self) -> dict[str, Any]:
        """All passes; the metrics of the release."""
        learned, call = self._learned()
        leaves = self._spooled(learned)
        task = self.asked.call.task
        blocks = blocks_of(leaves, max(task.block_size() // 4, 2 * task.least_size))
        sums = self._blocks(call, learned, blocks)
        released = int(sum(block["rows_released"] for block in sums))
        files = max(1, -(-released // FILE_ROWS))
        written = self._written(blocks, files)
        return self._metrics(learned, blocks, sums, written)

    def _learned(self) -> tuple[Learned, GroupingCall]:
        with self.passes.of("learning scales", 1):
            return learn(self.session, self.asked, self.work)

    def _spooled(self, learned: Learned) -> list[Leaf]:
        found = self.state.found("spool")
        if found is None:
            size = self.asked.call.task.block_size()
            # a spool has no order, and to keep one would take memory
            self.session.con.execute("SET preserve_insertion_order = false")
            with self.passes.of("cutting into blocks", 1):
                leaves = spool(self.session, self.asked, learned, size, self.work / "spool")
            self.session.con.execute("SET preserve_insertion_order = true")
            found = self.state.done("spool", [[leaf.folder, leaf.rows] for leaf in leaves])
        return [Leaf(folder, rows) for folder, rows in found]

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
                with refusals(self.session, ()):
                    found = release_block(con, own, self.asked, learned.scales, block, target)
                self.state.done(step, found)
                for gone in block.folders:
                    shutil.rmtree(gone, ignore_errors=True)
            return found

        return self._at_once("grouping", one, blocks, lambda block: block.rows)

    def _written(self, blocks: Sequence[Block], files: int) -> list[Written]:
        folder = self.work / "out"
        folder.mkdir(exist_ok=True)
        pieces = [self.work / "pieces" / f"{block.number:06}.parquet" for block in blocks]

        def one(con: duckdb.DuckDBPyConnection, number: int) -> Written:
            step = f"file {number}"
            found = self.state.found(step)
            if found is None:
                target = folder / f"part-{number:05}.parquet"
                with refusals(self.session, ()):
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


def _finish(made: Path, target: Path, metrics: Mapping[str, Any]) -> None:
    """Gives the folder its name; one that is there is gone only then."""
    (made / "_metrics.json").write_text(json.dumps(metrics, indent=1), encoding="utf-8")
    old = target.with_name(f"{target.name}.old")
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
    made.rename(target)
    shutil.rmtree(old, ignore_errors=True)
