"""The searches by trees against a numpy sweep over all records, where trees are deep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kanon_sql.methods import Points
from kanon_sql.methods.microaggregation import centroids, group_index, mdav
from kanon_sql.methods.microaggregation.group_index import OVERFLOWN, new_groups
from kanon_sql.search import axes as module
from kanon_sql.search import queries, unassigned
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.queries import HEAPED, NOBODY
from kanon_sql.search.unassigned import BUILT, LEFT
from tests.methods.microaggregation import reference, reference_fast
from tests.methods.microaggregation.test_mdav_family import GAMMAS, random_records
from tests.support.kernels import from_python
from tests.support.records import NUMERIC, points_of
from tests.support.tasks import task_of
from tests.support.thoroughness import examples

# --- what only kernels call ---------------------------------------------------------------------

closest_group = from_python(centroids.closest_group)
find_group = from_python(group_index.find_group)
join = from_python(group_index.join)
show = from_python(group_index.show)
distance_moved = from_python(mdav._distance_moved)
furthest_from_centroid = from_python(mdav._furthest_from_centroid)
terms_of_centroid = from_python(mdav._terms_of_centroid)
terms_of_record = from_python(mdav._terms_of_record)
furthest_in_tree = from_python(queries.furthest_in_tree)
nearest_in_order = from_python(queries.nearest_in_order)
nearest_in_tree = from_python(queries.nearest_in_tree)
list_left = from_python(unassigned.list_left)
settle = from_python(unassigned.settle)


@pytest.fixture(params=("plain", "turned", "chosen"))
def axes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Searches along the attributes, along principal axes even where these don't pay, or along
    those that make_space chooses."""
    if request.param != "chosen":
        turned = request.param == "turned"
        monkeypatch.setattr(module, "TURN_FROM", 2 if turned else 10**9)
        monkeypatch.setattr(module, "CHEAPER", np.inf)
        monkeypatch.setattr(module, "ALIKE", 1.0)
    return str(request.param)


def sizes(axes: str) -> tuple[int, ...]:
    """One leaf and a bit, one full node and a bit, several levels; fewer where axes are chosen."""
    return (1_100,) if axes == "chosen" else (17, 257, 4_400)


# --- records ----------------------------------------------------------------------------------


def check_nearest(points: Points, where: Any, pool: Any, labels: Any, origin: int, q: int) -> None:
    """One search gives what a sweep gives: records and distances, to the bit."""
    left = np.flatnonzero(labels < 0)
    for without in (-1, int(left[origin % len(left)])):
        others = left[(left != origin) & (left != without)]
        count = min(q, len(others))
        found, gaps = np.full(q + 1, -7), np.full(q + 1, np.nan)
        tree, leaves, stack = pool.tree, pool.leaves, pool.stack
        expected, expected_gaps = reference_fast.nearest(points, origin, others, count)
        for search in (nearest_in_tree, nearest_in_order):
            search(where, tree, leaves, stack, origin, without, found, gaps, count)
            assert found[: count + 1].tolist() == [origin, *expected.tolist()]
            assert gaps[: count + 1].tolist() == [0.0, *expected_gaps.tolist()]


def terms_of(points: Points) -> tuple[Any, Any]:
    """Room for the terms of each category, and the most that those of a bit add."""
    width = int(points.codes.max(initial=0)) + 1
    c = points.codes.shape[1]
    return np.zeros((c, width)), np.zeros((c, min(64, width)))


