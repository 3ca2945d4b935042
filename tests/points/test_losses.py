"""What a class loses is written out in several kernels, for speed: all of them against the
definitions in points/losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kanon_sql.kernel.simd import joined_lanes
from kanon_sql.methods.k_member import greedy
from kanon_sql.methods.k_member.loss_class import columns_of, join_class, loss_with, new_class
from kanon_sql.methods.k_member.loss_tree import fill_tree
from kanon_sql.methods.local_search import moves, row_suppression
from kanon_sql.methods.local_search.moves_by_information_loss import pack_records
from kanon_sql.methods.local_search.moves_by_squared_error import squared_records
from kanon_sql.methods.recoding import mondrian
from kanon_sql.methods.recoding.ranks import attribute_orders, table_of
from kanon_sql.points.losses import class_losses, sse, total_il
from kanon_sql.points.points import Labels, LossPoints, Points
from kanon_sql.search.box_tree import LEAF
from tests.support.thoroughness import often

Draw = Callable[[st.SearchStrategy[Any]], Any]
Task = tuple[LossPoints, Labels]


@st.composite
def tasks(draw: Draw) -> Task:
    """Records and classes of one record or more: numbers with caps, some missing; codes that fit a
    word or not, limits of every kind, columns that cost nothing."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, c = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    most = draw(st.sampled_from([1, 2, 3, 9, 64, 65, 200]))
    numeric = rng.choice([0.0, 0.25, 0.5, 1.0, 3.0], (n, d)) + rng.choice([0.0, 1e-3], (n, d))
    points = LossPoints.of(
        numeric, rng.integers(0, most, (n, c)), rng.choice([0.0, 0.25, 1 / 3, 1.0], c),
        rng.choice([0.3, 0.5, 1.0], d), rng.choice([1, 1, 2, max(1, most - 1)], c),
    )
    groups = draw(st.integers(1, n))
    labels = rng.permutation(np.append(np.arange(groups), rng.integers(0, groups, n - groups)))
    return points, labels.astype(np.int64)


def losses_of(points: LossPoints, labels: Labels) -> Any:
    """|e| D(e) of each class."""
    return np.bincount(labels) * class_losses(points, labels)


def errors_of(points: Points, labels: Labels) -> Any:
    """The squared error of each class."""
    return np.array([
        sse(points.part(labels == g), np.zeros(int(np.sum(labels == g)), np.int64))
        for g in range(int(labels.max()) + 1)
    ])


def plain(points: LossPoints) -> Points:
    """The same records, for squared errors."""
    return Points(points.numeric, points.codes, points.scale)


@often(100)
@given(tasks())
def test_the_definitions_agree_with_each_other(task: Task) -> None:
    points, labels = task
    assert total_il(points, labels) == pytest.approx(losses_of(points, labels).sum())
    assert sse(points, labels) == pytest.approx(errors_of(points, labels).sum(), abs=1e-12)


# --- local search -------------------------------------------------------------------------------


@njit(nogil=True)
def _costs(data: Any, labels: Any, groups: int) -> Any:
    """What moves.cost says, of all groups; after records have come and gone."""
    held = moves.hold_groups(data, groups + 1, len(labels))
    for i in range(len(labels)):
        moves.join(data, i, labels[i], held)
    for i in range(0, len(labels), 3):
        moves.leave(data, i, held)
        moves.join(data, i, groups, held)
    for i in range(0, len(labels), 3):
        moves.leave(data, i, held)
        moves.join(data, i, labels[i], held)
    out = np.empty(groups)
    for g in range(groups):
        out[g] = moves.cost(data, g, held)
    return out


@njit(nogil=True)
def _growths(data: Any, labels: Any, i: int, groups: int) -> Any:
    """What moves.growth says of record i, in none of the groups, for each."""
    held = moves.hold_groups(data, groups, len(labels))
    for j in range(len(labels)):
        if j != i:
            moves.join(data, j, labels[j], held)
    out = np.empty(groups)
    for g in range(groups):
        out[g] = moves.growth(data, i, g, held)
    return out


@pytest.mark.slow
@often(150)
@given(tasks())
def test_the_costs_of_the_search_are_losses(task: Task) -> None:
    points, labels = task
    groups = int(labels.max()) + 1
    packed, squared = pack_records(points), squared_records(points)
    assert _costs(packed, labels, groups) == pytest.approx(losses_of(points, labels))
    assert _costs(squared, labels, groups) == pytest.approx(
        errors_of(plain(points), labels), abs=1e-9
    )


@pytest.mark.slow
@often(100)
@given(tasks(), st.data())
def test_the_growths_of_the_search_are_differences_of_losses(task: Task, data: Any) -> None:
    points, labels = task
    i, groups = data.draw(st.integers(0, len(points) - 1)), int(labels.max()) + 1
    if np.sum(labels == labels[i]) == 1:
        return
    others = np.arange(len(points)) != i
    for records, measure in (
        (pack_records(points), losses_of), (squared_records(points), errors_of),
    ):
        before = measure(points.part(others), labels[others])
        found = _growths(records, labels, i, groups)
        for g in range(groups):
            joined = np.where(others, labels, g)
            assert found[g] == pytest.approx(measure(points, joined)[g] - before[g], abs=1e-9)


@njit(nogil=True)
def _suppression_cost(records: Any, members: Any) -> Any:
    return row_suppression.cost(records, members, len(members))


