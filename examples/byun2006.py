"""Recomputes figures 9 to 17 of Byun et al., Efficient k-Anonymization Using Clustering (2006).

    python examples/byun2006.py               all figures, in some minutes
    python examples/byun2006.py --quick       the same on 2,000 rows and for two k
    python examples/byun2006.py --out plots   tables (CSV) and plots (PNG, SVG) in that folder

Below each figure stands what the paper's text says of it, and whether that holds here. The paper's
curves are not at hand as numbers, so lay the plots beside them. Section 6.1 says how the data are
prepared: complete rows, age and education as numbers, six categories (flat taxonomies here).
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.stages.remembered import forget

KS = (5, 10, 20, 50, 100, 200, 500)
SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
K_OF_SIZES = 5
PENALTY = 0.5  # in cells; the paper leaves it open
PENALTIES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CHECKED_ROWS, FEW = 5_000, 300
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
    "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)
ROLES = (
    "sensitive=['salary-class'], class_label='salary-class', sensitive_values=['>50K']"
)
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Algorithm:
    """The options that choose it, and how its lines are drawn."""

    options: str
    color: str
    marker: str
    style: str = "-"


MEDIAN, RELAXED = "median partitioning", "median partitioning, relaxed"
NEAREST, GREEDY = "k-nearest neighbor", "greedy k-member"
LABELS, EQUAL, SENSITIVE = (f"greedy k-member, modified for {cost}" for cost in ("CM", "ED", "SD"))
PLAIN = "method='k_member', class_penalty=0"
DIVERSE = f"{PLAIN}, diversity_penalty={{penalty}}, diversity_preference="
ALGORITHMS = {  # colours of Okabe and Ito, which everyone can tell apart
    MEDIAN: Algorithm("method='mondrian', partitioning='strict'", "#000000", "s"),
    RELAXED: Algorithm("method='mondrian', partitioning='relaxed'", "#8C8C8C", "s", "--"),
    NEAREST: Algorithm("method='nearest'", "#0072B2", "^"),
    GREEDY: Algorithm(PLAIN, "#D55E00", "o"),
    LABELS: Algorithm("method='k_member', class_penalty={penalty}", "#E69F00", "D"),
    EQUAL: Algorithm(f"{DIVERSE}'equal'", "#009E73", "v"),
    SENSITIVE: Algorithm(f"{DIVERSE}'sensitive'", "#CC79A7", "P"),
}
BASELINES = (MEDIAN, RELAXED, NEAREST)
THREE = (MEDIAN, NEAREST, GREEDY)

Claim = tuple[str, bool, str]
"""What the paper's text says, whether it holds here, and the numbers that say so."""


@dataclass
class Lab:
    """Runs the algorithms, each combination once, and remembers the metrics."""

    con: duckdb.DuckDBPyConnection
    ks: Sequence[int]
    sizes: Sequence[int]
    repeats: int
    rows: int
    found: dict[tuple[Any, ...], dict[str, float]] = field(default_factory=dict)

    def query(self, key: str, k: int, table: str, penalty: float = PENALTY) -> str:
        """The SQL of one run."""
        options = f"k={k}, {ALGORITHMS[key].options.format(penalty=penalty)}, {ROLES}"
        return f"SELECT metric, value FROM anonymize_metrics('{table}', detail=true, {options})"

    def run(self, key: str, k: int, table: str, penalty: float = PENALTY) -> dict[str, float]:
        """The metrics of one run; its seconds are the least of the repeats."""
        place = (key, k, table, penalty)
        for _ in range(0 if place in self.found else self.repeats):
            forget()  # else the labels would be remembered, and the method take no time
            metrics = dict(self.con.execute(self.query(key, k, table, penalty)).fetchall())
            earlier = self.found.setdefault(place, metrics)
            earlier["seconds_group"] = min(earlier["seconds_group"], metrics["seconds_group"])
        return self.found[place]

    def by_k(self, key: str, metric: str) -> Any:
        """A metric for each k, on all rows."""
        return np.array([self.run(key, k, "adult")[metric] for k in self.ks])

    def by_size(self, key: str, metric: str) -> Any:
        """A metric for each number of rows."""
        return np.array([self.run(key, K_OF_SIZES, f"adult_{n}")[metric] for n in self.sizes])


