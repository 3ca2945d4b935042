"""Processes of our own that end when this one does, however that ends."""

from __future__ import annotations

import os
import subprocess
import sys

OF_PARENT = """
def _end_with(parent):
    import ctypes, os, signal, sys, threading, time
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG; no thread of ours need run
    elif os.name == "posix":
        def wait():
            while os.getppid() == parent:
                time.sleep(0.3)
            os._exit(1)
        threading.Thread(target=wait, daemon=True).start()
    if os.name == "posix" and os.getppid() != parent:  # it ended before we asked for that
        os._exit(1)
"""

RUN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
"""A program that runs the file which is its first argument."""


def child(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A Python process that reads and writes bytes, and hears nothing of Ctrl-C.

    On Linux it is killed when the thread that began it ends. Elsewhere it looks after its parent
    now and then, as far as what it runs lets other threads run; on Windows it doesn't.

    Args:
        program: its source, which must not begin with an import from __future__.
        arguments: what it finds in sys.argv[1:].
    """
    source = f"{OF_PARENT}\n_end_with({os.getpid()})\n{program}"
    return subprocess.Popen(
        [sys.executable, "-c", source, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )
