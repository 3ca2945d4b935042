"""What an engine can do with rows that no query holds at once. All else is the same for each: see
kanon_sql.blocks.driver."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from kanon_sql.blocks.group import Block, BlockFacts, Leaf, call_over, join_refused
from kanon_sql.blocks.learn import Common, Learned
from kanon_sql.blocks.metrics import Output
from kanon_sql.blocks.parts import Divided, Pack
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import BlockSource
from kanon_sql.call.call import GroupingCall
from kanon_sql.errors import DataError


@dataclass(frozen=True)
class Part:
    """Rows that are cut into blocks by themselves: all rows, one large part, or several small ones.

    Attributes:
        number: of the pack of parts; 0 for all rows.
        request: what is asked of them.
        learned: what was learned of them.
        blocks: in which they lie.
        small: whether they are several small parts, which their one block tells apart.
    """

    number: int
    request: Request
    learned: Learned
    blocks: Sequence[Block]
    small: bool = False

    def call_over(self, block: Block) -> GroupingCall:
        """The call over one of the blocks."""
        return call_over(self.learned.call, block.before)

    def joined(self, refused: Collection[Block]) -> Part:
        """The part in which each block that was refused has joined its neighbour."""
        size = self.learned.call.task.block_size()
        return replace(self, blocks=join_refused(self.blocks, refused, size))


Grouped = Mapping[Block, BlockFacts | DataError]
"""The facts of blocks, or why one can't keep a privacy model by itself."""


S = TypeVar("S", bound=BlockSource)


class Engine(Protocol[S]):
    """Places rows into blocks, groups these, and keeps what is released of them."""

    @property
    def request(self) -> Request:
        """What is asked of all rows."""

    def source(self) -> S:
        """All rows that take part."""

    def survey(self) -> Common:
        """What all rows have in common; see kanon_sql.blocks.learn."""

    def divided(self) -> Divided:
        """Divides the rows into parts, as the option ``within`` asks."""

    def source_of(self, number: int) -> S:
        """The rows of a pack that is one large part."""

    def leaf_of(self, number: int, pack: Pack) -> Leaf:
        """All rows of a pack as a leaf."""

    def cut(self, source: S, learned: Learned, number: int) -> Sequence[Leaf]:
        """Cuts rows into leaves of about a block each, in the order of the cuts, so that neighbours
        stand side by side; ``number``: of the pack that they are."""

    def grouped(
        self, blocks: Sequence[tuple[Part, Block]], many: int, may_join: bool
    ) -> Grouped:
        """Groups blocks, and keeps what is released of them.

        Args:
            blocks: those that are not grouped yet.
            many: how many blocks there are in all.
            may_join: whether a block that can't keep a privacy model may join its neighbour; where
                not, its refusal is raised, so that no other block is waited for.

        Raises:
            StoppedError: what no larger block would make good.
            DataError: a block that was refused, where none may join.
        """

    def written(self, parts: Sequence[Part], facts: Sequence[BlockFacts], common: Common) -> Output:
        """Puts the released rows of all blocks together, in an order that tells of no block, and
        counts them where they lie; ``facts``: of the blocks of all parts, in their order."""


