"""Ctrl-C, heard in any thread.

Python runs its signal handlers in the main thread only, and that one may be deep inside DuckDB
while a method runs. The wakeup descriptor of the signal module tells of a signal at once.
"""

from __future__ import annotations

import signal
import socket
import threading

_heard = 0
_ear: socket.socket | None = None
_mouth: socket.socket | None = None
_lock = threading.Lock()


def listen() -> None:
    """Begins to listen, if this is the main thread and nobody else listens."""
    global _ear, _mouth
    if _ear is not None or threading.current_thread() is not threading.main_thread():
        return
    before = signal.set_wakeup_fd(-1)
    if before >= 0:
        signal.set_wakeup_fd(before)
        return
    _ear, _mouth = socket.socketpair()
    _ear.setblocking(False)
    _mouth.setblocking(False)
    signal.set_wakeup_fd(_mouth.fileno(), warn_on_full_buffer=False)


def heard() -> int:
    """How often Ctrl-C was pressed since listening began."""
    global _heard
    with _lock:
        while _ear is not None:
            try:
                told = _ear.recv(64)
            except OSError:
                break
            _heard += told.count(signal.SIGINT)
        return _heard
