"""Compiles all that calls of a method can need, before any call does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import NamedTuple

from kanon_sql.errors import KanonError
from kanon_sql.group.warm_up import compile_for
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.methods.auto import AUTO, CHOSEN
from kanon_sql.option import options_of
from kanon_sql.privacy import for_rare_values, for_trial

SOME = 0.01
"""A share of rows that may be left out, of a trial run."""

SOME_MODEL, RARE_VALUES = for_trial("any"), for_rare_values("any")
"""Any privacy model, and one that bounds each value: a trial run brings its own."""


class Compiled(NamedTuple):
    """What was compiled.

    Attributes:
        what: the method and what it was compiled with, in words.
        functions: how many functions were not in the cache.
        seconds: how long it took, with loading those that were.
    """

    what: str
    functions: int
    seconds: float


def _tasks(name: str) -> Iterator[tuple[str, GroupTask, bool]]:
    """All ways to use a method that need kernels of their own: in words, the task, and whether in
    blocks."""
    method = METHODS[name]
    known = options_of(method.own)
    choices = [
        [(), ((option, definition.compiles),)]
        for option, definition in known.items() if definition.compiles is not None
    ]
    for chosen in product(*choices):
        own = dict(sum(chosen, ()))
        words = f"{name} with {' and '.join(own)}" if own else name
        for distance in method.geometries:
            apart = {} if distance is None else {"distance": distance}
            yield words, GroupTask.of(method, method.trial.k, **own, **apart), False
        if not own:
            task = GroupTask.of(method, method.trial.k)
            if method.in_blocks:
                yield f"{name} in blocks", task, True
            if method.refinable:
                refined = GroupTask.of(method, method.trial.k, refine="local")
                yield f"{name} with refine", refined, False
            if not method.suppresses and method.promises_k:
                shorter = GroupTask.of(method, method.trial.k, suppress=SOME)
                yield f"{name} with suppress", shorter, False
            if method.promises_k:
                kept = replace(task, beside_k=(SOME_MODEL, RARE_VALUES))
                yield f"{name} with privacy models", kept, False


def compile_method(name: str) -> Iterator[Compiled]:
    """Compiles what a method can need, one way to use it after the other; all that is there is
    loaded. Of 'auto' it is what those need that it may choose."""
    if name == AUTO.name:
        for chosen in CHOSEN:
            yield from compile_method(chosen)
        return
    for what, task, in_blocks in _tasks(name):
        started = perf_counter()
        try:
            functions = compile_for(task, in_blocks)
        except KanonError:
            # options that don't go together
            continue
        yield Compiled(what, len(functions), perf_counter() - started)
