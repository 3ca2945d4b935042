"""Recomputes section 5 of Du et al., On the Approximability of ... Generalization (2009).

    python examples/du2009.py               every k, in two minutes or so
    python examples/du2009.py --quick       every 100th k
    python examples/du2009.py --out plots   table (CSV) and figure 7 (PNG, SVG) in that folder

First names of the 1990 US Census are packed into classes by how many people have them: with Fold
(theorem 7) and Spread (theorem 9, simplified), in random order or the commonest first. Frequencies
have three decimals in percent, so sizes and k are in thousandths of a percent. k runs from the
commonest name's size to where two classes remain. The third data set, LAST-1990, is not at hand.

Below the tables stands for each of the paper's observations whether it holds here. What exactly is
compared is left open there, and was fixed before this was run. The random order is a hash's, of
--seed. The exit status is 1 if a class is smaller than k, or a largest class outside of theorem 7's
bound or below what any packing needs. For sections 2 and 3 see du2009_maps.py.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from kanon_sql.methods.single_attribute.bin_covering import next_fit
from kanon_sql.methods.single_attribute.fold import folded
from kanon_sql.methods.single_attribute.pack import lower_bound, pack
from kanon_sql.methods.single_attribute.spread import spread_bins

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
SETS = {"FEMALE-1990": "names_female_first", "MALE-1990": "names_male_first"}
SEQUENCES, WAYS = ("random", "sorted"), ("fold", "spread")
ALGORITHMS = tuple((sequence, way) for sequence in SEQUENCES for way in WAYS)
STEP = 100  # of k, for --quick
SUBRANGES = 150  # of k, whose maxima figure 7 shows; the paper doesn't say how many
ORDERS, SOME = 10, 50  # how many random orders are compared with sorted ones, and at how many k
OFTEN, MOST_DROPS, PRONOUNCED, MUCH, NEARLY_ALL = 1 / 3, 3 / 4, 1.5, 1 / 2, 9 / 10
COLORS = {  # of Okabe and Ito, which everyone can tell apart
    ("random", "fold"): "#E69F00", ("random", "spread"): "#56B4E9",
    ("sorted", "fold"): "#D55E00", ("sorted", "spread"): "#0072B2",
}
STARTED = time.perf_counter()

Algorithm = tuple[str, str]  # sequence and way
Part = tuple[str, bool, str]
"""For what an observation is checked, whether it holds there, and the numbers that say so."""


@dataclass(frozen=True)
class Curves:
    """What the packings of one data set are like, for each k.

    Attributes:
        name: of the data set.
        sizes: int64, shape (names,).
        ks: int64, shape (n,).
        largest, classes: of each algorithm the largest class and their number: int64, shape (n,).
        least: no packing has a smaller largest class: int64, shape (n,).
        wrong: what contradicts a guarantee, in words.
    """

    name: str
    sizes: Any
    ks: Any
    largest: dict[Algorithm, Any]
    classes: dict[Algorithm, Any]
    least: Any
    wrong: list[str]

    @property
    def bound(self) -> Any:
        """Theorem 7's bound for the largest class, for each k: int64, shape (n,)."""
        return np.maximum(self.ks - 1 + self.sizes.max(), 3 * self.ks - 3)

    def ratio(self, algorithm: Algorithm) -> Any:
        """The overfull ratio, largest class / k: float64, shape (n,)."""
        return self.largest[algorithm] / self.ks

    def rises(self, algorithm: Algorithm) -> Any:
        """By what the ratio rises where the number of classes drops: float64, shape (drops,)."""
        drops = np.diff(self.classes[algorithm]) < 0
        return np.diff(self.ratio(algorithm))[drops]


def names(source: str) -> Any:
    """The sizes of the items, in the order of the names: int64, shape (names,)."""
    found = duckdb.execute(
        "SELECT round(1000 * freq_pct)::BIGINT FROM read_parquet(?) ORDER BY name",
        [str(DATA / f"{source}.parquet")],
    ).fetchall()
    return np.array([size for (size,) in found], np.int64)


def levels(sizes: Any, k: int, algorithm: Algorithm, seed: int) -> Any:
    """The sizes of the classes: int64, shape (classes,)."""
    bins = pack(sizes, k, algorithm[0], seed, algorithm[1])
    return np.bincount(bins, weights=sizes).astype(np.int64)


