"""Runs one case after the other and writes a line of JSON for each; see __main__.py, which starts
and watches it."""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.fuzz.case import Case
from tests.fuzz.door import open_connection
from tests.fuzz.draw import case_of
from tests.fuzz.judge import Verdict, judged
from tests.fuzz.shrink import shrunk

CORPUS = Path(__file__).parent / "corpus"


def tell(**facts: Any) -> None:
    """One line for the process that watches."""
    print(json.dumps(facts), flush=True)


def judged_anew(case: Case, thoroughly: bool = True) -> Verdict:
    """A verdict of a connection of its own."""
    with open_connection() as con:
        try:
            return judged(con, case, thoroughly)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            return Verdict("failed", (f"{type(error).__name__} at {where}: {error}"[:400],))


def run(seed: int, doors: tuple[str, ...], shrinking: bool) -> None:
    """Runs the case of a seed; a failing one is shrunk into the corpus."""
    case = case_of(seed, doors)
    begun = time.perf_counter()
    verdict = judged_anew(case, thoroughly=seed % 3 == 0)
    tell(
        seed=seed, outcome=verdict.outcome, faults=verdict.faults, door=case.door,
        method=str(case.options.get("method")), seconds=round(time.perf_counter() - begun, 2),
        options=sorted(case.options), types=sorted({c.type for c in case.columns}),
    )
    if verdict.faults and shrinking:
        small = shrunk(case, verdict.faults[0], lambda each: _faults(each, seed))
        path = CORPUS / f"seed_{seed}.json"
        path.write_text(small.text(), encoding="utf-8")
        tell(seed=seed, shrunk=str(path))


def _faults(case: Case, seed: int) -> tuple[str, ...]:
    tell(seed=seed, alive=True)
    return judged_anew(case, thoroughly=seed % 3 == 0).faults


if __name__ == "__main__":
    first, step, until = int(sys.argv[1]), 1, float(sys.argv[2])
    doors, shrinking = tuple(sys.argv[3].split(",")), sys.argv[4] == "shrink"
    seed = first
    while time.time() < until:
        tell(seed=seed, begins=True)
        run(seed, doors, shrinking)
        seed += step
