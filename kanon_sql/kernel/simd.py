"""Sixteen lanes at a time: the innermost steps of all searches, written as vector instructions.

The compiler vectorizes such short loops badly, since it can't know that the arrays do not overlap:
the steps below are four times as fast. They are plain IEEE operations in the written order, lane
by lane, so each lane has the bits that a loop over the attributes gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16

_step: Callable[[Callable[..., Any]], Any] = intrinsic
"""Makes a step of a function that writes it; the step is called without its first argument."""

_TOOLS: Any = cgutils
_INDEX = ir.IntType(32)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


# The steps take bare arrays, and so more than eight arguments: this folder lies below the trees and
# spaces that the arrays belong to, and a step knows its arguments by their position only.


class _Writer:
    """Writes the instructions of one step; arguments are known by their position."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.signature, self.args = context, builder, signature, args

    def _array(self, k: int) -> Any:
        return self.context.make_array(self.signature.args[k])(
            self.context, self.builder, self.args[k]
        )

    def whole(self, k: int) -> Any:
        """A whole number."""
        return self.context.cast(self.builder, self.args[k], self.signature.args[k], types.intp)

    def number(self, k: int) -> Any:
        """A float."""
        return self.context.cast(self.builder, self.args[k], self.signature.args[k], types.float64)

    def row(self, k: int, row: Any) -> Any:
        """Where array[row] begins, and the length of its axis 1."""
        array = self._array(k)
        shape = _TOOLS.unpack_tuple(self.builder, array.shape)
        stride = shape[1]
        for more in shape[2:]:
            stride = self.builder.mul(stride, more)
        return self.builder.gep(array.data, [self.builder.mul(row, stride)]), shape[1]

    def start(self, k: int) -> Any:
        """Where a one-dimensional array begins."""
        return self._array(k).data

    def at(self, pointer: Any, index: Any) -> Any:
        """The value at an index."""
        return self.builder.load(self.builder.gep(pointer, [index]))

    def lanes(self, pointer: Any, index: Any = None) -> Any:
        """The 16 values from 16 * index on."""
        if index is not None:
            offset = self.builder.mul(index, index.type(LANES))
            pointer = self.builder.gep(pointer, [offset])
        kind = pointer.type.pointee
        vector = ir.VectorType(kind, LANES).as_pointer()
        # numpy aligns to the element, not to the vector
        align = self.context.get_abi_sizeof(kind)
        return self.builder.load(self.builder.bitcast(pointer, vector), align=align)

    def spread(self, value: Any) -> Any:
        """A value in all lanes."""
        vector = ir.VectorType(value.type, LANES)
        undefined = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(undefined, value, _INDEX(0))
        mask = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, undefined, mask)

    def same(self, value: float) -> Any:
        """A constant in all lanes."""
        return ir.Constant(_DOUBLES, [ir.DoubleType()(value)] * LANES)

    def larger(self, one: Any, other: Any) -> Any:
        """The larger of two, lane by lane."""
        # a comparison and a choice, one instruction where there is a maximum
        return self.builder.select(self.builder.fcmp_ordered(">", one, other), one, other)

    def add_up(self, count: Any, total: Any, term: Callable[[Any], Any]) -> Any:
        """total + term(0) + term(1) + ... + term(count - 1), in that order."""
        # a loop, not written out: the count is known only when it runs
        kept = _TOOLS.alloca_once_value(self.builder, total)
        with _TOOLS.for_range(self.builder, count) as loop:
            more = term(loop.index)
            self.builder.store(self.builder.fadd(self.builder.load(kept), more), kept)
        return self.builder.load(kept)

    def finish(self, k: int, totals: Any, limit: Any) -> Any:
        """Writes the totals to a one-dimensional array; returns the lanes within the limit."""
        builder, out = self.builder, self.start(k)
        builder.store(totals, builder.bitcast(out, _DOUBLES.as_pointer()), align=8)
        # no greater is a hit, so that ties are looked at; inf is one where the limit is inf
        hits = builder.fcmp_ordered("<=", totals, self.spread(limit))
        return builder.zext(builder.bitcast(hits, ir.IntType(LANES)), ir.IntType(64))

    def squares(self, values: Any, count: Any, total: Any, query: Any) -> Any:
        """total + the squared gaps between a query's values and those of the lanes."""

        def term(a: Any) -> Any:
            gap = self.builder.fsub(self.spread(self.at(query, a)), self.lanes(values, a))
            return self.builder.fmul(gap, gap)

        return self.add_up(count, total, term)

    def outside_box(self, lows: Any, highs: Any, query: Any) -> Callable[[Any], Any]:
        """The squared gap between a query and 16 boxes along an axis."""

        def gap(a: Any) -> Any:
            value = self.spread(self.at(query, a))
            below = self.builder.fsub(self.lanes(lows, a), value)
            above = self.builder.fsub(value, self.lanes(highs, a))
            # inside a box neither is positive; of an empty one both are inf
            out = self.larger(self.larger(below, above), self.same(0.0))
            return self.builder.fmul(out, out)

        return gap

    def outside(self, sets: Any, count: Any, total: Any, bits: Any, more: Any) -> Any:
        """total + what is added for each set that does not hold the query's category."""
        zero = ir.Constant(ir.VectorType(ir.IntType(64), LANES), [0] * LANES)

        def term(a: Any) -> Any:
            held = self.builder.and_(self.lanes(sets, a), self.spread(self.at(bits, a)))
            empty = self.builder.icmp_unsigned("==", held, zero)
            return self.builder.select(empty, self.spread(self.at(more, a)), self.same(0.0))

        return self.add_up(count, total, term)


