"""A mutant in a forked process, which has its tests collected already."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

KILLED, SURVIVED, SLOW = "killed", "survived", "timed out"
Functions = dict[tuple[str, str, int], list[FunctionType]]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        by: the test that failed, where one did.
    """

    verdict: str
    by: str = ""


def forked(work: Callable[[], str], seconds: float) -> Outcome:
    """What a process finds out that is forked from this one: the name of the test that fails, empty
    where none does. A process that dies in another way has noticed the mutant, too."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reader)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        said, code = "", 0
        try:
            said = work()
        except BaseException as error:
            said, code = f"{type(error).__name__}: {error}"[:300], 1
        os.write(writer, said.encode()[:4000])
        os._exit(code)
    os.close(writer)
    status = _waited(child, seconds)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read() if status is not None else ""
    if status is None:
        return Outcome(SLOW)
    if not said and not status:
        return Outcome(SURVIVED)
    return Outcome(KILLED, said or f"status {status}")


def _waited(child: int, seconds: float) -> int | None:
    """The status of a child; None where it had to be ended."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    # what it started is in its group
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def functions_of(root: Path) -> Functions:
    """The functions of the files below a folder, by file, name and first line."""
    found: Functions = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and Path(each.__code__.co_filename).is_relative_to(root):
            code = each.__code__
            key = Path(code.co_filename).relative_to(root).as_posix()
            found.setdefault((key, code.co_name, code.co_firstlineno), []).append(each)
    return found


def code_in(module: CodeType, name: str, line: int) -> CodeType | None:
    """The code of a function in that of its module."""
    for each in module.co_consts:
        if isinstance(each, CodeType):
            if (each.co_name, each.co_firstlineno) == (name, line):
                return each
            if inner := code_in(each, name, line):
                return inner
    return None
