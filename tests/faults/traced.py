"""strace, which makes the n-th call of a kind fail, and records all calls."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ABSENT = (
    "strace is not installed, and it is what makes calls of the system fail. Install it, for "
    "example by apt-get install strace."
)

FAULTS: dict[str, tuple[str, ...]] = {
    "write": ("ENOSPC", "EDQUOT", "EIO"),
    "pwrite64": ("ENOSPC", "EDQUOT", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO",),
    "rename": ("EACCES", "ENOSPC"),
    "openat": ("EACCES", "ENOSPC", "EMFILE"),
    "ftruncate": ("ENOSPC",),
    "fallocate": ("ENOSPC",),
    "unlink": ("EACCES",),
    "unlinkat": ("EACCES",),
    "mkdir": ("ENOSPC", "EDQUOT", "EACCES"),
    "rmdir": ("EACCES",),
    "flock": ("ENOLCK",),
    "fcntl": ("EAGAIN",),
    "read": ("EIO",),
    "pread64": ("EIO",),
    "mmap": ("ENOMEM",),
    "mprotect": ("ENOMEM",),
    "clone3": ("EAGAIN",),
}
"""What each call may fail with."""

CALL = re.compile(r"^(\d+) +(\w+)\((.*)$")
NAMED = re.compile(r'"([^"]*)"')
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")


@dataclass(frozen=True)
class Fault:
    """One call that fails.

    Attributes:
        call: of the system.
        error: what it says.
        number: the how manieth of its thread.
        on: whether all after it fail, too.
    """

    call: str
    error: str
    number: int
    on: bool = False

    def __str__(self) -> str:
        return f"{self.call} {self.number}{'+' if self.on else ''} {self.error}"


def is_there() -> bool:
    """Whether strace is."""
    return shutil.which("strace") is not None


class Trace:
    """strace, attached to a process."""

    def __init__(self, record: Path, calls: str, *words: str) -> None:
        """``words``: what strace is told beside that."""
        self._record = record
        self._typed = [
            "strace", "-f", "-qq", "-y", "-e", "signal=none", "-e", f"trace={calls}",
            *words, "-o", str(record),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def attach(self, number: int) -> None:
        """Returns when it traces the process."""
        self._record.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [*self._typed, "-p", str(number)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        status = Path(f"/proc/{number}/status")
        until = time.monotonic() + 30
        while "TracerPid:\t0\n" in status.read_text() and time.monotonic() < until:
            time.sleep(0.002)

    def lines(self) -> list[str]:
        """What it recorded, when the process has ended; a call that another one cut in two is
        whole again."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(30)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        text = self._record.read_text(errors="replace") if self._record.exists() else ""
        begun: dict[str, str] = {}
        lines = []
        for line in text.splitlines():
            number, _, rest = line.partition(" ")
            if rest.endswith("<unfinished ...>"):
                begun[number] = line.removesuffix("<unfinished ...>")
            elif "resumed>" in rest and number in begun:
                lines.append(begun.pop(number) + rest.partition("resumed>")[2])
            else:
                lines.append(line)
        return [*lines, *begun.values()]


def faults_of(
    lines: list[str], place: Path, takes: Callable[[str, int], bool] = lambda *_: True
) -> list[Fault]:
    """All faults that a run can meet, by the record of one that met none."""
    counts: Counter[tuple[str, str]] = Counter()
    numbers: dict[str, set[int]] = {}
    for line in lines:
        match = CALL.match(line)
        if match is None:
            continue
        thread, call, rest = match.groups()
        counts[thread, call] += 1
        if call == "openat" and not _is_of_run(rest, place):
            continue
        if call in ("read", "pread64") and str(place) not in rest:
            continue
        numbers.setdefault(call, set()).add(counts[thread, call])
    found = []
    for call, errors in FAULTS.items():
        for number in sorted(numbers.get(call, ())):
            if takes(call, number):
                found += [Fault(call, error, number) for error in errors]
                if call in ("write", "pwrite64", "mmap"):
                    found.append(Fault(call, errors[0], number, True))
    return found


def _is_of_run(opened: str, place: Path) -> bool:
    """Whether a file that is opened is written, or lies where the run works."""
    named = NAMED.search(opened)
    path = Path(place, named[1] if named else "")
    return WRITES.search(opened) is not None or place in (path, *path.parents)


def inject(fault: Fault) -> tuple[str, str]:
    """What strace is told."""
    when = f"{fault.number}{'+' if fault.on else ''}"
    return "-e", f"inject={fault.call}:error={fault.error}:when={when}"
