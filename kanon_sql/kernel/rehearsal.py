"""Which kernels a piece of work needs, and for which types, without running or compiling them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba.core.dispatcher
import numba.core.typing.typeof
import numba.np.numpy_support
import numpy as np

# as Any: numba tells few types of these
_numba: Any = numba

PLAIN: dict[str, Any] = {"None": None, "bool": False, "int": 0, "float": 0.0}
"""What a kernel returns in a rehearsal, by what it says that it returns."""


NOTHING_NEW = 1000
"""Calls of known kernels after which a rehearsal ends: its work may wait for what never comes."""


class Wanted(NamedTuple):
    """A kernel that was called, and the types of the arguments."""

    kernel: Any
    arguments: tuple[Any, ...]

    def compile(self) -> None:
        """Compiles it for these, or loads it from the cache."""
        self.kernel.compile(self.arguments)


@contextmanager
def rehearsing() -> Iterator[list[Wanted]]:
    """No kernel runs meanwhile in this process: each returns at once, as if it had found nothing.

    What runs has to be ready for that: it works with values that no kernel would give it. So this
    is for a process that does nothing else. A kernel that returns arrays is compiled, since nobody
    knows of which types they are before. RuntimeError is raised in work that goes round in circles.

    Yields:
        The kernels in the order in which they were first called: a list that grows.
    """
    dispatcher, typing = _numba.core.dispatcher.Dispatcher, _numba.core.typing.typeof
    argument = typing.Purpose.argument
    wanted: list[Wanted] = []
    again = 0

    def note(kernel: Any, *values: Any, **_: Any) -> Any:
        nonlocal again
        one = Wanted(kernel, tuple(typing.typeof(value, argument) for value in values))
        again += 1
        if one not in wanted:
            wanted.append(one)
            again = 0
        if again > NOTHING_NEW:
            raise RuntimeError("no kernel that is new")
        says = kernel.py_func.__annotations__.get("return")
        result = PLAIN[says] if says in PLAIN else made_up(_returned(one))
        return lambda *_: result

    as_it_is = dispatcher._compile_for_args
    dispatcher._compile_for_args = note
    try:
        yield wanted
    finally:
        dispatcher._compile_for_args = as_it_is


def _returned(one: Wanted) -> Any:
    """The type that a kernel returns."""
    one.compile()
    result = one.kernel.overloads[one.arguments].signature.return_type
    # or the next call would run it
    one.kernel._reset_overloads()
    return result


def made_up(kind: Any) -> Any:
    """Any value of a type of numba. Raises TypeError for a type of which none is known."""
    types = _numba.core.types
    if isinstance(kind, types.Array) and kind.layout == "C":
        return np.zeros((1,) * kind.ndim, _numba.np.numpy_support.as_dtype(kind.dtype))
    if isinstance(kind, types.BaseNamedTuple):
        return kind.instance_class(*map(made_up, kind))
    if isinstance(kind, types.BaseTuple):
        return tuple(map(made_up, kind))
    for known, value in (
        (types.Boolean, False), (types.Integer, 0), (types.Float, 0.0), (types.NoneType, None),
    ):
        if isinstance(kind, known):
            return value
    raise TypeError(kind)
