"""Mutants: small faults put into the code, each of which a test must notice.

    python -m tests.mutants                           all, for hours
    python -m tests.mutants --module verify           one target: see tests/mutants/targets.py
    python -m tests.mutants --module encode --sample 60 --seed 1
    python -m tests.mutants --minutes 30              what half an hour is enough for

A mutant is killed by the tests of its own folder that reach it, the quickest first. Those that
survive are told with their change; equivalent.toml says of some why they change nothing.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from tests.mutants.edits import Mutant
from tests.mutants.explained import explained, explanations
from tests.mutants.forked import KILLED, SURVIVED, Outcome
from tests.mutants.reach import Reach
from tests.mutants.session import is_quick, recorded, run_quick, run_slow
from tests.mutants.targets import ROOT, TARGETS, mutants_of

FOREIGN = (
    "duckdb", "numpy", "pyarrow.parquet", "numba.typed", "numba.core.caching", "scipy.stats",
    "scipy.spatial", "pytest", "hypothesis", "xdist.plugin", "platformdirs",
)
"""What each process would import anew; not Polars, whose threads a fork loses."""


def main() -> int:
    """Runs what is asked for; 1 where a mutant of a whole target survives without a reason."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--module", action="append", choices=TARGETS, help="a target; may repeat")
    parser.add_argument("--file", default="", help="only files whose path has this text")
    parser.add_argument("--sample", type=int, help="so many mutants of each target, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--minutes", type=float, default=1e6, help="for all together")
    parser.add_argument("--seconds", type=float, default=20.0,
                        help="of the processor, for the tests that a mutant has to pass (20)")
    parser.add_argument("--reach", type=Path, metavar="FOLDER",
                        help="keeps what the tests reach, and takes it from there the next time")
    asked = parser.parse_args()
    for name in FOREIGN:
        import_module(name)
    ends, survivors = time.monotonic() + 60 * asked.minutes, 0
    names = list(asked.module or TARGETS)
    # with another seed the time ends at other targets
    first = asked.seed % len(names)
    for name in names[first:] + names[:first]:
        if time.monotonic() >= ends:
            print(f"{name}: no time is left", flush=True)
            continue
        survivors += _run(name, asked, ends)
    return int(survivors > 0)


def _run(name: str, asked: argparse.Namespace, ends: float) -> int:
    """Runs the mutants of a target; how many survive without a reason."""
    target = TARGETS[name]
    mutants = [each for each in mutants_of(target) if asked.file in each.path]
    count = len(mutants)
    if asked.sample is not None and asked.sample < count:
        mutants = random.Random(asked.seed).sample(mutants, asked.sample)
    tests = [f"tests/{test}" for test in target.tests]
    reach = _reach(name, tests, asked.reach)
    if reach.failed:
        print(f"{name}: these tests fail without any mutant: {reach.failed}", flush=True)
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in {m.path for m in mutants}}
    quick = [each for each in mutants if is_quick(each, texts[each.path], reach)]
    slow = [each for each in mutants if not is_quick(each, texts[each.path], reach)]
    print(f"{name}: {count} mutants, {len(quick)} + {len(slow)} of them now, seed {asked.seed}, "
          f"{len(reach.seconds)} tests", flush=True)
    known, counts, left = explanations(), Counter[str](), 0
    for mutant, outcome in (
        *run_quick(quick, tests, reach, asked.seconds, ends),
        *run_slow(slow, reach, asked.seconds, ends),
    ):
        left += _tell(mutant, outcome, texts[mutant.path], known, counts)
    done = counts.total() - counts["equivalent"]
    score = f"score {100 * (done - left) / done:.1f} %" if done else "no score"
    print(f"{name}: {dict(counts)}, {score}", flush=True)
    return left


def _reach(name: str, tests: list[str], folder: Path | None) -> Reach:
    file = folder / name if folder else None
    if file and file.exists():
        found: Reach = pickle.loads(file.read_bytes())
        return found
    reach = recorded(tests)
    if file and folder:
        folder.mkdir(exist_ok=True)
        file.write_bytes(pickle.dumps(reach))
    return reach


def _tell(
    mutant: Mutant, outcome: Outcome, source: str, known: dict[tuple[str, ...], str],
    counts: Counter[str],
) -> int:
    """Counts a mutant, and shows it where it survives without a reason; whether it does."""
    why = explained(mutant, known)
    verdict = "equivalent" if why and outcome.verdict == SURVIVED else outcome.verdict
    counts[verdict] += 1
    if verdict == KILLED and why:
        print(f"{mutant.name} is killed, and equivalent.toml has it", flush=True)
    if verdict != SURVIVED:
        return 0
    print(f"{mutant.name} [{mutant.place}] {mutant.edit.operator}\n{mutant.diff(source)}\n",
          flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
