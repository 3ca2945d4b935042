"""Work that can't be stopped, in a process of its own, which can."""

from __future__ import annotations

import subprocess

from kanon_sql.kernel.child import child
from kanon_sql.kernel.watch import Watch

TURN = 0.05
"""Seconds between two looks at the watch."""


def apart(program: str, argument: str, data: bytes, watch: Watch) -> bytes:
    """What a Python program writes that has this argument and reads what it is told.

    Raises:
        StoppedError: the watch was asked to stop; the process is gone then.
        RuntimeError: the process failed.
    """
    process = child(program, argument)
    assert process.stdin is not None
    try:
        process.stdin.write(data)
        process.stdin.close()
        process.stdin = None
        while True:
            try:
                answer, _ = process.communicate(timeout=TURN)
                break
            except subprocess.TimeoutExpired:
                watch.check()
    finally:
        # also where the watch said stop: nobody would read the answer
        process.kill()
        process.wait()
    if process.returncode != 0:
        raise RuntimeError("a process of its own failed")
    return answer
