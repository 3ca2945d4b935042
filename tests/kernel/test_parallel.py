"""How many threads work takes, and what becomes of its results and errors."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kanon_sql.kernel.parallel import Helpers, cores, in_parallel, on_threads, threads


def test_threads_are_shared_out_among_pieces() -> None:
    """Two pieces on five threads may take two each; more pieces than threads take one each."""
    assert threads() == cores()
    with on_threads(5):
        assert threads() == 5
        assert in_parallel([threads, threads]) == [2, 2]
        assert in_parallel([threads] * 7) == [1] * 7
        assert in_parallel([threads]) == [5]
        with on_threads(1):
            assert in_parallel([threads, threads]) == [1, 1]
        assert threads() == 5
    assert threads() == cores()


def test_pieces_run_side_by_side_and_in_order() -> None:
    """Each waits for the other; the results are in the order of the pieces."""
    both = threading.Barrier(2, timeout=30)

    def piece(number: int) -> Callable[[], int]:
        def run() -> int:
            both.wait()
            return number

        return run

    with on_threads(2):
        assert in_parallel([piece(3), piece(1)]) == [3, 1]


def test_helpers_do_the_work_beside_this_thread() -> None:
    """Each once for each turn, and its error is raised here."""
    seen: list[int] = []

    def work(h: int) -> None:
        seen.append(h)
        if h == 2 and len(seen) > 6:
            raise KeyError(h)

    with Helpers(3) as helpers:
        helpers.finish()
        for _ in range(2):
            helpers.start(work)
            helpers.finish()
        assert sorted(seen) == [1, 1, 2, 2, 3, 3]
        helpers.start(work)
        with pytest.raises(KeyError):
            helpers.finish()
    with Helpers(0) as nobody:
        nobody.start(work)
        nobody.finish()
    assert len(seen) == 9