@often(100)
@given(tasks())
def test_the_costs_of_row_suppression_are_losses(task: Task) -> None:
    points, labels = task
    by_errors = plain(points)
    for records, expected in (
        (row_suppression.records_of(points), losses_of(points, labels)),
        (row_suppression.records_of(by_errors), errors_of(by_errors, labels)),
    ):
        for g in range(len(expected)):
            found = _suppression_cost(records, np.flatnonzero(labels == g))
            assert found == pytest.approx(expected[g], abs=1e-12)


# --- k_member -----------------------------------------------------------------------------------


@njit
def _measured(columns: Any, tree: Any, group: Any, members: Any, sums: Any) -> Any:
    """What the class of the members loses with each record: by leaf, and one by one; and whether
    the leaves' are lower bounds."""
    for p in range(len(members)):
        join_class(columns, group, members[p], p == 0)
    leaves, ranges = len(tree.absent), group.ranges
    by_leaf, by_record = np.empty(leaves * LEAF), np.empty(len(columns.numeric))
    for leaf in range(leaves):
        joined_lanes(
            tree.values, tree.kinds, tree.absent, leaf, ranges, group.ends, group.mask,
            group.costs, 1.0, np.inf, sums,
        )
        by_leaf[leaf * LEAF : (leaf + 1) * LEAF] = sums
    for i in range(len(by_record)):
        by_record[i] = loss_with(columns, group, i)
    return by_leaf, by_record, group.blurred[0] > 0


@pytest.mark.slow
@often(100)
@given(tasks(), st.booleans())
def test_what_is_measured_in_leaves_is_a_loss(task: Task, many: bool) -> None:
    points, labels = task
    n = len(points)
    if many:  # several leaves, and codes that share bits and lie between others
        points = points.part(np.arange(150) % n)
        points = replace(points, codes=points.codes * 32)
    columns = columns_of(points)
    tree = fill_tree(points.numeric, points.codes, np.arange(len(points)))
    for g in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == g)
        group = new_class(points, columns, len(members))
        by_leaf, by_record, blurred = _measured(columns, tree, group, members, np.zeros(LEAF))
        assert np.isinf(by_leaf).sum() == len(by_leaf) - len(points)
        for i in range(n):
            joined = points.part(np.append(members, i))
            expected = class_losses(joined, np.zeros(len(joined), np.int64))[0]
            # to the bit, since ties decide which record comes next
            assert by_record[i] == expected
            found = by_leaf[tree.place[i]]
            assert found <= expected if blurred else found == expected


@often(100)
@given(tasks(), st.data())
def test_the_losses_with_a_leftover_are_losses(task: Task, data: Any) -> None:
    points, labels = task
    i, groups = data.draw(st.integers(0, len(points) - 1)), int(labels.max()) + 1
    if np.sum(labels == labels[i]) == 1:
        return
    own, left = int(labels[i]), labels.copy()
    left[i] = -1
    classes = greedy._Classes(points, left)
    kept = left >= 0
    assert (classes.losses() == class_losses(points.part(kept), left[kept])).all()
    for g in range(groups):
        joined = np.where(kept, labels, g)
        assert classes.losses(i)[g] == class_losses(points, joined)[g]
    classes.join(i, own)
    assert (classes.losses() == class_losses(points, labels)).all()


# --- mondrian -----------------------------------------------------------------------------------


@st.composite
def recoded(draw: Draw) -> LossPoints:
    """Numbers with caps, some missing, and hierarchies of two levels or more below the root."""
    n, d, trees = draw(st.integers(1, 30)), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    numeric = rng.choice([-0.5, 0.0, 0.25, 0.5, 1.0, 3.0], (n, d))
    columns: list[Any] = [np.zeros((n, 0), np.int64)]
    first: list[int] = []
    for _ in range(trees):
        leaf, levels = rng.integers(0, 12, n), int(rng.integers(2, 4))
        first += [len(first)] * levels
        columns += [np.column_stack([leaf // (1, 2, 6)[level] for level in range(levels)])]
    codes = np.concatenate(columns, axis=1)
    scale = rng.choice([0.0, 0.25, 1.0], codes.shape[1])
    return LossPoints.of(numeric, codes, scale, rng.choice([0.3, 0.5, 1.0], d), None, first)


@njit(nogil=True)
def _widths(table: Any, cells: Any, start: int, stop: int, rows: int, attributes: int) -> Any:
    room = mondrian._room(attributes, 0)
    part = mondrian.MondrianPart(np.uint64(start), np.uint64(stop), np.uint64(0))
    sides = mondrian.Sides(np.uint64(0), np.uint64(0), np.uint64(rows), attributes)
    mondrian.measure_part(table, cells, part, sides, room)
    return room.widths


@often(100)
@given(recoded(), st.data())
def test_the_widths_of_a_part_add_up_to_its_loss(points: LossPoints, data: Any) -> None:
    """All but flat taxonomies, which mondrian measures by their ranks."""
    n = len(points)
    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start + 1, n))
    orders = attribute_orders(points)
    cells = np.concatenate([np.zeros(0, np.int32), *(order.ranks for order in orders)])
    found = _widths(table_of(orders), cells, start, stop, n, len(orders))
    part = points.part(np.arange(start, stop))
    expected = class_losses(part, np.zeros(stop - start, np.int64))[0]
    assert np.sum(found) == pytest.approx(expected)