def prepared(rows: int, sizes: Sequence[int]) -> duckdb.DuckDBPyConnection:
    """A connection with the table adult of section 6.1, and its first rows in several sizes."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE flat AS FROM read_parquet(?) LIMIT ?", [adult(), rows])
    con.execute(
        "CREATE TABLE adult AS SELECT * REPLACE "
        f"(list_position({list(EDUCATION)}, education) AS education) FROM flat"
    )
    for n in {*sizes, FEW, CHECKED_ROWS}:
        con.execute(f"CREATE TABLE adult_{n} AS FROM adult LIMIT {n}")
    con.execute(f"CREATE TABLE flat_{CHECKED_ROWS} AS FROM flat LIMIT {CHECKED_ROWS}")
    return con


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*lines: str) -> None:
    """Prints result lines at once."""
    print(*lines, sep="\n", flush=True)


def row(name: str, values: Sequence[float], digits: int) -> str:
    """A table row."""
    return f"{name:34}" + "".join(f"{value:>13,.{digits}f}" for value in values)


def where(xs: Sequence[int], fails: Any) -> str:
    """Where a claim fails, in words."""
    places = [f"{x:,}" for x, fail in zip(xs, fails, strict=True) if fail]
    return f"not at {', '.join(places)}" if places else "everywhere"


def below(lab: Lab, key: str, others: Sequence[str], metric: str, text: str) -> Claim:
    """The claim that an algorithm has less of a metric than others, for each k."""
    values, least = lab.by_k(key, metric), np.min([lab.by_k(o, metric) for o in others], axis=0)
    percent = 100.0 * (values / np.maximum(least, 1e-12) - 1.0)
    why = f"{percent.min():+.0f} to {percent.max():+.0f} % beside the least of them"
    return text, bool(np.all(values < least)), f"{where(lab.ks, values >= least)}; {why}"


def loss(lab: Lab) -> list[Claim]:
    """Figure 9."""
    change = 100.0 * (lab.by_k(LABELS, "total_il") / lab.by_k(GREEDY, "total_il") - 1.0)
    gain = 100.0 * (1.0 - lab.by_k(GREEDY, "total_il") / lab.by_k(NEAREST, "total_il"))
    return [
        below(lab, GREEDY, BASELINES, "total_il",
              "greedy k-member has the least Total-IL of all algorithms for all k"),
        ("modified for CM, it is very close to that (within 10 %)", bool(change.max() <= 10.0),
         f"{change.min():+.1f} to {change.max():+.1f} %"),
        ("it is much lower than k-nearest neighbor (by 10 % or more)", bool(gain.min() >= 10.0),
         f"lower by {gain.min():.0f} to {gain.max():.0f} %"),
    ]


def discernibility(lab: Lab) -> list[Claim]:
    """Figure 10."""
    ratios = np.array([lab.by_k(key, "c_avg") for key in (GREEDY, LABELS, NEAREST)])
    return [
        *(below(lab, key, (MEDIAN,), "discernibility",
                f"{key} has less DM than median partitioning")
          for key in (GREEDY, LABELS, NEAREST)),
        ("their classes have sizes very close to k (10 % above on average)",
         bool(ratios.max() <= 1.1), f"{ratios.min():.2f} to {ratios.max():.2f} times k"),
    ]


def classification(lab: Lab) -> list[Claim]:
    """Figure 11."""
    metric, more = "classification_metric", "even unmodified it has less than median partitioning"
    return [
        below(lab, LABELS, (*BASELINES, GREEDY), metric, "modified for CM it has the least of all"),
        below(lab, GREEDY, (MEDIAN,), metric, f"{more} for every k"),
    ]


def seconds(lab: Lab) -> list[Claim]:
    """Figure 12, and what section 6.3 says of the time without a figure."""
    greedy = lab.by_k(GREEDY, "seconds_group")
    most = np.max([lab.by_k(key, "seconds_group") for key in (MEDIAN, NEAREST)], axis=0)
    ratios = [np.median(lab.by_k(key, "seconds_group") / greedy) for key in (EQUAL, SENSITIVE)]
    return [
        ("greedy k-member takes longer than the other two algorithms",
         bool(np.all(greedy > most)), where(lab.ks, greedy <= most)),
        ("modified for diversity, it takes no considerably longer time (half more at most)",
         max(ratios) <= 1.5, f"{ratios[0]:.1f} times for ED, {ratios[1]:.1f} for SD (medians)"),
    ]


def vulnerable(lab: Lab, key: str) -> list[Claim]:
    """Figures 13 and 14: records whose sensitive value can be inferred, in percent."""
    metric, claim, least, most = {
        EQUAL: ("homogeneous_rows", "nearly half of the records (40 to 60 %)", 40.0, 60.0),
        SENSITIVE: ("homogeneous_sensitive_rows", "many of the records (1 % or more)", 1.0, 99.0),
    }[key]
    shares = {name: 100.0 * lab.by_k(name, metric) / lab.rows for name in (*THREE, key)}
    low = {name: float(share[[k < 10 for k in lab.ks]].mean()) for name, share in shares.items()}
    left = min(float(shares[name][[10 <= k <= 50 for k in lab.ks]].min()) for name in THREE)
    claims = [
        (f"k under 10: {claim} can be inferred", all(least <= low[n] <= most for n in THREE),
         ", ".join(f"{name} {low[name]:.1f} %" for name in THREE)),
        ("the modification reduces that significantly even for small k (to half or less)",
         low[key] <= low[GREEDY] / 2, f"from {low[GREEDY]:.1f} to {low[key]:.1f} %"),
        ("a significant number remains for higher k (5 % or more at k = 10 .. 50)",
         left >= 5.0, f"at least {left:.1f} % with each of the three"),
    ]
    return claims[:2] if key == SENSITIVE else claims


def diverse_loss(lab: Lab) -> list[Claim]:
    """Figure 15."""
    return [
        below(lab, key, (MEDIAN, NEAREST), "total_il",
              f"modified for {name} its Total-IL is still low (less than the other algorithms')")
        for key, name in ((EQUAL, "ED"), (SENSITIVE, "SD"))
    ]


def grows(lab: Lab, metric: str, least: float, most: float) -> list[Claim]:
    """Figures 16 and 17: with which power of the rows Total-IL and the time grow."""
    curves = {key: lab.by_size(key, metric) for key in THREE}
    powers = {key: np.polyfit(np.log(lab.sizes), np.log(curves[key]), 1)[0] for key in THREE}
    told = ", ".join(f"{key} as n^{power:.2f}" for key, power in powers.items())
    what, last = "the time of greedy k-member is quadratic", "it takes longer than the other two"
    wrong = curves[GREEDY] <= np.maximum(curves[MEDIAN], curves[NEAREST])
    held = [least <= power <= most for key, power in powers.items()
            if key == GREEDY or metric == "total_il"]
    if metric == "total_il":
        what, last = "Total-IL grows almost linearly", "greedy k-member has the least for any size"
        wrong = curves[GREEDY] >= np.minimum(curves[MEDIAN], curves[NEAREST])
    return [(f"{what} (n^{least:g} to n^{most:g})", all(held), told),
            (last, not wrong.any(), where(lab.sizes, wrong))]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: its caption, the metric and its axis, the lines, and the claims."""

    number: int
    caption: str
    metric: str
    axis: str
    keys: tuple[str, ...]
    claims: Callable[[Lab], list[Claim]]
    digits: int = 0
    sizes: bool = False

    def curves(self, lab: Lab) -> dict[str, Any]:
        """The values of each line."""
        values = lab.by_size if self.sizes else lab.by_k
        return {key: values(key, self.metric) for key in self.keys}


