"""Recomputes the experiments of Thaeter and Reischuk, Improving Anonymization Clustering (2021).

    python examples/thaeter2021.py            tables 1, 2 and 4, the example of section 3, figure 6
    python examples/thaeter2021.py --quick    tables 1 and 4 and the example

Every number stands beside the paper's. The exit status is 1 if a number that has to be equal to
the paper's is not. TARRAGONA is left out: the data set is not publicly at hand.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kanon_sql.methods import Grouping, Points, task_for
from kanon_sql.methods.microaggregation.mdav import mdav_with_slip
from kanon_sql.points.losses import information_loss, sse, sst

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
KS = (3, 4, 5, 7, 10)
SLIP = "mdav, with the paper's slip"
METHOD_NAMES = ("mdav", "mdav_plus", "v_mdav", "mdav_star")
ROWS = {"mdav": "mdav", SLIP: "mdav"} | {name: name for name in METHOD_NAMES[1:]}  # our: paper's
COLORS = ("#999999", "#0072B2", "#E69F00", "#D55E00")
PAPER_SETS = 25
WORKERS = 2  # threads; the kernels run without Python's lock
STARTED = time.perf_counter()

PaperTable = dict[str, tuple[float, ...]]
TABLE_1: dict[str, PaperTable] = {
    "CENSUS": {
        "mdav": (5.677, 7.537, 9.056, 11.608, 14.186),
        "mdav_plus": (5.662, 7.514, 9.007, 11.657, 14.073),
        "v_mdav": (5.662, 7.514, 8.978, 11.586, 14.043),
        "mdav_star": (5.782, 7.433, 8.809, 11.369, 14.003),
    },
    "EIA": {
        "mdav": (0.483, 0.672, 1.668, 2.187, 3.846),
        "mdav_plus": (0.488, 0.673, 1.775, 2.211, 3.547),
        "v_mdav": (0.465, 0.673, 1.056, 2.211, 2.794),
        "mdav_star": (0.449, 0.617, 0.911, 2.032, 2.633),
    },
}
TABLE_2: dict[str, PaperTable] = {
    "SimU": {
        "mdav": (18.181, 23.656, 28.072, 34.671, 40.826),
        "mdav_plus": (18.026, 23.618, 27.897, 34.043, 40.625),
        "v_mdav": (17.993, 23.551, 27.803, 34.006, 40.427),
        "mdav_star": (17.756, 23.095, 27.280, 33.371, 39.643),
    },
    "SimC": {
        "mdav": (6.957, 9.294, 11.246, 14.511, 18.436),
        "mdav_plus": (6.856, 9.233, 11.045, 14.114, 18.086),
        "v_mdav": (6.192, 8.355, 10.155, 13.142, 16.973),
        "mdav_star": (5.999, 8.163, 9.659, 12.315, 15.683),
    },
}
TABLE_4: PaperTable = {
    "CENSUS": (0.0, 0.0, 0.2, 0.1, 0.2),
    "EIA": (0.6, 0.0, 0.4, 0.0, 1.3),
    "SimU": (0.176, 0.208, 0.232, 0.108, 0.244),
    "SimC": (0.368, 0.456, 0.528, 0.660, 0.776),
}
SECTION_3 = (1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100)
SECTION_3_RESULTS = {  # diversity, groups, SSE, information loss in percent
    "v_mdav": ("17966", "1 2 3 | 5 6 19 20 21 | 98 99 100", "258.8", "1.44"),
    "mdav_star": ("17966", "1 2 3 5 6 | 19 20 21 | 98 99 100", "21.2", "0.118"),
}

Cells = dict[tuple[str, int], list[tuple[float, float]]]  # (row, k): loss, gamma per data set
Tally = list[bool]  # for every number compared: does it equal the paper's?


def mark(tally: Tally, ours: str, paper: str) -> str:
    """Notes one comparison; '=' or 'x' to be printed behind it."""
    tally.append(ours == paper)
    return "=" if ours == paper else "x"


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    seconds = time.perf_counter() - STARTED
    print(f"[{seconds:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*lines: str) -> None:
    """Prints result lines at once."""
    print(*lines, sep="\n", flush=True)


def table_head(name: str, width: int, ks: Iterable[int] = KS) -> str:
    """The line that names the columns."""
    return f"{name:30}" + "".join(f"k={k}".rjust(width) for k in ks)


def line(name: str, numbers: Iterable[float], form: str = ".3f", width: int = 10) -> str:
    """A table row."""
    return f"{name:30}" + "".join(f"{number:{form}}".rjust(width) for number in numbers)


def compared(name: str, ours: Any, paper: tuple[float, ...], digits: int, tally: Tally) -> str:
    """A table row of our numbers, each with the paper's behind it."""
    pairs = [(f"{a:.{digits}f}", f"{b:.{digits}f}") for a, b in zip(ours, paper, strict=True)]
    return f"{name:30}" + "".join(f"{a:>8} {b:>7} {mark(tally, a, b)}" for a, b in pairs)


