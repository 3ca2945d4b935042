"""Ctrl-C waits while several files get their names."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kanon_sql.jobs import interrupts


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard also where a shell began the tests in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_waits_while_it_is_deferred() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interrupts.deferred():
            with interrupts.deferred():
                os.kill(os.getpid(), signal.SIGINT)
                done.append("first")
            done.append("second")
        done.append("never")
    assert done == ["first", "second"]
    with pytest.raises(ValueError, match="other"), interrupts.deferred():
        raise ValueError("other")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_in_another_thread_nothing_is_deferred() -> None:
    def work() -> None:
        with interrupts.deferred():
            handlers.append(signal.getsignal(signal.SIGINT))

    handlers: list[Any] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
