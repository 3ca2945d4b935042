"""Calls of functions that only compiled ones call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def from_python(function: Any) -> Callable[..., Any]:
    """The function with a way in from Python."""

    @njit
    def call(*arguments):
        return function(*arguments)

    return call
