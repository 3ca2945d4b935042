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

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanon_sql.kernel.jit import inlined, inner
from kanon_sql.points.points import Codes, Floats, Labels, LossPoints

WORD, HALF = 64, 32

IN, SHIFT, OWN = 0, 1, 2
"""Places in a row of ``fields``: the word that a packed column is in, by how much it is shifted
against itself, how many bits a single code then sets."""

PRICE, LIMIT = 0, 1
"""Places in a row of ``price``: the loss for each distinct code after the first, and how many of
these are charged."""

Words = npt.NDArray[np.uint64]

_PAIRS, _FOURS, _EIGHTS, _ONES = (
    np.uint64(word)
    for word in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


class PackedRecords(NamedTuple):
    """n records as the kernels take them, with p packed columns of codes and v that are not.

    Attributes:
        numeric: float64, shape (n, d).
        cap: float64, shape (d,); as in LossPoints.
        words: uint64, shape (n, w); the packed columns.
        fields: int64, shape (p, 3); what each packed column is, by IN, SHIFT and OWN. One array,
            as an array for each would make the search 5 % slower.
        masks: uint64, shape (p,); the bits of each packed column.
        price: float64, shape (p, 2); what it costs, by PRICE and LIMIT.
        wide: int32, shape (n, v); the other columns.
        wide_price: float64, shape (v, 2); likewise.
    """

    numeric: Floats
    cap: Floats
    words: Words
    fields: Labels
    masks: Words
    price: Floats
    wide: Codes
    wide_price: Floats


class LossGroups(NamedTuple):
    """Groups under change. Fields up to ``members`` are those of SquaredGroups too.

    The fields from ``low`` to ``loss`` have n + groups rows: row i is for the rest of record i's
    group without it, row n + g for group g.

    Attributes:
        labels: int64, shape (n,); the group of each record, -1 for one that is in none.
        place: int64, shape (n,); the place of each record among the members of its group.
        sizes: int64, shape (groups,).
        members: int32, shape (groups, capacity); the first ``sizes`` of a row count.
        low, high: float64, shape (n + groups, d); least and largest values.
        union: uint64, shape (n + groups, w); united words.
        distinct: int64, shape (n + groups, v); how many distinct codes in each wide column.
        loss: float64, shape (n + groups,); D.
        stale: bool, shape (groups,); whether a group's rows and those of its members are to be
            computed anew.
    """

    labels: Labels
    place: Labels
    sizes: Labels
    members: Codes
    low: Floats
    high: Floats
    union: Words
    distinct: Labels
    loss: Floats
    stale: npt.NDArray[np.bool_]


def pack_records(points: LossPoints) -> PackedRecords:
    """The records as the kernels take them."""
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
        # the first word with room: few words are few unions for the kernels to keep
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
    return PackedRecords(
        points.numeric,
        points.cap,
        np.column_stack(words) if words else np.zeros((n, 0), np.uint64),
        np.array(fields, np.int64).reshape(-1, 3),
        np.array(masks, np.uint64),
        np.array(price, np.float64).reshape(-1, 2),
        np.column_stack(wide) if wide else np.zeros((n, 0), np.int32),
        np.array(wide_price, np.float64).reshape(-1, 2),
    )


@inner
def hold_groups(data: PackedRecords, room: int, capacity: int) -> LossGroups:
    """Room for that many groups of that many records, all empty."""
    n, d = data.numeric.shape
    return LossGroups(
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, capacity), np.int32),
        np.full((n + room, d), np.inf),
        np.full((n + room, d), -np.inf),
        np.zeros((n + room, data.words.shape[1]), np.uint64),
        np.zeros((n + room, data.wide.shape[1]), np.int64),
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
def _charge(data: PackedRecords, a: int, word: Any) -> Any:
    """What a class loses in packed column a, by the united word of its records."""
    shift, own = np.uint64(data.fields[a, SHIFT]), data.fields[a, OWN]
    # shifted by 0 the word is left as it is; by HALF, codes meet the complements of others
    more = _bits(word & (word >> shift) & data.masks[a]) - own
    return data.price[a, PRICE] * min(float(more), data.price[a, LIMIT])


