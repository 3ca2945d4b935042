"""Compares all methods on one real table, and draws figure 2 of Aggarwal et al. (2006).

    python examples/guarantees.py               10,000 rows of Adult, in a minute or two
    python examples/guarantees.py --quick       the same on 600 rows
    python examples/guarantees.py --out plots   table (CSV) and figure (PNG, SVG) in that folder

Some methods prove how far from the best they are at most: in the largest radius of a class, in the
cellular cost (rows times radius, summed over the classes), or in suppressed cells. Each such run
also finds a lower bound, so that one sees how far from the best it can be on these rows. The exit
status is 1 if a ratio is above the guaranteed one, or any method below a lower bound.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.methods import METHODS
from kanon_sql.stages.remembered import forget

CENSUS = Path(__file__).resolve().parent.parent / "tests" / "data" / "census.parquet"
KEPT = "salary-class"
ROLES = f"sensitive=['{KEPT}']"
COMPARED = ("many", "few")  # tables of Adult; a third one, of fewer rows, warms up
LEFT_OUT = {
    "optimal_1d": "it takes one numeric column", "full_domain": "it needs hierarchies",
    **{m.name: "it generalizes one attribute"
       for m in METHODS.values() if m.geometry().objective == "size"},
}
VARIANTS = {  # further lines, beside each method with its defaults
    "r_gather": ("epsilon=0.02",),
    "r_cellular": ("epsilon=0.02",),
    "forest": ("effort='balanced'",),
}
RIVALS = (  # what a method for one k is compared with
    ("forest", ""), ("forest", "effort='balanced'"), ("k_member", ""),
    ("k_member", "effort='balanced'"), ("best", "distance='loss'"),
)
AXES = {"AGI": "adjusted gross income", "EMCONTRB": "employer's health insurance contribution"}
POINTS, K_OF_POINTS = 300, 20
MEASURED = {  # on every run: how it is called, and printed
    "information_loss": ("information loss in percent", ".2f"), "ncp_grouping": ("ncp", ".3f"),
    "max_radius": ("radius", ".3f"), "cellular_cost": ("cellular cost", ",.1f"),
    "cells": ("suppressed cells", ",.0f"),
}
QUANTITY = {"radius": "max_radius", "cellular": "cellular_cost", "cells": "cells"}
COLUMNS = (  # of the printed tables: metric, heading, width, digits
    ("information_loss", "loss %", 8, 2), ("ncp_grouping", "ncp", 8, 3),
    ("max_radius", "radius", 8, 3), ("cellular_cost", "cellular", 10, 1), ("cells", "cells", 8, 0),
    ("objective", "", 10, 0), ("cost", "cost", 10, 2), ("lower_bound", "bound", 10, 2),
    ("ratio", "ratio", 7, 2), ("guaranteed_ratio", "at most", 9, 1), ("seconds_group", "s", 9, 2),
)
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Run:
    """One call of a method, and what was measured.

    Attributes:
        method, more: the method, and the options that make it a variant.
        k: the k; None for a method that promises no class size.
        found: the metrics by name; None where there is none.
    """

    method: str
    more: str
    k: int | None
    found: Mapping[str, float | None]

    @property
    def name(self) -> str:
        """How the tables call it."""
        return f"{self.method}, {self.more.replace('=', ' ')}" if self.more else self.method

    @property
    def objective(self) -> str:
        """What it has a guarantee for; '' for none."""
        return METHODS[self.method].geometry().objective or ""

    @property
    def comparable(self) -> bool:
        """Whether it keeps all rows in classes of k."""
        return self.k is not None and not self.found["rows_suppressed"]


def prepared(rows: int, few: int, k: int) -> duckdb.DuckDBPyConnection:
    """A connection with samples of Adult and of CENSUS, the same on every machine."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    for table, count in (("many", rows), ("few", few), ("fewer", max(60, 3 * k))):
        con.execute(
            f"CREATE TABLE {table} AS FROM adult ORDER BY md5(adult::VARCHAR) LIMIT {count}"
        )
    con.execute(
        f"CREATE TABLE points AS SELECT {', '.join(AXES)} FROM read_parquet(?) AS census "
        f"ORDER BY md5(census::VARCHAR) LIMIT {POINTS}", [str(CENSUS)]
    )
    return con


