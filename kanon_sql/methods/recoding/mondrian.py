"""Mondrian: multidimensional median partitioning (LeFevre, DeWitt and Ramakrishnan 2006).

The records are cut in two along one attribute, at the median, and the parts likewise, until no
part can be cut (LeFevre et al., ICDE 2006, section 4; [19] in byun2006, section 6.1). Strict
partitioning cuts between two values only; relaxed partitioning cuts exactly in the middle and may
part equal values. What an attribute's order is: see ranks.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kanon_sql.kernel.jit import inner, kernel
from kanon_sql.kernel.parallel import in_parallel
from kanon_sql.kernel.watch import DONE, STOP, Watch
from kanon_sql.methods.recoding import MondrianOptions
from kanon_sql.methods.recoding.ranks import RankTable, attribute_orders, layout_of, table_of
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Codes, Floats, Grouping, Labels, LossPoints

PARTS = 16
"""Parts that the records are cut into before each is cut on its own, on all cores."""
ALONE = 20_000
"""Records up to which one core does all."""
_SAMPLE = 1024
_WHOLE = 4096
"""Ranks up to which a median is searched for in all of them."""


class MondrianPart(NamedTuple):
    """Records that lie side by side. In kernels all is uint64, as places in arrays are there: an
    index that may be negative costs a comparison each time.

    Attributes:
        start, stop: places of the first record and behind the last.
        side: in which half of the cells they are, 0 or 1.
    """

    start: Any
    stop: Any
    side: Any


class Sides(NamedTuple):
    """Where the columns of a part begin in the cells, and on the other side.

    Attributes:
        current, other: uint64; the first column of its own side, and of the other.
        rows: uint64; cells of a column: column a begins that many times a later.
        columns: the attributes, and the records themselves.
    """

    current: Any
    other: Any
    rows: Any
    columns: int


class CutBuffers(NamedTuple):
    """What a cut writes to.

    Attributes:
        extent: int64, shape (attributes, 2); least and greatest rank of the part.
        widths: float64, shape (attributes,); 0.0 for an attribute that need not be tried any more.
        drawn: int32; ranks from which a median is taken.
    """

    extent: Labels
    widths: Floats
    drawn: Codes


@inner
def _count(x: Any, start: Any, stop: Any, most: Any) -> Any:
    """How many of x[start:stop] are at most that."""
    count = 0
    for i in range(start, stop):
        count += x[i] <= most
    return count


@inner
def _value_at(x: Any, start: Any, stop: Any, place: int, low: Any, high: Any) -> Any:
    """The value at that place of x[start:stop] if it were sorted; it is within low and high.

    Halves the interval between them: a count is one vector instruction for many records.
    """
    while low < high:
        middle = low + (high - low) // 2
        count = _count(x, start, stop, middle)
        if count > place:
            high = middle
        elif count < place:
            low = middle + 1
        else:
            # as many as wanted are below: the least of all others is the one
            value = np.int32(high)
            for i in range(start, stop):
                more = x[i] if x[i] > middle else value
                value = more if more < value else value
            return np.int64(value)
    return low


@inner
def _median(x: Any, start: Any, stop: Any, low: Any, high: Any, room: Any) -> Any:
    """The value at the middle (n // 2, counted from 0) of x[start:stop], within low and high.

    Where there are many, a sample tells between which values it must lie, nearly always.
    """
    n = np.int64(stop - start)
    place = n // 2
    source, first, last, lowest, highest = x, start, stop, low, high
    while n > _WHOLE and low < high:
        zero, size = np.uint64(0), np.uint64(_SAMPLE)
        for i in range(_SAMPLE):
            room[np.uint64(i)] = source[first + np.uint64(i * n // _SAMPLE)]
        # 50 places are about three standard deviations of the median of a sample of 1024
        middle = place * _SAMPLE // n
        least = _value_at(room, zero, size, max(middle - 50, 0), low, high)
        most = _value_at(room, zero, size, min(middle + 50, _SAMPLE - 1), low, high)
        below, kept = 0, size
        for i in range(first, last):
            value = source[i]
            below += value < least
            # written in any case, kept if it counts: no branch that is guessed wrong
            room[kept] = value
            kept += np.uint64((value >= least) & (value <= most))
        m = np.int64(kept - size)
        if place < below or place >= below + m or m > n // 2:
            break  # the whole is needed, and room may have held what is left of it
        source, first, last, low, high = room, size, kept, least, most
        n, place = m, place - below
        if n <= _WHOLE or low == high:
            return _value_at(source, first, last, place, low, high)
    return _value_at(x, start, stop, np.int64(stop - start) // 2, lowest, highest)


@inner
def measure_part(table: RankTable, cells: Any, part: MondrianPart, sides: Sides,
                 room: CutBuffers) -> None:
    """Least and greatest rank and the width of a part, per attribute. Repeats what
    points.losses.class_losses says of numbers and of hierarchies, for one class, from the two
    ranks alone; of flat taxonomies see ranks.py."""
    numbers, tree = table
    extent, widths, _ = room
    for a in range(len(widths)):
        base = sides.current + np.uint64(a) * sides.rows
        least = most = cells[base + part.start]
        for i in range(base + part.start, base + part.stop):
            rank = cells[i]
            least = rank if rank < least else least
            most = rank if rank > most else most
        extent[a, 0], extent[a, 1] = least, most
        layout = layout_of(tree, a)
        span = numbers[layout.places + most] - numbers[layout.places + least]
        widths[a] = min(numbers[layout.unit] * span, numbers[layout.cap])
        for level in range(layout.levels):
            # what the two ends have in common, all between them have too
            at = layout.nodes + level * layout.values
            if tree[at + least] != tree[at + most]:
                widths[a] += numbers[layout.costs + level]


@inner
def _bounds(tree: Any, a: int, least: int, most: int, value: int) -> Any:
    """The ranks that no strict cut may part from that one: its own, or in a hierarchy those below
    the same child of the lowest node above all of the part."""
    layout = layout_of(tree, a)
    for level in range(layout.levels - 1, -1, -1):
        at = layout.nodes + level * layout.values
        if tree[at + least] != tree[at + most]:
            return tree[at + value], tree[at + layout.levels * layout.values + value]
    return value, value


@inner
def _move(
    cells: Any, sides: Sides, key: Any, most: Any, start: Any, stop: Any, left: Any, right: Any
) -> Any:
    """Moves the records start .. stop - 1 to the other side: those whose key is at most that to the
    left, others to the right, in their order; returns where the next on the left comes."""
    current, other, rows, columns = sides
    next_left = left
    for b in range(columns):
        source, target, next_left = current + np.uint64(b) * rows, other + np.uint64(b) * rows, left
        for i in range(start, stop):
            # the place is computed, not chosen by a branch, which chance would often guess wrong
            smaller = np.uint64(cells[key + i] <= most)
            to = right + (i - start) - (next_left - left)
            cells[target + to + smaller * (next_left - to)] = cells[source + i]
            next_left += smaller
    return next_left


@inner
def _cut(table: RankTable, cells: Any, part: MondrianPart, k: int, strict: bool,
         room: CutBuffers) -> Any:
    """Cuts a part: its records move to the other side, still in canonical order in each half.

    Returns where the second half begins; start where the part can't be cut.
    """
    start, stop, side = part
    n, attributes = np.int64(stop - start), len(room.widths)
    if n < 2 * k:
        return start
    columns = attributes + 1
    rows = np.uint64(len(cells) // (2 * columns))
    half = rows * np.uint64(columns)
    sides = Sides(side * half, (np.uint64(1) - side) * half, rows, columns)
    measure_part(table, cells, part, sides, room)
    # the widest attribute first, the next one only where that one allows no cut
    for _ in range(attributes):
        a = 0
        # by their fields: an array that is given a name is counted as one more user, 4 % here
        for b in range(attributes):
            a = b if room.widths[b] > room.widths[a] else a
        if not room.widths[a] > 0.0:
            return start
        room.widths[a] = 0.0
        key = sides.current + np.uint64(a) * rows
        low, high = room.extent[a, 0], room.extent[a, 1]
        if n > _WHOLE:
            value = _median(cells, key + start, key + stop, low, high, room.drawn)
        else:
            value = _value_at(cells, key + start, key + stop, n // 2, low, high)
        if strict:
            # two boundaries are next to the middle: below the median's value and above it
            first, last = _bounds(table.tree, a, low, high, value)
            most = first - 1
            size = _count(cells, key + start, key + stop, most)
            more = _count(cells, key + start, key + stop, last)
            if size < k or (n - more >= k and abs(2 * more - n) < abs(2 * size - n)):
                size, most = more, last
            if size < k or n - size < k:
                continue
            middle = start + np.uint64(size)
            _move(cells, sides, key, most, start, stop, start, middle)
            return middle
        # all smaller ones go to the left, and the first of those that equal the median
        size = n // 2
        quota = size - _count(cells, key + start, key + stop, value - 1)
        turn = start
        while quota > 0:
            quota -= cells[key + turn] == value
            turn += np.uint64(1)
        middle = start + np.uint64(size)
        left = _move(cells, sides, key, value, start, turn, start, middle)
        right = middle + (turn - start) - (left - start)
        _move(cells, sides, key, value - 1, turn, stop, left, right)
        return middle
    return start


@inner
def _room(attributes: int, n: int) -> CutBuffers:
    """Room for cuts of parts of up to n records."""
    return CutBuffers(
        np.zeros((attributes, 2), np.int64), np.zeros(attributes),
        np.zeros(_SAMPLE + 1 + (n if n > _WHOLE else 0), np.int32),
    )


@kernel
def _cut_once(
    table: RankTable, cells: Any, attributes: int, part: MondrianPart, k: int, strict: bool
) -> Any:
    """Where the second half of the part begins, or its start."""
    room = _room(attributes, part.stop - part.start)
    place = MondrianPart(np.uint64(part.start), np.uint64(part.stop), np.uint64(part.side))
    return np.int64(_cut(table, cells, place, k, strict, room))


@kernel
def _cut_all(
    table: RankTable, cells: Any, attributes: int, part: MondrianPart, k: int, strict: bool,
    opens: Any,
    beat: Any,
) -> int:
    """Cuts a part as long as possible. Marks where classes begin in ``opens``, leaves the records
    on side 0, and returns how many classes there are."""
    room = _room(attributes, part.stop - part.start)
    rows = np.uint64(len(opens))
    records = rows * np.uint64(attributes)
    wait, top, classes = np.empty((64, 3), np.uint64), 1, 0
    wait[0, 0], wait[0, 1], wait[0, 2] = part.start, part.stop, part.side
    while top > 0 and beat[STOP] == 0:
        top -= 1
        start, stop, side = wait[top, 0], wait[top, 1], wait[top, 2]
        middle = stop
        while middle > start:
            middle = _cut(table, cells, MondrianPart(start, stop, side), k, strict, room)
            if middle > start:
                # the larger half waits, so that there are never more than 64
                side = np.uint64(1) - side
                wait[top, 2] = side
                if middle - start > stop - middle:
                    wait[top, 0], wait[top, 1], start, middle = start, middle, middle, stop
                else:
                    wait[top, 0], wait[top, 1], stop = middle, stop, middle
                top += 1
        opens[start] = True
        classes += 1
        beat[DONE] += np.int64(stop - start)
        # of the columns only the records themselves are read once a class is done
        if side == 1:
            for i in range(start, stop):
                cells[records + i] = cells[records + records + rows + i]
    return classes


@kernel
def _label(records: Any, opens: Any, start: int, stop: int, next_class: int, labels: Any) -> None:
    """Writes the class of the records at start .. stop - 1, counted on from ``next_class``."""
    for i in range(start, stop):
        next_class += opens[i]
        labels[records[i]] = next_class - 1


def mondrian(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Parts of k or more records by median cuts, each along the widest attribute that allows one.

    An attribute is as wide as the part loses by it: a range of numbers, at most the cap; what a
    hierarchy charges; of a flat taxonomy, the share of the categories, by frequency, that lie
    between the part's most and least frequent one. Those of width 0 are never cut.

    Strict: of all boundaries between two values with k records on both sides, the one nearest to
    the middle, the lower of two; in a hierarchy only between children of the lowest common
    ancestor. Relaxed: at n // 2, equal values in canonical order; parts of records that are equal
    in all that has a width stay whole, since cutting them would gain nothing.

    Args:
        points: n >= k records in canonical order.
        task: k, and ``partitioning``, 'strict' or 'relaxed'.

    Source: LeFevre, DeWitt and Ramakrishnan 2006, sections 3 and 4, algorithm Anonymize.
    """
    own = task.own
    assert isinstance(own, MondrianOptions)
    k = task.k
    n, strict = len(points), own.partitioning == "strict"
    orders = attribute_orders(points)
    table = table_of(orders)
    both = np.empty((2, len(orders) + 1, n), np.int32)
    for a, order in enumerate(orders):
        both[0, a] = order.ranks
    both[0, -1] = np.arange(n)
    watch.check()
    parts = _first_parts(table, both, k, strict)
    watch.check()
    cells, opens = both.reshape(-1), np.zeros(n, np.bool_)
    counts = in_parallel(
        [
            partial(_cut_all, table, cells, len(orders), part, k, strict, opens, watch.beat())
            for part in parts
        ]
    )
    watch.check()
    labels = np.empty(n, np.int64)
    before = np.cumsum([0, *counts])
    in_parallel(
        [
            partial(_label, both[0, -1], opens, part.start, part.stop, int(count), labels)
            for part, count in zip(parts, before[:-1], strict=True)
        ]
    )
    return Grouping(labels, {})


def _first_parts(table: RankTable, both: Any, k: int, strict: bool) -> list[MondrianPart]:
    """Parts of the two sides ``both``, in order, enough to keep all cores busy."""
    (_, columns, n), cells = both.shape, both.reshape(-1)
    parts, size = [MondrianPart(0, n, 0)], 0
    while n > ALONE and size < len(parts) < PARTS:
        size = len(parts)
        middles = in_parallel(
            [partial(_cut_once, table, cells, columns - 1, part, k, strict) for part in parts]
        )
        parts = [
            half
            for (start, stop, side), middle in zip(parts, middles, strict=True)
            for half in (
                [MondrianPart(start, middle, 1 - side), MondrianPart(middle, stop, 1 - side)]
                if middle > start
                else [MondrianPart(start, stop, side)]
            )
        ]
    return parts
