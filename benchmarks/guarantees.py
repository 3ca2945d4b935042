"""The methods with a guarantee: time, memory, and how near to the best they prove to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K, COLUMNS = 5, 4
METHODS = ("r_gather", "cellular", "r_cellular", "forest")
FACTORS = {"pairs": (2, 2_000), "triples": (3, 600)}
"""k, and the most rows for which they are exact."""
KINDS = ("normal", "heavy tails", "categories")


def made_up(kind: str, n: int) -> Any:
    """n records of four columns: standard normal, Student's t with two degrees of freedom, or
    categories of 10 to 40 values that count 1 each where they differ. MetricPoints."""
    import numpy as np

    from kanon_sql.points.points import MetricPoints

    rng = np.random.default_rng([n, KINDS.index(kind)])
    if kind == "categories":
        codes = np.column_stack([
            np.minimum(rng.geometric(4.0 / most, n), most) for most in (10, 20, 30, 40)
        ])
        codes = codes[np.lexsort(codes.T[::-1])]
        return MetricPoints.of(np.zeros((n, 0)), codes, np.full(COLUMNS, 0.5), "plain")
    draw = rng.standard_normal if kind == "normal" else lambda size: rng.standard_t(2, size)
    values = draw((n, COLUMNS))
    return MetricPoints.of(values[np.argsort(values[:, 0], kind="stable")])


def guarantee(method: str, kind: str, n: int) -> Outcome:
    """Seconds and peak of one method, and its cost over its lower bound."""
    import numpy as np

    from benchmarks.meter import measured
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import task_for
    from kanon_sql.methods.centers.geometry import facility_costs
    from kanon_sql.methods.centers.lower_bounds import keys_between
    from kanon_sql.points.losses import generalized_cells as cost
    from kanon_sql.points.points import LossPoints, MetricPoints

    def prepared(rows: int) -> Any:
        points = made_up(kind, rows)
        if method == "forest" or method in FACTORS:
            return LossPoints.of(np.zeros((rows, 0)), points.codes, np.ones(COLUMNS))
        return facility_costs(points, None) if method == "cellular" else points

    options = {"k": K, "method": method, "block_rows": max(n, 1000)}
    if method in FACTORS:
        options = {"k": FACTORS[method][0], "method": method}
    group_points(prepared(100 if method in FACTORS else 1_000), task_for(**options))
    points = prepared(n)
    found = measured(lambda: group_points(points, task_for(**options)))
    grouping = found.result
    if isinstance(points, MetricPoints):
        keys = keys_between(points, np.arange(n), grouping.centers[grouping.labels])
        radii = np.zeros(len(grouping.centers))
        np.maximum.at(radii, grouping.labels, points.distances(keys))
        paid = float(radii.max())
        if method != "r_gather":
            paid = float(np.bincount(grouping.labels) @ radii)
        paid += grouping.facts.get("facility", 0.0)
    else:
        paid = cost(points, grouping.labels)
    return {
        **found.numbers(n * COLUMNS * 8), "ratio": paid / grouping.facts["lower_bound"],
        "guaranteed": grouping.facts["guaranteed_ratio"],
    }


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """One line for each method, kind of data and size."""
    table = Table(
        f"Guarantees: {COLUMNS} columns, k = {K}, one block",
        ["method", "data", "rows", "s", "peak / matrix", "cost / bound", "guaranteed"], digits=3,
        notes=[
            "the grouping alone; forest, pairs and triples see categories only.",
            "pairs with k = 2 and triples with k = 3, on as many rows as they are exact for; the "
            "peak is without the process that solves their programs.",
        ],
    )
    for method in (*METHODS, *FACTORS):
        numbers = method not in ("forest", *FACTORS)
        sizes = [FACTORS[method][1]] if method in FACTORS else plan.guarantees
        for kind in KINDS if numbers else ("categories",):
            for n in map(plan.rows, sizes):
                say(f"guarantees: {method}, {kind}, {n:,} rows")
                found = apart("guarantees:guarantee", plan.limit, method=method, kind=kind, n=n)
                row: list[Cell] = [method, kind, n]
                names = ("seconds", "multiple", "ratio", "guaranteed")
                row += (
                    [found["failed"], None, None, None] if "failed" in found
                    else [found[name] for name in names]
                )
                table.rows.append(row)
    return [table]