def call(method: str, more: str, k: int | None, roles: str = ROLES) -> str:
    """The options of a call."""
    given = ("" if k is None else f"k={k}", f"method='{method}'", more, roles)
    return ", ".join(option for option in given if option)


@dataclass(frozen=True)
class Lab:
    """Runs the methods.

    Attributes:
        con: a connection with the tables.
        steps: how many rows a search visits, of best or of refine.
    """

    con: duckdb.DuckDBPyConnection
    steps: int

    def run(self, table: str, method: str, more: str, k: int | None, roles: str = ROLES) -> Run:
        """Runs a method and measures it."""
        forget()  # else a repeated call would remember the labels, and take no time
        options = call(method, more, k, roles)
        if "effort" in more or "refine_steps" in METHODS[method].options:
            options += f", refine_steps={self.steps}"
        found: dict[str, float | None] = dict(self.con.execute(
            f"SELECT metric, value FROM anonymize_metrics('{table}', detail=true, {options})"
        ).fetchall())
        found["cells"] = None
        if table in COMPARED and k is not None:
            found["cells"] = self.suppressed_cells(table, options, found["rows_suppressed"] or 0.0)
        return Run(method, more, k, found)

    def suppressed_cells(self, table: str, options: str, left_out: float) -> float:
        """The cells that stay hidden if each class releases only what all its rows agree in."""
        per_column = self.con.execute(
            "SELECT sum((coalesce(COLUMNS(*)::VARCHAR, '*') = '*')::BIGINT) "
            f"FROM (SELECT * EXCLUDE (\"{KEPT}\") FROM anonymize('{table}', {options}, "
            "representation='suppress'))"
        ).fetchall()[0]
        return float(sum(per_column) + left_out * len(per_column))


def lines(k: int) -> list[tuple[str, str, int | None]]:
    """Method, variant and k of each line of the comparison of all methods."""
    return [
        (name, more, k if method.promises_k else None)
        for name, method in METHODS.items()
        if name not in LEFT_OUT and method.only_k is None
        for more in ("", *VARIANTS.get(name, ()))
    ]


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*texts: str) -> None:
    """Prints result lines at once."""
    print(*texts, sep="\n", flush=True)


def row(one: Run) -> str:
    """A table row."""
    cells = [f"{one.name:30}"]
    for metric, _, width, digits in COLUMNS:
        value = one.objective or "-" if metric == "objective" else one.found[metric]
        if isinstance(value, float | int):
            value = f"{value:,.{digits}f}"
        cells.append(f"{'-' if value is None else value:>{width}}")
    return "".join(cells)


def bounds(runs: Iterable[Run]) -> dict[str, float]:
    """For each quantity the largest lower bound of groupings into classes of k."""
    found: dict[str, float] = {}
    for one in runs:
        bound = one.found["lower_bound"]
        if one.k is not None and bound is not None:
            quantity = QUANTITY[one.objective]
            found[quantity] = max(bound, found.get(quantity, 0.0))
    return found


def broken(runs: Sequence[Run]) -> list[str]:
    """What contradicts a guarantee, in words; empty if all is well."""
    wrong = []
    known = bounds(runs)
    for one in runs:
        ratio, limit = one.found["ratio"], one.found["guaranteed_ratio"]
        if ratio is not None and limit is not None and ratio > limit * (1.0 + 1e-9):
            wrong.append(f"{one.name} has the ratio {ratio:.4g}, above {limit:g}")
        for quantity, bound in known.items():
            value = one.found[quantity]
            if one.comparable and value is not None and value < bound * (1.0 - 1e-9):
                wrong.append(f"{one.name} has the {quantity} {value:.6g}, below {bound:.6g}")
    return wrong


def least(runs: Sequence[Run], quantity: str) -> str:
    """Which of the methods that keep all rows in classes of k has least of a quantity, in words."""
    text, form = MEASURED[quantity]
    values = {one.name: one.found[quantity] or 0.0 for one in runs if one.comparable}
    value = min(values.values())
    names = "; ".join(name for name, other in values.items() if other == value)
    bound = bounds(runs).get(quantity)
    below = "" if bound is None else f" (none is below {bound:{form}})"
    return f"{text} {value:{form}}{below}: {names}"


