"""The passes of a release in files, over the steps that are done already."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.blocks.group import OF_BLOCK, Block, BlockFacts, Leaf, blocks_of, join_refused
from kanon_sql.blocks.learn import Common, Learned, learn, survey
from kanon_sql.blocks.metrics import Output, release_metrics
from kanon_sql.blocks.request import Request
from kanon_sql.duckdb.register import register
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import LITTLE, DataError
from kanon_sql.files.draft import (
    OUT,
)
from kanon_sql.files.finish import Files
from kanon_sql.files.parts import Divided, Folder, divide
from kanon_sql.files.piece import release_block
from kanon_sql.files.progress import Passes
from kanon_sql.files.source import FileRows
from kanon_sql.files.spool import read_of, spool
from kanon_sql.files.state import State, digest
from kanon_sql.output.faults import SPILLED

PART = "part-{:05}.parquet"

FILE_ROWS = 2_500_000
"""Rows of an output file, about."""

LEVELS = "the hierarchies"
"""A step of the state that holds a digest of them."""


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
class Run:
    """A run, pass by pass; what is done already is not done again.

    Attributes:
        session: over a connection of our own.
        request: what is asked.
        state: what is done.
        work: the draft of the output.
        many: how many blocks are worked on at a time.
        passes: show how far it is.
        levels: a digest of the hierarchies, once they are known.
    """

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
