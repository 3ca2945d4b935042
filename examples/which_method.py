"""Which method, which k: losses and seconds on three real tables.

    python examples/which_method.py [--quick]

Prints the tables of docs/which-method.md, as they stand there. --quick takes some hundred rows of
each table. Seconds are those of the processor, so that what else runs counts less.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polars as pl

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.stages.remembered import forget

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
FEW = 400
KS = (3, 5, 10, 25)

TABLES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "EIA: monthly sales of utilities, 11 numbers": (
        pl.read_parquet(DATA / "eia.parquet").drop("UTILNAME", "STATE", "YEAR", "MONTH"), {},
    ),
    "Adult: persons of a census, 1 number and 7 strings": (
        pl.read_parquet(adult()), {"sensitive": ["salary-class"]},
    ),
    "ZIP: places, 2 strings with many values and 2 numbers": (
        pl.read_parquet(DATA / "us_zip_centroids.parquet").select("state", "county", "lat", "lon"),
        {},
    ),
}

SETS = {"representation": "interval"}
CHOICES: dict[str, dict[str, Any]] = {
    "`mdav_plus`": {"method": "mdav_plus"},
    "`mdav_star`": {"method": "mdav_star"},
    "`k_member`": {"method": "k_member"},
    "`mondrian`": {"method": "mondrian"},
    "`mdav_star`, effort 'balanced'": {"method": "mdav_star", "effort": "balanced"},
    "`k_member`, effort 'balanced'": {"method": "k_member", "effort": "balanced"},
}


def measured(frame: pl.DataFrame, options: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """The metrics of a release by name, and the seconds of all cores that it took."""
    few = frame.head(FEW)
    kanon_sql.anonymize_metrics(few, detail=True, **options)  # compiles, or loads what was compiled
    forget()
    started = time.process_time()
    kanon_sql.anonymize(frame, **options)
    seconds = time.process_time() - started
    told = kanon_sql.anonymize_metrics(frame, detail=True, **options).select(
        "metric", pl.coalesce("text", pl.col("value").cast(pl.String)).alias("told")
    )
    return dict(told.iter_rows()), seconds


def line(cells: list[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def methods_of(
    name: str, frame: pl.DataFrame, options: dict[str, Any], ks: tuple[int, ...]
) -> None:
    """Prints what each method loses of one table."""
    print(f"**{name}, {len(frame):,} rows**\n")
    heads = [f"{loss}, k = {k}" for loss in ("points", "sets") for k in ks]
    print(line(["method", *heads, "seconds"]))
    print(line(["---", *["---:"] * (len(heads) + 1)]))
    for called, choice in CHOICES.items():
        points, sets, spent = [], [], 0.0
        for k in ks:
            told, seconds = measured(frame, {**options, **choice, "k": k})
            points.append(f"{float(told['information_loss']):.2f}")
            sets.append(f"{100 * float(told['ncp_grouping']):.2f}")
            if k == 5:
                spent = seconds
        print(line([called, *points, *sets, f"{spent:.1f}"]), flush=True)
    print()


def choice_of(name: str, frame: pl.DataFrame, options: dict[str, Any]) -> list[list[str]]:
    """What 'auto' chooses for one table, by what is released, and what that loses."""
    rows = []
    for shown, more in (("points", {}), ("sets", SETS)):
        told, seconds = measured(frame, {**options, **more, "method": "auto", "k": 5})
        refined = ", refined" if told["refine_steps"] is not None else ""
        loss, share = float(told["information_loss"]), 100 * float(told["ncp_grouping"])
        rows.append([
            name.partition(":")[0], shown, f"`{told['method']}`{refined}",
            f"{loss:.2f}" if shown == "points" else f"{share:.2f}", f"{seconds:.1f}",
        ])
    return rows


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some rows of each table")
    quick = parser.parse_args().quick
    ks = (5,) if quick else KS
    chosen = []
    for name, (whole, options) in TABLES.items():
        frame = whole.head(FEW) if quick else whole
        methods_of(name, frame, options, ks)
        chosen += choice_of(name, frame, options)
    print(line(["table", "released", "`auto` chose", "loss", "seconds"]))
    print(line(["---", "---", "---", "---:", "---:"]))
    for row in chosen:
        print(line(row))


if __name__ == "__main__":
    main()
