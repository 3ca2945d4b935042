"""How functions are compiled that only compiled ones call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_OPTIONS: Any = {
    "cache": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True
}

Compile = Callable[[Callable[..., Any]], Any]

inner: Compile = njit(**_OPTIONS)
"""Compiles a function that only compiled ones call: no way in from Python is built, which takes a
third of the time."""

unchecked: Compile = njit(error_model="numpy", **_OPTIONS)
"""The same for a function whose divisors are never 0, and aren't checked."""

inlined: Compile = njit(error_model="numpy", forceinline=True, **_OPTIONS)
"""The same for a small one that becomes part of its callers. It is typed once, where
inline="always" would type it anew at each call."""

ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
YES: Any = np.bool_(True)
NO: Any = np.bool_(False)
"""Arguments of compiled functions. A plain 0, 1, True or False would have the function compiled
twice: once for that value, once for all others."""
