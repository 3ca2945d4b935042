"""r_gather against the readable reference, and against all clusterings of few records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.centers import gather_flow, radius_search
from kanon_sql.methods.centers.lower_bounds import keys_between
from kanon_sql.methods.centers.r_gather import thrice
from kanon_sql.methods.centers.radius_search import RadiusTrial, least_accepted
from kanon_sql.points.points import Form, Grouping, MetricPoints
from kanon_sql.search import axes
from kanon_sql.search.marked_counts import ball_sizes, new_marked_tree
from tests.methods.centers import reference_gather as reference
from tests.support.partitions import partitions
from tests.support.thoroughness import often


def keys_of(points: MetricPoints) -> reference.Keys:
    return reference.keys_of(
        points.numeric.tolist(), points.codes.tolist(), points.scale.tolist()
    )


def left_out(points: MetricPoints, options: Mapping[str, Any]) -> int:
    return int(options.get("epsilon", 0.0) * len(points))


def made_by(rng: Any, n: int, kind: str) -> MetricPoints:
    """Records in canonical order."""
    widths = {"codes": (0, 4), "many codes": (0, 2), "mixed": (2, 2), "line": (1, 0)}
    d, c = widths.get(kind, (2, 0))
    grid = rng.integers(0, 7, (n, d)).astype(np.float64)
    numeric = grid if kind in ("grid", "mixed", "line") else rng.normal(size=(n, d))
    if kind == "tails":
        numeric = rng.standard_t(1, (n, d))
    codes = rng.integers(0, 90 if kind == "many codes" else 4, (n, c))
    if kind == "repeats":
        numeric = numeric[rng.integers(0, max(n // 3, 1), n)]
    if kind == "arc":
        places = rng.normal(size=(n, 3)) + rng.choice([0.0, 3.0])
        numeric = places / np.sqrt((places**2).sum(axis=1))[:, None]
    order = np.lexsort([*codes.T[::-1], *numeric.T[::-1], np.zeros(n)])
    form: Form = "plain" if d == 0 else "arc" if kind == "arc" else "root"
    return MetricPoints.of(
        numeric[order], codes[order], rng.choice([0.5, 1.0, 0.3], c), form
    )


KINDS = ["codes", "many codes", "mixed", "line", "grid", "floats", "tails", "repeats", "arc"]


@st.composite
def tables(draw: Any, most: int = 30, kinds: tuple[str, ...] = tuple(KINDS)) -> MetricPoints:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return made_by(rng, draw(st.integers(1, most)), draw(st.sampled_from(kinds)))


@st.composite
def choices(draw: Any) -> dict[str, Any]:
    options = {
        "epsilon": draw(st.sampled_from([None, None, 0.0, 0.05, 0.2, 0.4])),
        "max_clusters": draw(st.sampled_from([None, None, 1, 2, 3, 6])),
        "centers": draw(st.sampled_from([None, "anywhere", "rows", "rows"])),
    }
    return {name: option for name, option in options.items() if option is not None}


def assert_equals_reference(points: MetricPoints, k: int, options: Mapping[str, Any]) -> None:
    n, keys = len(points), keys_of(points)
    k = min(k, n)
    found = task_for("r_gather", k, **options).group(points)
    (centers, labels), bound, ratio = reference.r_gather(
        keys, k, points.form, min(left_out(points, options), n - k),
        options.get("max_clusters", n), options.get("centers") == "rows",
        radius_search.LISTED,
    )
    assert found.centers is not None
    assert found.centers.tolist() == centers
    assert found.labels.tolist() == labels
    assert found.facts == {"lower_bound": pytest.approx(bound, 1e-15), "guaranteed_ratio": ratio}


@often(250)
@given(tables(), st.integers(1, 6), choices())
def test_equals_reference(points: MetricPoints, k: int, options: Mapping[str, Any]) -> None:
    assert_equals_reference(points, k, options)


@often(60)
@given(tables(), st.integers(2, 4), choices(), st.sampled_from([1, 80]), st.booleans())
def test_equals_reference_where_few_keys_are_listed_and_axes_are_turned(
    points: MetricPoints, k: int, options: Mapping[str, Any], listed: int, turned: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radius_search, "LISTED", listed)
        if turned:
            patch.setattr(axes, "TURN_FROM", 2)
            patch.setattr(axes, "CHEAPER", np.inf)
            patch.setattr(axes, "ALIKE", 1.0)
        assert_equals_reference(points, k, options)


@pytest.mark.sample(3)
@pytest.mark.parametrize("options", [
    {}, {"max_clusters": 12}, {"epsilon": 0.05}, {"epsilon": 0.05, "centers": "rows"},
])
@pytest.mark.parametrize("kind", ["floats", "codes", "mixed"])
def test_equals_reference_on_a_tree_of_two_levels(kind: str, options: Mapping[str, Any]) -> None:
    points = made_by(np.random.default_rng(3), 270, kind)
    assert_equals_reference(points, 4, options)


@pytest.mark.parametrize("centers", ["anywhere", "rows"])
def test_few_clusters_equal_reference_on_a_tree_of_two_levels(centers: str) -> None:
    points = made_by(np.random.default_rng(4), 258, "tails")
    assert_equals_reference(
        points, 3, {"epsilon": 0.03, "max_clusters": 6, "centers": centers}
    )


# --- what the theorems promise --------------------------------------------------------------------


def radius_of(points: MetricPoints, grouping: Grouping) -> float:
    assert grouping.centers is not None
    kept = np.flatnonzero(grouping.labels >= 0)
    keys = keys_between(points, kept, grouping.centers[grouping.labels[kept]])
    return float(points.distances(keys).max(initial=0.0))


@often(300)
@given(tables(most=80), st.integers(1, 8), choices())
def test_keeps_what_it_promises(
    points: MetricPoints, k: int, options: Mapping[str, Any]
) -> None:
    n = len(points)
    k = min(k, n)
    found = task_for("r_gather", k, **options).group(points)
    assert found.labels.dtype == np.int64 and found.labels.shape == (n,)
    assert found.centers is not None and found.centers.dtype == np.int64
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=len(found.centers))
    assert sizes.min() >= k and len(sizes) == len(found.centers)
    assert len(sizes) <= options.get("max_clusters", n)
    assert (found.labels < 0).sum() <= left_out(points, options)
    assert (found.labels[found.centers] == np.arange(len(sizes))).all()
    bound, ratio = found.facts["lower_bound"], found.facts["guaranteed_ratio"]
    assert radius_of(points, found) <= ratio * bound * (1.0 + 1e-9)


def least_radius(
    points: MetricPoints, k: int, out: int, most: int, among: bool
) -> tuple[float, float]:
    """Over all clusterings of all but ``out`` records or fewer: half of the least diameter, and
    the least radius around records, as distances."""
    n, keys = len(points), keys_of(points)
    diameter = radius = math.inf
    for size in range(max(n - out, k), n + 1):
        for kept in combinations(range(n), size):
            for clusters in partitions(size, k):
                if len(clusters) > most:
                    continue
                named = [[kept[q] for q in members] for members in clusters]
                diameter = min(diameter, max(keys[u][v] for m in named for u in m for v in m))
                if among:
                    radius = min(radius, max(
                        min(max(row[u] for u in members) for row in keys) for members in named
                    ))
    distances = points.distances([diameter, radius])
    return float(distances[0]) / 2.0, float(distances[1])


@often(120)
@given(tables(most=8), st.integers(2, 3), choices())
def test_the_lower_bound_holds_for_all_clusterings(
    points: MetricPoints, k: int, options: Mapping[str, Any]
) -> None:
    if len(points) < k:
        return
    among, out = options.get("centers") == "rows", left_out(points, options)
    found = task_for("r_gather", k, **options).group(points)
    half, radius = least_radius(
        points, k, out, options.get("max_clusters", len(points)), among
    )
    bound, ratio = found.facts["lower_bound"], found.facts["guaranteed_ratio"]
    assert ratio == (2.0 if out == 0 or len(points) == k else ratio)
    assert bound <= (radius if among else half) * (1.0 + 1e-12)
    assert radius_of(points, found) <= ratio * (radius if among else half) * (1.0 + 1e-12)
    if not among:
        assert ratio in (2.0, 4.0, 6.0)
    elif out > 0 and len(points) > k:
        assert ratio == 3.0


# --- the paper's figure, and its wording ----------------------------------------------------------


def test_figure_1() -> None:
    """Table (a), with delta and gamma far away, in the clusters of (c)."""
    points = MetricPoints.of([[0, 0], [2, 0], [90, 87], [90, 90], [90, 93]])
    found = task_for("r_gather", 2).group(points)
    assert found.labels.tolist() == [0, 0, 1, 1, 1]
    # within 3 the two at the ends of the three would both be centers, for three records
    assert found.facts == {"lower_bound": 3.0, "guaranteed_ratio": 2.0}
    assert found.centers is not None and found.centers.tolist() == [0, 2]
    assert radius_of(points, found) == 6.0
    rows = task_for("r_gather", 2, epsilon=0.2, centers="rows").group(points)
    assert rows.labels.tolist() == [0, 0, 1, 1, 1]
    assert rows.facts == {"lower_bound": 3.0, "guaranteed_ratio": 3.0}
    less = task_for("r_gather", 2, epsilon=0.2).group(points)
    assert less.facts == {"lower_bound": 1.5, "guaranteed_ratio": 4.0}


def by_the_letter(keys: reference.Keys, x: float, k: int) -> list[int] | None:
    """Condition (2) as printed: a center needs k unmarked records around it. The centers; None
    where a record stays unmarked. (What the flow says is not needed here.)"""
    marked: set[int] = set()
    centers = []
    for p in range(len(keys)):
        unmarked = set(reference.ball(keys, p, x)) - marked
        if p not in marked and len(unmarked) >= k:
            centers.append(p)
            marked |= unmarked
    return centers if len(marked) == len(keys) else None


def test_by_the_letter_condition_2_misses_the_optimum() -> None:
    """0 2 | 3 6 has diameter 3, so radius 1.5; lemma 2.1 says that 2R = 3 is accepted."""
    points = MetricPoints.of([[0.0], [2.0], [3.0], [6.0]])
    keys = keys_of(points)
    accepted = [x for x in reference.candidates(keys) if by_the_letter(keys, x, 2)]
    assert accepted == [36.0]  # one cluster of radius 6, four times the optimum
    found = task_for("r_gather", 2).group(points)
    assert found.facts["lower_bound"] == 1.5
    assert radius_of(points, found) <= 3.0


CHAIN = MetricPoints.of([[0.0], [0.1], [1.0], [3.5], [5.2], [7.0]])
"""Within 2.5 records 0, 3 and 5 are centers, and 3 is the nearest to 4. Two for each are to be had
only if 5 takes 4 from 3, which takes 2 from 0."""


def test_a_flow_takes_records_from_centers_that_take_others() -> None:
    found = task_for("r_gather", 2).group(CHAIN)
    assert found.centers is not None and found.centers.tolist() == [0, 3, 5]
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.facts["lower_bound"] == 1.25


def test_a_network_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_flow, "MOST_ARCS", 1)
    with pytest.raises(DataError, match=r"more than 1 arcs.*block_rows = 1 "):
        task_for("r_gather", 2).group(CHAIN)


# --- its parts ------------------------------------------------------------------------------------


@often(150)
@given(st.integers(0, 2**32), st.integers(4, 30), st.integers(2, 4), st.integers(0, 30))
def test_condition_2_equals_reference_where_records_are_few(
    seed: int, n: int, k: int, more: int
) -> None:
    """On a line, a little above the least key that leaves k records to each."""
    places = np.sort(np.random.default_rng(seed).integers(0, 4 * n, (n, 1)), axis=0)
    points = MetricPoints.of(places)
    keys = keys_of(points)
    start = max(sorted(row)[k - 1] for row in keys)
    larger = [key for key in reference.candidates(keys) if key >= start]
    key = larger[min(more, len(larger) - 1)]
    found = gather_flow.gather_within(new_marked_tree(points), key, k, n, Watch())
    expected, widest = reference.condition_2(keys, key, k, n)
    assert found.key == widest and (found.result is None) == (expected is None)
    if expected is not None:
        assert found.result.centers.tolist() == expected[0]
        assert found.result.owner.tolist() == expected[1]


@often(60)
@given(tables(most=12), st.booleans(), st.sampled_from([1, 30, 1_000_000]), st.randoms())
def test_the_search_ends_just_above_a_rejected_key(
    points: MetricPoints, snaps: bool, listed: int, rng: Any
) -> None:
    """Whatever a test accepts, as long as it does from the largest key on."""
    candidates = np.array(reference.candidates(keys_of(points)))
    accept, rejected = [rng.random() < 0.5 for _ in candidates], []

    def test(key: float) -> RadiusTrial:
        place = int(np.searchsorted(candidates, key, "right"))
        if place < len(candidates) and not accept[place]:
            rejected.append(key)
            return RadiusTrial(key, None, 0 if snaps else place)
        return RadiusTrial(float(candidates[place - 1]) if snaps else key, place,
                           0 if snaps else place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radius_search, "LISTED", listed)
        found = least_accepted(points, 0.0, test)
    assert found.result == np.searchsorted(candidates, found.key, "right")
    if found.key > 0.0:
        below = max(key for key in rejected if key < found.key)
        between = candidates[(candidates > below) & (candidates < found.key)]
        assert len(between) == 0


@pytest.mark.parametrize("kind", ["floats", "mixed", "many codes"])
@pytest.mark.parametrize("turned", [False, True])
def test_ball_sizes(kind: str, turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if turned:
        monkeypatch.setattr(axes, "CHEAPER", np.inf)
        monkeypatch.setattr(axes, "ALIKE", 1.0)
    points = made_by(np.random.default_rng(5), 4500, kind)
    marked_tree, everyone = new_marked_tree(points), np.arange(4500)
    *_, slack = marked_tree.space
    assert (slack > 0.0) == (turned and kind != "many codes")
    for limit in (0.0, 0.6, 2.0, 1e9):
        sizes = ball_sizes(marked_tree, limit, Watch())
        for i in range(0, 4500, 500):
            assert sizes[i] == np.count_nonzero(keys_between(points, i, everyone) <= limit)


def test_ball_sizes_are_exact_along_turned_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slanted line a box is as wide as its records, and rounding may make it narrower."""
    monkeypatch.setattr(axes, "CHEAPER", np.inf)
    places = np.sort(np.random.default_rng(6).normal(size=1000))
    points = MetricPoints.of(np.column_stack([places, places / 3.0]))
    marked_tree = new_marked_tree(points)
    *_, slack = marked_tree.space
    assert slack > 0.0
    keys = keys_between(points, 0, np.arange(1000))
    for key in keys[1::25]:
        limit = np.nextafter(key, 0.0)
        assert ball_sizes(marked_tree, limit, Watch())[0] == np.count_nonzero(keys <= limit)


