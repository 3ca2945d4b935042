"""Rows in parts: taken apart, put together, and stopped."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import CellColumns, Labelled, Rows
from kanon_sql.kernel.parallel import on_threads, shared_out, threads
from kanon_sql.kernel.watch import STOP, StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.stages.parts import (
    InParts,
    facts_of_all,
    group_parts,
    put_together,
    taken_apart,
    without_number,
)

NUMBERS = np.array([2, 0, -1, 2, 0, 5, 2])


def seven_rows() -> Rows:
    words = pa.array(["a", "b", "c", None, "e", "f", "a"]).dictionary_encode()
    return Rows({
        "row": np.arange(1, 8),
        "cells": CellColumns({0: np.arange(7.0)}, {1: words}),
        "secrets": CellColumns({0: NUMBERS.astype(float)}, {0: pa.nulls(7, pa.string())}),
        "label": pa.array(list("tuvwxyz")),
    }, 7)


def labelled(rows: Rows, task: Any, watch: Watch) -> tuple[Labelled, dict[str, Any]]:
    numbers = rows.numbers("row")
    return Labelled(numbers, np.arange(len(numbers)) // 2, numbers[:1]), {"blocks": 1.0}


def test_rows_are_taken_apart_in_the_order_in_which_they_came() -> None:
    rows, numbers = without_number(seven_rows())
    assert "secrets" not in rows and numbers.tolist() == NUMBERS.tolist()
    parts = taken_apart(rows, numbers)
    assert parts.numbers.tolist() == [0, 2, 5]
    assert parts.sizes() == [2, 3, 1]
    assert parts.outside.tolist() == [3]
    found = [parts.part(i) for i in range(3)]
    assert [part.numbers("row").tolist() for part in found] == [[2, 5], [1, 4, 7], [6]]
    words = found[1].fields["cells"].words[1]
    assert words.to_pylist() == ["a", None, "a"]
    assert words.dictionary.to_pylist() == ["a"]  # not those of other parts
    assert found[2].fields["label"].to_pylist() == ["y"]


def test_classes_of_parts_are_numbered_over_all() -> None:
    rows, numbers = without_number(seven_rows())
    prepared = InParts(rows, numbers, labelled, task_for(), each=True)
    found, facts = group_parts(prepared, Watch())
    assert dict(zip(found.rows.tolist(), found.labels.tolist(), strict=True)) == {
        3: -1, 2: 0, 5: 0, 1: 1, 4: 1, 7: 2, 6: 3,
    }
    assert found.centers.tolist() == [2, 1, 6]
    assert facts["blocks"] == 3.0
    assert [told["part"] for told in facts["parts"]] == [0, 2, 5]


def test_labels_that_do_not_fit_the_rows_of_their_part_are_an_error() -> None:
    rows, none = np.arange(3), np.zeros(0, np.int64)
    for labels in (np.zeros(4, np.int64), np.zeros(3), np.zeros((3, 1), np.int64)):
        with pytest.raises(TypeError):
            put_together([Labelled(rows, labels, none)], none)


def test_facts_of_parts_are_merged_by_what_they_mean() -> None:
    told = [
        {"blocks": 1.0, "refine_stopped": 0.0, "grouping_cache": "hit", "lower_bound": 3.0,
         "violating 0": 2, "least_size 0": 4, "gamma": 0.5},
        {"blocks": 2.0, "refine_stopped": 1.0, "grouping_cache": "miss", "lower_bound": 4.0,
         "violating 0": 5, "least_size 0": 3, "gamma": 0.5},
    ]
    assert facts_of_all(told) == {
        "blocks": 3.0, "refine_stopped": 1.0, "grouping_cache": "miss", "violating 0": 7,
        "least_size 0": 3, "gamma": 0.5,
    }


@pytest.mark.parametrize("many", [1, 2])
def test_all_parts_stop_with_the_watch(many: int) -> None:
    watch, begun, done = Watch(), threading.Event(), []

    def until_stopped(rows: Rows, task: Any, own: Watch) -> Any:
        own.begin("grouping", rows.count)
        beat = own.beat()
        begun.set()
        while not beat[STOP]:
            pass
        done.append(rows.count)
        own.check()

    def stop() -> None:
        begun.wait()
        watch.stop()

    rows, numbers = without_number(seven_rows())
    threading.Thread(target=stop).start()
    with on_threads(many), pytest.raises(StoppedError):
        group_parts(InParts(rows, numbers, until_stopped, task_for(), False), watch)
    assert 1 <= len(done) <= many


def test_a_part_of_a_watch_that_has_stopped_stops() -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        watch.part().check()


def test_work_is_shared_out_by_size() -> None:
    order: list[int] = []

    def piece(i: int) -> Any:
        def run() -> tuple[int, int]:
            order.append(i)
            return i, threads()

        return run

    with on_threads(8):
        found = shared_out([piece(i) for i in range(4)], [1, 6, 0, 1])
        assert found == [(0, 1), (1, 6), (2, 1), (3, 1)]
    order.clear()
    with on_threads(1):
        assert shared_out([piece(i) for i in range(3)], [1, 3, 2]) == [(0, 1), (1, 1), (2, 1)]
    assert order == [1, 2, 0]


def test_the_first_error_is_raised_and_nothing_behind_it_begun() -> None:
    begun: list[int] = []

    def piece(i: int) -> Any:
        def run() -> None:
            begun.append(i)
            if i in (1, 2):
                raise ValueError(i)

        return run

    with on_threads(1), pytest.raises(ValueError, match="1"):
        shared_out([piece(i) for i in range(4)], [1, 2, 3, 1])
    assert begun == [2, 1, 0]
