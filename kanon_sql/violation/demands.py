"""The privacy models of a call as kernels take them: codes of the records, counts of the table,
thresholds.

Shares are those of the rows that are released, so demands are made anew where rows are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.constraints import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntityShare,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from kanon_sql.constraints.constraint import spot_of
from kanon_sql.constraints.rational import SURE, as_fraction
from kanon_sql.points.points import Codes, Floats, Labels, Points
from kanon_sql.points.sensitive import Counts

DISTINCT, ENTROPY, RECURSIVE, BOUNDED, EQUAL, ORDERED, NUMERIC = range(7)
"""Kinds of demands: l distinct values, the entropy of l, (c, l), shares between bounds, and the
earth mover's distance by the equal ground distance at each level of a hierarchy, by ranks in whole
numbers, and by any gaps."""

FEW = 64
"""The most values of a column of which the counts of each class are kept."""

LARGEST = 4e18
"""What sums of whole numbers stay below, or they are taken as doubles, and SQL has the last
word."""


class Demands(NamedTuple):
    """J demands on every class.

    Each demand looks at one or more columns of codes, one for each level of a hierarchy. Codes of a
    column are 0 .. m, where m stands for a missing value; its tables have m + 1 entries.

    Attributes:
        codes: int32, shape (n, columns).
        kind: int64, shape (J,).
        column: int64, shape (J + 1,); the first column of each.
        values: int64, shape (columns,); m.
        worst: bool, shape (J,); whether a missing value counts against the class, and is no value
            of its own.
        rows: int64, shape (J,); the rows of the table.
        missing: int64, shape (J,); those of them without a value.
        number: float64, shape (J, 2); l and c; t; or the least upper bound of a missing value,
            and the sum of the lower bounds.
        over, under: int64, shape (J,); c or t as a fraction; or how many lower bounds there are.
        first: int64, shape (columns,); where the tables of a column begin.
        counts: int64, shape (T,); how often each value is in the table.
        upto: int64, shape (T,); how many rows have that value or a lower one.
        area: int64, shape (T,); the sum of ``upto`` over all lower values.
        share: float64, shape (T,); of the rows that have a value, those with that or a lower one.
        place: float64, shape (T,); where the value lies between the least, at 0, and the largest,
            at 1.
        moment: float64, shape (T,); the sum of ``share`` times gap over all lower values.
        upper, lower: float64, shape (T,); the bounds of its share of a class.
        kept_at: int64, shape (columns,); where the codes of a column begin among those of which a
            search keeps the counts of each class; -1 for a column of more than FEW values.
        width: how many codes these are.
        most: the most of them in one column.
        light: whether all demands go by the equal ground distance, and all counts are kept.
    """

    codes: Codes
    kind: Labels
    column: Labels
    values: Labels
    worst: npt.NDArray[np.bool_]
    rows: Labels
    missing: Labels
    number: Floats
    over: Labels
    under: Labels
    first: Labels
    counts: Labels
    upto: Labels
    area: Labels
    share: Floats
    place: Floats
    moment: Floats
    upper: Floats
    lower: Floats
    kept_at: Labels
    width: int
    most: int
    light: bool


@dataclass
class _Tables:
    """Columns of codes and their tables, one after the other."""

    codes: list[Codes] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    counts: list[Labels] = field(default_factory=list)
    place: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    lower: list[Floats] = field(default_factory=list)

    def add(
        self, codes: Codes, counts: Labels, place: Floats | None = None,
        upper: Floats | None = None, lower: Floats | None = None,
    ) -> None:
        """One more column; ``counts``: int64, shape (m + 1,)."""
        self.codes.append(codes)
        self.values.append(len(counts) - 1)
        self.counts.append(counts)
        nothing = np.zeros(len(counts))
        self.place.append(nothing if place is None else place)
        self.upper.append(nothing + 1.0 if upper is None else upper)
        self.lower.append(nothing if lower is None else lower)


@dataclass(frozen=True)
class _Demand:
    """One demand, but for its columns.

    Attributes:
        kind: what it is.
        number, fraction: as number, and over and under, of Demands.
        worst: as in Demands.
    """

    kind: int
    number: tuple[float, float] = (0.0, 0.0)
    fraction: Fraction = Fraction(0)
    worst: bool = True


def demands_of(points: Points, models: Sequence[PrivacyModel], kept: Labels) -> Demands:
    """What the models demand of classes of some of the records.

    Args:
        points: n records, with the codes of the sensitive columns that the models name.
        models: at least one.
        kept: int64, shape (m,); the records that are released, which are the table.
    """
    names = [column.name for column in points.sensitive_columns]
    tables, made, column, table_rows, missing = _Tables(), [], [0], [], []
    for model in models:
        spot = spot_of(model.column, names)
        codes = np.ascontiguousarray(points.sensitive[:, spot])
        counts = Counts.of(points.sensitive_columns[spot], codes[kept])
        made.append(_demand(model, codes, counts, tables))
        column.append(len(tables.codes))
        table_rows.append(counts.rows)
        # where a missing value is a value of its own, none is missing
        missing.append(counts.missing if made[-1].worst else 0)
    return _packed(tables, made, column, table_rows, missing)


def _packed(
    tables: _Tables, made: list[_Demand], column: list[int], rows: list[int], missing: list[int]
) -> Demands:
    upto = [np.cumsum(counts) for counts in tables.counts]
    known = [np.cumsum(np.append(counts[:-1], 0)) for counts in tables.counts]
    share = [part / max(int(part[-1]), 1) for part in known]
    moment = [
        np.append(0.0, np.cumsum(part[:-1] * np.diff(place)))
        for part, place in zip(share, tables.place, strict=True)
    ]
    few = np.array([m + 1 if m <= FEW else 0 for m in tables.values], np.int64)
    kept_at = np.where(few > 0, np.cumsum(few) - few, -1)
    return Demands(
        np.ascontiguousarray(np.column_stack(tables.codes).astype(np.int32)),
        np.array([each.kind for each in made], np.int64),
        np.array(column, np.int64),
        np.array(tables.values, np.int64),
        np.array([each.worst for each in made], np.bool_),
        np.array(rows, np.int64),
        np.array(missing, np.int64),
        np.array([each.number for each in made], np.float64).reshape(-1, 2),
        np.array([each.fraction.numerator for each in made], np.int64),
        np.array([each.fraction.denominator for each in made], np.int64),
        np.cumsum([0, *(len(part) for part in tables.counts)])[:-1].astype(np.int64),
        np.concatenate(tables.counts),
        np.concatenate(upto),
        np.concatenate([np.append(0, np.cumsum(part)[:-1]) for part in upto]),
        np.concatenate(share),
        np.concatenate(tables.place),
        np.concatenate(moment),
        np.concatenate(tables.upper),
        np.concatenate(tables.lower),
        kept_at,
        int(few.sum()),
        int(few.max(initial=0)),
        bool((kept_at >= 0).all()) and all(each.kind == EQUAL for each in made),
    )


def _demand(model: PrivacyModel, codes: Codes, table: Counts, tables: _Tables) -> _Demand:
    """The demand of one model, whose columns are added to the tables."""
    worst = model.nulls == "worst"
    if isinstance(model, (DistinctDiversity, EntropyDiversity, RecursiveDiversity)):
        nodes, counts = _nodes(codes, table)
        tables.add(nodes, counts)
        if isinstance(model, RecursiveDiversity):
            return _Demand(RECURSIVE, (model.l, model.c), as_fraction(model.c), worst)
        kind = DISTINCT if isinstance(model, DistinctDiversity) else ENTROPY
        return _Demand(kind, (float(model.l), 0.0), worst=worst)
    if isinstance(model, Closeness):
        return _closeness(model, codes, table, tables)
    if isinstance(model, EntityShare):
        whole = np.append(table.values, table.missing)
        tables.add(codes, whole, upper=np.full(len(whole), 1.0 / model.k))
        return _Demand(BOUNDED, (1.0, 0.0), worst=False)
    if isinstance(model, (AlphaFrequency, DeltaDisclosure, BetaLikeness)):
        return _bounded(model, codes, table, tables)
    raise TypeError(f"No kernel knows the model {model.name}.")


def _nodes(codes: Codes, table: Counts) -> tuple[Codes, Labels]:
    """Codes and counts of values; with a hierarchy, of the nodes just above the leaves, so that
    diversity means something of values of which hardly any two are equal."""
    levels = table.column.levels
    if len(levels) < 2:
        return codes, np.append(table.values, table.missing)
    return _at_level(codes, table, levels[1])


def _at_level(codes: Codes, table: Counts, nodes: Codes) -> tuple[Codes, Labels]:
    """Codes and counts of the nodes of one level; a missing value is a node of its own, the last
    one."""
    many = int(nodes.max(initial=-1)) + 1
    counts = np.bincount(nodes, weights=table.values, minlength=many).astype(np.int64)
    return np.append(nodes, many).astype(np.int32)[codes], np.append(counts, table.missing)


def _closeness(model: Closeness, codes: Codes, table: Counts, tables: _Tables) -> _Demand:
    column, t = table.column, as_fraction(model.t)
    distance, whole = model.distance_of(column), np.append(table.values, table.missing)
    if distance == "equal":
        tables.add(codes, whole)
        return _Demand(EQUAL, (model.t, 0.0), t, worst=False)
    if distance == "hierarchy":
        for nodes in column.levels:
            tables.add(*_at_level(codes, table, nodes))
        return _Demand(EQUAL, (model.t, 0.0), t, worst=False)
    as_value = model.nulls == "value" and distance == "ordered"
    # values that no row of the table has are none of its values
    present = np.flatnonzero(whole > 0 if as_value else whole[:-1] > 0)
    ranks = np.cumsum(whole > 0) - 1
    many = len(present)
    ranks[~(whole > 0)] = 0
    if as_value:
        # a missing value is the last one in the order, so that none is missing
        counts, codes = np.append(whole[present], 0), ranks[codes].astype(np.int32)
        sizes = len(present)
    else:
        ranks[-1] = many
        counts = np.append(whole[present], table.missing)
        codes, sizes = ranks[codes].astype(np.int32), many
    place = np.arange(sizes + 1, dtype=np.float64) / max(sizes - 1, 1)
    if distance == "numeric" and many > 1:
        numbers = column.numbers[present]
        place = np.append((numbers - numbers[0]) / (numbers[-1] - numbers[0]), 1.0)
    place[-1] = place[-2] if sizes else 0.0
    tables.add(codes, counts, place)
    rows = float(table.rows)
    exact = distance == "ordered" and counts[-1] == 0 and sizes * rows * rows < LARGEST
    return _Demand(ORDERED if exact else NUMERIC, (model.t, 0.0), t, worst=not as_value)


def _bounded(
    model: AlphaFrequency | DeltaDisclosure | BetaLikeness, codes: Codes, table: Counts,
    tables: _Tables,
) -> _Demand:
    whole = np.append(table.values, table.missing)
    if isinstance(model, AlphaFrequency):
        upper = np.append(model.bounds(table), 1.0)
        worst = model.nulls == "worst"
        if not worst and model.alpha is not None:
            upper[-1] = model.alpha
        tables.add(codes, whole, upper=upper)
        return _Demand(BOUNDED, (model.least_bound if worst else 1.0, 0.0), worst=worst)
    share = whole / max(table.rows, 1)
    if isinstance(model, DeltaDisclosure):
        lower = math.exp(-model.delta) * share * (1.0 + SURE)
        tables.add(codes, whole, upper=math.exp(model.delta) * share * (1.0 - SURE), lower=lower)
        present = Fraction(int(np.sum(whole > 0)))
        return _Demand(BOUNDED, (1.0, float(lower.sum())), present, worst=False)
    upper = (1.0 + model.beta) * share
    if model.kind == "enhanced":
        most = -np.log(np.where(whole > 0, share, 1.0))
        upper = np.where(model.beta <= most, upper, share * (1.0 + most) * (1.0 - SURE))
        upper[whole == table.rows] = 1.0  # the only value: a class has no more of it than all rows
    tables.add(codes, whole, upper=upper)
    return _Demand(BOUNDED, (1.0, 0.0), worst=False)