@inlined
def _is_new(wide: Any, a: int, i: int, j: int, g: int, groups: LossGroups) -> int:
    """1 if no member of group g but j has record i's code."""
    sizes, members = groups.sizes, groups.members
    new = 1
    for p in range(sizes[g]):
        if members[g, p] != j and wide[members[g, p], a] == wide[i, a]:
            new = 0
    return new


@inlined
def _with(data: PackedRecords, row: int, g: int, j: int, i: int, groups: LossGroups) -> Any:
    """D of what the row stands for (group g without record j) together with record i. Repeats
    points.losses.class_losses, for one class, from what is kept for the row."""
    numeric, cap, words, fields, _, _, wide, wide_price = data
    low, high, union, distinct = groups.low, groups.high, groups.union, groups.distinct
    total = 0.0
    for a in range(numeric.shape[1]):
        value = numeric[i, a]
        total += min(max(high[row, a], value) - min(low[row, a], value), cap[a])
    for a in range(fields.shape[0]):
        total += _charge(data, a, union[row, fields[a, IN]] | words[i, fields[a, IN]])
    for a in range(wide.shape[1]):
        more = distinct[row, a] - 1 + _is_new(wide, a, i, j, g, groups)
        total += wide_price[a, PRICE] * min(float(more), wide_price[a, LIMIT])
    return total


@inner
def _renew(data: PackedRecords, g: int, groups: LossGroups) -> None:
    """Computes what is kept for a group and its members anew. Repeats
    points.losses.class_losses, for one class and for each class of all its members but one."""
    numeric, cap, words, fields, _, _, wide, wide_price = data
    _, _, sizes, members, low, high, union, distinct, loss, stale = groups
    size, whole = sizes[g], numeric.shape[0] + g
    stale[g] = False
    # forward, each member gets what the members before it have; backward, also what those behind
    # it have: all rests in two passes, not one pass for each
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
            first, alone = 1, 1  # no earlier member, no other member has its code
            for q in range(size):
                if q != p and wide[members[g, p], a] == wide[members[g, q], a]:
                    alone = 0
                    if q < p:
                        first = 0
            distinct[whole, a] += first
            distinct[members[g, p], a] = -alone
        for p in range(size):
            distinct[members[g, p], a] += distinct[whole, a]
    for p in range(size + 1):  # the group itself last
        row = whole if p == size else np.int64(members[g, p])
        total = 0.0
        if size > 1 or (p == size and size > 0):  # of no record nothing is lost
            for a in range(numeric.shape[1]):
                total += min(high[row, a] - low[row, a], cap[a])
            for a in range(fields.shape[0]):
                total += _charge(data, a, union[row, fields[a, IN]])
            for a in range(wide.shape[1]):
                more = float(distinct[row, a] - 1)
                total += wide_price[a, PRICE] * min(more, wide_price[a, LIMIT])
        loss[row] = total


@inner
def join(data: PackedRecords, i: int, g: int, groups: LossGroups) -> None:
    """Puts record i, which is in no group, into group g."""
    labels, place, sizes, members = groups.labels, groups.place, groups.sizes, groups.members
    size = sizes[g]
    members[g, size] = i
    labels[i], place[i], sizes[g] = g, size, size + 1
    # computed anew only when it is asked for: several changes may come before that
    groups.stale[g] = True


@inner
def leave(data: PackedRecords, i: int, groups: LossGroups) -> None:
    """Takes record i out of its group."""
    labels, place, sizes, members = groups.labels, groups.place, groups.sizes, groups.members
    g = labels[i]
    # the last member takes the free place, so that no other has to move
    last = members[g, sizes[g] - 1]
    members[g, place[i]] = last
    place[last] = place[i]
    labels[i], sizes[g] = -1, sizes[g] - 1
    groups.stale[g] = True


@inner
def clear(data: PackedRecords, g: int, groups: LossGroups) -> None:
    """Has group g be as if all its records had left, of which each is to join another one next."""
    groups.sizes[g], groups.stale[g] = 0, True


