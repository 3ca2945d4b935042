"""What goes with a block beside its rows: what was learned from all rows of its sensitive columns,
and of the classes that its persons may join, into the query, and sums out of it, of which those of
all blocks follow."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kanon_sql.encode.arrow import Column, SideTable
from kanon_sql.ledger.newcomers import Covers
from kanon_sql.names import caseless
from kanon_sql.points.losses import sse, total_il
from kanon_sql.points.points import Grouping, LossPoints, Points
from kanon_sql.points.sensitive import SensitiveColumn


@dataclass
class GoingOn:
    """The classes of a ledger that go on, as all blocks of a release look at them.

    Attributes:
        table: the classes and what they published, as ``frozen`` in sql/ledger.sql has them.
        counts: how many of all rows have each value, None a NULL, by columns in lower case; nothing
            where classes publish points.
        covers: what the classes cover, once a block has read it.
        lock: held meanwhile.
    """

    table: SideTable
    counts: Mapping[str, Mapping[Any, int]]
    covers: Covers | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process gets, which reads the covers by itself."""
        return GoingOn, (self.table, self.counts)


_lock = threading.Lock()
_kept: dict[str, dict[str, Any]] = {}
_known: dict[str, tuple[Mapping[str, SensitiveColumn], GoingOn | None]] = {}


def hand_over(
    name: str, known: Mapping[str, SensitiveColumn], going_on: GoingOn | None = None
) -> None:
    """Keeps what was learned from all rows for the query of a block, until its facts are taken.

    Args:
        name: of the block.
        known: sensitive columns, by their names in lower case.
        going_on: the classes that its persons may join, if there are any.
    """
    with _lock:
        _known[name] = known, going_on


def going_on_of(name: str) -> GoingOn | None:
    """The classes that the persons of a block may join, if there are any."""
    with _lock:
        return _known[name][1] if name in _known else None


def with_known(name: str, columns: Sequence[Column]) -> list[Column]:
    """The sensitive columns of a block, with what was learned of them from all rows."""
    with _lock:
        known = _known[name][0] if name in _known else {}
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
    totals = {
        "records": float(len(points)), "records_released": float(len(left)),
        "classes": float(len(np.unique(labels))),
    }
    if isinstance(part, LossPoints):
        return {**totals, "total_il": total_il(part, labels)}
    if type(part) is Points:
        return {**totals, "sse": sse(part, labels)}
    return totals
