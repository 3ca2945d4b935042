"""Labels that wait for the query to ask for them, row by row."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.encode.arrow import Rows
from kanon_sql.errors import KanonError
from kanon_sql.points.points import Labels

UNKNOWN = -2
"""Stands for a row that has no label."""

FORGOTTEN = 3600.0
"""Seconds after which labels are dropped of which no query has asked."""

ROOM, IDLE = 256 * 1024 * 1024, 600.0
"""Bytes of all labels and rows, above which those are dropped of which none was asked for so many
seconds, the oldest first."""

GONE = "The query was paused for too long, and its classes were discarded. Run it again."


@dataclass
class LabelledRows:
    """The classes of the rows of one query.

    Attributes:
        by_number: int32 or int64, shape (largest row number + 1,); UNKNOWN where there is none.
        asked: when they were last asked for.
        source: the rows themselves, where the query measures them yet.
    """

    by_number: npt.NDArray[Any]
    asked: float
    source: Rows | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return self.by_number.nbytes + (0 if self.source is None else self.source.nbytes)

    def classes(self, rows: Labels) -> Labels:
        """The classes of rows by their numbers: int64, shape (m,)."""
        self.asked = perf_counter()
        last = len(self.by_number) - 1
        labels = self.by_number[np.minimum(rows, last)].astype(np.int64)
        return np.where(rows > last, UNKNOWN, labels)

    def let_go(self) -> Rows:
        """The rows, which are asked for once."""
        source, self.source = self.source, None
        if source is None:
            raise KanonError(GONE)
        return source


_lock = threading.Lock()
_held: dict[int, LabelledRows] = {}


def by_row(rows: Labels, labels: Any) -> npt.NDArray[Any]:
    """Labels by row number. Of a row that comes more than once the last one stays: the query knows
    of it by the number of all labels.

    Args:
        rows: int64, shape (n,); their numbers, from 1 up.
        labels: integers, shape (n,).
    """
    values = np.asarray(labels)
    largest = int(rows.max(initial=0))
    kind = np.int32 if values.max(initial=0) < 2**31 else np.int64
    by_number = np.full(largest + 1, UNKNOWN, kind)
    by_number[rows] = values
    return by_number


def hold(ticket: int, by_number: npt.NDArray[Any], source: Rows | None = None) -> None:
    """Keeps the labels of a query until long after it last asked for one, and its rows until they
    are measured."""
    now = perf_counter()
    with _lock:
        _held[ticket] = LabelledRows(by_number, now, source)
        taken = sum(held.nbytes for held in _held.values())
        for old, held in sorted(_held.items(), key=lambda entry: entry[1].asked):
            if now <= held.asked + (IDLE if taken > ROOM else FORGOTTEN):
                break
            taken -= held.nbytes
            del _held[old]


def held(ticket: int) -> LabelledRows:
    """The labels of a query.

    Raises:
        KanonError: they were dropped.
    """
    with _lock:
        labelled = _held.get(ticket)
    if labelled is None:
        raise KanonError(GONE)
    return labelled
