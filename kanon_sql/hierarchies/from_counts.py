"""The kinds of hierarchies that depend on how many rows have each value (du2009).

Each function takes the column's name (for messages), a frame of its distinct values as text and
their sizes, ascending, the relation that the kind is made from, and checked options; it gives level
columns: level0 the values, the last one '*'. A group of level i of L has n^(i/L) rows or more,
where that can be, n being the rows of the column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa

from kanon_sql.encode.area_graph import read_graph
from kanon_sql.encode.arrow import SideTable
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.from_values import refuse_misfit
from kanon_sql.hierarchies.kinds import ROOT, Options
from kanon_sql.methods import task_for
from kanon_sql.points.points import Floats, ItemPoints, Labels

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")


def _least_sizes(total: int, levels: int) -> list[int]:
    """The least rows of a group of each level below the root, from the lowest on."""
    return [int(np.ceil(total ** (level / levels))) for level in range(1, levels)]


def _named(values: pl.Series, groups: Sequence[Labels]) -> list[pl.Series]:
    """Level columns: the values, a label per group and level, and the root. A group of one value
    is that value; others are its least value and how many more it has."""
    plus = " +"
    while values.str.contains(plus, literal=True).any():
        plus += "+"
    levels = [values]
    for group in groups:
        frame = pl.DataFrame({"value": values, "group": group})
        first = pl.col("value").first().over("group")
        more = pl.len().over("group") - 1
        label = pl.when(more == 0).then(first).otherwise(first + plus + more.cast(pl.String))
        levels.append(frame.select(label.alias("label"))["label"])
    return [*levels, pl.repeat(ROOT, len(values), dtype=pl.String, eager=True)]


def adjacency(
    column: str, values: pl.DataFrame, table: SideTable, options: Options
) -> list[pl.Series]:
    """Connected regions. A code that the graph doesn't know, and a part of it that is not
    connected with the rest, meet others in the root only."""
    from kanon_sql.methods.single_attribute.regions import (
        nested_regions,  # here: it loads the compiler
    )

    by_places = options["adjacency"] is None
    texts = values["value"].to_arrow().cast(pa.string())
    graph = read_graph(texts, None if by_places else table, table if by_places else None)
    codes = pl.from_arrow(graph.codes)
    assert isinstance(codes, pl.Series)
    frame = pl.DataFrame({"value": codes}).join(
        values, on="value", how="left", maintain_order="left"
    )
    size = frame["size"].fill_null(0).to_numpy().astype(np.int64)
    return _named(frame["value"], nested_regions(size, graph.links, options["levels"] - 1))


def cover(column: str, values: pl.DataFrame, table: SideTable, options: Options) -> list[pl.Series]:
    """Groups of labels, packed again and again."""
    from kanon_sql.methods.single_attribute.pack import pack  # here: it loads the compiler

    size = values["size"].to_numpy().astype(np.int64)
    group = np.arange(len(size))
    groups = []
    for k in _least_sizes(int(size.sum()), options["levels"]) if len(size) else ():
        group = pack(size, k, "sorted", 0, options["packing"])[group]
        size = np.bincount(group, weights=values["size"].to_numpy()).astype(np.int64)
        groups.append(group)
    return _named(values["value"], groups)


def _read_places(column: str, values: pl.Series) -> Floats:
    """The two numbers of each value: float64, shape (m, 2)."""
    matches = [NUMBER.findall(text) for text in values.to_list()]
    wrong = sum(len(numbers) != 2 for numbers in matches)
    if wrong:
        pair = "a pair of numbers such as '-10.9 -37.0'"
        refuse_misfit("rectangles", pair, column, values, wrong)
        raise DataError(
            f"The kind 'rectangles' needs two numbers in each value, such as '-10.9 -37.0', and "
            f"{wrong:,} distinct values of {column!r} have more or less. Make them NULL, or put "
            "latitude and longitude into one column."
        )
    places = np.array(matches, dtype=np.float64).reshape(-1, 2) + 0.0
    if not np.isfinite(places).all():
        raise DataError(
            f"The column {column!r} holds places that are too far away to be numbers. Make them "
            "NULL."
        )
    return places


def rectangles(
    column: str, values: pl.DataFrame, table: SideTable, options: Options
) -> list[pl.Series]:
    """The cells of a k-d tree, cut on from level to level."""
    place, size = _read_places(column, values["value"]), values["size"].to_numpy()
    if len(size) == 0:
        return _named(values["value"], [])
    box = options["extent"] or np.stack([place.min(axis=0), place.max(axis=0)], axis=1)
    group, cells = np.zeros(len(size), np.int64), np.array([box], dtype=np.float64)
    border = cells[0, :, 1]
    levels: list[pl.Series] = []
    for k in reversed(_least_sizes(int(size.sum()), options["levels"])):
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(cells) + 1))
        finer, boxes, offset = np.empty(len(size), np.int64), [], 0
        for cell, start, stop in zip(cells, starts[:-1], starts[1:], strict=True):
            sites = order[start:stop]
            points = ItemPoints.of(size[sites], place[sites], item=np.arange(len(sites)))
            cut = task_for("gps_rectangles", k).group(replace(points, extent=cell))
            assert cut.cells is not None
            finer[sites] = cut.labels + offset
            offset += len(cut.cells)
            boxes.append(cut.cells)
        group, cells = finer, np.concatenate(boxes)
        levels.insert(0, pl.Series([_rectangle(cell, border) for cell in cells]).gather(group))
    return [values["value"], *levels, pl.repeat(ROOT, len(size), dtype=pl.String, eager=True)]


def _rectangle(cell: Floats, border: Floats) -> str:
    """'[43.0, 43.5) x [-89.5, -89.0]'; a side that ends at the border of the box has its end."""
    sides = [
        f"[{low!r}, {high!r}" + ("]" if high == end else ")")
        for (low, high), end in zip(cell.tolist(), border.tolist(), strict=True)
    ]
    return " x ".join(sides)