LINES = (MEDIAN, RELAXED, NEAREST, GREEDY, LABELS)
FIGURES = (
    Figure(9, "Information Loss Metric", "total_il", "Total-IL", LINES, loss),
    Figure(10, "Discernibility Metric", "discernibility", "DM", LINES, discernibility),
    Figure(11, "Classification Metric", "classification_metric", "CM", LINES, classification, 4),
    Figure(12, "Execution Time", "seconds_group", "seconds", LINES, seconds, 3),
    Figure(13, "Equal Diversity Metric", "homogeneous_rows", "ED, records", (*LINES[:4], EQUAL),
           lambda lab: vulnerable(lab, EQUAL)),
    Figure(14, "Sensitive Diversity Metric", "homogeneous_sensitive_rows", "SD, records",
           (*LINES[:4], SENSITIVE), lambda lab: vulnerable(lab, SENSITIVE)),
    Figure(15, "Diversity Algorithms and Information Loss", "total_il", "Total-IL",
           (*LINES[:4], EQUAL, SENSITIVE), diverse_loss),
    Figure(16, "Cardinality and Information Loss", "total_il", "Total-IL", LINES[:4],
           lambda lab: grows(lab, "total_il", 0.8, 1.2), sizes=True),
    Figure(17, "Cardinality and Runtime", "seconds_group", "seconds", LINES[:4],
           lambda lab: grows(lab, "seconds_group", 1.8, 2.2), 3, sizes=True),
)


def report(figure: Figure, lab: Lab, table: list[list[Any]]) -> list[bool]:
    """Prints a figure as a table with what the paper says of it; adds its numbers to the table."""
    running(f"figure {figure.number}")
    curves, xs = figure.curves(lab), lab.sizes if figure.sizes else lab.ks
    x = "rows" if figure.sizes else "k"
    fixed = f"k = {K_OF_SIZES}" if figure.sizes else f"{lab.rows:,} rows"
    show("", f"Figure {figure.number}: {figure.caption} ({figure.axis}; {fixed})", row(x, xs, 0))
    for key, curve in curves.items():
        show(row(key, curve, figure.digits))
        table += [[figure.number, figure.axis, key, x, *at] for at in zip(xs, curve, strict=True)]
    claims = figure.claims(lab)
    for text, holds, why in claims:
        show(f"  {'agrees: ' if holds else 'DIFFERS:'} {text}", f"{'':11}{why}")
    return [holds for _, holds, _ in claims]


