"""One attribute whose values are generalized as they are (du2009): from cells to items."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode import ORDERED, category_column, check_types, number_column, refuse
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.geographic import geographic
from kanon_sql.grouping import Method
from kanon_sql.grouping.points import Floats, Grouping, ItemPoints, Labels
from kanon_sql.option_rules import WIDTHS, refuse_width
from kanon_sql.places import check_degrees, read_graph
from kanon_sql.rows import Rows, Table


@dataclass(frozen=True)
class Items:
    """What a method of one attribute works on.

    Attributes:
        points: the items, and the item of each row that has a place.
        placed: bool, shape (rows,); the rows that points holds, in the order of the input. A row
            whose latitude or longitude is missing lies nowhere.
        options: what the method needs beside the options of the call.
        facts: what is reported beside the method's own.
    """

    points: ItemPoints
    placed: Any
    options: dict[str, Any]
    facts: dict[str, float]

    def spread(self, grouping: Grouping) -> Grouping:
        """The grouping of all rows: those without a place are a class of their own."""
        if self.placed.all():
            return grouping
        groups = int(grouping.labels.max(initial=-1)) + 1
        labels = np.full(len(self.placed), groups, np.int64)
        labels[self.placed] = grouping.labels
        cells = grouping.cells
        if cells is not None:
            cells = np.concatenate([cells, np.full((1, 2, 2), np.nan)])
        return Grouping(labels, grouping.facts, None, cells)


def read_items(
    rows: Rows,
    columns: Sequence[tuple[str, str]],
    method: Method,
    options: Mapping[str, Any],
    tables: Mapping[str, Table],
) -> Items:
    """The items of the rows, for a method of one attribute.

    Items stand in the order of their content (numbers by value, else by the bytes of the text),
    NULL and NaN last.

    Args:
        rows: the cells are read.
        columns: name and SQL type of each quasi-identifier.
        method: it tells what its items are.
        options: of the call.
        tables: the relations beside the one that is anonymized, by the option that names them.

    Raises:
        DataError: another number of quasi-identifiers than the method takes, values that it can't
            take, or a graph that can't be read.
        OptionError: an extent for other columns.
    """
    names = [name for name, _ in columns]
    refuse_width(method, names)
    check_types(columns)
    cells, width = rows.fields["cells"], WIDTHS[method.items]
    numbers = [
        number_column(cells, j, width) if ORDERED.fullmatch(kind) else None
        for j, (_, kind) in enumerate(columns)
    ]
    if method.items == "places":
        return _places(names, numbers, options)
    (number,) = numbers
    if number is not None:
        refuse(names[0], number, np.isnan(number), options["nulls"])
        values, item = np.unique(number, return_inverse=True)
        item = item.reshape(-1).astype(np.int64)
        if method.items == "nodes":
            return _nodes(_texts(values), item, options, tables)
        return _labels(item)
    words = category_column(cells, 0, 1)
    missing = words.is_null().to_numpy(zero_copy_only=False)
    refuse(names[0], None, missing, options["nulls"])
    known = pc.unique(words.drop_null())
    known = known.take(pc.sort_indices(known))
    found = pc.index_in(words, known).fill_null(len(known))
    item = np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
    if method.items == "nodes":
        texts = pa.concat_arrays([known.cast(pa.string()), pa.nulls(missing.any(), pa.string())])
        return _nodes(texts, item, options, tables)
    return _labels(item)


def _labels(item: Labels) -> Items:
    points = ItemPoints.of(np.bincount(item), item=item)
    return Items(points, np.ones(len(item), np.bool_), {}, {})


def _texts(values: Floats) -> pa.Array:
    """Numbers as they are found in a relation of codes: whole ones without '.0', NaN as NULL."""
    return pa.array(
        [None if v != v else str(int(v)) if v == int(v) else repr(v) for v in values.tolist()],
        pa.string(),
    )


def _nodes(
    texts: pa.Array, item: Labels, options: Mapping[str, Any], tables: Mapping[str, Table]
) -> Items:
    """The nodes of the graph; NULL, after all of them, is a node that has no neighbours."""
    graph = read_graph(texts.drop_null(), tables.get("adjacency"), tables.get("places"))
    spots = pc.index_in(texts, graph.codes).fill_null(len(graph.codes))
    node = np.asarray(spots.to_numpy(zero_copy_only=False), dtype=np.int64)[item]
    size = np.bincount(node, minlength=len(graph.codes))
    place = graph.place
    known = graph.known
    if len(size) > len(graph.codes):
        place = np.concatenate([place, np.full((1, place.shape[1]), np.nan)])
        known = np.append(known, False)
    points = ItemPoints.of(size, place, graph.links, node)
    strange = float(np.sum((size > 0) & ~known))
    return Items(points, np.ones(len(item), np.bool_), {}, {"codes_unknown": strange})


def _warn_of_tight(options: Mapping[str, Any]) -> None:
    """Says on stderr that tight boxes show real coordinates, unless progress is off."""
    if options.get("tight") and options["progress"]:
        print(
            "kanon_sql: with tight, the sides of each rectangle are real coordinates of its rows.",
            file=sys.stderr, flush=True,
        )


def _places(
    names: list[str], numbers: Sequence[Floats | None], options: Mapping[str, Any]
) -> Items:
    """Distinct places of two columns of numbers."""
    _warn_of_tight(options)
    known = [number for number in numbers if number is not None]
    if len(known) < 2:
        raise DataError(
            f"The method 'gps_rectangles' needs two columns of numbers, and {' and '.join(names)} "
            "are not both. Cast them to DOUBLE."
        )
    place = np.column_stack(known)
    for j, name in enumerate(names):
        refuse(name, place[:, j], np.isnan(place[:, j]), options["nulls"])
    degrees, aspect = geographic(names), 1.0
    placed = np.asarray(~np.isnan(place).any(axis=1))
    away, k = int((~placed).sum()), options["k"]
    if 0 < away < k or 0 < len(placed) - away < k:
        raise DataError(
            f"There are {len(placed) - away} rows with a place and {away} without, and those make "
            f"a class of their own, which needs k = {k} rows. Leave them out by nulls := "
            "'suppress', or lower k."
        )
    if degrees and away < len(placed):
        latitude, longitude = place[placed][:, degrees[0]], place[placed][:, degrees[1]]
        check_degrees(latitude, longitude, [names[j] for j in degrees])
        middle = (float(latitude.min()) + float(latitude.max())) / 2.0
        across = max(float(np.cos(np.radians(middle))), 1e-6)
        aspect = 1.0 / across if degrees[0] == 0 else across
    more: dict[str, Any] = {"aspect": aspect}
    if options.get("extent") is not None:
        more["extent"] = _extent(names, options["extent"])
    sites, item = _sites(place[placed])
    points = ItemPoints.of(np.bincount(item), sites, item=item)
    return Items(points, placed, more, {"rows_without_place": float(away)})


def _sites(place: Floats) -> tuple[Floats, Labels]:
    """The distinct places, ascending, and which of them each row has."""
    order = np.lexsort((place[:, 1], place[:, 0]))
    ordered = place[order]
    fresh = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]
    item = np.empty(len(order), np.int64)
    item[order] = np.cumsum(fresh) - 1
    return ordered[fresh], item


def _extent(names: Sequence[str], given: Mapping[str, Sequence[float]]) -> list[list[float]]:
    """The bounds of both columns, in their order."""
    lowered = {column.lower(): list(ends) for column, ends in given.items()}
    for column in given:
        if column.lower() not in [name.lower() for name in names]:
            raise OptionError(
                f"extent names the column {column!r}, which is no quasi-identifier. "
                f"{did_you_mean(column, names)}"
            )
    return [lowered[name.lower()] for name in names]
