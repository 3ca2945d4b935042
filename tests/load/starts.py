"""Processes begun in every way, and a notebook whose kernel is restarted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.load.outcome import Outcome
from tests.load.process import alive
from tests.load.ways import PATIENCE, TIMES, WAYS, WORKERS, answers
from tests.support.checkout import ROOT

RESTARTS = 6
"""How often a kernel is restarted; every other time while a call runs."""

CELL = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from tests.load.ways import answers
print(*answers(), sep="\\x1f")
"""
LONG = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import duckdb
from tests.load.ways import long_call
long_call(duckdb.connect())
"""


def started_in_every_way(rounds: int = 1, names: tuple[str, ...] = tuple(WAYS)) -> Outcome:
    """Each way as often as told, and its answers compared with those of this process."""
    outcome = Outcome("starts")
    expected = answers()
    for number in range(rounds):
        for name in names:
            _compare(outcome, name, expected)
        _in_notebook(outcome, expected, RESTARTS if number == 0 else 1)
    outcome.facts.append(f"{rounds} times {', '.join(names)} and a notebook")
    return outcome


def _compare(outcome: Outcome, name: str, expected: list[str]) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.load.ways", name], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )
    try:
        told, errors = running.communicate(timeout=PATIENCE * WORKERS)
    except subprocess.TimeoutExpired:
        outcome.find(f"{name}: no answer after {PATIENCE * WORKERS:.0f} s")
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return
    if running.returncode != 0:
        outcome.find(f"{name}: ended with {running.returncode}: {errors[-300:]}")
        return
    # the workers agreed, or the way had failed
    for got in [told.rstrip("\n").split("\x1f")[1:]] * (WORKERS * TIMES):
        outcome.compare(name, repr(got), repr(expected))
    time.sleep(0.2)
    if left := _of_session(running.pid):
        outcome.find(f"{name}: processes are left: {left}")
        os.killpg(running.pid, signal.SIGKILL)


def _of_session(leader: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(folder.name)) == leader and alive(int(folder.name)):
                found.append(int(folder.name))
    return found


@contextmanager
def _kernel() -> Iterator[tuple[Any, Any]]:
    """A kernel of Jupyter, and a client of it."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run(client: Any, cell: str) -> tuple[str, str]:
    """What a cell prints, and the error with which it ends."""
    said: list[str] = []
    failed: list[str] = []

    def hook(message: Any) -> None:
        content = message["content"]
        if message["msg_type"] == "stream" and content["name"] == "stdout":
            said.append(content["text"])
        elif message["msg_type"] == "error":
            failed.append(f"{content['ename']}: {content['evalue']}")

    client.execute_interactive(cell, timeout=PATIENCE, output_hook=hook)
    return "".join(said), "".join(failed)


def _in_notebook(outcome: Outcome, expected: list[str], restarts: int) -> None:
    with _kernel() as (manager, client):
        for number in range(restarts + 1):
            told, failed = _run(client, CELL)
            got = failed or repr(told.rstrip("\n").split("\x1f"))
            outcome.compare(f"notebook, {number} restarts", got, repr(expected))
            before = manager.provisioner.process.pid
            if number % 2:
                client.execute(LONG)
                time.sleep(1.0)
            if number < restarts:
                manager.restart_kernel(now=number % 4 == 1)
                client.wait_for_ready(timeout=PATIENCE)
                if alive(before):
                    outcome.find(f"notebook: process {before} outlived its restart")