def report(title: str, runs: Sequence[Run], quantities: Iterable[str]) -> list[str]:
    """Prints a table and what it shows; returns what contradicts a guarantee."""
    head = "".join(f"{text:>{width}}" for _, text, width, _ in COLUMNS)
    show("", title, f"{'':30}{head}", *map(row, runs))
    show(*(f"  least {least(runs, quantity)}" for quantity in quantities))
    ratios = {one.name: one.found["ratio"] or 0.0 for one in runs if one.found["guaranteed_ratio"]}
    furthest, wrong = max(ratios, key=lambda name: ratios[name]), broken(runs)
    show(*(f"  BROKEN: {text}" for text in wrong) if wrong else (
        f"  all {len(ratios)} ratios are within what is guaranteed, the largest is "
        f"{ratios[furthest]:.2f}: {furthest}",
    ))
    return wrong


@dataclass(frozen=True)
class Cluster:
    """A published cluster, in standard deviations from the mean of each attribute.

    Attributes:
        center: its published center.
        size: how many points it has.
        radius: how far from its center they are at most, rounded up to two digits.
        members: those points.
    """

    center: tuple[float, float]
    size: int
    radius: float
    members: list[tuple[float, float]]


def clusters(con: duckdb.DuckDBPyConnection, method: str) -> list[Cluster]:
    """The clusters of the points; which point belongs to which is told by anonymize."""
    options, attributes = call(method, "", K_OF_POINTS, ""), ", ".join(AXES)
    scaled = ", ".join(  # what a radius is measured in
        f"({name} - (SELECT avg({name}) FROM points)) / (SELECT stddev_pop({name}) FROM points)"
        for name in AXES
    )
    points = con.execute(f"SELECT {scaled} FROM points").fetchall()
    centers = con.execute(
        f"SELECT {scaled} FROM anonymize('points', {options}, keep_order=true)"
    ).fetchall()
    members: dict[tuple[float, float], list[tuple[float, float]]] = defaultdict(list)
    for center, point in zip(centers, points, strict=True):
        members[center].append(point)
    published = con.execute(
        f"SELECT {scaled}, num_points, radius FROM anonymize_clusters('points', {options}) "
        f"ORDER BY {attributes}"
    ).fetchall()
    return [Cluster((x, y), size, radius, members[x, y]) for x, y, size, radius in published]


Panel = tuple[str, str, Sequence[Cluster], Sequence[float]]
"""Its title, its color, the clusters, and for each the radius of its circle (none: points only)."""


def draw(panels: Sequence[Panel], target: Path) -> None:
    """Writes figure 2 as SVG, and as PNG beside it."""
    import matplotlib
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    matplotlib.rcParams["svg.hashsalt"] = "guarantees"
    figure = Figure(figsize=(13.0, 5.4), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True)
    for ax, (title, color, found, radii) in zip(axes, panels, strict=True):
        places = [point for cluster in found for point in cluster.members]
        ax.scatter(*zip(*places, strict=True), s=5, color="#404040", linewidths=0, zorder=3)
        for cluster, radius in zip(found, radii, strict=False):
            spokes = [(cluster.center, point) for point in cluster.members]
            ax.add_collection(LineCollection(spokes, colors="#B0B0B0", linewidths=0.4, zorder=1))
            ax.add_patch(Circle(cluster.center, radius, fill=False, color=color, linewidth=0.9))
            ax.annotate(
                str(cluster.size), cluster.center, ha="center", va="center", color="white",
                fontsize=7, zorder=4,
                bbox={"boxstyle": "circle,pad=0.2", "facecolor": color, "edgecolor": "white"},
            )
        ax.set_title(title, fontsize=10, loc="left")
        ax.set_aspect("equal")
        ax.set_xlabel(f"{next(iter(AXES.values()))},\nin standard deviations from the mean")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"{list(AXES.values())[1]},\nin standard deviations from the mean")
    figure.savefig(target, metadata={"Date": None})
    figure.savefig(target.with_suffix(".png"), dpi=150)


