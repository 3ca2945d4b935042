"""How functions are compiled: those that Python calls, and those that only compiled ones call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from kanon_sql.kernel.late import late_compiler

_FROM_PYTHON: Any = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
if late_compiler is not None:
    _FROM_PYTHON["pipeline_class"] = late_compiler
_OPTIONS: Any = {**_FROM_PYTHON, "no_cpython_wrapper": True}

Compile = Callable[[Callable[..., Any]], Any]

kernel: Compile = njit(**_FROM_PYTHON)
"""Compiles a function that Python calls. One that compiled ones call, too, is better an inner one
with a kernel around it: a kernel is made machine code of for itself and in each of its callers."""

inner: Compile = njit(**_OPTIONS)
"""Compiles a function that only compiled ones call: it has no way in from Python, and becomes
machine code as a part of its callers."""

unchecked_kernel: Compile = njit(error_model="numpy", **_FROM_PYTHON)
"""Compiles a function that Python calls, whose divisors are never 0, and aren't checked."""

unchecked: Compile = njit(error_model="numpy", **_OPTIONS)
"""The same for a function that only compiled ones call."""

inlined: Compile = njit(error_model="numpy", forceinline=True, **_OPTIONS)
"""The same again for a small one that becomes part of its callers. It is typed once, where
inline="always" would type it anew at each call."""

ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
YES: Any = np.bool_(True)
NO: Any = np.bool_(False)
"""Arguments of compiled functions. A plain 0, 1, True or False would have the function compiled
twice: once for that value, once for all others."""
