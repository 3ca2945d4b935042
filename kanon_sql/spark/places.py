"""The leaf of each row of packets, found in Spark's Python workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.blocks.cuts import BY_HASH, CutTree
from kanon_sql.spark.packets import Batches, dealt, packets_of, placed_packet, together, unpacked
from kanon_sql.spark.worker import MIX

Numbers = np.ndarray[Any, Any]

NOWHERE = -1
"""Stands for the block of rows that nobody asks for."""


@dataclass(frozen=True)
class RowPlaces:
    """What a worker needs to know to place rows.

    Attributes:
        tree: the cuts.
        columns: of rows, in which the cells of the columns are along which it cuts.
        ranks: where each category stands among all, by the names of such columns.
        without_nulls: columns in which a row that takes part lacks nothing.
    """

    tree: CutTree
    columns: Mapping[str, str]
    ranks: Mapping[str, Mapping[str | None, int]]
    without_nulls: Sequence[str]

    def leaves(self, rows: pa.Table) -> Numbers:
        """The leaf of each row: int64, shape (rows,); NOWHERE for those that take no part."""
        places = {name: self._places(name, rows[own]) for name, own in self.columns.items()}
        if BY_HASH in self.tree.columns:
            places[BY_HASH] = rows[MIX].to_numpy()
        found = np.empty(rows.num_rows, np.int64)
        _fill(self.tree, places, np.arange(rows.num_rows), found)
        for name in self.without_nulls:
            found[rows[name].is_null().to_numpy()] = NOWHERE
        return found

    def _places(self, name: str, values: pa.ChunkedArray) -> Numbers:
        if name not in self.ranks:
            numbers: Numbers = values.fill_null(float("-inf")).to_numpy()
            return numbers
        encoded = values.combine_chunks().cast(pa.string()).dictionary_encode()
        known = self.ranks[name]
        words = encoded.dictionary.to_pylist()
        ranks = np.array([*(known.get(word, -1) for word in words), -1], np.float64)
        indices = pc.fill_null(encoded.indices, len(words))
        found: Numbers = ranks[indices.to_numpy(zero_copy_only=False)]
        return found


def _fill(tree: CutTree, places: Mapping[str, Numbers], chosen: Numbers, found: Numbers) -> None:
    """Writes the leaves of the chosen rows."""
    if not tree.sides:
        found[chosen] = tree.leaf
        return
    # the hash of a row is kept without its last bit
    at = int(tree.place) // 2 if tree.column == BY_HASH else tree.place
    first = places[tree.column][chosen] <= at
    for side, rows in zip(tree.sides, (chosen[first], chosen[~first]), strict=True):
        _fill(side, places, rows, found)


def _tables(batches: Batches) -> Iterator[pa.Table]:
    return together(unpacked([packet]) for packet in packets_of(batches))


def placer(places: RowPlaces, names: Sequence[str]) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: packets of rows, with these columns, dealt to leaves."""

    def place(batches: Batches) -> Batches:
        for rows in _tables(batches):
            for leaf, _, packet in dealt(rows.select(list(names)), places.leaves(rows)):
                if leaf != NOWHERE:
                    yield placed_packet(leaf, packet)

    return place


def leaf_counter(places: RowPlaces) -> Callable[[Batches], Batches]:
    """A function for mapInArrow: how many rows each leaf has."""

    def count(batches: Batches) -> Batches:
        counts: Counter[int] = Counter()
        for rows in _tables(batches):
            leaves, many = np.unique(places.leaves(rows), return_counts=True)
            counts.update(dict(zip(leaves.tolist(), many.tolist(), strict=True)))
        del counts[NOWHERE]
        yield pa.record_batch(
            [pa.array(counts, pa.int64()), pa.array(counts.values(), pa.int64())],
            names=["leaf", "many"],
        )

    return count
