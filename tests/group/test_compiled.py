"""What is compiled before a call, by the task: once, and told in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import OptionError
from kanon_sql.group import all_kernels, warm_up
from kanon_sql.group.all_kernels import SOME_MODEL, Compiled, compile_method
from kanon_sql.methods import METHODS, GroupTask, task_for
from kanon_sql.methods.auto import CHOSEN
from kanon_sql.privacy import AverageRisk
from kanon_sql.privacy.k_map import KMap

Call = tuple[GroupTask, bool, str | None]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What is compiled: two functions each time."""
    calls: list[Call] = []

    def compile_for(task: GroupTask, in_blocks: bool, name: str | None = None) -> list[str]:
        calls.append((task, in_blocks, name))
        return ["a", "b"]

    for module in (warm_up, all_kernels):
        monkeypatch.setattr(module, "compile_for", compile_for)
    monkeypatch.setattr(warm_up, "_ready", set())
    monkeypatch.setattr(warm_up, "threads", lambda: 1)
    return calls


@pytest.mark.parametrize(("task", "n", "name"), [
    (task_for("mdav", 3), 10, "mdav"),
    (task_for("mdav", 3, refine="local"), 10, "mdav and refine"),
    (task_for("k_member", 3, refine="local"), 10, "k_member and refine by loss"),
    (task_for("mdav", 3, suppress=0.1), 10, "mdav and suppression"),
    (replace(task_for("mdav", 3), beside_k=(SOME_MODEL,)), 10, "mdav and privacy models"),
    (replace(task_for("mdav", 3), beside_k=(AverageRisk(0.2),)), 10, "mdav and mergers"),
    (replace(task_for("mdav", 3), beside_k=(KMap(k_map=2),)), 10, "mdav and mergers"),
    (task_for("mdav", 3, block_rows=1000), 1000, "mdav"),
    (task_for("mdav", 3, block_rows=1000), 1001, "mdav and blocks"),
    (task_for("optimal_1d", 3, block_rows=1000), 1001, "optimal_1d"),
])
def test_what_a_call_needs_is_compiled_once_and_told(
    task: GroupTask, n: int, name: str, compiled: list[Call]
) -> None:
    warm_up.warm_up(task, n)
    assert compiled == [(task, "blocks" in name, name)]
    warm_up.warm_up(replace(task, k=5), n)
    assert len(compiled) == 1


def test_several_threads_and_some_options_need_kernels_of_their_own(
    compiled: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = task_for("r_gather", 3)
    warm_up.warm_up(plain, 10)
    warm_up.warm_up(task_for("r_gather", 3, max_clusters=4), 10)
    assert len(compiled) == 2
    warm_up.warm_up(task_for("r_gather", 3, metric="hamming"), 10)
    same = len(compiled)
    monkeypatch.setattr(warm_up, "threads", lambda: 2)
    warm_up.warm_up(plain, 10)
    warm_up.warm_up(plain, 10)
    assert len(compiled) == same + 1


def test_what_could_not_be_compiled_is_tried_again(
    compiled: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> list[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(warm_up, "compile_for", fail)
        with pytest.raises(KeyboardInterrupt):
            warm_up.warm_up(task_for("mdav", 3), 10)
    warm_up.warm_up(task_for("mdav", 3), 10)
    assert len(compiled) == 1


def test_a_trial_is_the_task_as_few_records_can_take_it() -> None:
    task = task_for("mdav", 50, refine="local", refine_steps=10**9, block_rows=7000, seed=3)
    trial = warm_up._trial(task, False)
    assert (trial.k, trial.refine_steps, trial.block_rows) == (METHODS["mdav"].trial.k, 1, None)
    assert trial.beside_k == () and trial.refine == "local" and trial.seed == 3
    in_blocks = warm_up._trial(task, True)
    points = warm_up._records(task)
    assert in_blocks.block_rows is not None and in_blocks.block_rows < len(points)
    assert not points.sensitive_columns
    asked = replace(task, beside_k=(SOME_MODEL, AverageRisk(0.1)))
    trial, points = warm_up._trial(asked, False), warm_up._records(asked)
    assert len(trial.models) == 1 and len(trial.whole) == 1
    (column,) = points.sensitive_columns
    assert trial.models[0].column == column.name
    codes = points.sensitive[:, 0]
    half = -(-len(codes) // 2)
    assert codes.tolist() == [0] * half + [1] * (len(codes) - half) and codes.dtype == np.int32
    merged = warm_up._trial(replace(task, beside_k=(KMap(k_map=2),)), False)
    assert merged.models == () and len(merged.whole) == 1


WAYS = {
    "mdav": ["mdav", "mdav", "mdav in blocks", "mdav with refine", "mdav with suppress",
             "mdav with privacy models"],
    "optimal_1d": ["optimal_1d", "optimal_1d with refine", "optimal_1d with suppress",
                   "optimal_1d with privacy models"],
    "best": ["best", "best", "best with refine", "best with suppress", "best with privacy models"],
    "full_domain": ["full_domain", "full_domain with privacy models"],
}


@pytest.mark.parametrize("method", WAYS)
def test_all_ways_to_use_a_method_are_compiled(method: str, compiled: list[Call]) -> None:
    found = list(compile_method(method))
    assert [each.what for each in found] == WAYS[method]
    assert all(each.functions == 2 and 0.0 <= each.seconds < 60.0 for each in found)
    known = METHODS[method]
    distances = [task.distance for task, *_ in compiled[: len(known.geometries)]]
    assert distances == list(known.geometries)
    for (task, in_blocks, name), what in zip(compiled, WAYS[method], strict=True):
        assert name is None and task.method is known and task.k == known.trial.k
        assert in_blocks == what.endswith("blocks")
        assert (task.refine == "local") == what.endswith("refine")
        assert (task.suppress > 0.0) == what.endswith("suppress")
        assert bool(task.models) == what.endswith("models")


def test_options_with_kernels_of_their_own_are_compiled_with_and_without(
    compiled: list[Call]
) -> None:
    words = [each.what for each in compile_method("r_gather")]
    own = ("centers", "epsilon", "max_clusters")
    chosen = [[name for i, name in enumerate(own) if spot >> i & 1] for spot in range(8)]
    every = {"r_gather" + " with " * bool(names) + " and ".join(names) for names in chosen}
    later = ("blocks", "refine", "suppress", "models")
    assert {each for each in words if not each.endswith(later)} == every
    assert words[0] == "r_gather" and len(set(words)) == len(words)
    plain = [task for (task, *_), what in zip(compiled, words, strict=True)
             if what.startswith("r_gather with") and "max_clusters" in what]
    assert plain and all(getattr(task.own, "max_clusters", None) for task in plain)


def test_auto_is_all_that_it_may_choose_and_what_is_refused_is_passed_over(
    compiled: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [each.what.split()[0] for each in compile_method("auto")]
    assert list(dict.fromkeys(words)) == list(CHOSEN)

    def refuse(task: GroupTask, in_blocks: bool) -> list[str]:
        if in_blocks:
            raise OptionError("no")
        return []

    monkeypatch.setattr(all_kernels, "compile_for", refuse)
    found = list(compile_method("mdav"))
    assert [each.what for each in found] == [way for way in WAYS["mdav"] if "blocks" not in way]
    assert isinstance(found[0], Compiled) and found[0].functions == 0
