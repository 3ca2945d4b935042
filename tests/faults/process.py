"""A run in a process of its own, which is forked from one that has all kernels loaded already."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.faults.doors import Door
from tests.faults.place import Place

LIMIT = 180.0
"""Seconds after which a run hangs."""

PATIENCE = 60.0
"""Seconds after which nobody waits for an answer any more."""

STATUSES = {"OptionError": 2, "DataError": 4, "ReleaseError": 3}
RAISED = 70
"""What a call of Python ends with here where it raises what is no KanonError."""


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        status: the exit status; of a signal its number, negative; None if it hung.
        said: what stood on standard error.
        alive: how many processes that it began were left.
        seconds: how long it took.
        wrong: what is wrong of the answers of a run that serves.
    """

    status: int | None
    said: str
    alive: int
    seconds: float
    wrong: tuple[str, ...] = ()


def forked(
    place: Place, door: Door, seed: int, attached: Callable[[int], object] | None = None,
    limits: Callable[[], object] | None = None, meanwhile: Callable[[int], object] | None = None,
) -> Ended:
    """Runs a door in a process that is forked from this one.

    Args:
        place: in which it works.
        door: what it runs.
        seed: of the release.
        attached: called with its number before it begins; such as what begins to trace it.
        limits: called in it before it begins.
        meanwhile: called with its number when it has begun.
    """
    waiting, go = os.pipe()
    begun, ready = os.pipe()
    said = place.root / "said"
    number = os.fork()
    if number == 0:
        os.close(go)
        os.close(begun)
        _run(place, door, seed, waiting, ready, said, limits)
    os.close(waiting)
    os.close(ready)
    os.read(begun, 1)  # what the process does to get ready doesn't count, and doesn't fail
    os.close(begun)
    if attached is not None:
        attached(number)
    began = time.monotonic()
    os.write(go, b"x")
    os.close(go)
    with asked(place, door, number) as wrong:
        if meanwhile is not None:
            meanwhile(number)
        status = waited(number)
    seconds = time.monotonic() - began
    return Ended(
        status, said.read_text(errors="replace"), ended(place, number), seconds, tuple(wrong)
    )


@contextmanager
def asked(place: Place, door: Door, number: int) -> Iterator[list[str]]:
    """Asks a run that serves, meanwhile; gives what is wrong of its answers, at the end."""
    wrong: list[str] = []
    if door.asks is None:
        yield wrong
        return
    asks = door.asks
    thread = threading.Thread(
        target=lambda: wrong.extend(asks(number, place.path)), daemon=True
    )
    thread.start()
    yield wrong
    thread.join(PATIENCE)
    if thread.is_alive():
        wrong.append(f"who asks still waits {PATIENCE:.0f} s after the end")


def _run(
    place: Place, door: Door, seed: int, waiting: int, ready: int, said: Path,
    limits: Callable[[], object] | None,
) -> NoReturn:
    os.setsid()
    os.chdir(place.path)
    os.environ.update(place.environment())
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    told = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in (1, 2):
        os.dup2(told, number)
    source = Path("source/in.parquet")
    if source.exists():
        os.dup2(os.open(source, os.O_RDONLY), 0)
    os.close(ready)
    os.read(waiting, 1)
    os.close(waiting)
    if limits is not None:
        limits()
    status = RAISED
    try:
        run(door, seed)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        status = _of_python(error)
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def run(door: Door, seed: int) -> None:
    """Runs a door; a refusal ends as the shell would end it."""
    from kanon_sql.errors import KanonError

    try:
        door.run(seed)
    except KanonError as refusal:
        with suppress(OSError):
            os.write(2, f"kanon: {refusal}\n".encode())
        raise SystemExit(STATUSES.get(type(refusal).__name__, 3)) from None


def _of_python(error: BaseException) -> int:
    """The status of a call of Python that raised what is no KanonError: DuckDB's client has words
    of its own for Ctrl-C, and Python for a lack of memory; all else is written with where it was.
    """
    import traceback

    from kanon_sql.errors import lacks_memory

    if "Interrupted!" in str(error) or "Query interrupted" in str(error):
        return 130
    if lacks_memory(error):
        with suppress(OSError):
            os.write(2, f"kanon: {type(error).__name__}: no memory\n".encode())
        return 4
    lines = traceback.format_exception(error)
    with suppress(OSError):
        os.write(2, "".join(["RAISED\n", *lines]).encode())
    return RAISED


def waited(number: int, limit: float = LIMIT) -> int | None:
    """How a process ended; None of one that hung, and was killed."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended_now, status = os.waitpid(number, os.WNOHANG)
        if ended_now:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return None


def ended(place: Place, session: int) -> int:
    """How many processes are left that a run began, which are ended then: of its session, or that
    have its environment."""
    until, own = time.monotonic() + 3.0, f"TMPDIR={place.path / 'tmp'}".encode()
    while True:
        left = [number for number in _processes() if _is_of(number, session, own)]
        if not left or time.monotonic() > until:
            break
        time.sleep(0.05)
    for number in left:
        with suppress(OSError):
            os.kill(number, signal.SIGKILL)
    return len(left)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _is_of(number: int, session: int, own: bytes) -> bool:
    with suppress(OSError):
        after = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        if after[0] == "Z":
            return False
        if int(after[3]) == session:
            return True
        return own in Path(f"/proc/{number}/environ").read_bytes()
    return False