def test_three_times_a_distance() -> None:
    forms: tuple[Form, ...] = ("root", "plain", "arc")
    for form in forms:
        points = MetricPoints.of([[0.0]], form=form)
        for key in (0.0, 0.3, 0.9):
            distance = points.distances(key)
            assert points.distances(thrice(points, key)) == pytest.approx(3 * distance, 1e-11)
            assert thrice(points, key) >= {"root": 9.0, "plain": 3.0, "arc": 0.0}[form] * key
    sphere = MetricPoints.of([[0.0]], form="arc")
    assert thrice(sphere, 1.1) == thrice(sphere, 4.0) == thrice(sphere, 9.0) == np.inf


# --- single cases ---------------------------------------------------------------------------------


ALL_OPTIONS: list[dict[str, Any]] = [
    {}, {"max_clusters": 2}, {"epsilon": 0.3}, {"epsilon": 0.3, "centers": "rows"},
    {"epsilon": 0.3, "max_clusters": 1}, {"epsilon": 0.3, "max_clusters": 1, "centers": "rows"},
]


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_small_cases(options: dict[str, Any]) -> None:
    def labels(numeric: Any, k: int) -> list[int]:
        points = MetricPoints.of(numeric)
        found: list[int] = task_for("r_gather", k, **options).group(points).labels.tolist()
        return found

    assert labels(np.zeros((0, 1)), 2) == []
    assert labels([[4.0]], 1) == labels([[4.0]], 3) == [0]
    assert labels([[1.0], [4.0]], 3) == [0, 0]  # fewer than k
    assert labels([[1.0], [4.0], [9.0]], 3) == [0, 0, 0]
    assert labels(np.ones((7, 2)), 3) == [0] * 7  # all alike
    assert labels(np.zeros((5, 0)), 2) == [0] * 5  # no column
    assert labels([[1e150], [2e150], [8e150]], 2)[:2] == [0, 0]
    assert labels([[1e-170], [2e-170], [8e-170]], 2)[:2] == [0, 0]


