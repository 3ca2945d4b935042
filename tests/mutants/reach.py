"""What each test reaches: the functions that it calls, and the blocks of SQL that it fills."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

Place = tuple[str, str, int]
"""A function: file, name and first line. A block of SQL: file, name, 0."""
MACROS = "sql/macros/"
"""Files that a process reads once, in whichever test comes first: every test reaches them."""


@dataclass
class Reach:
    """What tests reach.

    Attributes:
        seconds: the time of the processor that each takes, in the order of their collection.
        places: what each reaches.
        at_import: what was reached before the first test.
        failed: those that fail without any mutant, and so tell nothing.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    places: dict[str, set[Place]] = field(default_factory=dict)
    at_import: set[Place] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)


class Recorder:
    """A plugin of pytest that records it."""

    def __init__(self, root: Path) -> None:
        self.reach = Reach()
        self._root = str(root)
        self._seen: set[CodeType] = set()
        self._blocks: set[Place] = set()
        sys.setprofile(self._called)
        threading.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._seen.add(frame.f_code)
            if frame.f_code.co_name in ("_lines", "statements"):
                self._note_block(frame)

    def _note_block(self, frame: FrameType) -> None:
        if frame.f_globals.get("__name__") == "kanon_sql.sql":
            told = frame.f_locals.get("name", frame.f_locals.get("file", ""))
            file, _, block = told.partition(".")
            self._blocks.add((f"sql/{file}.sql", block, 0))

    def _taken(self) -> set[Place]:
        """What was reached since the last time."""
        seen, self._seen = self._seen, set()
        blocks, self._blocks = self._blocks, set()
        for code in seen:
            if code.co_filename.startswith(self._root):
                path = code.co_filename.removeprefix(self._root).lstrip("/")
                blocks.add((path, code.co_name, code.co_firstlineno))
        return blocks

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        load_all(Path(self._root))
        self.reach.at_import = self._taken()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun = time.process_time()  # of all threads, whatever else the machine does
        result = yield
        self.reach.seconds[item.nodeid] = time.process_time() - begun
        self.reach.places[item.nodeid] = self._taken()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.reach.failed.append(report.nodeid)

    def pytest_unconfigure(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def load_all(root: Path) -> None:
    """Imports what tests would import late, each process anew; nothing that loads Polars, whose
    threads a fork loses."""
    for folder in ("api", "call", "plan", "privacy", "measure", "ledger", "audit", "encode",
                   "group", "stages", "udfs"):
        place = root / ("udfs" if folder == "udfs" else f"kanon_sql/{folder}")
        for file in sorted(place.glob("verif*.py" if folder == "api" else "*.py")):
            if "polars" not in file.read_text(encoding="utf-8") and "hierarch" not in file.stem:
                import_module(f"kanon_sql.{folder}.{file.stem}".removesuffix(".__init__"))
    if "polars" in sys.modules:
        raise RuntimeError("A test loads Polars where it is imported. Import it in the test.")


def chosen(reach: Reach, places: set[Place], most: float) -> list[str]:
    """The tests that reach one of the places, all where none does: those of quick files first, as
    many as take so many seconds together."""
    failing = set(reach.failed)
    tests = [test for test in reach.seconds if test not in failing]
    reaching = [test for test in tests if reach.places[test] & places] or tests
    if any(path.startswith(MACROS) for path, _, _ in places):
        reaching = tests
    taken, spent = [], 0.0
    for test in sorted(reaching, key=reach.seconds.__getitem__):
        spent += reach.seconds[test]
        if taken and spent > most:
            break
        taken.append(test)
    # the tests of a file share what it sets up
    slowest: dict[str, float] = {}
    for test in taken:
        slowest.setdefault(test.partition("::")[0], len(slowest))
    return sorted(taken, key=lambda test: slowest[test.partition("::")[0]])
