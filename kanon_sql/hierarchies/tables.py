"""Hierarchies that a user has as a table: levels, or children and parents.

A table of levels has the columns level0 (the values) .. levelN (the root), as ARX writes them; its
rows are paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from kanon_sql.errors import DataError
from kanon_sql.hierarchies.from_values import counted, keys
from kanon_sql.hierarchies.tree import SHOWN, Tree, arrange, as_series, refusal
from kanon_sql.names import caseless

HIGHEST = 256
"""The most levels that a child/parent table may have."""

SHAPE = (
    "Give level0 (the values), level1 and so on up to the root, or the two columns child and parent"
)


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
    table = {caseless(name): as_series(array) for name, array in zip(names, rows, strict=True)}
    if len(table) == len(names) and set(table) == {"child", "parent"}:
        child, parent = (keys(table[n]) if numbers else table[n] for n in ("child", "parent"))
        return _from_edges(column, child, parent, show_values)
    number_of = {n: int(m[1]) for n in table if (m := re.fullmatch(r"level(0|[1-9]\d{0,3})", n))}
    listing = ", ".join(names)
    if len(table) < len(names):
        raise DataError(
            f"The hierarchy of {column!r} has two columns of one name: {listing}. {SHAPE}."
        )
    others = [name for name in names if caseless(name) not in number_of]
    if others:
        raise DataError(
            f"The hierarchy of {column!r} has the columns {listing}; {', '.join(others)} "
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
        raise refusal(column, fact, twice, show_values, "Give each value one path to the root.")
    for below, name in pairwise(names[1:]):
        pairs = frame.select(below, name).unique()
        split = pairs.group_by(below).len().filter(pl.col("len") > 1)[below]
        if len(split):
            has = f"{counted(len(split), 'label', 'labels')} of {below} "
            has += f"{'stands' if len(split) == 1 else 'stand'} under more than one label of {name}"
            raise refusal(
                column, f"does not nest: {has}", split, show_values,
                "Give each label one label above it; where two groups share a name, rename one.",
            )
    for name in names[1:]:
        label_elsewhere = pl.col("level0").is_in(frame[name].unique().to_list())
        lent = frame.filter(label_elsewhere & (pl.col(name) != pl.col("level0")))["level0"]
        if len(lent):
            fact = f"uses {counted(len(lent), 'value', 'values')} of level0 as labels of {name} "
            raise refusal(
                column, fact + "for other values", lent, show_values,
                "Give the label another name, or put the value below it.",
            )
    return arrange(frame.get_columns())


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
        raise refusal(column, fact, twice, show_values, "Give each child one row.")
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
    return arrange(levels)


def _check_no_cycle(column: str, nodes: pl.Series, above: Any, show_values: bool) -> None:
    """Jumps twice as far in each round; who is still not past a root is in or below a cycle."""
    past = len(nodes)
    jump = np.append(np.where(above < 0, past, above), past)
    for _ in range(past.bit_length()):
        jump = jump[jump]
    caught = np.unique(jump[jump != past])
    if len(caught):
        raise refusal(
            column, f"turns in a circle: {counted(len(caught), 'value is', 'values are')} "
            "among their own ancestors", nodes.gather(caught), show_values,
            "Let the parents lead up to a root, which has no row or NULL as its parent.",
        )