def check_furthest(points: Points, where: Any, pool: Any, labels: Any, origin: int) -> None:
    """The records furthest from the centroid of those left, and from one record."""
    left = np.flatnonzero(labels < 0)
    m, (terms, most), (tree, leaves, stack, _) = len(left), terms_of(points), pool
    # the centroid has moved here from that of the first half of those left
    for some in (left[: (m + 1) // 2], left):
        table = np.zeros(terms.shape, np.int64)
        for a, count in enumerate(reference_fast.category_counts(points, some)):
            table[a, : len(count)] = count
        terms_of_centroid(points.scale, table, len(some), terms)
        center = reference_fast.sum_of(points, some) / len(some)
        if len(some) < m or m == 1:
            ranking = mdav._rank_by_distance(where, center, table, len(some), left)
    moved = distance_moved(points.scale, center, table, m, ranking)
    counts = reference_fast.category_counts(points, left)
    gaps = reference_fast.gaps_to_centroid(points, center, counts, m, left)
    found, _ = furthest_from_centroid(where, terms, center, moved, labels, ranking, 0)
    assert found == left[np.argmax(gaps)]
    terms_of_record(where.apart, points.codes, origin, terms, most)
    gaps = reference_fast.gaps_to_record(points, origin, left)
    center = points.numeric[origin].copy()
    found = furthest_in_tree(where, tree, leaves, stack, center, terms, most)
    assert found == left[np.argmax(gaps)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", NUMERIC)
def test_nearest_and_furthest_while_records_leave(kind: str, axes: str) -> None:
    """Both searches equal a sweep, from all records down to a few, in trees built anew."""
    for n in sizes(axes):
        draw, points = np.random.default_rng(n), points_of(kind, n)
        for whole in (False, True):
            where = module.make_space(points, whole=whole)
            assert where.slack > 0.0 or axes != "turned" or points.numeric.shape[1] < 2
            labels, renewed = np.full(n, -1, np.int64), 0
            pool = new_pool(where, np.arange(n))
            leaving = draw.permutation(n)
            batch = max(3, n // 12)
            for start in range(0, n - 2, batch):
                # records that left are searched from, too: members of a group look for outsiders
                for origin in draw.integers(n, size=examples(30)).tolist():
                    if whole:
                        check_furthest(points, where, pool, labels, origin)
                    else:
                        for q in (1, 4, HEAPED - 1, HEAPED, 301):
                            check_nearest(points, where, pool, labels, origin, q)
                gone = leaving[start : min(start + batch, n - 2)]
                labels[gone] = 0
                planted = pool.counts[BUILT]
                pool = settle(where, pool, labels, gone, len(gone))
                assert pool.counts[LEFT] == len(list_left(labels))
                renewed += int(pool.counts[BUILT] < planted)
            assert renewed >= (2 if n > 2_000 else int(n > 1_000))


def test_principal_axes_are_chosen_and_have_slack() -> None:
    """Correlated numbers are searched along principal axes, others along the attributes."""
    part = module.make_space(points_of("correlated", 1_100))
    assert part.slack > 0.0 and part.axes.shape[1] < 8
    whole = module.make_space(points_of("wide_correlated", 4_003), whole=True)
    assert whole.slack > 0.0 and whole.axes.shape[1] == 30
    for kind in ("grid", "one", "few", "alike", "nominal"):
        assert module.make_space(points_of(kind, 1_100)).slack == 0.0


# --- groups -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("grow", (False, True))
@pytest.mark.parametrize("kind", NUMERIC)
def test_closest_group_while_groups_come_and_change(kind: str, grow: bool, axes: str) -> None:
    """The closest of all groups that were shown, some of them changed many times since."""
    for n, k in ((17, 3), (700, 2), (3_000, 5)) if axes != "chosen" else ((1_100, 3),):
        draw, points = np.random.default_rng([n, k]), points_of(kind, n)
        where = module.make_space(points)
        labels, room = np.full(n, -1, np.int64), n // k
        index = new_groups(where, new_pool(where, np.arange(n)).tree.place, room, k, grow)
        made, every = 0, max(1, n // 200)
        while made < room and np.sum(labels < 0) >= k:
            left = np.flatnonzero(labels < 0)
            origin = int(draw.choice(left))
            if made > 0 and draw.random() < 0.4:
                group, members = int(draw.integers(made)), [origin]
            else:
                near, _ = reference_fast.nearest(points, origin, left[left != origin], k - 1)
                group, members = made, [origin, *near.tolist()]
            for i in members:
                join(where, index, i, group, labels)
            show(where, index, group, members[len(members) // 2])
            made = max(made, group + 1)
            if origin % every == 0:
                check_group(where, index, labels, origin, made, k, grow)
        for i in draw.integers(n, size=150).tolist():
            check_group(where, index, labels, i, made, k, grow)


def check_group(
    where: Any, index: Any, labels: Any, i: int, made: int, k: int, grow: bool
) -> None:
    """One search gives the group and the distance that a sweep gives, or none within a limit."""
    expected = closest_group(where, i, made, grow, index.groups)
    assert find_group(where, index, labels, i, k, np.inf) == expected
    gap = expected[1]
    assert find_group(where, index, labels, i, k, 1.5 * gap + 1e-9) == expected
    if gap > 0.0:
        assert find_group(where, index, labels, i, k, 0.9 * gap)[0] == NOBODY


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("normal", "correlated", "grid", "mixed", "zips"))
def test_closest_group_where_leaves_overflow(kind: str) -> None:
    """More groups around one spot than its leaves have places for: the rest go to a list."""
    n, k = 5_600, 20
    draw, points = np.random.default_rng(1), points_of(kind, n)
    where = module.make_space(points)
    place = new_pool(where, np.arange(n)).tree.place
    index = new_groups(where, place, n // k, k, True)
    by_place, labels = np.argsort(place), np.full(n, -1, np.int64)
    others = draw.permutation(by_place[n // k :])
    for group in range(n // k):
        first = by_place[group]
        for i in (first, *others[group * (k - 1) : (group + 1) * (k - 1)]):
            join(where, index, i, group, labels)
        show(where, index, group, first)
        check_group(where, index, labels, int(draw.integers(n)), group + 1, k, True)
    assert index.counts[OVERFLOWN] > 16
    for i in draw.integers(n, size=200).tolist():
        check_group(where, index, labels, i, n // k, k, True)


# --- whole kernels ----------------------------------------------------------------------------

FAST: dict[str, Callable[[Points, int, float], list[int]]] = {
    "mdav": lambda points, k, gamma: reference_fast.mdav(points, k),
    "mdav_plus": lambda points, k, gamma: reference_fast.mdav_plus(points, k),
    "v_mdav": reference_fast.v_mdav,
    "mdav_star": lambda points, k, gamma: reference_fast.mdav_star(points, k),
}
SLOW: dict[str, Callable[[reference.Records, int, float], list[int]]] = {
    "mdav": lambda records, k, gamma: reference.mdav(records, k),
    "mdav_plus": lambda records, k, gamma: reference.mdav_plus(records, k),
    "v_mdav": reference.v_mdav,
    "mdav_star": lambda records, k, gamma: reference.mdav_star(records, k),
}


@pytest.mark.parametrize("name", FAST)
def test_both_references_agree(name: str) -> None:
    """The fast reference gives the labels of the readable one."""
    for seed in range(60):
        draw = np.random.default_rng(seed)
        n, k, c = int(draw.integers(8, 45)), int(draw.integers(1, 6)), seed % 3
        kind = ("floats", "grid", "few")[int(draw.integers(3))]
        d = int(draw.integers(0 if c else 1, 4))
        records = random_records(n, d, c, kind, (n, 12)[seed % 2], seed)
        points = Points.of(
            np.array(records.numeric).reshape(n, -1),
            np.array(records.codes).reshape(n, -1),
            records.scale,
        )
        gamma = GAMMAS[seed % len(GAMMAS)]
        assert FAST[name](points, k, gamma) == SLOW[name](records, k, gamma)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("k", "gamma"), ((2, 1.1), (5, 0.2), (20, 2.0)))
@pytest.mark.parametrize(
    "kind",
    ("normal", "grid", "mixed", "correlated", "wide_correlated", "mixed_correlated", "nominal",
     "six_texts", "zips", "same_bit", "few", "tied"),
)
@pytest.mark.parametrize("name", FAST)
def test_kernel_gives_the_labels_of_the_fast_reference(
    name: str, kind: str, k: int, gamma: float
) -> None:
    """Every label agrees over thousands of records, ties included."""
    points = points_of(kind, 3_003)
    labels = task_of(name, k, gamma).group(points).labels
    assert labels.tolist() == FAST[name](points, k, gamma)


@pytest.mark.sample(4)
@pytest.mark.parametrize("axes", ("turned",), indirect=True)
@pytest.mark.parametrize("kind", ("normal", "grid", "few", "far_apart", "mixed", "nominal", "one"))
@pytest.mark.parametrize("name", FAST)
def test_kernel_gives_the_same_labels_along_principal_axes(name: str, kind: str, axes: str) -> None:
    """So it does where principal axes are used although ties abound and rounding blurs them."""
    points = points_of(kind, 2_000)
    labels = task_of(name, 3, 1.1).group(points).labels
    assert labels.tolist() == FAST[name](points, 3, 1.1)
