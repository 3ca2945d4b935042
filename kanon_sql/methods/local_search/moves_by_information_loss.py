"""Groups under change, and what a change does to their information loss (byun2006, definitions 7
and 8).

What moves_by_squared_error.py is for squared errors: what a group costs, |e| D(e), and by how much
the costs change when a record joins, leaves, or changes places with another.

The codes of a record are packed into words of 64 bits, so that those of several records are united
by "or". A column of which each distinct code counts holds one bit per code: as many codes are in a
group as there are bits in the union of its members. A column where all codes are equally far apart
holds the code in the lower half of a word and its complement in the upper: a group's codes differ
if some bit is in both halves of the union. Columns that count more than 64 codes are left as they
are, and their codes are compared.

For each group, and for each record also for the rest of its group without it, the united words,
the ranges and the loss are kept. So a change can be weighed without a look at the other members.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kanon_sql.kernel.jit import inlined, unchecked
from kanon_sql.points.points import LossPoints

WORD, HALF = 64, 32

_PAIRS, _FOURS, _EIGHTS, _ONES = (
    np.uint64(word)
    for word in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


def pack_records(points: LossPoints) -> Any:
    """The records as the kernels take them.

    Returns:
        numeric: float64, shape (n, d). cap: float64, shape (d,).
        words: uint64, shape (n, w); the packed columns of codes.
        fields: int64, shape (p, 3): which word each packed column is in, by how much it is shifted
            against itself, and how many bits of its own a single code sets.
        masks: uint64, shape (p,); the bits of each packed column.
        price: float64, shape (p, 2): the loss for each distinct code after the first, and how many
            of these are charged.
        wide: int32, shape (n, v); the other columns. wide_price: float64, shape (v, 2).
    """
    n = len(points)
    words: list[Any] = []
    filled: list[int] = []  # bits in use of each word
    flats: list[bool] = []  # whether a word holds codes and their complements
    fields, masks, price, wide, wide_price = [], [], [], [], []
    for column, scale, limit in zip(points.codes.T, points.scale, points.limit, strict=True):
        distinct, inverse = np.unique(column, return_inverse=True)
        codes, m = inverse.reshape(-1).astype(np.uint64), len(distinct)
        flat = limit == 1 or m == 2
        if m < 2 or limit < 1:
            continue
        if m > WORD and not flat:
            wide.append(column)
            wide_price.append((scale, limit))
            continue
        bits, room = ((m - 1).bit_length(), HALF) if flat else (m, WORD)
        w = 0
        while w < len(words) and (flats[w] != flat or filled[w] + bits > room):
            w += 1
        if w == len(words):
            words.append(np.zeros(n, np.uint64))
            filled.append(0)
            flats.append(flat)
        mask = np.uint64(((1 << bits) - 1) << filled[w])
        if flat:
            codes <<= np.uint64(filled[w])
            words[w] |= codes | ((~codes & mask) << np.uint64(HALF))
        else:
            words[w] |= np.uint64(1) << (codes + np.uint64(filled[w]))
        filled[w] += bits
        fields.append((w, HALF if flat else 0, 0 if flat else 1))
        masks.append(mask)
        price.append((scale, 1 if flat else limit))
    return (
        points.numeric,
        points.cap,
        np.column_stack(words) if words else np.zeros((n, 0), np.uint64),
        np.array(fields, np.int64).reshape(-1, 3),
        np.array(masks, np.uint64),
        np.array(price, np.float64).reshape(-1, 2),
        np.column_stack(wide) if wide else np.zeros((n, 0), np.int32),
        np.array(wide_price, np.float64).reshape(-1, 2),
    )


@unchecked
def hold_groups(data: Any, room: int, capacity: int) -> Any:
    """Room for that many groups of that many records.

    The group of each record, its place among the members, sizes, members; and for the rest of the
    group of each record and, behind these, for each group: least and largest values, united words,
    numbers of distinct codes, loss; and of which groups these are to be computed anew.
    """
    numeric, _, words, _, _, _, wide, _ = data
    n = numeric.shape[0]
    return (
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, capacity), np.int32),
        np.full((n + room, numeric.shape[1]), np.inf),
        np.full((n + room, numeric.shape[1]), -np.inf),
        np.zeros((n + room, words.shape[1]), np.uint64),
        np.zeros((n + room, wide.shape[1]), np.int64),
        np.zeros(n + room),
        np.zeros(room, np.bool_),
    )


@inlined
def _bits(word: Any) -> Any:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _EIGHTS
    return np.int64((word * _ONES) >> np.uint64(56))


@inlined
def _is_new(wide: Any, a: int, i: int, j: int, g: int, groups: Any) -> int:
    """1 if no member of group g but j has record i's code."""
    sizes, members = groups[2:4]
    new = 1
    for p in range(sizes[g]):
        if members[g, p] != j and wide[members[g, p], a] == wide[i, a]:
            new = 0
    return new


@inlined
def _with(data: Any, row: int, g: int, j: int, i: int, groups: Any) -> Any:
    """D of what the row stands for (group g without record j) together with record i."""
    numeric, cap, words, fields, masks, price, wide, wide_price = data
    _, _, _, _, low, high, union, distinct, _, _ = groups
    total = 0.0
    for a in range(numeric.shape[1]):
        value = numeric[i, a]
        total += min(max(high[row, a], value) - min(low[row, a], value), cap[a])
    for a in range(fields.shape[0]):
        word = union[row, fields[a, 0]] | words[i, fields[a, 0]]
        more = _bits(word & (word >> np.uint64(fields[a, 1])) & masks[a]) - fields[a, 2]
        total += price[a, 0] * min(float(more), price[a, 1])
    for a in range(wide.shape[1]):
        more = distinct[row, a] - 1 + _is_new(wide, a, i, j, g, groups)
        total += wide_price[a, 0] * min(float(more), wide_price[a, 1])
    return total


@unchecked
def _renew(data: Any, g: int, groups: Any) -> None:
    """Computes what is kept for a group and its members anew."""
    numeric, cap, words, fields, masks, price, wide, wide_price = data
    _, _, sizes, members, low, high, union, distinct, loss, stale = groups
    size, whole = sizes[g], numeric.shape[0] + g
    stale[g] = False
    for a in range(numeric.shape[1]):
        low[whole, a], high[whole, a] = np.inf, -np.inf
        for p in range(size):
            i = members[g, p]
            low[i, a], high[i, a] = low[whole, a], high[whole, a]
            low[whole, a] = min(low[whole, a], numeric[i, a])
            high[whole, a] = max(high[whole, a], numeric[i, a])
        least, largest = np.inf, -np.inf
        for p in range(size - 1, -1, -1):
            i = members[g, p]
            low[i, a], high[i, a] = min(low[i, a], least), max(high[i, a], largest)
            least, largest = min(least, numeric[i, a]), max(largest, numeric[i, a])
    for a in range(words.shape[1]):
        union[whole, a] = 0
        for p in range(size):
            i = members[g, p]
            union[i, a] = union[whole, a]
            union[whole, a] |= words[i, a]
        behind = np.uint64(0)
        for p in range(size - 1, -1, -1):
            i = members[g, p]
            union[i, a] |= behind
            behind |= words[i, a]
    for a in range(wide.shape[1]):
        distinct[whole, a] = 0
        for p in range(size):
            first, alone = 1, 1
            for q in range(size):
                if q != p and wide[members[g, p], a] == wide[members[g, q], a]:
                    alone = 0
                    if q < p:
                        first = 0
            distinct[whole, a] += first
            distinct[members[g, p], a] = -alone
        for p in range(size):
            distinct[members[g, p], a] += distinct[whole, a]
    for p in range(size + 1):
        row = whole if p == size else np.int64(members[g, p])
        total = 0.0
        if size > 1 or (p == size and size > 0):
            for a in range(numeric.shape[1]):
                total += min(high[row, a] - low[row, a], cap[a])
            for a in range(fields.shape[0]):
                word = union[row, fields[a, 0]]
                more = _bits(word & (word >> np.uint64(fields[a, 1])) & masks[a]) - fields[a, 2]
                total += price[a, 0] * min(float(more), price[a, 1])
            for a in range(wide.shape[1]):
                total += wide_price[a, 0] * min(float(distinct[row, a] - 1), wide_price[a, 1])
        loss[row] = total


