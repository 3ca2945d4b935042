"""Functions that only compiled ones call: linked into these, and nothing else made of them."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from numba import njit

from kanon_sql.kernel.jit import _options
from kanon_sql.kernel.late import INNER, KERNEL, MARK, SMALL, late_compiler


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


def test_without_the_known_compiler_the_results_are_the_same(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.kernel.jit.late_compiler", None)
    assert "pipeline_class" not in _options(KERNEL)
    assert _options(SMALL)["forceinline"] and not _options(KERNEL)["no_cpython_wrapper"]
    first, second, _ = chain()
    assert first(np.arange(5.0)) == pytest.approx(10.0 / 3.0 + 10.0)
    assert any("second" in name for name in made(second)[0])
