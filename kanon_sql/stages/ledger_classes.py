"""The classes of a ledger that newcomers may join, by what these published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.audit.columns import Domain
from kanon_sql.audit.published import CellReader
from kanon_sql.encode.arrow import SideTable
from kanon_sql.encode.attributes import Attribute, Numeric
from kanon_sql.encode.encoded import Encoded
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.ledger.newcomers import (
    NOWHERE,
    Covers,
    Frozen,
    cheapest_cover,
    nearest_class,
    own_costs,
)
from kanon_sql.names import caseless
from kanon_sql.points.losses import class_losses
from kanon_sql.points.points import Floats, Labels, LossPoints, Points
from kanon_sql.stages.block import GoingOn


@dataclass(frozen=True)
class Nearest:
    """Classes that published points: everyone may join any.

    Attributes:
        places: the records, for squared distances.
        frozen: what the classes published.
    """

    places: Points
    frozen: Frozen

    @property
    def numbers(self) -> Labels:
        """Those of all classes."""
        return self.frozen.numbers

    def cheapest(self, records: Labels, going_on: Labels) -> tuple[Labels, Floats]:
        """For each of some records the number of the class, among those that go on, that costs it
        least, NOWHERE without any, and what that costs."""
        chosen = self.frozen.part(_places(self.frozen.numbers, going_on))
        spots, costs = nearest_class(self.places.part(records), chosen)
        return _numbers(spots, chosen.numbers), costs

    def own(self, records: Labels, groups: Labels) -> Floats:
        """What groups of some records would cost as classes of their own; groups: as in Grouping,
        shape (records,)."""
        grouped = np.flatnonzero(groups >= 0)
        return own_costs(self.places.part(records[grouped]), groups[grouped])


@dataclass(frozen=True)
class Covering:
    """Classes that published ranges, sets and labels: who is among them may join.

    Attributes:
        places: the records, for information loss.
        values: int64, shape (n, columns); as in ``cheapest_cover``.
        covers: what the classes published.
    """

    places: LossPoints
    values: Labels
    covers: Covers

    @property
    def numbers(self) -> Labels:
        """Those of all classes."""
        return self.covers.numbers

    def cheapest(self, records: Labels, going_on: Labels) -> tuple[Labels, Floats]:
        """As of Nearest."""
        chosen = self.covers.part(_places(self.covers.numbers, going_on))
        spots, costs = cheapest_cover(self.values[records], chosen)
        return _numbers(spots, chosen.numbers), costs

    def own(self, records: Labels, groups: Labels) -> Floats:
        """As of Nearest."""
        grouped = np.flatnonzero(groups >= 0)
        sizes = np.bincount(groups[grouped])
        return sizes * class_losses(self.places.part(records[grouped]), groups[grouped])


def _places(numbers: Labels, going_on: Labels) -> Labels:
    return np.flatnonzero(np.isin(numbers, going_on))


def _numbers(spots: Labels, numbers: Labels) -> Labels:
    return np.where(spots == NOWHERE, NOWHERE, np.append(numbers, NOWHERE)[spots])


def _cells(table: SideTable) -> dict[str, tuple[pa.Array, pa.Array]]:
    """The published cells of each column, by its name in lower case: numbers, and texts."""
    pairs = zip(table.columns[1::2], table.columns[2::2], strict=True)
    names = (caseless(name) for name in table.names[1::2])
    return dict(zip(names, pairs, strict=True))


def _by_number(table: SideTable) -> tuple[Labels, Labels]:
    """The numbers of the classes, ascending, and their order in the table."""
    classes = table.columns[0].cast(pa.int64()).to_numpy(zero_copy_only=False)
    order = np.argsort(classes)
    return classes[order], order


def nearest_of(table: SideTable, records: Encoded) -> Nearest:
    """The classes of a ledger that published points, placed as ``Encoded.squared`` places rows."""
    by_name = _cells(table)
    numbers, order = _by_number(table)
    numeric: list[Floats] = []
    codes: list[Any] = []
    for attribute in records.attributes:
        values, words = by_name[caseless(attribute.name)]
        if isinstance(attribute, Numeric):
            if attribute.factor > 0.0 or attribute.indicator > 0.0:
                known = values.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
                numeric.append(attribute.coordinates(np.array(known)))
        elif attribute.squared.any():
            codes.append(attribute.codes(words))
    count = len(numbers)
    return Nearest(records.squared(), Frozen(
        numbers,
        (np.column_stack(numeric) if numeric else np.zeros((count, 0)))[order],
        (np.column_stack(codes) if codes else np.zeros((count, 0), np.int32))[order],
    ))


def covering_of(
    table: SideTable, records: Encoded, trees: Mapping[str, Tree], types: Sequence[str],
    shared: GoingOn | None = None,
) -> Covering:
    """The classes of a ledger that published sets of values, read as an audit reads a release.

    What can't be read, or may mean something else as well, covers nobody; and so does NULL, but of
    those who have none. So does a class that publishes a value which nobody has any more.

    Args:
        table: the classes and what they published.
        records: the relation.
        trees: hierarchies by column name.
        types: the SQL types of the quasi-identifiers.
        shared: where the records are a block of many, what all blocks know: which values there are.
    """
    by_tree = {caseless(name): tree for name, tree in trees.items()}
    pairs = []
    for attribute, column, sql_type in zip(
        records.attributes, records.columns, types, strict=True
    ):
        tree = by_tree.get(caseless(attribute.name))
        if shared is None:
            pairs.append(_domain(attribute, column, tree, sql_type))
        else:
            counts = shared.counts[caseless(attribute.name)]
            pairs.append(_domain_of_all(attribute, column, tree, sql_type, counts))
    places = np.column_stack([place for _, place in pairs])
    domains = [domain for domain, _ in pairs]
    if shared is None:
        return Covering(records.losses(), places, _covers(table, records, domains))
    with shared.lock:
        if shared.covers is None:
            shared.covers = _covers(table, records, domains)
    return Covering(records.losses(), places, shared.covers)


def _covers(table: SideTable, records: Encoded, domains: Sequence[Domain]) -> Covers:
    """Which values each class covers, and what it costs."""
    by_name = _cells(table)
    numbers, order = _by_number(table)
    costs, texts, covered = np.zeros(len(numbers)), [], []
    for attribute, domain in zip(records.attributes, domains, strict=True):
        encoded = by_name[caseless(attribute.name)][1].take(pa.array(order)).dictionary_encode()
        spots = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        stands, lost = _read(domain, [*encoded.dictionary.to_pylist(), None])
        texts.append(spots.astype(np.int64))
        covered.append(stands)
        costs += attribute.weight * lost[spots]
    return Covers(numbers, costs, np.column_stack(texts), tuple(covered))


def _read(
    domain: Domain, texts: Sequence[str | None]
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Which values each text stands for: bool, shape (texts, values + 1), and what it loses."""
    reader, count = CellReader(domain), len(domain.values)
    stands = np.zeros((len(texts), count + 1), np.bool_)
    lost = np.zeros(len(texts))
    for i, text in enumerate(texts):
        reading = reader.null if text is None else reader.read(text)
        lost[i] = reading.loss
        if reading.kind != "unread" and not reading.ambiguous:
            stands[i, reading.members] = True
    return stands, lost


