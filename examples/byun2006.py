"""Reruns the experiments of Byun, Kamra, Bertino and Li, Efficient k-Anonymization Using Clustering
Techniques (2006): figures 9 to 17, on Adult.

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
from kanon_sql.recall import forget

KS = (5, 10, 20, 50, 100, 200, 500)
SIZES = (5_000, 10_000, 15_000, 20_000, 25_000, 30_000)
K_OF_SIZES = 5
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CHECKED_ROWS = 5_000
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
    "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)
ROLES = (
    "sensitive := ['salary-class'], class_label := 'salary-class', sensitive_values := ['>50K']"
)
STARTED = time.perf_counter()


@dataclass(frozen=True)
class Algorithm:
    """One line of the plots: its name, the options that choose it, and how it is drawn."""

    name: str
    options: str
    color: str
    marker: str
    style: str = "-"


MEDIAN, RELAXED, NEAREST, GREEDY, LABELS, EQUAL, SENSITIVE = (
    "median", "relaxed", "nearest", "greedy", "labels", "equal", "sensitive"
)
PLAIN = "method := 'k_member', class_penalty := 0"
ALGORITHMS = {  # colours of Okabe and Ito, which everyone can tell apart
    MEDIAN: Algorithm("median partitioning", "method := 'mondrian', partitioning := 'strict'",
                      "#000000", "s"),
    RELAXED: Algorithm("median partitioning, relaxed",
                       "method := 'mondrian', partitioning := 'relaxed'", "#8C8C8C", "s", "--"),
    NEAREST: Algorithm("k-nearest neighbor", "method := 'nearest'", "#0072B2", "^"),
    GREEDY: Algorithm("greedy k-member", PLAIN, "#D55E00", "o"),
    LABELS: Algorithm("greedy k-member, modified for CM",
                      "method := 'k_member', class_penalty := {class_penalty}", "#E69F00", "D"),
    EQUAL: Algorithm("greedy k-member, modified for ED",
                     f"{PLAIN}, diversity := 'equal', diversity_penalty := {{diversity_penalty}}",
                     "#009E73", "v"),
    SENSITIVE: Algorithm(
        "greedy k-member, modified for SD",
        f"{PLAIN}, diversity := 'sensitive', diversity_penalty := {{diversity_penalty}}",
        "#CC79A7", "P"),
}
BASELINES = (MEDIAN, RELAXED, NEAREST)
THREE = (MEDIAN, NEAREST, GREEDY)


@dataclass(frozen=True)
class Claim:
    """What the paper's text says, whether it holds here, and the numbers that say so."""

    text: str
    holds: bool
    why: str


@dataclass
class Lab:
    """Runs the algorithms, each combination once, and remembers the metrics."""

    con: duckdb.DuckDBPyConnection
    ks: Sequence[int]
    sizes: Sequence[int]
    penalties: dict[str, float]
    repeats: int
    rows: int
    found: dict[tuple[Any, ...], dict[str, float]] = field(default_factory=dict)

    def query(self, key: str, k: int, table: str, **penalties: float) -> str:
        """The SQL of one run."""
        options = ALGORITHMS[key].options.format(**{**self.penalties, **penalties})
        return f"SELECT metric, value FROM anonymize_metrics('{table}', k := {k}, {options}, {ROLES})"

    def run(self, key: str, k: int, table: str, **penalties: float) -> dict[str, float]:
        """The metrics of one run; its seconds are the least of the repeats."""
        place = (key, k, table, *sorted(penalties.items()))
        for _ in range(0 if place in self.found else self.repeats):
            forget()  # else the labels would be remembered, and the method take no time
            metrics = dict(self.con.execute(self.query(key, k, table, **penalties)).fetchall())
            earlier = self.found.setdefault(place, metrics)
            earlier["seconds_group"] = min(earlier["seconds_group"], metrics["seconds_group"])
        return self.found[place]

    def by_k(self, key: str, metric: str) -> Any:
        """A metric for each k, on all rows."""
        return np.array([self.run(key, k, "adult")[metric] for k in self.ks])

    def by_size(self, key: str, metric: str) -> Any:
        """A metric for each number of rows."""
        return np.array([self.run(key, K_OF_SIZES, f"adult_{n}")[metric] for n in self.sizes])


