"""Records of all kinds that searches meet, as points of squared errors and of information loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kanon_sql.points.points import LossPoints, Points

Draw = np.random.Generator
SCALES = (0.5, 1.25, 0.3, 1.0, 0.7, 2.0)


def correlated(draw: Draw, n: int, d: int, rank: int) -> Any:
    """Numbers near a plane of few dimensions: principal axes bound them more tightly."""
    plane = draw.normal(size=(n, rank)) @ draw.normal(size=(rank, d))
    return plane + 0.05 * draw.normal(size=(n, d))


def far_apart(draw: Draw, n: int) -> Any:
    """Fine gaps beside coarse ones, far from the origin, and a few records far from all others."""
    table = draw.normal(size=(n, 4)) * (1e-3, 1.0, 1e3, 1e-3) + (1e6, 0.0, -1e6, 1e6)
    table[draw.integers(n, size=3)] += 1e6
    return table


def constants(draw: Draw, n: int) -> Any:
    """One attribute that varies among three that don't."""
    return np.column_stack([np.full((n, 2), 0.1), draw.normal(size=n), np.full(n, -3.3)])


NUMERIC: dict[str, Callable[[Draw, int], Any]] = {
    "normal": lambda draw, n: draw.normal(size=(n, 4)),
    "correlated": lambda draw, n: correlated(draw, n, 8, 2),
    "wide_correlated": lambda draw, n: correlated(draw, n, 30, 8),
    "grid": lambda draw, n: draw.integers(6, size=(n, 3)).astype(np.float64),
    "few": lambda draw, n: draw.normal(size=(10, 3))[draw.integers(10, size=n)],
    "constants": constants,
    "alike": lambda draw, n: np.full((n, 2), 0.1),
    "nominal": lambda draw, n: np.zeros((n, 0)),
    "mixed": lambda draw, n: draw.normal(size=(n, 2)).round(1),
    "tied": lambda draw, n: draw.integers(3, size=(n, 1)).astype(np.float64),
    "mixed_correlated": lambda draw, n: correlated(draw, n, 5, 2),
    "same_bit": lambda draw, n: draw.normal(size=(n, 1)) * 0.1,
    "six_texts": lambda draw, n: np.zeros((n, 0)),
    "zips": lambda draw, n: draw.integers(70, size=(n, 1)).astype(np.float64),
    "one": lambda draw, n: draw.normal(size=(n, 1)),
    "far_apart": far_apart,
    "wide": lambda draw, n: draw.normal(size=(n, 40)),
}
WIDTHS = {
    "nominal": (5, 70, 300), "mixed": (3, 90), "mixed_correlated": (4,),
    "six_texts": (51, 8, 3, 16, 10, 41), "zips": (1_500, 2), "tied": (2, 4),
}


def categories(draw: Draw, kind: str, n: int) -> list[Any]:
    """The category codes of each nominal attribute; those 64 apart share a bit in a tree."""
    if kind == "zips":  # most of them rare, some frequent
        common = (1_500 * draw.random(n) * draw.random(n) * draw.random(n)).astype(np.int64)
        return [common, draw.integers(2, size=n)]
    if kind == "same_bit":
        return [draw.choice((0, 64, 128), size=n, p=(0.01, 0.09, 0.9))]
    # of every other attribute the last categories are the frequent ones, else the first
    return [
        (np.minimum, np.maximum)[a % 2](draw.integers(m, size=n), draw.integers(m, size=n))
        for a, m in enumerate(WIDTHS.get(kind, ()))
    ]


def points_of(kind: str, n: int, seed: int = 1) -> Points:
    """Records of a kind, in no particular order."""
    draw = np.random.default_rng([seed, n])
    numeric, codes = NUMERIC[kind](draw, n), categories(draw, kind, n)
    return Points.of(numeric, np.array(codes).reshape(-1, n).T, SCALES[: len(codes)])


def loss_points_of(kind: str, n: int, seed: int = 1, distinct: bool = False) -> LossPoints:
    """The same, numbers over their range, in canonical order; with ``distinct`` each distinct
    category of a class costs."""
    points = points_of(kind, n, seed)
    numeric, codes = points.numeric, points.codes
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1], np.zeros(n)])
    numeric, codes = numeric[order], codes[order]
    if numeric.shape[1] > 0:
        low, high = numeric.min(axis=0), numeric.max(axis=0)
        numeric = (numeric - low) / np.where(high > low, high - low, 1.0)
    draw = np.random.default_rng([seed, n, 1])
    limit = np.maximum(codes.max(axis=0), 1) if distinct else np.ones(codes.shape[1])
    return LossPoints.of(
        numeric, codes, points.scale / limit, None, limit, label=draw.integers(3, size=n),
        sensitive=draw.integers(4, size=n), protected=[True, False, True, False],
    )