@unchecked
def join(data: Any, i: int, g: int, groups: Any) -> None:
    """Puts record i, which is in no group, into group g."""
    labels, place, sizes, members = groups[:4]
    size = sizes[g]
    members[g, size] = i
    labels[i], place[i], sizes[g] = g, size, size + 1
    groups[9][g] = True


@unchecked
def leave(data: Any, i: int, groups: Any) -> None:
    """Takes record i out of its group."""
    labels, place, sizes, members = groups[:4]
    g = labels[i]
    last = members[g, sizes[g] - 1]
    members[g, place[i]] = last
    place[last] = place[i]
    labels[i], sizes[g] = -1, sizes[g] - 1
    groups[9][g] = True


@unchecked
def swap(data: Any, i: int, j: int, groups: Any) -> None:
    """Lets two records of different groups change places."""
    labels, place, _, members = groups[:4]
    a, b = labels[i], labels[j]
    members[a, place[i]], members[b, place[j]] = j, i
    place[i], place[j] = place[j], place[i]
    labels[i], labels[j] = b, a
    groups[9][a] = groups[9][b] = True


@inlined
def cost(data: Any, g: int, groups: Any) -> Any:
    """|e| D(e) of group g."""
    if groups[9][g]:
        _renew(data, g, groups)
    return groups[2][g] * groups[8][data[0].shape[0] + g]


@inlined
def growth(data: Any, i: int, g: int, groups: Any) -> Any:
    """By how much the cost of group g grows when record i of another group joins."""
    row, size = data[0].shape[0] + g, groups[2][g]
    if groups[9][g]:
        _renew(data, g, groups)
    return (size + 1) * _with(data, row, g, -1, i, groups) - size * groups[8][row]


@inlined
def relief(data: Any, i: int, groups: Any) -> Any:
    """By how much the cost of record i's group falls when i leaves."""
    g = groups[0][i]
    size = groups[2][g]
    if groups[9][g]:
        _renew(data, g, groups)
    return size * groups[8][data[0].shape[0] + g] - (size - 1) * groups[8][i]


@inlined
def exchange(data: Any, i: int, j: int, groups: Any, limit: float) -> Any:
    """By how much the cost grows when two records of different groups change places; some lower
    bound of it if that is not below the limit."""
    labels, sizes, loss = groups[0], groups[2], groups[8]
    n, a, b = data[0].shape[0], labels[i], labels[j]
    if groups[9][a]:
        _renew(data, a, groups)
    if groups[9][b]:
        _renew(data, b, groups)
    before = sizes[a] * loss[n + a] + sizes[b] * loss[n + b]
    change = sizes[a] * loss[i] + sizes[b] * loss[j] - before
    if change < limit:
        there = sizes[a] * _with(data, i, a, i, j, groups)
        change = there + sizes[b] * loss[j] - before
        if change < limit:
            change = there + sizes[b] * _with(data, j, b, j, i, groups) - before
    return change


@unchecked
def distance(data: Any, i: int, j: int) -> Any:
    """D of the two records."""
    numeric, cap, words, fields, masks, price, wide, wide_price = data
    total = 0.0
    for a in range(numeric.shape[1]):
        total += min(abs(numeric[i, a] - numeric[j, a]), cap[a])
    for a in range(fields.shape[0]):
        w = fields[a, 0]
        if (words[i, w] ^ words[j, w]) & masks[a] != 0:
            total += price[a, 0]
    for a in range(wide.shape[1]):
        if wide[i, a] != wide[j, a]:
            total += wide_price[a, 0]
    return total


@inlined
def choose(data: Any, chance: int, count: int, own: int) -> Any:
    """One of ``count`` neighbours, and of ``own`` behind these, by a number below 4096: the nearer
    ones more often, those at the same site most."""
    rank = (chance * chance * (count + own)) >> 24
    return rank if own == 0 else (rank + count) % (count + 1)