def draw(figure: Figure, lab: Lab, folder: Path) -> None:
    """Writes a figure as PNG and SVG."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    matplotlib.rcParams["svg.hashsalt"] = "byun2006"
    canvas = Canvas(figsize=(6.4, 4.6), layout="constrained")
    axes, xs = canvas.subplots(), lab.sizes if figure.sizes else lab.ks
    for key, curve in figure.curves(lab).items():
        line = ALGORITHMS[key]
        axes.plot(xs, curve, line.style, color=line.color, marker=line.marker, markersize=5,
                  linewidth=1.5, label=key)
    if not figure.sizes:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(xs, [f"{x:,}" for x in xs])
    axes.set_ylim(bottom=0.0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.10g}")
    axes.set(xlabel="rows" if figure.sizes else "k (logarithmic)", ylabel=figure.axis)
    axes.set_title(f"Byun et al. 2006, figure {figure.number}: {figure.caption}", fontsize=11)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    canvas.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    target = folder / f"byun2006-figure{figure.number:02}.svg"
    canvas.savefig(target, metadata={"Date": None})
    canvas.savefig(target.with_suffix(".png"), dpi=150)


def weights(lab: Lab) -> None:
    """What the penalties do: the paper leaves their weight open."""
    running("penalties")
    show("", f"The penalties' weight, open in the paper, at k = {K_OF_SIZES}; the figures "
         f"have {PENALTY:g}", row("penalty, in cells", PENALTIES, 2))
    metrics = ("classification_metric", "homogeneous_rows", "homogeneous_sensitive_rows")
    for key, metric, digits in zip((LABELS, EQUAL, SENSITIVE), metrics, (4, 0, 0), strict=True):
        runs = [lab.run(key, K_OF_SIZES, "adult", penalty) for penalty in PENALTIES]
        for what, places in ((metric, digits), ("total_il", 0)):
            show(row(f"{key[17:]}: {what}", [r[what] for r in runs], places))


def check_of_scale(lab: Lab) -> None:
    """Total-IL beside that of an implementation that shares nothing with this one."""
    running("check of scale")
    show("", f"Check of scale: Total-IL of {CHECKED_ROWS:,} rows, k = 5, beside an independent "
         "implementation (flat taxonomies); another seed moves it by 2 %",
         f"{'':34}{'education flat':>15}{'as number':>13}{'independent':>17}")
    theirs = {GREEDY: "5,300 to 5,410", NEAREST: "5,670", RELAXED: "15,700", MEDIAN: "18,700"}
    for key, its in theirs.items():
        runs = [lab.run(key, 5, f"{name}_{CHECKED_ROWS}") for name in ("flat", "adult")]
        flat, number = (found["total_il"] for found in runs)
        show(f"{key:34}{flat:>15,.0f}{number:>13,.0f}{its:>17}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="2,000 rows, two k, three sizes")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="for CSV and plots")
    return parser.parse_args()


def main() -> int:
    """Runs the figures one after the other."""
    options = arguments()
    ks, sizes, rows = ((5, 20), (500, 1_000, 2_000), 2_000) if options.quick else (KS, SIZES, 10**6)
    options.out.mkdir(parents=True, exist_ok=True)
    con = prepared(rows, sizes)
    lab = Lab(con, ks, sizes, 1 if options.quick else 2, con.table("adult").shape[0])
    running("loading the kernels; the first run compiles them")
    for key in ALGORITHMS:
        lab.run(key, 3, f"adult_{FEW}")
    table: list[list[Any]] = [["figure", "quantity", "algorithm", "x is", "x", "value"]]
    show("Byun, Kamra, Bertino and Li 2006, figures 9 to 17, on Adult. One number is one metric of",
         lab.query(GREEDY, 5, "adult"),
         "Seconds are those of the method, classes those of the released values. The paper leaves",
         "open what median partitioning cuts; here what loses most, a category 1 unless all agree.")
    held = {figure.number: report(figure, lab, table) for figure in FIGURES}
    if not options.quick:
        weights(lab)
        check_of_scale(lab)
    written = options.out / "byun2006.csv"
    with written.open("w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows(table)
    try:
        for figure in FIGURES:
            draw(figure, lab, options.out)
        show("", f"written: {written}, byun2006-figure09 .. 17 (.png, .svg)")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("", "The plots were not drawn: they need matplotlib, pip install 'kanon_sql[plots]'")
    show("", "Claims of the paper's text that hold here, of those stated:", *(
        f"  figure {number}: {sum(claims)} of {len(claims)}" for number, claims in held.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
