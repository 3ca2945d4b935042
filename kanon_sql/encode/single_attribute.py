"""One attribute whose values are generalized as they are (du2009): from cells to items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.area_graph import positions, read_graph
from kanon_sql.encode.arrow import Column, Rows, SideTable
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.cells import category_column, check_types, number_column, refuse
from kanon_sql.encode.coordinates import geographic, refuse_beyond_degrees
from kanon_sql.encode.sensitive import sensitive_codes
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless
from kanon_sql.points.points import Floats, Grouping, ItemPoints, Labels, rows_at
from kanon_sql.points.sensitive import SensitiveColumn

NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)")
"""Types of coordinates."""


@dataclass(frozen=True)
class Items:
    """What a method of one attribute works on.

    Attributes:
        points: the items, and the item of each row that has a place.
        placed: bool, shape (rows,); the rows that points holds, in the order of the input. A row
            whose latitude or longitude is missing lies nowhere.
        facts: what is reported beside the method's own.
    """

    points: ItemPoints
    placed: Any
    facts: dict[str, float]

    def whole(self, grouping: Grouping) -> Grouping:
        """The grouping of all rows: those without a place are a class of their own."""
        if self.placed.all():
            return grouping
        groups = int(grouping.labels.max(initial=-1)) + 1
        away = float(np.sum(~self.placed))
        facts = dict(grouping.facts)
        if "lower_bound" in facts:  # the class without a place is one that no rectangles change
            guaranteed = facts["guaranteed_ratio"] * facts["lower_bound"]
            facts["lower_bound"] = max(facts["lower_bound"], away)
            facts["guaranteed_ratio"] = max(guaranteed, away) / facts["lower_bound"]
        else:
            facts |= {"lower_bound": away, "guaranteed_ratio": 1.0}
        labels = np.full(len(self.placed), groups, np.int64)
        labels[self.placed] = grouping.labels
        cells = grouping.cells
        if cells is not None:
            cells = np.concatenate([cells, np.full((1, 2, 2), np.nan)])
        return Grouping(labels, facts, None, cells)

    def named(self, facts: Mapping[Any, float]) -> dict[str, Any]:
        """The facts of the method and those of the items."""
        return {**facts, **self.facts}

    def in_order(self, values: Any) -> Any:
        """Values of the rows: here rows keep the order of the input."""
        return values

    def bare(self) -> Items:
        """What is left to be known when the points are made: all of it."""
        return self


def read_items(
    rows: Rows, columns: Sequence[Column], task: GroupTask, tables: Mapping[str, SideTable],
    sensitive: tuple[SensitiveColumn, ...] = (),
) -> Items:
    """The items of the rows, for a method of one attribute.

    Items stand in the order of their content (numbers by value, else by the bytes of the text),
    NULL and NaN last.

    Args:
        rows: the cells are read, and secrets where there are sensitive columns.
        columns: the quasi-identifiers.
        task: its method tells what its items are.
        tables: the relations beside the one that is anonymized, by the option that names them.
        sensitive: what was learned of the sensitive columns whose cells the rows have.

    Raises:
        DataError: another number of quasi-identifiers than the method takes, values that it can't
            take, or a graph that can't be read.
        OptionError: an extent for other columns.
    """
    items = _items_of(rows, columns, task, tables)
    if (sensitive or task.whole) and not items.placed.all():
        asked = "no model of privacy" if sensitive else "only k"
        raise DataError(
            f"{int((~items.placed).sum())} rows have no place and would be a class of their own, "
            f"which {asked} is enforced on. Leave them out by nulls='suppress'."
        )
    if not sensitive:
        return items
    codes = sensitive_codes(rows, sensitive)
    return replace(
        items, points=replace(items.points, sensitive=codes, sensitive_columns=sensitive)
    )


def _items_of(
    rows: Rows, columns: Sequence[Column], task: GroupTask, tables: Mapping[str, SideTable]
) -> Items:
    """The items, as their geometry says."""
    geometry = task.geometry
    assert isinstance(geometry, AttributeGeometry)
    geometry.refuse_width(task.method.name, [column.name for column in columns])
    check_types(columns)
    cells, width = rows.fields["cells"], geometry.width
    if geometry.domain == "places":
        return _places(columns, cells, task)
    (column,) = columns
    number = number_column(cells, 0, width) if is_numeric(column.sql_type) else None
    keys = category_column(cells, 0, width).cast(pa.string())
    refuse(column.name, number, keys.is_null().to_numpy(zero_copy_only=False), task.nulls)
    rank = rows.numbers("extra") if geometry.domain == "values" else None
    known, item = _items(keys, rank)
    if geometry.domain == "nodes":
        return _nodes(known, item, tables)
    points = ItemPoints.of(np.bincount(item), item=item)
    return Items(points, np.ones(len(item), np.bool_), {})


def _items(keys: pa.Array, rank: Floats | None) -> tuple[pa.Array, Labels]:
    """The distinct keys, by the bytes of their texts or by rank, NULL last; and the place of each
    row's."""
    known = pc.unique(keys.drop_null())
    order = pc.sort_indices(known).to_numpy()
    if rank is not None:
        indices = pc.index_in(keys, known).fill_null(len(known)).to_numpy(zero_copy_only=False)
        ranks = np.zeros(len(known) + 1)
        ranks[indices] = rank
        order = order[np.argsort(ranks[order], kind="stable")]
    known = known.take(pa.array(order))
    indices = pc.index_in(keys, known).fill_null(len(known))
    item = np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    return known, item