def _domain(
    attribute: Attribute, column: Any, tree: Tree | None, sql_type: str
) -> tuple[Domain, Labels]:
    """The values of a column as an audit sees them, and the place of each record's among them,
    NULL last."""
    if not isinstance(attribute, Numeric):
        leaves = attribute.leaves.cast(pa.string())
        place = column[:, 0].astype(np.int64)
        counts = np.bincount(place, minlength=len(leaves) + 1)
        return Domain(
            attribute.name, False, leaves, counts[:-1], int(counts[-1]), None, tree
        ), place
    missing = np.isnan(column)
    values, place = np.unique(column[~missing], return_inverse=True)
    every = np.full(len(column), len(values), np.int64)
    every[~missing] = place.reshape(-1)
    counts = np.bincount(every, minlength=len(values) + 1)
    texts = pa.array([_written(value, sql_type) for value in values.tolist()], pa.string())
    return Domain(
        attribute.name, True, texts, counts[:-1], int(counts[-1]), values
    ), every


def _domain_of_all(
    attribute: Attribute, column: Any, tree: Tree | None, sql_type: str, many: Mapping[Any, int]
) -> tuple[Domain, Labels]:
    """As ``_domain``, where the records are a block; ``many``: how many of all rows have each
    value, None a NULL."""
    known = sorted(value for value in many if value is not None)
    if isinstance(attribute, Numeric):
        values = np.array(known, np.float64)
        texts = pa.array([_written(value, sql_type) for value in known], pa.string())
        place = np.full(len(column), len(known), np.int64)
        present = ~np.isnan(column)
        place[present] = np.searchsorted(values, column[present])
    else:
        values = None
        texts = attribute.leaves.cast(pa.string())
        of_leaves = np.arange(len(texts) + 1)
        if not attribute.in_tree:  # the block knows its own values only
            own, texts = texts, pa.array(known, pa.string())
            of_leaves = np.append(pc.index_in(own, texts).to_numpy(), len(texts))
        place = of_leaves[column[:, 0]].astype(np.int64)
        known = texts.to_pylist()
    counts = np.array([many.get(value, 0) for value in known], np.int64)
    return Domain(
        attribute.name, values is not None, texts, counts, many.get(None, 0), values,
        None if values is not None else tree,
    ), place


def _written(value: float, sql_type: str) -> str:
    """A number of the encoding as its column writes it, so that published ones are read alike."""
    if sql_type == "DATE":
        return str(np.datetime64(int(value), "D"))
    if sql_type.startswith("TIMESTAMP"):
        # as a double, the last moment that there is lies beyond it
        return str(np.datetime64(min(int(value), np.iinfo(np.int64).max), "us"))
    if sql_type == "TIME":
        return str(np.datetime64(int(value), "us")).partition("T")[2]
    return repr(value)
