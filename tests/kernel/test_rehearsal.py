"""In a rehearsal kernels are noted, and neither compiled nor run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.rehearsal import NOTHING_NEW, made_up, rehearsing


class Pair(NamedTuple):
    values: Any
    count: Any


def kernels() -> tuple[Any, Any, Any]:
    """New ones, of which nothing is compiled."""
    @kernel
    def fill(values: Any) -> None:
        values[:] = 7

    @kernel
    def count(values: Any, least: int) -> int:
        return (values >= least).sum()

    @kernel
    def pair(values: Any) -> Any:
        return Pair(values + 1.0, len(values))

    return fill, count, pair


def test_kernels_are_noted_with_their_types_and_not_run() -> None:
    fill, count, _ = kernels()
    values = np.zeros(3)
    with rehearsing() as wanted:
        for _ in range(2):
            assert fill(values) is None and count(values, 0) == 0
        assert fill(np.zeros((2, 2))) is None
    assert values.tolist() == [0.0] * 3
    assert [(one.kernel, one.arguments) for one in wanted] == [
        (fill, (typeof(values),)), (count, (typeof(values), typeof(0))),
        (fill, (typeof(np.zeros((2, 2))),)),
    ]
    assert not fill.signatures and not count.signatures
    # and afterwards they run
    fill(values)
    assert values.tolist() == [7.0] * 3 and count(values, 7) == 3


def test_what_returns_arrays_is_compiled_and_not_run() -> None:
    *_, pair = kernels()
    with rehearsing() as wanted:
        for _ in range(2):
            made = pair(np.arange(5.0))
            assert made.values.tolist() == [0.0] and made.count == 0
    assert [one.kernel for one in wanted] == [pair]
    real = pair(np.arange(2.0))
    assert real.values.tolist() == [1.0, 2.0] and real.count == 2
    assert typeof(made) == typeof(real)


def test_work_that_goes_round_in_circles_ends() -> None:
    fill, *_ = kernels()
    values, turns = np.zeros(1), 0
    with rehearsing() as wanted, pytest.raises(RuntimeError):
        while values[0] == 0.0:
            fill(values)
            turns += 1
    assert turns == NOTHING_NEW + 1 and len(wanted) == 1


@pytest.mark.parametrize("value", [
    np.zeros(2, np.int32), np.zeros((1, 3), np.bool_), 5, 2.5, True, None, (1, 2.0),
    Pair(np.zeros(1), Pair(3, None)),
])
def test_what_is_made_up_has_the_type(value: object) -> None:
    assert typeof(made_up(typeof(value))) == typeof(value)


def test_of_other_types_nothing_is_made_up() -> None:
    for value in (np.zeros((4, 4))[:, ::2], "text"):
        with pytest.raises(TypeError):
            made_up(typeof(value))
