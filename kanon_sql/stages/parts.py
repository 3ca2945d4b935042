"""Rows in parts, of which each is a release of its own: taken apart, and put together again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import CellColumns, Labelled, Rows
from kanon_sql.errors import DataError
from kanon_sql.kernel.parallel import shared_out, threads
from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Labels

SUMS = ("blocks", "records", "classes", "refine_steps", "violating")
LEAST = ("least_size",)
MOST = ("refine_stopped",)
"""The facts of parts that say something of the whole, by how: those whose names begin so. Others,
such as what a guarantee is about, each part measures on a scale of its own."""


@dataclass(frozen=True)
class RowParts:
    """The rows of a relation, part by part.

    Attributes:
        rows: those of all parts that are grouped, of one part after the other.
        numbers: int64, shape (parts,), ascending; what each part is called.
        starts: int64, shape (parts + 1,); where its rows begin.
        outside: int64; the numbers of the rows that are left out, since their part is too small.
    """

    rows: Rows
    numbers: Labels
    starts: Labels
    outside: Labels

    def sizes(self) -> list[int]:
        """The rows of each part."""
        return [int(size) for size in np.diff(self.starts)]

    def part(self, i: int) -> Rows:
        """The rows of one part, in the order in which they came."""
        start, stop = int(self.starts[i]), int(self.starts[i + 1])
        return Rows(
            {name: _piece(field, start, stop) for name, field in self.rows.fields.items()},
            stop - start,
        )


def without_number(rows: Rows) -> tuple[Rows, Labels]:
    """Rows without the last of their secrets, the number of their part; and this: int64, shape
    (n,)."""
    secrets: CellColumns = rows.fields["secrets"]
    last = max(secrets.words)
    fields = {name: field for name, field in rows.fields.items() if name != "secrets"}
    if last > 0:
        fields["secrets"] = secrets.only(range(last))
    return Rows(fields, rows.count), secrets.numbers[last].astype(np.int64)


def taken_apart(rows: Rows, numbers: Labels) -> RowParts:
    """The rows by part.

    Args:
        rows: n rows, in any order.
        numbers: int64, shape (n,); the part of each, -1 for one that is left out.
    """
    order = np.argsort(numbers, kind="stable")
    order = order[int(np.sum(numbers < 0)):]
    outside = rows.numbers("row")[numbers < 0]
    known, starts = np.unique(numbers[order], return_index=True)
    fields = {name: _taken(field, order) for name, field in rows.fields.items()}
    return RowParts(
        Rows(fields, len(order)), known, np.append(starts, len(order)), outside
    )


def _columns(cells: CellColumns, change: Any) -> CellColumns:
    return CellColumns(
        {j: change(values) for j, values in cells.numbers.items()},
        {j: change(words) for j, words in cells.words.items()},
    )


def _taken(field: Any, order: Labels) -> Any:
    if isinstance(field, CellColumns):
        return _columns(field, lambda values: _taken(values, order))
    return field[order] if isinstance(field, np.ndarray) else field.take(pa.array(order))


def _piece(field: Any, start: int, stop: int) -> Any:
    if isinstance(field, CellColumns):
        return _columns(field, lambda values: _piece(values, start, stop))
    piece = field[start:stop] if isinstance(field, np.ndarray) else field.slice(start, stop - start)
    if isinstance(piece, pa.DictionaryArray):
        # with the words of the part alone: those of all would be gone through for each
        return piece.dictionary_decode().dictionary_encode()
    return piece


def put_together(parts: Sequence[Labelled], outside: Labels) -> Labelled:
    """The classes of all parts, numbered from 0 over all of them.

    Args:
        parts: what was made of each part.
        outside: the numbers of the rows of no part, which are left out.
    """
    rows, labels, centers, cells, first = [outside], [np.full(len(outside), -1)], [], [], 0
    for part in parts:
        own = np.asarray(part.labels)
        if own.shape != part.rows.shape or own.dtype.kind != "i":
            raise TypeError("a part has labels that don't fit its rows")
        rows.append(part.rows)
        labels.append(np.where(own < 0, own, own + first))
        centers.append(part.centers)
        if part.cells is not None:
            cells.append(part.cells)
        first += max(int(own.max(initial=-1)) + 1, len(part.centers), len(part.cells or ()))
    return Labelled(
        np.concatenate(rows), np.concatenate(labels),
        np.concatenate([np.zeros(0, np.int64), *centers]),
        np.concatenate(cells) if cells else None,
    )


def facts_of_all(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the facts of all parts say of the whole."""
    return dict(_facts_of_all(parts))


