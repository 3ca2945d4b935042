"""A notebook, whose reader presses the button that interrupts a cell, at a moment that is drawn."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.doors import NAME, SEED
from tests.faults.judged import judge
from tests.faults.process import RAISED, Ended
from tests.faults.stopped import INTERRUPTED
from tests.faults.table import Judged

CELL = """
import os, tempfile
os.chdir({place!r})
os.environ.update({environment!r})
tempfile.tempdir = None
from tests.faults.doors import DOORS
DOORS[{door!r}].run({seed})
"""
PACKAGES = "import duckdb, numba, numpy, pandas, polars, pyarrow; numpy.matrix"
AFTER = "print(6 * 7)"
PATIENCE = 180.0
"""Seconds after which a cell hangs."""
CELLS = 12
"""How many cells a kernel runs before it is a new one, whose first cell imports everything."""


def interrupted(judged: Judged, until: float) -> None:
    """A cell is interrupted; the same kernel then runs it again, to its end."""
    if judged.door.shell is not None:
        return
    chance, usual = judged.runs.chance, [0.0, 0.0]
    while time.monotonic() < until:
        with _kernel(judged) as (manager, client):
            for turn in range(CELLS):
                if time.monotonic() > until:
                    break
                first = turn == 0
                if not usual[first]:  # the second cell is the first of those that import nothing
                    usual[first] = _whole(judged, client, "first" if first else "next")
                    continue
                judged.runs.place.fill()
                moment = usual[first] * chance.uniform(0.0, 1.05)
                press = threading.Timer(moment, manager.interrupt_kernel)
                ended = _run(judged, client, press.start)
                press.cancel()
                press.join()
                heading = "interrupt in a notebook"
                judged.check(heading, f"at {moment:.3f} s, cell {turn}", ended, INTERRUPTED)
                _answers(judged, client)
                if first and not _imports(client):
                    judged.runs.ways["stopped in an import that Python can't do again"] += 1
                    break
                _whole(judged, client, f"after one that was stopped at {moment:.3f} s")


def _whole(judged: Judged, client: Any, which: str) -> float:
    """Runs the cell to its end; the seconds that it took."""
    place = judged.runs.place
    place.fill()
    ended = _run(judged, client)
    found = judge(place, judged.door, ended, judged.absent, judged.whole)
    if ended.status != 0:
        found.append(f"status {ended.status}: {ended.said[-900:]}")
    judged.runs.note(f"cell of a notebook {judged.door.name}", which, found)
    return ended.seconds


def _imports(client: Any) -> bool:
    """Whether the packages that we need can be imported after an interrupt in the midst of that.
    What numpy is made of can be loaded once in a process, so that its import can't be repeated."""
    return _cell(client, PACKAGES).status == 0


def _answers(judged: Judged, client: Any) -> None:
    """An interrupt that comes when a cell has ended is for none, and the kernel still answers."""
    for _ in range(2):
        ended = _cell(client, AFTER)
        if ended.said == "42\n":
            return
    judged.runs.note("kernel", judged.door.name, [f"the kernel doesn't answer: {ended.said!r}"])


@contextmanager
def _kernel(judged: Judged) -> Iterator[tuple[Any, Any]]:
    """A kernel of Jupyter, and a client of it; what Jupyter itself writes goes elsewhere."""
    from jupyter_client.manager import start_new_kernel

    place = judged.runs.place
    place.fill()
    own, cache = place.root / "jupyter", Path.home() / ".cache"
    environment = {
        **os.environ, "PYTHONPATH": str(Path(__file__).parents[2]),
        "NUMBA_CACHE_DIR": os.environ.get(
            "NUMBA_CACHE_DIR", os.environ.get("XDG_CACHE_HOME", str(cache))
        ),
        **{name: str(own) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                                       "JUPYTER_RUNTIME_DIR")},
    }
    manager, client = start_new_kernel(env=environment, cwd=str(place.root))
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run(
    judged: Judged, client: Any, begun: Callable[[], object] = lambda: None
) -> Ended:
    return _cell(client, CELL.format(
        place=str(judged.runs.place.path), environment=judged.runs.place.environment(),
        door=judged.door.name, seed=SEED,
    ), begun)


def _cell(client: Any, text: str, begun: Callable[[], object] = lambda: None) -> Ended:
    """Runs a cell; what it prints, and how it ends as a process that runs the same would.

    Args:
        client: of the kernel.
        text: the cell.
        begun: called when the kernel has it: one that is interrupted before loses the cell.
    """
    said: list[str] = []
    failed: list[str] = []

    def hook(message: Any) -> None:
        content = message["content"]
        if message["msg_type"] == "execute_input":
            begun()
        elif message["msg_type"] == "stream":
            said.append(content["text"])
        elif message["msg_type"] == "error":
            failed.append(f"{content['ename']}: {content['evalue']}")
            if NAME in (told := "\n".join(content["traceback"])):
                said.append(told)  # who reads the notebook reads that, too

    began = time.monotonic()
    try:
        client.execute_interactive(text, timeout=PATIENCE, output_hook=hook)
    except TimeoutError:
        return Ended(None, "".join(said), 0, time.monotonic() - began)
    seconds = time.monotonic() - began
    if not failed:
        return Ended(0, "".join(said), 0, seconds)
    stopped = failed[0].startswith("KeyboardInterrupt") or "nterrupted" in failed[0]
    told = "".join([*said, *([] if stopped else ["RAISED\n"]), *failed])
    return Ended(130 if stopped else RAISED, told, 0, seconds)
