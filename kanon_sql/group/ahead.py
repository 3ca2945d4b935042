"""Compiles the kernels of a call in another process, too, where there is a core for it.

The compiler lets one thread of a process compile at a time, and a call needs its kernels one after
another. So a helper finds out in a rehearsal which ones will be needed, and compiles them from the
last to the first, while the call compiles them from the first to the last. They meet in the folder
where compiled functions are kept: whoever comes second to a function waits for it, and loads it.
A helper that fails is no loss: then the call compiles by itself.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kanon_sql.kernel.cache import can_be_shared
from kanon_sql.kernel.child import child
from kanon_sql.kernel.compiling import noticing
from kanon_sql.kernel.parallel import threads
from kanon_sql.kernel.rehearsal import Wanted, rehearsing
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Labels, Points

HELPER = """
import sys, pickle
sys.path[:] = pickle.load(sys.stdin.buffer)
from kanon_sql.group.ahead import compile_ahead
compile_ahead(*pickle.load(sys.stdin.buffer))
"""


def _stages(points: Points, task: GroupTask, watch: Watch) -> Iterator[Callable[[], object]]:
    """What a grouping does, each from classes that are as good as any."""
    from kanon_sql.group.blocks import group_in_blocks  # here, since it loads the compiler

    k = task.k
    # the last of them is large enough to be split
    some = np.minimum(np.arange(len(points)) // k, max(len(points) // k - 2, 0))
    yield lambda: group_in_blocks(points, task, watch)
    if task.method.searches:
        from kanon_sql.methods.local_search.long_search import LongSearch

        yield lambda: LongSearch(points, k, 1, None, watch).run([some])
    if task.refine == "local":
        from kanon_sql.methods.local_search.refine import refine

        yield lambda: refine(points, some, k, 1, None, watch)
    if task.suppress > 0.0 and not task.method.suppresses:
        from kanon_sql.methods.local_search.row_suppression import suppress_rows

        yield lambda: suppress_rows(points, some, k, 1, watch)
    if task.models and task.geometry.searched:
        yield lambda: _keep_models(points, some, task, watch)


def _keep_models(points: Points, labels: Labels, task: GroupTask, watch: Watch) -> None:
    """What is done to classes that break privacy models."""
    from kanon_sql.methods.local_search.constrained_search import Models, keep_models
    from kanon_sql.methods.local_search.merging import Merging
    from kanon_sql.privacy.demands import demands_of

    demands = demands_of(points, task.models, np.arange(len(points)))
    Merging(points, labels, demands).partner(0, np.ones(1, np.int64))
    ranks = points.sensitive[:, 0].astype(np.int64)
    search = Models(points, demands, task.k, ranks, task.seed, watch)
    search.quota(task.k)
    keep_models(search, labels, 1, None)
    if any(model.bounds_values for model in task.models):
        begin_by_rarest(points, watch)


def begin_by_rarest(points: Points, watch: Watch) -> None:
    """What is done where a model bounds each value, of one value that asks for two records."""
    from kanon_sql.methods.local_search.rarest_first import Bounds, rarest_first

    n = len(points)
    bounds = Bounds(np.zeros((n, 1), np.int32), np.zeros(1, np.int64), np.ones(1))
    rarest_first(points, bounds, np.full(n, 2), watch)


def wanted_by(points: Points, task: GroupTask) -> list[Wanted]:
    """The kernels that a grouping of these points will call, as far as that is known without
    running any, in about the order of their first calls. Only for a process that does nothing
    else, see ``rehearsing``."""
    with rehearsing() as wanted:
        for stage in _stages(points, task, Watch()):
            # what it works with is not what it expects: it may end anyhow
            with contextlib.suppress(Exception):
                stage()
    return wanted


def compile_ahead(points: Points, task: GroupTask) -> None:
    """What the helper does: compiles what is wanted last first, and prints the functions that were
    not in the cache. Points and task are those that the call groups."""
    with noticing() as begun:
        told = 0
        for one in reversed(wanted_by(points, task)):
            with contextlib.suppress(Exception):
                one.compile()
            print(*begun[told:], sep="\n", flush=True)
            told = len(begun)


class Ahead:
    """A helper that compiles for a call from its first function on that is not in the cache.

    Attributes:
        compiled: the functions that it has compiled, once all is done.
    """

    def __init__(self, points: Points, task: GroupTask) -> None:
        self._points, self._task = points, task
        self._helper: subprocess.Popen[bytes] | None = None
        self.compiled: list[str] = []

    def start(self) -> None:
        """Begins to compile, where this process can load what another compiles, and where there is
        a core for it and a Python that can be started."""
        if threads() < 2 or not can_be_shared() or "python" not in Path(sys.executable).name:
            return
        # what another process can't be told, or where no other is allowed, is compiled here
        with contextlib.suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
            # the second is only read once the path to our modules is known
            told = pickle.dumps(sys.path) + pickle.dumps((self._points, self._task))
            self._helper = child(HELPER)
            assert self._helper.stdin is not None
            self._helper.stdin.write(told)
            self._helper.stdin.close()

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        if self._helper is None:
            return
        # what it still does is not needed, or the call would have waited for it
        self._helper.kill()
        assert self._helper.stdout is not None
        with self._helper.stdout as names:
            self.compiled = names.read().decode().split()
        self._helper.wait()