def test_one_record_may_be_a_cluster() -> None:
    points = MetricPoints.of([[1.0], [1.0], [3.0], [8.0]])
    found = task_for("r_gather", 1).group(points)
    assert found.labels.tolist() == [0, 0, 1, 2]
    assert found.facts["lower_bound"] == 0.0
    two = task_for("r_gather", 1, max_clusters=2).group(points)
    assert two.labels.tolist() == [0, 0, 0, 1]


def test_outliers_are_left_out() -> None:
    """Two heaps of four, and two records far off."""
    points = MetricPoints.of([[0.0], [1.0], [2.0], [3.0], [50.0], [51.0], [52.0], [53.0], [90.0],
                              [400.0]])
    for options in ALL_OPTIONS[2:4]:
        found = task_for("r_gather", 3, **options).group(points)
        assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, -1, -1]
        assert found.facts["lower_bound"] == 1.0
    assert task_for("r_gather", 3, epsilon=0.1).group(points).facts["lower_bound"] > 15.0


def test_rows_left_out_are_rounded_down() -> None:
    points = MetricPoints.of([[0.0], [1.0], [2.0], [3.0], [90.0]])
    assert (task_for("r_gather", 2, epsilon=0.19).group(points).labels >= 0).all()
    assert task_for("r_gather", 2, epsilon=0.2).group(points).labels.tolist()[-1] == -1


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_stops_when_told(options: dict[str, Any]) -> None:
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        points = made_by(np.random.default_rng(0), 300, "floats")
        task_for("r_gather", 3, **options).group(points, watch)


@pytest.mark.parametrize("options", ALL_OPTIONS)
def test_tells_when_it_is_done(options: dict[str, Any]) -> None:
    watch = Watch()
    points = made_by(np.random.default_rng(0), 301, "floats")
    task_for("r_gather", 3, **options).group(points, watch)
    assert watch.done == 301
