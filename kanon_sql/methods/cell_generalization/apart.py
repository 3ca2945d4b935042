"""Work that can't be stopped, in a process of its own, which can."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from kanon_sql.kernel.child import child
from kanon_sql.kernel.watch import Watch

TURN = 0.05
"""Seconds between two looks at the watch."""

WORK = """
import sys, pickle
sys.path[:] = pickle.load(sys.stdin.buffer)
from kanon_sql.methods.cell_generalization.apart import answer
sys.exit(answer())
"""


def answer() -> None:
    """Reads a function and its arguments, and writes what it gives."""
    # what a library writes while it works would stand before that
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        function, arguments = pickle.load(sys.stdin.buffer)
        pickle.dump(function(*arguments), output)


def apart(function: Callable[..., Any], arguments: tuple[Any, ...], watch: Watch) -> Any:
    """What a function of a module gives for these arguments.

    Raises:
        StoppedError: the watch was asked to stop; the process is gone then.
        RuntimeError: the process failed.
    """
    process = child(WORK)
    assert process.stdin is not None
    try:
        # the second is only read once the path to our modules is known
        process.stdin.write(pickle.dumps(sys.path) + pickle.dumps((function, arguments)))
        process.stdin.close()
        process.stdin = None
        while True:
            try:
                told, _ = process.communicate(timeout=TURN)
                break
            except subprocess.TimeoutExpired:
                watch.check()
    finally:
        # also where the watch said stop: nobody would read the answer
        process.kill()
        process.wait()
    if process.returncode != 0:
        raise RuntimeError("a process of its own failed")
    return pickle.loads(told)
