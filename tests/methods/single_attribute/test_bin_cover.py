"""bin_cover against the reference, all partitions, and du2009, theorem 10."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.errors import DataError, OptionError
from kanon_sql.kernel.watch import DONE, Beat, StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.single_attribute.bin_cover import best_type, bin_cover, lowered
from kanon_sql.methods.single_attribute.bin_covering import most_bins
from kanon_sql.methods.single_attribute.pack import lower_bound, pack
from kanon_sql.methods.single_attribute.packing_types import Instance, class_starts, count_types
from kanon_sql.points.points import ItemPoints, Labels
from tests.methods.single_attribute import reference_covering as reference
from tests.support.partitions import partitions
from tests.support.thoroughness import often

EPSILONS = (1.0, 0.75, 0.5, 0.3, 0.1, 0.01)


def covered(sizes: Sequence[int], k: int, **options: Any) -> Labels:
    return task_for("bin_cover", k, **options).group(ItemPoints.of(sizes)).labels


def cost_of(sizes: Sequence[int], labels: Sequence[int], k: int) -> int:
    """The cost of a packing whose bins have k or more, and are numbered by their least item."""
    levels = np.bincount(labels, weights=sizes)
    assert levels.min() >= k
    assert list(dict.fromkeys(labels)) == list(range(len(levels)))
    return int(levels.max())


def best(sizes: Sequence[int], k: int, epsilon: float, below: int, least: int = 0) -> Any:
    """The bins of the best type that costs less than ``below``, or None."""
    down = np.sort(np.array(sizes, np.int64))[::-1].copy()
    return best_type(down, k, epsilon, below, least, sum(sizes), Watch())


@st.composite
def instances(draw: st.DrawFn, most: int, factor: float = 1.0) -> tuple[list[int], int]:
    """Sizes, from the largest down, and a k that they fill: any, or bins of k or more, cut up."""
    k = draw(st.integers(2, 24))
    if draw(st.booleans()):
        sizes: list[int] = []
        while len(sizes) < most - 1 and (not sizes or draw(st.integers(0, 5))):
            rest = draw(st.integers(k, k + k // 4))
            piece = draw(st.integers(1, rest - 1))
            sizes += [piece, rest - piece]
        return sorted(sizes, reverse=True), k
    largest = max(int(draw(st.sampled_from((0.5, 1.0, 1.5, 2.5))) * factor * k), 1)
    sizes = draw(st.lists(st.integers(1, largest), min_size=2, max_size=most))
    assume(sum(sizes) >= k)
    return sorted(sizes, reverse=True), k


epsilons = st.sampled_from(EPSILONS)


# --- what is proved ---------------------------------------------------------------------------


@pytest.mark.slow
@often(300)
@given(case=instances(7), epsilon=epsilons)
def test_the_bound_of_theorem_10(case: tuple[list[int], int], epsilon: float) -> None:
    """At most (1 + epsilon) (Opt + k), as the facts say, and never more than five_halves."""
    sizes, k = case
    least = reference.quick_optimum(sizes, k)
    points = ItemPoints.of(sizes)
    grouping = task_for("bin_cover", k, epsilon=epsilon).group(points)
    cost = int(np.bincount(grouping.labels).max())
    halves = pack(points.size, k, "sorted", 0, "five_halves")
    assert cost <= (1 + Fraction(epsilon)) * (least + k)
    assert cost <= reference.cost(sizes, reference.five_halves(sizes, k))
    assert cost <= np.bincount(halves, weights=sizes).max()
    assert grouping.facts["lower_bound"] <= least
    assert cost <= grouping.facts["guaranteed_ratio"] * least * (1 + 1e-12)
    assert grouping.facts["guaranteed_ratio"] <= min(2.5, 2 * (1 + epsilon))


@often(300)
@given(case=instances(7, 0.9), epsilon=epsilons)
def test_the_bound_holds_without_the_help_of_five_halves(
    case: tuple[list[int], int], epsilon: float
) -> None:
    """The types alone keep it, where the optimum is below 3k (the paper's reductions)."""
    sizes, k = case
    least = reference.quick_optimum(sizes, k)
    assume(least < 3 * k and max(sizes) < 2 * k)
    bins = best(sizes, k, epsilon, 3 * k)
    bound = (1 + Fraction(epsilon)) * (least + k)
    if bins is None:  # nothing costs less than 3k
        assert bound >= 3 * k
    else:
        levels = np.bincount(bins, weights=sizes)
        assert levels.max() <= bound
        assert levels[levels > 0].min() >= k


@often(150)
@given(case=instances(7), epsilon=epsilons)
def test_the_types_of_optimal_packings_are_tried(
    case: tuple[list[int], int], epsilon: float
) -> None:
    """Those of the optimal packings with the most bins, where theorem 9's isn't optimal.

    Its cost takes the place of that of five_halves, which is seldom more than the optimum here.
    """
    sizes, k = case
    sizes = lowered(np.array(sizes), k).tolist()
    least = reference.quick_optimum(sizes, k)
    below = reference.cost(sizes, reference.theorem_9(sizes, k))
    assume(least < below)
    optimal = [
        packing for packing in partitions(len(sizes), 1)
        if all(k <= reference.level(sizes, items) <= least for items in packing)
    ]
    most = max(map(len, optimal))
    types = reference.Types(sizes, k, epsilon, below)
    chosen = types.all(most_bins(np.array(sizes), k))
    tried = [(Counter(ways), empty) for ways, empty in chosen]
    for packing in optimal:
        if len(packing) == most:
            assert types.type_of(packing) in tried


# --- against the reference --------------------------------------------------------------------


@often(200)
@given(case=instances(8), epsilon=epsilons)
def test_the_best_type_is_that_of_the_reference(
    case: tuple[list[int], int], epsilon: float
) -> None:
    sizes, k = case
    assume(max(sizes) < 3 * k)
    below = 3 * k + 1
    most = most_bins(np.array(sizes), k)
    expected = reference.best_type(sizes, k, epsilon, below, most)
    found = best(sizes, k, epsilon, below)
    if expected is None:
        assert found is None
    else:
        first = list(dict.fromkeys(found.tolist()))
        labels = [first.index(b) for b in found.tolist()]
        assert labels == reference.labels_of(expected, len(sizes))


@often(200)
@given(case=instances(8), epsilon=epsilons)
def test_the_method_takes_the_better_one_of_both(
    case: tuple[list[int], int], epsilon: float
) -> None:
    """The best type if it costs less than five_halves, after the paper's reductions."""
    sizes, k = case
    plain = reference.five_halves(sizes, k)
    least = lower_bound(np.array(sizes), k)
    lower = lowered(np.array(sizes), k).tolist()
    expected = plain
    if reference.cost(sizes, plain) > least:
        below = reference.cost(lower, plain)
        most = most_bins(np.array(lower), k)
        expected = reference.best_type(lower, k, epsilon, below, most) or plain
    labels = pack_of(sizes, k, epsilon)
    assert labels == reference.labels_of(expected, len(sizes))
    cost_of(sizes, labels, k)


def pack_of(sizes: Sequence[int], k: int, epsilon: float) -> list[int]:
    """The bin of each item."""
    labels = covered(sizes, k, epsilon=epsilon)
    first: list[int] = labels[np.cumsum(sizes) - 1].tolist()
    return first


@often(200)
@given(case=instances(7), epsilon=epsilons, more=st.integers(1, 60))
def test_types_are_counted_before_they_are_tried(
    case: tuple[list[int], int], epsilon: float, more: int
) -> None:
    """Classes and configurations are the reference's; there are no more types than counted."""
    sizes, k = case
    assume(max(sizes) < 3 * k)
    below, most = max(*sizes, k) + more, most_bins(np.array(sizes), k)
    down = np.array(sizes)
    instance = Instance.of(down, k, Fraction(epsilon), below, most)
    assert instance is not None
    types = reference.Types(sizes, k, epsilon, below)
    assume(types.classes)
    assert np.diff(instance.starts).tolist() == [len(items) for items in types.classes]
    counted = count_types(instance)
    assert counted is not None
    assume(instance.fewest <= most)  # otherwise no packing costs less than ``below``
    ways = types.configurations()
    assert [tuple(way) for way in instance.ways.tolist()] == ways
    assert len(list(types.all(most))) <= counted
    # without a limit of bins, and with small items galore, every type counted is tried
    types.small, types.sizes = [len(sizes)], [*sizes, 10**6]
    types.below = 10**7
    types.may_be = lambda configuration: tuple(configuration) in ways  # type: ignore
    plain = sum(empty == 0 for _, empty in types.all(len(sizes)))
    assert plain * instance.empty == counted


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_classes_hold_sizes_within_1_plus_epsilon(epsilon: float) -> None:
    """And oversize items are among themselves; the large ones are epsilon k or more."""
    k, exact = 40, Fraction(epsilon)
    sizes = np.arange(3 * k - 1, 0, -1)
    starts = class_starts(sizes, k, exact).tolist()
    assert sizes[starts[-1] :].max(initial=0) < exact * k <= sizes[starts[-1] - 1]
    for begin, end in pairwise(starts):
        assert sizes[begin] <= (1 + exact) * sizes[end - 1]
        assert (sizes[begin] >= k) == (sizes[end - 1] >= k)


# --- examples ---------------------------------------------------------------------------------


def test_pairs_that_theorem_9_does_not_see() -> None:
    """Six bins of 99 and 1, where theorem 9 makes pairs of 99."""
    sizes = [99] * 6 + [1] * 6
    assert np.bincount(covered(sizes, 100)).tolist() == [100] * 6
    assert task_for("bin_cover", 100).group(ItemPoints.of(sizes)).facts["guaranteed_ratio"] == 1.0


def test_an_optimum_that_five_halves_does_not_find() -> None:
    """14 | 13 1 | 7 7 | 5 5 4, where even bins of this many lack something."""
    sizes = [14, 13, 7, 7, 5, 5, 4, 1]
    halves = pack(np.array(sizes), 14, "sorted", 0, "five_halves")
    assert cost_of(sizes, halves.tolist(), 14) == 19
    assert cost_of(sizes, pack_of(sizes, 14, 0.5), 14) == 14


def test_empty_bins_are_filled_with_small_items() -> None:
    """Bins of small items only beside bins of large ones."""
    sizes = [9, 9, 8, 8] + [2] * 12
    labels = pack_of(sizes, 10, 0.5)
    assert cost_of(sizes, labels, 10) == 12
    assert len(set(labels)) == 5


def test_oversize_items_far_apart_leave_the_rest_to_the_least() -> None:
    """The paper's reduction: t1 - t0 is k or more, and the others sum up to less than k."""
    assert pack_of([50, 31, 12, 4, 3], 10, 0.5) == [0, 1, 2, 2, 2]


def test_oversize_items_close_together_are_lowered() -> None:
    """Less than k beside oversize items: 4 and 5 belong to different ones of them."""
    sizes = [1005, 1003, 1002, 5, 4]
    assert lowered(np.array(sizes), 10).tolist() == [13, 11, 10, 5, 4]
    labels = pack_of(sizes, 10, 0.2)
    assert cost_of(sizes, labels, 10) == 1007
    assert lowered(np.array([12, 11, 9, 1]), 10).tolist() == [12, 11, 9, 1]


def test_small_and_degenerate_inputs() -> None:
    assert pack_of([5], 5, 0.5) == [0]
    assert pack_of([3, 1, 2], 1, 0.5) == [0, 1, 2]
    assert pack_of([2, 3], 5, 0.5) == [0, 0]
    assert pack_of([2, 3, 4], 5, 1.0) == [0, 0, 0]
    assert pack_of([1] * 7, 3, 1.0) == pack_of([1] * 7, 3, 0.1)
    assert pack_of([4, 4, 4, 4], 4, 0.5) == [0, 1, 2, 3]


def test_records_in_any_order_go_with_their_items() -> None:
    sizes = [9, 7, 7, 5, 5, 3, 2, 2, 1]
    item = np.random.default_rng(4).permutation(np.repeat(np.arange(9), sizes))
    labels = task_for("bin_cover", 10).group(ItemPoints.of(sizes, item=item)).labels
    assert labels.tolist() == np.array(pack_of(sizes, 10, 0.5))[item].tolist()


# --- refusals, the watch ----------------------------------------------------------------------

MANY = np.random.default_rng(3).integers(30, 100, 300).tolist()


@pytest.mark.parametrize(("sizes", "epsilon"), [(MANY, 0.3), (MANY, 0.001), (MANY * 50, 0.5)])
def test_too_many_types_are_refused_before_the_search(sizes: list[int], epsilon: float) -> None:
    with pytest.raises(DataError, match=r"types of packings.* Raise epsilon, or use five_halves"):
        covered(sizes, 100, epsilon=epsilon)


@pytest.mark.parametrize(
    ("items", "below", "about"), [(30, 182, "49,014,442"), (40, 188, "1e9")]
)
def test_a_refusal_says_how_many_types_there_are(items: int, below: int, about: str) -> None:
    """For the cost of theorem 9; five_halves costs less, which leaves fewer types."""
    text = f"^The instance has about {about} types of packings, more than 2,000,000. Raise epsilon,"
    with pytest.raises(DataError, match=text):
        best(MANY[:items], 100, 0.3, below)
    covered(MANY[:items], 100, epsilon=0.3)


@pytest.mark.parametrize("epsilon", (0.0, -0.5, 1.01, float("nan")))
def test_epsilon_must_be_above_0_and_at_most_1(epsilon: float) -> None:
    with pytest.raises(OptionError, match=r"an epsilon above 0 and at|must be a share"):
        covered([3, 4], 5, epsilon=epsilon)


def test_too_few_records_are_refused() -> None:
    with pytest.raises(DataError, match="There are 4 rows to anonymize, fewer than k = 5"):
        covered([3, 1], 5)


HARD = np.random.default_rng(5).integers(25, 90, 22).tolist()


def test_a_stopped_watch_ends_the_work_early() -> None:
    beats: list[Beat] = []

    class Impatient(Watch):
        def beat(self) -> Beat:
            beats.append(super().beat())
            if len(beats) == 2:  # the first one is that of the packing to start with
                self.stop()
            return beats[-1]

    with pytest.raises(StoppedError):
        bin_cover(ItemPoints.of(HARD), task_for("bin_cover", 100), Impatient())
    assert [int(beat[DONE]) for beat in beats] == [0, 0]


@pytest.mark.parametrize("k", (100, 1))
def test_the_watch_sees_all_records_done(k: int) -> None:
    """Whether types are tried or not."""
    watch, points = Watch(), ItemPoints.of(HARD)
    watch.begin("grouping", len(points))
    bin_cover(points, task_for("bin_cover", k), watch)
    assert watch.done == len(points)
