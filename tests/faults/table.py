"""The runs, what was found, and what is told at the end."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.faults.doors import AN_ERROR, SEED, Door, State
from tests.faults.judged import FAULT, Kind, judge
from tests.faults.place import Place
from tests.faults.process import Ended, forked


@dataclass
class Runs:
    """All runs of the command.

    Attributes:
        place: where they work.
        chance: all that is drawn.
        until: when no further run is begun.
        counts: how many there were, by heading and door.
        ways: how they ended.
        found: what doesn't hold.
        again: runs without a fault after one with a fault.
    """

    place: Place
    chance: random.Random
    until: float
    counts: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    again: int = 0

    def late(self) -> bool:
        """Whether no further run is begun."""
        return time.monotonic() > self.until

    def note(self, heading: str, what: str, found: list[str]) -> None:
        """A run that is judged."""
        self.counts[heading] += 1
        for each in found:
            self.found.append(f"{heading}, {what}: {each}")
            print(f"  FOUND {heading}, {what}: {each}", file=sys.stderr, flush=True)


@dataclass
class Judged:
    """A door, and what it gives where nothing happens."""

    runs: Runs
    door: Door
    absent: State
    whole: State

    def check(
        self, heading: str, what: str, ended: Ended, kind: Kind = FAULT,
        repair: Callable[[], object] = lambda: None, found: Sequence[str] = (),
    ) -> None:
        """Judges a run, and runs it again where it left anything."""
        heading = f"{heading} {self.door.name}"
        self.runs.ways["hung" if ended.status is None else str(ended.status)] += 1
        # an error is an answer of a server to which something happened
        ended = replace(ended, wrong=tuple(e for e in ended.wrong if not e.startswith(AN_ERROR)))
        found = [
            *found, *judge(self.runs.place, self.door, ended, self.absent, self.whole, kind)
        ]
        repair()
        if ended.status != 0:
            found += self._again(what)
        self.runs.note(heading, what, found)

    def _again(self, what: str) -> list[str]:
        """Where all is as before, it is as in the first run, and needs no other one."""
        place = self.runs.place
        if place.holds() == place.before and self.runs.chance.random() > 0.05:
            return []
        now = self.door.state(place.path)
        entries = self.door.entries
        if entries and now[entries] == self.whole[entries]:
            return []  # it is entered: a further run is another release
        if now == self.whole and not self.door.replaces:
            return []  # it was killed when all was done
        self.runs.again += 1
        again = forked(place, self.door, SEED)
        found = [f"again: {each}" for each in judge(
            place, self.door, again, self.absent, self.whole
        )]
        return found if again.status == 0 else [
            *found, f"again: status {again.status}: {again.said[-600:]}"
        ]


def begin(runs: Runs, door: Door) -> Judged:
    """Prepares a door, and runs it once without a fault."""
    place = runs.place
    place.empty()
    prepared = forked(place, Door(
        door.name, door.prepare, lambda _: door.prepare(), door.state, door.outputs
    ), SEED)
    if prepared.status != 0:
        raise SystemExit(f"{door.name} can't be prepared: {prepared.said}")
    place.keep()
    absent = door.state(place.path)
    place.fill()
    first = forked(place, door, SEED)
    whole = door.state(place.path)
    if first.status != 0:
        raise SystemExit(f"{door.name} doesn't work: {first.said}")
    written = [name for name in whole if name not in ("source", "before", "log")]
    if any(whole[name] in (None, absent[name]) for name in written):
        raise SystemExit(f"{door.name} writes nothing")
    judged = Judged(runs, door, absent, whole)
    runs.note(f"no fault {door.name}", "first", judge(place, door, first, absent, whole))
    return judged
