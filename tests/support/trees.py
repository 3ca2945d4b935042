"""Makes hierarchies for tests, and checks what every one of them promises."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import pyarrow as pa

from kanon_sql.hierarchies.build import built_in
from kanon_sql.hierarchies.kinds import level_count
from kanon_sql.hierarchies.tables import read_tree
from kanon_sql.hierarchies.tree import Tree

Table = dict[str, list[str | None]]


def texts(values: Sequence[str | None]) -> pa.Array:
    return pa.array(values, pa.string())


def read(table: Table, show_values: bool = False, **options: Any) -> Tree:
    return read_tree("zip", list(table), [texts(v) for v in table.values()], show_values, **options)


def build(
    kind: str, values: Sequence[str | None], /, ordered: bool = True, **options: Any
) -> Tree:
    """A hierarchy of a kind, checked; as a level table it reads back as itself."""
    tree = built_in("zip", kind, options, texts(values), ordered)
    assert_sound(tree)
    assert len(tree.levels) <= level_count(kind, options)
    if kind != "ordered" and len(tree.levels[0]):
        names = [f"level{i}" for i in range(len(tree.levels))]
        assert read_tree("zip", names, tree.levels, numbers=ordered) == tree
    return tree


def paths(tree: Tree) -> list[tuple[str, ...]]:
    return list(zip(*(level.to_pylist() for level in tree.levels), strict=True))


def path_of(tree: Tree, leaf: str) -> list[str]:
    return next(list(path) for path in paths(tree) if path[0] == leaf)


def assert_sound(tree: Tree) -> None:
    """What every Tree promises."""
    columns = [level.to_pylist() for level in tree.levels]
    assert tree.height == len(columns) - 1 >= 1
    assert all(level.type == pa.string() and level.null_count == 0 for level in tree.levels)
    assert len(set(columns[0])) == len(columns[0])
    assert len(set(columns[-1])) <= 1
    for low, high in pairwise(columns):
        assert len(set(zip(low, high, strict=True))) == len(set(low)), "does not refine"
    for column in columns:
        assert len(list(groupby(column))) == len(set(column)), "leaves of a node stand apart"


def meet(tree: Tree, one: str, other: str) -> tuple[str, int]:
    """The lowest common ancestor's label and level."""
    a, b = path_of(tree, one), path_of(tree, other)
    level = next(i for i in range(len(a)) if a[i] == b[i])
    return a[level], level
