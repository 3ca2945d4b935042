"""Measures kanon_sql, prints tables, and writes them as results.md and results.json.

    python -m benchmarks --quick           under a minute, once the kernels are compiled
    python -m benchmarks                   the sizes of the documentation, without the largest table
    python -m benchmarks --full            the same, 10,000,000 rows from file to file in one query,
                                           and 100,000,000 in blocks
    python -m benchmarks --only kernels sql
    python -m benchmarks --only peers --peers

Start it in the root of the repository. A part that is run replaces its tables in the folder, and
leaves those of the other parts; each part names the machine and the day it was measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.machine import describe, sentence
from benchmarks.plan import PLANS, Plan
from benchmarks.tables import Table, markdown, table_of

PARTS = (
    "kernels", "sql", "reference", "peers", "loss", "opponent", "categories", "guarantees",
    "items", "models", "blocks", "mixed", "wide", "first_use", "large",
    "files", "spark", "serve", "calls",
)
FOLDER = Path(__file__).resolve().parent / "results"
STARTED = time.perf_counter()

Results = dict[str, Any]
"""By part: machine, how it was called, seconds it took, tables."""


def say(text: str) -> None:
    """Says on stderr what is being measured; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {text}", file=sys.stderr, flush=True)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, few steps")
    size.add_argument("--full", action="store_true", help="all sizes, an hour for each run")
    parser.add_argument("--only", nargs="+", default=PARTS, metavar="PART",
                        help=f"some of: {', '.join(PARTS)}; also with commas between them")
    parser.add_argument("--peers", action="store_true",
                        help="installs other packages with pip, in a temporary folder")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR",
                        help="for results.md and results.json (benchmarks/results)")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help="for one run (600; 30 with --quick, 3600 with --full)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="FACTOR",
                        help="on the rows of all records that are made up (1)")
    parser.add_argument("--steps", type=int, metavar="N",
                        help="of refine and best (by the number of rows; 500000 with --quick)")
    found = parser.parse_args(given)
    found.only = [part for each in found.only for part in each.split(",") if part]
    if wrong := [part for part in found.only if part not in PARTS]:
        parser.error(f"--only knows no part {wrong[0]!r}; choose from {', '.join(PARTS)}")
    if found.scale <= 0.0 or (found.limit or 1.0) <= 0.0 or (found.steps or 1) < 1:
        parser.error("--scale, --limit and --steps have to be above 0")
    return found


def plan_of(options: argparse.Namespace) -> Plan:
    """The sizes that the command line asks for."""
    plan = PLANS["quick" if options.quick else "full" if options.full else "default"]
    return replace(
        plan, scale=options.scale, limit=options.limit or plan.limit,
        steps=options.steps or plan.steps, peers=options.peers,
    )


def told(plan: Plan) -> str:
    """How a part was run, in words."""
    scale = "" if plan.scale == 1.0 else f", rows times {plan.scale:g}"
    return f"{plan.name}{scale}, up to {plan.limit:g} s for one run"


def measure(part: str, plan: Plan) -> list[Table]:
    """The tables of a part; if the part itself breaks, a table that says so."""
    make: Callable[[Plan, Callable[[str], None]], list[Table]] = import_module(
        f"benchmarks.{part}"
    ).tables
    try:
        return make(plan, say)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return [Table(f"{part.capitalize()}: failed", ["why"], [[why]])]


def page(results: Results) -> str:
    """All results as Markdown."""
    lines = ["# Benchmarks of kanon_sql", "", "Written by `python -m benchmarks`.", ""]
    for part in PARTS:
        if part in results:
            lines += section(part, results[part])
    return "\n".join(lines)


def section(part: str, found: dict[str, Any]) -> list[str]:
    """One part as lines of Markdown."""
    lines = [f"## {part}", "", f"{sentence(found['machine'])}; {found['plan']}; the part took "
             f"{found['seconds']:.0f} s.", ""]
    for table in found["tables"]:
        lines += markdown(table_of(table))
    return lines


def load(path: Path) -> Results:
    """Earlier results; none if there are none that can be read."""
    try:
        found: Results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def main(given: Sequence[str] | None = None) -> int:
    """Runs the parts one after the other, and writes after each."""
    options = arguments(given)
    plan = plan_of(options)
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "results.json"
    results = load(target)
    for part in [part for part in PARTS if part in options.only]:
        machine, started = describe(), time.perf_counter()
        tables = measure(part, plan)
        results[part] = {
            "machine": machine, "plan": told(plan), "seconds": time.perf_counter() - started,
            "tables": [table.as_json() for table in tables],
        }
        print("\n".join(section(part, results[part])), flush=True)
        target.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        target.with_suffix(".md").write_text(page(results), encoding="utf-8")
    say(f"written: {target} and {target.with_suffix('.md').name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
