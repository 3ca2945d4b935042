"""Runs mutants against tests: in forks of a process that has collected them, and where a mutant
changes what is done while modules are imported, in a copy of the repository."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.edits import Mutant
from tests.mutants.forked import KILLED, SURVIVED, Functions, Outcome, code_in, forked, functions_of
from tests.mutants.reach import Place, Reach, Recorder, chosen, load_all
from tests.mutants.targets import ROOT, function_of

PLAIN = ("-m", "", "-n", "0", "-p", "no:cacheprovider", "-s", "-W", "ignore")
COPIED = ("kanon_sql", "sql", "udfs", "tests", "docs", "examples")
Report = Callable[[Mutant, Outcome], None]


def recorded(tests: list[str], root: Path = ROOT) -> Reach:
    """What tests reach, found out in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reach")

        def run() -> str:
            sys.path.insert(0, str(root))
            os.chdir(root)
            recorder = Recorder(root)
            code = pytest.main([*PLAIN, *tests], plugins=[recorder])
            file.write_bytes(pickle.dumps(recorder.reach))
            return "" if code in (0, 1) else f"pytest ended with {code}"

        outcome = forked(run, 3600.0)
        if outcome.verdict != SURVIVED:
            raise RuntimeError(f"The tests can't be recorded: {outcome.by or outcome.verdict}.")
        found: Reach = pickle.loads(file.read_bytes())
        return found


def places_of(mutant: Mutant, source: str) -> set[Place]:
    """Where a mutant is, as the reach of tests tells places; nothing for the level of a module."""
    if mutant.path.endswith(".sql"):
        # of the macros all are read at once
        return {(mutant.path, mutant.place.split(" ")[0], 0), (mutant.path, "", 0)}
    function = function_of(mutant, source)
    return {(mutant.path, *function)} if function else set()


def is_quick(mutant: Mutant, source: str, reach: Reach) -> bool:
    """Whether nothing that was done at import depends on it, and it isn't compiled, or some test
    runs it as plain Python, too."""
    places = places_of(mutant, source)
    seen = "kanon_sql.kernel.jit" not in source or any(
        places & reached for reached in reach.places.values()
    )
    return bool(places) and seen and not places & reach.at_import


class Mutating:
    """A plugin of pytest that runs the mutants once the tests are collected.

    Attributes:
        lacks: why it stopped, where it did.
    """

    def __init__(
        self, mutants: list[Mutant], reach: Reach, seconds: float, ends: float, report: Report,
        root: Path = ROOT,
    ) -> None:
        self._mutants, self._reach, self._seconds = mutants, reach, seconds
        self._ends, self._report, self._root = ends, report, root
        self.lacks = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        load_all(self._root)
        functions = functions_of(self._root)
        for mutant in self._mutants:
            if time.monotonic() > self._ends:
                break
            source = (self._root / mutant.path).read_text(encoding="utf-8")
            if not is_loaded(mutant, source, functions):
                self.lacks = f"the module of {mutant.name} isn't loaded, see load_all"
                break
            tests = chosen(self._reach, places_of(mutant, source), self._seconds)
            limit = 60 + 20 * sum(map(self._reach.seconds.__getitem__, tests))
            todo = [items[test] for test in tests]

            work = partial(self._first_failure, mutant, source, functions, todo)
            self._report(mutant, forked(work, limit))
        return True

    def _first_failure(
        self, mutant: Mutant, source: str, functions: Functions, todo: list[pytest.Item]
    ) -> str:
        mutate(mutant, source, functions, self._root)
        return first_failure(todo)


def is_loaded(mutant: Mutant, source: str, functions: Functions) -> bool:
    """Whether this process has the function of a mutant; else no test would run, and each mutant of
    the function would seem to be killed."""
    function = function_of(mutant, source) if mutant.path.endswith(".py") else None
    return function is None or (mutant.path, *function) in functions


