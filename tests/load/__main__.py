"""Many calls beside each other and after each other, and what they leave.

    python -m tests.load                        all parts, five minutes each where time is the bound
    python -m tests.load threads served         these parts
    python -m tests.load --minutes 1 --calls 400

Nothing leaves this machine. Exits with 1 if anything was found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from tests.load.long_lived import ROUND, WARM, asked_in_one_process
from tests.load.outcome import Outcome
from tests.load.processes import asked_by_processes
from tests.load.registrations import registered_often
from tests.load.served import asked_by_clients
from tests.load.starts import started_in_every_way
from tests.load.threads import asked_by_threads


def main() -> int:
    """Runs what is asked for; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="the parts to run; all of them if none is given")
    parser.add_argument("--minutes", type=float, default=5.0, help="of threads, processes, served")
    parser.add_argument("--calls", type=int, default=1000, help="of one process, and registrations")
    parser.add_argument("--rounds", type=int, default=3, help="of starts")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    seconds, seed = given.minutes * 60, given.seed
    parts: dict[str, Callable[[], Outcome]] = {
        # first of all: what others leave would count as held
        "one-process": lambda: asked_in_one_process(given.calls),
        "registrations": lambda: registered_often(given.calls),
        "threads": lambda: asked_by_threads(seconds, seed=seed),
        "processes": lambda: asked_by_processes(seconds, seed=seed),
        "served": lambda: asked_by_clients(seconds, seed=seed),
        "starts": lambda: started_in_every_way(given.rounds),
    }
    if unknown := set(given.parts) - set(parts):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    if given.calls < WARM + ROUND:
        parser.error(f"--calls is at least {WARM + ROUND}")
    if sys.platform != "linux":
        parser.error("what a process holds is read from /proc, which only Linux has")
    print(f"seed {seed}", flush=True)
    found = 0
    for name in given.parts or parts:
        started = time.monotonic()
        outcome = parts[name]()
        found += len(outcome.findings)
        print(outcome.told(time.monotonic() - started), flush=True)
    print(f"{found} findings", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
