"""Remembers labels, so that a repeated call on the same content does not group again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields

import numpy as np

from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, Points

ROOM = 64 * 1024 * 1024
"""Labels kept at most, over all entries (8 bytes each)."""

_lock = threading.Lock()
_kept: OrderedDict[bytes, Grouping] = OrderedDict()


def digest(points: Points, task: GroupTask) -> bytes:
    """Identifies the encoded content together with the task: all that a method sees."""
    seal = hashlib.blake2b(digest_size=32)
    for field in fields(points):
        array = np.asarray(getattr(points, field.name))
        seal.update(f"{array.dtype} {array.shape} ".encode())
        seal.update(np.ascontiguousarray(array).view(np.uint8).data)
    seal.update(task.to_json().encode())
    return seal.digest()


def recall(key: bytes, compute: Callable[[], Grouping]) -> tuple[Grouping, bool]:
    """The grouping of that key, and whether it was remembered; computed where it was not."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key], True
    grouping = compute()
    with _lock:
        _kept[key] = grouping
        while len(_kept) > 1 and sum(len(g.labels) for g in _kept.values()) > ROOM:
            _kept.popitem(last=False)
    return grouping, False


def forget() -> None:
    """Drops everything that is remembered."""
    with _lock:
        _kept.clear()