@_step
def lowest_lane(typing: Any, hits: Any) -> Any:
    """The number of the lowest lane among hits; hits is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # 1: the result for 0 is not defined, which saves a test
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@_step
def record_lanes(
    typing: Any, values: Any, kinds: Any, absent: Any, leaf: Any,
    numeric: Any, codes: Any, i: Any, apart: Any, limit: Any, sums: Any,
) -> Any:
    """Squared distances of record i to the 16 records of a leaf, written to sums; absent ones are
    inf. Returns the lanes within the limit as bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        leaf, i = w.whole(3), w.whole(6)
        block, d = w.row(0, leaf)
        kind, c = w.row(1, leaf)
        query, code, more = w.row(4, i)[0], w.row(5, i)[0], w.start(7)

        def differs(a: Any) -> Any:
            other = builder.icmp_signed("!=", w.lanes(kind, a), w.spread(w.at(code, a)))
            return builder.select(other, w.spread(w.at(more, a)), w.same(0.0))

        # sums start at 0.0, or at inf for an absent record, where they stay
        total = w.squares(block, d, w.lanes(w.row(2, leaf)[0]), query)
        return w.finish(9, w.add_up(c, total, differs), w.number(8))

    args = (values, kinds, absent, leaf, numeric, codes, i, apart, limit, sums)
    return types.int64(*args), generate


@_step
def group_lanes(
    typing: Any, values: Any, kinds: Any, inside: Any, outside: Any, factors: Any, absent: Any,
    leaf: Any, numeric: Any, i: Any, bits: Any, limit: Any, sums: Any,
) -> Any:
    """Factor times squared distances of record i, whose categories are the bits, to the 16
    centroids of a leaf, written to sums: lower bounds where there are categories, of which one that
    occurs adds ``inside`` or more, and any other ``outside``. Returns the lanes within the limit as
    bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        leaf, i, bits = w.whole(6), w.whole(8), w.start(9)
        block, d = w.row(0, leaf)
        kind, c = w.row(1, leaf)
        near, far = w.row(2, leaf)[0], w.row(3, leaf)[0]
        zero = ir.Constant(ir.VectorType(ir.IntType(64), LANES), [0] * LANES)

        def term(a: Any) -> Any:
            held = builder.and_(w.lanes(kind, a), w.spread(w.at(bits, a)))
            empty = builder.icmp_unsigned("==", held, zero)
            return builder.select(empty, w.lanes(far, a), w.lanes(near, a))

        total = w.squares(block, d, w.lanes(w.row(5, leaf)[0]), w.row(7, i)[0])
        total = w.add_up(c, total, term)
        # last, as where a single group is measured: the same bits
        total = builder.fmul(w.lanes(w.row(4, leaf)[0]), total)
        return w.finish(11, total, w.number(10))

    args = (
        values, kinds, inside, outside, factors, absent, leaf, numeric, i, bits, limit, sums
    )
    return types.int64(*args), generate


@_step
def share_lanes(
    typing: Any, low: Any, high: Any, inside: Any, outside: Any, start: Any, node: Any,
    axes: Any, i: Any, places: Any, factor: Any, limit: Any, bounds: Any,
) -> Any:
    """The same as ``box_lanes`` for boxes around groups, in which each of the record's
    categories adds the lesser of ``inside`` at its place and ``outside``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        node, place = w.whole(5), w.start(8)
        lows, p = w.row(0, node)
        highs, query = w.row(1, node)[0], w.row(6, w.whole(7))[0]
        held, (rest, c) = w.row(2, node)[0], w.row(3, node)

        def share(a: Any) -> Any:
            one, other = w.lanes(held, w.at(place, a)), w.lanes(rest, a)
            return builder.select(builder.fcmp_ordered("<", one, other), one, other)

        total = w.add_up(p, w.lanes(w.row(4, node)[0]), w.outside_box(lows, highs, query))
        total = w.add_up(c, total, share)
        return w.finish(11, builder.fmul(w.spread(w.number(9)), total), w.number(10))

    args = (low, high, inside, outside, start, node, axes, i, places, factor, limit, bounds)
    return types.int64(*args), generate