@inner
def swap(data: PackedRecords, i: int, j: int, groups: LossGroups) -> None:
    """Lets two records of different groups change places."""
    labels, place, members = groups.labels, groups.place, groups.members
    a, b = labels[i], labels[j]
    members[a, place[i]], members[b, place[j]] = j, i
    place[i], place[j] = place[j], place[i]
    labels[i], labels[j] = b, a
    groups.stale[a] = groups.stale[b] = True


@inlined
def settle(data: PackedRecords, g: int, groups: LossGroups) -> None:
    """Has what is kept for group g be up to date."""
    if groups.stale[g]:
        _renew(data, g, groups)


def frozen(groups: LossGroups) -> LossGroups:
    """The groups as nothing but a change writes to them: none is computed anew."""
    return groups._replace(stale=np.zeros_like(groups.stale))


@inlined
def cost(data: PackedRecords, g: int, groups: LossGroups) -> Any:
    """|e| D(e) of group g. D repeats points.losses.class_losses; see _renew."""
    if groups.stale[g]:
        _renew(data, g, groups)
    return groups.sizes[g] * groups.loss[data.numeric.shape[0] + g]


@inlined
def growth(data: PackedRecords, i: int, g: int, groups: LossGroups) -> Any:
    """By how much the cost of group g grows when record i of another group joins."""
    row, size = data.numeric.shape[0] + g, groups.sizes[g]
    if groups.stale[g]:
        _renew(data, g, groups)
    return (size + 1) * _with(data, row, g, -1, i, groups) - size * groups.loss[row]


@inlined
def relief(data: PackedRecords, i: int, groups: LossGroups) -> Any:
    """By how much the cost of record i's group falls when i leaves."""
    g = groups.labels[i]
    size = groups.sizes[g]
    if groups.stale[g]:
        _renew(data, g, groups)
    return size * groups.loss[data.numeric.shape[0] + g] - (size - 1) * groups.loss[i]


@inlined
def exchange(data: PackedRecords, i: int, j: int, groups: LossGroups, limit: float) -> Any:
    """By how much the cost grows when two records of different groups change places; some lower
    bound of it if that is not below the limit."""
    labels, sizes, loss = groups.labels, groups.sizes, groups.loss
    n, a, b = data.numeric.shape[0], labels[i], labels[j]
    if groups.stale[a]:
        _renew(data, a, groups)
    if groups.stale[b]:
        _renew(data, b, groups)
    before = sizes[a] * loss[n + a] + sizes[b] * loss[n + b]
    # the rests alone cost no more than the rests with a record, so most proposals end here
    change = sizes[a] * loss[i] + sizes[b] * loss[j] - before
    if change < limit:
        cost_a = sizes[a] * _with(data, i, a, i, j, groups)
        change = cost_a + sizes[b] * loss[j] - before
        if change < limit:
            change = cost_a + sizes[b] * _with(data, j, b, j, i, groups) - before
    return change


@inner
def distance(data: PackedRecords, i: int, j: int) -> Any:
    """D of the two records. Repeats points.losses.class_losses, for a class of two."""
    numeric, cap, words, fields, masks, price, wide, wide_price = data
    total = 0.0
    for a in range(numeric.shape[1]):
        total += min(abs(numeric[i, a] - numeric[j, a]), cap[a])
    for a in range(fields.shape[0]):
        w = fields[a, IN]
        # two codes differ if a bit does: their number need not be counted
        if (words[i, w] ^ words[j, w]) & masks[a] != 0:
            total += price[a, PRICE]
    for a in range(wide.shape[1]):
        if wide[i, a] != wide[j, a]:
            total += wide_price[a, PRICE]
    return total


@inlined
def choose(data: PackedRecords, chance: int, count: int, own: int) -> Any:
    """One of ``count`` neighbours, and of ``own`` behind these, by a number below 4096: the nearer
    ones more often, those at the same site most."""
    rank = (chance * chance * (count + own)) >> 24  # squared: 12 bits and 12
    return rank if own == 0 else (rank + count) % (count + 1)
