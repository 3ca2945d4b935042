"""Classes that break a model are merged with those that the docs name, by a slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search.merger_costs import MergerCosts
from kanon_sql.methods.local_search.merging import AROUND, merge_allowed, merge_rest
from kanon_sql.methods.single_attribute.neighbours import TOGETHER
from kanon_sql.points.points import ItemPoints, LossPoints, Points
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import violations
from tests.methods.local_search import reference_merging as reference
from tests.methods.local_search.reference_merging import Classes
from tests.support.held import MODELS, as_sets, with_sensitive
from tests.support.thoroughness import often


def demanded(points: Any, name: str) -> Any:
    return demands_of(points, MODELS[name], np.arange(len(points)))


def sets(found: Classes) -> set[frozenset[int]]:
    return {frozenset(rows) for rows in found.values()}


def records(n: int, seed: int, by_loss: bool) -> Any:
    """Numbers and a category."""
    rng = np.random.default_rng(seed)
    numbers, codes = rng.random((n, 2)), rng.integers(0, 3, (n, 1)).astype(np.int32)
    plain: Any = LossPoints if by_loss else Points
    return with_sensitive(plain.of(numbers, codes, [0.3]), seed)


def anybody(now: Classes, group: int) -> list[tuple[int, ...]]:
    return [(other,) for other in now if other != group]


@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", MODELS)
@often(12)
@given(groups=st.integers(2, 12), seed=st.integers(0, 10**6))
def test_the_partner_pays_least_for_each_row_of_violation(
    name: str, by_loss: bool, groups: int, seed: int
) -> None:
    points = records(5 * groups, seed, by_loss)
    labels = np.random.default_rng(seed).permutation(np.arange(5 * groups) % groups)
    demands = demanded(points, name)
    if violations(demands, np.zeros(len(points), np.int64))[0] > 0.0:
        return
    found = merge_rest(points, labels, demands, None, Watch())
    expected = reference.merged(points, labels, demands, anybody, AROUND)
    assert as_sets(found) == sets(expected)
    # the class that takes another in keeps its number
    assert {g: sorted(np.flatnonzero(found == g)) for g in np.unique(found)} == {
        g: sorted(rows) for g, rows in expected.items()
    }
    assert not (violations(demands, np.unique(found, return_inverse=True)[1]) > 0.0).any()


@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("values", [(3, 60, 40), (2, 1, 3)])
@often(20)
@given(seed=st.integers(0, 10**6))
def test_what_two_classes_lose_as_one_is_counted(
    values: tuple[int, ...], by_loss: bool, seed: int
) -> None:
    """Before mergers and after: of columns of few codes and of nearly as many as there are records;
    and of so few that the counts of classes are kept."""
    rng = np.random.default_rng(seed)
    n, groups = 60, 12
    codes = np.stack([rng.permutation(n) % many for many in values], axis=1)
    make: Any = LossPoints if by_loss else Points
    points = make.of(rng.integers(0, 5, (n, 2)) / 4.0, codes.astype(np.int32), [0.3, 0.5, 1.0])
    labels = np.append(np.arange(groups), rng.integers(0, groups, n - groups) ** 2 // groups)
    classes = {g: np.flatnonzero(labels == g).tolist() for g in range(groups)}
    costs = MergerCosts(points, labels)
    while len(classes) > 1:
        group, *others = rng.permutation(list(classes)).tolist()
        growth = costs.growth(group, np.array(others))
        for other, grown in zip(others, growth.tolist(), strict=True):
            expected = reference.loss(points, classes[group] + classes[other])
            expected -= sum(reference.loss(points, classes[g]) for g in (group, other))
            assert grown == pytest.approx(expected, abs=1e-9)
        costs.merge(group, others[0])
        classes[others[0]] += classes.pop(group)


@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("merged_before", [False, True])
@often(10)
@given(seed=st.integers(0, 10**6))
def test_the_nearest_of_many_classes_are_those_of_least_growth(
    by_loss: bool, merged_before: bool, seed: int
) -> None:
    """More classes than are looked at at once; with ties, and codes of equal bits."""
    rng = np.random.default_rng(seed)
    n, groups = 1_500, 600
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 400, n)], axis=1).astype(np.int32)
    make: Any = LossPoints if by_loss else Points
    points = make.of(rng.integers(0, 9, (n, 2)) / 4.0, codes, [0.3, 1.0])
    labels = np.append(np.arange(groups), rng.integers(0, groups, n - groups))
    costs, live = MergerCosts(points, labels), np.arange(groups)
    for turn in range(6):
        group, into = rng.choice(live, 2, replace=False).tolist()
        others = live[live != group]
        if turn > 0 or not merged_before:
            growth = costs.growth(group, others)
            for count in (1, 64, len(others)):
                found = costs.least(group, others, count, labels)
                expected = others[np.argsort(growth, kind="stable")][:count]
                assert found.tolist() == expected.tolist()
        costs.merge(group, into)
        labels[labels == group] = into
        live = others


def test_what_is_kept_of_classes_grows_with_records_and_not_with_codes() -> None:
    n = 40_000
    points = Points.of(np.zeros((n, 1)), np.arange(n, dtype=np.int32)[:, None], [0.5])
    costs = MergerCosts(points, np.arange(n) // 5)
    arrays = (
        each for value in vars(costs).values()
        for each in (value if isinstance(value, tuple) else (value,))
    )
    held = sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))
    assert held < 100 * n  # a count for each class and code would be 32,000 bytes a record


def test_near_classes_come_first_even_if_others_cost_less() -> None:
    # classes a a, b b far away, and b b at the same place, which is not among those near
    points = Points.of(np.array([[0.0], [0.0], [9.0], [9.0], [0.0], [0.0]]))
    points = with_sensitive(points, 0, missing=False)
    points.sensitive[:, 0] = (0, 0, 1, 1, 1, 1)
    points.sensitive[:, 1] = 0
    demands = demands_of(points, MODELS["alpha"], np.arange(6))
    labels = np.array([0, 0, 1, 1, 2, 2])
    found = merge_rest(points, labels, demands, lambda *_: np.array([1]), Watch())
    assert found[0] == 1
    assert merge_rest(points, labels, demands, None, Watch())[0] == 2


def test_what_all_together_break_is_refused_and_a_stop_is_heard() -> None:
    points = records(12, 1, False)
    points.sensitive[:, 0] = 0
    labels = np.arange(12) // 4
    with pytest.raises(DataError, match="All rows together break a privacy model"):
        merge_rest(points, labels, demanded(points, "distinct"), None, Watch())
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        merge_rest(points, labels, demanded(points, "distinct"), None, watch)


# --- classes of which only some may become one -------------------------------------------------


def linked(points: ItemPoints, links: set[tuple[int, int]]) -> Any:
    """Choices by ways through items that no record has."""
    size, item = points.size.tolist(), points.item.tolist()

    def choices(now: Classes, group: int) -> list[tuple[int, ...]]:
        owner = {item[i]: g for g, rows in now.items() for i in rows}
        seen = {x for x, g in owner.items() if g == group}
        todo, found = list(seen), set()
        while todo:
            here = todo.pop()
            for a, b in links:
                if here in (a, b) and (there := a + b - here) not in seen:
                    seen.add(there)
                    if size[there] == 0:
                        todo.append(there)
                    else:
                        found.add(owner[there])
        return [(g,) for g in sorted(found)]

    return choices


@pytest.mark.parametrize("name", MODELS)
@often(20)
@given(many=st.integers(4, 25), seed=st.integers(0, 10**6))
def test_regions_merge_with_their_neighbours(name: str, many: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 5, many)
    size[0] = 4
    links = {(int(rng.integers(0, b)), b) for b in range(1, many)}
    links |= {(a, b) for a, b in rng.integers(0, many, (many // 2, 2)).tolist() if a < b}
    points = with_sensitive(ItemPoints.of(size, None, sorted(links)), seed)
    if len(points) < 8:
        return
    task = task_for("zip_regions", 4, adjacency="t")
    grouping = task.group(points)
    mergers = task.geometry.mergers(points, grouping, task)
    assert mergers is not None and mergers.cells is None
    demands = demanded(points, name)
    if violations(demands, np.zeros(len(points), np.int64))[0] > 0.0:
        return
    found = merge_allowed(points, grouping.labels, demands, mergers, Watch())
    expected = reference.merged(points, grouping.labels, demands, linked(points, links))
    assert as_sets(found) == sets(expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
@often(12)
@given(many=st.integers(4, 30), seed=st.integers(0, 10**6))
def test_intervals_merge_with_those_before_or_after(name: str, many: int, seed: int) -> None:
    size = np.random.default_rng(seed).integers(1, 4, many)
    points = with_sensitive(ItemPoints.of(size), seed)
    task = task_for("ordered", 3)
    grouping = task.group(points)
    mergers = task.geometry.mergers(points, grouping, task)
    assert mergers is not None
    demands = demanded(points, name)
    if violations(demands, np.zeros(len(points), np.int64))[0] > 0.0:
        return

    def next_to(now: Classes, group: int) -> list[tuple[int, ...]]:
        order = sorted(now, key=lambda g: min(points.item[now[g]]))
        at = order.index(group)
        return [(g,) for g in sorted(order[max(at - 1, 0) : at] + order[at + 1 : at + 2])]

    found = merge_allowed(points, grouping.labels, demands, mergers, Watch())
    expected = reference.merged(points, grouping.labels, demands, next_to)
    assert as_sets(found) == sets(expected)


@pytest.mark.parametrize("name", MODELS)
@often(12)
@given(many=st.integers(6, 60), side=st.integers(2, 12), seed=st.integers(0, 10**6))
def test_rectangles_merge_to_rectangles(name: str, many: int, side: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sites, size = np.unique(rng.integers(0, side, (many, 2)), axis=0, return_counts=True)
    points = with_sensitive(ItemPoints.of(size, sites), seed)
    task = task_for("gps_rectangles", 3)
    grouping = task.group(points)
    cells = grouping.cells
    mergers = task.geometry.mergers(points, grouping, task)
    assert mergers is not None and cells is not None
    demands = demanded(points, name)
    if violations(demands, np.zeros(len(points), np.int64))[0] > 0.0:
        return
    now: dict[int, Any] = dict(enumerate(cells))

    def around(boxes: Any) -> Any:
        return np.stack([np.min(boxes, axis=0)[:, 0], np.max(boxes, axis=0)[:, 1]], axis=1)

    def choices(classes: Classes, group: int) -> list[tuple[int, ...]]:
        # the box of a class is around the cells of its records, which no other is in
        for g, rows in classes.items():
            now[g] = around(cells[np.unique(grouping.labels[rows])])
        found = set()
        for other in classes:
            both = [now[group], now[other]]
            if other == group or not all(
                a[0] <= b[1] and b[0] <= a[1] for a, b in zip(*both, strict=True)
            ):
                continue
            inside, before = {group, other}, set[int]()
            while inside != before:
                before = set(inside)
                box = around([now[g] for g in inside])
                inside |= {
                    g for g in classes
                    if all(a[0] < b[1] and b[0] < a[1] for a, b in zip(now[g], box, strict=True))
                }
            found.add(tuple(sorted(inside - {group})))
        # no larger ones than TOGETHER, or twice as many, and so on
        most = TOGETHER
        while not any(len(some) < most for some in found):
            most *= 2
        return sorted(some for some in found if len(some) < most)

    found = merge_allowed(points, grouping.labels, demands, mergers, Watch())
    expected = reference.merged(points, grouping.labels, demands, choices)
    assert as_sets(found) == sets(expected)
    # every site is in the box of its class, and the boxes tile what the cells did
    boxes, place = mergers.cells, sites[points.item]
    assert boxes is not None
    used = np.unique(found)
    own = boxes[found]
    assert ((own[:, :, 0] <= place) & (place <= own[:, :, 1])).all()
    area = np.prod(boxes[used, :, 1] - boxes[used, :, 0], axis=1).sum()
    assert area == pytest.approx(np.prod(np.ptp(sites, axis=0)), abs=1e-9)
    for a in used:
        for b in used[used > a]:
            low = np.maximum(boxes[a, :, 0], boxes[b, :, 0])
            assert (low >= np.minimum(boxes[a, :, 1], boxes[b, :, 1])).any()
