"""Generalization hierarchies: read from a user's table, or built in.

A hierarchy is a tree over the values of one column. As a table it has the columns level0 (the
values) .. levelN (the root), as ARX writes them; rows are paths. The level at which two values
first agree is the height of their lowest common ancestor (byun2006, definition 5).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from kanon_sql.encode.arrow import Table
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.from_values import KEY_PATTERN, counted, keys
from kanon_sql.hierarchies.kinds import KINDS, ROOT, Kind, KindOption, check_kind, level_count

__all__ = [
    "KEY_PATTERN", "KINDS", "Kind", "KindOption", "Tree", "built_in", "check_kind",
    "check_values", "key", "level_count", "read_tree",
]

HIGHEST = 256
"""The most levels that a child/parent table may have."""

SHOWN = 5
SHAPE = (
    "Give level0 (the values), level1 and so on up to the root, or the two columns child and parent"
)


@dataclass(frozen=True)
class Tree:
    """A hierarchy of the values of one column; NULL is none of them.

    Attributes:
        levels: string arrays, level0 (the leaves) .. levelN (one label, the root), N >= 1, each
            with one entry per leaf. Equal labels of one level are one node; labels of different
            levels are different nodes. Leaves stand in depth-first order, siblings by their least
            leaf (numbers as numbers, else text; for the kind 'ordered' as listed), so that the
            leaves below any node are neighbours and the order of the source doesn't matter.
    """

    levels: tuple[pa.Array, ...]

    @property
    def height(self) -> int:
        """N, the number of steps from a leaf to the root."""
        return len(self.levels) - 1


def key(text_array: pa.Array) -> pa.Array:
    """The text under which values are looked up: whole numbers without '.0', all others as is."""
    return _to_arrow(keys(_series(text_array)))


def _series(array: Any) -> pl.Series:
    values = pl.from_arrow(array)
    assert isinstance(values, pl.Series)
    texts: pl.Series = values.cast(pl.String)
    return texts


def _to_arrow(values: pl.Series) -> pa.Array:
    return values.to_arrow().cast(pa.string())


def _refusal(
    column: str, fact: str, values: pl.Series, show_values: bool, advice: str
) -> DataError:
    shown = ""
    if show_values:
        first = values.sort().head(SHOWN).to_list()
        shown = ": " + ", ".join(repr(v) for v in first) + (", ..." if len(values) > SHOWN else "")
    return DataError(f"The hierarchy of {column!r} {fact}{shown}. {advice}")


def read_tree(
    column: str,
    names: Sequence[str],
    rows: Sequence[pa.Array],
    show_values: bool = False,
    *,
    numbers: bool = True,
) -> Tree:
    """The hierarchy in a level table or a child/parent table.

    Level table: columns level0 .. levelN in any order and case. An empty cell above level0
    repeats the label below it, so that a branch may be shorter than others; rows with no value
    are ignored, and so are repeated rows. Last levels that only repeat the root are left out; a
    root '*' is added where there is none.

    Child/parent table: each node once with its parent, roots with none or only as parents. All
    nodes are values. A node's level is its height, the longest way down to a leaf.

    Args:
        column: the column that the hierarchy is for; messages name it.
        names: the table's column names.
        rows: its columns, as text, all of one length.
        show_values: messages may name values.
        numbers: read values by their key, so that 39.0 is 39; false for a column of text, whose
            250.0 and 250 are two codes.

    Raises:
        DataError: columns or rows that make no tree, with the number of values concerned.
    """
    table = {name.lower(): _series(array) for name, array in zip(names, rows, strict=True)}
    if len(table) == len(names) and set(table) == {"child", "parent"}:
        child, parent = (keys(table[n]) if numbers else table[n] for n in ("child", "parent"))
        return _from_edges(column, child, parent, show_values)
    number_of = {n: int(m[1]) for n in table if (m := re.fullmatch(r"level(0|[1-9]\d{0,3})", n))}
    there = ", ".join(names)
    if len(table) < len(names):
        raise DataError(
            f"The hierarchy of {column!r} has two columns of one name: {there}. {SHAPE}."
        )
    others = [name for name in names if name.lower() not in number_of]
    if others:
        raise DataError(
            f"The hierarchy of {column!r} has the columns {there}; {', '.join(others)} "
            f"{'is' if len(others) == 1 else 'are'} no part of a hierarchy. {SHAPE}, no others."
        )
    missing = sorted(set(range(max(number_of.values(), default=0) + 1)) - set(number_of.values()))
    if missing:
        lacks = ", ".join(f"level{n}" for n in missing[:SHOWN]) + (", ..." * (len(missing) > SHOWN))
        raise DataError(f"The hierarchy of {column!r} lacks {lacks}. {SHAPE}.")
    levels = [table[name] for name in sorted(number_of, key=number_of.__getitem__)]
    return _from_levels(column, [keys(levels[0]) if numbers else levels[0], *levels[1:]],
                        show_values)


def _from_levels(column: str, levels: list[pl.Series], show_values: bool) -> Tree:
    names = [f"level{i}" for i in range(len(levels))]
    frame = pl.DataFrame(dict(zip(names, levels, strict=True)))
    frame = frame.filter(pl.col("level0").is_not_null())
    for below, name in pairwise(names):
        empty = pl.col(name).is_null() | (pl.col(name) == "")
        frame = frame.with_columns(pl.when(empty).then(below).otherwise(name).alias(name))
    frame = frame.unique()
    if len(frame) == 0:
        raise DataError(
            f"The hierarchy of {column!r} holds no values. Fill level0, or leave the hierarchy out."
        )
    twice = frame.group_by("level0").len().filter(pl.col("len") > 1)["level0"]
    if len(twice):
        fact = f"puts {counted(len(twice), 'value', 'values')} of level0 under two parents or more"
        raise _refusal(column, fact, twice, show_values, "Give each value one path to the root.")
    for below, name in pairwise(names[1:]):
        pairs = frame.select(below, name).unique()
        split = pairs.group_by(below).len().filter(pl.col("len") > 1)[below]
        if len(split):
            has = f"{counted(len(split), 'label', 'labels')} of {below} "
            has += f"{'stands' if len(split) == 1 else 'stand'} under more than one label of {name}"
            raise _refusal(
                column, f"does not nest: {has}", split, show_values,
                "Give each label one label above it; where two groups share a name, rename one.",
            )
    for name in names[1:]:
        label_elsewhere = pl.col("level0").is_in(frame[name].unique().to_list())
        lent = frame.filter(label_elsewhere & (pl.col(name) != pl.col("level0")))["level0"]
        if len(lent):
            fact = f"uses {counted(len(lent), 'value', 'values')} of level0 as labels of {name} "
            raise _refusal(
                column, fact + "for other values", lent, show_values,
                "Give the label another name, or put the value below it.",
            )
    return _arrange(frame.get_columns())


def _from_edges(column: str, child: pl.Series, parent: pl.Series, show_values: bool) -> Tree:
    frame = pl.DataFrame({"child": child, "parent": parent}).filter(pl.col("child").is_not_null())
    frame = frame.with_columns(
        pl.when(pl.col("parent") != "").then("parent").otherwise(None).alias("parent")
    ).unique()
    if len(frame) == 0:
        raise DataError(
            f"The hierarchy of {column!r} holds no values. Fill child and parent, or leave the "
            "hierarchy out."
        )
    twice = frame.group_by("child").len().filter(pl.col("len") > 1)["child"]
    if len(twice):
        fact = f"puts {counted(len(twice), 'value', 'values')} under two parents or more"
        raise _refusal(column, fact, twice, show_values, "Give each child one row.")
    nodes = pl.concat([frame["child"], frame["parent"]], rechunk=True).drop_nulls().unique().sort()
    place = pl.DataFrame({"node": nodes, "at": np.arange(len(nodes))})
    edges = frame.filter(pl.col("parent").is_not_null())
    low, high = (
        edges.join(place, left_on=side, right_on="node", how="left", maintain_order="left")["at"]
        .to_numpy() for side in ("child", "parent")
    )
    above = np.full(len(nodes), -1)
    above[low] = high
    _check_no_cycle(column, nodes, above, show_values)
    height = np.zeros(len(nodes), np.int64)
    for _ in range(HIGHEST):
        higher = height.copy()
        np.maximum.at(higher, high, height[low] + 1)
        if np.array_equal(higher, height):
            break
        height = higher
    else:
        raise DataError(
            f"The hierarchy of {column!r} has more than {HIGHEST} levels. Is a parent missing its "
            "other children?"
        )
    now = np.arange(len(nodes))
    levels = [nodes]
    for level in range(1, int(height.max()) + 1):
        up = above[now]
        now = np.where((up >= 0) & (height[up] <= level), up, now)
        levels.append(nodes.gather(now))
    return _arrange(levels)


def _check_no_cycle(column: str, nodes: pl.Series, above: Any, show_values: bool) -> None:
    """Jumps twice as far in each round; who is still not past a root is in or below a cycle."""
    past = len(nodes)
    jump = np.append(np.where(above < 0, past, above), past)
    for _ in range(past.bit_length()):
        jump = jump[jump]
    caught = np.unique(jump[jump != past])
    if len(caught):
        raise _refusal(
            column, f"turns in a circle: {counted(len(caught), 'value is', 'values are')} "
            "among their own ancestors", nodes.gather(caught), show_values,
            "Let the parents lead up to a root, which has no row or NULL as its parent.",
        )


def _arrange(levels: Sequence[pl.Series], in_order: bool = False) -> Tree:
    """The tree of valid level columns: one root, true height, leaves in canonical order."""
    kept = list(levels)
    if len(kept[0]) == 1 and kept[-1][0] == kept[0][0]:
        kept = kept[:1]  # the only value is no label for what NULL and it have in common
    if len(kept) == 1 or kept[-1].n_unique() > 1:
        kept.append(pl.repeat(ROOT, len(kept[0]), dtype=pl.String, eager=True))
    while len(kept) > 2 and kept[-2].n_unique() <= 1 and kept[-2].equals(kept[-1]):
        kept.pop()
    names = [f"level{i}" for i in range(len(kept))]
    frame = pl.DataFrame(dict(zip(names, kept, strict=True)))
    if not in_order:
        number = pl.col("level0").cast(pl.Float64, strict=False)
        numeric = bool(frame.select(number.is_finite().fill_null(False).all()).item())
        frame = frame.sort([number, "level0"] if numeric else ["level0"]).with_row_index("rank")
        for name in names[1:-1]:  # each pass brings the leaves of a wider node together, stably
            frame = frame.sort(pl.col("rank").min().over(name), maintain_order=True)
    return Tree(tuple(_to_arrow(frame[name]) for name in names))


def built_in(
    column: str,
    kind: str,
    options: Mapping[str, Any],
    values: pa.Array,
    ordered: bool,
    counts: pa.Array | None = None,
    table: Table | None = None,
) -> Tree:
    """The hierarchy of a kind over a column's values.

    Args:
        column: the column's name; messages name it.
        kind: one of KINDS.
        options: of the kind, checked or as given.
        values: the values, as text, in any order.
        ordered: whether the column has an ordered type (numbers, dates): then values are read by
            their key, so that 39.0 is 39.
        counts: how many rows have each value; 1 unless given. Only some kinds look at them.
        table: the relation that the kind is made from, if it needs one.

    Raises:
        OptionError: as check_kind.
        DataError: values that the kind can't take, with their number.
    """
    checked = check_kind(column, {**options, "kind": kind})
    texts = _series(values)
    if not KINDS[kind].by_rows:
        texts = texts.drop_nulls()
        distinct = (keys(texts) if ordered else texts).unique()
        return _arrange(KINDS[kind].build(column, distinct, ordered, checked), KINDS[kind].in_order)
    sizes = pl.Series(counts.to_numpy()) if counts is not None else pl.repeat(
        1, len(texts), dtype=pl.Int64, eager=True
    )
    frame = pl.DataFrame({"value": keys(texts) if ordered else texts, "size": sizes})
    frame = frame.drop_nulls("value").group_by("value").agg(pl.col("size").sum()).sort("value")
    return _arrange(KINDS[kind].build_by_rows(column, frame, table, checked))


def check_values(column: str, tree: Tree, values: pa.Array, show_values: bool) -> None:
    """Raises DataError, with the number of them, where values are no leaves of the tree.

    Values must be as in the tree (numbers by their key); NULL is passed over.
    """
    texts = _series(values).drop_nulls().unique()
    leaves = _series(tree.levels[0])
    missing = texts.filter(~texts.is_in(leaves.implode()))
    if len(missing) == 0:
        return
    of = counted(len(texts), "distinct value", "distinct values")
    fact = f"lacks {len(missing):,} of the {of}"
    plain = leaves.str.strip_chars().str.to_lowercase()
    near = int(missing.str.strip_chars().str.to_lowercase().is_in(plain.implode()).sum())
    hint = f" ({near:,} would be there but for spaces or upper and lower case)" if near else ""
    raise _refusal(
        column, f"{fact} of the column{hint}", missing, show_values,
        "Add them to the hierarchy, correct the data, or make those values NULL.",
    )
