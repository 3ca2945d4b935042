"""Functions that only compiled ones call: linked into these, and nothing else made of them."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from kanon_sql.kernel.jit import _options
from kanon_sql.kernel.late_linking import INNER, KERNEL, MARK, SMALL, late_compiler


def compiled(mark: str, function: Any) -> Any:
    """As kernel, inner and inlined do, without the cache."""
    setattr(function, MARK, mark)
    return njit(**_options(mark))(function)


def made(function: Any) -> tuple[set[str], set[str]]:
    """The functions of its last form: of which there is machine code, and that can be linked."""
    library = function.overloads[function.signatures[-1]].library
    return tuple(
        {f.name for f in module.functions if not f.is_declaration}
        for module in (library._final_module, library._get_module_for_linking())
    )


def chain() -> tuple[Any, Any, Any]:
    def third(a, i):
        if i > 10:
            raise ValueError("too far")
        return a[i] / 3.0

    def second(a, i):
        return third(a, i) + len(np.zeros(i))

    def first(a):
        total = 0.0
        for i in range(len(a)):
            total += second(a, i)
        return total

    third = compiled(SMALL, third)
    second = compiled(INNER, second)
    return compiled(KERNEL, first), second, third


def test_this_numba_is_known() -> None:
    """Else all is compiled as numba does, which takes three times as long."""
    assert late_compiler is not None


def test_only_kernels_become_machine_code() -> None:
    first, second, third = chain()
    assert first(np.arange(5.0)) == pytest.approx(10.0 / 3.0 + 10.0)
    for function, name in ((second, "second"), (third, "third")):
        machine, linked = made(function)
        assert machine == set() and any(name in f for f in linked)
    machine, _ = made(first)
    assert any("first" in name for name in machine)


def test_errors_come_through() -> None:
    first, _, _ = chain()
    with pytest.raises(ValueError, match="too far"):
        first(np.arange(12.0))


def test_the_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    chain()[0](np.arange(3.0))
    assert gc.isenabled()
    gc.disable()
    try:
        chain()[0](np.arange(3.0))
        assert not gc.isenabled()
    finally:
        gc.enable()


class Inside(NamedTuple):
    values: Any
    more: Any


class Outside(NamedTuple):
    inside: Inside
    own: Any
    count: int


def lenders() -> Any:
    """Functions that take tuples apart, in all ways, and give parts of them on."""

    def part(outside, swap):
        inside = outside.inside
        values, more = inside
        if swap:
            values, more = more, values
        fresh = np.zeros(outside.count)
        for i in range(outside.count):
            kept = outside.inside.values
            fresh[i] = kept[i] + more[i]
        return Inside(values, fresh), inside[1]

    def first(outside, turns):
        inside, last = part(outside, False)
        for _ in range(turns):
            given = Outside(inside, outside.own, outside.count)
            inside, last = part(given, True)
        return inside, last, outside.own, outside

    part = compiled(INNER, part)
    return compiled(KERNEL, first)


@pytest.fixture
def allocations() -> Iterator[Callable[[], int]]:
    """How many pieces of memory of compiled functions there are."""
    runtime: Any = _nrt_python
    counted = runtime.memsys_stats_enabled()
    runtime.memsys_enable_stats()

    def count() -> int:
        gc.collect()
        stats = rtsys.get_allocation_stats()
        return int(stats.alloc - stats.free)

    yield count
    if not counted:
        runtime.memsys_disable_stats()


@pytest.mark.slow
def test_what_is_lent_is_neither_freed_nor_kept(allocations: Callable[[], int]) -> None:
    first = lenders()
    first(Outside(Inside(np.ones(2), np.ones(2)), np.ones(2), 2), 1)
    before = allocations()
    weak = []
    for turns in (0, 1, 2, 5):
        values, more, own = np.arange(4.0), np.arange(4.0) * 10.0, np.full(4, 7.0)
        weak += [weakref.ref(array) for array in (values, more, own)]
        inside, last, kept, whole = first(Outside(Inside(values, more), own, 4), turns)
        del values, more, own
        # what else would take the room of arrays that were freed too early
        others = [np.full(4, -1.0) for _ in range(50)]
        pair = [np.arange(4.0), np.arange(4.0) * 10.0]
        gave, told = [pair[0], pair[0] + pair[1]], pair[1]
        for _ in range(turns):
            told = gave[1]
            # the two change places before they are added
            gave = [gave[1], gave[0] + gave[0]]
        assert inside.values.tolist() == gave[0].tolist()
        assert inside.more.tolist() == gave[1].tolist()
        assert last.tolist() == told.tolist()
        assert kept.tolist() == whole.own.tolist() == [7.0] * 4
        assert whole.inside.more.tolist() == pair[1].tolist()
        del inside, last, kept, whole, others
    assert allocations() == before
    assert all(reference() is None for reference in weak)


def test_without_the_known_compiler_the_results_are_the_same(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.kernel.jit.late_compiler", None)
    assert "pipeline_class" not in _options(KERNEL)
    assert _options(SMALL)["forceinline"] and not _options(KERNEL)["no_cpython_wrapper"]
    first, second, _ = chain()
    assert first(np.arange(5.0)) == pytest.approx(10.0 / 3.0 + 10.0)
    assert any("second" in name for name in made(second)[0])


WITHOUT_BLAS = """
import sys
import kanon_sql.kernel.jit
from numba import njit
import numpy as np
print(njit(lambda a: a.sum())(np.arange(3.0)), "scipy.linalg" in sys.modules)
print(njit(lambda a: np.dot(a, a))(np.eye(2) * 3.0).tolist(), "scipy.linalg" in sys.modules)
"""


@pytest.mark.slow
def test_linear_algebra_is_loaded_by_those_who_need_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_BLAS], capture_output=True, text=True, check=True,
        timeout=120,
    )
    assert done.stdout == "3.0 False\n[[9.0, 0.0], [0.0, 9.0]] True\n"
