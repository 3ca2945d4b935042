"""Ctrl-C, heard in any thread; and, in the shell, SIGTERM.

Python runs its signal handlers in the main thread only, and that one may be deep inside DuckDB
while a method runs. The wakeup descriptor of the signal module tells of a signal at once. A process
has one such descriptor: if somebody else uses it (an event loop), it is left to them.
"""

from __future__ import annotations

import _imp
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_heard = 0
_ending = {signal.SIGINT}
_pair: tuple[socket.socket, socket.socket] | None = None
_lock = threading.Lock()


def listen() -> None:
    """Listens from now on, if this is the main thread and nobody else listens.

    Where the system refuses, Python's own handler hears Ctrl-C, a little later.
    """
    global _pair
    free_imports()
    if threading.current_thread() is not threading.main_thread():
        return
    try:
        if _pair is None:
            _pair = _ears()
        ours = _pair[1].fileno()
        before = signal.set_wakeup_fd(ours, warn_on_full_buffer=False)
    except OSError:
        return
    if before not in (-1, ours):
        signal.set_wakeup_fd(before)


def free_imports() -> None:
    """Releases Python's lock of imports, if this thread has it.

    A Ctrl-C in the midst of an import, as of the first cell of a notebook, may leave the lock with
    the main thread, and any other thread that imports would wait forever. Python holds it only
    while it looks for the lock of one module, when none of our code runs.
    """
    while _imp.lock_held():
        try:
            _imp.release_lock()
        except RuntimeError:  # another thread has it, for a moment
            return


def _ears() -> tuple[socket.socket, socket.socket]:
    """What signals are written to, and where they are read."""
    pair = socket.socketpair()
    for end in pair:
        end.setblocking(False)
    return pair


def count_as_ctrl_c(number: signal.Signals) -> None:
    """From now on another signal is heard as Ctrl-C is; it needs a handler of Python."""
    _ending.add(number)


def heard() -> int:
    """How often Ctrl-C was pressed while listening."""
    global _heard
    with _lock:
        while _pair is not None:
            try:
                signals = _pair[0].recv(64)
            except OSError:
                break
            _heard += sum(map(signals.count, _ending))
        return _heard


@contextmanager
def deferred() -> Iterator[None]:
    """Ctrl-C waits until the end, where several files get their names: it must not come between
    them. What it raises then is raised when all is done."""
    if threading.current_thread() is not threading.main_thread():  # where no signal is handled
        yield
        return
    handlers: dict[int, Any] = {}
    waiting: list[tuple[Any, ...]] = []
    try:
        for number in _ending:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda *given: waiting.append(given))
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        if waiting:
            handlers[waiting[0][0]](*waiting[0])


def _after_fork() -> None:
    """A child must not share its parent's ear."""
    global _pair, _lock
    if _pair is not None:
        _lock = threading.Lock()
        ours, _pair = _pair[1].fileno(), None
        before = signal.set_wakeup_fd(-1)
        if before not in (-1, ours):
            signal.set_wakeup_fd(before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
