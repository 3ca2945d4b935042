"""Does my model survive? Models fitted to original and to released rows, tested on held-out rows.

    python examples/model_survives.py [--quick] [--out FOLDER]

A logistic regression predicts the salary class of Adult, a linear regression the state tax of
CENSUS. Both are fitted to original rows and to releases of them, and tested on original rows that
no fit has seen. A third table shows means of skewed columns. Writes a picture, and figures as CSV.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter

import kanon_sql
from kanon_sql.data import adult

CENSUS = Path(__file__).parents[1] / "tests" / "data" / "census.parquet"

SPLITS = 5
"""How often the rows are split at random; two of three rows train, the third tests."""
BALANCED = "effort='balanced'"
SKEWED = ("STATETAX", "POTHVAL", "INTVAL")
BEFORE, AFTER = "#6b7280", "#0d9488"
DOTS = 110

Table = dict[str, npt.NDArray[Any]]
Numbers = npt.NDArray[np.float64]


# --- models ---------------------------------------------------------------------------------------


def logistic(x: Numbers, y: Numbers) -> Numbers:
    """The coefficients of a logistic regression, by iteratively reweighted least squares.

    A small ridge keeps it solvable where a category has only one outcome.
    """
    beta = np.zeros(x.shape[1])
    ridge = np.eye(x.shape[1])
    for _ in range(25):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        step = np.linalg.solve(
            (x.T * (p * (1.0 - p))) @ x + ridge, x.T @ (y - p) - ridge @ beta
        )
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def linear(x: Numbers, y: Numbers) -> Numbers:
    """The coefficients of a linear regression, by least squares."""
    return np.linalg.lstsq(x, y, rcond=None)[0]


def auc(y: Numbers, score: Numbers) -> float:
    """The chance that a row of class 1 has a higher score than one of class 0; ties count half."""
    values, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place] if len(values) else score
    ones = y.sum()
    return float((rank[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones)))


def r2(y: Numbers, predicted: Numbers) -> float:
    """The share of the variance that the model explains; below 0 it is worse than the mean."""
    return float(1.0 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def mae(y: Numbers, predicted: Numbers) -> float:
    """The mean absolute error."""
    return float(np.abs(y - predicted).mean())


# --- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A table and what is predicted of it.

    Attributes:
        name: of the task.
        source: the relation.
        target: the column that is predicted.
        one: the value of class 1, or None for a regression.
        score: the measure of the test.
        releases: k, and more options, of each.
    """

    name: str
    source: str
    target: str
    one: str | None
    score: Callable[[Numbers, Numbers], float]
    releases: tuple[tuple[int, str], ...]

    def call(self, table: Table, k: int, more: str) -> str:
        """The release of the training rows: a class is sensitive, a number is generalized."""
        names = [name for name in table if self.one is None or name != self.target]
        sensitive = [] if self.one is None else [self.target]
        return (f"FROM anonymize('train', k={k}, method='mdav_star', quasi_identifiers={names}, "
                f"sensitive={sensitive}::VARCHAR[]{more and f', {more}'})")

    def outcome(self, table: Table) -> Numbers:
        """What is to be predicted."""
        values = table[self.target]
        return (values if self.one is None else values == self.one).astype(np.float64)

    def fit(self, x: Numbers, y: Numbers) -> Numbers:
        """The coefficients."""
        return linear(x, y) if self.one is None else logistic(x, y)


TASKS = (
    Task("Adult: salary class", f"'{adult()}'", "salary-class", ">50K", auc,
         ((5, ""), (20, ""), (100, ""), (500, ""), (500, BALANCED), (5, "l=2, seed=1"))),
    Task("CENSUS: state tax", f"'{CENSUS}'", "STATETAX", None, r2,
         ((3, ""), (5, ""), (10, ""), (20, ""), (20, BALANCED))),
)