def last_k(sizes: Any, seed: int) -> int:
    """The largest k for which two classes remain in either order."""
    low, high = int(sizes.max()), int(sizes.sum())  # classes get fewer as k grows
    while high - low > 1:
        k = (low + high) // 2
        two = all(len(levels(sizes, k, (sequence, "fold"), seed)) >= 2 for sequence in SEQUENCES)
        low, high = (k, high) if two else (low, k)
    return low


def measured(name: str, sizes: Any, ks: Any, seed: int) -> Curves:
    """Runs the four algorithms for each k."""
    largest = {algorithm: np.empty_like(ks) for algorithm in ALGORITHMS}
    classes = {algorithm: np.empty_like(ks) for algorithm in ALGORITHMS}
    wrong = []
    for i, k in enumerate(ks.tolist()):
        for algorithm in ALGORITHMS:
            found = levels(sizes, k, algorithm, seed)
            largest[algorithm][i], classes[algorithm][i] = found.max(), len(found)
            if found.min() < k:
                wrong.append(f"{name}, k = {k}: {title(algorithm)} has a class of {found.min()}")
    least = np.array([lower_bound(sizes, k) for k in ks.tolist()], np.int64)
    curves = Curves(name, sizes, ks, largest, classes, least, wrong)
    for algorithm, most in largest.items():
        for i in np.flatnonzero((most > curves.bound) | (most < least)).tolist():
            wrong.append(f"{name}, k = {ks[i]}: {title(algorithm)} has a largest class of "
                         f"{most[i]}, not within {least[i]} .. {curves.bound[i]}")
    return curves


def smallest_first(sizes: Any, k: int, way: str) -> int:
    """The largest class if items are sorted the other way round, those of k or more first."""
    arranged, beat = np.sort(sizes), np.zeros(2, np.int64)
    arranged = arranged[np.argsort(arranged < k, kind="stable")]
    bins, filled = next_fit(arranged, k, beat)
    spread = way == "spread"
    bins = spread_bins(arranged, bins, filled, beat) if spread else folded(bins, filled)
    return int(np.bincount(bins, weights=arranged).max())


def title(algorithm: Algorithm) -> str:
    """The algorithm's name in the paper."""
    return " ".join(algorithm).title()


def superior(curves: Curves) -> Iterator[Part]:
    """Observation 1."""
    for sequence in SEQUENCES:
        fold, spread = (curves.largest[sequence, way] for way in WAYS)
        less, more = np.mean(spread < fold), np.mean(spread > fold)
        means = [curves.ratio((sequence, way)).mean() for way in WAYS]
        yield (sequence, bool(more == 0.0 and less > 0.5),
               f"smaller at {less:.1%} of the k, larger at {more:.1%}; "
               f"mean {means[1]:.3f} beside {means[0]:.3f}")


def random_order(curves: Curves) -> Iterator[Part]:
    """Observation 2."""
    for way in WAYS:
        ours, theirs = (curves.largest[sequence, way] for sequence in SEQUENCES)
        less, more = np.mean(ours < theirs), np.mean(ours > theirs)
        means = [curves.ratio((sequence, way)).mean() for sequence in SEQUENCES]
        yield (way.title(), bool(less >= OFTEN),
               f"smaller at {less:.1%} of the k, larger at {more:.1%}; "
               f"mean {means[0]:.3f} beside {means[1]:.3f}")


def other_orders(curves: Curves, seed: int) -> Iterator[Part]:
    """Observation 2 for several random orders, and for items sorted the other way round."""
    places = np.linspace(0, len(curves.ks) - 1, SOME).astype(int)
    ks = curves.ks[places].tolist()
    for way in WAYS:
        random = np.array([
            [levels(curves.sizes, k, ("random", way), other).max() for k in ks]
            for other in range(seed, seed + ORDERS)
        ])
        for first, rivals in (
            ("largest", curves.largest["sorted", way][places]),
            ("smallest", np.array([smallest_first(curves.sizes, k, way) for k in ks])),
        ):
            shares = np.mean(random < rivals, axis=1)
            yield (f"{way.title()}", bool(shares.mean() >= OFTEN),
                   f"smaller than with the {first} first at {shares.mean():.0%} of the k, "
                   f"with one order {shares.min():.0%}, with another {shares.max():.0%}")