def figure_2(con: duckdb.DuckDBPyConnection, target: Path) -> None:
    """The points, the clusters of r_gather in circles of one radius, those of r_cellular in own."""
    gathered, cells = clusters(con, "r_gather"), clusters(con, "r_cellular")
    widest, own = max(each.radius for each in gathered), [each.radius for each in cells]
    panels = (
        (f"(a) {POINTS} rows of CENSUS", "#000000", gathered, ()),
        (f"(b) r_gather, k = {K_OF_POINTS}: {len(gathered)} clusters and their sizes,\n"
         f"each in a circle of the maximum radius {widest:g}", "#0072B2", gathered,
         [widest] * len(gathered)),
        (f"(c) r_cellular, k = {K_OF_POINTS}: {len(cells)} clusters and their sizes,\n"
         "each in a circle of its own radius", "#D55E00", cells, own),
    )
    try:
        draw(panels, target)
        show(f"drawn: {target} and .png")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("The figure was not drawn: it needs matplotlib, pip install 'kanon_sql[plots]'")


def write(tables: Mapping[str, Sequence[Run]], target: Path) -> None:
    """All runs as CSV."""
    names = ("rows", "rows_suppressed", "classes", *MEASURED, "cost", "lower_bound", "ratio",
             "guaranteed_ratio", "seconds_group")
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "method", "options", "k", "objective", *names])
        for table, runs in tables.items():
            for one in runs:
                found = [one.found[name] for name in names]
                writer.writerow([table, one.method, one.more, one.k, one.objective, *found])


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="600 rows, and 40 for pairs, triples")
    parser.add_argument("--rows", type=int, default=10_000, help="for all methods (10000)")
    parser.add_argument("--few", type=int, default=100, help="rows for pairs and triples (100)")
    parser.add_argument("--k", type=int, default=5, help="the k for all methods (5)")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="for CSV and plots")
    options = parser.parse_args(given)
    if options.quick:
        options.rows, options.few = 600, 40
    if options.k < 2 or options.rows < 10 * options.k or options.few < 12:
        parser.error("--k has to be 2 or more, --rows 10 times k or more, --few 12 or more")
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Runs the comparisons one after the other."""
    options = arguments(given)
    rows, few, k = options.rows, options.few, options.k
    options.out.mkdir(parents=True, exist_ok=True)
    con = prepared(rows, few, k)
    lab = Lab(con, 100_000 if options.quick else 1_000_000)
    every = lines(k)
    fixed = [(m.name, "", m.only_k) for m in METHODS.values() if m.only_k is not None]
    running("loading the kernels; the first run compiles them")
    for one in dict.fromkeys((*every, *fixed, *((*rival, k) for rival in RIVALS))):
        Lab(con, 1).run("fewer", *one)
    show("Rows of Adult, sampled by a hash. Most of a line is what these calls tell:",
         f"FROM anonymize_metrics('adult', detail=true, {call('r_gather', '', k)})",
         "Radius and cellular cost in standard deviations around published centers; cells that",
         "stay hidden if a class releases only what its rows agree in. Cost is what the guarantee",
         "is about, bound what no grouping is below, ratio the one over the other, at most what",
         "is guaranteed for cost over the least possible. Seconds are those of the method;",
         f"the searches of best and of refine 'local' visit {lab.steps:,} rows.",
         *(f"Not here: {name}, as {why}." for name, why in LEFT_OUT.items()))
    running("all methods")
    tables = {"all methods": [lab.run("many", *one) for one in every]}
    wrong = report(f"All methods: {rows:,} rows, k = {k}", tables["all methods"], MEASURED)
    for name, _, own in fixed:
        running(name)
        tables[name] = [lab.run("few", *one, own) for one in ((name, ""), *RIVALS)]
        wrong += report(f"For k = {own} only: {name}, {few} rows", tables[name], ["cells"])
    running("figure 2")
    tables["figure 2"] = [
        lab.run("points", name, "", K_OF_POINTS, "") for name in ("r_gather", "r_cellular")
    ]
    title = f"Figure 2: {POINTS} rows of CENSUS, {' and '.join(AXES)}, k = {K_OF_POINTS}"
    wrong += report(title, tables["figure 2"], ["max_radius", "cellular_cost"])
    write(tables, options.out / "guarantees.csv")
    show("", f"written: {options.out / 'guarantees.csv'}")
    figure_2(con, options.out / "guarantees-figure2.svg")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
