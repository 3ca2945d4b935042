"""What goes with a block beside its rows: what was learned of its sensitive columns from all rows
into the query, and sums out of it, of which those of all blocks follow."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kanon_sql.encode.arrow import Column
from kanon_sql.names import caseless
from kanon_sql.points.losses import sse, total_il
from kanon_sql.points.points import Grouping, LossPoints, Points
from kanon_sql.points.sensitive import SensitiveColumn

_lock = threading.Lock()
_kept: dict[str, dict[str, Any]] = {}
_known: dict[str, Mapping[str, SensitiveColumn]] = {}


def hand_over(name: str, known: Mapping[str, SensitiveColumn]) -> None:
    """Keeps what was learned of sensitive columns for the query of a block, until its facts are
    taken; ``known``: by their names in lower case."""
    with _lock:
        _known[name] = known


def with_known(name: str, columns: Sequence[Column]) -> list[Column]:
    """The sensitive columns of a block, with what was learned of them from all rows."""
    with _lock:
        known = _known.get(name, {})
    return [replace(column, known=known.get(caseless(column.name))) for column in columns]


def keep_facts(name: str, facts: dict[str, Any]) -> None:
    """Keeps the facts of a block for who asked for it."""
    with _lock:
        _kept[name] = facts


def take_facts(name: str) -> dict[str, Any]:
    """The facts of a block, which nobody asks for again; none where it was never grouped."""
    with _lock:
        _known.pop(name, None)
        return _kept.pop(name, {})


def totals_of(points: Points, grouping: Grouping) -> dict[str, float]:
    """The sums of a block: its records, those of them that are in a class, the classes, and what
    these lose in the geometry in which they were made."""
    left = np.flatnonzero(grouping.labels >= 0)
    part, labels = points.part(left), grouping.labels[left]
    found = {
        "records": float(len(points)), "records_released": float(len(left)),
        "classes": float(len(np.unique(labels))),
    }
    if isinstance(part, LossPoints):
        return {**found, "total_il": total_il(part, labels)}
    if type(part) is Points:
        return {**found, "sse": sse(part, labels)}
    return found
