"""t-closeness and diversity: ours beside the algorithms of a paper, and their price in Total-IL.

    python examples/closeness.py               both tables, in six minutes of processor time
    python examples/closeness.py --quick       four cells of the first, few rows for the second
    python examples/closeness.py --out plots   the tables as CSV in that folder

The first table is CENSUS in the experiment of Soria-Comas et al. (2015), whose three algorithms
stand in soria_comas2015.py: the best of them beside our search, for the same k and t. Ours are
counted on what is released: rows that are released alike are a cluster, whose distance and loss
are measured by the code that measures theirs. The exit status is 1 if ours loses more in any cell,
or has a cluster below k or further than t.

The second is Adult with the hierarchies of the ARX project, by k_member and search: what each
demand costs in Total-IL (Byun et al. 2006), beside the same call without it.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from soria_comas2015 import ALGORITHMS, CENSUS, CONFIDENTIAL, QUASI, SURE, TS, Clusters, census

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.stages.remembered import forget

TREES = CENSUS.parent / "hierarchies"
KS = (2, 5, 10)
SEED = 2015  # with a demand the seed is secret, and another one in each process, unless it is given
OURS = f"seed={SEED}, effort='balanced'"
K_OF_DEMANDS = 5
DEMANDS = {  # of the second table: by sensitive column, what is asked of it
    "occupation": (
        "l=3", "l=3, diversity_kind='entropy'", "l=3, c=3, diversity_kind='recursive'",
        "alpha=0.5", "t=0.3, closeness='equal'",
    ),
    "salary-class": ("l=2", "t=0.15"),
}
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Cell:
    """One cell of the experiment, and the losses in percent.

    Attributes:
        confidential, k, t: what is asked.
        theirs: the loss of each of the algorithms, by name.
        ours: our loss.
        distance, least: the largest distance of our clusters, and the size of the smallest.
        seconds: what ours took.
    """

    confidential: str
    k: int
    t: float
    theirs: Mapping[str, float]
    ours: float
    distance: float
    least: int
    seconds: float

    @property
    def best(self) -> float:
        """The least loss of theirs."""
        return min(self.theirs.values())

    @property
    def kept(self) -> bool:
        """Whether all of our clusters have k rows and are near enough."""
        return self.least >= self.k and self.distance <= self.t + SURE

    @property
    def won(self) -> bool:
        """Whether they are, and lose less."""
        return self.kept and self.ours < self.best


def call(cell: tuple[str, int, float], more: str) -> str:
    """The options of one of our calls."""
    confidential, k, t = cell
    return f"k={k}, t={t}, closeness='ordered', sensitive=['{confidential}'], {OURS}{more}"


def released(con: duckdb.DuckDBPyConnection, options: str) -> Clusters:
    """The clusters of a release of the table ``census``: rows that are released alike."""
    rows = con.execute(
        f"SELECT {', '.join(QUASI)} FROM anonymize('census', {options}, keep_order=true)"
    ).fetchall()
    found: dict[Any, list[int]] = {}
    for place, row in enumerate(rows):
        found.setdefault(row, []).append(place)
    return [np.array(members, dtype=np.int64) for members in found.values()]


def cells(ks: Sequence[int], ts: Sequence[float], more: str) -> Iterator[Cell]:
    """Every cell of the first table."""
    for confidential in CONFIDENTIAL:
        records, con = census(confidential), connection()
        names = ", ".join((*QUASI, confidential))
        con.execute(  # in the order of the records
            f"CREATE TABLE census AS SELECT {names} FROM read_parquet(?) ORDER BY ALL",
            [str(CENSUS)],
        )
        for k in ks:
            for t in ts:
                running(f"{confidential}, k = {k}, t = {t}")
                theirs = {
                    name: records.loss(algorithm(records, k, t))
                    for name, algorithm in ALGORITHMS.items()
                }
                forget()  # else a repeated call would remember the labels, and take no time
                started = time.perf_counter()
                own = released(con, call((confidential, k, t), more))
                yield Cell(
                    confidential, k, t, theirs, records.loss(own),
                    max(map(records.distance, own)), min(map(len, own)),
                    time.perf_counter() - started,
                )


def first_table(found: Iterable[Cell]) -> list[Cell]:
    """Prints the cells as they come, and what they show."""
    show(
        "CENSUS: information loss in percent for k and t, by the algorithms of Soria-Comas et al.,",
        "the best of them, and ours; and the largest distance of our clusters. As a call:",
        f"FROM anonymize('census', {call(('FEDTAX', 5, 0.05), '')})", "",
        f"{'':8}{'k':>4}{'t':>6}" + "".join(f"{name:>13}" for name in ALGORITHMS)
        + f"{'best':>8}{'ours':>8}{'share':>8}{'distance':>10}{'s':>7}",
    )
    all_cells = []
    for cell in found:
        all_cells.append(cell)
        show(
            f"{cell.confidential:8}{cell.k:4}{cell.t:6.2f}"
            + "".join(f"{loss:13.2f}" for loss in cell.theirs.values())
            + f"{cell.best:8.2f}{cell.ours:8.2f}{cell.ours / cell.best:8.2f}"
            + f"{cell.distance:10.4f}{cell.seconds:7.1f}"
            + ("" if cell.kept else "  BROKEN") + ("" if cell.won else "  more than the best")
        )
    shares = [cell.ours / cell.best for cell in all_cells]
    show(
        f"Ours loses less in {sum(cell.won for cell in all_cells)} of {len(all_cells)} cells: "
        f"{np.mean(shares):.2f} of the best of the three on average, {min(shares):.2f} to "
        f"{max(shares):.2f}."
    )
    return all_cells


@dataclass(frozen=True)
class Price:
    """What a demand costs.

    Attributes:
        sensitive, demand: what is asked; '' for nothing.
        found: the metrics of the call.
    """

    sensitive: str
    demand: str
    found: Mapping[str, float]


def prices(rows: int, more: str) -> Iterator[Price]:
    """Every line of the second table: for each sensitive column first the call without a demand."""
    con = connection()
    con.execute("CREATE TABLE whole AS FROM read_parquet(?) LIMIT ?", [adult(), rows])
    # one sensitive column at a time: occupations beside what an occupation is about
    con.execute('CREATE TABLE "adult occupation" AS SELECT * EXCLUDE ("salary-class") FROM whole')
    con.execute('CREATE TABLE "adult salary-class" AS FROM whole')
    for sensitive, demands in DEMANDS.items():
        table = f"adult {sensitive}"
        names = [row[0] for row in con.execute(f'DESCRIBE "{table}"').fetchall()]
        trees = {n: str(TREES / f"adult_hierarchy_{n}.parquet") for n in names if n != sensitive}
        for demand in ("", *demands):
            running(f"{sensitive}: {demand or 'no demand'}")
            forget()
            options = f", {demand}, seed={SEED}" if demand else ""
            found = con.execute(
                f"SELECT metric, value FROM anonymize_metrics('\"{table}\"', detail=true, "
                f"k={K_OF_DEMANDS}, "
                f"method='k_member', effort='balanced', sensitive=['{sensitive}'], "
                f"hierarchies={trees}{options}{more})"
            ).fetchall()
            yield Price(sensitive, demand, dict(found))


def second_table(found: Iterable[Price], rows: int) -> list[Price]:
    """Prints the prices as they come."""
    show(
        "", f"Adult, {rows:,} rows, k = {K_OF_DEMANDS}, hierarchies of the ARX project: Total-IL "
        "of k_member and search,", "alone and with a demand. Total-IL in cells, NCP as the share.",
        "", f"{'sensitive':14}{'demand':40}{'Total-IL':>12}{'NCP':>8}{'times':>7}{'classes':>9}"
        f"{'s':>8}",
    )
    lines: list[Price] = []
    without = 1.0
    for line in found:
        lines.append(line)
        loss = line.found["total_il_grouping"]
        without = without if line.demand else loss
        show(
            f"{line.sensitive:14}{line.demand or 'none':40}{loss:12,.1f}"
            f"{line.found['ncp_grouping']:8.4f}{loss / without:7.3f}{line.found['classes']:9,.0f}"
            f"{line.found['seconds_group']:8.1f}"
        )
    return lines


def connection() -> duckdb.DuckDBPyConnection:
    """A connection with kanon_sql."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    return con


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*lines: str) -> None:
    """Prints result lines at once."""
    print(*lines, sep="\n", flush=True)


