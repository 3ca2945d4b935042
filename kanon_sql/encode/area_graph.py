"""Places and neighbours: the graph of codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import SideTable
from kanon_sql.encode.coordinates import geographic, refuse_beyond_degrees
from kanon_sql.errors import DataError
from kanon_sql.points.points import Floats, Labels

FARTHEST = 1e100
"""The largest coordinate: far beyond any map, and far from where squares overflow."""


@dataclass(frozen=True)
class AreaGraph:
    """The neighbours of codes, and where codes lie.

    Attributes:
        codes: the nodes, as text, ascending by their bytes.
        links: int64, shape (e, 2); neighbours, lower index first, each pair once, ascending.
        place: float64, shape (nodes, 2), on a plane; NaN where not known; (nodes, 0) without any.
        known: bool, shape (nodes,); whether the graph has the code (a code may be there only
            because the data has it).
    """

    codes: pa.Array
    links: Labels
    place: Floats
    known: npt.NDArray[np.bool_]


def positions(codes: pa.Array, values: pa.Array) -> Labels:
    """The index of each value among the codes, -1 where it is none."""
    indices = pc.index_in(values, codes).fill_null(-1)
    return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _columns(table: SideTable) -> str:
    count = "one column" if len(table.names) == 1 else f"{len(table.names)} columns"
    return f"{count} ({', '.join(table.names)})"


def _pairs(table: SideTable) -> tuple[pa.Array, pa.Array]:
    """Both columns of a relation of pairs, without rows that lack a code."""
    if not table.columns:
        raise DataError("The relation adjacency has no rows. Give one with pairs of neighbours.")
    if len(table.columns) != 2:
        raise DataError(
            f"The relation adjacency has {_columns(table)}. "
            "Give one with two, the codes that are neighbours, for example a view of SELECT "
            "DISTINCT code, neighbour FROM ..."
        )
    both = pc.and_(pc.is_valid(table.columns[0]), pc.is_valid(table.columns[1]))
    return table.columns[0].filter(both), table.columns[1].filter(both)


def _located(table: SideTable) -> tuple[pa.Array, Floats]:
    """Codes and where they lie on a plane; float64, shape (codes, 2). A code with several places
    lies at their mean."""
    from kanon_sql.encode.delaunay import flat_map  # here: scipy takes a while to load

    if not table.columns:
        raise DataError("The relation places has no rows. Give one with codes and where they lie.")
    if len(table.columns) != 3:
        raise DataError(
            f"The relation places has {_columns(table)}. Give "
            "one with three, a code, its latitude and its longitude, for example a view."
        )
    degrees = geographic(table.names)
    x, y = degrees or (1, 2)
    code = table.columns[({0, 1, 2} - {x, y}).pop()]
    numbers = []
    for column, name in ((table.columns[x], table.names[x]), (table.columns[y], table.names[y])):
        try:
            numbers.append(column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0)
        except pa.ArrowInvalid:
            raise DataError(
                f"The column {name!r} of the relation places has values that are not numbers. Give "
                "a code, its latitude and its longitude."
            ) from None
    values = np.column_stack(numbers)
    far = int((np.abs(values) > FARTHEST).any(axis=1).sum())
    if far:
        raise DataError(
            f"The relation places has {far} rows beyond {FARTHEST:g}. Correct them, or set them to "
            "NULL."
        )
    usable = np.isfinite(values).all(axis=1) & ~code.is_null().to_numpy(zero_copy_only=False)
    code, values = code.filter(pa.array(usable)), values[usable]
    if degrees:
        refuse_beyond_degrees(values[:, 0], values[:, 1], [table.names[x], table.names[y]])
    codes = _sorted(code)
    at = positions(codes, code)
    order = np.lexsort((values[:, 1], values[:, 0], at))
    sums, counts = np.zeros((len(codes), 2)), np.bincount(at, minlength=len(codes))
    np.add.at(sums, at[order], values[order])
    means = sums / counts[:, None]
    return codes, flat_map(means[:, 0], means[:, 1]) if degrees else means


def _sorted(*values: pa.Array) -> pa.Array:
    distinct = pc.unique(pa.concat_arrays([v.combine_chunks() if isinstance(v, pa.ChunkedArray)
                                           else v for v in values]).drop_null())
    return distinct.take(pc.sort_indices(distinct))


def read_graph(values: pa.Array, adjacency: SideTable | None,
               places: SideTable | None) -> AreaGraph:
    """The graph over the values of a column, and all other nodes of the graph.

    Args:
        values: the distinct values of the column as text.
        adjacency: pairs of neighbours; None: by the Delaunay triangulation of the places.
        places: where codes lie.

    Raises:
        DataError: a relation of another shape, one without rows, or one that knows none of the
            values.
    """
    from kanon_sql.encode.delaunay import delaunay_links  # here: scipy is slow to load

    located, spots = _located(places) if places else (pa.array([], pa.string()), np.zeros((0, 2)))
    if adjacency is None:
        codes = _sorted(values, located)
        known = positions(located, codes) >= 0
    else:
        ends = _pairs(adjacency)
        codes = _sorted(values, *ends)
        known = positions(_sorted(*ends), codes) >= 0
    if len(values) and not known[positions(codes, values)].any():
        name = "places" if adjacency is None else "adjacency"
        count = "the only code" if len(values) == 1 else f"any of the {len(values)} codes"
        raise DataError(
            f"The relation {name} doesn't know {count} of the column. Write codes identically in "
            "both, such as '01001' and not 1001."
        )
    place = np.full((len(codes), 2 if places else 0), np.nan)
    at = positions(codes, located)
    if places:
        place[at[at >= 0]] = spots[at >= 0]
    if adjacency is None:
        return AreaGraph(codes, delaunay_links(place), place, known)
    pairs = np.column_stack([positions(codes, end) for end in ends])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return AreaGraph(codes, pairs.reshape(-1, 2), place, known)
