"""Each call of the system that a run makes fails once: the first, the second, until all have."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

from tests.faults.doors import SEED
from tests.faults.judged import Kind
from tests.faults.process import Ended, forked
from tests.faults.table import Judged
from tests.faults.traced import FAULTS, Fault, Trace, faults_of, inject

ALL = ",".join(FAULTS)
STDERR = "/said>"
"""How a record names standard error."""
READ = re.compile(r"openat\(.*O_RDONLY|pread64|read\(")
"""A file that can't be read, or a folder in which none is found, may be one that was mistyped."""
REMOVED = re.compile(r'unlink|rmdir|O_DIRECTORY|fcntl|"[^"]*(kanon-draft|[.]tmp)[^"]*", O_RDONLY')
"""What takes a draft away: where that fails, it stays for the next run to take away."""


UNREAL = re.compile(r'"/(proc|sys)/|^\d+ +write\(\d+<socket:')
"""What no system refuses: a file about the process itself, and a byte to oneself on a socket."""

UNBEGUN = re.compile(r"^Exception ignored in thread started by.*\nMemoryError", re.MULTILINE)
"""What Python says of a thread that lacks the memory to begin."""


def waits_for_thread(ended: Ended) -> bool:
    """Whether Python hangs where it starts a thread: it waits until that says that it runs, and one
    without memory never does. No code of a thread, nor of who starts it, can change that."""
    return ended.status is None and UNBEGUN.search(ended.said) is not None


def loop(judged: Judged, until: float) -> None:
    """Runs them in an order that is drawn, until all were, or no time is left."""
    runs = judged.runs
    faults = met_by(judged)
    runs.chance.shuffle(faults)
    # one of each kind after the other: of some there are a thousand, of others three
    turns: Counter[tuple[str, str, bool]] = Counter()
    ordered = []
    for fault in faults:
        kind = (fault.call, fault.error, fault.on)
        turns[kind] += 1
        ordered.append((turns[kind], fault))
    faults = [fault for _, fault in sorted(ordered, key=lambda each: each[0])]
    ran = 0
    for fault in faults:
        if time.monotonic() > until:
            break
        one(judged, fault)
        ran += 1
    print(f"{judged.door.name}: {ran:,} of {len(faults):,} faults of calls", flush=True)


def met_by(judged: Judged) -> list[Fault]:
    """All faults that a run can meet."""
    place = judged.runs.place
    place.fill()
    trace = Trace(place.root / "record", ALL)
    ended = forked(place, judged.door, SEED, trace.attach)
    lines = trace.lines()
    if ended.status != 0:
        raise SystemExit(f"{judged.door.name} fails when it is traced: {ended.said}")
    return faults_of(lines, place.path)


def one(judged: Judged, fault: Fault) -> None:
    """A run with a fault."""
    place = judged.runs.place
    place.fill()
    trace = Trace(place.root / "record", fault.call, *inject(fault))
    ended = forked(place, judged.door, SEED, trace.attach)
    failed = [line for line in trace.lines() if "(INJECTED)" in line]
    if failed and all(map(UNREAL.search, failed)):
        judged.runs.ways["met a fault that no system has"] += 1
        return
    if waits_for_thread(ended):
        judged.runs.ways["hung in Python's start of a thread"] += 1
        return
    judged.check("calls", f"{fault} ({_where(failed)})", ended, _kind(failed, fault))
    if not failed:
        judged.runs.ways["met no fault"] += 1


def _kind(failed: list[str], fault: Fault) -> Kind:
    """What may be left, by the calls that failed. Where all fail that come after the first, what
    can't be told can't be taken back."""
    said = any(STDERR in line.partition(",")[0] for line in failed)
    read = any(READ.search(line) for line in failed)
    removed = any(REMOVED.search(line) for line in failed)
    return Kind(
        # where one thread can't read, DuckDB may say of the other that it was interrupted
        (4, 120) if said else (2, 4, 130) if read else (4,), speaks=not said, drafts=removed,
        resumes=removed, finished=said and fault.on,
    )


def _where(failed: list[str]) -> str:
    if not failed:
        return "not met"
    print(".", end="", file=sys.stderr, flush=True)
    return failed[0].split(" ", 1)[1][:120]