def drops(curves: Curves) -> Iterator[Part]:
    """Observation 3."""
    for algorithm in ALGORITHMS:
        rises = curves.rises(algorithm)
        yield (title(algorithm), bool(np.mean(rises > 0.0) >= MOST_DROPS),
               f"rises at {np.count_nonzero(rises > 0.0)} of {len(rises)} drops, by "
               f"{rises.mean():.3f} on average")
    for sequence in SEQUENCES:
        fold, spread = (curves.rises((sequence, way)).mean() for way in WAYS)
        yield (f"{sequence}, Fold's", bool(fold > 0.0 and fold >= PRONOUNCED * spread),
               f"rise is {fold:.3f} on average, Spread's {spread:.3f}")


def better_than_worst(curves: Curves) -> Iterator[Part]:
    """Observation 4."""
    for algorithm in ALGORITHMS:
        most, ratio = curves.largest[algorithm], curves.ratio(algorithm)
        share = np.mean(most - curves.ks <= MUCH * (curves.bound - curves.ks))
        yield (title(algorithm), bool(share >= NEARLY_ALL),
               f"at {share:.1%} of the k; mean {ratio.mean():.3f}, at most {ratio.max():.3f}; the "
               f"bound {(curves.bound / curves.ks).max():.3f}")


def parts(every: Sequence[Curves], check: Callable[[Curves], Iterable[Part]]) -> bool:
    """Prints for which data sets and algorithms something holds; whether it does for all."""
    found = [(curves.name, *part) for curves in every for part in check(curves)]
    show(*(f"     {'yes' if holds else 'NO':4}{name:12} {what:15} {why}"
           for name, what, holds, why in found))
    return all(holds for _, _, holds, _ in found)


OBSERVATIONS = (  # the paper's words, what is compared, and what compares it
    ("1. Spread is superior to Fold, for random and sorted order",
     "its ratio is larger at no k, and smaller at more than half of them", superior),
    ("2. Random order is often superior to sorted order",
     "its ratio is smaller at a third of the k or more", random_order),
    ("3. Where the number of classes drops, the ratio suffers, especially Fold's",
     "it is larger than at the k before at three quarters of the drops or more, and\n   Fold's "
     "rise there is on average 1.5 times Spread's or more", drops),
    ("4. Both are much better than the worst case",
     "at nine tenths of the k or more, what the ratio has above 1 is half of what\n   "
     "theorem 7's bound has, or less", better_than_worst),
)


def report(every: Sequence[Curves], seed: int) -> None:
    """Prints what the paper observed, and whether it is so here."""
    for text, meaning, check in OBSERVATIONS:
        show("", f"{text}:", f"   {meaning}")
        agrees = parts(every, check)
        show(f"  {'agrees: ' if agrees else 'DIFFERS:'} {text}")
    show("", f"Observation 2 for {ORDERS} random orders, and also beside items sorted from the "
         "smallest up:", f"   not compared at first, but the paper doesn't say which way it sorts; "
         f"at {SOME} k")
    parts(every, lambda curves: other_orders(curves, seed))


def write(every: Sequence[Curves], target: Path) -> None:
    """The overfull ratios and numbers of classes for each k, as CSV."""
    keys = ["_".join(algorithm) for algorithm in ALGORITHMS]
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "k", "lower_bound", "theorem_7", *keys,
                         *(f"{key}_classes" for key in keys)])
        for curves in every:
            counts = [curves.largest[algorithm] for algorithm in ALGORITHMS]
            ratios = np.array([curves.least, curves.bound, *counts]) / curves.ks
            classes = np.array([curves.classes[algorithm] for algorithm in ALGORITHMS])
            for k, row, made in zip(curves.ks, ratios.T, classes.T, strict=True):
                writer.writerow([curves.name, k, *(f"{ratio:.6f}" for ratio in row), *made])


def maxima(curves: Curves, values: Any) -> tuple[list[float], list[float]]:
    """The middle of each subrange of k, and the greatest value there."""
    count = min(SUBRANGES, len(curves.ks))
    xs, ys = (np.array_split(each, count) for each in (curves.ks, values))
    return [float(x.mean()) for x in xs], [float(y.max()) for y in ys]


