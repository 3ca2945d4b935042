"""Functions that only compiled ones call, called from Python, and kernels as plain Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from numba import njit

from kanon_sql.kernel import jit


def from_python(function: Any) -> Callable[..., Any]:
    """The function with a way in from Python."""

    @njit
    def call(*arguments):
        return function(*arguments)

    return call


def in_python(module: ModuleType) -> ModuleType:
    """A copy of a module whose kernels are plain functions, and call each other as such."""
    assert module.__file__ is not None
    plain, same = ModuleType(module.__name__), ModuleType(jit.__name__)
    vars(same).update(vars(jit), **dict.fromkeys(("kernel", "inner", "inlined"), _as_it_is))
    source = Path(module.__file__).read_text(encoding="utf-8")
    with patch.dict(sys.modules, {jit.__name__: same}):
        exec(compile(source, module.__file__, "exec"), vars(plain))
    return plain


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
