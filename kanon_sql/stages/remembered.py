"""Remembers labels, so that a repeated call on the same content does not group again."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, Points

ROOM = 64 * 1024 * 1024
"""Labels kept at most, over all entries (8 bytes each)."""

LEAST = 8 * 1024
"""Labels that an entry counts for at least: of a small table, what goes with them takes more."""


@dataclass(frozen=True)
class Recalled:
    """A grouping, and what it took.

    Attributes:
        grouping: the labels.
        seconds: how long it took to make them, now or when they were made.
        remembered: whether they were made before.
    """

    grouping: Grouping
    seconds: float
    remembered: bool


_lock = threading.Lock()
_kept: OrderedDict[bytes, Recalled] = OrderedDict()


def digest(points: Points, task: GroupTask) -> bytes:
    """Identifies the encoded content together with the task: all that a method sees."""
    seal = hashlib.blake2b(digest_size=32)
    for field in fields(points):
        if field.name != "sensitive_columns":
            _add(seal, getattr(points, field.name))
    for column in points.sensitive_columns:
        seal.update(json.dumps([column.name, column.words, column.ordered]).encode())
        _add(seal, column.numbers)
        _add(seal, column.levels)
    seal.update(task.to_json().encode())
    return seal.digest()


def _add(seal: Any, values: Any) -> None:
    """Adds what numpy takes for an array, with its type and shape."""
    array = np.asarray(values)
    seal.update(f"{array.dtype} {array.shape} ".encode())
    seal.update(np.ascontiguousarray(array).view(np.uint8).data)


def recall(key: bytes, compute: Callable[[], Grouping]) -> Recalled:
    """The grouping of that key, computed where it is not remembered."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    started = perf_counter()
    grouping = compute()
    recalled = Recalled(grouping, perf_counter() - started, False)
    with _lock:
        _kept[key] = replace(recalled, remembered=True)
        while len(_kept) > 1 and sum(map(_size, _kept.values())) > ROOM:
            _kept.popitem(last=False)
    return recalled


def _size(recalled: Recalled) -> int:
    return max(LEAST, len(recalled.grouping.labels))


def forget() -> None:
    """Drops everything that is remembered."""
    with _lock:
        _kept.clear()