def mutate(
    mutant: Mutant, source: str, functions: Functions, root: Path = ROOT
) -> None:
    """Makes this process the mutant."""
    # not before: what this process has imported by then was not seen while it was imported
    from kanon_sql.kernel.late_linking import MARK

    changed = mutant.edit.applied(source)
    if mutant.path.endswith(".sql"):
        import kanon_sql.sql as sql

        name, read = mutant.path.removeprefix("sql/").removesuffix(".sql"), sql._blocks
        blocks = lru_cache(sql.blocks_in)
        sql._blocks = lambda file: blocks(changed) if file == name else read(file)
        return
    function = function_of(mutant, source)
    assert function is not None
    module = compile(changed, str(root / mutant.path), "exec", dont_inherit=True)
    code = code_in(module, *function)
    assert code is not None
    for each in functions[(mutant.path, *function)]:
        # what is compiled stays as it is, for what runs as plain Python to be compared with
        if not hasattr(each, MARK):
            each.__code__ = code


def first_failure(items: list[pytest.Item]) -> str:
    """The name of the first test that fails, empty where none does."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        for report in runtestprotocol(item, nextitem=following, log=False):
            if report.failed:
                return f"{item.nodeid} {report.when}"
    return ""


def run_quick(
    mutants: list[Mutant], tests: list[str], reach: Reach, seconds: float, ends: float,
    root: Path = ROOT,
) -> Iterator[tuple[Mutant, Outcome]]:
    """What becomes of mutants that need no import anew, in a process that collects the tests."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "outcomes")
        shown = os.dup(2)

        def note(mutant: Mutant, outcome: Outcome) -> None:
            os.write(shown, {KILLED: b".", SURVIVED: b"S"}.get(outcome.verdict, b"T"))
            with file.open("ab") as opened:
                pickle.dump((mutant, outcome), opened)

        def run() -> str:
            sys.path.insert(0, str(root))
            os.chdir(root)
            plugin = Mutating(mutants, reach, seconds, ends, note, root)
            code = pytest.main([*PLAIN, *tests], plugins=[plugin])
            return plugin.lacks or ("" if code in (0, 5) else f"pytest ended with {code}")

        outcome = forked(run, max(60.0, ends - time.monotonic() + 600))
        os.write(shown, b"\n")
        os.close(shown)
        if outcome.verdict != SURVIVED:
            raise RuntimeError(f"The mutants can't be run: {outcome.by or outcome.verdict}.")
        if file.exists():
            with file.open("rb") as opened:
                while opened.peek(1):
                    yield pickle.load(opened)


def run_slow(
    mutants: list[Mutant], reach: Reach, seconds: float, ends: float, root: Path = ROOT
) -> Iterator[tuple[Mutant, Outcome]]:
    """What becomes of mutants in a copy of the repository, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        for name in COPIED:
            if (root / name).exists():
                shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pyc*"))
        for name in ("pyproject.toml", "README.md"):
            if (root / name).exists():
                shutil.copy(root / name, copy / name)
        for number, mutant in enumerate(mutants, 1):
            if time.monotonic() > ends:
                return
            source = (root / mutant.path).read_text(encoding="utf-8")
            (copy / mutant.path).write_text(mutant.edit.applied(source), encoding="utf-8")
            # two mutants of one second and one length would share their byte code
            os.utime(copy / mutant.path, (10**9 + number, 10**9 + number))
            tests = chosen(reach, places_of(mutant, source), seconds)
            spent = sum(map(reach.seconds.__getitem__, tests))
            yield mutant, _in_copy(copy, tests, 120 + 20 * spent, Path(folder, "compiled"))
            (copy / mutant.path).write_text(source, encoding="utf-8")


def _in_copy(copy: Path, tests: list[str], limit: float, compiled: Path) -> Outcome:
    def run() -> str:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled))
        sys.path.insert(0, str(copy))
        os.chdir(copy)
        failures = Failures()
        code = pytest.main([*PLAIN, "-x", *tests], plugins=[failures])
        return failures.first or ("" if code == 0 else f"pytest ended with {code}")

    return forked(run, limit)


class Failures:
    """A plugin of pytest that notes the first test that fails."""

    first = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.first = self.first or f"{report.nodeid} {report.when}"