def _nodes(texts: pa.Array, item: Labels, tables: Mapping[str, SideTable]) -> Items:
    """The nodes of the graph; NULL, after all of them, is a node that has no neighbours.

    Args:
        texts: the distinct codes of the data, without NULL.
        item: int64, shape (rows,); the code of each row, len(texts) where it is NULL.
        tables: as in read_items.
    """
    graph = read_graph(texts, tables.get("adjacency"), tables.get("places"))
    own = np.append(positions(graph.codes, texts), len(graph.codes))
    node = own[item]
    size = np.bincount(node, minlength=len(graph.codes))
    place = graph.place
    known = graph.known
    if len(size) > len(graph.codes):
        place = np.concatenate([place, np.full((1, place.shape[1]), np.nan)])
        known = np.append(known, False)
    points = ItemPoints.of(size, place, graph.links, node)
    strange = float(np.sum((size > 0) & ~known))
    return Items(points, np.ones(len(item), np.bool_), {"codes_unknown": strange})


def _places(columns: Sequence[Column], cells: pa.StructArray, task: GroupTask) -> Items:
    """Distinct places of two columns of numbers."""
    names = [column.name for column in columns]
    if not all(NUMBERS.fullmatch(column.sql_type) for column in columns):
        raise DataError(
            f"The method 'gps_rectangles' needs two columns of numbers, and {' and '.join(names)} "
            "are not both. Cast them to DOUBLE."
        )
    place = np.column_stack([number_column(cells, j, 2) for j in range(2)])
    for j, name in enumerate(names):
        refuse(name, place[:, j], np.isnan(place[:, j]), task.nulls)
    degrees, aspect = geographic(names), 1.0
    placed = np.asarray(~np.isnan(place).any(axis=1))
    away, k = int((~placed).sum()), task.k
    if 0 < away < k or 0 < len(placed) - away < k:
        raise DataError(
            f"There are {len(placed) - away} rows with a place and {away} without, and those make "
            f"a class of their own, which needs k = {k} rows. Leave them out by nulls="
            "'suppress', or lower k."
        )
    if degrees and away < len(placed):
        latitude, longitude = place[placed][:, degrees[0]], place[placed][:, degrees[1]]
        refuse_beyond_degrees(latitude, longitude, [names[j] for j in degrees])
        middle = (float(latitude.min()) + float(latitude.max())) / 2.0
        across = max(float(np.cos(np.radians(middle))), 1e-6)
        aspect = 1.0 / across if degrees[0] == 0 else across
    box, by_column = np.zeros((0, 2)), task.own.box
    if by_column is not None:
        box = _extent(names, by_column)
        if degrees and any(
            np.abs(box[spot]).max() > most for spot, most in zip(degrees, (90, 180), strict=True)
        ):
            raise OptionError(
                "extent reaches beyond 90 degrees of latitude or 180 of longitude. Make it smaller."
            )
    sites, item = _sites(place[placed])
    points = replace(
        ItemPoints.of(np.bincount(item), sites, item=item), aspect=aspect, extent=box
    )
    return Items(points, placed, {"rows_without_place": float(away)})


def _sites(place: Floats) -> tuple[Floats, Labels]:
    """The distinct places, ascending, and which of them each row has."""
    order = np.lexsort((place[:, 1], place[:, 0]))
    ordered = rows_at(place, order)
    fresh = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(order)]
    item = np.empty(len(order), np.int64)
    item[order] = np.cumsum(fresh) - 1
    return ordered[fresh], item


def _extent(names: Sequence[str], by_column: Mapping[str, Sequence[float]]) -> Floats:
    """The bounds of both columns, in their order: float64, shape (2, 2)."""
    lowered = {caseless(column): list(ends) for column, ends in by_column.items()}
    for column in by_column:
        if caseless(column) not in [caseless(name) for name in names]:
            raise OptionError(
                f"extent names the column {column!r}, which is not a quasi-identifier. "
                f"{did_you_mean(column, names)}"
            )
    return np.array([lowered[caseless(name)] for name in names], np.float64)
