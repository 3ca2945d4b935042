"""The encoded relation: rows in canonical order, and the points that geometries make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from kanon_sql.encode.attributes import Attribute, Categorical, Numeric
from kanon_sql.encode.cells import Mask
from kanon_sql.encode.coordinates import geographic, on_sphere, refuse_beyond_degrees
from kanon_sql.encode.order import Indices
from kanon_sql.errors import DataError
from kanon_sql.names import caseless
from kanon_sql.points.points import (
    Codes,
    Floats,
    Grouping,
    LossPoints,
    MetricPoints,
    Points,
)
from kanon_sql.points.sensitive import SensitiveColumn

Kind = TypeVar("Kind", bound=Points)


@dataclass(frozen=True)
class Encoded:
    """The encoded relation, n rows in canonical order.

    Attributes:
        attributes: how each quasi-identifier lies in the geometries, in the relation's order.
        columns: its values: float64 shape (n,) with NaN for a missing number, or codes, int32
            shape (n, height).
        order: int64, shape (n,); the position in the input of each canonical record.
        missing: bool, shape (n, attributes); where the value is NULL or NaN.
        label: int32, shape (n,); codes of the class label, 0 if unused.
        sensitive: int32, shape (n, s); codes of the sensitive columns that were asked for.
        sensitive_columns: what these codes mean.
        protected: bool, shape (values + 1,); whether each value of the first sensitive column,
            NULL last, is truly sensitive.
        extra: float64, shape (n,) or (0,); a number of each row that its method needs.
    """

    attributes: tuple[Attribute, ...]
    columns: tuple[Floats | Codes, ...]
    order: Indices
    missing: Mask
    label: Codes
    sensitive: Codes
    sensitive_columns: tuple[SensitiveColumn, ...]
    protected: Mask
    extra: Floats

    def _carrying(self, points: Kind) -> Kind:
        """The points, with the sensitive codes of their records."""
        return replace(
            points, sensitive=self.sensitive, sensitive_columns=self.sensitive_columns
        )

    def squared(self) -> Points:
        """Points for squared distances; attributes without variance or weight are left out."""
        places = [
            attribute.coordinates(column.astype(np.float64))
            for attribute, column in zip(self.attributes, self.columns, strict=True)
            if isinstance(attribute, Numeric)
            and (attribute.factor > 0.0 or attribute.indicator > 0.0)
        ]
        used = [
            (attribute, column)
            for attribute, column in zip(self.attributes, self.columns, strict=True)
            if isinstance(attribute, Categorical) and attribute.squared.any()
        ]
        nothing = np.zeros((len(self.order), 0))
        return self._carrying(Points.of(
            np.column_stack(places) if places else nothing,
            np.column_stack([column for _, column in used]) if used else nothing,
            np.concatenate([[], *(attribute.squared for attribute, _ in used)]),
        ))

    def losses(self, loss: str = "range_flat", weighted: bool = True) -> LossPoints:
        """Points for information loss; every attribute is there.

        Args:
            loss: what categories lose. 'range_flat': the height of the lowest common ancestor
                over that of the hierarchy, 1 without one. 'range_distinct': (values - 1) / (values
                of the column - 1), of the class, or below the ancestor (each level counts what its
                nodes have on average).
            weighted: whether attributes have their weights; else all have 1.
        """
        places, caps = [], []
        codes: list[Codes] = []
        scale: list[float] = []
        limit: list[int] = []
        first: list[int] = []
        for attribute, column in zip(self.attributes, self.columns, strict=True):
            weight = attribute.weight if weighted else 1.0
            if isinstance(attribute, Numeric):
                places.append(attribute.place(column.astype(np.float64), weight))
                caps.append(weight)
                continue
            height = attribute.nodes.shape[1]
            codes.append(column.astype(np.int32))
            counted = loss == "range_distinct"
            most = attribute.present - 1 if counted and not attribute.in_tree else 1
            shares = attribute.distinct if counted else np.full(height, 1.0 / height)
            first += [len(scale)] * height
            scale += (weight / max(most, 1) * shares).tolist()
            limit += [max(most, 1)] * height
        nothing = np.zeros((len(self.order), 0))
        return self._carrying(LossPoints.of(
            np.column_stack(places) if places else nothing,
            np.column_stack(codes) if codes else nothing,
            scale, caps, limit, first, self.label, self.protected,
        ))

    def cells(self, flat: bool = False) -> LossPoints:
        """Points for generalized cells: each attribute is one column of codes for each level of its
        hierarchy, or one (also where ``flat``); every value of a number or date is a category.

        Source: aggarwal2005, section 2: a generalization to level h of l costs h / l.
        """
        codes: list[Codes] = []
        scale: list[float] = []
        first: list[int] = []
        for attribute, column in zip(self.attributes, self.columns, strict=True):
            levels = _level_codes(attribute, column)[:, : 1 if flat else None]
            height = levels.shape[1]
            first += [len(scale)] * height
            scale += [attribute.weight / height] * height
            codes.append(levels)
        return self._carrying(LossPoints.of(
            np.zeros((len(self.order), 0)), np.column_stack(codes), scale, first=first
        ))

    def in_metric(self, metric: str) -> MetricPoints:
        """Points in a metric, one of DISTANCES_OF_CENTERS; needs an encoding by distance 'sse'.

        Raises:
            DataError: metric 'haversine' over anything but a latitude and a longitude.
        """
        if metric == "euclidean":
            plain = self.squared()
            points = MetricPoints.of(plain.numeric, plain.codes, plain.scale, "root")
        elif metric == "haversine":
            points = MetricPoints.of(on_sphere(*self.places_in(self.columns)), form="arc")
        else:
            cells = self.cells(flat=metric == "hamming")
            points = MetricPoints.of(cells.numeric, cells.codes, cells.scale / 2.0, "plain")
        return self._carrying(points)

    def places_in(self, columns: Sequence[Any]) -> tuple[Floats, Floats]:
        """The latitudes and longitudes in degrees, of two columns that are known by their names.

        Raises:
            DataError: other columns, or values that are no places.
        """
        names = [attribute.name for attribute in self.attributes]
        spots = geographic(names)
        numbers = all(isinstance(attribute, Numeric) for attribute in self.attributes)
        if len(names) != 2 or spots is None or not numbers:
            raise DataError(
                "The metric 'haversine' needs two quasi-identifiers, the latitude and the "
                "longitude in degrees, with names such as lat and lon, and there are: "
                f"{', '.join(names)}. Choose them in quasi_identifiers, or take another metric."
            )
        places = [np.asarray(columns[spot], dtype=np.float64) for spot in spots]
        refuse_beyond_degrees(places[0], places[1], [names[spot] for spot in spots])
        return places[0], places[1]

    @property
    def facts(self) -> dict[str, float]:
        """What is reported of the encoding itself."""
        return {}

    def whole(self, grouping: Grouping) -> Grouping:
        """The grouping of all rows; here every row is a record."""
        return grouping

    def named(self, facts: Mapping[Any, float]) -> dict[str, Any]:
        """The facts, the levels of full_domain by the names of the columns, in lower case."""
        names = [caseless(a.name) for a in self.attributes if isinstance(a, Categorical)]
        levels = {f"level {number}": f"level {name}" for number, name in enumerate(names)}
        return {levels.get(fact, fact): value for fact, value in facts.items()}

    def in_order(self, values: Any) -> Any:
        """Values of the rows, shape (n,), in the order of the records."""
        return values[self.order]

    def bare(self) -> Encoded:
        """What is left to be known when the points are made: nothing of the rows."""
        nothing = np.zeros(0, np.int32)
        return replace(
            self, columns=(), order=np.zeros(0, np.int64), missing=np.zeros((0, 0), np.bool_),
            label=nothing, sensitive=nothing[:, None], sensitive_columns=(),
            extra=np.zeros(0),
        )


def _level_codes(attribute: Attribute, column: Any) -> Codes:
    """The codes of a column at each level: int32, shape (n, height)."""
    if isinstance(attribute, Categorical):
        return np.asarray(column, dtype=np.int32)
    return np.unique(column, return_inverse=True)[1].reshape(-1, 1).astype(np.int32)
