"""``anonymize_files``: files in, files out, whatever their size."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb

from kanon_sql.blocks.group import OF_BLOCK, Block, BlockFacts, Leaf, blocks_of, join_refused
from kanon_sql.blocks.learn import Common, Learned, learn, survey
from kanon_sql.blocks.metrics import Output, release_metrics
from kanon_sql.blocks.request import Request, read_request
from kanon_sql.duckdb.register import register
from kanon_sql.duckdb.session import Session, bound, reads_of
from kanon_sql.errors import LITTLE, DataError, KanonError, OptionError
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
from kanon_sql.files.finish import Files
from kanon_sql.files.parts import Divided, Folder, divide
from kanon_sql.files.piece import release_block
from kanon_sql.files.progress import Passes
from kanon_sql.files.released import ReleasedFiles
from kanon_sql.files.source import FileRows
from kanon_sql.files.spool import read_of, spool
from kanon_sql.files.state import NAME, State, digest, input_digest
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.kernel.parallel import cores
from kanon_sql.names import literal
from kanon_sql.output.faults import AGAIN, FULL, SPILLED, read_fault, write_fault

PART = "part-{:05}.parquet"

FILE_ROWS = 2_500_000
"""Rows of an output file, about."""

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
                request = read_request(session, _paths(source), options)
                names = names_of(request.source)
                paths = files_of(session, names)
                reads_of(session, request.source, options).refuse_folder(
                    target, [folder / PART.format(0) for folder in (target, work, work / OUT)]
                )
                seen = input_digest(session.con, paths)
            state = State(work, {"the input": seen, "the options": digest(_told(request))})
            if not state.begun:
                emptied(work)
            with _refused(work), _said(target):
                released = _unmoved(
                    _Run(session, request, state, work, many, Passes(progress)).run,
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


def _told(request: Request) -> dict[str, Any]:
    """What of the options decides the release."""
    return {"used": request.call.used, "columns": dict(request.types), "passing": request.passing}


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


@dataclass(frozen=True)
class _Part:
    """Rows that are cut into blocks by themselves: all rows, one large part, or several small ones.

    Attributes:
        request: what is asked of them.
        learned: what was learned of them.
        blocks: in which they lie.
    """

    request: Request
    learned: Learned
    blocks: Sequence[Block]


@dataclass
class _Run:
    """A run, pass by pass; what is done already is not done again."""

    session: Session
    request: Request
    state: State
    work: Path
    many: int
    passes: Passes
    levels: str = ""

    def run(self) -> dict[str, Any]:
        """All passes; the metrics of the release."""
        common = self._surveyed()
        parts, more = self._parts(common)
        parts, facts = self._grouped(parts)
        blocks = [(part, block) for part in parts for block in part.blocks]
        released = sum(block.rows_released for block in facts)
        files = Files(
            self.request, [self._piece(block) for _, block in blocks],
            max(1, -(-released // FILE_ROWS)), common.rows_in,
        )
        output = self._written(files)
        metrics = release_metrics(
            self.request, common, [part.learned for part in parts],
            [block.rows for _, block in blocks], facts, output,
        )
        return {**metrics, **more, "files": files.many}

    def _rows(self, request: Request) -> FileRows:
        return FileRows(self.session, request, self.work)

    def _surveyed(self) -> Common:
        with self.passes.of("learning scales", 1):
            common = survey(self._rows(self.request))
        # they are read anew, and what is done rests on those that were there
        levels = [path.read_bytes() for path in sorted(self.work.glob("levels_*.parquet"))]
        self.levels = digest([sha256(each).hexdigest() for each in levels])
        self.state.refuse_other(LEVELS, self.levels)
        return common

    def _parts(self, common: Common) -> tuple[list[_Part], dict[str, Any]]:
        """What is cut by itself, and the metrics of parts; one of all rows without any."""
        if not self.request.within:
            return [self._cut(self.request, common, 0)], {}
        divided = self._divided()
        found = []
        for number, folder in enumerate(divided.folders):
            rows = read_of([folder.path])
            if folder.large:
                kinds = bound(self.session.con, f"FROM {rows.sql}")
                types = dict(zip(kinds.columns, map(str, kinds.types), strict=True))
                found.append(self._cut(self.request.of_part(rows, types), common, number))
            else:
                learned = Learned(folder.rows, common.call)
                block = Block(number, 0, 0, (folder.path,), folder.rows)
                found.append(_Part(self.request, learned, [block]))
        return found, {
            "parts": divided.parts, "parts_joined": divided.joined,
            "parts_suppressed": divided.suppressed, "part_rows_min": divided.least,
        }

    def _divided(self) -> Divided:
        found = self.state.found("parts")
        if found is None:
            size = self.request.call.task.block_size()
            with self._without_order(), self.passes.of("cutting into parts", 1):
                made = divide(self.session, self.request, size, self.work / "parts")
            self.state.done(LEVELS, self.levels)
            found = self.state.done("parts", list(made))
        folders, *rest = found
        return Divided(tuple(Folder(*folder) for folder in folders), *rest)

    def _cut(self, request: Request, common: Common, number: int) -> _Part:
        """Rows in blocks, by what they have in common."""
        learned = learn(self._rows(request), common, number)
        task, step = learned.call.task, f"spool {number}"
        found = self.state.found(step)
        if found is None:
            with self._without_order(), self.passes.of("cutting into blocks", 1):
                leaves = spool(
                    self.session, request, learned, task.block_size(),
                    self.work / "spool" / str(number),
                )
            self.state.done(LEVELS, self.levels)
            found = self.state.done(step, [astuple(leaf) for leaf in leaves])
        return _Part(request, learned, blocks_of([Leaf(*leaf) for leaf in found], task, number))

    @contextmanager
    def _without_order(self) -> Iterator[None]:
        """A spool has no order, and to keep one would take memory; unless rows are told apart by
        their places."""
        self.session.con.execute(f"SET preserve_insertion_order = {self.request.place is not None}")
        yield
        self.session.con.execute("SET preserve_insertion_order = true")

    def _piece(self, block: Block) -> Path:
        return self.work / "pieces" / f"{block.name}.parquet"

    def _grouped(self, parts: Sequence[_Part]) -> tuple[list[_Part], list[BlockFacts]]:
        """Groups all blocks; those that can't keep a model join a neighbour, which is grouped anew.
        The parts with the blocks that came of it, and the facts of these."""
        (self.work / "pieces").mkdir(exist_ok=True)
        while True:
            blocks = [(part, block) for part in parts for block in part.blocks]
            done = self._at_once(
                "grouping", self._on_threads(len(blocks)), blocks, lambda given: given[1].rows
            )
            refused = {
                block: each for (_, block), each in zip(blocks, done, strict=True)
                if isinstance(each, DataError)
            }
            if not refused:
                return list(parts), done
            parts = [self._joined(part, refused) for part in parts]
            if [block for part in parts for block in part.blocks] == [b for _, b in blocks]:
                raise DataError(OF_BLOCK.format(next(iter(refused.values())), len(blocks)))

    def _joined(self, part: _Part, refused: Collection[Block]) -> _Part:
        size = part.learned.call.task.block_size()
        return replace(part, blocks=join_refused(part.blocks, refused, size))

    def _on_threads(
        self, blocks: int
    ) -> Callable[[duckdb.DuckDBPyConnection, tuple[_Part, Block]], BlockFacts | DataError]:
        """What groups a block: its facts, or why it can't keep a model by itself."""
        # the threads are taken by blocks; one of a single block takes them all
        threads = max(1, self.many // max(1, min(self.many, blocks)))

        def one(
            con: duckdb.DuckDBPyConnection, given: tuple[_Part, Block]
        ) -> BlockFacts | DataError:
            part, block = given
            step = f"block {block.name}"
            found = self.state.found(step)
            if found is not None:
                return BlockFacts(**found)
            call = replace(part.learned.call, threads=threads)
            try:
                with self.session.refusals():
                    facts = release_block(
                        con, part.request, call, part.learned, block, self._piece(block)
                    )
            except DataError as refusal:
                if str(refusal) in (LITTLE, SPILLED) or blocks < 2:
                    raise
                if not call.task.beside_k:
                    raise DataError(OF_BLOCK.format(refusal, blocks)) from None
                return refusal
            self.state.done(step, asdict(facts))
            if not call.task.beside_k:  # else a neighbour may need the rows yet
                for gone in block.leaves:
                    shutil.rmtree(gone, ignore_errors=True)
            return facts

        return one

    def _written(self, files: Files) -> Output:
        """Writes all files; what they hold together."""
        folder = self.work / OUT
        folder.mkdir(exist_ok=True)
        before = [0] * files.many
        if self.request.call.release.class_id:
            classes = self._at_once("numbering", files.classes, range(files.many), lambda _: 1)
            before = [sum(classes[:number]) for number in range(files.many)]

        def one(con: duckdb.DuckDBPyConnection, number: int) -> Output:
            step = f"file {number}"
            found, target = self.state.found(step), folder / PART.format(number)
            # one is gone where the output had its name already and the draft was being taken away
            if found is None or not target.exists():
                with self.session.refusals():
                    found = files.write(con, number, before[number], target)
                self.state.done(step, list(found))
            return Output(*found)

        written = self._at_once("writing", one, range(files.many), lambda _: 1)
        if self.request.place and files.many > 1:  # a combination may be in several
            return files.held(
                self.session.con, [folder / PART.format(number) for number in range(files.many)]
            )
        least = [file.least for file in written if file.least is not None]
        return Output(
            sum(file.rows for file in written), sum(file.classes for file in written),
            min(least, default=None),
        )

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
