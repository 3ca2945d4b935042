"""What a process holds, as Linux tells it."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Held:
    """What a process holds.

    Attributes:
        mebibytes: memory in use.
        descriptors: open files and sockets.
        threads: running threads.
    """

    mebibytes: float
    descriptors: int
    threads: int


def held(pid: int | None = None) -> Held:
    """What a process holds, this one by default, once its garbage is collected."""
    if pid is None:
        pid = os.getpid()
        gc.collect()
    place = Path(f"/proc/{pid}")
    told = dict(
        line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line
    )
    return Held(
        int(told["VmRSS"].split()[0]) / 1024, len(list((place / "fd").iterdir())),
        int(told["Threads"]),
    )


def alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
