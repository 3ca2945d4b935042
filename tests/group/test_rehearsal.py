"""What a helper compiles for a call, and when there is one; within this process, in which its
mutants are."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numba.core.dispatcher
import numba.core.typing.typeof
import numpy as np
import pytest

from kanon_sql.group import ahead, warm_up
from kanon_sql.group.all_kernels import SOME_MODEL
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask, task_for
from kanon_sql.points.points import Points

numba_: Any = numba
FIRST = """
import pickle, sys
path = pickle.load(sys.stdin.buffer)
print("path" if path == [] else "a.path")
points, task = pickle.load(sys.stdin.buffer)
print(len(points), task.k, sep="\\n", flush=True)
"""
"""A helper that tells what it was told."""


def trial(method: str, **options: Any) -> tuple[Points, GroupTask]:
    """What a call is tried on."""
    models = (SOME_MODEL,) if options.pop("models", False) else ()
    task = replace(task_for(method, 2, **options), beside_k=models)
    return warm_up._records(task), warm_up._trial(task, False)


@pytest.mark.parametrize(("method", "options", "stages"), [
    ("mdav_star", {}, 1), ("mdav_star", {"refine": "local"}, 2),
    ("mdav_star", {"suppress": 0.1}, 2),
    ("mdav_star", {"models": True}, 2), ("best", {}, 2), ("full_domain", {"suppress": 0.1}, 1),
    ("r_gather", {"models": True}, 1), ("k_member", {"refine": "local", "models": True}, 3),
])
def test_only_what_a_call_does_is_rehearsed(
    method: str, options: dict[str, Any], stages: int
) -> None:
    points, task = trial(method, **options)
    assert len(list(ahead._stages(points, task, Watch()))) == stages


def wanted(points: Points, task: GroupTask) -> set[str]:
    """The names of what a rehearsal finds, in a copy of this process: its kernels run no more."""
    end, begin = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the copy lacks
        copy = os.fork()
    if copy == 0:
        try:
            for each in gc.get_objects():  # what other tests have compiled is called at once
                if type(each) is numba_.core.registry.CPUDispatcher:
                    each._reset_overloads()
            with os.fdopen(begin, "w") as told:
                told.write(" ".join(
                    one.kernel.py_func.__qualname__ for one in ahead.wanted_by(points, task)
                ))
        finally:
            os._exit(0)
    os.close(begin)
    with os.fdopen(end) as found:
        names = set(found.read().split())
    os.waitpid(copy, 0)
    return names


def test_with_models_the_kernels_of_their_search_are_wanted_too() -> None:
    plain, held = wanted(*trial("mdav_plus")), wanted(*trial("mdav_plus", models=True))
    assert plain and plain < held
    # of mergers, of slices of the sensitive values, and of the search
    assert {"_shared", "_take", "anneal"} <= held - plain


def test_a_stage_that_ends_in_an_error_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    stages = [lambda: begun.append(1), lambda: begun.append(1 // 0), lambda: begun.append(3)]
    monkeypatch.setattr(ahead, "_stages", lambda *_: iter(stages))
    assert ahead.wanted_by(*trial("mdav")) == [] and begun == [1, 3]


class Kernel:
    """Something to compile."""

    def __init__(self, begun: list[str], names: Sequence[str], fails: bool = False) -> None:
        self._begun, self._names, self._fails = begun, names, fails

    def compile(self) -> None:
        """Notes the functions that it compiles."""
        self._begun.extend(self._names)
        if self._fails:
            raise ValueError("the compiler")


def test_the_last_is_compiled_first_and_each_function_told_once(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, since a helper may be ended at any time."""
    begun: list[str] = []

    @contextmanager
    def noticing() -> Iterator[list[str]]:
        yield begun

    kernels = [Kernel(begun, ["d"]), Kernel(begun, ["b", "c"], fails=True), Kernel(begun, []),
               Kernel(begun, ["a"])]
    monkeypatch.setattr(ahead, "noticing", noticing)
    monkeypatch.setattr(ahead, "wanted_by", lambda *_: kernels)
    told = io.BytesIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.TextIOWrapper(told))
        ahead.compile_ahead(*trial("mdav"))
        assert told.getvalue().split() == [b"a", b"b", b"c", b"d"]


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which a helper can be started."""
    monkeypatch.setattr(ahead, "threads", lambda: 2)
    monkeypatch.setattr(ahead, "can_be_shared", lambda: True)
    monkeypatch.setattr(ahead, "HELPER", FIRST)
    return monkeypatch


def compiled(points: Any, task: GroupTask) -> list[str]:
    """What a helper tells, once it is done."""
    with ahead.Ahead(points, task) as found:
        assert found.compiled == []
        found.start()
        if found._helper is not None:
            found._helper.wait(30)
    return found.compiled


def test_a_helper_gets_the_path_the_points_and_the_task(helped: pytest.MonkeyPatch) -> None:
    """Also where that is little, and no buffer is full."""
    points, task = trial("mdav")
    for each in (points, points.part(np.arange(3))):
        assert compiled(each, task) == ["a.path", str(len(each)), str(task.k)]


def test_a_helper_that_is_not_needed_any_more_is_ended(helped: pytest.MonkeyPatch) -> None:
    helped.setattr(ahead, "HELPER", "print('one', flush=True)\nimport time\ntime.sleep(60)")
    with ahead.Ahead(*trial("mdav")) as found:
        found.start()
        helper = found._helper
        assert helper is not None and helper.stdout is not None
        helper.stdout.peek(1)  # type: ignore[attr-defined]
    assert found.compiled == ["one"]
    assert helper.returncode == -signal.SIGKILL and helper.stdout.closed


@pytest.mark.parametrize(("name", "value"), [
    ("threads", lambda: 1), ("can_be_shared", lambda: False),
])
def test_where_a_helper_is_of_no_use_none_is_started(
    name: str, value: Any, helped: pytest.MonkeyPatch
) -> None:
    helped.setattr(ahead, name, value)
    assert compiled(*trial("mdav")) == []


def test_where_no_helper_can_be_started_the_call_goes_on(helped: pytest.MonkeyPatch) -> None:
    points, task = trial("mdav")
    assert compiled(lambda: None, task) == []  # can't be pickled
    helped.setattr(sys, "executable", "/nowhere/python")
    assert compiled(points, task) == []
    helped.setattr(sys, "executable", "/bin/sh")  # another program that runs Python
    assert compiled(points, task) == []