class Features:
    """Numbers standardized, and their squares; categories as indicators, by the training rows."""

    def __init__(self, table: Table, target: str) -> None:
        self.center = {n: (v.mean(), v.std() or 1.0) for n, v in table.items()
                       if n != target and v.dtype.kind in "if"}
        self.categories = {n: np.unique(v)[1:] for n, v in table.items()
                           if n != target and n not in self.center}

    def of(self, table: Table) -> Numbers:
        """A row of features for each row, with a constant."""
        columns = [np.ones(len(next(iter(table.values()))))]
        for name, (mean, deviation) in self.center.items():
            z = (table[name] - mean) / deviation
            columns += [z, z * z] if self.categories else [z]
        for name, values in self.categories.items():
            columns += [(table[name] == value).astype(np.float64) for value in values]
        return np.column_stack(columns)


def split(con: duckdb.DuckDBPyConnection, task: Task, seed: int, rows: int) -> None:
    """Makes the tables train and test."""
    con.execute(f"CREATE OR REPLACE TABLE whole AS FROM {task.source} LIMIT {rows}")
    (n,) = con.execute("SELECT count(*) FROM whole").fetchall()[0]
    chosen = np.random.default_rng(seed).permutation(n)[: n // 3].tolist()
    con.execute("CREATE OR REPLACE TABLE test AS FROM whole WHERE rowid IN (SELECT unnest(?))",
                [chosen])
    con.execute("CREATE OR REPLACE TABLE train AS FROM whole WHERE rowid NOT IN (SELECT unnest(?))",
                [chosen])


def read(con: duckdb.DuckDBPyConnection, sql: str) -> Table:
    """The columns of a result."""
    return {name: values.astype(str) if values.dtype.kind == "O" else values
            for name, values in con.execute(sql).fetchnumpy().items()}


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A model and its test, on average over the splits.

    Attributes:
        task, k: of which release; k is 0 for the original rows.
        options: of the release, in addition to k.
        held_out: the score on original rows that no fit has seen.
        lowest, highest: the same of the worst and of the best split.
        worst_change: the score minus that of the original rows, in the worst split.
        own_rows: the score on the rows that the model was fitted to.
        error: the mean absolute error on the held-out rows, for a regression.
        categories: distinct values of all text columns in the training rows.
    """

    task: str
    k: int
    options: str
    held_out: float
    lowest: float
    highest: float
    worst_change: float
    own_rows: float
    error: float
    categories: float


def lines(
    con: duckdb.DuckDBPyConnection, task: Task, splits: int, rows: int
) -> Iterator[Line]:
    """The original rows and each release."""
    found: dict[tuple[int, str], list[tuple[float, float, float, int]]] = {}
    for seed in range(splits):
        split(con, task, seed, rows)
        test = read(con, "FROM test")
        for k, more in ((0, ""), *task.releases):
            train = read(con, task.call(test, k, more) if k else "FROM train")
            features = Features(train, task.target)
            x, y = features.of(train), task.outcome(train)
            beta = task.fit(x, y)
            truth, guess = task.outcome(test), features.of(test) @ beta
            found.setdefault((k, more), []).append((
                task.score(truth, guess), task.score(y, x @ beta), mae(truth, guess),
                sum(len(values) + 1 for values in features.categories.values()),
            ))
    for (k, more), runs in found.items():
        held_out, own, error, categories = np.array(runs).T
        change = held_out - np.array(found[0, ""])[:, 0]
        yield Line(
            task.name, k, more, held_out.mean(), held_out.min(), held_out.max(), change.min(),
            own.mean(), error.mean() if task.one is None else np.nan, categories.mean(),
        )


@dataclass(frozen=True)
class Mean:
    """The mean of a skewed column in three representations.

    Attributes:
        column, skewness: the column.
        k: of the release.
        spread: the standard deviation of the released means, as a share of the original one.
        original: its mean.
        centroid, median, middle: the mean of the released values; of intervals, of their middles.
    """

    column: str
    skewness: float
    k: int
    spread: float
    original: float
    centroid: float
    median: float
    middle: float


def means(con: duckdb.DuckDBPyConnection, ks: Sequence[int]) -> Iterator[Mean]:
    """Means of columns that have few large values."""
    con.execute(f"CREATE OR REPLACE TABLE people AS FROM '{CENSUS}'")
    for k in ks:
        released = {
            shown: f"FROM anonymize('people', k={k}, method='mdav_star', representation='{shown}')"
            for shown in ("centroid", "median", "bounds")
        }
        for column in SKEWED:
            found = [
                con.execute(f"SELECT {sql}").fetchall()[0][0] for sql in (
                    f"skewness({column}) FROM people",
                    f"stddev({column}) / (SELECT stddev({column}) FROM people) "
                    f"FROM ({released['centroid']})",
                    f"avg({column}) FROM people",
                    f"avg({column}) FROM ({released['centroid']})",
                    f"avg({column}) FROM ({released['median']})",
                    f"avg(({column}.min + {column}.max) / 2) FROM ({released['bounds']})",
                )
            ]
            yield Mean(column, found[0], k, found[1], *found[2:])


# --- what is shown --------------------------------------------------------------------------------


def show(*texts: str) -> None:
    """Prints result lines at once."""
    print(*texts, sep="\n", flush=True)


def picture(found: Sequence[Line]) -> Figure:
    """The score on held-out rows by k, a panel for each task, one below the other for phones."""
    figure = Figure(figsize=(5, 5.4), layout="constrained")
    for axes, task in zip(figure.subplots(2, 1), TASKS, strict=True):
        panel(axes, task, [line for line in found if line.task == task.name])
    return figure


def panel(axes: Axes, task: Task, found: Sequence[Line]) -> None:
    """One task."""
    (before,) = (line for line in found if not line.k)
    after = [line for line in found if line.k and not line.options]
    places = range(len(after))
    axes.axhline(before.held_out, color=BEFORE, linewidth=1.5, linestyle="--")
    axes.errorbar(
        places, [line.held_out for line in after], color=AFTER, marker="o", capsize=3,
        yerr=[[line.held_out - line.lowest for line in after],
              [line.highest - line.held_out for line in after]],
    )
    axes.annotate("original rows", (places[-1], before.held_out), (0, 5), ha="right",
                  textcoords="offset points", fontsize=10, color=BEFORE)
    axes.set_xticks(places, [f"k = {line.k}" for line in after])
    axes.set_title(f"{task.name}, {'AUC' if task.one else 'R²'} on held-out rows", fontsize=11)
    axes.margins(x=0.1, y=0.15)
    # from the score of a guess, below which the worst split of a release may be
    axes.set_ylim((0.5, 1.0) if task.one else (0.0, 1.0))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%.1f"))
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def write(found: Sequence[Any], path: Path) -> None:
    """A CSV of results."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(found[0])])
        writer.writerows(map(astuple, found))


def main(given: Sequence[str] | None = None) -> int:
    """Prints the tables and writes the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="two splits, 4,000 rows of Adult")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER",
                        help="for the picture and CSV")
    options = parser.parse_args(given)
    splits, rows = (2, 4_000) if options.quick else (SPLITS, 10**6)
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    found = []
    for task in TASKS:
        measure = "AUC" if task.one else "R²"
        show("", f"{task.name}, {splits} splits, {measure}",
             f"{'training rows':24}{'held out':>10}{'worst change':>14}{'own rows':>10}"
             f"{'MAE':>8}{'categories':>12}")
        for line in lines(con, task, splits, rows):
            name = ", ".join(filter(None, (f"k={line.k}", line.options))) if line.k else "original"
            show(f"{name:24}{line.held_out:10.3f}{line.worst_change:14.3f}{line.own_rows:10.3f}"
                 f"{line.error:8.0f}{line.categories:12.0f}")
            found.append(line)
    show("", "CENSUS: the mean of skewed columns",
         f"{'column':10}{'skewness':>10}{'k':>5}{'original':>10}{'centroid':>10}{'median':>10}"
         f"{'middle':>10}{'spread':>8}")
    averages = list(means(con, (5, 20, 100)))
    for one in averages:
        show(f"{one.column:10}{one.skewness:10.1f}{one.k:5}{one.original:10.1f}"
             f"{one.centroid:10.1f}{one.median:10.1f}{one.middle:10.1f}{one.spread:8.2f}")
    options.out.mkdir(parents=True, exist_ok=True)
    picture(found).savefig(options.out / "model-survives.png", dpi=DOTS)
    write(found, options.out / "model-survives.csv")
    write(averages, options.out / "model-survives-means.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