def prepared(rows: int | None, sizes: Sequence[int]) -> duckdb.DuckDBPyConnection:
    """A connection with the table adult of section 6.1, and its first rows in several sizes."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(
        "CREATE TABLE adult_flat AS FROM read_parquet(?)" + (f" LIMIT {rows}" if rows else ""),
        [adult()],
    )
    levels = ", ".join(f"'{level}'" for level in EDUCATION)
    con.execute(
        "CREATE TABLE adult AS SELECT * REPLACE "
        f"(list_position([{levels}], education) AS education) FROM adult_flat"
    )
    for size in {*sizes, CHECKED_ROWS}:
        con.execute(f"CREATE TABLE adult_{size} AS FROM adult LIMIT {size}")
        con.execute(f"CREATE TABLE adult_flat_{size} AS FROM adult_flat LIMIT {size}")
    con.execute("CREATE TABLE few AS FROM adult LIMIT 300")
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


def at(xs: Sequence[int], fails: Any, what: str = "k") -> str:
    """Where a claim fails, in words; nothing if nowhere."""
    places = [f"{x:,}" for x, fail in zip(xs, fails, strict=True) if fail]
    return f"not at {what} = {', '.join(places)}" if places else f"for every {what}"


def below(lab: Lab, key: str, others: Sequence[str], metric: str, text: str) -> Claim:
    """The claim that an algorithm has less of a metric than others for every k."""
    values, least = lab.by_k(key, metric), np.min([lab.by_k(o, metric) for o in others], axis=0)
    percent = 100.0 * (values / np.maximum(least, 1e-12) - 1.0)
    why = f"{percent.min():+.0f} to {percent.max():+.0f} % of the next"
    return Claim(text, bool(np.all(values < least)), f"{at(lab.ks, values >= least)}; {why}")


def loss(lab: Lab) -> list[Claim]:
    """Figure 9."""
    ratio = lab.by_k(LABELS, "total_il") / lab.by_k(GREEDY, "total_il")
    gain = 1.0 - lab.by_k(GREEDY, "total_il") / lab.by_k(NEAREST, "total_il")
    return [
        below(lab, GREEDY, BASELINES, "total_il",
              "greedy k-member has less Total-IL than the other algorithms for all k"),
        Claim("modified for CM, it is very close to that (within 10 %)", bool(ratio.max() <= 1.1),
              f"{100 * (ratio.min() - 1):+.1f} to {100 * (ratio.max() - 1):+.1f} %"),
        Claim("it is much lower than k-nearest neighbor (by 10 % or more)", bool(gain.min() >= 0.1),
              f"lower by {100 * gain.min():.0f} to {100 * gain.max():.0f} %"),
    ]


def discernibility(lab: Lab) -> list[Claim]:
    """Figure 10."""
    ratios = np.array([lab.by_k(key, "class_size_ratio") for key in (GREEDY, LABELS, NEAREST)])
    return [
        *(below(lab, key, (MEDIAN,), "discernibility",
                f"{ALGORITHMS[key].name}: less DM than median partitioning")
          for key in (GREEDY, LABELS, NEAREST)),
        Claim("their classes are very close to k (rows per class within 10 %)",
              bool(ratios.max() <= 1.1), f"{ratios.min():.2f} to {ratios.max():.2f} times k"),
    ]


def classification(lab: Lab) -> list[Claim]:
    """Figure 11."""
    metric = "classification_metric"
    return [
        below(lab, LABELS, (*BASELINES, GREEDY), metric,
              "greedy k-member modified for CM has the least CM of all"),
        below(lab, GREEDY, (MEDIAN,), metric,
              "even unmodified it has less CM than median partitioning for every k"),
    ]


def seconds(lab: Lab) -> list[Claim]:
    """Figure 12."""
    greedy = lab.by_k(GREEDY, "seconds_group")
    most = np.max([lab.by_k(key, "seconds_group") for key in (MEDIAN, NEAREST)], axis=0)
    return [Claim("greedy k-member takes longer than the other two algorithms",
                  bool(np.all(greedy > most)), at(lab.ks, greedy <= most))]


def _vulnerable(lab: Lab, metric: str, key: str, half: bool) -> list[Claim]:
    """Figures 13 and 14: shares of records whose sensitive value can be inferred."""
    shares = {name: lab.by_k(name, metric) / lab.rows for name in (*THREE, key)}
    small = np.array([k < 10 for k in lab.ks])
    higher = np.array([10 <= k <= 50 for k in lab.ks])
    low = {name: 100 * float(share[small].mean()) for name, share in shares.items()}
    told = ", ".join(f"{ALGORITHMS[name].name} {low[name]:.1f} %" for name in THREE)
    left = np.min([shares[name][higher] for name in THREE], axis=0)
    claims = []
    if half:
        claims.append(Claim("k under 10: nearly half of the records can be inferred (40 to 60 %)",
                            all(40 <= low[name] <= 60 for name in THREE), told))
        claims.append(Claim("many remain so for higher k (5 % or more at k = 10 .. 50)",
                            bool(left.min() >= 0.05),
                            f"at least {100 * left.min():.1f} % with each of the three"))
    else:
        claims.append(Claim("k under 10: similar, a significant number (1 % or more)",
                            all(low[name] >= 1 for name in THREE), told))
    claims.append(Claim("the modification reduces that significantly even there (to half or less)",
                        low[key] <= low[GREEDY] / 2, f"from {low[GREEDY]:.1f} to {low[key]:.1f} %"))
    return claims


def diverse_loss(lab: Lab) -> list[Claim]:
    """Figure 15, and what section 6.3 says of the time without a figure."""
    claims = []
    for key in (EQUAL, SENSITIVE):
        name = ALGORITHMS[key].name
        claims.append(below(lab, key, (MEDIAN, NEAREST), "total_il",
                            f"{name}: Total-IL is still low (less than the other algorithms)"))
        ratio = lab.by_k(key, "seconds_group") / lab.by_k(GREEDY, "seconds_group")
        claims.append(Claim(f"{name}: no considerable overhead of time (half more at most)",
                            float(np.median(ratio)) <= 1.5,
                            f"{np.median(ratio):.1f} times, the median over k"))
    return claims


def growth(xs: Sequence[int], ys: Any) -> float:
    """The exponent p of ys ~ xs^p, by least squares."""
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


def size_and_loss(lab: Lab) -> list[Claim]:
    """Figure 16."""
    curves = {key: lab.by_size(key, "total_il") for key in THREE}
    fits = {key: np.corrcoef(lab.sizes, curve)[0, 1] ** 2 for key, curve in curves.items()}
    least = np.minimum(curves[MEDIAN], curves[NEAREST])
    return [
        Claim("Total-IL grows almost linearly (a straight line explains 99 % or more)",
              min(fits.values()) >= 0.99,
              ", ".join(f"{ALGORITHMS[key].name} {100 * fit:.2f} % and as n^"
                        f"{growth(lab.sizes, curves[key]):.2f}" for key, fit in fits.items())),
        Claim("greedy k-member has the least for any size", bool(np.all(curves[GREEDY] < least)),
              at(lab.sizes, curves[GREEDY] >= least, "rows")),
    ]


def size_and_seconds(lab: Lab) -> list[Claim]:
    """Figure 17."""
    curves = {key: lab.by_size(key, "seconds_group") for key in THREE}
    powers = {key: growth(lab.sizes, curve) for key, curve in curves.items()}
    most = np.maximum(curves[MEDIAN], curves[NEAREST])
    told = ", ".join(f"{ALGORITHMS[key].name} as n^{power:.1f}" for key, power in powers.items())
    return [
        Claim("the time of greedy k-member is quadratic in the rows (n^1.8 to n^2.2)",
              1.8 <= powers[GREEDY] <= 2.2,
              f"{told}; the same classes are found here without looking at every record"),
        Claim("it takes longer than the other two", bool(np.all(curves[GREEDY] > most)),
              at(lab.sizes, curves[GREEDY] <= most, "rows")),
    ]


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
        read = lab.by_size if self.sizes else lab.by_k
        return {key: read(key, self.metric) for key in self.keys}


LINES = (MEDIAN, RELAXED, NEAREST, GREEDY, LABELS)
FIGURES = (
    Figure(9, "Information Loss Metric", "total_il", "Total-IL", LINES, loss),
    Figure(10, "Discernibility Metric", "discernibility", "DM", LINES, discernibility),
    Figure(11, "Classification Metric", "classification_metric", "CM", LINES, classification, 4),
    Figure(12, "Execution Time", "seconds_group", "seconds", LINES, seconds, 3),
    Figure(13, "Equal Diversity Metric", "equal_diversity", "ED, records", (*LINES[:4], EQUAL),
           lambda lab: _vulnerable(lab, "equal_diversity", EQUAL, half=True)),
    Figure(14, "Sensitive Diversity Metric", "sensitive_diversity", "SD, records",
           (*LINES[:4], SENSITIVE),
           lambda lab: _vulnerable(lab, "sensitive_diversity", SENSITIVE, half=False)),
    Figure(15, "Diversity Algorithms and Information Loss", "total_il", "Total-IL",
           (*LINES[:4], EQUAL, SENSITIVE), diverse_loss),
    Figure(16, "Cardinality and Information Loss", "total_il", "Total-IL", LINES[:4],
           size_and_loss, sizes=True),
    Figure(17, "Cardinality and Runtime", "seconds_group", "seconds", LINES[:4], size_and_seconds,
           3, sizes=True),
)


def report(figure: Figure, lab: Lab, table: list[list[Any]]) -> list[bool]:
    """Prints a figure as a table with what the paper says of it; adds its numbers to the table."""
    running(f"figure {figure.number}")
    curves, xs = figure.curves(lab), lab.sizes if figure.sizes else lab.ks
    x = "rows" if figure.sizes else "k"
    fixed = f"k = {K_OF_SIZES}" if figure.sizes else f"{lab.rows:,} rows"
    show("", f"Figure {figure.number}: {figure.caption} ({figure.axis}; {fixed})")
    show(f"{x:34}" + "".join(f"{value:>13,}" for value in xs))
    for key, curve in curves.items():
        name = ALGORITHMS[key].name
        show(row(name, curve, figure.digits))
        table += [[figure.number, figure.axis, name, x, *pair] for pair in zip(xs, curve)]
    claims = figure.claims(lab)
    for claim in claims:
        show(f"  {'agrees: ' if claim.holds else 'DIFFERS:'} {claim.text}", f"{'':11}{claim.why}")
    return [claim.holds for claim in claims]


def draw(figure: Figure, lab: Lab, folder: Path) -> None:
    """Writes a figure as PNG and SVG."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    matplotlib.rcParams["svg.hashsalt"] = "byun2006"
    canvas = Canvas(figsize=(6.4, 4.6), layout="constrained")
    axes = canvas.subplots()
    xs = lab.sizes if figure.sizes else lab.ks
    for key, curve in figure.curves(lab).items():
        line = ALGORITHMS[key]
        axes.plot(xs, curve, line.style, color=line.color, marker=line.marker, markersize=5,
                  linewidth=1.5, label=line.name)
    if not figure.sizes:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(xs, [f"{x:,}" for x in xs])
    axes.set_ylim(bottom=0.0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:,.10g}")
    axes.set_xlabel("rows" if figure.sizes else "k")
    axes.set_ylabel(figure.axis)
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
    show("", f"The weight of the penalties, which the paper leaves open (k = {K_OF_SIZES}); the "
         "figures have "
         f"{lab.penalties['class_penalty']:g} and {lab.penalties['diversity_penalty']:g}")
    show(f"{'penalty, in cells':34}" + "".join(f"{weight:>13,g}" for weight in WEIGHTS))
    for key, name, metric, digits in (
        (LABELS, "class_penalty", "classification_metric", 4),
        (EQUAL, "diversity_penalty", "equal_diversity", 0),
        (SENSITIVE, "diversity_penalty", "sensitive_diversity", 0),
    ):
        runs = [lab.run(key, K_OF_SIZES, "adult", **{name: weight}) for weight in WEIGHTS]
        for what, places in ((metric, digits), ("total_il", 0)):
            show(row(f"{ALGORITHMS[key].name[17:]}: {what}", [r[what] for r in runs], places))