def write(found: Sequence[Cell], paid: Sequence[Price], folder: Path) -> None:
    """Both tables as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "closeness-census.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["confidential", "k", "t", *ALGORITHMS, "ours", "distance", "least_class", "seconds"]
        )
        for c in found:
            writer.writerow([c.confidential, c.k, c.t, *c.theirs.values(), c.ours, c.distance,
                             c.least, c.seconds])
    names = ("total_il_grouping", "ncp_grouping", "classes", "k", "seconds_group")
    with (folder / "closeness-adult.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sensitive", "demand", *names])
        writer.writerows(
            [line.sensitive, line.demand, *(line.found[name] for name in names)] for line in paid
        )
    show("", f"written: {folder / 'closeness-census.csv'} and closeness-adult.csv")


def main(given: Sequence[str] | None = None) -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="four cells, and 600 rows of Adult")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="for CSV")
    options = parser.parse_args(given)
    ks, ts = ((5,), (0.09, 0.25)) if options.quick else (KS, TS)
    rows = 600 if options.quick else 30_162
    more = ", refine_steps=1000000" if options.quick else ""
    found = first_table(cells(ks, ts, more))
    paid = second_table(prices(rows, more), rows)
    write(found, paid, options.out)
    return 0 if all(cell.won for cell in found) else 1


if __name__ == "__main__":
    sys.exit(main())