def draw(every: Sequence[Curves], target: Path) -> None:
    """Writes figure 7 as SVG, and as PNG beside it."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "du2009"
    figure = Figure(figsize=(9.0, 4.2 * len(every)), layout="constrained")
    panels = figure.subplots(len(every), 1, squeeze=False)[:, 0]
    for axes, curves in zip(panels, every, strict=True):
        axes.plot(*maxima(curves, curves.bound / curves.ks), "--", color="#606060", linewidth=1.0,
                  label="theorem 7's bound")
        for algorithm, color in COLORS.items():
            axes.plot(*maxima(curves, curves.ratio(algorithm)), color=color, linewidth=1.2,
                      label=title(algorithm))
        axes.plot(*maxima(curves, curves.least / curves.ks), color="#C8C8C8", linewidth=3.0,
                  label="no packing is below", zorder=1)
        axes.set_title(f"{curves.name}: {len(curves.sizes):,} names", loc="left", fontsize=11)
        axes.set(xlabel="k, in thousandths of a percent", ylabel="overfull ratio, largest class/k")
        axes.set_ylim(0.95, 3.1)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.10g}")
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"Du et al. 2009, figure 7: maxima in {SUBRANGES} subranges of k", fontsize=12)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(target, metadata={"Date": None})
    figure.savefig(target.with_suffix(".png"), dpi=150)


def table(curves: Curves) -> None:
    """Prints the ratios at some k."""
    some = np.linspace(0, len(curves.ks) - 1, 7).astype(int)
    first, last = curves.ks[[0, -1]]
    show("", f"{curves.name}: {len(curves.sizes):,} names of {curves.sizes.sum():,}; k = {first:,} "
         f".. {last:,}, {len(curves.ks):,} of them; overfull ratio (classes)",
         f"{'k':22}" + "".join(f"{curves.ks[i]:>13,}" for i in some)
         + f"{'mean':>9}{'largest':>9}")
    for key in ALGORITHMS:
        ratio = curves.ratio(key)
        cells = (f"{f'{ratio[i]:.3f} ({curves.classes[key][i]})':>13}" for i in some)
        show(f"{title(key):22}{''.join(cells)}{ratio.mean():>9.3f}{ratio.max():>9.3f}")
    least = curves.least / curves.ks
    show(f"{'no packing is below':22}" + "".join(f"{f'{least[i]:.3f}    ':>13}" for i in some)
         + f"{least.mean():>9.3f}{least.max():>9.3f}")


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*texts: str) -> None:
    """Prints result lines at once."""
    print(*texts, sep="\n", flush=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"every {STEP}th k")
    parser.add_argument("--seed", type=int, default=0, help="of the random order (0)")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="for CSV and plots")
    options = parser.parse_args(given)
    if options.seed < 0:
        parser.error("--seed has to be 0 or more")
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Runs the algorithms, prints what they show, and draws it."""
    options = arguments(given)
    options.out.mkdir(parents=True, exist_ok=True)
    step = STEP if options.quick else 1
    show("Du, Eppstein, Goodrich and Lueker 2009, section 5: overfull ratios, largest class / k.",
         f"The random order is that of seed {options.seed}; LAST-1990 is not at hand.",
         *([f"Only every {STEP}th k, so 'the k before' is {STEP} less."] if options.quick else []))
    every = []
    for name, source in SETS.items():
        running(name)
        sizes = names(source)
        ks = np.arange(sizes.max(), last_k(sizes, options.seed) + 1, step)
        every.append(measured(name, sizes, ks, options.seed))
        table(every[-1])
    running("observations")
    report(every, options.seed)
    wrong = [text for curves in every for text in curves.wrong]
    show("", *(f"BROKEN: {text}" for text in wrong) if wrong else (
        "All classes have k or more; all largest classes are within theorem 7's bound.",))
    write(every, options.out / "du2009.csv")
    show(f"written: {options.out / 'du2009.csv'}")
    try:
        draw(every, options.out / "du2009-figure7.svg")
        show(f"drawn: {options.out / 'du2009-figure7.svg'} and .png")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("The figure was not drawn: it needs matplotlib, pip install 'kanon_sql[plots]'")
    running("done")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