def check_of_scale(lab: Lab) -> None:
    """Total-IL beside that of an implementation that shares nothing with this one."""
    running("check of scale")
    show("", f"Check of scale: Total-IL on the first {CHECKED_ROWS:,} rows, k = 5, beside an "
         "independent implementation (flat taxonomies)",
         f"{'':34}{'education flat':>15}{'as number':>13}{'independent':>17}")
    for key, theirs in ((GREEDY, "5,300 to 5,410"), (NEAREST, "5,670"), (RELAXED, "15,700"),
                        (MEDIAN, "18,700")):
        ours = [lab.run(key, 5, f"{name}_{CHECKED_ROWS}")["total_il"]
                for name in ("adult_flat", "adult")]
        show(f"{ALGORITHMS[key].name:34}{ours[0]:>15,.0f}{ours[1]:>13,.0f}{theirs:>17}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="2,000 rows, two k, two sizes")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER",
                        help="for byun2006.csv and the plots (.)")
    parser.add_argument("--class-penalty", type=float, default=0.5, metavar="CELLS")
    parser.add_argument("--diversity-penalty", type=float, default=0.5, metavar="CELLS")
    return parser.parse_args()


def main() -> int:
    """Runs the figures one after the other."""
    options = arguments()
    ks, sizes, rows = ((5, 20), (1_000, 2_000), 2_000) if options.quick else (KS, SIZES, None)
    options.out.mkdir(parents=True, exist_ok=True)
    due = {"class_penalty": options.class_penalty, "diversity_penalty": options.diversity_penalty}
    con, repeats = prepared(rows, sizes), 1 if options.quick else 2
    lab = Lab(con, ks, sizes, due, repeats, con.table("adult").shape[0])
    running("loading the kernels; the first run compiles them")
    for key in ALGORITHMS:
        lab.run(key, 3, "few")
    table: list[list[Any]] = [["figure", "quantity", "algorithm", "x is", "x", "value"]]
    show("Byun, Kamra, Bertino and Li 2006, figures 9 to 17, on Adult. One number is one metric of",
         lab.query(GREEDY, 5, "adult"))
    held = {figure.number: report(figure, lab, table) for figure in FIGURES}
    if not options.quick:
        weights(lab)
        check_of_scale(lab)
    with (options.out / "byun2006.csv").open("w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows(table)
    try:
        for figure in FIGURES:
            draw(figure, lab, options.out)
        show("", f"written: {options.out / 'byun2006.csv'}, byun2006-figure09 .. 17 (.png, .svg)")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("", "The plots were not drawn: they need matplotlib, pip install 'kanon_sql[plots]'")
    show("", "Claims of the paper's text that hold here, of those stated:", *(
        f"  figure {number}: {sum(claims)} of {len(claims)}" for number, claims in held.items()))
    running("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
