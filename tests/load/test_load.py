"""The smallest part of the load: ``python -m tests.load`` runs all of it."""

from __future__ import annotations

import sys

import pytest

from tests.load.long_lived import _judge
from tests.load.outcome import Outcome
from tests.load.process import Held
from tests.load.processes import asked_by_processes
from tests.load.questions import QUICK
from tests.load.registrations import registered_often
from tests.load.starts import _compare
from tests.load.threads import asked_by_threads
from tests.load.ways import answers

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_another_answer_is_found() -> None:
    outcome = Outcome("part")
    outcome.compare("FROM t", "1", "1")
    outcome.compare("FROM t", "1", "2")
    assert outcome.calls == 2 and outcome.findings == ["FROM t: the answer is 1, serially 2"]
    assert "2 calls in 3 s, 1 findings\n    FROM t" in outcome.told(3.0)


@pytest.mark.parametrize(("late", "said"), [
    (Held(104.0, 9, 5), []),
    (Held(106.0, 9, 5), ["memory grew from 100 to 106 MiB"]),
    (Held(100.0, 10, 5), ["descriptors grew from 9 to 10"]),
    (Held(100.0, 9, 6), ["threads grew from 5 to 6"]),
])
def test_what_grows_is_found(late: Held, said: list[str]) -> None:
    outcome = Outcome("part")
    _judge(outcome, [Held(100.0, 8, 5), Held(90.0, 9, 5)], [late, Held(80.0, 8, 5)])
    assert outcome.findings == said


@pytest.mark.slow
def test_threads_answer_as_one_does() -> None:
    outcome = asked_by_threads(1.0, count=4, forms=QUICK)
    assert outcome.calls >= 4 and outcome.findings == []


@pytest.mark.slow
def test_processes_answer_as_one_does() -> None:
    outcome = asked_by_processes(0.0, count=2, forms=QUICK)
    assert outcome.calls >= 4 and outcome.findings == []


@linux
@pytest.mark.slow
def test_registrations_leave_nothing() -> None:
    outcome = registered_often(5)
    # of so few turns memory says nothing
    assert outcome.calls == 25 and [x for x in outcome.findings if "memory" not in x] == []


@linux
@pytest.mark.slow
@pytest.mark.parametrize("way", ["asyncio", "forkserver", "prefork"])
def test_a_way_to_start_gives_the_same(way: str) -> None:
    outcome = Outcome("starts")
    _compare(outcome, way, answers())
    assert outcome.calls > 0 and outcome.findings == []
