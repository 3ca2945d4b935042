"""Records laid out for a search: the same records elsewhere, and the groups of records that come in
that order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kanon_sql.group.run import group_points
from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search import layout as module
from kanon_sql.methods.local_search.layout import RecordLayout, layout_of
from kanon_sql.methods.local_search.refine import loss_of, refine
from kanon_sql.points.points import Labels, Points
from kanon_sql.privacy.demands import demands_of
from kanon_sql.privacy.kernels import violations
from tests.methods.local_search.test_constrained_search import records
from tests.support.held import MODELS
from tests.support.records import loss_points_of, points_of

KINDS = ("normal", "grid", "mixed", "six_texts")
MAKES = (points_of, loss_points_of)


def found(points: Points) -> RecordLayout:
    layout = layout_of(points)
    assert layout is not None
    return layout


def start(n: int, k: int) -> Labels:
    return np.minimum(np.arange(n) // k, n // k - 1)


def members(labels: Labels) -> list[frozenset[int]]:
    return sorted(
        (frozenset(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)), key=min
    )


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lays out however few records."""
    monkeypatch.setattr(module, "LARGE", 0)


def test_few_records_stay_where_they_are() -> None:
    assert layout_of(points_of("normal", 500)) is None


@pytest.mark.usefixtures("large")
def test_records_without_columns_stay_where_they_are() -> None:
    assert layout_of(Points.of(np.empty((9, 0)))) is None


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", MAKES)
def test_every_record_has_one_place_on_any_number_of_threads(
    make: Callable[..., Points], kind: str
) -> None:
    points, orders = make(kind, 1_111), []
    for threads in (1, 3):
        with on_threads(threads):
            orders.append(found(points).order.tolist())
    assert sorted(orders[0]) == list(range(1_111))
    assert orders[0] == orders[1]


@pytest.mark.usefixtures("large")
def test_what_is_near_stands_near() -> None:
    """The next record is far nearer than in canonical order, which sorts by the first column."""
    numbers = np.random.default_rng(0).normal(size=(4_000, 3))
    numbers = numbers[np.lexsort(numbers.T[::-1])]
    steps = np.linalg.norm(np.diff(numbers[found(Points.of(numbers)).order], axis=0), axis=1)
    assert np.median(steps) < np.median(np.linalg.norm(np.diff(numbers, axis=0), axis=1)) / 3


@pytest.mark.usefixtures("large")
def test_groupings_go_there_and_back() -> None:
    points = points_of("mixed", 300)
    layout, labels = found(points), np.random.default_rng(1).integers(0, 40, 300)
    assert members(layout.back(layout.of(labels))) == members(labels)
    there = layout.of(labels)
    for i, g in enumerate(layout.order.tolist()):
        assert (there == there[i]).sum() == (labels == labels[g]).sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", MAKES)
def test_refine_finds_what_it_finds_of_records_in_that_order(
    make: Callable[..., Points], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers, ties and categories; and loses no more than before."""
    points, k = make(kind, 400), 4
    monkeypatch.setattr(module, "LARGE", 0)
    layout, labels = found(points), start(400, k)
    laid_out = refine(points, labels, k, 8_000, None, Watch())
    monkeypatch.setattr(module, "LARGE", 10_000)
    there = refine(points.part(layout.order), layout.of(labels), k, 8_000, None, Watch())
    assert members(laid_out.labels) == members(layout.back(there.labels))
    assert laid_out.steps == there.steps
    assert loss_of(points, laid_out.labels) < loss_of(points, labels)
    assert np.bincount(laid_out.labels).min() >= k


@pytest.mark.usefixtures("large")
def test_a_grouping_that_can_not_gain_is_returned_as_it_is() -> None:
    labels = np.array([1, 1, 0, 0])
    same = refine(Points.of(np.zeros((4, 1))), labels, 2, 100, None, Watch())
    assert same.labels.tolist() == [1, 1, 0, 0]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_models_are_kept(name: str, by_loss: bool) -> None:
    """Their shares are counted on the records as they stand, whose sensitive values go with them.
    """
    points, models = records(by_loss), MODELS[name]
    task = task_for("k_member" if by_loss else "mdav_plus", 5, beside_k=models)
    labels = group_points(points, task).labels
    demands = demands_of(points, models, np.arange(len(points)))
    assert np.bincount(labels).min() >= 5
    assert not (violations(demands, labels) > 0.0).any()
    assert violations(demands, np.arange(len(points)) // 5).any()