def _facts_of_all(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name in dict.fromkeys(name for facts in parts for name in facts):
        values = [facts.get(name) for facts in parts]
        known = [value for value in values if value is not None]
        if name.startswith(SUMS):
            yield name, sum(known)
        elif name.startswith(LEAST):
            yield name, min(known)
        elif name.startswith(MOST):
            yield name, max(known)
        elif name == "grouping_cache":
            yield name, "hit" if set(known) == {"hit"} else "miss"
        elif name == "gamma" and len(set(values)) == 1:
            yield name, known[0]


GroupPart = Callable[[Rows, GroupTask, Watch], tuple[Labelled, dict[str, Any]]]
"""Groups rows as if there were no others; their labels, and the facts of that."""


class InParts:
    """Rows in parts, each of which is still to be encoded and grouped by itself."""

    def __init__(
        self, rows: Rows, numbers: Labels, group: GroupPart, task: GroupTask, each: bool
    ) -> None:
        """
        Args:
            rows: n rows, in any order.
            numbers: int64, shape (n,); the part of each, -1 for one that is left out.
            group: groups those of one part.
            task: by what.
            each: whether the facts of each part are told, too.
        """
        self.parts, self.each = taken_apart(rows, numbers), each
        self.count = self.parts.rows.count
        self._group, self._task = group, task

    def part(self, i: int, watch: Watch) -> tuple[Labelled, dict[str, Any]]:
        """One part as a release of its own: nothing of another one has any say in it."""
        task, rows = self._task, self.parts.part(i)
        if task.refine_seconds is not None:  # a share of them, so that all end in time
            share = min(threads(), len(self.parts.numbers)) * rows.count / self.count
            task = replace(task, refine_seconds=task.refine_seconds * min(share, 1.0))
        try:
            return self._group(rows, task, watch)
        except DataError as refusal:
            raise DataError(
                f"A part of {rows.count} rows can't be released by itself. {refusal}"
            ) from None


def group_parts(prepared: InParts, watch: Watch) -> tuple[Labelled, dict[str, Any]]:
    """Groups the rows of each part by themselves, on all threads; labels of all, and what the
    facts of the parts say together.

    Args:
        prepared: the rows.
        watch: told how many rows are done; may stop it.

    Raises:
        StoppedError: the watch was asked to stop.
        DataError: a part that can't be released by itself.
    """
    parts, started = prepared.parts, perf_counter()
    watch.begin("grouping", prepared.count)
    beat, lock, sizes = watch.beat(), threading.Lock(), parts.sizes()

    def group(i: int) -> tuple[Labelled, dict[str, Any]]:
        own = watch.part()
        try:
            own.check()
            result = prepared.part(i, own)
        finally:
            watch.forget(own)
        with lock:
            beat[DONE] += sizes[i]
        return result

    results = shared_out([partial(group, i) for i in range(len(sizes))], sizes)
    by_part = [facts for _, facts in results]
    facts = {
        **facts_of_all(by_part),
        "seconds_encode": 0.0,
        "seconds_group": perf_counter() - started,
        "seconds_remembered": 0.0,
    }
    if prepared.each:
        facts["parts"] = [
            {"part": number, "facts": own}
            for number, own in zip(parts.numbers.tolist(), by_part, strict=True)
        ]
    return put_together([labelled for labelled, _ in results], parts.outside), facts
