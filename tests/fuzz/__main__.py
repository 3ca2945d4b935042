"""Runs random releases until the time is over, and judges each.

    python -m tests.fuzz --minutes 60            a swarm over options, tables, queries and files
    python -m tests.fuzz --seed 17 --runs 1      one case again
    python -m tests.fuzz --doors spark           releases of DataFrames of Spark
    python -m tests.fuzz --parsers 20000         texts of options, TOML, roles and manifests
    python -m tests.fuzz --statements 500        statements around a call
    python -m tests.fuzz --commands 200          the shell's other commands, over random tables
    python -m tests.fuzz --ledgers 200           lives of random tables, released beside a ledger

Every case follows from its seed. A failing one is printed, made small and written to
tests/fuzz/corpus, which plain pytest replays. The exit status is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread
from typing import Any

from tests.fuzz import commands, ledgers, parsers, statements

HANGS = 400.0
"""Seconds without a sign of life after which a case hangs; the first use of a method compiles."""


@dataclass
class Tally:
    """What came of all cases so far."""

    cases: int = 0
    released: int = 0
    failed: dict[int, str] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    by_door: Counter[str] = field(default_factory=Counter)
    by_method: Counter[str] = field(default_factory=Counter)
    options: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def add(self, told: dict[str, Any]) -> None:
        """Counts one case."""
        self.cases += 1
        released = told["outcome"] == "released"
        self.released += released
        if released:
            self.by_door[told["door"]] += 1
            self.by_method[told["method"]] += 1
            self.options.update(told["options"])
            self.types.update(told["types"])
        else:
            self.refusals[re.sub(r"'[^']*'|\d+", "_", told["outcome"])[:70]] += 1
        self.slowest = max(self.slowest, told["seconds"])
        if told["faults"]:
            self.failed[told["seed"]] = told["faults"][0]
            print(f"seed {told['seed']}: {told['faults'][0]}", flush=True)

    def line(self) -> str:
        """How it stands."""
        return (f"{self.cases} cases, {self.released} released, "
                f"{self.cases - self.released} refused, {len(self.failed)} failed")

    def summary(self) -> str:
        """All of it, for the end."""
        rows = [self.line(), f"slowest case: {self.slowest:.0f} seconds"]
        for name, counts in (("released by", self.by_door), ("by method", self.by_method),
                             ("with option", self.options), ("types", self.types),
                             ("refused", self.refusals)):
            listed = ", ".join(f"{each} {n}" for each, n in counts.most_common(60))
            rows.append(f"{name} ({len(counts)}): {listed}")
        for seed, fault in self.failed.items():
            rows.append(f"FAILED seed {seed}: {fault}")
        return "\n".join(rows)


class Worker:
    """A process that runs one case after the other from a seed on."""

    def __init__(self, seed: int, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", str(seed), *arguments],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        )
        self.lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def line(self) -> str | None:
        """The next line; an empty one at the end, and None where the worker hangs."""
        try:
            return self.lines.get(timeout=HANGS)
        except Empty:
            return None

    def end(self) -> int:
        """Ends the process; its exit status."""
        self.process.kill()
        return self.process.wait()


def campaign(first: int, runs: int | None, until: float, doors: str, shrinking: bool) -> Tally:
    """Runs cases until there are enough or the time is over."""
    tally, seed, shown = Tally(), first, time.time()
    arguments = [str(until), doors, "shrink" if shrinking else "no"]
    worker = Worker(seed, arguments)
    try:
        while runs is None or seed < first + runs:
            text = worker.line()
            if not text:
                if text == "" and (code := worker.process.wait()) == 0:
                    break
                code = worker.end()
                why = "hangs" if text is None else f"ended the process with {code}"
                tally.failed[seed] = why
                print(f"seed {seed}: {why}", flush=True)
                seed += 1
                worker = Worker(seed, arguments)
                continue
            told = json.loads(text) if text.startswith("{") else {}
            if "begins" in told:
                seed = told["seed"]
                if runs is not None and seed >= first + runs:
                    break
            elif "outcome" in told:
                tally.add(told)
            elif "shrunk" in told:
                print(f"seed {told['seed']}: see {told['shrunk']}", flush=True)
            if time.time() - shown > 60:
                shown = time.time()
                print(tally.line(), flush=True)
    finally:
        worker.end()
    return tally


def _over_seeds(
    faults_of: Callable[[int], Iterable[str]], seed: int, runs: int, what: str
) -> int:
    """Prints what is wrong with so many seeds; 1 where anything is."""
    failed = 0
    for each in range(seed, seed + runs):
        faults = list(faults_of(each))
        failed += bool(faults)
        for fault in faults:
            print(f"seed {each}: {fault}", flush=True)
    print(f"{runs} {what}, from seed {seed}, {failed} failed")
    return int(failed > 0)


def main() -> int:
    """Reads the arguments, runs, and prints what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="the first seed; else the clock gives it")
    parser.add_argument("--runs", type=int, help="how many cases; else what there is time for")
    parser.add_argument("--parsers", type=int, help="read so many changed texts instead")
    parser.add_argument("--statements", type=int, help="run so many statements instead")
    parser.add_argument("--commands", type=int, help="run commands over so many tables instead")
    parser.add_argument("--ledgers", type=int, help="release so many lives of tables instead")
    parser.add_argument("--doors", default="query,query,query,query,function,frame,files")
    parser.add_argument("--keep", action="store_true", help="don't make failing cases small")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else int(time.time()) % 10**8 * 1000
    print(f"first seed: {seed}", flush=True)
    if asked.parsers:
        slow = {"toml": asked.parsers // 10, "manifest": asked.parsers // 100}
        return int(parsers.campaign(
            seed, dict.fromkeys(parsers.TARGETS, asked.parsers) | slow, print
        ) > 0)
    if asked.statements:
        return int(statements.campaign(seed, asked.statements, print) > 0)
    if asked.commands:
        return _over_seeds(commands.faults_of, seed, asked.commands, "tables")
    if asked.ledgers:
        return _over_seeds(ledgers.faults_of, seed, asked.ledgers, "lives")
    until = time.time() + 60 * asked.minutes
    tally = campaign(seed, asked.runs, until, asked.doors, not asked.keep)
    print(tally.summary())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
