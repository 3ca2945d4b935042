"""Files as an engine of blocks: DuckDB places the rows, and threads group the blocks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import Block, BlockError, BlockFacts, Leaf
from kanon_sql.blocks.learn import Common, Learned, survey
from kanon_sql.blocks.metrics import Output
from kanon_sql.blocks.parts import Divided, Pack
from kanon_sql.blocks.request import Request
from kanon_sql.call.call import GroupingCall
from kanon_sql.duckdb.register import register
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import LITTLE, DataError
from kanon_sql.files.draft import OUT
from kanon_sql.files.finish import Files
from kanon_sql.files.partition import read_of, spool
from kanon_sql.files.parts import divide, folder_of
from kanon_sql.files.piece import release_block
from kanon_sql.files.progress import Passes
from kanon_sql.files.source import FileRows
from kanon_sql.files.state import State, digest
from kanon_sql.output.faults import SPILLED

PART = "part-{:05}.parquet"

FILE_ROWS = 2_500_000
"""Rows of an output file, about."""

LEVELS = "the hierarchies"
"""A step of the state that holds a digest of them."""


@dataclass
class FileEngine:
    """Blocks in files of a draft, on threads; what is done already is not done again. See
    kanon_sql.blocks.engine.

    Attributes:
        session: over a connection of our own.
        request: what is asked.
        state: what is done.
        work: the draft of the output.
        threads: how many blocks are worked on at a time.
        passes: show how far it is.
        levels: a digest of the hierarchies, once they are known.
        files: how many are written, once that is known.
        beside: released rows that are of no block.
        narrowed: by the file of released rows, the one without those who are left out afterwards.
    """

    session: Session
    request: Request
    state: State
    work: Path
    threads: int
    passes: Passes
    levels: str = ""
    files: int = 0
    beside: list[Path] = field(default_factory=list)
    narrowed: dict[Path, Path] = field(default_factory=dict)

    def source(self) -> FileRows:
        """The files of the input."""
        return FileRows(self.session, self.request, self.work)

    def survey(self) -> Common:
        """Some scans; refused where the draft rests on other hierarchies."""
        with self.passes.of("learning scales", 1):
            common = survey(self.source())
        # they are read anew, and what is done rests on those that were there
        levels = [path.read_bytes() for path in sorted(self.work.glob("levels_*.parquet"))]
        self.levels = digest([sha256(each).hexdigest() for each in levels])
        self.state.refuse_other(LEVELS, self.levels)
        return common

    def divided(self) -> Divided:
        """One scan, which writes the rows of each pack into a folder."""
        saved = self.state.result("parts")
        if saved is None:
            size = self.request.call.task.block_size()
            with self.without_order(), self.passes.of("cutting into parts", 1):
                division = divide(self.session, self.request, size, self._folder_of_parts)
            self.state.done(LEVELS, self.levels)
            saved = self.state.done("parts", list(division), self._folder_of_parts)
        packs, *rest = saved
        return Divided(tuple(Pack(*pack) for pack in packs), *rest)

    @property
    def _folder_of_parts(self) -> Path:
        return self.work / "parts"

    def source_of(self, number: int) -> FileRows:
        """The folder of a pack."""
        rows = read_of([folder_of(self._folder_of_parts, number)])
        kinds = bound(self.session.con, f"FROM {rows.sql}")
        types = dict(zip(kinds.columns, map(str, kinds.types), strict=True))
        return FileRows(self.session, self.request.of_part(rows, types), self.work)

    def leaf_of(self, number: int, pack: Pack) -> Leaf:
        """The folder of a pack."""
        return Leaf(folder_of(self._folder_of_parts, number), pack.rows, pack.rows)

    def cut(self, source: FileRows, learned: Learned, number: int) -> list[Leaf]:
        """One scan, or more where a leaf came out too large."""
        step = f"spool {number}"
        saved = self.state.result(step)
        if saved is None:
            folder = self.work / "spool" / str(number)
            with self.without_order(), self.passes.of("cutting into blocks", 1):
                leaves = spool(
                    self.session, source.request, learned, learned.call.task.block_size(), folder
                )
            self.state.done(LEVELS, self.levels)
            saved = self.state.done(step, [astuple(leaf) for leaf in leaves], folder)
        return [Leaf(*leaf) for leaf in saved]

    @contextmanager
    def without_order(self) -> Iterator[None]:
        """A spool has no order, and to keep one would take memory; unless rows are told apart by
        their places."""
        self.session.con.execute(f"SET preserve_insertion_order = {self.request.place is not None}")
        yield
        self.session.con.execute("SET preserve_insertion_order = true")

    def piece(self, block: Block) -> Path:
        """The file of the released rows of a block."""
        return self.work / "pieces" / f"{block.name}.parquet"

    def grouped(
        self, blocks: Sequence[tuple[Part, Block]], many: int, may_join: bool
    ) -> dict[Block, BlockFacts | DataError]:
        """Each block into a file, on all threads."""
        (self.work / "pieces").mkdir(exist_ok=True)
        # the threads are taken by blocks; one of a single block takes them all
        threads = max(1, self.threads // max(1, min(self.threads, many)))

        def one(
            con: duckdb.DuckDBPyConnection, waiting: tuple[Part, Block]
        ) -> BlockFacts | DataError:
            part, block = waiting
            call = replace(part.call_over(block), threads=threads)
            try:
                facts = self._block(con, part, call, block)
            except DataError as refusal:
                if str(refusal) in (LITTLE, SPILLED):
                    raise BlockError(str(refusal)) from None
                if not may_join:
                    raise
                return refusal
            if not call.task.beside_k:  # else a neighbour may need the rows yet
                for gone in block.leaves:
                    shutil.rmtree(gone, ignore_errors=True)
            return facts

        results = self._at_once("grouping", one, blocks, lambda waiting: waiting[1].rows)
        return {block: each for (_, block), each in zip(blocks, results, strict=True)}

    def _block(
        self, con: duckdb.DuckDBPyConnection, part: Part, call: GroupingCall, block: Block
    ) -> BlockFacts:
        """The facts of a block, which is grouped unless that is done."""
        step = f"block {block.name}"
        saved = self.state.result(step)
        if saved is not None:
            return BlockFacts(**saved)
        with self.session.refusals():
            facts = release_block(con, part.request, call, part.learned, block, self.piece(block))
        self.state.done(step, asdict(facts), self.piece(block))
        return facts

    def pieces(self, parts: Sequence[Part]) -> list[Path]:
        """The files of all released rows, block by block."""
        pieces = [*(self.piece(block) for part in parts for block in part.blocks), *self.beside]
        return [self.narrowed.get(piece, piece) for piece in pieces]

    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [self.work / OUT / PART.format(number) for number in range(self.files)]

    def written(self, parts: Sequence[Part], facts: Sequence[BlockFacts], common: Common) -> Output:
        """Writes all files, each read again; what they hold together."""
        released = sum(block.rows_released for block in facts)
        self.files = max(1, -(-released // FILE_ROWS))
        files = Files(self.request, self.pieces(parts), self.files, common.rows_in)
        folder = self.work / OUT
        folder.mkdir(exist_ok=True)
        before = [0] * files.many
        if self.request.call.release.class_id:
            classes = self._at_once("numbering", files.classes, range(files.many), lambda _: 1)
            before = [sum(classes[:number]) for number in range(files.many)]

        def one(con: duckdb.DuckDBPyConnection, number: int) -> Output:
            step = f"file {number}"
            output, target = self.state.result(step), folder / PART.format(number)
            # one is gone where the output had its name already and the draft was being taken away
            if output is None or not target.exists():
                with self.session.refusals():
                    output = files.write(con, number, before[number], target)
                self.state.done(step, list(output), target)
            return Output(*output)

        written = self._at_once("writing", one, range(files.many), lambda _: 1)
        if self.request.place and files.many > 1:  # a combination may be in several
            return files.held(self.session.con, self.outputs())
        least = [file.least for file in written if file.least is not None]
        return Output(
            sum(file.rows for file in written), sum(file.classes for file in written),
            min(least, default=None),
        )

    def _at_once(
        self, name: str, work: Callable[[duckdb.DuckDBPyConnection, Any], Any],
        parts: Sequence[Any], size: Callable[[Any], int],
    ) -> list[Any]:
        """The results of work on all parts, in their order, on all threads. The first error stops
        what has not begun."""
        open_now: set[duckdb.DuckDBPyConnection] = set()
        with self.passes.of(name, sum(map(size, parts))) as seen, ThreadPoolExecutor(
            self.threads, thread_name_prefix="kanon"
        ) as pool:
            def one(part: Any) -> Any:
                with self.session.con.cursor() as con:
                    open_now.add(con)
                    try:
                        result = work(register(con), part)
                    finally:
                        open_now.discard(con)
                seen.add(size(part))
                return result

            waiting: list[Future[Any]] = []
            try:
                for part in parts:
                    waiting.append(pool.submit(one, part))
                return [each.result() for each in waiting]
            except BaseException:
                for each in waiting:
                    each.cancel()
                for con in list(open_now):
                    con.interrupt()
                raise
