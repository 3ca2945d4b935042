"""Linear and integer programs, solved by HiGHS in a process of its own, which can be stopped.

This file is also the program of that process. So it imports nothing of kanon_sql at the top.
"""

from __future__ import annotations

import contextlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

TURN = 0.02
"""Seconds between two looks at who waits."""

FEW = 400
"""Classes among which one is chosen in a moment."""

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class CoverProblem(NamedTuple):
    """Classes of which some are to hold each record once, at the least cost.

    Attributes:
        records: how many records there are.
        nodes: how many nodes of the search tree are looked at; 0: the linear program, where a class
            may be taken in part.
        costs: float64, shape (m,); what each class costs.
        starts: int64, shape (m + 1,); where the records of each class start in ``members``.
        members: int64; the records, class by class.
    """

    records: int
    nodes: int
    costs: Numbers
    starts: Places
    members: Places


def solved(cover: CoverProblem) -> Numbers:
    """How far each class is taken; of the linear program the prices of the records before that.
    Empty where nothing was found."""
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
    from scipy.sparse import csc_matrix

    once = np.ones(cover.records)
    entries = (np.ones(len(cover.members)), cover.members, cover.starts)
    matrix = csc_matrix(entries, shape=(cover.records, len(cover.costs)))
    if cover.nodes == 0:
        solution = linprog(cover.costs, A_eq=matrix, b_eq=once, method="highs-ds")
        found = solution.status == 0
        values = np.append(solution.eqlin.marginals, solution.x) if found else None
    else:
        # limited by nodes and not by seconds, so that the result is always the same
        values = milp(
            cover.costs, integrality=np.ones(len(cover.costs)), bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, once, once),
            options={"node_limit": cover.nodes, "mip_rel_gap": 1e-7},
        ).x
    return np.zeros(0) if values is None else np.asarray(values, np.float64)


def _read(stream: IO[bytes], count: int, kind: Any) -> Any:
    """An array of so many numbers; fewer at the end of the stream."""
    return np.frombuffer(stream.read(8 * count), kind)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Solves what comes in until nothing comes any more."""
    while len(head := _read(source, 4, np.int64)) == 4:
        records, nodes, classes, entries = head.tolist()
        costs = _read(source, classes, np.float64)
        starts = _read(source, classes + 1, np.int64)
        values = solved(
            CoverProblem(records, nodes, costs, starts, _read(source, entries, np.int64))
        )
        sink.write(np.array([len(values)], np.int64).tobytes() + values.tobytes())
        sink.flush()


class Solver:
    """One such process, begun when it is first needed. ``close`` ends it, whatever it does."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="kanon")

    def solve(self, cover: CoverProblem, check: Callable[[], None]) -> Numbers:
        """What ``solved`` gives. ``check`` is called now and then; what it raises ends the
        process."""
        if not sys.executable or (self._process is None and len(cover.costs) <= FEW):
            return solved(cover)
        waited = self._pool.submit(self._ask, cover)
        while True:
            try:
                return waited.result(TURN)
            except StillRunning:
                try:
                    check()
                except BaseException:
                    self._kill()
                    raise

    def _ask(self, cover: CoverProblem) -> Numbers:
        if self._process is None:
            from kanon_sql.kernel import child

            self._process = child.child(child.RUN, __file__)
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None and sink is not None
        head = [cover.records, cover.nodes, len(cover.costs), len(cover.members)]
        with contextlib.suppress(OSError):  # it ended before all was written
            for part in (np.array(head, np.int64), cover.costs, cover.starts, cover.members):
                source.write(part.tobytes())
            source.flush()
        count = _read(sink, 1, np.int64)
        # copied, since bytes can't be written to: kernels would be compiled anew for such an array
        values: Numbers = _read(sink, int(count[0]) if len(count) else 0, np.float64).copy()
        if len(count) == 0 or len(values) < count[0]:
            # without a process of its own it gives the same, and is stopped only when it is done
            return np.zeros(0) if self._killed else solved(cover)
        return values

    def _kill(self) -> None:
        self._killed = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Ends the process and waits until it is gone."""
        self._kill()
        self._pool.shutdown()
        if self._process is not None:
            # what was not written any more can't be
            with contextlib.suppress(OSError), self._process:
                pass
            self._process = None


if __name__ == "__main__":
    # HiGHS writes what it has to say to the same place, which would stand among the answers
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        serve(sys.stdin.buffer, answers)
