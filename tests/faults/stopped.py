"""A process that is killed, or told to end, at a moment that is drawn."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.faults.doors import CITY, NAME, SEED
from tests.faults.judged import KILLED, Kind
from tests.faults.process import Ended, asked, ended, forked, waited
from tests.faults.table import Judged

PROGRAM = """
import sys
try:
    from tests.faults.doors import DOORS
    from tests.faults.process import run
    run(DOORS[sys.argv[1]], int(sys.argv[2]))
except KeyboardInterrupt:
    sys.exit(130)
"""
"""What calls a door that isn't the shell's, and ends as a program does that Ctrl-C ends."""

BEGINNING = 0.05
"""Seconds in which Python begins."""

INTERRUPTED = Kind((130, -2), speaks=False, resumes=True, finished=True)
"""Ctrl-C; what a shell says then is checked apart."""
ENDED = Kind((143,), speaks=False, resumes=True, finished=True)
"""SIGTERM, at the shell."""
UNHEARD = Kind((-15,), speaks=False, drafts=True, resumes=True)
"""SIGTERM in a program that has no handler for it: the system ends it, as by SIGKILL."""
MARKED = (NAME, CITY)
"""What no file of the cache may have."""


def killed(judged: Judged, until: float) -> None:
    """SIGKILL."""
    _loop(judged, until, "kill -9", signal.SIGKILL, KILLED)


def interrupted(judged: Judged, until: float) -> None:
    """SIGINT."""
    _loop(judged, until, "SIGINT", signal.SIGINT, INTERRUPTED)


def told_to_end(judged: Judged, until: float) -> None:
    """SIGTERM."""
    _loop(judged, until, "SIGTERM", signal.SIGTERM, ENDED if judged.door.shell else UNHEARD)


def compiling(judged: Judged, until: float) -> None:
    """Each signal to a new process that finds nothing compiled."""
    runs, compiled = judged.runs, judged.runs.place.root / "compiled"
    kinds = {
        signal.SIGINT: INTERRUPTED, signal.SIGTERM: ENDED if judged.door.shell else UNHEARD,
        signal.SIGKILL: KILLED,
    }
    usual = 0.0
    while time.monotonic() < until:
        for number, kind in kinds.items():
            shutil.rmtree(compiled, ignore_errors=True)
            runs.place.fill()
            if not usual:
                usual = _begun(judged, lambda _: None, compiled).seconds
                break
            moment = usual * runs.chance.uniform(0.0, 1.05)
            done = _begun(judged, partial(_stop, number, moment), compiled)
            if _before_kanon(done, moment):
                runs.ways["ended before kanon_sql began"] += 1
                continue
            found = [
                f"{path.name} has a value" for path in compiled.rglob("*")
                if path.is_file() and any(each.encode() in path.read_bytes() for each in MARKED)
            ]
            heading, at = f"{number.name} while it compiles", f"at {moment:.3f} s"
            judged.check(heading, at, done, kind, found=found)


def _stop(number: signal.Signals, moment: float, process: int) -> None:
    time.sleep(moment)
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _loop(judged: Judged, until: float, name: str, number: signal.Signals, kind: Kind) -> None:
    runs = judged.runs
    ways: list[tuple[Callable[[Judged, Callable[[int], object]], Ended], str]] = [(_forked, name)]
    if judged.door.shell:
        ways.append((_begun, f"{name} of a new process"))
    usual = {way: _usual(judged, way) for way, _ in ways}
    while time.monotonic() < until:
        for way, heading in ways:
            moment = usual[way] * runs.chance.uniform(0.0, 1.05)
            judged.runs.place.fill()
            done = way(judged, partial(_stop, number, moment))
            if _before_kanon(done, moment):
                runs.ways["ended before kanon_sql began"] += 1
                continue
            said = done.said.strip().splitlines()[-1:]
            if judged.door.shell and done.status in (130, 143) and said != ["kanon: stopped."]:
                runs.note(f"{heading} {judged.door.name}", f"at {moment:.3f} s", [
                    f"doesn't say that it was stopped: {done.said[-900:]!r}"
                ])
            judged.check(heading, f"at {moment:.3f} s", done, kind)


def _usual(judged: Judged, way: Callable[[Judged, Callable[[int], object]], Ended]) -> float:
    """The seconds that a run takes."""
    judged.runs.place.fill()
    return way(judged, lambda _: None).seconds


def _before_kanon(done: Ended, moment: float) -> bool:
    """Whether Python itself was stopped while it began, which nobody can hear."""
    if done.status == -signal.SIGTERM and not done.said and moment < BEGINNING:
        return True
    begun = "kanon_sql/" in done.said and "_get_module_details" not in done.said
    return "Traceback" in done.said and not begun


def _forked(judged: Judged, stop: Callable[[int], object]) -> Ended:
    return forked(judged.runs.place, judged.door, SEED, meanwhile=stop)


def _begun(
    judged: Judged, stop: Callable[[int], object], compiled: Path | None = None
) -> Ended:
    """A new process, as a shell begins it: it is stopped while it loads what it needs, too."""
    typed = ["-c", PROGRAM, judged.door.name, str(SEED)]
    if judged.door.shell is not None:
        typed = ["-m", "kanon_sql", *judged.door.shell(SEED)]
    place, said = judged.runs.place, judged.runs.place.root / "said"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    environment = {
        **os.environ, **place.environment(), "PYTHONPATH": str(Path(__file__).parents[2]),
        # compiled kernels of the user, which must not be compiled again in each run
        "NUMBA_CACHE_DIR": str(compiled or os.environ.get("NUMBA_CACHE_DIR") or cache),
    }
    source = place.path / "source/in.parquet"
    with said.open("wb") as told, (source if source.exists() else Path(os.devnull)).open() as read:
        process = subprocess.Popen(
            [sys.executable, *typed], cwd=place.path, env=environment, stdin=read, stdout=told,
            stderr=told, start_new_session=True,
        )
        began = time.monotonic()
        with asked(place, judged.door, process.pid) as wrong:
            stop(process.pid)
            status = waited(process.pid)
            process.returncode = 0  # it was waited for
    seconds = time.monotonic() - began
    return Ended(
        status, said.read_text(errors="replace"), ended(place, process.pid), seconds, tuple(wrong)
    )
