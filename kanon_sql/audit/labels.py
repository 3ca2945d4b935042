"""What published texts say of a column with a hierarchy: labels, and how high they lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kanon_sql.audit.reading import Places
from kanon_sql.hierarchies.kinds import KEY_PATTERN
from kanon_sql.hierarchies.tree import Tree


class Item(NamedTuple):
    """A value or a label.

    Attributes:
        members: int64; the places of its values, as in Reading.
        level: its level in the tree, 0 for a value.
        leaf: a leaf at or below it; -1 where the tree lacks it.
        ambiguous: whether a node of another level has the same label and other values.
    """

    members: Places
    level: int = 0
    leaf: int = -1
    ambiguous: bool = False


class TreeLabels:
    """The labels of a hierarchy, and the values of a column below them."""

    def __init__(self, tree: Tree, texts: Sequence[str], null: Sequence[int] = ()) -> None:
        """``texts``: the values of the column; ``null``: the place of NULL, which lies below the
        root, where the column has any."""
        self._tree, self._texts = tree, texts
        self._null = np.array(null, np.int64)

    def leaf_of(self, value: str) -> int:
        """The leaf of a value, as it is or as the tree writes numbers; -1 where there is none."""
        return self._leaves.get(value, self._leaves.get(_key(value), -1))

    def find(self, text: str) -> Item | None:
        """A text as a label: of several levels the lowest at which it covers a value, and where it
        covers none anywhere the lowest of all."""
        items = self._named(text)
        covering = [item for item in items if len(item.members)]
        if not covering:
            return items[0] if items else None
        return covering[0]._replace(ambiguous=self.says_more(text, covering[0].members))

    def says_more(self, text: str, members: Places) -> bool:
        """Whether a text is a label of other values than these."""
        return any(
            len(item.members) and not np.array_equal(item.members, members)
            for item in self._named(text)
        )

    def _named(self, text: str) -> list[Item]:
        """The nodes of that label, lowest first."""
        items = []
        for level, nodes in enumerate(self._nodes):
            leaf = self.leaf_of(text) if level == 0 else nodes.get(text, -1)
            if leaf >= 0:
                items.append(Item(self._below(level, leaf), level, leaf))
        return items

    def height(self, items: Sequence[Item]) -> float:
        """The height of the lowest common ancestor of these items, all of them in the tree, over
        that of the tree."""
        leaves = sorted({item.leaf for item in items})
        for level in range(max(item.level for item in items), self._tree.height):
            if len(np.unique(self._codes[level][leaves])) == 1:
                return level / self._tree.height
        return 1.0

    def texts(self) -> list[str]:
        """Every label, of all levels."""
        return [label for nodes in self._nodes for label in nodes]

    @cached_property
    def _nodes(self) -> list[dict[str, int]]:
        """For each level the first leaf below each label."""
        leaves = []
        for level in self._tree.levels:
            labels = level.to_pylist()
            leaves.append(dict(zip(reversed(labels), range(len(labels) - 1, -1, -1), strict=True)))
        return leaves

    @property
    def _leaves(self) -> dict[str, int]:
        return self._nodes[0] if self._nodes else {}

    @cached_property
    def _codes(self) -> list[Places]:
        """For each level the node of each leaf."""
        return [
            level.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
            for level in self._tree.levels
        ]

    @cached_property
    def _sorted(self) -> list[tuple[Places, Places]]:
        """For each level: the nodes of the column's values, sorted, and the values so."""
        by_level = []
        leaf = np.array([self.leaf_of(text) for text in self._texts], np.int64)
        values = np.flatnonzero(leaf >= 0)
        for codes in self._codes:
            nodes = codes[leaf[values]]
            order = np.argsort(nodes, kind="stable")
            by_level.append((nodes[order], values[order]))
        return by_level

    def _below(self, level: int, leaf: int) -> Places:
        """The column's values below the node of a leaf at a level."""
        nodes, values = self._sorted[level]
        node = self._codes[level][leaf]
        low, high = np.searchsorted(nodes, [node, node + 1])
        below = np.sort(values[low:high])
        return np.append(below, self._null) if level == self._tree.height else below


def _key(text: str) -> str:
    """A text as the leaves of a tree are written: of numbers without an empty fraction."""
    return re.sub(KEY_PATTERN, r"\1", text)
