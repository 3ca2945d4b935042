"""What judges the runs finds what is wrong; and a few seconds of the runs themselves."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.calls import waits_for_thread
from tests.faults.doors import CITY, NAME, Door
from tests.faults.judged import FAULT, KILLED, judge
from tests.faults.place import Place
from tests.faults.power import held
from tests.faults.process import Ended
from tests.faults.table import Judged, Runs
from tests.faults.traced import ABSENT, Fault, faults_of, is_there

SAID = "kanon: The disk of 'out/o' is full. Nothing was written there; make room."
ROOT = Path(__file__).parents[2]


def state(place: Path) -> dict[str, str | None]:
    path = place / "out"
    return {"out": path.read_text() if path.exists() else None}


DOOR = Door("of a test", lambda: None, lambda _: None, state, ("out",))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.empty()
    (made.path / "source").write_text("the source")
    made.keep()
    return made


def found(place: Place, ended: Ended, kind: object = FAULT) -> str:
    return "; ".join(
        judge(place, DOOR, ended, {"out": None}, {"out": "whole"}, kind)  # type: ignore[arg-type]
    )


def test_what_is_refused_and_leaves_nothing_is_right(place: Place) -> None:
    assert found(place, Ended(4, SAID, 0, 1.0)) == ""
    assert "status 0, and not all is there" in found(place, Ended(0, "", 0, 1.0))
    (place.path / "out").write_text("whole")
    assert found(place, Ended(0, "", 0, 1.0)) == ""
    assert "something was written" in found(place, Ended(4, SAID, 0, 1.0))
    (place.path / "out").write_text("who")
    assert "neither whole nor as before" in found(place, Ended(4, SAID, 0, 1.0))


@pytest.mark.parametrize(("ended", "said"), [
    (Ended(1, SAID, 0, 1.0), "status 1"), (Ended(None, SAID, 0, 1.0), "status None"),
    (Ended(4, "", 0, 1.0), "no sentence"), (Ended(4, SAID, 1, 1.0), "1 processes are left"),
    (Ended(4, f"Traceback (most recent call last):\n{SAID}", 0, 1.0), "a traceback"),
    (Ended(4, f"{SAID} {CITY}7", 0, 1.0), "has a value"),
    (Ended(4, f"A warning of a library.\n{SAID}", 0, 1.0), "more than a sentence"),
])
def test_how_a_run_may_not_end(ended: Ended, said: str, place: Place) -> None:
    assert said in found(place, ended)


def test_a_thread_that_python_never_starts_is_no_finding() -> None:
    said = (
        "kanon: 1 of 3\nException ignored in thread started by: <bound method Thread._bootstrap of "
        "<Thread(kanon_0, initial)>>\nMemoryError: \n"
    )
    assert waits_for_thread(Ended(None, said, 0, 1.0))
    assert not waits_for_thread(Ended(4, said, 0, 1.0))
    assert not waits_for_thread(Ended(None, "MemoryError: \n", 0, 1.0))


def test_what_may_not_be_left(place: Place) -> None:
    draft = place.path / ".o.csv.0123456789abcdef.tmp"
    draft.mkdir()
    assert "is left" in found(place, Ended(4, SAID, 0, 1.0))
    assert found(place, Ended(-9, "", 0, 1.0), KILLED) == ""
    (draft / "rows").write_text(f"{NAME}7")
    assert "values of the identifier" in found(place, Ended(-9, "", 0, 1.0), KILLED)
    draft.rename(place.path / "tmp" / "o")
    assert "tmp/o/rows is left" in found(place, Ended(-9, "", 0, 1.0), KILLED)
    (place.path / "source").write_text("another source")
    assert "source changed" in found(place, Ended(4, SAID, 0, 1.0))


@pytest.mark.parametrize("replaces", [True, False])
def test_a_run_that_was_killed_when_all_was_done(place: Place, replaces: bool) -> None:
    def run(_: int) -> None:
        out = Path("out")
        if out.exists() and not replaces:
            sys.stderr.write(f"{SAID}\n")
            raise SystemExit(2)
        out.write_text("whole")

    runs = Runs(place, random.Random(1), 0.0)
    door = replace(DOOR, run=run, replaces=replaces)
    judged = Judged(runs, door, {"out": None}, {"out": "whole"})
    (place.path / "out").write_text("whole")
    judged.check("kill", "at 1 s", Ended(-9, "", 0, 1.0), KILLED)
    assert not runs.found
    assert runs.again == replaces


BEGUN = [
    '7 openat(AT_FDCWD</p>, "/p/.out.tmp", O_WRONLY|O_CREAT) = 3</p/.out.tmp>',
    '7 write(3</p/.out.tmp>, "a", 1) = 1',
]
SYNCED, NAMED = "7 fsync(3</p/.out.tmp>) = 0", '7 rename("/p/.out.tmp", "/p/out") = 0'


@pytest.mark.parametrize(("lines", "lost"), [
    ([*BEGUN, SYNCED, NAMED, "7 fsync(4</p>) = 0"], []),
    ([*BEGUN, NAMED, SYNCED], ["out is named, and bytes of .out.tmp may be lost"]),
    ([*BEGUN, SYNCED, BEGUN[1], NAMED], ["out is named, and bytes of .out.tmp may be lost"]),
    ([*BEGUN, SYNCED, NAMED], ["the run has ended, and the name of out may be lost"]),
    ([*BEGUN, SYNCED.replace("= 0", "= -1 EIO (Input/output error)"), NAMED],
     ["out is named, and bytes of .out.tmp may be lost"]),
    (BEGUN, ["no output got its name in this record"]),
])
def test_what_a_loss_of_power_may_take(lines: list[str], lost: list[str]) -> None:
    told = held(DOOR, Path("/p"), lines)
    assert told[:1] == lost or (not lost and not told)


def test_each_call_of_a_run_is_made_to_fail() -> None:
    lines = [*BEGUN, '7 openat(AT_FDCWD</p>, "/usr/lib/x.so", O_RDONLY) = 4</usr/lib/x.so>',
             '7 openat(AT_FDCWD</p>, "source", O_RDONLY) = 4</p/source>', SYNCED]
    faults = {(fault.call, fault.number) for fault in faults_of(lines, Path("/p"))}
    assert faults == {("openat", 1), ("write", 1), ("openat", 3), ("fsync", 1)}
    assert str(Fault("write", "ENOSPC", 2, True)) == "write 2+ ENOSPC"


@pytest.mark.slow
@pytest.mark.skipif(not is_there(), reason=ABSENT)
@pytest.mark.parametrize("words", [
    ("--door", "files", "--heading", "power", "--heading", "calls"),
    ("--door", "pipe", "--heading", "kill", "--heading", "power"),
])
def test_a_few_seconds_of_it(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--seed", "1", "--minutes", "0.5", *words],
        capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    runs = re.search(r"(\d+) runs, 0 findings", done.stdout)
    assert runs is not None and int(runs[1]) >= 2  # how many there are depends on the machine