@_step
def box_lanes(
    typing: Any, low: Any, high: Any, held: Any, start: Any, node: Any,
    axes: Any, sets: Any, i: Any, more: Any, factor: Any, limit: Any, bounds: Any,
) -> Any:
    """Factor times lower bounds of the squared distance of record i to anything in the boxes of
    the 16 children of a node, written to bounds. Returns the lanes within the limit as bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        node, i = w.whole(4), w.whole(7)
        lows, p = w.row(0, node)
        highs, (kind, c), query = w.row(1, node)[0], w.row(2, node), w.row(5, i)[0]
        total = w.add_up(p, w.lanes(w.row(3, node)[0]), w.outside_box(lows, highs, query))
        total = w.outside(kind, c, total, w.row(6, i)[0], w.start(8))
        return w.finish(11, builder.fmul(w.spread(w.number(9)), total), w.number(10))

    args = (low, high, held, start, node, axes, sets, i, more, factor, limit, bounds)
    return types.int64(*args), generate


def _joined(
    w: _Writer, boxes: tuple[Any, Any, Any, Any], held: Callable[[Any], Any], total: Any, first: int
) -> Any:
    """The weight of argument first + 4 times: total + what a class loses with something in each of
    16 boxes, at least.

    Args:
        boxes: where their lower and upper ends begin, of numbers and of codes.
        held: the bits of the codes in the boxes of a column.
        first: the place of the first of five arguments that tell of the class.
    """
    builder = w.builder
    low, high, code_low, code_high = boxes

    def at(k: int, row: int) -> Any:
        return w.row(first + k, ir.IntType(64)(row))

    (least, d), most, cap = at(0, 0), at(0, 1)[0], at(0, 2)[0]
    (first_code, c), last_code = at(1, 0), at(1, 1)[0]
    mask, known, new = w.start(first + 2), at(3, 0)[0], at(3, 1)[0]
    zero = ir.Constant(ir.VectorType(ir.IntType(64), LANES), [0] * LANES)

    def smaller(one: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", one, other), one, other)

    def span(a: Any) -> Any:
        above = w.larger(w.lanes(low, a), w.spread(w.at(most, a)))
        below = smaller(w.lanes(high, a), w.spread(w.at(least, a)))
        return smaller(builder.fsub(above, below), w.spread(w.at(cap, a)))

    def term(a: Any) -> Any:
        begins = builder.icmp_signed("<=", w.lanes(code_low, a), w.spread(w.at(last_code, a)))
        ends = builder.icmp_signed(">=", w.lanes(code_high, a), w.spread(w.at(first_code, a)))
        shared = builder.icmp_unsigned("!=", builder.and_(held(a), w.spread(w.at(mask, a))), zero)
        present = builder.and_(builder.and_(begins, ends), shared)
        return builder.select(present, w.spread(w.at(known, a)), w.spread(w.at(new, a)))

    total = w.add_up(c, w.add_up(d, total, span), term)
    return builder.fmul(total, w.spread(w.number(first + 4)))


@_step
def joined_box_lanes(
    typing: Any, low: Any, high: Any, code_low: Any, code_high: Any, sets: Any, start: Any,
    node: Any, ranges: Any, codes: Any, mask: Any, costs: Any, more: Any, limit: Any, bounds: Any,
) -> Any:
    """``more`` times what a class loses with something in the boxes of the 16 children of a node,
    at least, written to bounds; with lower and upper ends exchanged, at most. Returns the lanes
    within the limit as bits.

    ``ranges`` has the least, the most and the cap of each number, ``codes`` the first and the last
    code of the class, ``mask`` the bits of all of them, ``costs`` what one of them adds and what
    any other.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        node = w.whole(6)
        boxes = (w.row(0, node)[0], w.row(1, node)[0], w.row(2, node)[0], w.row(3, node)[0])
        sets, sign = w.row(4, node)[0], w.spread(w.number(11))
        # an empty box is infinitely far on either side
        total = builder.fmul(w.lanes(w.row(5, node)[0]), sign)
        total = _joined(w, boxes, lambda a: w.lanes(sets, a), total, 7)
        return w.finish(13, total, w.number(12))

    args = (
        low, high, code_low, code_high, sets, start, node, ranges, codes, mask, costs, more, limit,
        bounds,
    )
    return types.int64(*args), generate


@_step
def joined_lanes(
    typing: Any, values: Any, kinds: Any, absent: Any, leaf: Any, ranges: Any, codes: Any,
    mask: Any, costs: Any, more: Any, limit: Any, sums: Any,
) -> Any:
    """The same for the 16 records of a leaf: exact where the codes of the class are all between
    its first and its last, or have a bit each."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = _Writer(context, builder, signature, args)
        leaf = w.whole(3)
        block, kind = w.row(0, leaf)[0], w.row(1, leaf)[0]
        wide = ir.VectorType(ir.IntType(64), LANES)
        one, places = (ir.Constant(wide, [value] * LANES) for value in (1, 63))

        def held(a: Any) -> Any:
            code = builder.zext(w.lanes(kind, a), wide)
            return builder.shl(one, builder.and_(code, places))

        total = builder.fmul(w.lanes(w.row(2, leaf)[0]), w.spread(w.number(8)))
        total = _joined(w, (block, block, kind, kind), held, total, 4)
        return w.finish(10, total, w.number(9))

    args = (values, kinds, absent, leaf, ranges, codes, mask, costs, more, limit, sums)
    return types.int64(*args), generate
