"""What must hold after a run that something happened to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tests.faults.doors import CITY, NAME, Door, State
from tests.faults.place import OWN, Place
from tests.faults.process import Ended

SENTENCE = re.compile(r"^kanon: [^\n]{20,500}\Z", re.MULTILINE)
NOISE = re.compile(r"^(kanon_sql: |kanon: |(one|two|three): )|^\s*$|^[\w-]{43}$")
"""What else may stand on standard error: what is told of a run; a token."""

DRAFT = re.compile(r"\.[\w.]+\.[0-9a-f]{16}\.tmp(/|\Z)")
RESUMED = ".kanon-draft/"
WAL = "base.duckdb.wal"
"""Of a database of the caller's; what its tables hold is looked at apart."""


@dataclass(frozen=True)
class Kind:
    """What happened to a run, and so what may be left of it.

    Attributes:
        statuses: how it may end.
        speaks: whether it says why.
        drafts: whether drafts may be left, as of a process that was killed.
        resumes: whether the draft may be left that the next run goes on with, whatever is said.
        finished: whether all may have been done already.
    """

    statuses: tuple[int, ...] = (4,)
    speaks: bool = True
    drafts: bool = False
    resumes: bool = False
    finished: bool = False


FAULT = Kind()
KILLED = Kind((-9,), speaks=False, drafts=True, resumes=True)


def judge(
    place: Place, door: Door, ended: Ended, absent: State, whole: State, kind: Kind = FAULT
) -> list[str]:
    """What doesn't hold after a run."""
    now = door.state(place.path)
    found = [*_of_state(door, ended, now, absent, whole, kind)]
    found += _of_speech(ended, kind)
    found += _of_places(place, door, ended, kind)
    found += ended.wrong
    if ended.alive:
        found.append(f"{ended.alive} processes are left")
    return found


def _of_state(
    door: Door, ended: Ended, now: State, absent: State, whole: State, kind: Kind
) -> list[str]:
    found = []
    for name, held in now.items():
        if held not in (absent[name], whole[name]):
            found.append(f"{name} is neither whole nor as before: {str(held)[:300]}")
    done = [held == whole[name] for name, held in now.items() if whole[name] != absent[name]]
    if ended.status == 0:
        return found if all(done) else [*found, f"status 0, and not all is there: {_told(now)}"]
    if ended.status not in kind.statuses:
        found.append(f"status {ended.status}: {ended.said[-300:]!r}")
    if kind.drafts:
        mine = door.entries
        others = [n for n in now if n not in (mine, "source", "before")]
        if mine and now[mine] != whole[mine] and any(now[n] == whole[n] for n in others):
            found.append("there is a release that its ledger doesn't have")
    elif any(done) and not door.steps and not (kind.finished and all(done)):
        found.append(f"status {ended.status}, and something was written: {_told(now)}")
    elif door.steps and done != sorted(done, reverse=True):
        found.append("a later job was done, and an earlier one not")
    return found


def _told(now: State) -> str:
    return ", ".join(f"{name} {'there' if held else 'absent'}" for name, held in now.items())


def _of_speech(ended: Ended, kind: Kind) -> list[str]:
    said, found = ended.said, []
    for marker in (NAME, CITY):
        if marker in said:
            found.append(f"the message has a value: {said[-600:]}")
    if "Traceback" in said or "RAISED" in said:
        return [*found, f"a traceback: {said[-1500:]}"]
    if ended.status not in (0, 130) and kind.speaks and SENTENCE.search(said.rstrip()) is None:
        found.append(f"no sentence: {said[-600:]!r}")
    extra = [line for line in said.splitlines() if not NOISE.search(line)]
    if extra and kind.speaks:
        found.append(f"more than a sentence: {extra}")
    return found


def _of_places(place: Place, door: Door, ended: Ended, kind: Kind) -> list[str]:
    """What stands in no place where it may, and what changed."""
    # where the fault is in speech itself, the sentence that tells to go on is lost
    resumes = kind.resumes or not kind.speaks or "run the same again" in ended.said
    found = []
    now = place.holds()
    for name, held in now.items():
        if _is_output(door, name) or place.before.get(name) == held:
            continue
        if name in place.before:
            if not name.endswith("/"):
                found.append(f"{name} changed")
        elif RESUMED in f"{name}/" or name.endswith(RESUMED):
            if not (resumes and door.goes_on and (ended.status or kind.resumes)):
                found.append(f"{name} is left")
        elif (place.path / name).is_file() and (place.path / name).read_bytes() == b"blat":
            continue  # what Python tries folders for temporary files with
        elif name != WAL and not (kind.drafts and (DRAFT.search(name) or name.endswith(".wal"))):
            found.append(f"{name} is left")
    found += [f"{name} is gone" for name in place.before
              if name not in now and not _is_output(door, name)]
    return found + _values(place, door)


def _is_output(door: Door, name: str) -> bool:
    mine = (*door.outputs, *door.logs)
    return any(name.rstrip("/") == one or name.startswith(f"{one}/") for one in mine)


def _values(place: Place, door: Door) -> list[str]:
    """Values of the source where nobody put them: those of the identifier in any file but the
    source and the ledger; the others in the folders that must be empty."""
    found = []
    for folder, _, files in os.walk(place.path):
        for each in files:
            path = Path(folder, each)
            name = str(path.relative_to(place.path))
            if name in place.before or name in ("base.duckdb", "base.duckdb.wal"):
                continue
            text = path.read_bytes()
            private = name.startswith("ledger/") or RESUMED in f"/{name}"
            if NAME.encode() in text and not private:
                found.append(f"{name} has values of the identifier")
            if CITY.encode() in text and name.split("/")[0] in OWN:
                found.append(f"{name} has values of a quasi-identifier")
    return found
