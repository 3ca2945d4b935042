"""Faults in a loop: whatever fails, a release is whole or absent.

    python -m tests.faults                                  an hour over all doors
    python -m tests.faults --minutes 5 --door release       five minutes of one
    python -m tests.faults --seed 7 --heading killed        as that run was

It needs Linux and strace, which makes calls of the system fail.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kanon_sql.errors import OptionError
from kanon_sql.serve.extension import served_connection
from tests.faults import calls, limits, notebook, power, stopped
from tests.faults.doors import DOORS, SEED, Door
from tests.faults.place import Place
from tests.faults.process import run
from tests.faults.served import ALL, SERVE
from tests.faults.table import Judged, Runs, begin
from tests.faults.traced import ABSENT, is_there

HEADINGS: dict[str, Callable[[Judged, float], None]] = {
    "power": power.power,
    "calls": calls.loop,
    "kill": stopped.killed,
    "interrupt": stopped.interrupted,
    "terminate": stopped.told_to_end,
    "compiling": stopped.compiling,
    "notebook": notebook.interrupted,
    "limits": limits.limits,
    "inputs": limits.inputs,
}
"""What may happen, and what makes it happen to a door for some time."""
SHARES = {
    "power": 0.0, "calls": 0.4, "kill": 0.1, "interrupt": 0.1, "terminate": 0.1, "compiling": 0.08,
    "notebook": 0.05, "limits": 0.1, "inputs": 0.07,
}
"""Of the time of a door."""


def main() -> int:
    """Runs it; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--door", choices=ALL, action="append")
    parser.add_argument("--heading", choices=HEADINGS, action="append")
    asked = parser.parse_args()
    if not is_there():
        print(ABSENT)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which some shells have ignored
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kanon-faults-") as folder:
        return _in(Path(folder).resolve(), seed, asked)


def _in(root: Path, seed: int, asked: argparse.Namespace) -> int:
    os.environ["FAULTS_ROOT"] = str(root)
    runs = Runs(Place(root), random.Random(seed), time.monotonic() + 60 * asked.minutes)
    doors = [ALL[name] for name in asked.door or _possible()]
    headings = asked.heading or list(HEADINGS)
    whole = sum(SHARES[heading] for heading in headings) or 1.0
    with suppress(KeyboardInterrupt):  # what was run till then is told
        for place, door in enumerate(doors):
            judged = begin_warm(runs, door)
            began = time.monotonic()
            share = (runs.until - began) / (len(doors) - place)
            for heading in headings:
                seconds = share * SHARES[heading] / whole
                HEADINGS[heading](judged, min(time.monotonic() + seconds, began + share))
    return told(runs)


def _possible() -> list[str]:
    """All doors, without the server where DuckDB can't serve."""
    try:
        served_connection().close()
    except OptionError as missing:
        print(f"{SERVE.name} is left out: {missing}", flush=True)
        return [*DOORS]
    return [*ALL]


def begin_warm(runs: Runs, door: Door) -> Judged:
    """The same as begin, with all that a run loads loaded before: so a run takes a second."""
    place = runs.place
    place.empty()
    here = Path.cwd()
    os.chdir(place.path)
    streams = sys.stdin
    heard = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        door.prepare()
        source = Path("source/in.parquet")
        if door.shell and source.exists():
            sys.stdin = source.open()  # type: ignore[assignment]
        try:
            door.warm() if door.warm else run(door, SEED + 1)
        except SystemExit as end:
            if end.code:
                raise
    finally:
        sys.stdin = streams
        for each, handler in heard.items():  # the shell leaves both unheard when it ends
            signal.signal(each, handler)
        os.chdir(here)
        shutil.rmtree(place.path)
    return begin(runs, door)


def told(runs: Runs) -> int:
    """Prints what was run and found."""
    print("\nruns by heading and door")
    for heading, count in sorted(runs.counts.items()):
        print(f"  {heading:<32} {count:>6,}")
    print(f"  {'again, without a fault':<32} {runs.again:>6,}")
    print("ended with " + ", ".join(f"{way}: {n:,}" for way, n in sorted(runs.ways.items())))
    print(f"{sum(runs.counts.values()):,} runs, {len(runs.found):,} findings")
    return 1 if runs.found else 0


if __name__ == "__main__":
    sys.exit(main())