def standardized(matrix: Any) -> Points:
    """Mean 0 and variance 1 per column (section 5.1), rows in lexicographic order."""
    centered = matrix - matrix.mean(axis=0)
    spread = matrix.std(axis=0)
    scaled = centered / np.where(spread > 0.0, spread, 1.0)
    return Points.of(scaled[np.lexsort(scaled.T[::-1])])


def benchmark(name: str) -> Points:
    """CENSUS, or columns 1 and 6 to 15 of EIA (section 5)."""
    table = pl.read_parquet(DATA / f"{name.lower()}.parquet")
    if name == "EIA":
        table = table.select([table.columns[i] for i in (0, *range(5, 15))])
    return standardized(table.to_numpy().astype(np.float64))


def sim_u(rng: np.random.Generator) -> Points:
    """1000 records of 10 attributes, uniform in [0, 1]."""
    return standardized(rng.random((1000, 10)))


def sim_c(rng: np.random.Generator) -> Points:
    """100 clusters of 4 to 21 records, and a third as many independent records.

    The center itself is one of a cluster's 4 to 21 records; the others differ from it by up to
    0.005 per attribute, 0.5 % of the attribute's range. This reading meets table 2 and the gammas
    of table 4. Others that were tried do not: without a record at the center V-MDAV gains 5 % on
    MDAV+ at k = 7 and 10 instead of 6 to 7 %, with smaller gammas; with the center on top of the
    4 to 21 all methods lose 2 to 4 % less; with 0.5 % of the center's value instead of the
    range, the best gammas get too small.
    """
    parts = []
    for center, size in zip(rng.random((100, 10)), rng.integers(4, 22, 100), strict=True):
        shifts = rng.uniform(-0.005, 0.005, (size, 10))
        shifts[0] = 0.0
        parts.append(center + shifts)
    clusters = np.concatenate(parts)
    return standardized(np.concatenate([clusters, rng.random((len(clusters) // 3, 10))]))


def simulated(name: str, seed: int, count: int) -> list[Points]:
    """The first sets of a seed; a set does not depend on how many are asked for."""
    make, kind = (sim_u, 0) if name == "SimU" else (sim_c, 1)
    return [make(np.random.default_rng([seed, kind, i])) for i in range(count)]


def grouping(row: str, points: Points, k: int) -> Grouping:
    """Runs the method of a table row, V-MDAV with its best gamma of 0.0, 0.1 .. 2.0."""
    if row == SLIP:
        return mdav_with_slip(points, k)
    return task_for(row, k).group(points)


def measure(row: str, points: Points, k: int) -> tuple[float, float]:
    """What one method loses on one data set, in percent, and the gamma it used."""
    result = grouping(row, points, k)
    loss = information_loss(sse(points, result.labels), sst(points))
    return loss, result.facts.get("gamma", 0.0)


def measure_all(sets: list[Points], rows: Iterable[str], ks: Iterable[int], part: str) -> Cells:
    """Every row and k on every set."""
    jobs = [(row, points, k) for k in ks for row in rows for points in sets]
    running(f"{part}: {len(jobs)} groupings")
    cells: Cells = {}
    with ThreadPoolExecutor(WORKERS) as pool:
        results = pool.map(measure, *zip(*jobs, strict=True))
        for (row, _, k), result in zip(jobs, results, strict=True):
            cells.setdefault((row, k), []).append(result)
    return cells


def means(cells: Cells, row: str, ks: Iterable[int]) -> tuple[Any, Any, Any]:
    """Per k over the data sets: mean loss, standard deviation of the loss, mean gamma."""
    table = np.array([cells[row, k] for k in ks])  # shape (ks, sets, 2)
    spreads = table[:, :, 0].std(axis=1, ddof=1) if table.shape[1] > 1 else None
    return table[:, :, 0].mean(axis=1), spreads, table[:, :, 1].mean(axis=1)


def tables_1_and_4(losses: Tally, gammas: Tally) -> None:
    """Information loss and best gammas on CENSUS and EIA."""
    show(
        "Table 1: information loss in percent, ours and the paper's; = equal, x not",
        "The paper's MDAV row is met only if the recomputed centroid is the remaining records'",
        f"sum over the original n, a slip; row '{SLIP}' does that, row 'mdav'",
        "divides by the number of remaining records, so it differs and is not counted.",
        "TARRAGONA is left out: the data set is not publicly at hand.",
    )
    best = {}
    for name, paper in TABLE_1.items():
        cells = measure_all([benchmark(name)], ROWS, KS, f"table 1, {name}")
        show("", table_head(name, 18))
        for row, theirs in ROWS.items():
            tally = [] if row == "mdav" else losses
            show(compared(row, means(cells, row, KS)[0], paper[theirs], 3, tally))
        best[name] = means(cells, "v_mdav", KS)[2]
    show("", "Table 4: best gamma of v_mdav, ours and the paper's", table_head("", 18))
    for name, values in best.items():
        show(compared(name, values, TABLE_4[name], 1, gammas))


def example_of_section_3(tally: Tally) -> None:
    """The records of one attribute on which MDAV* does far better than V-MDAV."""
    values = np.array(SECTION_3, dtype=np.float64)
    points = Points.of(values[:, None])
    total = sst(points)
    show("", f"Section 3: {len(values)} records, k = 3, not standardized; ours and the paper's")
    for row, paper in SECTION_3_RESULTS.items():
        labels = grouping(row, points, 3).labels
        groups = sorted(values[labels == g].tolist() for g in np.unique(labels))
        members = " | ".join(" ".join(f"{value:.0f}" for value in group) for group in groups)
        error, digits = sse(points, labels), len(paper[3].split(".")[1])
        loss = f"{information_loss(error, total):.{digits}f}"
        ours = (f"{total:.0f}", members, f"{error:.1f}", loss)
        for what, a, b in zip(
            ("diversity", "groups", "SSE", "loss in %"), ours, paper, strict=True
        ):
            show(f"{row:12}{what:12}{a:36}{b:36}{mark(tally, a, b)}")


def table_2(seed: int, count: int) -> None:
    """Information loss on simulated data; nothing can be equal, only as far apart as chance."""
    limit = 2.0 * (1.0 / count + 1.0 / PAPER_SETS) ** 0.5
    show(
        "",
        f"Table 2: information loss in percent, mean of {count} sets (seed {seed}); V-MDAV with",
        "the best gamma of each set. Spread: standard deviation between the sets. Difference:",
        f"ours less the paper's, in spreads; between means of {count} and {PAPER_SETS} sets, up to "
        f"{limit:.2f}",
        "is chance (2 sigma).",
    )
    within: list[bool] = []
    for name, paper in TABLE_2.items():
        cells = measure_all(simulated(name, seed, count), ROWS, KS, f"table 2, {name}")
        show("", table_head(name, 10))
        for row, theirs in ROWS.items():
            losses, spreads, gammas = means(cells, row, KS)
            apart = (losses - np.array(paper[theirs])) / spreads
            show(line(row, losses), line("  spread", spreads))
            show(line("  paper", paper[theirs]), line("  difference", apart, "+.2f"))
            if row == "v_mdav":
                show(line("  mean of the best gammas", gammas))
                show(line("  paper (table 4)", TABLE_4[name]))
            within += [] if row == "mdav" else list(abs(apart) <= limit)
        if name == "SimU":
            show(
                "In the column k = 10 the paper's numbers lie about 0.5 to 0.7 % below an",
                "independent rerun (--sets 500 --seed 2021).",
            )
    show(
        "", f"{sum(within)} of {len(within)} cells differ by no more than chance (mdav not counted)"
    )


def figure_6(seed: int, count: int, folder: Path) -> None:
    """Information loss on SimC for k = 2 .. 100, as a table and as a plot."""
    ks = range(2, 101)
    cells = measure_all(simulated("SimC", seed, count), METHOD_NAMES, ks, "figure 6")
    curves = {row: means(cells, row, ks)[0] for row in METHOD_NAMES}
    shown = (2, 3, 5, 10, 20, 30, 50, 70, 100)
    show(
        "",
        f"Figure 6: information loss in percent on SimC, mean over {count} sets (seed {seed});",
        "the plot has every k from 2 to 100, here are some of them",
        table_head("", 8, shown),
    )
    for row, curve in curves.items():
        show(line(row, [curve[k - ks[0]] for k in shown], width=8))
    try:
        draw(curves, list(ks), count, folder)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("The plot was not drawn: it needs matplotlib, pip install 'kanon_sql[plots]'")


def draw(curves: dict[str, Any], ks: list[int], count: int, folder: Path) -> None:
    """Writes the curves, and below them each one relative to mdav_plus, which sets them apart."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "thaeter2021"
    figure = Figure(figsize=(7.0, 7.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for row, color in zip(METHOD_NAMES, COLORS, strict=True):
        above.plot(ks, curves[row], color=color, label=row, linewidth=1.4)
        change = 100.0 * (curves[row] / curves["mdav_plus"] - 1.0)
        below.plot(ks, change, color=color, linewidth=1.4)
    above.set_title(f"Thaeter and Reischuk 2021, figure 6: SimC, mean of {count} sets")
    above.set_ylabel("information loss in %")
    above.set_ylim(bottom=0.0)
    above.legend(frameon=False)
    below.set_ylabel("compared to mdav_plus, in %")
    below.set_xlabel("k")
    below.set_xlim(0, ks[-1])
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "thaeter2021-figure6.svg"
    figure.savefig(target, metadata={"Date": None})
    figure.savefig(target.with_suffix(".png"), dpi=150)
    show(f"drawn: {target} and .png")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tables 1 and 4, section 3 only")
    parser.add_argument("--sets", type=int, default=PAPER_SETS, help="sets for table 2 (25)")
    parser.add_argument("--figure-sets", type=int, default=3, help="sets for figure 6 (3)")
    parser.add_argument("--seed", type=int, default=2021, help="for the simulated sets (2021)")
    parser.add_argument("--plot", type=Path, default=".", metavar="DIR", help="for figure 6 (.)")
    options = parser.parse_args()
    if options.sets < 2 or options.figure_sets < 1 or options.seed < 0:
        parser.error("--sets has to be 2 or more, --figure-sets 1 or more, --seed 0 or more")
    return options


def main() -> int:
    """Runs the parts one after the other."""
    options = arguments()
    running("loading the kernels; the first run compiles them")
    for row in ROWS:
        grouping(row, Points.of([[0.0], [1.0], [2.0]]), 2)
    losses, gammas, example = Tally(), Tally(), Tally()
    tables_1_and_4(losses, gammas)
    example_of_section_3(example)
    if not options.quick:
        table_2(options.seed, options.sets)
        figure_6(options.seed, options.figure_sets, options.plot)
    show("")
    for part, tally in (("table 1", losses), ("table 4", gammas), ("section 3", example)):
        count = f"{sum(tally)} of {len(tally)}"
        show(f"{part}: {count} cells equal the paper's to the printed digit")
    running("done")
    return 0 if all(losses + gammas + example) else 1


if __name__ == "__main__":
    sys.exit(main())
