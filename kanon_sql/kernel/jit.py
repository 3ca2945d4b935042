"""How functions are compiled: those that Python calls, and those that only compiled ones call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.cache import keep
from kanon_sql.kernel.late_linking import INNER, KERNEL, MARK, SMALL, late_compiler

Compile = Callable[[Callable[..., Any]], Any]


def _options(mark: str) -> dict[str, Any]:
    """What njit and overload take for functions of a kind."""
    # no divisor is 0, so that none needs to be looked at: here it would not raise
    same: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
    if late_compiler is None:
        own = {"nogil": True, "no_cpython_wrapper": mark != KERNEL, "forceinline": mark == SMALL}
        return {**same, **own}
    # the same for all: numba compiles its own functions anew for each set of options of the caller,
    # and once more where these are not the options that it takes itself
    return {**same, "no_cpython_wrapper": True, "pipeline_class": late_compiler}


def _compile(mark: str) -> Compile:
    def decorate(function: Callable[..., Any]) -> Any:
        setattr(function, MARK, mark)
        return keep(njit(**_options(mark))(function))

    return decorate


kernel = _compile(KERNEL)
"""Compiles a function that Python calls. One that compiled ones call, too, is better an inner one
with a kernel around it: a kernel is made machine code of for itself and in each of its callers."""

inner = _compile(INNER)
"""Compiles a function that only compiled ones call: it has no way in from Python, and becomes
machine code as a part of its callers."""

inlined = _compile(SMALL)
"""The same for a small one that becomes part of its callers at each call. It is typed once, where
inline="always" would type it anew at each call."""

CHOSEN: dict[str, Any] = _options(INNER)
"""What ``overload`` takes for functions that it chooses from, which are inner ones or inlined."""

ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
YES: Any = np.bool_(True)
NO: Any = np.bool_(False)
"""Arguments of compiled functions. A plain 0, 1, True or False would have the function compiled
twice: once for that value, once for all others."""
